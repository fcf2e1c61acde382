#include "tools/table_arguments.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/train/run_table.hpp"

namespace jari {
namespace {

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string cell_text(const ResultTable::Cell& cell, const char* number_format) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return std::to_string(*integer);
  const double number = std::get<double>(cell);
  return std::isnan(number) ? "" : fmt::format(fmt::runtime(number_format), number);
}

}  // namespace

void TableArguments::options(CommandOptions& options) {
  options.argument("table", path,
                   "a trial's folder, a run file, or vectors of word2vec, GloVe, NumPy, safetensors, the projector");
  options.option("--tensor", tensor, "which table: a weight of the run (embedding), a tensor or array of the file");
  options.option("--words", words,
                 "file with the words of the rows: a line each, or JSON such as GPT-2's encoder.json");
  std::vector<std::string> formats = table_format_names();
  options.choice("--table-format", format, formats, "how the file is written; by its content otherwise");
  options.flag("--escape", escape, "keep words that are no UTF-8, with \\xNN in place of such bytes");
}

WordTable TableArguments::open() const {
  TableOptions options;
  options.tensor = tensor;
  options.words = words;
  options.format = table_format_named(format);
  options.escape_invalid_utf8 = escape;
  LoadedTable loaded = read_any_table(path, options);
  for (const std::string& note : loaded.notes) fmt::print(stderr, "note: {}\n", printable(note));
  if (loaded.table.size() == 0) throw StoreError(fmt::format("{}: holds no rows", path));
  return std::move(loaded.table);
}

void ResultTable::option(CommandOptions& options, std::string& format) {
  options.choice("--format", format, {"text", "csv", "json"}, "how the result is written");
}

void ResultTable::print(const std::string& format) const {
  fmt::print("{}", format == "csv" ? csv() : format == "json" ? json() : text());
}

std::string ResultTable::text() const {
  std::vector<TextTable::Column> columns;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const bool is_text = rows_.empty() || std::holds_alternative<std::string>(rows_.front()[i]);
    columns.push_back({columns_[i], is_text ? Align::left : Align::right});
  }
  TextTable table(columns);
  const Cell* above = nullptr;
  for (const std::vector<Cell>& row : rows_) {
    std::vector<std::string> cells;
    for (const Cell& cell : row) cells.push_back(printable(cell_text(cell, "{:.4f}")));
    if (above != nullptr && *above == row.front()) cells.front().clear();
    above = &row.front();
    table.add_row(std::move(cells));
  }
  return table.text();
}

std::string ResultTable::csv() const {
  std::string text = fmt::format("{}\n", fmt::join(columns_, ","));
  for (const std::vector<Cell>& row : rows_) {
    std::vector<std::string> cells;
    for (const Cell& cell : row) cells.push_back(csv_field(cell_text(cell, "{}")));
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return text;
}

std::string ResultTable::json() const {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const std::vector<Cell>& row : rows_) {
    nlohmann::ordered_json object;
    for (std::size_t i = 0; i < row.size(); ++i)
      std::visit([&](const auto& value) { object[columns_[i]] = value; }, row[i]);
    all.push_back(std::move(object));
  }
  return all.dump(1) + "\n";
}

void require_positive(const char* option, std::int64_t value) {
  if (value < 1) throw SpecError(fmt::format("error: {} {}: expected 1 or more\n", option, value));
}

}  // namespace jari
