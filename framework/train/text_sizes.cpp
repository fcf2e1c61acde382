#include "framework/train/text_sizes.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "framework/text/character_pairs.hpp"

namespace jari {
namespace {

TextSize size_of(std::string_view text) {
  const auto begins_character = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; };
  return {static_cast<std::int32_t>(text.size()),
          static_cast<std::int32_t>(std::count_if(text.begin(), text.end(), begins_character))};
}

// The pieces of a tokenizer that has a vocabulary of its own. (The spec's may have chosen some of them, with other
// ids.)
class OwnPieces {
 public:
  explicit OwnPieces(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {
    if (tokenizer.own_pieces() == nullptr) return;
    const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
    const std::vector<std::string>& pieces = *tokenizer.own_pieces();
    for (std::size_t id = 0; id < pieces.size(); ++id) {
      ids_.emplace(pieces[id], static_cast<std::int32_t>(id));
      if (!pieces[id].empty() && std::all_of(pieces[id].begin(), pieces[id].end(), is_letter))
        word_ = static_cast<std::int32_t>(id);
      if (pieces[id] == "\n") line_end_ = static_cast<std::int32_t>(id);
    }
  }

  // Inside a line: the first piece of a text may lose a space there, so another stands before it.
  TextSize within(const std::string& piece) const { return behind(word_, piece); }
  TextSize in_line_begin(const std::string& piece) const { return behind(line_end_.value_or(word_), piece); }

 private:
  TextSize behind(std::int32_t before, const std::string& piece) const {
    if (const auto byte = byte_of_piece(piece)) return size_of(std::string(1, static_cast<char>(*byte)));
    const auto found = ids_.find(piece);
    if (found == ids_.end()) return {};
    const std::int32_t pair[] = {before, found->second};
    const std::string both = tokenizer_.decode(pair), first = tokenizer_.decode(std::span(pair, 1));
    return size_of(both.starts_with(first) ? std::string_view(both).substr(first.size()) : both);
  }

  const Tokenizer& tokenizer_;
  std::unordered_map<std::string_view, std::int32_t> ids_;
  std::int32_t word_ = 0;  // an ordinary piece, where there is one: letters alone
  std::optional<std::int32_t> line_end_;
};

}  // namespace

std::optional<TextSizes> TextSizes::of(const Tokenizer& tokenizer, const Vocabulary& vocabulary) {
  const bool has_own = tokenizer.own_pieces() != nullptr;
  if (!has_own && !tokenizer.pieces_are_text()) return std::nullopt;
  const OwnPieces own(tokenizer);
  TextSizes sizes;
  for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
    const std::string& piece = vocabulary.pieces()[static_cast<std::size_t>(id)];
    const bool is_text = id >= vocabulary.special() && id != vocabulary.unknown();
    sizes.ends_line_.push_back(is_text && piece.ends_with('\n'));
    sizes.within_.push_back(!is_text ? TextSize{} : has_own ? own.within(piece) : size_of(piece));
    sizes.in_line_begin_.push_back(!is_text ? TextSize{} : has_own ? own.in_line_begin(piece) : size_of(piece));
  }
  return sizes;
}

}  // namespace jari
