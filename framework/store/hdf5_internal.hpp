#pragma once
// Shared by the sources of Hdf5File. Identifiers of the C library travel as the integers that they are.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/store/hdf5_file.hpp"

namespace jari::hdf5 {

// Owns an identifier. A negative one is the C API's failure.
class Handle {
 public:
  using Close = int (*)(std::int64_t);
  Handle() = default;
  Handle(std::int64_t id, Close close) : id_(id), close_(close) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }

  std::int64_t id() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  void reset() {
    if (id_ >= 0) close_(id_);
  }

  std::int64_t id_ = -1;
  Close close_ = nullptr;
};

// Held during every call of the library; it also keeps the library from printing its errors.
std::unique_lock<std::recursive_mutex> lock_library();

// StoreError "PATH: OBJECT: can not ACTION: <the library's innermost reason>; <what to do>".
[[noreturn]] void fail(const std::filesystem::path& path, const std::string& object, const std::string& action);
[[noreturn]] void fail_because(const std::filesystem::path& path, const std::string& object, const std::string& action,
                               const std::string& reason);

std::string absolute(const std::string& object);  // "/a/b" for "a/b", "/" for ""

// C strings for the library. StoreError if one holds a NUL byte, at which HDF5 would cut it.
std::vector<const char*> c_strings(const std::filesystem::path& path, const std::string& object,
                                   std::span<const std::string> texts);
Handle utf8_type();
Handle simple_space(const Hdf5Shape& shape);

// Calls `visit(path from the group, open object)` for all that lies below a group and is no group, in order. A link
// that leads nowhere comes with an invalid handle.
void visit_arrays(const std::filesystem::path& path, std::int64_t file, const std::string& group,
                  const std::function<void(const std::string& name, const Handle& object)>& visit);

// The strings of `count` elements as `read(memory type, buffer)` gives them: of fixed or variable length.
std::vector<std::string> read_strings(std::int64_t file_type, std::int64_t space, std::size_t count,
                                      const std::function<int(std::int64_t type, void* buffer)>& read, bool& failed);

}  // namespace jari::hdf5

namespace jari {

struct Hdf5File::State {
  std::filesystem::path path;
  hdf5::Handle file;
};

}  // namespace jari
