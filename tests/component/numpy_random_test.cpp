#include "framework/component/numpy_random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "tests/support/files.hpp"

namespace jari {
namespace {

nlohmann::json golden() {
  return nlohmann::json::parse(test::read_text(test::source_path("tests/golden/numpy_init.json")));
}

TEST(NumpyRandom, RawBitsEqualNumPys) {
  NumpyRandom random(7);
  const auto expected = golden().at("random_raw_seed7").get<std::vector<std::uint64_t>>();
  ASSERT_FALSE(expected.empty());
  for (const std::uint64_t word : expected) EXPECT_EQ(random.next(), word);
}

TEST(NumpyRandom, TablesDrawnOneAfterTheOtherEqualNumPysBitForBit) {
  const nlohmann::json cases = golden();
  for (const auto& example : cases.at("cases")) {
    NumpyRandom random(example.at("seed").get<std::uint64_t>());
    const auto std = example.at("std").get<double>();
    for (const char* table : {"E", "P"})
      for (const auto& row : example.at(table))
        for (const auto& value : row) EXPECT_EQ(std * random.standard_normal(), value.get<double>()) << table;
  }
}

// A million draws pass through every layer of the ziggurat, and its tail.
TEST(NumpyRandom, AMillionNormalsEqualNumPys) {
  const auto expected = golden().at("standard_normal_seed7");
  NumpyRandom random(7);
  std::vector<double> draws(1'000'000);
  for (double& draw : draws) draw = random.standard_normal();
  const auto first = expected.at("first8").get<std::vector<double>>();
  EXPECT_EQ(std::vector<double>(draws.begin(), draws.begin() + 8), first);
  const auto largest = std::max_element(draws.begin(), draws.end());
  EXPECT_EQ(*largest, expected.at("max").get<double>());
  EXPECT_EQ(largest - draws.begin(), expected.at("index_of_max").get<std::ptrdiff_t>());
  EXPECT_EQ(*std::min_element(draws.begin(), draws.end()), expected.at("min").get<double>());
  EXPECT_EQ(std::count_if(draws.begin(), draws.end(), [](double x) { return std::abs(x) > 3.6541528853610088; }),
            expected.at("tail_beyond_3_65").get<std::ptrdiff_t>());
  double sum = 0;
  for (const double draw : draws) sum += draw;
  EXPECT_NEAR(sum, expected.at("sum").get<double>(), 1e-9);
}

}  // namespace
}  // namespace jari
