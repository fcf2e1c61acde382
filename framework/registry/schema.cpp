#include "framework/registry/schema.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "framework/spec/scalar.hpp"

namespace jari {
namespace {

using Json = nlohmann::ordered_json;

// A scalar's JSON type is that of its text without quotes.
Json json_of(const SpecNode& node) {
  if (node.is_scalar() && !node.quoted) {
    if (const auto value = parse_boolean(node.text)) return *value;
    if (const auto value = parse_integer(node.text)) return *value;
    if (const auto value = parse_number(node.text)) return *value;
  }
  if (node.is_scalar()) return node.text;
  if (node.is_null()) return nullptr;
  Json result = node.is_sequence() ? Json::array() : Json::object();
  for (const SpecNode& item : node.items) result.push_back(json_of(item));
  for (const SpecEntry& entry : node.entries) result[entry.key] = json_of(entry.value);
  return result;
}

Json number(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  if (static_cast<double>(whole) == value) return whole;
  return value;
}

void add_range(Json& schema, const std::optional<Range>& range) {
  if (!range) return;
  schema[range->open_low ? "exclusiveMinimum" : "minimum"] = number(range->low);
  if (range->high < kUnbounded) schema[range->open_high ? "exclusiveMaximum" : "maximum"] = number(range->high);
}

// An interpolation may stand for any value.
Json or_interpolation(Json schema) {
  Json reference{{"type", "string"}, {"pattern", R"(\$\{[^}]+\})"}};
  return {{"anyOf", Json::array({std::move(schema), std::move(reference)})}};
}

Json value_schema(const FieldDescription& field);

Json object_schema(const std::vector<FieldDescription>& fields) {
  Json schema{{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}};
  Json required = Json::array();
  for (const FieldDescription& field : fields) {
    Json property = value_schema(field);
    const std::string unit = field.unit.empty() ? "" : " (" + field.unit + ")";
    property["description"] = field.doc + unit;
    if (!field.initial.is_null()) property["default"] = json_of(field.initial);
    schema["properties"][field.name] = std::move(property);
    if (field.required) required.push_back(field.name);
  }
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

Json value_schema(const FieldDescription& field) {
  Json schema = Json::object();
  switch (field.kind) {
    case FieldKind::boolean:
      return or_interpolation({{"type", "boolean"}});
    case FieldKind::integer:
    case FieldKind::number:
      schema["type"] = field.kind == FieldKind::integer ? "integer" : "number";
      add_range(schema, field.range);
      return or_interpolation(std::move(schema));
    case FieldKind::text:
      return {{"type", "string"}};
    case FieldKind::choice:
      return or_interpolation({{"enum", field.choices}});
    case FieldKind::component:
      return or_interpolation({{"$ref", "#/$defs/" + field.family}});
    case FieldKind::block:
      return object_schema(field.fields);
    case FieldKind::list:
      if (field.single_allowed) {
        const Json element = value_schema(field.element.front());
        return {{"anyOf", Json::array({element, {{"type", "array"}, {"items", element}}})}};
      }
      return or_interpolation({{"type", "array"}, {"items", value_schema(field.element.front())}});
    case FieldKind::named:
      return {{"type", "object"}, {"additionalProperties", value_schema(field.element.front())}};
    case FieldKind::any:
      break;
  }
  return schema;
}

bool has_required(const std::vector<FieldDescription>& fields) {
  for (const FieldDescription& field : fields) {
    if (field.required || (field.kind == FieldKind::block && has_required(field.fields))) return true;
  }
  return false;
}

Json component_schema(const RegistryEntry& entry) {
  Json schema = object_schema(entry.fields);
  schema["description"] = entry.doc;
  Json properties{{"type", {{"const", entry.name}}}};
  properties.update(schema["properties"]);
  schema["properties"] = std::move(properties);
  Json required = Json::array({"type"});
  if (schema.contains("required"))
    required.insert(required.end(), schema["required"].begin(), schema["required"].end());
  schema["required"] = std::move(required);
  return schema;
}

Json family_schema(const Registry& registry, const std::string& family) {
  Json forms = Json::array();
  Json short_names = Json::array();
  for (const std::string& name : registry.names(family)) {
    const RegistryEntry& entry = *registry.find(family, name);
    forms.push_back(component_schema(entry));
    if (!has_required(entry.fields)) short_names.push_back(name);
  }
  if (!short_names.empty()) forms.push_back({{"enum", std::move(short_names)}});
  return {{"oneOf", std::move(forms)}};
}

// Families that are named somewhere, registered or not: every $ref needs its definition.
void add_families(const std::vector<FieldDescription>& fields, const Registry& registry, Json& definitions) {
  for (const FieldDescription& field : fields) {
    if (field.kind == FieldKind::component && !definitions.contains(field.family)) {
      definitions[field.family] = nullptr;  // so that a family that holds itself ends
      for (const std::string& name : registry.names(field.family)) {
        add_families(registry.find(field.family, name)->fields, registry, definitions);
      }
      definitions[field.family] =
          registry.names(field.family).empty() ? Json(false) : family_schema(registry, field.family);
    }
    add_families(field.fields, registry, definitions);
    add_families(field.element, registry, definitions);
  }
}

}  // namespace

Json schema_of(const std::vector<FieldDescription>& fields, const Registry& registry, const std::string& title) {
  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", title}};
  schema.update(object_schema(fields));
  const Json path{{"type", "string"}};
  schema["properties"]["extends"] = {{"anyOf", Json::array({path, {{"type", "array"}, {"items", path}}})},
                                     {"description", "parent files, relative to this one; this one's values win"}};
  // What a parent file has need not be here.
  schema.erase("required");
  Json definitions = Json::object();
  add_families(fields, registry, definitions);
  if (!definitions.empty()) schema["$defs"] = std::move(definitions);
  return schema;
}

}  // namespace jari
