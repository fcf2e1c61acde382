#include "framework/text/pair_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/text/byte_alphabet.hpp"
#include "framework/text/character_pairs.hpp"
#include "framework/text/pair_trainer.hpp"
#include "framework/text/piece_counter.hpp"
#include "framework/text/subword.hpp"
#include "framework/text/unicode.hpp"

namespace jari {
namespace {

// Longer words are learned from in parts, so that the work of one merge is bounded.
constexpr std::size_t kLongestTrained = 256;  // characters

// The most frequent characters that make up `coverage` of the text, of equally frequent ones the smaller, and the word
// start. By code point.
std::vector<char32_t> covered_characters(const PieceCounter& words, double coverage) {
  std::unordered_map<char32_t, std::int64_t> counts;
  double total = 0;
  for (std::int32_t word = 0; word < words.size(); ++word) {
    const std::string_view text = words.piece(word);
    for (std::size_t offset = 0; offset < text.size();) {
      counts[next_code_point(text, offset)] += words.count(word);
      total += static_cast<double>(words.count(word));
    }
  }
  std::vector<std::pair<std::int64_t, char32_t>> order;
  for (const auto& [character, count] : counts) order.emplace_back(-count, character);
  std::sort(order.begin(), order.end());
  std::size_t first = 0;
  const char32_t start = next_code_point(kWordStart, first);
  std::vector<char32_t> covered = {start};
  double sum = 0;
  for (const auto& [count, character] : order) {
    if (sum >= coverage * total) break;
    sum -= static_cast<double>(count);
    if (character != start) covered.push_back(character);
  }
  std::sort(covered.begin(), covered.end());
  return covered;
}

std::string text_of(char32_t character) {
  std::string text;
  append_utf8(character, text);
  return text;
}

// Words as ids; a part without an id (-1) ends a word, and so does too long a run.
template <class Split>
PairWords words_as_ids(const PieceCounter& counter, const Split& split) {
  PairWords words;
  std::vector<std::int32_t> ids;
  for (std::int32_t word = 0; word < counter.size(); ++word) {
    ids.clear();
    split(counter.piece(word), ids);
    ids.push_back(-1);
    std::size_t begin = words.parts.size();
    for (const std::int32_t id : ids) {
      if (id >= 0) words.parts.push_back(id);
      if (id >= 0 && words.parts.size() - begin < kLongestTrained) continue;
      if (words.parts.size() - begin < 2) {
        words.parts.resize(begin);  // nothing to merge
        continue;
      }
      begin = words.parts.size();
      words.ends.push_back(begin);
      words.counts.push_back(counter.count(word));
    }
  }
  return words;
}

// The pieces that are there before a merge, and words as their ids.
struct Beginning {
  std::vector<std::string> pieces;
  PairWords words;
};

Beginning of_bytes(const PieceCounter& counter, std::vector<std::string> pieces) {
  std::int32_t id_of[256];
  for (const unsigned char byte : byte_alphabet_order()) {
    id_of[byte] = static_cast<std::int32_t>(pieces.size());
    pieces.emplace_back(1, static_cast<char>(byte));
  }
  PairWords words = words_as_ids(counter, [&](std::string_view word, std::vector<std::int32_t>& ids) {
    for (const char c : word) ids.push_back(id_of[static_cast<unsigned char>(c)]);
  });
  return {std::move(pieces), std::move(words)};
}

Beginning of_characters(const PieceCounter& counter, const PairSettings& settings, std::vector<std::string> pieces) {
  for (int byte = 0; byte < 256 && settings.byte_fallback; ++byte)
    pieces.push_back(byte_piece(static_cast<unsigned char>(byte)));
  std::unordered_map<char32_t, std::int32_t> id_of;
  for (const char32_t character : covered_characters(counter, settings.coverage)) {
    id_of.emplace(character, static_cast<std::int32_t>(pieces.size()));
    pieces.push_back(text_of(character));
  }
  PairWords words = words_as_ids(counter, [&](std::string_view word, std::vector<std::int32_t>& ids) {
    for (std::size_t offset = 0; offset < word.size();) {
      const auto found = id_of.find(next_code_point(word, offset));
      ids.push_back(found == id_of.end() ? -1 : found->second);
    }
  });
  return {std::move(pieces), std::move(words)};
}

// A file without a merge: its steps are those that cut the words.
TextSteps steps_of(const PairSettings& settings) {
  PairSettings plain = settings;
  plain.special.clear();
  plain.byte_fallback = true;
  std::vector<std::string> pieces;
  for (const unsigned char byte : byte_alphabet_order()) pieces.emplace_back(1, static_cast<char>(byte));
  if (plain.mark == PairMark::word_start) pieces = {std::string(kWordStart)};
  return Subword::read(tokenizer_json(plain, pieces, {}), "tokenizer.json").steps();
}

}  // namespace

PairTraining::PairTraining(PairSettings settings)
    : settings_(std::move(settings)), steps_(steps_of(settings_)), words_(std::make_unique<PieceCounter>()) {}

PairTraining::~PairTraining() = default;

void PairTraining::add(std::string_view text, TextPlace place) {
  steps_.cut(steps_.normalize(text, place), place, [&](std::string_view word) { words_->add(word); });
}

std::string PairTraining::finish(const std::string& corpus) {
  const bool bytes = settings_.mark == PairMark::bytes;
  std::vector<std::string> pieces;
  if (!bytes && !settings_.byte_fallback) pieces.emplace_back(kUnknownPiece);
  pieces.insert(pieces.end(), settings_.special.begin(), settings_.special.end());
  const std::size_t special = pieces.size();
  Beginning begin = bytes ? of_bytes(*words_, std::move(pieces)) : of_characters(*words_, settings_, std::move(pieces));
  words_.reset();  // much of the memory, and not needed any more
  const auto size = static_cast<std::size_t>(settings_.vocabulary);
  if (begin.pieces.size() > size) {
    const std::size_t all_bytes = bytes || settings_.byte_fallback ? 256 : 0;
    throw StoreError(
        fmt::format("{}: a vocabulary of {} is too small: {} tokens, {} bytes and {} characters are pieces", corpus,
                    size, special, all_bytes, begin.pieces.size() - special - all_bytes));
  }
  const std::vector<PairMerge> merges = train_pairs(std::move(begin.words), begin.pieces, size);
  if (begin.pieces.size() < size) {
    throw StoreError(
        fmt::format("{}: the text gives {} pieces, too few for a vocabulary of {}: ask for fewer, or give more text",
                    corpus, begin.pieces.size(), size));
  }
  return tokenizer_json(settings_, begin.pieces, merges);
}

}  // namespace jari
