#pragma once
// The ids of a corpus on the disk, as trials read them: mapped into memory, shared by all.
//
//   "JARITOK2"                                 8 bytes
//   ids                                        int32 each, in the order of the corpus
//   (zeros up to a multiple of 8)
//   line starts                                int64 each: where lines begin among the ids, and at last their number
//   counts                                     int64 each, by id
//   ends of the pieces                         int64 each: among the bytes that follow
//   the pieces' bytes
//   the tokenizer's model                      nothing where it learned none
//   trailer                                    what it is a file of, the numbers above, XXH3-128 of all before it
//
// All numbers are little-endian, as the machines are that jari runs on.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/stream_hash.hpp"
#include "framework/text/vocabulary.hpp"

namespace jari {

class MappedFile;

// A corpus as ids. Lines (of the text; empty ones are left out) are what windows do not cross.
struct TokenizedCorpus {
  std::span<const std::int32_t> ids;
  std::span<const std::int64_t> line_starts;  // [lines + 1]
  Vocabulary vocabulary;
  std::shared_ptr<const MappedFile> file;  // what the spans look into
  std::string_view model = {};             // of a tokenizer that learned from the corpus

  std::int64_t lines() const { return static_cast<std::int64_t>(line_starts.size()) - 1; }
};

// Writes a token file front to back.
class TokenFileWriter {
 public:
  // `write` appends bytes to the file; `key` (32 digits) says what it is a file of.
  TokenFileWriter(std::function<void(std::string_view)> write, std::string key);

  void ids(std::span<const std::int32_t> part);  // as often as needed
  void finish(std::span<const std::int64_t> line_starts, const Vocabulary& vocabulary, std::string_view model = {});

 private:
  void put(std::string_view bytes);
  template <class T>
  void put_values(std::span<const T> values) {
    put({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }

  std::function<void(std::string_view)> write_;
  std::string key_;
  StreamHash hash_;
  std::int64_t ids_ = 0;
};

// StoreError if the file is missing, damaged, cut short, or of another key or version. Reads all of it once.
std::shared_ptr<const TokenizedCorpus> open_token_file(const std::filesystem::path& path, const std::string& key);

}  // namespace jari
