#include "framework/text/corpus_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/shown_path.hpp"
#include "framework/base/stream_hash.hpp"

namespace jari {
namespace {

namespace fs = std::filesystem;

bool is_pattern(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

std::vector<fs::path> matches_of(const std::string& pattern) {
  glob_t found{};
  const int status = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  std::vector<fs::path> paths;
  if (status == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  // Not in the order of the locale: the corpus would depend on it.
  std::sort(paths.begin(), paths.end(), [](const fs::path& a, const fs::path& b) { return a.native() < b.native(); });
  return paths;
}

// "" or why it can not be a part of a corpus.
std::string refusal(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::strerror(errno);
  if (S_ISDIR(status.st_mode)) return "is a folder";
  if (::access(path.c_str(), R_OK) != 0) return std::strerror(errno);
  if (S_ISREG(status.st_mode) && status.st_size == 0) return "the file is empty";
  return "";
}

std::string read_hash(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw StoreError(fmt::format("{}: can not read: {}", shown_path(path), std::strerror(errno)));
  StreamHash hash;
  std::vector<char> block(std::size_t{1} << 18);
  ssize_t count = 0;
  while ((count = ::read(descriptor, block.data(), block.size())) > 0)
    hash.update({block.data(), static_cast<std::size_t>(count)});
  const int error = errno;
  ::close(descriptor);
  if (count < 0) throw StoreError(fmt::format("{}: can not read: {}", shown_path(path), std::strerror(error)));
  return hash.hex();
}

}  // namespace

CorpusFiles find_corpus_files(const std::vector<fs::path>& patterns) {
  CorpusFiles result;
  std::set<fs::path> known;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const std::string& text = patterns[i].native();
    std::error_code ignored;
    std::vector<fs::path> paths = {patterns[i]};
    // A file may be called "a[1].txt".
    if (is_pattern(text) && !fs::exists(patterns[i], ignored)) {
      paths = matches_of(text);
      if (paths.empty())
        result.mistakes.push_back({i, fmt::format("no file matches {}", shown_path(patterns[i])),
                                   "a pattern matches within one folder; ** is not known"});
    }
    for (fs::path& path : paths) {
      const std::string reason = refusal(path);
      if (!reason.empty()) {
        const bool folder = reason == "is a folder";
        result.mistakes.push_back({i, fmt::format("{}: {}", shown_path(path), reason),
                                   folder ? fmt::format("for the files in it write {}/*", shown_path(path)) : ""});
      } else if (!known.insert(fs::weakly_canonical(path, ignored)).second) {
        result.mistakes.push_back(
            {i, fmt::format("{}: named twice, so it would be read twice", shown_path(path)), "take one of them out"});
      } else {
        result.paths.push_back(std::move(path));
      }
    }
  }
  return result;
}

std::string file_hash(const fs::path& path) {
  // A sweep asks for the same files once a trial.
  using Identity = std::array<std::int64_t, 5>;
  static std::mutex mutex;
  static std::map<Identity, std::string> known;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    throw StoreError(fmt::format("{}: can not read: {}", shown_path(path), std::strerror(errno)));
  const Identity identity = {static_cast<std::int64_t>(status.st_dev), static_cast<std::int64_t>(status.st_ino),
                             status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
  const std::lock_guard lock(mutex);
  std::string& hash = known[identity];
  if (hash.empty()) hash = read_hash(path);
  return hash;
}

std::string files_hash(const std::vector<fs::path>& paths) {
  std::string all;
  for (const fs::path& path : paths) all += file_hash(path) + "\n";
  return hash128_hex(all);
}

}  // namespace jari
