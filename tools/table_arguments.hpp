#pragma once
// What the commands that look into a table share: which table, and how results are written.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "framework/base/table.hpp"
#include "framework/table/word_table.hpp"
#include "tools/command.hpp"

namespace jari {

// A run or a file on the command line.
struct TableArguments {
  std::string path, tensor, words, format;
  bool escape = false;

  void options(CommandOptions& options);
  // Reads it; notes go to stderr.
  WordTable open() const;
};

// Rows of a result, as a table for people or for programs.
class ResultTable {
 public:
  using Cell = std::variant<std::string, double, std::int64_t>;
  explicit ResultTable(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  void add_row(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }
  // "text": aligned, numbers with four decimals, a first cell that repeats the one above left out; "csv"; "json": an
  // array of objects.
  void print(const std::string& format) const;

  static void option(CommandOptions& options, std::string& format);  // --format

 private:
  std::string text() const;
  std::string csv() const;
  std::string json() const;

  std::vector<std::string> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// SpecError unless it is 1 or more: "--count 0: expected 1 or more".
void require_positive(const char* option, std::int64_t value);

}  // namespace jari
