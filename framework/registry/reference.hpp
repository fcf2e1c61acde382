#pragma once
// What `jari components` shows and docs/reference holds: generated from the components' own lists of fields.

#include <string>

#include "framework/registry/registry.hpp"

namespace jari {

// Markdown: a table of all keys, those of inner blocks with their path.
std::string key_table(const std::vector<FieldDescription>& fields);

// Markdown: doc line, table of keys, an example.
std::string component_page(const RegistryEntry& entry);

// The same for a terminal.
std::string component_text(const RegistryEntry& entry);

// One line a component, names aligned: "alibi  linear distance bias per head".
std::string family_text(const Registry& registry, const std::string& family);

// A block that names every key, ready to be pasted: required keys with example values, the others with their defaults.
std::string example_block(const RegistryEntry& entry);

}  // namespace jari
