#pragma once
// Text tables for terminals, aligned by display width (Hangul is two columns wide).

#include <string>
#include <vector>

namespace jari {

enum class Align { left, right };

class TextTable {
 public:
  struct Column {
    std::string header;
    Align align = Align::left;
  };
  explicit TextTable(std::vector<Column> columns);

  // One cell for each column.
  void add_row(std::vector<std::string> cells);

  // Header, a rule, the rows; columns two spaces apart, no spaces at the ends of lines.
  std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace jari
