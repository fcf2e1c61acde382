#include "framework/spec/source_place.hpp"

#include <algorithm>

#include "framework/base/text.hpp"

namespace jari {

std::string_view line_of(const SourceFilePtr& file, int line) {
  const auto index = static_cast<std::size_t>(line - 1);
  return line >= 1 && index < file->lines.size() ? std::string_view(file->lines[index]) : std::string_view{};
}

SourceSpan span_at(const SourceFilePtr& file, int line, std::size_t byte, std::size_t bytes) {
  const std::string_view text = line_of(file, line);
  byte = std::min(byte, text.size());
  SourceSpan span;
  span.file = file;
  span.line = line;
  span.column = count_code_points(text.substr(0, byte)) + 1;
  span.length = std::max(1, count_code_points(text.substr(byte, bytes)));
  return span;
}

std::size_t scalar_extent(std::string_view line, std::size_t byte, const std::string& text) {
  const std::string_view rest = line.substr(std::min(byte, line.size()));
  if (rest.empty() || rest[0] == '|' || rest[0] == '>') return 1;
  if (rest.substr(0, text.size()) == text && rest[0] != '"' && rest[0] != '\'') return text.size();
  if (rest[0] != '"' && rest[0] != '\'') return rest.size();
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (rest[0] == '"' && rest[i] == '\\') {
      ++i;
    } else if (rest[i] == rest[0]) {
      const bool doubled = rest[0] == '\'' && i + 1 < rest.size() && rest[i + 1] == '\'';
      if (!doubled) return i + 1;
      ++i;
    }
  }
  return rest.size();
}

bool is_closed(const SourceFilePtr& file, int line, std::size_t byte) {
  const char quote = line_of(file, line)[byte];
  for (++byte; line <= static_cast<int>(file->lines.size()); ++line, byte = 0) {
    const std::string_view text = line_of(file, line);
    for (; byte < text.size(); ++byte) {
      if (quote == '"' && text[byte] == '\\') {
        ++byte;
      } else if (text[byte] == quote) {
        return true;  // a doubled one has another after it
      }
    }
  }
  return false;
}

std::size_t after_properties(std::string_view line, std::size_t byte) {
  std::size_t at = byte;
  while (at < line.size() && (line[at] == '&' || line[at] == '!')) {
    at = line.find(' ', at);
    at = at == std::string_view::npos ? line.size() : line.find_first_not_of(' ', at);
    if (at == std::string_view::npos) at = line.size();
  }
  return at < line.size() && line[at] != '#' ? at : byte;
}

}  // namespace jari
