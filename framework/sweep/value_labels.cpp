#include "framework/sweep/value_labels.hpp"

#include <fmt/format.h>

namespace jari {
namespace {

std::string name_of(const SpecNode& value) {
  if (value.is_scalar()) return value.text;
  const SpecNode* type = value.is_mapping() ? value.find("type") : nullptr;
  return type ? type->text : to_flow_yaml(value);
}

struct Distinct {
  const SpecNode* value;
  std::string text, name;
};

// Whether a value of the same name lacks the entry, or has another value there.
bool tells_apart(const SpecEntry& entry, const Distinct& own, const std::vector<Distinct>& all) {
  for (const Distinct& other : all) {
    if (other.name != own.name) continue;
    const SpecNode* same_key = other.value->find(entry.key);
    if (same_key == nullptr || !same_value(*same_key, entry.value)) return true;
  }
  return false;
}

}  // namespace

ValueLabels::ValueLabels(const std::vector<SpecNode>& values) {
  std::vector<Distinct> all;
  for (const SpecNode& value : values) {
    std::string text = to_flow_yaml(value);
    if (labels_.emplace(text, name_of(value)).second) all.push_back({&value, std::move(text), name_of(value)});
  }
  for (const Distinct& each : all) {
    for (const SpecEntry& entry : each.value->entries) {
      if (!tells_apart(entry, each, all)) continue;
      labels_[each.text] +=
          fmt::format("-{}={}", entry.key, entry.value.is_scalar() ? entry.value.text : to_flow_yaml(entry.value));
    }
  }
}

}  // namespace jari
