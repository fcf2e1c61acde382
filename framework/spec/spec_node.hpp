#pragma once
// The located tree: what a spec file says, every node with the place that it came from. Made at parse time by the only
// file that knows yaml-cpp (yaml_reader.cpp); composition, interpolation and overrides are done on it.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/source_span.hpp"

namespace jari {

struct SpecEntry;

struct SpecNode {
  enum class Kind { null, scalar, sequence, mapping };

  Kind kind = Kind::null;
  SourceSpan span;
  std::string text;                // of a scalar, as written
  bool quoted = false;             // "yes" in quotes is a string
  bool replace = false;            // tagged !replace: not merged into the parent's mapping
  bool grid = false;               // a sequence tagged !grid: alternatives, of which the sweep takes one at a time
  bool refused = false;            // the reader has reported it: the binder need not
  bool output_setting = false;     // set by the binder: not part of a trial's identity
  bool per_trial = false;          // set by the binder: may differ within a fused group
  std::vector<SpecNode> items;     // of a sequence
  std::vector<SpecEntry> entries;  // of a mapping, in the order of the file

  static SpecNode scalar(std::string text, bool quoted = false, SourceSpan span = {});
  static SpecNode sequence();
  static SpecNode sequence(std::vector<SpecNode> items, SourceSpan span = {});
  static SpecNode mapping(SourceSpan span = {});

  bool is_null() const { return kind == Kind::null; }
  bool is_scalar() const { return kind == Kind::scalar; }
  bool is_sequence() const { return kind == Kind::sequence; }
  bool is_mapping() const { return kind == Kind::mapping; }

  const SpecNode* find(std::string_view key) const;  // of a mapping; null if absent
  SpecNode* find(std::string_view key);
  const SpecNode* find_path(std::string_view path) const;  // "train.optimizer.lr", "groups.0.match"
  SpecNode* find_path(std::string_view path);
  // Sets or adds an entry; returns its value.
  SpecNode& set(std::string key, SpecNode value, SourceSpan key_span = {});
  void erase(std::string_view key);
};

struct SpecEntry {
  std::string key;
  SourceSpan key_span;
  SpecNode value;
};

// Of a resolved spec: without what does not change the numbers.
SpecNode identity_form(const SpecNode& resolved);

// Of a resolved spec: its identity with hyperparameters that may differ within a fused group blanked.
SpecNode group_form(const SpecNode& resolved);

// YAML text that reads back as the same tree: block style, keys in order (`sorted`: by name, for hashing).
std::string to_yaml(const SpecNode& node, bool sorted = false);

// The same on one line: "{type: adam, lr: 0.001}".
std::string to_flow_yaml(const SpecNode& node);

// "3", "'abc'", "a list", for "found ...".
std::string describe_value(const SpecNode& node);

// Mappings and lists inside each other that a spec may hold.
inline constexpr std::size_t kDeepestSpec = 64;
std::size_t depth_of(const SpecNode& node);  // 0 of a scalar, 1 of a list of scalars

// Equal values, wherever they came from.
bool same_value(const SpecNode& left, const SpecNode& right);

}  // namespace jari
