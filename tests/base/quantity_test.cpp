#include "framework/base/quantity.hpp"

#include <gtest/gtest.h>

namespace jari {
namespace {

TEST(Quantity, DurationsAreReadable) {
  EXPECT_EQ(duration_text(0.4), "0s");
  EXPECT_EQ(duration_text(59.4), "59s");
  EXPECT_EQ(duration_text(192), "3m 12s");
  EXPECT_EQ(duration_text(7500), "2h 05m");
}

TEST(Quantity, BytesHaveTwoDigitsAtLeast) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(1234), "1.2 kB");
  EXPECT_EQ(bytes_text(9960), "10 kB");
  EXPECT_EQ(bytes_text(999400), "999 kB");
  EXPECT_EQ(bytes_text(999600), "1.0 MB");
  EXPECT_EQ(bytes_text(3.4e10), "34 GB");
}

}  // namespace
}  // namespace jari
