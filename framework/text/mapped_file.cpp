#include "framework/text/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "framework/base/error.hpp"
#include "framework/base/shown_path.hpp"

namespace jari {

MappedFile::MappedFile(const std::filesystem::path& path) {
  const auto fail = [&] {
    throw StoreError(fmt::format("{}: can not read: {}", shown_path(path), std::strerror(errno)));
  };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail();
  struct stat status {};
  void* data = nullptr;
  if (::fstat(descriptor, &status) == 0 && status.st_size > 0) {
    size_ = static_cast<std::size_t>(status.st_size);
    data = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor, 0);
  }
  ::close(descriptor);
  if (data == MAP_FAILED) fail();
  data_ = static_cast<const char*>(data);
}

void MappedFile::release(std::size_t size) const {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  // Only advice: where it fails nothing is lost but memory.
  if (data_ != nullptr) ::madvise(const_cast<char*>(data_), std::min(size, size_) / page * page, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

}  // namespace jari
