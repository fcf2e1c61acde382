#pragma once

#include <string>
#include <utility>
#include <vector>

#include "framework/component/analysis.hpp"
#include "framework/train/trial_inputs.hpp"
#include "framework/train/trial_programs.hpp"

namespace jari {

// Runs all analyses of a trained trial, by their names in the spec.
std::vector<std::pair<std::string, AnalysisResult>> run_analyses(const TrialPrograms& programs, const Trial& trial,
                                                                 const State& state, int row);

}  // namespace jari
