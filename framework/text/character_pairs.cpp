#include "framework/text/character_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "framework/text/unicode.hpp"

namespace jari {

std::string byte_piece(unsigned char byte) { return fmt::format("<0x{:02X}>", byte); }

std::optional<unsigned char> byte_of_piece(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || !piece.ends_with('>')) return std::nullopt;
  int byte = 0;
  for (const char c : piece.substr(3, 2)) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit && !(c >= 'A' && c <= 'F')) return std::nullopt;
    byte = byte * 16 + (digit ? c - '0' : c - 'A' + 10);
  }
  return static_cast<unsigned char>(byte);
}

CharacterPairs::CharacterPairs(std::vector<std::string> pieces, std::vector<PairMerge> merges,
                               CharacterPairsOptions options)
    : pieces_(std::move(pieces)), merges_(std::move(merges)), options_(options) {
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const std::string& piece = pieces_[i];
    ids_.emplace(piece, static_cast<std::int32_t>(i));
    if (piece.empty()) continue;
    std::size_t end = 0;
    const char32_t character = next_code_point(piece, end);
    if (end != piece.size()) continue;
    if (character >= character_ids_.size()) character_ids_.resize(character + 1, -1);
    character_ids_[character] = static_cast<std::int32_t>(i);
  }
  for (int byte = 0; byte < 256; ++byte) {
    const auto found = ids_.find(byte_piece(static_cast<unsigned char>(byte)));
    byte_ids_[byte] = found == ids_.end() ? -1 : found->second;
  }
  find_whole_words();
}

void CharacterPairs::encode_word(std::string_view word, std::vector<std::int32_t>& ids) const {
  const auto known = ids_.find(word);
  if (known != ids_.end() && (options_.whole_words_first || whole_[static_cast<std::size_t>(known->second)])) {
    ids.push_back(known->second);
    return;
  }
  const std::size_t begin = ids.size();
  for (std::size_t offset = 0; offset < word.size();) {
    const std::size_t at = offset;
    const char32_t character = next_code_point(word, offset);
    const std::int32_t id = character < character_ids_.size() ? character_ids_[character] : -1;
    if (id >= 0) {
      ids.push_back(id);
    } else {
      add_unknown(word.substr(at, offset - at), begin, ids);
    }
  }
  ids.resize(begin + merges_.merge(std::span(ids).subspan(begin)));
}

void CharacterPairs::add_unknown(std::string_view character, std::size_t begin, std::vector<std::int32_t>& ids) const {
  if (options_.byte_fallback && add_bytes(character, ids)) return;
  if (!options_.unknown) return;
  if (options_.fuse_unknown && ids.size() > begin && ids.back() == *options_.unknown) return;
  ids.push_back(*options_.unknown);
}

// All of them, or none.
bool CharacterPairs::add_bytes(std::string_view character, std::vector<std::int32_t>& ids) const {
  const auto id_of = [&](char c) { return byte_ids_[static_cast<unsigned char>(c)]; };
  if (!std::all_of(character.begin(), character.end(), [&](char c) { return id_of(c) >= 0; })) return false;
  for (const char c : character) ids.push_back(id_of(c));
  return true;
}

// Many words of a text are pieces; that is found once, so that encoding them is one look-up.
void CharacterPairs::find_whole_words() {
  const bool first = std::exchange(options_.whole_words_first, false);
  whole_.assign(pieces_.size(), false);
  std::vector<std::int32_t> ids;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    ids.clear();
    encode_word(pieces_[i], ids);
    whole_[i] = ids.size() == 1 && ids[0] == static_cast<std::int32_t>(i);
  }
  options_.whole_words_first = first;
}

}  // namespace jari
