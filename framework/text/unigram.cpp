#include "framework/text/unigram.hpp"

#include <algorithm>
#include <utility>

#include "framework/text/character_pairs.hpp"
#include "framework/text/unicode.hpp"

namespace jari {

Unigram::Unigram(std::vector<std::string> pieces, const std::unordered_map<std::string, std::int32_t>& ids,
                 std::vector<double> scores, std::int32_t unknown, bool byte_fallback)
    : pieces_(std::move(pieces)), trie_(ids), scores_(std::move(scores)), unknown_(unknown) {
  constexpr double kPenalty = 10;
  unknown_score_ = *std::min_element(scores_.begin(), scores_.end()) - kPenalty;
  for (std::size_t byte = 0; byte < byte_ids_.size(); ++byte)
    byte_ids_[byte] = byte_fallback ? trie_.id_of(byte_piece(static_cast<unsigned char>(byte))) : -1;
}

// By how many bytes of the word they are of.
std::vector<Unigram::Cut> Unigram::best_cuts(std::string_view word) const {
  std::vector<Cut> best(word.size() + 1);
  const auto offer = [&](std::size_t begin, std::size_t end, double score, std::int32_t id) {
    Cut& cut = best[end];
    const double sum = score + best[begin].score;
    if (cut.last == kNone || sum > cut.score) cut = {sum, begin, id};
  };
  for (std::size_t begin = 0; begin < word.size();) {
    std::size_t next = begin;
    next_code_point(word, next);
    bool known = false;
    trie_.visit_beginnings(word.substr(begin), [&](std::size_t bytes, std::int32_t id) {
      offer(begin, begin + bytes, scores_[static_cast<std::size_t>(id)], id);
      known = known || begin + bytes == next;
    });
    if (!known) offer(begin, next, unknown_score_, unknown_);
    begin = next;
  }
  return best;
}

void Unigram::encode_word(std::string_view word, std::vector<std::int32_t>& ids) const {
  const std::vector<Cut> best = best_cuts(word);
  std::vector<std::size_t> begins;  // of pieces, the last first
  bool behind_unknown = false;
  for (std::size_t end = word.size(); end > 0; end = best[end].last) {
    const bool unknown = best[end].id == unknown_;
    if (unknown && behind_unknown) begins.pop_back();
    begins.push_back(best[end].last);
    behind_unknown = unknown;
  }
  for (std::size_t i = begins.size(); i-- > 0;) {
    const std::size_t end = i > 0 ? begins[i - 1] : word.size();
    add(word.substr(begins[i], end - begins[i]), ids);
  }
}

void Unigram::add(std::string_view piece, std::vector<std::int32_t>& ids) const {
  const auto byte_id = [&](char c) { return byte_ids_[static_cast<unsigned char>(c)]; };
  if (const std::int32_t id = trie_.id_of(piece); id >= 0) {
    ids.push_back(id);
  } else if (std::all_of(piece.begin(), piece.end(), [&](char c) { return byte_id(c) >= 0; })) {
    for (const char c : piece) ids.push_back(byte_id(c));
  } else {
    ids.push_back(unknown_);
  }
}

}  // namespace jari
