#include "framework/base/edit_distance.hpp"

#include <gtest/gtest.h>

namespace jari {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsSubstitutionsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);  // Levenshtein's textbook pair
  EXPECT_EQ(edit_distance("saturday", "sunday"), 3);
  EXPECT_EQ(edit_distance("legnth", "length"), 1);  // a swap is one edit
  EXPECT_EQ(edit_distance("ca", "abc"), 3);         // optimal string alignment, where full Damerau has 2
}

TEST(EditDistance, FindsTheNameThatWasMeant) {
  const std::vector<std::string> names{"alibi", "none", "rope", "sin"};
  EXPECT_EQ(closest("alibbi", names), "alibi");
  EXPECT_EQ(closest("ROPE", names), "rope");
  EXPECT_EQ(closest("batch-size", {"batch", "batch_size"}), "batch_size");
  EXPECT_EQ(closest("transformer", names), std::nullopt);
  EXPECT_EQ(closest("x", {"a", "y"}), std::nullopt);
  EXPECT_EQ(closest("", names), std::nullopt);
  EXPECT_EQ(closest(std::string(10000, 'a'), names), std::nullopt);
}

}  // namespace
}  // namespace jari
