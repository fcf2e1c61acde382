#pragma once
// A thin layer over the HDF5 C API: files, groups, arrays, attributes. No HDF5 type leaves it. The serial HDF5 library
// is not thread-safe, so all calls of all files take one mutex. Every failure is a StoreError that names file and
// object.
//
// A file is made in memory and saved in one piece, atomically: a full disk or a killed process leaves no half-written
// file, and I/O errors come with the system's own reason. Behind the HDF5 file, where no reader looks, stands a line
// with its checksum: the library itself crashes on some damaged files, so they must not reach it.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace jari {

class AtomicFile;

using Hdf5Shape = std::vector<std::int64_t>;  // empty: a single number or string

// What an array holds; other HDF5 number types read as the next wider of these.
enum class Hdf5Element { f32, f64, i32, i64, u8, string };

using Hdf5Attribute = std::variant<bool, std::int64_t, std::uint64_t, double, std::string, std::vector<std::string>,
                                   std::vector<std::int64_t>>;

template <class T>
struct Hdf5Array {
  Hdf5Shape shape;
  std::vector<T> values;  // row-major
};

class Hdf5File {
 public:
  // Files of other programs have no checksum.
  enum class Checksum { must_be_there, if_there };

  static Hdf5File create(const std::filesystem::path& path);  // in memory until `save`
  static Hdf5File open(const std::filesystem::path& path, Checksum checksum = Checksum::if_there);  // for reading
  Hdf5File(Hdf5File&&) noexcept;
  Hdf5File& operator=(Hdf5File&&) noexcept;
  ~Hdf5File();

  const std::filesystem::path& path() const;

  void save();                     // writes a created file to its path, atomically
  void save_to(AtomicFile& file);  // the caller commits

  // Objects are named by their path from the root, with or without a leading '/'; "" is the root. Missing parents are
  // made when writing. Children keep the order in which they were made.
  bool exists(const std::string& object) const;
  bool is_group(const std::string& object) const;
  std::vector<std::string> children(const std::string& group) const;      // none if the group does not exist
  std::vector<std::string> arrays_below(const std::string& group) const;  // paths from `group`, in order

  void make_group(const std::string& group);

  // T: float, double, std::int32_t, std::int64_t, std::uint8_t, std::string (UTF-8, variable length).
  template <class T>
  void write(const std::string& object, const Hdf5Shape& shape, std::span<const T> values);
  template <class T>
  void write(const std::string& object, const Hdf5Shape& shape, const std::vector<T>& values) {
    write(object, shape, std::span<const T>(values));
  }
  void write_text(const std::string& object, const std::string& text) {
    write(object, {}, std::vector<std::string>{text});
  }

  Hdf5Element element(const std::string& object) const;
  Hdf5Shape shape(const std::string& object) const;
  template <class T>
  Hdf5Array<T> read(const std::string& object) const;
  std::string read_text(const std::string& object) const;
  // The arrays of numbers below `group` that have at most `most_axes` axes, by their paths from it, in order. Opens
  // each object once: with many small arrays that is most of the work.
  std::vector<std::pair<std::string, std::vector<double>>> numbers_below(const std::string& group,
                                                                         std::size_t most_axes) const;

  void set_attribute(const std::string& object, const std::string& name, const Hdf5Attribute& value);
  std::optional<Hdf5Attribute> attribute(const std::string& object, const std::string& name) const;
  std::vector<std::string> attribute_names(const std::string& object) const;

  // An attribute that must be there: StoreError if it is not, or has another type.
  std::string text_attribute(const std::string& object, const std::string& name) const;
  std::int64_t integer_attribute(const std::string& object, const std::string& name) const;
  double number_attribute(const std::string& object, const std::string& name) const;

 private:
  struct State;
  explicit Hdf5File(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Of the library that is linked: "1.10.8".
std::string hdf5_version();

}  // namespace jari
