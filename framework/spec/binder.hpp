#pragma once
// Binds a located tree to the structs that describe themselves, strictly: every key must be known, of its type, in its
// range. All mistakes are collected. Beside the structs it makes the resolved tree: every default filled in, fields in
// the order of their list, numbers by their shortest text, each value with the place that it came from.
//
//   Diagnostics diagnostics;
//   Binder binder(&registry, diagnostics);
//   ExperimentSpec spec;
//   SpecNode resolved;
//   binder.bind(root, "", spec, resolved);

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/describe.hpp"

namespace jari {

class Binder;

// What the spec layer knows of the registry.
class Components {
 public:
  struct Bound {
    std::string type;
    std::shared_ptr<const void> component;  // made from a std::shared_ptr<const Family>; null after an error
    SourceSpan span;                        // of the name
  };

  virtual ~Components() = default;
  virtual void bind(Binder& binder, const std::string& family, const SpecNode& node, const std::string& path,
                    Bound& out, SpecNode& resolved) const = 0;
  // Null if there is no such component.
  virtual const std::vector<FieldDescription>* fields_of(const std::string& family, const std::string& name) const = 0;
  virtual std::string example_of(const std::string& family) const = 0;  // "{type: adam}"
};

class Binder {
 public:
  // `components` may be null where no struct holds a Slot. Both must outlive the binder.
  Binder(const Components* components, Diagnostics& diagnostics) : components_(components), diagnostics_(diagnostics) {}

  // Members of `out` that the node does not mention keep their values: their defaults. The first call of a binder is
  // that of the whole spec ("this key exists under `train`").
  template <Described T>
  void bind(const SpecNode& node, const std::string& path, T& out, SpecNode& resolved);

  const Components& components() const;

  void error(const SourceSpan& span, const std::string& path, const std::string& message, const std::string& hint = "");
  int errors() const { return errors_; }

  // -- for FieldType. Each reports a mistake and returns false, leaving `out` alone.
  void expected(const SpecNode& found, const std::string& path, const FieldDescription& field);
  void refuse(const SpecNode& found, const std::string& path, const std::string& expected_value,
              const std::string& hint);
  bool read_boolean(const SpecNode& node, const std::string& path, bool& out);
  bool read_integer(const SpecNode& node, const std::string& path, const FieldTraits& traits, std::int64_t low,
                    std::int64_t high, std::int64_t& out);
  bool read_number(const SpecNode& node, const std::string& path, const FieldTraits& traits, double& out);
  bool read_text(const SpecNode& node, const std::string& path, std::string& out);
  bool read_choice(const SpecNode& node, const std::string& path, const std::vector<std::string>& names,
                   std::size_t& out);
  bool require_list(const SpecNode& node, const std::string& path, const FieldDescription& field);
  bool require_mapping(const SpecNode& node, const std::string& path, const FieldDescription& field);

  // The parents of a key of this name elsewhere in the spec's schema: "train", "train.optimizer".
  std::vector<std::string> places_of_key(const std::string& key) const;

  // -- for the block being bound. Errors of unknown and missing keys.
  void unknown_key(const SpecEntry& entry, const std::string& block_path, const std::vector<std::string>& known,
                   const std::optional<std::string>& near, const std::string& hint);
  void missing_key(const SpecNode& block, const std::string& block_path, const FieldDescription& field);

  struct Root {
    const SpecNode* node = nullptr;
    std::vector<FieldDescription> (*describe)() = nullptr;
  };
  // The tree that `places_of_key` looks at; set by the first bind().
  void set_root(Root root) {
    if (root_.node == nullptr) root_ = root;
  }

 private:
  const Components* components_;
  Diagnostics& diagnostics_;
  Root root_;
  int errors_ = 0;
};

// "train" + "steps" -> "train.steps".
std::string child_path(const std::string& path, const std::string& key);

// The `fields` visitor that binds one block.
class BlockBinder {
 public:
  // `also_known`: a key of the block that is no field ("type").
  BlockBinder(Binder& binder, const SpecNode& block, const std::string& path, SpecNode& resolved,
              const char* also_known = nullptr);

  template <class Member, class... Traits>
  void operator()(const char* name, Member& member, const char* doc, const Traits&... traits) {
    using Type = FieldType<Member>;
    const FieldTraits given = field_traits(traits...);
    const std::string path = child_path(path_, name);
    SpecNode value;
    if (const SpecEntry* entry = take(name)) {
      Type::bind(binder_, entry->value, path, given, member, value);
      keep(name, std::move(value), given, entry);
    } else if (is_missing(member, given)) {
      note_missing<Member>(name, doc, given);
    } else {
      Type::bind_absent(binder_, block_, path, given, member, value);
      keep(name, std::move(value), given, nullptr);
    }
  }

  // After all fields: reports the keys that none of them took, and those that are missing. `hint` is added where an
  // unknown key is like no known one.
  void finish(const std::string& hint = "");

 private:
  // A slot without a component's name has no default either.
  template <class Member>
  static bool is_missing([[maybe_unused]] const Member& member, const FieldTraits& traits) {
    if constexpr (requires { Member::kIsSlot; }) {
      if (member.type().empty()) return true;
    }
    return traits.required;
  }
  template <class Member>
  void note_missing(const char* name, const char* doc, const FieldTraits& traits) {
    FieldDescription field;
    FieldType<Member>::describe(field);
    note_missing(std::move(field), name, doc, traits);
  }
  void note_missing(FieldDescription field, const char* name, const char* doc, const FieldTraits& traits);
  const SpecEntry* take(const char* name);
  void keep(const char* name, SpecNode value, const FieldTraits& traits, const SpecEntry* entry);

  Binder& binder_;
  const SpecNode& block_;
  const std::string& path_;
  SpecNode& resolved_;
  std::vector<const char*> known_;
  std::vector<bool> taken_;
  std::vector<FieldDescription> missing_;
};

// Reports what a struct's `check` finds, each at the member's own place.
class BlockChecks final : public FieldChecks {
 public:
  BlockChecks(Binder& binder, const SpecNode& block, const std::string& path)
      : binder_(binder), block_(block), path_(path) {}
  void error(const std::string& field, const std::string& message, const std::string& hint) override;

 private:
  Binder& binder_;
  const SpecNode& block_;
  const std::string& path_;
};

// Binds the fields of a mapping; `also_known` and `hint` as for BlockBinder.
template <Described T>
void bind_block(Binder& binder, const SpecNode& block, const std::string& path, T& out, SpecNode& resolved,
                const char* also_known = nullptr, const std::string& hint = "") {
  const int errors_before = binder.errors();
  BlockBinder visitor(binder, block, path, resolved, also_known);
  out.fields(visitor);
  visitor.finish(hint);
  if constexpr (requires(const T& bound, FieldChecks& checks) { bound.check(checks); }) {
    BlockChecks checks(binder, block, path);
    if (binder.errors() == errors_before) out.check(checks);
  }
}

template <Described T>
void Binder::bind(const SpecNode& node, const std::string& path, T& out, SpecNode& resolved) {
  set_root({&node, &describe_fields<T>});
  FieldType<T>::bind(*this, node, path, {}, out, resolved);
}

}  // namespace jari

#include "framework/spec/field_type.hpp"  // what the templates above need when they are used
