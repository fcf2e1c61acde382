#pragma once
// What the `fields` list of a parameter struct says, as data: for reference pages, the JSON Schema and error messages.

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "framework/spec/fields.hpp"
#include "framework/spec/spec_node.hpp"

namespace jari {

enum class FieldKind { boolean, integer, number, text, choice, component, block, list, named, any };

struct FieldDescription {
  std::string name, doc;
  FieldKind kind = FieldKind::any;
  bool required = false;
  bool optional = false;  // may be absent, and then has no value at all
  bool per_trial = false;
  bool output_setting = false;
  bool single_allowed = false;  // of a list: one value may stand for a list of one
  SpecNode initial;             // null: none. Of a component its name
  std::optional<Range> range;
  std::string unit;                       // "steps", or ""
  std::vector<std::string> choices;       // of a choice
  std::string family;                     // of a component
  std::vector<FieldDescription> fields;   // of a block
  std::vector<FieldDescription> element;  // of a list or of named values: one, what each of them is
};

// The traits that stand after a field's doc line.
struct FieldTraits {
  bool required = false, output_setting = false;
  std::optional<Range> range;
  const char* unit = "";

  void set(Required) { required = true; }
  void set(OutputSetting) { output_setting = true; }
  void set(Range given) { range = given; }
  void set(Unit given) { unit = given.name; }
};

template <class... Traits>
FieldTraits field_traits(const Traits&... traits) {
  FieldTraits result;
  (result.set(traits), ...);
  return result;
}

// How a member of type T is described and bound; specialized in field_type.hpp, and for Slot in registry/slot.hpp:
//   static void describe(FieldDescription&)            kind and what belongs to it
//   static SpecNode initial(const T&)                  the value as a spec would say it; null if there is none
//   static void bind(Binder&, const SpecNode&, const std::string& path, const FieldTraits&, T&, SpecNode& resolved)
//   static void bind_absent(Binder&, const SpecNode& block, path, traits, T&, SpecNode& resolved)
// `resolved` stays null where there is no value.
template <class T>
struct FieldType;

// Tells a struct that has a `fields` list.
struct FieldsProbe {
  template <class... Ignored>
  void operator()(const Ignored&...) {}
};
template <class T>
concept Described = std::is_class_v<T> && requires(T& value, FieldsProbe& probe) {
  value.fields(probe);
};

// Stands for the parameters of a component that has none.
struct NoParameters {
  template <class F>
  void fields(F&) {}
};

class DescribingVisitor {
 public:
  explicit DescribingVisitor(std::vector<FieldDescription>& out) : out_(out) {}

  template <class Member, class... Traits>
  void operator()(const char* name, Member& member, const char* doc, const Traits&... traits) {
    FieldDescription field;
    FieldType<Member>::describe(field);
    field.initial = FieldType<Member>::initial(member);
    finish(std::move(field), name, doc, field_traits(traits...));
  }

 private:
  void finish(FieldDescription field, const char* name, const char* doc, const FieldTraits& traits);

  std::vector<FieldDescription>& out_;
};

template <Described T>
std::vector<FieldDescription> describe_fields() {
  std::vector<FieldDescription> fields;
  DescribingVisitor visitor(fields);
  T value{};
  value.fields(visitor);
  return fields;
}

// "an integer >= 1 (steps)", "one of left, right", "a list of numbers": after "expected".
std::string expected_text(const FieldDescription& field);

// "integer", "list of numbers": for tables.
std::string type_text(const FieldDescription& field);

// ">= 1", "> 0 and < 1", or "".
std::string range_text(const std::optional<Range>& range);
bool in_range(const Range& range, double value);

// A value that the field takes, for an example: "1", "left", "{type: ...}".
std::string example_text(const FieldDescription& field);

}  // namespace jari
