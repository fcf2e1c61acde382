#include "framework/store/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "framework/store/system_calls.hpp"

namespace jari {
namespace {

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
  // The process id keeps two writers of one path apart; the one that commits last wins.
  temporary_ = path_;
  temporary_ += fmt::format(".{}.tmp", ::getpid());
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw_system_error(path_, "write", errno);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!committed_) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  if (const int error = write_all(descriptor_, bytes); error != 0) throw_system_error(path_, "write", error);
}

void AtomicFile::sync() {
  if (::fsync(descriptor_) != 0) throw_system_error(path_, "write", errno);
}

void AtomicFile::commit() {
  sync();
  // Some file systems report a full disk only when the file is closed.
  if (::close(std::exchange(descriptor_, -1)) != 0) throw_system_error(path_, "write", errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) throw_system_error(path_, "write", errno);
  committed_ = true;
  sync_folder(folder_of(path_));
}

void write_file_atomically(const std::filesystem::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void rename_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) throw_system_error(from, "rename to " + to.filename().string(), errno);
  sync_folder(folder_of(to));
}

void sync_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) throw_system_error(folder, "open", errno);
  const int error = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  // Not every file system can sync a folder (EINVAL); there the rename itself is all that can be had.
  if (error != 0 && error != EINVAL) throw_system_error(folder, "sync", error);
}

}  // namespace jari
