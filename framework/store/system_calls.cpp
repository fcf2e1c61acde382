#include "framework/store/system_calls.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "framework/base/error.hpp"

namespace jari {
namespace {

const char* advice(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free some space on that file system and run again: finished trials are kept";
    case EFBIG:
      return "raise the limit on the size of files (ulimit -f) and run again: finished trials are kept";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose a folder that you may write to, or change its permissions";
    case ENOENT:
      return "make the folder first, or correct the path";
    case ENOTDIR:
      return "a part of the path is a file where a folder should be: correct the path";
    case EISDIR:
      return "it is a folder where a file should be: correct the path";
    case EMFILE:
    case ENFILE:
      return "raise the limit on open files (ulimit -n)";
    default:
      return "check the disk and the path, and run again";
  }
}

}  // namespace

void throw_system_error(const std::filesystem::path& path, const std::string& action, int error) {
  throw StoreError(fmt::format("{}: can not {}: {}; {}", path.string(), action, std::strerror(error), advice(error)));
}

int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace jari
