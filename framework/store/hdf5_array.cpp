// Arrays of an Hdf5File.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hdf5.h>

#include <functional>
#include <limits>
#include <new>
#include <type_traits>

#include "framework/base/error.hpp"
#include "framework/store/hdf5_file.hpp"
#include "framework/store/hdf5_internal.hpp"

namespace jari {
namespace hdf5 {

std::vector<const char*> c_strings(const std::filesystem::path& path, const std::string& object,
                                   std::span<const std::string> texts) {
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const std::string& text : texts) {
    if (text.find('\0') != std::string::npos)
      throw StoreError(fmt::format("{}: {}: a text holds a NUL character, which HDF5 strings can not; escape it",
                                   path.string(), object));
    pointers.push_back(text.c_str());
  }
  return pointers;
}

Handle utf8_type() {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), H5T_VARIABLE);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  return type;
}

Handle simple_space(const Hdf5Shape& shape) {
  if (shape.empty()) return {H5Screate(H5S_SCALAR), H5Sclose};
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  return {H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose};
}

std::vector<std::string> read_strings(std::int64_t file_type, std::int64_t space, std::size_t count,
                                      const std::function<int(std::int64_t type, void* buffer)>& read, bool& failed) {
  // The file's own type, because HDF5 does not convert between its character sets (ASCII, UTF-8).
  const Handle type(H5Tcopy(file_type), H5Tclose);
  std::vector<std::string> texts(count);
  failed = false;
  if (H5Tis_variable_str(type.id()) > 0) {
    std::vector<char*> pointers(count, nullptr);
    failed = read(type.id(), pointers.data()) < 0;
    for (std::size_t i = 0; i < count && !failed; ++i) texts[i] = pointers[i] == nullptr ? "" : pointers[i];
    H5Dvlen_reclaim(type.id(), space, H5P_DEFAULT, pointers.data());
    return texts;
  }
  const std::size_t length = H5Tget_size(type.id());
  std::vector<char> characters(count * length);
  failed = read(type.id(), characters.data()) < 0;
  for (std::size_t i = 0; i < count && !failed; ++i) {
    const std::string_view padded(characters.data() + i * length, length);
    texts[i] = padded.substr(0, std::min(padded.find('\0'), length));
  }
  return texts;
}

}  // namespace hdf5

namespace {

using hdf5::Handle;

template <class T>
hid_t memory_type() {
  if constexpr (std::is_same_v<T, float>) return H5T_NATIVE_FLOAT;
  if constexpr (std::is_same_v<T, double>) return H5T_NATIVE_DOUBLE;
  if constexpr (std::is_same_v<T, std::int32_t>) return H5T_NATIVE_INT32;
  if constexpr (std::is_same_v<T, std::int64_t>) return H5T_NATIVE_INT64;
  if constexpr (std::is_same_v<T, std::uint8_t>) return H5T_NATIVE_UINT8;
}

const char* element_name(Hdf5Element element) {
  switch (element) {
    case Hdf5Element::f32:
      return "f32";
    case Hdf5Element::f64:
      return "f64";
    case Hdf5Element::i32:
      return "i32";
    case Hdf5Element::i64:
      return "i64";
    case Hdf5Element::u8:
      return "u8";
    case Hdf5Element::string:
      return "string";
  }
  return "?";
}

// Whether reading loses nothing. Integers count as f64's: metrics of other programs are often whole numbers.
template <class T>
bool reads_as(Hdf5Element stored) {
  using E = Hdf5Element;
  if constexpr (std::is_same_v<T, std::string>) return stored == E::string;
  if constexpr (std::is_same_v<T, double>) return stored != E::string;
  if constexpr (std::is_same_v<T, float>) return stored == E::f32 || stored == E::u8;
  if constexpr (std::is_same_v<T, std::int64_t>) return stored == E::i64 || stored == E::i32 || stored == E::u8;
  if constexpr (std::is_same_v<T, std::int32_t>) return stored == E::i32 || stored == E::u8;
  if constexpr (std::is_same_v<T, std::uint8_t>) return stored == E::u8;
}

template <class T>
const char* type_name() {
  if constexpr (std::is_same_v<T, std::string>) return "string";
  if constexpr (std::is_same_v<T, double>) return "f64";
  if constexpr (std::is_same_v<T, float>) return "f32";
  if constexpr (std::is_same_v<T, std::int64_t>) return "i64";
  if constexpr (std::is_same_v<T, std::int32_t>) return "i32";
  if constexpr (std::is_same_v<T, std::uint8_t>) return "u8";
}

std::optional<Hdf5Element> classify(hid_t type) {
  const std::size_t size = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_STRING:
      return Hdf5Element::string;
    case H5T_FLOAT:
      return size <= sizeof(float) ? Hdf5Element::f32 : Hdf5Element::f64;
    case H5T_ENUM:
      return Hdf5Element::u8;  // h5py's bool
    case H5T_INTEGER: {
      const bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
      if (size == 1 && !is_signed) return Hdf5Element::u8;
      return size < 4 || (size == 4 && is_signed) ? Hdf5Element::i32 : Hdf5Element::i64;
    }
    default:
      return std::nullopt;
  }
}

Handle open_array(const std::filesystem::path& path, hid_t file, const std::string& object) {
  Handle array(H5Dopen2(file, object.c_str(), H5P_DEFAULT), H5Dclose);
  if (!array) hdf5::fail(path, object, "open the array");
  return array;
}

Hdf5Element element_of(const std::filesystem::path& path, const std::string& object, const Handle& array) {
  const auto element = classify(Handle(H5Dget_type(array.id()), H5Tclose).id());
  if (!element) hdf5::fail_because(path, object, "read the array", "it holds neither numbers nor strings");
  return *element;
}

Hdf5Shape shape_of(hid_t space) {
  if (H5Sget_simple_extent_type(space) == H5S_NULL) return {0};
  const int rank = H5Sget_simple_extent_ndims(space);
  std::vector<hsize_t> extents(static_cast<std::size_t>(std::max(rank, 0)));
  H5Sget_simple_extent_dims(space, extents.data(), nullptr);
  return Hdf5Shape(extents.begin(), extents.end());
}

// The largest integer where it does not fit.
std::int64_t count_of(const Hdf5Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (__builtin_mul_overflow(count, extent, &count)) return std::numeric_limits<std::int64_t>::max();
  }
  return count;
}

// An array may claim any extent without holding values, and reading it would take all memory. Deflate makes numbers at
// most 1032 times smaller.
void refuse_empty_claim(const std::filesystem::path& path, hid_t file, const std::string& object, std::int64_t count,
                        std::size_t element_size) {
  constexpr double kMostDeflated = 1032, kSmall = 1 << 24;
  hsize_t size = 0;
  H5Fget_filesize(file, &size);
  const double claimed = static_cast<double>(count) * static_cast<double>(element_size);
  if (claimed > kSmall && claimed > kMostDeflated * static_cast<double>(size))
    hdf5::fail_because(path, object, "read the array",
                       fmt::format("it claims to hold {} values, more than a file of {} bytes can", count, size));
}

// All values of an open array.
template <class T>
Hdf5Array<T> read_open_array(const std::filesystem::path& path, hid_t file, const std::string& object,
                             const Handle& array) {
  if (const Hdf5Element stored = element_of(path, object, array); !reads_as<T>(stored))
    hdf5::fail_because(path, object, "read the array",
                       fmt::format("it holds {} values, expected {}", element_name(stored), type_name<T>()));
  const Handle space(H5Dget_space(array.id()), H5Sclose);
  Hdf5Array<T> result{shape_of(space.id()), {}};
  const auto count = static_cast<std::size_t>(count_of(result.shape));
  if (count == 0) return result;
  refuse_empty_claim(path, file, object, count_of(result.shape), sizeof(T));
  const auto read = [&](hid_t type, void* buffer) {
    return H5Dread(array.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer);
  };
  bool failed = false;
  try {
    if constexpr (std::is_same_v<T, std::string>) {
      const Handle type(H5Dget_type(array.id()), H5Tclose);
      result.values = hdf5::read_strings(type.id(), space.id(), count, read, failed);
    } else {
      result.values.resize(count);
      failed = read(memory_type<T>(), result.values.data()) < 0;
    }
  } catch (const std::bad_alloc&) {
    failed = true;
  } catch (const std::length_error&) {
    hdf5::fail_because(path, object, "read the array", "its shape is too large for memory");
  }
  if (failed) hdf5::fail(path, object, "read the array");
  return result;
}

}  // namespace

template <class T>
void Hdf5File::write(const std::string& object, const Hdf5Shape& shape, std::span<const T> values) {
  const auto lock = hdf5::lock_library();
  const std::string full = hdf5::absolute(object);
  if (count_of(shape) != static_cast<std::int64_t>(values.size()))
    throw StoreError(fmt::format("{}: {}: {} values do not fill the shape [{}], which needs {}", path().string(), full,
                                 values.size(), fmt::join(shape, ", "), count_of(shape)));
  make_group(full.substr(0, full.rfind('/')));
  const Handle space = hdf5::simple_space(shape);
  const auto create_and_write = [&](hid_t type, const void* data) {
    const Handle array(
        H5Dcreate2(state_->file.id(), full.c_str(), type, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
    if (!array) hdf5::fail(path(), full, "make the array");
    if (!values.empty() && H5Dwrite(array.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
      hdf5::fail(path(), full, "write the array");
  };
  if constexpr (std::is_same_v<T, std::string>) {
    create_and_write(hdf5::utf8_type().id(), hdf5::c_strings(path(), full, values).data());
  } else {
    create_and_write(memory_type<T>(), values.data());
  }
}

Hdf5Element Hdf5File::element(const std::string& object) const {
  const auto lock = hdf5::lock_library();
  const std::string full = hdf5::absolute(object);
  return element_of(path(), full, open_array(path(), state_->file.id(), full));
}

Hdf5Shape Hdf5File::shape(const std::string& object) const {
  const auto lock = hdf5::lock_library();
  const Handle array = open_array(path(), state_->file.id(), hdf5::absolute(object));
  return shape_of(Handle(H5Dget_space(array.id()), H5Sclose).id());
}

template <class T>
Hdf5Array<T> Hdf5File::read(const std::string& object) const {
  const auto lock = hdf5::lock_library();
  const std::string full = hdf5::absolute(object);
  return read_open_array<T>(path(), state_->file.id(), full, open_array(path(), state_->file.id(), full));
}

std::vector<std::pair<std::string, std::vector<double>>> Hdf5File::numbers_below(const std::string& group,
                                                                                 std::size_t most_axes) const {
  const auto lock = hdf5::lock_library();
  const hid_t file = state_->file.id();
  const std::string full = hdf5::absolute(group);
  std::vector<std::pair<std::string, std::vector<double>>> found;
  hdf5::visit_arrays(path(), file, full, [&](const std::string& name, const Handle& array) {
    if (!array || H5Iget_type(array.id()) != H5I_DATASET) return;
    const Handle space(H5Dget_space(array.id()), H5Sclose), type(H5Dget_type(array.id()), H5Tclose);
    const auto element = classify(type.id());
    if (!element || *element == Hdf5Element::string || shape_of(space.id()).size() > most_axes) return;
    std::vector<double>& values = found.emplace_back(name, std::vector<double>{}).second;
    if (*element == Hdf5Element::i64) {
      // Converted here: HDF5 clears a buffer of a megabyte for each array that it converts.
      const auto whole = read_open_array<std::int64_t>(path(), file, full + "/" + name, array).values;
      values.assign(whole.begin(), whole.end());
    } else {
      values = read_open_array<double>(path(), file, full + "/" + name, array).values;
    }
  });
  return found;
}

std::string Hdf5File::read_text(const std::string& object) const {
  auto array = read<std::string>(object);
  if (array.values.size() != 1)
    hdf5::fail_because(path(), hdf5::absolute(object), "read the text",
                       fmt::format("it holds {} texts, expected one", array.values.size()));
  return std::move(array.values.front());
}

#define JARI_INSTANTIATE(T)                                                                                \
  template void Hdf5File::write<T>(const std::string& object, const Hdf5Shape& shape, std::span<const T>); \
  template Hdf5Array<T> Hdf5File::read<T>(const std::string& object) const;
JARI_INSTANTIATE(float)
JARI_INSTANTIATE(double)
JARI_INSTANTIATE(std::int32_t)
JARI_INSTANTIATE(std::int64_t)
JARI_INSTANTIATE(std::uint8_t)
JARI_INSTANTIATE(std::string)
#undef JARI_INSTANTIATE

}  // namespace jari
