#pragma once
// A corpus as a stream of text: unpacked, checked, normalized, in segments that never cut a word.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/text/byte_source.hpp"

namespace jari {

enum class Normalization { nfc, none };

struct CorpusOptions {
  Normalization normalization = Normalization::nfc;
  std::size_t block = std::size_t{1} << 18;  // bytes unpacked at a time
};

struct Segment {
  std::string_view text;   // valid until the next one is asked for
  bool ends_file = false;  // of which the end counts as a line's end
};

// A segment ends at the end of a file, or before white space that follows other text: there all tokenizers cut, so the
// pieces of the segments are the pieces of the whole. Line ends are '\n', whether the file has "\n" or "\r\n". A byte
// order mark is skipped. Memory: a few blocks, or the longest word.
class CorpusReader {
 public:
  static constexpr std::size_t kLongestWord = std::size_t{1} << 24;  // bytes

  CorpusReader(std::vector<std::filesystem::path> paths, const CorpusOptions& options);

  // Nothing after the last one. StoreError for a file that is missing, empty, damaged, not UTF-8 (with the byte offset
  // in the unpacked text), or whose words are longer than kLongestWord.
  std::optional<Segment> next();

  std::string name() const;  // of its first file, for errors
  Normalization normalization() const { return options_.normalization; }
  std::uint64_t bytes() const { return bytes_; }  // unpacked so far

 private:
  void open_next();
  void read_block();
  void accept(std::size_t begin, bool at_end);
  std::size_t find_cut();
  Segment segment(std::size_t length, bool ends_file);
  [[noreturn]] void refuse(const std::string& message) const;

  std::vector<std::filesystem::path> paths_;
  CorpusOptions options_;
  std::size_t file_ = 0;  // of the paths: the next one
  std::unique_ptr<ByteSource> source_;
  std::string pending_;            // text that was not given out
  std::size_t given_ = 0;          // bytes at its beginning that the last segment was
  std::size_t accepted_ = 0;       // bytes of it that are checked; behind them the beginning of a sequence
  std::size_t searched_ = 0;       // bytes of it without a place to cut
  std::uint64_t file_offset_ = 0;  // in the unpacked file, of the first byte behind the accepted ones
  std::uint64_t bytes_ = 0;
  std::string normalized_;
};

}  // namespace jari
