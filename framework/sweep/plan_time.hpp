#pragma once
// How long a group's trials take.

#include <filesystem>
#include <optional>
#include <vector>

#include "framework/store/run_file.hpp"
#include "framework/sweep/plan.hpp"

namespace jari {

// From finished runs of the group: the wall time that they took together. Nothing if there are too few of them, or if
// they were too short to tell (their ends are known to the second).
std::optional<TimeEstimate> time_from_runs(const std::vector<RunOutline>& finished, int cores);

// Runs steps of the group's programs, on `at_once` of `trials`, for about `budget` seconds.
TimeEstimate time_by_running(const TrialPrograms& programs, const std::vector<const Trial*>& trials, int cores,
                             std::size_t at_once, double budget);

}  // namespace jari
