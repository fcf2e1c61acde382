// Comparisons for people: plain text, Markdown, LaTeX.
#include <fmt/format.h>

#include <algorithm>

#include "framework/base/table.hpp"
#include "framework/base/text.hpp"
#include "framework/report/compare_view.hpp"

namespace jari {
namespace {

constexpr int kTableWidth = 110;

const std::string& shown_key(const std::string& key) {
  static const std::string none = "-";
  return key.empty() ? none : key;
}

// -- plain text

int key_width(const Comparison& comparison) {
  int total = 4;  // n
  for (std::size_t i = 0; i < comparison.columns.size(); ++i) {
    int width = display_width(comparison.columns[i]);
    for (const ComparisonCell& cell : comparison.cells) width = std::max(width, display_width(cell.keys[i]));
    total += width + 2;
  }
  return total;
}

// A column of the text table: a metric's name and what the cells show, top to bottom.
struct MetricColumn {
  std::string name;
  std::vector<std::string> cells;
  int width;
};

std::vector<MetricColumn> metric_columns(const Comparison& comparison) {
  std::vector<MetricColumn> columns;
  for (std::size_t m = 0; m < comparison.metrics.size(); ++m) {
    MetricColumn column{comparison.metrics[m].name(), {}, display_width(comparison.metrics[m].name())};
    for (std::size_t c = 0; c < comparison.cells.size(); ++c) {
      column.cells.push_back(shown_statistics(comparison, c, m));
      column.width = std::max(column.width, display_width(column.cells.back()));
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

// The metrics [first, last) beside the keys.
std::string table_of(const Comparison& comparison, const std::vector<MetricColumn>& metrics, std::size_t first,
                     std::size_t last) {
  std::vector<TextTable::Column> columns;
  for (const std::string& path : comparison.columns) columns.push_back({path});
  columns.push_back({"n", Align::right});
  for (std::size_t m = first; m < last; ++m) columns.push_back({metrics[m].name, Align::right});
  TextTable table(std::move(columns));
  for (std::size_t c = 0; c < comparison.cells.size(); ++c) {
    std::vector<std::string> row;
    for (const std::string& key : comparison.cells[c].keys) row.push_back(shown_key(key));
    row.push_back(std::to_string(shown_runs(comparison.cells[c])));
    for (std::size_t m = first; m < last; ++m) row.push_back(metrics[m].cells[c]);
    table.add_row(std::move(row));
  }
  return table.text();
}

// One table of all metrics, each under a line with its name.
std::string tests_text(const Comparison& comparison, const std::vector<TestRow>& rows) {
  std::vector<TextTable::Column> columns;
  for (const std::string& path : comparison.columns) columns.push_back({path});
  columns.insert(columns.end(),
                 {{"n", Align::right}, {"difference", Align::right}, {"p (Holm)", Align::right}, {"verdict"}});
  TextTable table(std::move(columns));
  for (const TestRow& row : rows) {
    std::vector<std::string> cells;
    for (const std::string& key : comparison.cells[row.cell].keys) cells.push_back(shown_key(key));
    cells.insert(cells.end(), {row.seeds, row.difference, row.p, row.verdict});
    table.add_row(std::move(cells));
  }
  const std::string all = table.text();
  std::size_t end = all.find('\n', all.find('\n') + 1) + 1;  // of header and rule
  std::string text = all.substr(0, end);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (r == 0 || rows[r].metric != rows[r - 1].metric) text += comparison.metrics[rows[r].metric].name() + "\n";
    const std::size_t begin = end;
    end = all.find('\n', begin) + 1;
    text += all.substr(begin, end - begin);
  }
  return text;
}

// -- Markdown

std::string markdown_escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (std::string_view("\\|*`<[]").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += fmt::format(" {} |", markdown_escaped(cell));
  return row + "\n";
}

std::string markdown_header(const std::vector<std::string>& names, std::size_t left) {
  std::string row = markdown_row(names) + "|";
  for (std::size_t i = 0; i < names.size(); ++i) row += i < left ? " --- |" : " ---: |";
  return row + "\n";
}

// -- LaTeX

std::string latex_escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '\\':
        result += "\\textbackslash{}";
        break;
      case '~':
        result += "\\textasciitilde{}";
        break;
      case '^':
        result += "\\textasciicircum{}";
        break;
      case '<':
      case '>':
        result += fmt::format("${}$", c);
        break;
      default:
        if (std::string_view("&%$#_{}").find(c) != std::string_view::npos) result += '\\';
        result += c;
    }
  }
  return result;
}

// "5.08e-06 ± 1e-07" as math: $5.08 \times 10^{-6} \pm 1 \times 10^{-7}$; `mark` goes behind.
std::string latex_number(const std::string& shown, const std::string& mark) {
  std::string math, unit;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (shown.compare(i, 2, "±") == 0) {
      math += "\\pm";
      ++i;  // two bytes
    } else if (shown[i] == 'e' && i > 0 && shown[i - 1] >= '0' && shown[i - 1] <= '9') {
      std::size_t used = 0;
      math += fmt::format(" \\times 10^{{{}}}", std::stoi(shown.substr(i + 1), &used));
      i += used;
    } else if (shown[i] == '%' || shown[i] == '(') {
      unit = latex_escaped(shown.substr(i));
      break;
    } else {
      math += shown[i];
    }
  }
  math.erase(math.find_last_not_of(' ') + 1);
  if (math == "-") return "--";
  if (unit.empty()) return fmt::format("${}{}$", math, mark);
  return fmt::format("${}$\\,{}{}", math, unit, mark.empty() ? "" : fmt::format("${}$", mark));
}

std::string latex_row(const std::vector<std::string>& cells) {
  return fmt::format("{} \\\\\n", fmt::join(cells, " & "));
}

bool differs(const std::optional<CellMetric>& value) {
  return value && value->against_baseline && value->against_baseline->test &&
         value->against_baseline->verdict == Verdict::differs;
}

}  // namespace

std::string comparison_text(const Comparison& comparison) {
  std::string text;
  const std::vector<MetricColumn> metrics = metric_columns(comparison);
  const int keys = key_width(comparison);
  // As many metrics side by side as fit; the rest in tables below.
  for (std::size_t first = 0; first < metrics.size();) {
    std::size_t last = first;
    int width = keys;
    do {
      width += metrics[last].width + 2;
      ++last;
    } while (last < metrics.size() && width + metrics[last].width + 2 <= kTableWidth);
    if (first > 0) text += '\n';
    text += table_of(comparison, metrics, first, last);
    first = last;
  }
  if (const std::vector<TestRow> rows = test_rows(comparison); !rows.empty())
    text += fmt::format("\nagainst {}:\n\n{}", comparison.baseline, tests_text(comparison, rows));
  const std::vector<std::string> notes = footnotes(comparison);
  if (!notes.empty()) text += fmt::format("\n{}\n", fmt::join(notes, "\n"));
  return text;
}

std::string comparison_markdown(const Comparison& comparison) {
  std::vector<std::string> header = comparison.columns;
  header.push_back("n");
  for (const ComparedMetric& metric : comparison.metrics) header.push_back(metric.name());
  std::string text = markdown_header(header, comparison.columns.size());
  for (std::size_t c = 0; c < comparison.cells.size(); ++c) {
    std::vector<std::string> row;
    for (const std::string& key : comparison.cells[c].keys) row.push_back(shown_key(key));
    row.push_back(std::to_string(shown_runs(comparison.cells[c])));
    for (std::size_t m = 0; m < comparison.metrics.size(); ++m) row.push_back(shown_statistics(comparison, c, m));
    text += markdown_row(row);
  }
  if (const std::vector<TestRow> rows = test_rows(comparison); !rows.empty()) {
    std::vector<std::string> names = {"metric"};
    names.insert(names.end(), comparison.columns.begin(), comparison.columns.end());
    const std::size_t left = names.size();
    names.insert(names.end(), {"n", "difference", "p (Holm)", "verdict"});
    text += fmt::format("\nAgainst {}:\n\n{}", markdown_escaped(comparison.baseline), markdown_header(names, left));
    for (const TestRow& row : rows) {
      std::vector<std::string> cells = {comparison.metrics[row.metric].name()};
      for (const std::string& key : comparison.cells[row.cell].keys) cells.push_back(shown_key(key));
      cells.insert(cells.end(), {row.seeds, row.difference, row.p, row.verdict});
      text += markdown_row(cells);
    }
  }
  const std::vector<std::string> notes = footnotes(comparison);
  if (!notes.empty()) text += "\n";
  for (const std::string& note : notes) text += "- " + markdown_escaped(note) + "\n";
  return text;
}

std::string comparison_latex(const Comparison& comparison) {
  std::string text = "% needs \\usepackage{booktabs}\n";
  bool has_star = false;
  std::vector<std::string> header;
  for (const std::string& path : comparison.columns) header.push_back(latex_escaped(path));
  header.push_back("$n$");
  for (const ComparedMetric& metric : comparison.metrics) header.push_back(latex_escaped(metric.name()));
  text +=
      fmt::format("\\begin{{tabular}}{{{}{}}}\n\\toprule\n{}\\midrule\n", std::string(comparison.columns.size(), 'l'),
                  std::string(comparison.metrics.size() + 1, 'r'), latex_row(header));
  for (std::size_t c = 0; c < comparison.cells.size(); ++c) {
    std::vector<std::string> row;
    for (const std::string& key : comparison.cells[c].keys) row.push_back(key.empty() ? "--" : latex_escaped(key));
    row.push_back(std::to_string(shown_runs(comparison.cells[c])));
    for (std::size_t m = 0; m < comparison.metrics.size(); ++m) {
      const bool star = differs(comparison.cells[c].metrics[m]);
      has_star = has_star || star;
      row.push_back(latex_number(shown_statistics(comparison, c, m), star ? "^{*}" : ""));
    }
    text += latex_row(row);
  }
  text += "\\bottomrule\n\\end{tabular}\n";
  if (has_star) text += fmt::format("% *: differs from {}, p at most {} by Holm\n", comparison.baseline, kSignificance);
  for (const std::string& note : footnotes(comparison)) text += "% " + note + "\n";
  return text;
}

}  // namespace jari
