#include "framework/store/run_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "framework/base/error.hpp"
#include "framework/store/system_calls.hpp"

namespace jari {
namespace {

constexpr std::size_t kLongestLabel = 100;

bool is_safe(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '+' ||
         c == '-' || c == '_';
}

std::string safe(std::string text) {
  std::string result;
  for (const char c : text) {
    const bool continues_code_point = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    if (is_safe(c))
      result += c;
    else if (!continues_code_point)
      result += '_';
  }
  return result;
}

// The last `parts` parts of a dotted path.
std::string tail(const std::string& path, int parts) {
  std::size_t begin = path.size();
  for (int i = 0; i < parts && begin != 0; ++i) {
    const std::size_t dot = path.rfind('.', begin - 1);
    if (dot == std::string::npos) return path;
    begin = dot;
  }
  return path.substr(begin + 1);
}

std::string shortest_tail(const VaryingKeys& varying, const std::string& path) {
  for (int parts = 1;; ++parts) {
    const std::string candidate = tail(path, parts);
    const auto same = std::count_if(varying.begin(), varying.end(),
                                    [&](const auto& other) { return tail(other.first, parts) == candidate; });
    if (same <= 1 || candidate == path) return candidate;
  }
}

}  // namespace

std::string trial_label(const VaryingKeys& varying) {
  std::string label;
  for (const auto& [path, value] : varying) {
    if (!label.empty()) label += ',';
    label += safe(shortest_tail(varying, path)) + '=' + safe(value);
  }
  if (label.size() > kLongestLabel) label.resize(kLongestLabel);
  return label;
}

std::string trial_folder_name(const std::string& label, const std::string& trial_hash) {
  const std::string digits = trial_hash.substr(0, 6);
  return label.empty() ? "trial-" + digits : label + '-' + digits;
}

void remove_temporary_files(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::vector<std::filesystem::path> stale;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".tmp") stale.push_back(entry.path());
  for (const auto& path : stale) std::filesystem::remove(path, ignored);
}

RunLock::RunLock(const std::filesystem::path& folder, IfHeld if_held) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw_system_error(folder, "make the folder", error.value());
  const std::filesystem::path path = folder / ".lock";
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) throw_system_error(path, "write", errno);
  // A signal ends the wait (EINTR): a person who presses Ctrl-C wants out.
  if (::flock(descriptor, if_held == IfHeld::fail ? LOCK_EX | LOCK_NB : LOCK_EX) == 0) {
    descriptor_ = descriptor;
    remove_temporary_files(folder);
    return;
  }
  const int reason = errno;
  ::close(descriptor);
  if (reason == EWOULDBLOCK)
    throw StoreError(fmt::format("{}: another jari process is writing this folder; wait until it has ended, or stop it",
                                 folder.string()));
  throw_system_error(path, "lock", reason);
}

RunLock::~RunLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

RunLock::RunLock(RunLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

RunLock& RunLock::operator=(RunLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

}  // namespace jari
