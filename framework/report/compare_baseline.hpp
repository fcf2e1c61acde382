#pragma once
// The part of a comparison that asks which cells differ from a baseline.

#include <string>
#include <vector>

#include "framework/base/thread_pool.hpp"
#include "framework/report/compare.hpp"

namespace jari {

// Fills in `baseline`, `is_baseline` and `against_baseline` of a comparison whose cells are `cells`, with their
// statistics. The baseline is what `wanted` says ("model.position=learned": a value as the spec has it, a component by
// its name, or as the table shows it), else what `sweep.baseline` of the experiment's sweep.yaml says, if anything.
//
// A cell is compared with the baseline's cell that has the same values in all columns that the baseline does not set,
// or, if there is none, with the only one of its experiment; by the seeds that both have. Where runs are pooled (--by),
// those with equal pooled keys are paired, and their differences averaged over each seed: pairs of one seed are not
// independent. SpecError if `wanted` names no run, or several cells that it does not tell apart.
void compare_with_baseline(const std::vector<CollectedRun>& runs, const std::vector<RunCell>& cells,
                           const std::vector<std::string>& wanted, ThreadPool& pool, Comparison& comparison);

}  // namespace jari
