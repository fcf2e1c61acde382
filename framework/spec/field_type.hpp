#pragma once
// FieldType for each type that a member of a parameter struct may have (fields.hpp).

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/spec/binder.hpp"
#include "framework/spec/per_trial.hpp"

namespace jari {

// A default that is a plain value.
template <class T>
struct PlainFieldType {
  static void bind_absent(Binder&, const SpecNode&, const std::string&, const FieldTraits&, T& value,
                          SpecNode& resolved) {
    resolved = FieldType<T>::initial(value);
  }
};

SpecNode canonical(bool value);
SpecNode canonical(std::int64_t value);
SpecNode canonical(double value);
SpecNode canonical(const std::string& value);

// The canonical form of a value that was read from `node`, at its place.
template <class T>
SpecNode located(const T& value, const SpecNode& node) {
  SpecNode result = FieldType<T>::initial(value);
  result.span = node.span;
  return result;
}

template <>
struct FieldType<bool> : PlainFieldType<bool> {
  static void describe(FieldDescription& field) { field.kind = FieldKind::boolean; }
  static SpecNode initial(bool value) { return canonical(value); }
  static void bind(Binder& binder, const SpecNode& node, const std::string& path, const FieldTraits&, bool& out,
                   SpecNode& resolved) {
    if (binder.read_boolean(node, path, out)) resolved = located(out, node);
  }
};

template <class T>
requires(std::same_as<T, int> || std::same_as<T, std::int64_t>) struct FieldType<T> : PlainFieldType<T> {
  static void describe(FieldDescription& field) { field.kind = FieldKind::integer; }
  static SpecNode initial(T value) { return canonical(std::int64_t{value}); }
  static void bind(Binder& binder, const SpecNode& node, const std::string& path, const FieldTraits& traits, T& out,
                   SpecNode& resolved) {
    using Limits = std::numeric_limits<T>;
    std::int64_t value = 0;
    if (!binder.read_integer(node, path, traits, Limits::min(), Limits::max(), value)) return;
    out = static_cast<T>(value);
    resolved = located(out, node);
  }
};

template <>
struct FieldType<double> : PlainFieldType<double> {
  static void describe(FieldDescription& field) { field.kind = FieldKind::number; }
  static SpecNode initial(double value) { return canonical(value); }
  static void bind(Binder& binder, const SpecNode& node, const std::string& path, const FieldTraits& traits,
                   double& out, SpecNode& resolved) {
    if (binder.read_number(node, path, traits, out)) resolved = located(out, node);
  }
};

template <>
struct FieldType<std::string> : PlainFieldType<std::string> {
  static void describe(FieldDescription& field) { field.kind = FieldKind::text; }
  static SpecNode initial(const std::string& value) { return canonical(value); }
  static void bind(Binder& binder, const SpecNode& node, const std::string& path, const FieldTraits&, std::string& out,
                   SpecNode& resolved) {
    if (binder.read_text(node, path, out)) resolved = located(out, node);
  }
};

template <class T>
requires std::is_enum_v<T>
struct FieldType<T> : PlainFieldType<T> {
  static void describe(FieldDescription& field) {
    field.kind = FieldKind::choice;
    field.choices = names();
  }
  static SpecNode initial(T value) {
    for (const auto& [each, name] : enum_names(T{})) {
      if (each == value) return canonical(std::string(name));
    }
    return {};
  }
  static void bind(Binder& binder, const SpecNode& node, const std::string& path, const FieldTraits&, T& out,
                   SpecNode& resolved) {
    std::size_t index = 0;
    if (!binder.read_choice(node, path, names(), index)) return;
    out = enum_names(T{})[index].first;
    resolved = located(out, node);
  }

 private:
  static std::vector<std::string> names() {
    std::vector<std::string> result;
    for (const auto& [each, name] : enum_names(T{})) result.emplace_back(name);
    return result;
  }
};

template <class T>
struct FieldType<PerTrial<T>> {
  static void describe(FieldDescription& field) {
    FieldType<T>::describe(field);
    field.per_trial = true;
  }
  static SpecNode initial(const PerTrial<T>& value) { return FieldType<T>::initial(value.example()); }
  static void bind(Binder& binder, const SpecNode& node, const std::string& path, const FieldTraits& traits,
                   PerTrial<T>& out, SpecNode& resolved) {
    T value = out.example();
    FieldType<T>::bind(binder, node, path, traits, value, resolved);
    out.bind(value, path);
    resolved.per_trial = true;
  }
  static void bind_absent(Binder&, const SpecNode&, const std::string& path, const FieldTraits&, PerTrial<T>& value,
                          SpecNode& resolved) {
    value.bind(T(value.example()), path);
    resolved = initial(value);
    resolved.per_trial = true;
  }
};

template <class T>
struct FieldType<std::optional<T>> {
  static void describe(FieldDescription& field) {
    FieldType<T>::describe(field);
    field.optional = true;
  }
  static SpecNode initial(const std::optional<T>& value) { return value ? FieldType<T>::initial(*value) : SpecNode{}; }
  static void bind(Binder& binder, const SpecNode& node, const std::string& path, const FieldTraits& traits,
                   std::optional<T>& out, SpecNode& resolved) {
    if (!out) out.emplace();
    FieldType<T>::bind(binder, node, path, traits, *out, resolved);
  }
  static void bind_absent(Binder& binder, const SpecNode& block, const std::string& path, const FieldTraits& traits,
                          std::optional<T>& value, SpecNode& resolved) {
    if (value) FieldType<T>::bind_absent(binder, block, path, traits, *value, resolved);
  }
};

template <class T>
struct FieldType<std::vector<T>> {
  static void describe(FieldDescription& field) {
    field.kind = FieldKind::list;
    FieldType<T>::describe(field.element.emplace_back());
  }
  static SpecNode initial(const std::vector<T>& values) {
    SpecNode result = SpecNode::sequence();
    for (const T& value : values) result.items.push_back(FieldType<T>::initial(value));
    return result;
  }
  static void bind(Binder& binder, const SpecNode& node, const std::string& path, const FieldTraits& traits,
                   std::vector<T>& out, SpecNode& resolved) {
    FieldDescription field;
    describe(field);
    if (!binder.require_list(node, path, field)) return;
    out.clear();
    resolved = SpecNode::sequence({}, node.span);
    for (const SpecNode& item : node.items) {
      T value{};  // not in place: std::vector<bool> has no references to its elements
      const std::string item_path = child_path(path, std::to_string(out.size()));
      FieldType<T>::bind(binder, item, item_path, traits, value, resolved.items.emplace_back());
      out.push_back(std::move(value));
    }
  }
  static void bind_absent(Binder& binder, const SpecNode& block, const std::string& path, const FieldTraits& traits,
                          std::vector<T>& values, SpecNode& resolved) {
    resolved = SpecNode::sequence();
    for (std::size_t i = 0; i < values.size(); ++i) {
      T value = std::move(values[i]);
      FieldType<T>::bind_absent(binder, block, child_path(path, std::to_string(i)), traits, value,
                                resolved.items.emplace_back());
      values[i] = std::move(value);
    }
  }
};

template <class T>
struct FieldType<SpecMap<T>> {
  static void describe(FieldDescription& field) {
    field.kind = FieldKind::named;
    FieldType<T>::describe(field.element.emplace_back());
  }
  static SpecNode initial(const SpecMap<T>& values) {
    SpecNode result = SpecNode::mapping();
    for (const auto& [name, value] : values) result.set(name, FieldType<T>::initial(value));
    return result;
  }
  static void bind(Binder& binder, const SpecNode& node, const std::string& path, const FieldTraits& traits,
                   SpecMap<T>& out, SpecNode& resolved) {
    FieldDescription field;
    describe(field);
    if (!binder.require_mapping(node, path, field)) return;
    out.clear();
    resolved = SpecNode::mapping(node.span);
    for (const SpecEntry& entry : node.entries) {
      T& value = out.emplace_back(entry.key, T{}).second;
      SpecNode& child = resolved.set(entry.key, {}, entry.key_span);
      FieldType<T>::bind(binder, entry.value, child_path(path, entry.key), traits, value, child);
    }
  }
  static void bind_absent(Binder& binder, const SpecNode& block, const std::string& path, const FieldTraits& traits,
                          SpecMap<T>& values, SpecNode& resolved) {
    resolved = SpecNode::mapping();
    for (auto& [name, value] : values) {
      SpecNode& child = resolved.set(name, {});
      FieldType<T>::bind_absent(binder, block, child_path(path, name), traits, value, child);
    }
  }
};

// Anything, taken as it stands ("notes").
template <>
struct FieldType<SpecNode> : PlainFieldType<SpecNode> {
  static void describe(FieldDescription& field) {
    field.kind = FieldKind::any;
    field.optional = true;
  }
  static SpecNode initial(const SpecNode& value) { return value; }
  static void bind(Binder&, const SpecNode& node, const std::string&, const FieldTraits&, SpecNode& out,
                   SpecNode& resolved) {
    out = node;
    resolved = node;
  }
};

template <Described T>
struct FieldType<T> {
  static void describe(FieldDescription& field) {
    field.kind = FieldKind::block;
    field.fields = describe_fields<T>();
  }
  static SpecNode initial(const T&) { return {}; }
  static void bind(Binder& binder, const SpecNode& node, const std::string& path, const FieldTraits&, T& out,
                   SpecNode& resolved) {
    FieldDescription field;
    field.kind = FieldKind::block;
    if (!binder.require_mapping(node, path, field)) return;
    resolved = SpecNode::mapping(node.span);
    bind_block(binder, node, path, out, resolved);
  }
  // As if the block were there and empty: its own required keys are still asked for.
  static void bind_absent(Binder& binder, const SpecNode& block, const std::string& path, const FieldTraits&, T& out,
                          SpecNode& resolved) {
    const SpecNode empty = SpecNode::mapping(block.span);
    resolved = SpecNode::mapping();
    bind_block(binder, empty, path, out, resolved);
  }
};

}  // namespace jari
