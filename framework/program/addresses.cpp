#include "framework/program/addresses.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jari {

std::vector<std::size_t> parameter_offsets(const std::vector<std::pair<std::string, TensorType>>& parameters,
                                           const State& state) {
  std::vector<std::size_t> offsets;
  for (const auto& [name, type] : parameters) {
    const State::Entry* entry = state.find(name);
    if (entry == nullptr || entry->type != type) {
      throw ShapeError(fmt::format("program: parameter '{}' is {} in the graph and {} in the state", name,
                                   type.to_string(), entry ? entry->type.to_string() : "absent"));
    }
    offsets.push_back(entry->offset);
  }
  return offsets;
}

const char* leaf_name(const Program::Plan& plan, const Location& location) {
  if (location.region == Region::state) return plan.parameters[location.offset].first.c_str();
  if (location.region == Region::resident) return plan.residents[location.offset].name.c_str();
  if (location.region != Region::input) return "";
  const auto found = std::find_if(plan.inputs.begin(), plan.inputs.end(),
                                  [&](const NamedLocation& input) { return input.location.offset == location.offset; });
  return found == plan.inputs.end() ? "" : found->name.c_str();
}

}  // namespace jari
