#include "framework/spec/binder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "framework/base/edit_distance.hpp"
#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/spec/scalar.hpp"

namespace jari {
namespace {

FieldDescription field_of(FieldKind kind, const FieldTraits& traits = {}) {
  FieldDescription field;
  field.kind = kind;
  field.range = traits.range;
  field.unit = traits.unit;
  return field;
}

// What else the reader of a spec should know about a scalar of the wrong type.
std::string number_hint(const SpecNode& found) {
  if (!found.is_scalar()) return "";
  if (found.quoted) return parse_number(found.text) ? "write it without quotes" : "";
  if (const auto digits = without_digit_separators(found.text)) return fmt::format("write {}", *digits);
  return "";
}

// Adds the paths of the blocks that have a key of this name, in the components that `root` chooses too.
void add_places(const std::vector<FieldDescription>& fields, const std::string& key, const std::string& path,
                const SpecNode* root, const Components* components, std::vector<std::string>& places) {
  for (const FieldDescription& field : fields) {
    if (field.name == key) places.push_back(path);
    const std::string below = child_path(path, field.name);
    if (field.kind == FieldKind::block) add_places(field.fields, key, below, root, components, places);
    if (field.kind != FieldKind::component || components == nullptr) continue;
    const SpecNode* node = root->find_path(below);
    if (node != nullptr && node->is_mapping()) node = node->find("type");
    if (node == nullptr || !node->is_scalar()) continue;
    const std::vector<FieldDescription>* own = components->fields_of(field.family, node->text);
    if (own != nullptr) add_places(*own, key, below, root, components, places);
  }
}

}  // namespace

std::string child_path(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

const Components& Binder::components() const {
  JARI_ASSERT(components_ != nullptr, "a struct with a Slot needs a binder with a registry");
  return *components_;
}

void Binder::error(const SourceSpan& span, const std::string& path, const std::string& message,
                   const std::string& hint) {
  ++errors_;
  diagnostics_.error(span, path, message, hint);
}

void Binder::expected(const SpecNode& found, const std::string& path, const FieldDescription& field) {
  const bool is_number = field.kind == FieldKind::integer || field.kind == FieldKind::number;
  refuse(found, path, expected_text(field), is_number ? number_hint(found) : "");
}

void Binder::refuse(const SpecNode& found, const std::string& path, const std::string& expected_value,
                    const std::string& hint) {
  ++errors_;
  if (found.refused) return;
  diagnostics_.error(found.span, path, fmt::format("expected {}, found {}", expected_value, describe_value(found)),
                     found.is_null() ? "write a value, or remove it" : hint);
}

bool Binder::read_boolean(const SpecNode& node, const std::string& path, bool& out) {
  const std::optional<bool> value = node.is_scalar() && !node.quoted ? parse_boolean(node.text) : std::nullopt;
  if (!value) expected(node, path, field_of(FieldKind::boolean));
  if (value) out = *value;
  return value.has_value();
}

bool Binder::read_integer(const SpecNode& node, const std::string& path, const FieldTraits& traits, std::int64_t low,
                          std::int64_t high, std::int64_t& out) {
  const std::optional<std::int64_t> value = node.is_scalar() && !node.quoted ? parse_integer(node.text) : std::nullopt;
  const bool fits = value && *value >= low && *value <= high;
  if (!fits || (traits.range && !in_range(*traits.range, static_cast<double>(*value)))) {
    expected(node, path, field_of(FieldKind::integer, traits));
    return false;
  }
  out = *value;
  return true;
}

bool Binder::read_number(const SpecNode& node, const std::string& path, const FieldTraits& traits, double& out) {
  const std::optional<double> value = node.is_scalar() && !node.quoted ? parse_number(node.text) : std::nullopt;
  if (!value || (traits.range && !in_range(*traits.range, *value))) {
    expected(node, path, field_of(FieldKind::number, traits));
    return false;
  }
  out = *value;
  return true;
}

bool Binder::read_text(const SpecNode& node, const std::string& path, std::string& out) {
  const bool typed = node.is_scalar() && !node.quoted && (parse_number(node.text) || parse_boolean(node.text));
  if (!node.is_scalar() || typed || node.refused) {
    refuse(node, path, "a text", typed ? fmt::format("write it in quotes: '{}'", node.text) : "");
    return false;
  }
  out = node.text;
  return true;
}

bool Binder::read_choice(const SpecNode& node, const std::string& path, const std::vector<std::string>& names,
                         std::size_t& out) {
  const auto found = node.is_scalar() ? std::find(names.begin(), names.end(), node.text) : names.end();
  if (found != names.end()) {
    out = static_cast<std::size_t>(found - names.begin());
    return true;
  }
  const std::optional<std::string> near = node.is_scalar() ? closest(node.text, names) : std::nullopt;
  refuse(node, path, "one of " + joined(names), near ? fmt::format("did you mean '{}'?", *near) : "");
  return false;
}

bool Binder::require_list(const SpecNode& node, const std::string& path, const FieldDescription& field) {
  if (node.is_sequence()) return true;
  const bool single = node.is_scalar() && field.element.front().kind != FieldKind::list;
  refuse(node, path, expected_text(field), single ? fmt::format("write [{}]", to_flow_yaml(node)) : "");
  return false;
}

bool Binder::require_mapping(const SpecNode& node, const std::string& path, const FieldDescription& field) {
  if (node.is_mapping()) return true;
  expected(node, path, field);
  return false;
}

std::vector<std::string> Binder::places_of_key(const std::string& key) const {
  std::vector<std::string> places;
  if (root_.node != nullptr) add_places(root_.describe(), key, "", root_.node, components_, places);
  return places;
}

void Binder::unknown_key(const SpecEntry& entry, const std::string& block_path, const std::vector<std::string>& known,
                         const std::optional<std::string>& near, const std::string& hint) {
  std::vector<std::string> hints;
  if (near) hints.push_back(fmt::format("did you mean '{}'?", *near));
  std::vector<std::string> places = places_of_key(entry.key);
  places.erase(std::remove(places.begin(), places.end(), block_path), places.end());
  if (!places.empty()) {
    hints.push_back(places.front().empty() ? "this key exists at the top level"
                                           : fmt::format("this key exists under `{}`", places.front()));
  }
  if (hints.empty()) hints.push_back(known.empty() ? "it has no keys" : "known: " + joined(known));
  if (!near && !hint.empty()) hints.push_back(hint);
  error(entry.key_span, block_path, fmt::format("unknown key '{}'", entry.key), joined(hints, "; "));
}

void Binder::missing_key(const SpecNode& block, const std::string& block_path, const FieldDescription& field) {
  const bool component = field.kind == FieldKind::component && components_ != nullptr;
  const std::string example = component ? components_->example_of(field.family) : example_text(field);
  error(block.span, block_path, fmt::format("missing key '{}': expected {}", field.name, expected_text(field)),
        fmt::format("add for example `{}: {}` ({})", field.name, example, field.doc));
}

BlockBinder::BlockBinder(Binder& binder, const SpecNode& block, const std::string& path, SpecNode& resolved,
                         const char* also_known)
    : binder_(binder), block_(block), path_(path), resolved_(resolved), taken_(block.entries.size(), false) {
  if (also_known == nullptr) return;
  take(also_known);
}

const SpecEntry* BlockBinder::take(const char* name) {
  known_.push_back(name);
  for (std::size_t i = 0; i < block_.entries.size(); ++i) {
    if (block_.entries[i].key != name) continue;
    taken_[i] = true;
    return &block_.entries[i];
  }
  return nullptr;
}

void BlockBinder::keep(const char* name, SpecNode value, const FieldTraits& traits, const SpecEntry* entry) {
  if (value.is_null()) return;
  value.output_setting = traits.output_setting;
  // Field names of one block differ, so there is nothing to look for.
  resolved_.entries.push_back({name, entry ? entry->key_span : SourceSpan{}, std::move(value)});
}

void BlockBinder::note_missing(FieldDescription field, const char* name, const char* doc, const FieldTraits& traits) {
  field.name = name;
  field.doc = doc;
  field.range = traits.range;
  field.unit = traits.unit;
  missing_.push_back(std::move(field));
}

void BlockBinder::finish(const std::string& hint) {
  const std::vector<std::string> known(known_.begin(), known_.end());
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    if (taken_[i]) continue;
    const SpecEntry& entry = block_.entries[i];
    const std::optional<std::string> near = closest(entry.key, known);
    binder_.unknown_key(entry, path_, known, near, hint);
    // A key that is there with a slip of the pen is one mistake, not two.
    const auto is_meant = [&](const FieldDescription& field) { return field.name == near; };
    missing_.erase(std::remove_if(missing_.begin(), missing_.end(), is_meant), missing_.end());
  }
  for (const FieldDescription& field : missing_) binder_.missing_key(block_, path_, field);
}

void BlockChecks::error(const std::string& field, const std::string& message, const std::string& hint) {
  const SpecNode* value = field.empty() ? nullptr : block_.find_path(field);
  binder_.error(value ? value->span : block_.span, field.empty() ? path_ : child_path(path_, field), message, hint);
}

SpecNode canonical(bool value) { return SpecNode::scalar(value ? "true" : "false"); }
SpecNode canonical(std::int64_t value) { return SpecNode::scalar(std::to_string(value)); }
SpecNode canonical(double value) { return SpecNode::scalar(format_number(value)); }
SpecNode canonical(const std::string& value) { return SpecNode::scalar(value, true); }

}  // namespace jari
