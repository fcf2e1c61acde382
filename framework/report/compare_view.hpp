#pragma once
// A comparison as rows of short texts, which the formats for people lay out: plain text, Markdown, LaTeX.

#include <string>
#include <vector>

#include "framework/report/compare.hpp"

namespace jari {

// "52.50 ± 0.05 %", "0.375 ± 1.6"; "52.50 [52.46, 52.55] %" with a bootstrap interval or of a success rate.
std::string shown_statistics(const Comparison& comparison, std::size_t cell, std::size_t metric);  // "-": none
std::int64_t shown_runs(const ComparisonCell& cell);  // most of any metric; a metric with fewer says so

// The rows of the table of tests, metric by metric: the cells that are compared, in order.
struct TestRow {
  std::size_t metric = 0, cell = 0;
  std::string seeds, difference, p, verdict;  // "20", "+24.03 ± 0.12 %", "<0.0001", "differs"
};
std::vector<TestRow> test_rows(const Comparison& comparison);

// What the signs in the tables mean, and what strikes about the numbers. None, or sentences.
std::vector<std::string> footnotes(const Comparison& comparison);

const char* verdict_name(Verdict verdict);  // "differs", for machines

}  // namespace jari
