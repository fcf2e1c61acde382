#include "framework/text/text_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "framework/base/error.hpp"
#include "framework/text/character_pairs.hpp"
#include "framework/text/cut_patterns.hpp"
#include "framework/text/unicode.hpp"

namespace jari {
namespace {

// A file's steps may double a text again and again. Honest ones make of a character 18 at most, or write a mark or so
// more.
void check_growth(std::size_t before, std::size_t after) {
  if (after > 64 * before + 65536)
    throw StoreError(fmt::format("the tokenizer's steps make of a text of {} bytes one of {}", before, after));
}

bool has_prefix(Cutter::Prefix prefix, TextPlace place) {
  return prefix == Cutter::Prefix::first ? place == TextPlace::beginning
                                         : prefix == Cutter::Prefix::always && place != TextPlace::rest;
}

void cut_before(std::string_view text, std::string_view mark, const TextSteps::Visit& visit) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(mark, begin + 1), text.size());
    visit(text.substr(begin, end - begin));
    begin = end;
  }
}

std::size_t piece_end(Cutter::Kind pattern, std::string_view text, std::size_t begin) {
  if (pattern == Cutter::Kind::llama3) return llama3_piece_end(text, begin, 3);
  if (pattern == Cutter::Kind::qwen) return llama3_piece_end(text, begin, 1);
  return gpt2_piece_end(text, begin);
}

void cut_by_pattern(Cutter::Kind pattern, std::string_view text, const TextSteps::Visit& visit) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = piece_end(pattern, text, begin);
    visit(text.substr(begin, end - begin));
    begin = end;
  }
}

void cut_at_white_space(std::string_view text, const TextSteps::Visit& visit) {
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t space = at < text.size() ? white_space_at(text, at) : 1;
    if (space == 0) {
      ++at;
      continue;
    }
    if (at > begin) visit(text.substr(begin, at - begin));
    begin = at += space;
  }
}

bool is_bert_punctuation(char32_t c) {
  return c < 0x80 ? c > ' ' && c < 0x7F && character_class(c) == CharacterClass::other : is_punctuation(c);
}

void cut_around_punctuation(std::string_view text, const TextSteps::Visit& visit) {
  std::size_t begin = 0;
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t at = offset;
    if (!is_bert_punctuation(next_code_point(text, offset))) continue;
    if (at > begin) visit(text.substr(begin, at - begin));
    visit(text.substr(at, offset - at));
    begin = offset;
  }
  if (begin < text.size()) visit(text.substr(begin));
}

void cut_before_spaces(std::string_view text, const TextSteps::Visit& visit) {
  std::size_t begin = 0;
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (white_space_at(text, at) == 0 && !text.substr(at).starts_with(kWordStart)) continue;
    visit(text.substr(begin, at - begin));
    begin = at;
  }
  if (begin < text.size()) visit(text.substr(begin));
}

}  // namespace

std::string TextSteps::normalize(std::string_view text, TextPlace place) const {
  std::string result(text);
  for (const Normalizer& step : normalizers_) {
    apply(step, place, result);
    check_growth(text.size(), result.size());
  }
  return result;
}

bool TextSteps::byte_level() const {
  return std::any_of(cutters_.begin(), cutters_.end(),
                     [](const Cutter& step) { return step.kind == Cutter::Kind::byte_level; });
}

bool TextSteps::cuts_at_white_space() const {
  using Kind = Cutter::Kind;
  return std::any_of(cutters_.begin(), cutters_.end(), [](const Cutter& step) {
    return step.kind == Kind::before_spaces || step.kind == Kind::gpt2 || (step.kind == Kind::byte_level && step.split);
  });
}

void TextSteps::cut_from(std::size_t index, std::string_view text, TextPlace place, const Visit& visit) const {
  if (index == cutters_.size()) return visit(text);
  if (text.empty()) return;
  using Kind = Cutter::Kind;
  const Cutter& step = cutters_[index];
  const bool byte_level = step.kind == Kind::byte_level;
  std::string changed;
  if (step.kind == Kind::metaspace) text = changed = replaced(text, " ", step.mark);
  const std::string_view mark = byte_level ? std::string_view(" ") : step.mark;
  if (has_prefix(step.prefix, place) && !text.starts_with(mark)) {
    std::string with_prefix(mark);
    with_prefix += text;
    changed = std::move(with_prefix);
    text = changed;
  }
  const Visit next = [&](std::string_view part) {
    cut_from(index + 1, part, place, visit);
    place = TextPlace::part;
  };
  if (step.kind == Kind::white_space) {
    if (white_space_at(text, 0) > 0) place = TextPlace::part;
    return cut_at_white_space(text, next);
  }
  if (step.kind == Kind::before_spaces) return cut_before_spaces(text, next);
  if (step.kind == Kind::punctuation) return cut_around_punctuation(text, next);
  if (!step.split) return next(text);
  if (step.kind == Kind::metaspace) return cut_before(text, step.mark, next);
  cut_by_pattern(step.kind, text, next);
}

namespace {

void strip(std::string& piece, const Joiner& step) {
  if (step.from.empty()) return;
  std::string_view rest = piece;
  for (std::size_t i = 0; i < step.start && rest.starts_with(step.from); ++i) rest.remove_prefix(step.from.size());
  for (std::size_t i = 0; i < step.stop && rest.ends_with(step.from); ++i) rest.remove_suffix(step.from.size());
  piece = std::string(rest);
}

void strip_beginning(std::string& piece, const std::string& mark) {
  std::size_t begin = 0;
  while (!mark.empty() && piece.compare(begin, mark.size(), mark) == 0) begin += mark.size();
  piece.erase(0, begin);
}

// What tokenizing has torn apart: " ." and " 've".
std::string without_needless_spaces(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> kReplacements[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kReplacements) text = replaced(text, from, to);
  return text;
}

void join_words(const Joiner& step, std::vector<std::string>& pieces) {
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::string& piece = pieces[i];
    if (i > 0 && piece.starts_with(step.from)) {
      piece.erase(0, step.from.size());
    } else if (i > 0) {
      piece.insert(std::size_t{0}, 1, ' ');
    }
    if (step.start > 0) piece = without_needless_spaces(std::move(piece));
  }
}

void apply(const Joiner& step, std::vector<std::string>& pieces) {
  using Kind = Joiner::Kind;
  if (step.kind == Kind::word_piece) return join_words(step, pieces);
  if (step.kind == Kind::fuse || step.kind == Kind::byte_level) {
    pieces = {std::accumulate(pieces.begin(), pieces.end(), std::string())};
    return;
  }
  if (step.kind == Kind::metaspace && step.start > 0 && !pieces.empty()) strip_beginning(pieces.front(), step.from);
  for (std::string& piece : pieces) {
    if (step.kind == Kind::byte_fallback) {
      if (const auto byte = byte_of_piece(piece)) piece = std::string(1, static_cast<char>(*byte));
    } else if (step.kind == Kind::strip) {
      strip(piece, step);
    } else {
      piece = replaced(piece, step.from, step.kind == Kind::metaspace ? " " : step.to);
    }
  }
}

std::size_t bytes_of(const std::vector<std::string>& pieces) {
  const auto add = [](std::size_t sum, const std::string& piece) { return sum + piece.size(); };
  return std::accumulate(pieces.begin(), pieces.end(), std::size_t{0}, add);
}

}  // namespace

std::string join_pieces(std::vector<std::string> pieces, const std::vector<Joiner>& joiners) {
  const std::size_t before = bytes_of(pieces);
  for (const Joiner& step : joiners) {
    apply(step, pieces);
    check_growth(before, bytes_of(pieces));
  }
  std::string text;
  for (const std::string& piece : pieces) {
    if (joiners.empty() && !text.empty()) text += ' ';
    text += piece;
  }
  return text;
}

}  // namespace jari
