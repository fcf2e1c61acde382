#include "framework/registry/reference.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "framework/base/text.hpp"

namespace jari {
namespace {

struct Row {
  std::string key, type, range, initial, doc;
};

std::string range_and_unit(const FieldDescription& field) {
  const std::string range = range_text(field.range);
  if (field.unit.empty()) return range;
  return range.empty() ? field.unit : fmt::format("{} ({})", range, field.unit);
}

std::string initial_text(const FieldDescription& field) {
  if (field.required) return "required";
  if (field.kind == FieldKind::block) return "";
  return field.initial.is_null() ? "none" : to_flow_yaml(field.initial);
}

void add_rows(const std::vector<FieldDescription>& fields, const std::string& prefix, std::vector<Row>& rows) {
  for (const FieldDescription& field : fields) {
    std::string doc = field.doc;
    if (field.per_trial) doc += "; trials that differ in it still train fused";
    if (field.output_setting) doc += "; not part of a trial's identity";
    rows.push_back({prefix + field.name, type_text(field), range_and_unit(field), initial_text(field), doc});
    add_rows(field.fields, prefix + field.name + ".", rows);
    for (const FieldDescription& element : field.element) {
      const char* each = field.kind == FieldKind::list ? "[]." : ".NAME.";
      add_rows(element.fields, prefix + field.name + each, rows);
    }
  }
}

std::vector<Row> rows_of(const std::vector<FieldDescription>& fields) {
  std::vector<Row> rows;
  add_rows(fields, "", rows);
  return rows;
}

std::string cell(const std::string& text) {
  std::string result;
  for (char c : text) {
    if (c == '|') result += '\\';
    result += c;
  }
  return result;
}

std::string code(const std::string& text) { return text.empty() ? "" : fmt::format("`{}`", cell(text)); }

std::string padded(const std::string& text, int width) {
  return text + std::string(static_cast<std::size_t>(std::max(0, width - display_width(text))), ' ');
}

}  // namespace

std::string example_block(const RegistryEntry& entry) {
  std::string text = fmt::format("{}:\n  type: {}\n", entry.family, entry.name);
  if (!entry.example.empty()) return text + fmt::format("  {}\n", entry.example);
  for (const FieldDescription& field : entry.fields) {
    if (field.required || (!field.optional && field.kind != FieldKind::block)) {
      text += fmt::format("  {}: {}\n", field.name, example_text(field));
    }
  }
  return text;
}

std::string key_table(const std::vector<FieldDescription>& fields) {
  const std::vector<Row> rows = rows_of(fields);
  if (rows.empty()) return "It has no keys.\n";
  std::string text = "| key | type | range | default | what |\n| --- | --- | --- | --- | --- |\n";
  for (const Row& row : rows) {
    const std::string initial = row.initial == "required" || row.initial == "none" ? row.initial : code(row.initial);
    text +=
        fmt::format("| `{}` | {} | {} | {} | {} |\n", row.key, cell(row.type), cell(row.range), initial, cell(row.doc));
  }
  return text;
}

std::string component_page(const RegistryEntry& entry) {
  return fmt::format("## {} `{}`\n\n{}\n\n{}\n```yaml\n{}```\n", entry.family, entry.name, entry.doc,
                     key_table(entry.fields), example_block(entry));
}

std::string component_text(const RegistryEntry& entry) {
  std::string text = fmt::format("{}/{}: {}\n", entry.family, entry.name, entry.doc);
  if (entry.source != Registry::kBuiltIn) text += fmt::format("from {}\n", entry.source);
  const std::vector<Row> rows = rows_of(entry.fields);
  int key = 0, type = 0, range = 0, initial = 0;
  for (const Row& row : rows) {
    key = std::max(key, display_width(row.key));
    type = std::max(type, display_width(row.type));
    range = std::max(range, display_width(row.range));
    initial = std::max(initial, display_width(row.initial));
  }
  text += rows.empty() ? "\nIt has no keys.\n" : "\n";
  for (const Row& row : rows) {
    text += fmt::format("  {}  {}  {}  {}  {}\n", padded(row.key, key), padded(row.type, type),
                        padded(row.range, range), padded(row.initial, initial), row.doc);
  }
  return text + fmt::format("\nExample:\n\n{}", example_block(entry));
}

std::string family_text(const Registry& registry, const std::string& family) {
  const std::vector<std::string> names = registry.names(family);
  int width = 0;
  for (const std::string& name : names) width = std::max(width, display_width(name));
  std::string text;
  for (const std::string& name : names) {
    text += fmt::format("  {}  {}\n", padded(name, width), registry.find(family, name)->doc);
  }
  return text;
}

}  // namespace jari
