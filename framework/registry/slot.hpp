#pragma once
// A place in a spec that holds a component of one family: `position: {type: learned, max_length: 40}`.

#include <memory>
#include <string>

#include "framework/base/source_span.hpp"
#include "framework/spec/spec_node.hpp"

namespace jari {

// `Family` is an interface with `static constexpr const char* kFamily = "position";`.
template <class Family>
class Slot {
 public:
  Slot() = default;
  // Default of a field: a component by name, with all of its own defaults.
  explicit Slot(std::string type) : type_(std::move(type)) {}

  const Family* operator->() const { return component_.get(); }
  const Family& operator*() const { return *component_; }
  explicit operator bool() const { return component_ != nullptr; }

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

}  // namespace jari
