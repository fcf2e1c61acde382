#include "framework/base/shown_path.hpp"

#include <gtest/gtest.h>

namespace jari {
namespace {

TEST(ShownPath, IsShortBelowTheWorkingDirectory) {
  const std::filesystem::path here = std::filesystem::current_path();
  EXPECT_EQ(shown_path(here / "data" / "a.txt"), "data/a.txt");
  EXPECT_EQ(shown_path("data/a.txt"), "data/a.txt");
  EXPECT_EQ(shown_path("/elsewhere/a.txt"), "/elsewhere/a.txt");
  EXPECT_EQ(shown_path(here.parent_path()), here.parent_path().string());
}

}  // namespace
}  // namespace jari
