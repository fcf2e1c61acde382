#include "tests/plugins/analysis_context.hpp"

#include <stdexcept>

namespace jari::test {

std::vector<double> first_values(const ParameterDeclaration& declaration) {
  std::vector<double> values(static_cast<std::size_t>(declaration.shape.size()));
  declaration.init->fill({1, declaration.path, declaration.shape, nullptr}, values);
  return values;
}

AnalysisContext context_of(const Model* model, DType real, std::vector<SpecNode> resolved, std::int64_t vocabulary) {
  AnalysisContext context;
  context.model = model;
  context.vocabulary = vocabulary;
  context.trained_length = 5;
  context.evaluate = [real, vocabulary, resolved = std::move(resolved)](
                         std::int64_t length, const auto& build) -> std::optional<AnalysisArray> {
    Graph graph(real);
    Declarations declarations;
    Value value;
    {
      const Graph::Scope scope(graph, "model");
      value = build({graph, declarations, vocabulary, length, 5});
    }
    if (!value) return std::nullopt;
    State state(graph, 1);
    for (const ParameterDeclaration& declaration : declarations.all())
      state.write(0, *state.find(declaration.path), first_values(declaration));
    return AnalysisArray{"", value.shape(), evaluate(graph, value, per_trial_values(graph, resolved), &state), {}};
  };
  return context;
}

double number(const AnalysisResult& result, const std::string& name) {
  for (const auto& [key, value] : result.numbers)
    if (key == name) return value;
  throw std::out_of_range(name);
}

const AnalysisArray& array(const AnalysisResult& result, const std::string& name) {
  for (const AnalysisArray& each : result.arrays)
    if (each.name == name) return each;
  throw std::out_of_range(name);
}

}  // namespace jari::test
