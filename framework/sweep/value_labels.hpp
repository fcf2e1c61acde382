#pragma once
// How the values of one axis are called: in the labels of trials, and so in the names of their folders.

#include <string>
#include <unordered_map>
#include <vector>

#include "framework/spec/spec_node.hpp"

namespace jari {

// A scalar is its own label, a component's block its type. Blocks of one type are told apart by the keys in which they
// differ: "rel", "rel-unseen=clamp".
class ValueLabels {
 public:
  explicit ValueLabels(const std::vector<SpecNode>& values);

  // `value`: one of those that were given.
  const std::string& of(const SpecNode& value) const { return labels_.at(to_flow_yaml(value)); }

 private:
  std::unordered_map<std::string, std::string> labels_;  // by the value's text
};

}  // namespace jari
