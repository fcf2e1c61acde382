#include "framework/train/text_sizes.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "framework/text/character_pairs.hpp"

namespace jari {
namespace {

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

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
        before_ = static_cast<std::int32_t>(id);
    }
  }

  // Of a piece inside a text: the first of a text may lose a space there, so another stands before it.
  std::string text(const std::string& piece) const {
    if (const auto byte = byte_of_piece(piece)) return std::string(1, static_cast<char>(*byte));
    const auto found = ids_.find(piece);
    if (found == ids_.end()) return "";
    const std::int32_t pair[] = {before_, found->second};
    const std::string both = tokenizer_.decode(pair), first = tokenizer_.decode(std::span(pair, 1));
    return both.starts_with(first) ? both.substr(first.size()) : both;
  }

 private:
  const Tokenizer& tokenizer_;
  std::unordered_map<std::string_view, std::int32_t> ids_;
  std::int32_t before_ = 0;  // an ordinary piece, where there is one: letters alone
};

}  // namespace

std::optional<TextSizes> text_sizes(const Tokenizer& tokenizer, const Vocabulary& vocabulary) {
  const bool has_own = tokenizer.own_pieces() != nullptr;
  if (!has_own && !tokenizer.pieces_are_text()) return std::nullopt;
  const OwnPieces own(tokenizer);
  TextSizes sizes;
  for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
    const std::string& piece = vocabulary.pieces()[static_cast<std::size_t>(id)];
    const bool is_text = id >= vocabulary.special() && id != vocabulary.unknown();
    const std::string text = !is_text ? "" : has_own ? own.text(piece) : piece;
    sizes.bytes.push_back(static_cast<std::int32_t>(text.size()));
    sizes.characters.push_back(static_cast<std::int32_t>(std::count_if(text.begin(), text.end(), begins_character)));
  }
  return sizes;
}

}  // namespace jari
