#pragma once
// JSON Schema (draft 2020-12) of a spec, as strict as the binder where JSON Schema can say it.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "framework/registry/registry.hpp"

namespace jari {

// Of a top-level struct: `schema_of(describe_fields<ExperimentSpec>(), registry, "jari spec")`. Keys that composition
// takes away before binding (`extends`) are allowed too.
nlohmann::ordered_json schema_of(const std::vector<FieldDescription>& fields, const Registry& registry,
                                 const std::string& title);

}  // namespace jari
