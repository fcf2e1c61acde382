#include "framework/text/vocabulary.hpp"

#include <algorithm>
#include <utility>

#include "framework/base/error.hpp"

namespace jari {

Vocabulary::Vocabulary(std::vector<std::string> pieces, std::vector<std::int64_t> counts,
                       std::optional<std::int32_t> unknown, std::int32_t special)
    : pieces_(std::move(pieces)), counts_(std::move(counts)), unknown_(unknown), special_(special) {
  JARI_ASSERT(pieces_.size() == counts_.size(), "every piece has a count");
  ids_.reserve(pieces_.size());
  for (std::size_t i = static_cast<std::size_t>(special_); i < pieces_.size(); ++i) {
    ids_.emplace(pieces_[i], static_cast<std::int32_t>(i));
  }
}

std::optional<std::int32_t> Vocabulary::find(std::string_view piece) const {
  const auto found = ids_.find(piece);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

ChosenVocabulary choose_vocabulary(const CountedPieces& counted, const VocabularySettings& settings) {
  std::vector<std::string> pieces;
  if (settings.unknown) pieces.push_back(*settings.unknown);
  pieces.insert(pieces.end(), settings.special.begin(), settings.special.end());
  const auto special = static_cast<std::int32_t>(pieces.size());
  std::vector<std::int64_t> counts(pieces.size(), 0);

  std::vector<std::pair<std::int64_t, std::int32_t>> order;  // count and number of the pieces that are frequent enough
  for (std::int32_t number = 0; number < counted.size; ++number) {
    const std::int64_t count = counted.count(number);
    if (count > 0 && count >= settings.min_count) order.emplace_back(count, number);
  }
  const auto more_frequent = [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  };
  std::sort(order.begin(), order.end(), more_frequent);
  if (settings.size)
    order.resize(std::min(order.size(), static_cast<std::size_t>(std::max<std::int64_t>(*settings.size - special, 0))));

  std::vector<std::int32_t> id_of(static_cast<std::size_t>(counted.size), settings.unknown ? 0 : -1);
  for (const auto& [count, number] : order) {
    id_of[static_cast<std::size_t>(number)] = static_cast<std::int32_t>(pieces.size());
    pieces.emplace_back(counted.piece(number));
    counts.push_back(count);
  }
  if (settings.unknown) {
    for (std::int32_t number = 0; number < counted.size; ++number) {
      if (id_of[static_cast<std::size_t>(number)] == 0) counts[0] += counted.count(number);
    }
  }
  const std::optional<std::int32_t> unknown = settings.unknown ? std::optional<std::int32_t>(0) : std::nullopt;
  return {Vocabulary(std::move(pieces), std::move(counts), unknown, special), std::move(id_of)};
}

}  // namespace jari
