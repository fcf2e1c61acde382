#pragma once
// YAML text to the located tree. Anything that YAML readers disagree about is an error here: duplicate keys, merge
// keys, unquoted yes and no, 010, tags other than !replace and !grid, more than one document.

#include <memory>
#include <string>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/spec_node.hpp"

namespace jari {

// A spec file, at most 4 MB; a mapping, or a null node after an error. `from` is where the file was asked for
// (`extends`), if anywhere.
SpecNode read_yaml(const std::string& path, Diagnostics& diagnostics, const SourceSpan& from = {});

// The same of a text; `name` is what diagnostics call it.
SpecNode read_yaml_text(const std::string& text, const std::string& name, Diagnostics& diagnostics);

// One value of any kind: what stands in line 1 of `file` from byte `offset` on. For overrides.
SpecNode read_yaml_value(const std::shared_ptr<const SourceFile>& file, std::size_t offset, Diagnostics& diagnostics);

}  // namespace jari
