#pragma once
// Which files a corpus is, and what tells it from another.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace jari {

struct CorpusMistake {
  std::size_t pattern;  // which of the patterns
  std::string message, hint;
};

struct CorpusFiles {
  std::vector<std::filesystem::path> paths;  // in the order of the patterns; the matches of one sorted by their bytes
  std::vector<CorpusMistake> mistakes;       // missing, empty, not readable, a folder, named twice
};

// A pattern is a path, or one with *, ? or [...], which match within one folder.
CorpusFiles find_corpus_files(const std::vector<std::filesystem::path>& patterns);

// XXH3-128 of a file's bytes, as they lie on the disk. Read once in a process for each (file, size, time of change).
// StoreError if it can not be read.
std::string file_hash(const std::filesystem::path& path);

// One hash for all files in their order.
std::string files_hash(const std::vector<std::filesystem::path>& paths);

}  // namespace jari
