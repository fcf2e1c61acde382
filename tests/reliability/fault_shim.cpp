// Preloaded into the program (LD_PRELOAD) by reliability_test.py: counts what it asks of the file system below one
// folder and, at the operation with a given number, lets a fault happen.
//
//   JARI_FAULT_FOLDER  operations on files below it count
//   JARI_FAULT_LOG     a file that gets one line an operation: "17 write checkpoint.h5.123.tmp"
//   JARI_FAULT_AT      number of the operation, from 1
//   JARI_FAULT         kill: SIGKILL before it. torn: a write does half of its bytes, then SIGKILL. full: it and all
//                      that need space after it fail with ENOSPC.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

enum class Fault { none, kill, torn, full };

struct Settings {
  std::string folder, log;
  long at = 0;
  Fault fault = Fault::none;

  Settings() {
    const auto get = [](const char* name) {
      const char* value = std::getenv(name);
      return std::string(value ? value : "");
    };
    folder = get("JARI_FAULT_FOLDER");
    log = get("JARI_FAULT_LOG");
    at = std::atol(get("JARI_FAULT_AT").c_str());
    const std::string kind = get("JARI_FAULT");
    fault = kind == "kill" ? Fault::kill : kind == "torn" ? Fault::torn : kind == "full" ? Fault::full : Fault::none;
  }
};

const Settings& settings() {
  static const Settings instance;
  return instance;
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

bool counts(const char* path) {
  const std::string& folder = settings().folder;
  return path != nullptr && !folder.empty() && std::strncmp(path, folder.c_str(), folder.size()) == 0;
}

std::string path_of(int descriptor) {
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  char target[PATH_MAX];
  const ssize_t size = ::readlink(link.c_str(), target, sizeof(target));
  return size > 0 ? std::string(target, static_cast<std::size_t>(size)) : "";
}

[[noreturn]] void die() {
  ::raise(SIGKILL);
  std::abort();
}

std::atomic<long> operations{0};

// What is to happen at this operation. Kills at once where that is the fault.
Fault reached(const char* what, const char* path) {
  const long number = ++operations;
  if (!settings().log.empty()) {
    const int log = next<int (*)(const char*, int, ...)>("open")(settings().log.c_str(),
                                                                 O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    const char* name = std::strrchr(path, '/');
    const std::string line = std::to_string(number) + " " + what + " " + (name ? name + 1 : path) + "\n";
    [[maybe_unused]] const ssize_t done =
        next<ssize_t (*)(int, const void*, size_t)>("write")(log, line.data(), line.size());
    next<int (*)(int)>("close")(log);
  }
  if (settings().at == 0 || number < settings().at) return Fault::none;
  if (settings().fault == Fault::full) return Fault::full;
  if (number != settings().at) return Fault::none;
  if (settings().fault == Fault::kill) die();
  return settings().fault;
}

int fail_full() {
  errno = ENOSPC;
  return -1;
}

int open_counted(const char* function, const char* path, int flags, mode_t mode) {
  const bool writes = (flags & (O_WRONLY | O_RDWR)) != 0;
  const Fault fault = writes && counts(path) ? reached("open", path) : Fault::none;
  if (fault == Fault::torn) die();
  if (fault == Fault::full && (flags & O_CREAT) != 0 && ::access(path, F_OK) != 0) return fail_full();
  return next<int (*)(const char*, int, ...)>(function)(path, flags, mode);
}

mode_t mode_of(int flags, va_list arguments) {
  return (flags & O_CREAT) != 0 ? static_cast<mode_t>(va_arg(arguments, int)) : 0;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_counted("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_counted("open64", path, flags, mode);
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  const std::string path = descriptor > 2 ? path_of(descriptor) : "";
  if (!counts(path.c_str())) return real(descriptor, bytes, size);
  const Fault fault = reached("write", path.c_str());
  if (fault == Fault::full) return fail_full();
  if (fault == Fault::torn) {
    [[maybe_unused]] const ssize_t done = real(descriptor, bytes, size / 2);
    die();
  }
  return real(descriptor, bytes, size);
}

int fsync(int descriptor) {
  const std::string path = path_of(descriptor);
  if (counts(path.c_str()) && reached("fsync", path.c_str()) == Fault::torn) die();
  return next<int (*)(int)>("fsync")(descriptor);
}

int fdatasync(int descriptor) {
  const std::string path = path_of(descriptor);
  if (counts(path.c_str()) && reached("fdatasync", path.c_str()) == Fault::torn) die();
  return next<int (*)(int)>("fdatasync")(descriptor);
}

int rename(const char* from, const char* to) {
  if (counts(to) && reached("rename", to) == Fault::torn) die();
  return next<int (*)(const char*, const char*)>("rename")(from, to);
}

int unlink(const char* path) {
  if (counts(path) && reached("unlink", path) == Fault::torn) die();
  return next<int (*)(const char*)>("unlink")(path);
}

int remove(const char* path) {
  if (counts(path) && reached("unlink", path) == Fault::torn) die();
  return next<int (*)(const char*)>("remove")(path);
}

int mkdir(const char* path, mode_t mode) {
  if (counts(path)) {
    const Fault fault = reached("mkdir", path);
    if (fault == Fault::torn) die();
    if (fault == Fault::full) return fail_full();
  }
  return next<int (*)(const char*, mode_t)>("mkdir")(path, mode);
}

}  // extern "C"
