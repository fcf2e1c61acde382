#pragma once
// Corpora as ids, made once and kept on the disk, so that all trials of a sweep, and the next run, share them.

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "framework/text/token_file.hpp"
#include "framework/train/data_spec.hpp"

namespace jari {

// $XDG_CACHE_HOME/jari/tokens, or ~/.cache/jari/tokens. StoreError if neither variable is set.
std::filesystem::path default_token_folder();

// A folder of token files, which may be deleted at any time. A file's name is a hash of what the ids depend on: the
// corpus' contents, the tokenizer with its files, the vocabulary's settings. A file that is damaged, or that another
// build of jari (or of a module) has written, is made again in its place. Threads and processes may share a folder.
class TokenCache {
 public:
  explicit TokenCache(std::filesystem::path folder = default_token_folder()) : folder_(std::move(folder)) {}

  // Tokenizes if it must. StoreError where the corpus can not be read or holds no piece, or the folder not be written.
  std::shared_ptr<const TokenizedCorpus> get(const DataSpec& data);

  std::filesystem::path path_of(const DataSpec& data) const;

 private:
  std::filesystem::path folder_;
  std::mutex mutex_;
  std::map<std::filesystem::path, std::weak_ptr<const TokenizedCorpus>> open_;
};

// From the cache in the default folder: one for all of a process.
std::shared_ptr<const TokenizedCorpus> tokenized_corpus(const DataSpec& data);

}  // namespace jari
