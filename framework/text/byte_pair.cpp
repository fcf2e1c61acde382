#include "framework/text/byte_pair.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/text/unicode.hpp"

namespace jari {
namespace {

std::size_t contraction_at(std::string_view text, std::size_t offset) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.substr(offset, ending.size()) == ending) return ending.size();
  }
  return 0;
}

// The end of the run of one class that begins at `offset`.
std::size_t run_end(std::string_view text, std::size_t offset, CharacterClass kind) {
  while (offset < text.size()) {
    const std::size_t begin = offset;
    if (character_class(next_code_point(text, offset)) != kind) return begin;
  }
  return offset;
}

CharacterClass class_at(std::string_view text, std::size_t offset) {
  return character_class(next_code_point(text, offset));
}

}  // namespace

std::size_t gpt2_piece_end(std::string_view text, std::size_t offset) {
  if (text[offset] == '\'') {
    if (const std::size_t length = contraction_at(text, offset); length > 0) return offset + length;
  }
  const bool space = text[offset] == ' ' && offset + 1 < text.size();
  const std::size_t begin = space ? offset + 1 : offset;
  const CharacterClass kind = class_at(text, begin);
  if (kind != CharacterClass::white_space) return run_end(text, begin, kind);
  // The last white space of a run belongs to the word behind it (if it is a space) or is a piece of its own.
  const std::size_t end = run_end(text, offset, CharacterClass::white_space);
  if (end == text.size()) return end;
  const std::size_t last = last_code_point(text, end).begin;
  return last == offset ? end : last;
}

BytePair::BytePair(std::vector<std::string> pieces, std::vector<PairMerge> merges)
    : pieces_(std::move(pieces)), merges_(std::move(merges)) {
  index_pieces();
  find_whole_words();
}

void BytePair::index_pieces() {
  for (std::size_t i = 0; i < pieces_.size(); ++i) ids_.emplace(pieces_[i], static_cast<std::int32_t>(i));
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(static_cast<unsigned char>(byte));
    const auto found = ids_.find(std::string_view(&c, 1));
    if (found == ids_.end()) throw StoreError(fmt::format("there is no piece for the byte 0x{:02X}", byte));
    byte_ids_[byte] = found->second;
  }
}

void BytePair::encode(std::string_view text, std::vector<std::int32_t>& ids) const {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = gpt2_piece_end(text, begin);
    encode_word(text.substr(begin, end - begin), ids);
    begin = end;
  }
}

std::string BytePair::decode(std::span<const std::int32_t> ids) const {
  std::string text;
  for (const std::int32_t id : ids) {
    JARI_ASSERT(id >= 0 && id < size(), "an id outside of the vocabulary");
    text += pieces_[static_cast<std::size_t>(id)];
  }
  return text;
}

void BytePair::encode_word(std::string_view word, std::vector<std::int32_t>& ids, std::size_t longest_list) const {
  const auto known = ids_.find(word);
  if (known != ids_.end() && whole_[static_cast<std::size_t>(known->second)]) {
    ids.push_back(known->second);
    return;
  }
  const std::size_t begin = ids.size();
  for (const char c : word) ids.push_back(byte_ids_[static_cast<unsigned char>(c)]);
  ids.resize(begin + merges_.merge(std::span(ids).subspan(begin), longest_list));
}

// Most words of a text are pieces; that is found once, so that encoding them is one look-up.
void BytePair::find_whole_words() {
  whole_.assign(pieces_.size(), false);
  std::vector<std::int32_t> ids;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    ids.clear();
    encode_word(pieces_[i], ids);
    whole_[i] = ids.size() == 1 && ids[0] == static_cast<std::int32_t>(i);
  }
}

}  // namespace jari
