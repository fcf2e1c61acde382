#include "framework/text/word_piece.hpp"

#include <utility>

#include "framework/text/unicode.hpp"

namespace jari {

WordPiece::WordPiece(std::vector<std::string> pieces, const std::unordered_map<std::string, std::int32_t>& ids,
                     const WordPieceOptions& options)
    : pieces_(std::move(pieces)),
      trie_(ids),
      continuing_(trie_.follow(options.continuing)),
      unknown_(options.unknown),
      longest_word_(options.longest_word) {}

void WordPiece::encode_word(std::string_view word, std::vector<std::int32_t>& ids) const {
  if (code_points(word) > longest_word_) return ids.push_back(unknown_);
  const std::size_t first = ids.size();
  PieceTrie::Place from = PieceTrie::kBeginning;
  while (!word.empty()) {
    std::size_t longest = 0;
    std::int32_t id = -1;
    const auto keep = [&](std::size_t bytes, std::int32_t found) {
      longest = bytes;
      id = found;
    };
    trie_.visit_beginnings(word, keep, from);
    if (longest == 0) {
      ids.resize(first);
      return ids.push_back(unknown_);
    }
    ids.push_back(id);
    word.remove_prefix(longest);
    from = continuing_;
  }
}

}  // namespace jari
