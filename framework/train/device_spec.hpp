#pragma once
// Where a spec wants to be trained: `auto`, `cpu`, `cuda`, or one card by its number, `cuda:1`.

#include <optional>
#include <string>

#include "framework/spec/binder.hpp"
#include "framework/spec/fields.hpp"

namespace jari {

enum class DeviceChoice { any, cpu, cuda };
inline const EnumNames<DeviceChoice>& enum_names(DeviceChoice) {
  static const EnumNames<DeviceChoice> names{
      {DeviceChoice::any, "auto"}, {DeviceChoice::cpu, "cpu"}, {DeviceChoice::cuda, "cuda"}};
  return names;
}

struct DeviceSpec {
  DeviceChoice choice = DeviceChoice::any;
  std::optional<int> card;  // of cuda

  std::string to_string() const;
};

// "cuda:1" -> 1; nothing for another text.
std::optional<int> card_number(const std::string& text);

template <>
struct FieldType<DeviceSpec> : PlainFieldType<DeviceSpec> {
  static void describe(FieldDescription& field) { field.kind = FieldKind::text; }
  static SpecNode initial(const DeviceSpec& value) { return SpecNode::scalar(value.to_string(), false); }
  static void bind(Binder& binder, const SpecNode& node, const std::string& path, const FieldTraits& traits,
                   DeviceSpec& out, SpecNode& resolved) {
    out.card = node.is_scalar() ? card_number(node.text) : std::nullopt;
    if (!out.card && node.is_scalar() && node.text.starts_with("cuda:"))
      return binder.refuse(node, path, "the number of a card behind cuda:, as in cuda:0", "");
    if (!out.card) return FieldType<DeviceChoice>::bind(binder, node, path, traits, out.choice, resolved);
    out.choice = DeviceChoice::cuda;
    resolved = located(out, node);
  }
};

}  // namespace jari
