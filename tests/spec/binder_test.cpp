#include "framework/spec/binder.hpp"

#include <gtest/gtest.h>

namespace jari {
namespace {

struct Small {
  int steps = 3;
  std::optional<std::vector<std::string>> words;
  SpecMap<double> named;
  template <class F>
  void fields(F& f) {
    f("steps", steps, "how many", at_least(1), unit("steps"));
    f("words", words, "to print", output_setting);
    f("named", named, "values by name");
  }
};

TEST(Binder, FillsInDefaultsInTheOrderOfTheFields) {
  Diagnostics diagnostics;
  Binder binder(nullptr, diagnostics);
  Small small;
  SpecNode resolved;
  binder.bind(SpecNode::mapping(), "", small, resolved);
  EXPECT_TRUE(diagnostics.empty());
  EXPECT_EQ(to_yaml(resolved), "steps: 3\nnamed: {}\n");
}

}  // namespace
}  // namespace jari
