#pragma once
// A file that appears whole or not at all: written under a temporary name in the same folder, fsynced, renamed, and the
// folder fsynced. On any failure (full disk, read-only folder) the temporary file is removed and what was there before
// is untouched. Errors are StoreErrors with path, the system's reason, and what to do.

#include <filesystem>
#include <string_view>

namespace jari {

class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();  // removes the temporary file unless committed
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void sync();    // all bytes so far are on the disk
  void commit();  // sync, then take the place of `path`

 private:
  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
  bool committed_ = false;
};

void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

// rename(2) and fsync of the folder, with errors as above.
void rename_file(const std::filesystem::path& from, const std::filesystem::path& to);
void sync_folder(const std::filesystem::path& folder);

}  // namespace jari
