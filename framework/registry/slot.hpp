#pragma once
// A place in a spec that holds a component of one family: `position: {type: learned, max_length: 40}`.

#include <memory>
#include <string>

#include "framework/base/source_span.hpp"
#include "framework/spec/binder.hpp"
#include "framework/spec/spec_node.hpp"

namespace jari {

// `Family` is an interface with `static constexpr const char* kFamily = "position";`.
template <class Family>
class Slot {
 public:
  static constexpr bool kIsSlot = true;

  Slot() = default;
  // Default of a field: a component by name, with all of its own defaults.
  explicit Slot(std::string type) : type_(std::move(type)) {}

  const Family* operator->() const { return component_.get(); }
  const Family& operator*() const { return *component_; }
  explicit operator bool() const { return component_ != nullptr; }
  const std::shared_ptr<const Family>& shared() const { return component_; }  // for whoever outlives the spec

  const std::string& type() const { return type_; }  // registered name
  const SourceSpan& span() const { return span_; }   // of the block (of its `type` where given)
  const SpecNode& resolved() const { return resolved_; }

  void bind(std::string type, std::shared_ptr<const Family> component, SpecNode resolved, SourceSpan span) {
    type_ = std::move(type);
    component_ = std::move(component);
    resolved_ = std::move(resolved);
    span_ = std::move(span);
  }

 private:
  std::string type_;
  std::shared_ptr<const Family> component_;
  SpecNode resolved_;
  SourceSpan span_;
};

template <class Family>
struct FieldType<Slot<Family>> {
  static void describe(FieldDescription& field) {
    field.kind = FieldKind::component;
    field.family = Family::kFamily;
  }
  static SpecNode initial(const Slot<Family>& slot) {
    return slot.type().empty() ? SpecNode{} : SpecNode::scalar(slot.type(), true);
  }
  static void bind(Binder& binder, const SpecNode& node, const std::string& path, const FieldTraits&, Slot<Family>& out,
                   SpecNode& resolved) {
    Components::Bound bound;
    binder.components().bind(binder, Family::kFamily, node, path, bound, resolved);
    out.bind(std::move(bound.type), std::static_pointer_cast<const Family>(bound.component), resolved,
             std::move(bound.span));
  }
  // The block's binder has seen to it that there is a default.
  static void bind_absent(Binder& binder, const SpecNode&, const std::string& path, const FieldTraits& traits,
                          Slot<Family>& slot, SpecNode& resolved) {
    bind(binder, initial(slot), path, traits, slot, resolved);
  }
};

}  // namespace jari
