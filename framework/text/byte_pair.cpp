#include "framework/text/byte_pair.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/text/cut_patterns.hpp"

namespace jari {
BytePair::BytePair(std::vector<std::string> pieces, std::vector<PairMerge> merges, bool whole_words_first)
    : pieces_(std::move(pieces)), merges_(std::move(merges)) {
  index_pieces();
  if (whole_words_first) {
    whole_.assign(pieces_.size(), true);
  } else {
    find_whole_words();
  }
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
