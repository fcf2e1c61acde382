#pragma once
// What a reader of a comparison should know beside its means.

#include <vector>

#include "framework/report/compare.hpp"

namespace jari {

// Adds remarks to a comparison with its statistics. At most one of a kind for each metric, about the cell in which it
// is most striking:
// - best and last value (means over the seeds) differ by more than a tenth of the way between best and worst, a
//   twentieth of the larger one, and half of the 95 % interval of the last;
// - the values have two modes (gap_between_modes), which a mean hides and a success rate shows.
void add_remarks(const std::vector<RunCell>& cells, Comparison& comparison);

std::string cell_name(const Comparison& comparison, const ComparisonCell& cell);  // "model.position=rel, train.lr=0.1"

}  // namespace jari
