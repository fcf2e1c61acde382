#pragma once
// A trial's folder: its name, and the lock that keeps two processes from writing it at the same time.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace jari {

inline constexpr const char* kJournalFile = "journal.jsonl";
inline constexpr const char* kRunFile = "run.h5";
inline constexpr const char* kLogFile = "log.txt";

// Keys that vary in the sweep with this trial's values, in order: {"model.position", "rel"}, {"seed", "42"}.
using VaryingKeys = std::vector<std::pair<std::string, std::string>>;

// "position=rel,seed=42": each key by as few of its last parts as tell it from the others. Characters other than
// letters, digits and ".+-_" become "_", and it is at most 100 characters long, so that it is safe on any file system.
std::string trial_label(const VaryingKeys& varying);

// "position=rel,seed=42-3fa9c1": the label and six digits of the trial's hash, which make it unique.
std::string trial_folder_name(const std::string& label, const std::string& trial_hash);

// Removes the temporary files that a killed process left in a folder. Only while nobody else writes there.
void remove_temporary_files(const std::filesystem::path& folder);

// An advisory lock (flock) on <folder>/.lock, held until it is destroyed or the process dies.
class RunLock {
 public:
  enum class IfHeld { fail, wait };

  // Makes the folder if it is missing, and removes the temporary files that a killed process left in it. With `fail`, a
  // lock held by another process is a StoreError that names it.
  explicit RunLock(const std::filesystem::path& folder, IfHeld if_held = IfHeld::fail);
  ~RunLock();
  RunLock(RunLock&& other) noexcept;
  RunLock& operator=(RunLock&& other) noexcept;

 private:
  int descriptor_ = -1;
};

}  // namespace jari
