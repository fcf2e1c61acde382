#include "framework/base/table.hpp"

#include <algorithm>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"

namespace jari {
namespace {

constexpr std::size_t kGap = 2;

std::size_t width_of(const std::string& cell) { return static_cast<std::size_t>(display_width(cell)); }

void trim_end(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

}  // namespace

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

void TextTable::add_row(std::vector<std::string> cells) {
  JARI_ASSERT(cells.size() == columns_.size(), "a table's row needs one cell for each column");
  rows_.push_back(std::move(cells));
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths;
  std::vector<std::string> header, rule;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = width_of(columns_[i].header);
    for (const auto& row : rows_) width = std::max(width, width_of(row[i]));
    widths.push_back(width);
    header.push_back(columns_[i].header);
    rule.emplace_back(width, '-');
  }
  std::string text;
  const auto add_line = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line.append(kGap, ' ');
      const std::string padding(widths[i] - width_of(cells[i]), ' ');
      line += columns_[i].align == Align::left ? cells[i] + padding : padding + cells[i];
    }
    trim_end(line);
    text += line + '\n';
  };
  add_line(header);
  add_line(rule);
  for (const auto& row : rows_) add_line(row);
  return text;
}

}  // namespace jari
