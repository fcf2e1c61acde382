#include "framework/text/cut_patterns.hpp"

#include "framework/text/unicode.hpp"

namespace jari {
namespace {

constexpr std::string_view kContractions[] = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};

std::size_t contraction_at(std::string_view text, std::size_t offset) {
  for (const std::string_view ending : kContractions) {
    if (text.substr(offset, ending.size()) == ending) return ending.size();
  }
  return 0;
}

// Where a contraction of small or large letters ends; `offset` if there is none.
std::size_t contraction_end_of_any_case(std::string_view text, std::size_t offset) {
  constexpr char32_t kLongS = 0x17F;  // a small s too, says Unicode's case folding
  for (const std::string_view ending : kContractions) {
    std::size_t at = offset, matched = 0;
    for (; matched < ending.size() && at < text.size(); ++matched) {
      const char32_t letter = next_code_point(text, at);
      const char32_t folded = letter == kLongS ? U's' : lower_case(letter);
      if (folded != static_cast<unsigned char>(ending[matched])) break;
    }
    if (matched == ending.size()) return at;
  }
  return offset;
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

// \s+(?!\S)|\s+: the last white space of a run belongs to the word behind it, or is a piece of its own.
std::size_t spaces_end(std::string_view text, std::size_t offset) {
  const std::size_t end = run_end(text, offset, CharacterClass::white_space);
  if (end == text.size()) return end;
  const std::size_t last = last_code_point(text, end).begin;
  return last == offset ? end : last;
}

bool is_line_end(char c) { return c == '\r' || c == '\n'; }

std::size_t digits_end(std::string_view text, std::size_t offset, int most) {
  for (int i = 0; i < most && offset < text.size() && class_at(text, offset) == CharacterClass::number; ++i)
    next_code_point(text, offset);
  return offset;
}

// \s*[\r\n]+, or what else white space is cut into.
std::size_t lines_end(std::string_view text, std::size_t offset) {
  std::size_t end = run_end(text, offset, CharacterClass::white_space);
  while (end > offset && !is_line_end(text[end - 1])) --end;
  return end > offset ? end : spaces_end(text, offset);
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
  return spaces_end(text, offset);
}

std::size_t llama3_piece_end(std::string_view text, std::size_t offset, int most_digits) {
  if (text[offset] == '\'') {
    if (const std::size_t end = contraction_end_of_any_case(text, offset); end > offset) return end;
  }
  const CharacterClass kind = class_at(text, offset);
  if (kind == CharacterClass::letter) return run_end(text, offset, kind);
  if (kind == CharacterClass::number) return digits_end(text, offset, most_digits);
  std::size_t behind = offset;
  next_code_point(text, behind);
  const CharacterClass next = behind < text.size() ? class_at(text, behind) : CharacterClass::white_space;
  if (next == CharacterClass::letter && !is_line_end(text[offset])) return run_end(text, behind, next);
  if (kind == CharacterClass::white_space && !(text[offset] == ' ' && next == CharacterClass::other))
    return lines_end(text, offset);
  std::size_t end = run_end(text, text[offset] == ' ' ? behind : offset, CharacterClass::other);
  while (end < text.size() && is_line_end(text[end])) ++end;
  return end;
}

}  // namespace jari
