#include "framework/spec/describe.hpp"

#include <fmt/format.h>

#include <cmath>

#include "framework/base/text.hpp"
#include "framework/spec/scalar.hpp"

namespace jari {
namespace {

void give_range(FieldDescription& field, const FieldTraits& traits) {
  field.range = traits.range;
  field.unit = traits.unit;
  for (FieldDescription& element : field.element) give_range(element, traits);
}

std::string plural(const FieldDescription& element) {
  switch (element.kind) {
    case FieldKind::boolean:
      return "booleans";
    case FieldKind::integer:
      return "integers";
    case FieldKind::number:
      return "numbers";
    case FieldKind::text:
      return "texts";
    case FieldKind::choice:
      return fmt::format("names ({})", joined(element.choices));
    case FieldKind::component:
      return fmt::format("{} components", element.family);
    case FieldKind::block:
      return "blocks";
    case FieldKind::list:
      return "lists of " + plural(element.element.front());
    case FieldKind::named:
      return "mappings of names to " + plural(element.element.front());
    case FieldKind::any:
      break;
  }
  return "values";
}

bool starts_with_vowel(const std::string& word) {
  return !word.empty() && std::string("aeiou").find(word[0]) != std::string::npos;
}

}  // namespace

void DescribingVisitor::finish(FieldDescription field, const char* name, const char* doc, const FieldTraits& traits) {
  field.name = name;
  field.doc = doc;
  field.output_setting = traits.output_setting;
  give_range(field, traits);
  const bool needs_value = field.kind == FieldKind::component && field.initial.is_null();
  field.required = !field.optional && (traits.required || needs_value);
  if (field.required) field.initial = {};
  out_.push_back(std::move(field));
}

bool in_range(const Range& range, double value) {
  const bool above = range.open_low ? value > range.low : value >= range.low;
  const bool below = range.open_high ? value < range.high : value <= range.high;
  return above && below;
}

std::string range_text(const std::optional<Range>& range) {
  if (!range) return "";
  const std::string low = fmt::format("{} {}", range->open_low ? ">" : ">=", format_number(range->low));
  if (range->high >= kUnbounded) return low;
  return fmt::format("{} and {} {}", low, range->open_high ? "<" : "<=", format_number(range->high));
}

std::string type_text(const FieldDescription& field) {
  switch (field.kind) {
    case FieldKind::boolean:
      return "boolean";
    case FieldKind::integer:
      return "integer";
    case FieldKind::number:
      return "number";
    case FieldKind::text:
      return "text";
    case FieldKind::choice:
      return joined(field.choices, " | ");
    case FieldKind::component:
      return field.family;
    case FieldKind::block:
      return "block";
    case FieldKind::list:
      return (field.single_allowed ? type_text(field.element.front()) + " or list of " : "list of ") +
             plural(field.element.front());
    case FieldKind::named:
      return "names with " + plural(field.element.front());
    case FieldKind::any:
      break;
  }
  return "anything";
}

std::string expected_text(const FieldDescription& field) {
  std::string text;
  switch (field.kind) {
    case FieldKind::boolean:
      return "true or false";
    case FieldKind::integer:
      text = "an integer";
      break;
    case FieldKind::number:
      text = "a number";
      break;
    case FieldKind::text:
      return "a text";
    case FieldKind::choice:
      return "one of " + joined(field.choices);
    case FieldKind::component:
      return fmt::format("{} {}: a name or a mapping with 'type'", starts_with_vowel(field.family) ? "an" : "a",
                         field.family);
    case FieldKind::block:
      return "a mapping";
    case FieldKind::list:
      return (field.single_allowed ? expected_text(field.element.front()) + " or a list of " : "a list of ") +
             plural(field.element.front());
    case FieldKind::named:
      return "a mapping of names to " + plural(field.element.front());
    case FieldKind::any:
      return "a value";
  }
  if (field.range) text += fmt::format(" {}", range_text(field.range));
  if (!field.unit.empty()) text += fmt::format(" ({})", field.unit);
  return text;
}

std::string example_text(const FieldDescription& field) {
  if (!field.initial.is_null()) return to_flow_yaml(field.initial);
  switch (field.kind) {
    case FieldKind::boolean:
      return "true";
    case FieldKind::integer:
    case FieldKind::number: {
      if (!field.range) return "1";
      if (in_range(*field.range, 1)) return "1";
      const bool bounded = field.range->high < kUnbounded;
      const double low = field.range->low;
      if (field.kind == FieldKind::integer) return format_number(std::floor(low) + (field.range->open_low ? 1 : 0));
      return format_number(!field.range->open_low ? low : bounded ? (low + field.range->high) / 2 : low + 1);
    }
    case FieldKind::text:
      return "...";
    case FieldKind::choice:
      return field.choices.front();
    case FieldKind::component:
      return "{type: ...}";
    case FieldKind::block:
      return "{...}";
    case FieldKind::list:
      return fmt::format("[{}]", example_text(field.element.front()));
    case FieldKind::named:
      return fmt::format("{{name: {}}}", example_text(field.element.front()));
    case FieldKind::any:
      break;
  }
  return "...";
}

}  // namespace jari
