#pragma once
// What the trainer gives an analysis, around a model that is not trained, and the parts of what an analysis finds.

#include <string>

#include "tests/plugins/components.hpp"

namespace jari::test {

// Of sequences of 5 tokens of 5 kinds. Parameters have the values that they start with, per-trial numbers those of the
// resolved spec. The model must outlive it.
AnalysisContext context_of(const Model* model, DType real = DType::f64, std::vector<SpecNode> resolved = {},
                           std::int64_t vocabulary = 5);

// The values that a parameter starts with there.
std::vector<double> first_values(const ParameterDeclaration& declaration);

// Throw std::out_of_range where there is none of that name.
double number(const AnalysisResult& result, const std::string& name);
const AnalysisArray& array(const AnalysisResult& result, const std::string& name);

}  // namespace jari::test
