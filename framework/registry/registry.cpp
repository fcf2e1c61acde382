#include "framework/registry/registry.hpp"

#include <fmt/format.h>

#include "framework/base/edit_distance.hpp"
#include "framework/base/error.hpp"
#include "framework/base/text.hpp"

namespace jari {
namespace {

std::string with_article(const std::string& noun) {
  const bool vowel = !noun.empty() && std::string("aeiou").find(noun[0]) != std::string::npos;
  return (vowel ? "an " : "a ") + noun;
}

// The keys that a base file's component left behind when only `type` was changed.
std::string left_behind_hint(const SpecNode& block, const SpecNode& type) {
  for (const SpecEntry& entry : block.entries) {
    if (entry.key_span.file != type.span.file && entry.key_span.file && type.span.file) {
      return fmt::format("if it belongs to the `type` of another file, write !replace before the block at {}",
                         type.span.location());
    }
  }
  return "";
}

}  // namespace

void Registry::add(RegistryEntry entry) {
  const auto [place, is_new] = families_[entry.family].try_emplace(entry.name, entry);
  if (is_new) return;
  throw PluginError(fmt::format("{} '{}' is registered twice: {} and {}. Rename one of them.", entry.family, entry.name,
                                place->second.source, entry.source));
}

const RegistryEntry* Registry::find(const std::string& family, const std::string& name) const {
  const auto members = families_.find(family);
  if (members == families_.end()) return nullptr;
  const auto entry = members->second.find(name);
  return entry == members->second.end() ? nullptr : &entry->second;
}

std::vector<std::string> Registry::families() const {
  std::vector<std::string> result;
  for (const auto& [family, members] : families_) result.push_back(family);
  return result;
}

std::vector<std::string> Registry::names(const std::string& family) const {
  std::vector<std::string> result;
  const auto members = families_.find(family);
  if (members == families_.end()) return result;
  for (const auto& [name, entry] : members->second) result.push_back(name);
  return result;
}

const std::vector<FieldDescription>* Registry::fields_of(const std::string& family, const std::string& name) const {
  const RegistryEntry* entry = find(family, name);
  return entry ? &entry->fields : nullptr;
}

std::string Registry::example_of(const std::string& family) const {
  const std::vector<std::string> known = names(family);
  return fmt::format("{{type: {}}}", known.empty() ? "..." : known.front());
}

const RegistryEntry* Registry::require(Binder& binder, const std::string& family, const SpecNode& type,
                                       const std::string& path) const {
  std::string name;
  if (!binder.read_text(type, path, name)) return nullptr;
  if (const RegistryEntry* entry = find(family, name)) return entry;
  const std::vector<std::string> known = names(family);
  std::string hint;
  for (const auto& [other, members] : families_) {
    if (members.count(name) != 0) hint = fmt::format("'{}' is {}; ", name, with_article(other));
  }
  if (const auto near = closest(name, known)) hint = fmt::format("did you mean '{}'? ", *near);
  hint += known.empty() ? fmt::format("no {} is registered", family) : "known: " + joined(known);
  binder.error(type.span, path, fmt::format("unknown {} '{}'", family, name), hint);
  return nullptr;
}

void Registry::bind(Binder& binder, const std::string& family, const SpecNode& node, const std::string& path,
                    Bound& out, SpecNode& resolved) const {
  SpecNode short_form;  // `position: none`
  if (node.is_scalar()) {
    short_form = SpecNode::mapping(node.span);
    short_form.set("type", node, node.span);
  } else if (!node.is_mapping()) {
    FieldDescription field;
    field.kind = FieldKind::component;
    field.family = family;
    return binder.expected(node, path, field);
  }
  const SpecNode& block = node.is_scalar() ? short_form : node;
  const SpecNode* type = block.find("type");
  if (type == nullptr) {
    return binder.error(block.span, path, fmt::format("missing key 'type': which {}?", family),
                        "known: " + joined(names(family)));
  }
  const RegistryEntry* entry = require(binder, family, *type, node.is_scalar() ? path : child_path(path, "type"));
  if (entry == nullptr) return;
  out.type = entry->name;
  out.span = type->span;
  resolved = SpecNode::mapping(block.span);
  resolved.set("type", SpecNode::scalar(entry->name, true, type->span), type->span);
  try {
    out.component = entry->bind(binder, block, path, resolved, left_behind_hint(block, *type));
  } catch (const Error& error) {  // from the component's constructor
    binder.error(type->span, path, error.what());
  }
}

}  // namespace jari
