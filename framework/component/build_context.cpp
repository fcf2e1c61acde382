#include "framework/component/build_context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "framework/base/error.hpp"

namespace jari {

void Declarations::add(ParameterDeclaration declaration) {
  if (find(declaration.path) == nullptr) all_.push_back(std::move(declaration));
}

const ParameterDeclaration* Declarations::find(const std::string& path) const {
  const auto found = std::find_if(all_.begin(), all_.end(),
                                  [&](const ParameterDeclaration& declaration) { return declaration.path == path; });
  return found == all_.end() ? nullptr : &*found;
}

Value BuildContext::parameter(const std::string& name, Shape shape, Initializer init,
                              std::vector<std::string> axes) const {
  const std::string path = graph.path(name);
  JARI_ASSERT(init != nullptr, "parameter " + path + " without initial values");
  JARI_ASSERT(static_cast<int>(axes.size()) == shape.rank(),
              fmt::format("parameter {} of shape {} names {} axes", path, shape.to_string(), axes.size()));
  const Value value = graph.parameter(path, shape);
  if (first_values != nullptr) init = first_values->of(*this, name, shape);
  declarations.add({path, std::move(shape), std::move(init), std::move(axes)});
  if (prepared != nullptr) {
    const auto found = prepared->find(path);
    if (found != prepared->end()) return found->second;
  }
  return value;
}

Value BuildContext::counter(const std::string& name, Shape shape, std::vector<std::string> axes) const {
  const std::string path = graph.path(name);
  const Value value = graph.parameter_of(path, {DType::i32, shape});
  declarations.add({path, std::move(shape), zeros(), std::move(axes)});
  return value;
}

Value BuildContext::dropout(Value x, const std::string& name, const PerTrial<double>& rate) const {
  return jari::dropout(x, part == 0 ? name : fmt::format("{}/part{}", name, part), per_trial(rate));
}

Value BuildContext::per_trial(const PerTrial<double>& hyperparameter) const {
  if (hyperparameter.spec_path().empty()) return graph.constant(hyperparameter.example());
  return graph.input(per_trial_input(hyperparameter.spec_path()), {graph.real(), Shape{}}, /*per_trial=*/true);
}

void BuildContext::fail(const std::string& message) const { graph.fail(message); }

std::string per_trial_input(const std::string& spec_path) { return "spec:" + spec_path; }

}  // namespace jari
