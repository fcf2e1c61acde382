#pragma once
// Principal components of a table's rows: the directions in which they differ most.

#include <cstdint>
#include <span>
#include <vector>

#include "framework/base/thread_pool.hpp"
#include "framework/table/word_table.hpp"

namespace jari {

struct Projection {
  std::int64_t components = 0;
  std::vector<double> mean;            // [width]
  std::vector<double> directions;      // [components, width], each of length one, its largest number positive
  std::vector<double> variance;        // [components], along each direction (divided by rows - 1)
  std::vector<double> variance_ratio;  // [components], of the variance of all rows
  std::vector<double> coordinates;     // [rows, components]
};

// Of the rows given, the largest variance first. At most as many components as columns.
Projection principal_components(const WordTable& table, std::span<const std::int64_t> rows, std::int64_t components,
                                ThreadPool& pool);

// Where a row of the table lies on the map, whether or not it was made from that row: [components].
std::vector<double> coordinates_of(const Projection& projection, std::span<const float> row);

// How an axis of a projection goes with what is known of the words (Pearson's r); NaN where one of the two does not
// vary.
struct AxisMeaning {
  double log_frequency = 0;  // of the counts; NaN without counts
  double word_start = 0;  // of whether the token begins a word ("▁", "Ġ" or a space in front); NaN where all are alike
};
std::vector<AxisMeaning> meaning_of_axes(const WordTable& table, std::span<const std::int64_t> rows,
                                         const Projection& projection);

}  // namespace jari
