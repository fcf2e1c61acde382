#pragma once
// Summaries of an experiment's run files in one file, `<experiment>/.summaries`, so that a table of ten thousand runs
// need not open them all again. It may be deleted at any time. An entry counts only for the very file that it was made
// from (device, inode, size, times: run files are renamed into place and never rewritten) and only if its checksum is
// right; a cache that is damaged, of another version, or can not be written is no error, only slower.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "framework/store/run_file.hpp"

namespace jari {

inline constexpr const char* kSummariesFile = ".summaries";

// Files that changed a moment ago are not remembered: one that is written again within a tick of the file system's
// clock would look the same.
inline constexpr std::chrono::nanoseconds kSettling = std::chrono::seconds(2);

struct FileIdentity {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t modified = 0, changed = 0;  // nanoseconds since 1970

  bool operator==(const FileIdentity&) const = default;
};

// Nothing if there is no such regular file.
std::optional<FileIdentity> identify_file(const std::filesystem::path& path);

class SummaryCache {
 public:
  explicit SummaryCache(std::filesystem::path folder, std::chrono::nanoseconds settling = kSettling);

  // `name` is the path of a run file relative to the folder. Safe to call from several threads.
  std::optional<RunSummary> find(const std::string& name, const FileIdentity& identity) const;

  // `identity` is what the file had before it was read.
  void put(const std::string& name, const FileIdentity& identity, const RunSummary& summary);

  // Writes what was read and put, without entries whose file has changed or is gone. Does nothing if nothing was put.
  void save() const;

 private:
  std::filesystem::path folder_;
  std::chrono::nanoseconds settling_;
  std::string bytes_;                                          // of the file
  std::unordered_map<std::string, std::string_view> entries_;  // in bytes_, by name
  std::unordered_map<std::string, std::string> added_;
};

}  // namespace jari
