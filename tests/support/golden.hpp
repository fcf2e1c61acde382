#pragma once
// Values that other programs computed, under tests/golden.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/files.hpp"

namespace jari::test {

inline nlohmann::json golden(const std::string& name) {
  return nlohmann::json::parse(read_text(source_path("tests/golden/" + name + ".json")));
}

inline void append_flat(const nlohmann::json& nested, std::vector<double>& out) {
  if (!nested.is_array()) return out.push_back(nested.get<double>());
  for (const nlohmann::json& item : nested) append_flat(item, out);
}

// Numbers of nested arrays, row-major.
inline std::vector<double> flat(const nlohmann::json& nested) {
  std::vector<double> out;
  append_flat(nested, out);
  return out;
}

inline void expect_near(const std::vector<double>& found, const std::vector<double>& expected, double tolerance,
                        const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], tolerance) << what << "[" << i << "]";
}

}  // namespace jari::test
