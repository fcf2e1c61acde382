#include "framework/text/corpus_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "framework/base/error.hpp"
#include "framework/base/shown_path.hpp"
#include "framework/text/normalize.hpp"
#include "framework/text/unicode.hpp"

namespace jari {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool may_cut_before(char c) { return c == ' ' || c == '\n' || c == '\t'; }

// "\r\n" to "\n", in place, from `begin` on.
void convert_line_ends(std::string& text, std::size_t begin, std::size_t& end) {
  std::size_t out = text.find('\r', begin);
  if (out == std::string::npos || out >= end) return;
  for (std::size_t in = out; in < end; ++in) {
    if (text[in] == '\r' && in + 1 < end && text[in + 1] == '\n') continue;
    text[out++] = text[in];
  }
  text.erase(out, end - out);
  end = out;
}

}  // namespace

CorpusReader::CorpusReader(std::vector<std::filesystem::path> paths, const CorpusOptions& options)
    : paths_(std::move(paths)), options_(options) {
  options_.block = std::max<std::size_t>(options_.block, 1);
}

std::optional<Segment> CorpusReader::next() {
  pending_.erase(0, given_);
  accepted_ -= given_;
  searched_ -= std::min(searched_, given_);
  given_ = 0;
  for (;;) {
    if (!source_) {
      if (file_ == paths_.size()) return std::nullopt;
      open_next();
      if (!source_ && accepted_ > 0) return segment(accepted_, true);
      continue;
    }
    const std::size_t cut = find_cut();
    if (cut > 0) return segment(cut, false);
    if (accepted_ > kLongestWord) {
      refuse(fmt::format("no white space in the {} bytes before byte {}: is it a text? Break it into words or lines",
                         accepted_, file_offset_));
    }
    read_block();
    if (!source_ && accepted_ > 0) return segment(accepted_, true);
  }
}

void CorpusReader::open_next() {
  source_ = open_byte_source(paths_[file_++]);
  pending_.clear();
  accepted_ = searched_ = 0;
  file_offset_ = 0;
  // A short read is not yet the end.
  while (source_ && pending_.size() < kByteOrderMark.size()) read_block();
  if (file_offset_ == 0 && pending_.empty()) refuse("the file is empty");
  if (!pending_.starts_with(kByteOrderMark)) return;
  pending_.erase(0, kByteOrderMark.size());
  accepted_ -= kByteOrderMark.size();
}

// Adds a block to what is pending; closes the source at the end of the file.
void CorpusReader::read_block() {
  const std::size_t before = pending_.size();
  pending_.resize(before + options_.block);
  const std::size_t count = source_->read({pending_.data() + before, options_.block});
  pending_.resize(before + count);
  bytes_ += count;
  accept(accepted_, count == 0);
  if (count == 0) source_.reset();
}

// Checks what is new. A sequence or "\r\n" that the block cuts waits for the next one.
void CorpusReader::accept(std::size_t begin, bool at_end) {
  const std::string_view text = std::string_view(pending_).substr(begin);
  const Utf8Prefix prefix = utf8_prefix(text);
  const std::uint64_t offset = file_offset_ + prefix.valid;
  if (prefix.malformed || (at_end && prefix.valid < text.size())) {
    const std::string bytes = escaped(text.substr(prefix.valid, prefix.malformed ? 1 : text.size() - prefix.valid));
    refuse(prefix.malformed
               ? fmt::format("byte {}: {} is not UTF-8: convert the file, for example with `iconv -f CP949 -t UTF-8`",
                             offset, bytes)
               : fmt::format("byte {}: the file ends within a UTF-8 sequence ({}): it is cut short", offset, bytes));
  }
  std::size_t end = begin + prefix.valid;
  if (!at_end && end > begin && pending_[end - 1] == '\r') --end;
  file_offset_ += end - begin;
  convert_line_ends(pending_, begin, end);
  accepted_ = end;
}

// Where the accepted text can be cut, as late as possible; 0 if nowhere.
std::size_t CorpusReader::find_cut() {
  for (std::size_t at = accepted_; at-- > std::max<std::size_t>(searched_, 1);) {
    if (!may_cut_before(pending_[at])) continue;
    if (!is_white_space(last_code_point(pending_, at).code_point)) return at;
  }
  searched_ = accepted_;
  return 0;
}

Segment CorpusReader::segment(std::size_t length, bool ends_file) {
  given_ = length;
  const std::string_view text = std::string_view(pending_).substr(0, length);
  return {options_.normalization == Normalization::nfc ? to_nfc(text, normalized_) : text, ends_file};
}

std::string CorpusReader::name() const { return paths_.empty() ? "corpus" : shown_path(paths_.front()); }

void CorpusReader::refuse(const std::string& message) const {
  throw StoreError(fmt::format("{}: {}", shown_path(paths_[file_ - 1]), message));
}

}  // namespace jari
