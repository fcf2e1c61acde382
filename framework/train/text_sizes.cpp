#include "framework/train/text_sizes.hpp"

#include <algorithm>
#include <string>

#include "framework/text/character_pairs.hpp"

namespace jari {
namespace {

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

// A tokenizer's text of one token inside a text: the first may lose a space there, so one stands before it.
std::string text_inside(const Tokenizer& tokenizer, std::int32_t before, std::int32_t id) {
  const std::int32_t pair[] = {before, id};
  const std::string text = tokenizer.decode(pair);
  const std::string alone = tokenizer.decode(std::span(pair, 1));
  return text.starts_with(alone) ? text.substr(alone.size()) : text;
}

}  // namespace

std::optional<TextSizes> text_sizes(const Tokenizer& tokenizer, const Vocabulary& vocabulary) {
  const bool has_own = tokenizer.own_pieces() != nullptr;
  if (!has_own && !tokenizer.pieces_are_text()) return std::nullopt;
  TextSizes sizes;
  std::int32_t before = 0;  // an ordinary piece: letters alone
  for (std::int32_t id = 0; has_own && id < vocabulary.size(); ++id) {
    const std::string& piece = vocabulary.pieces()[static_cast<std::size_t>(id)];
    const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
    if (!piece.empty() && std::all_of(piece.begin(), piece.end(), is_letter)) before = id;
  }
  for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
    const std::string& piece = vocabulary.pieces()[static_cast<std::size_t>(id)];
    std::string text = piece;
    if (const auto byte = byte_of_piece(piece); has_own && byte) {
      text = static_cast<char>(*byte);
    } else if (has_own) {
      text = text_inside(tokenizer, before, id);
    }
    sizes.bytes.push_back(static_cast<std::int32_t>(text.size()));
    sizes.characters.push_back(static_cast<std::int32_t>(std::count_if(text.begin(), text.end(), begins_character)));
  }
  return sizes;
}

}  // namespace jari
