// Products in bf16 against the same products of rounded numbers in double, and within the kernels that use them.

#include "framework/backend/cpu/bf16_product.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "framework/ops/differentiate.hpp"
#include "framework/ops/ops.hpp"
#include "framework/program/program.hpp"

namespace jari {
namespace {

using cpu::Strided;

// The nearest number with 8 bits of mantissa; of two as near the one whose last bit is 0.
double rounded(float value) {
  int exponent = 0;
  const double mantissa = std::frexp(static_cast<double>(value), &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, 8)), exponent - 8);
}

std::vector<float> numbers(std::int64_t count, double phase) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(std::sin(phase * static_cast<double>(i)) * std::exp2(static_cast<double>(i % 5)));
  return values;
}

struct Sizes {
  std::int64_t m, n, k;
  bool left_transposed, right_transposed, accumulate;
};

void check_product(const Sizes& sizes) {
  const auto [m, n, k, left_transposed, right_transposed, accumulate] = sizes;
  const std::vector<float> a = numbers(m * k, 0.7), b = numbers(k * n, 1.3);
  const Strided<float> left = {a.data(), left_transposed ? 1 : k, left_transposed ? m : 1};
  const Strided<float> right = {b.data(), right_transposed ? 1 : n, right_transposed ? k : 1};
  std::vector<std::byte> left_memory(static_cast<std::size_t>(cpu::bf16_left_bytes(m, k)));
  std::vector<std::byte> right_memory(static_cast<std::size_t>(cpu::bf16_right_bytes(k, n)));
  const cpu::Bf16Right packed = cpu::pack_bf16(right, k, n, right_memory.data());
  const std::int64_t row = n + 3;
  std::vector<float> c(static_cast<std::size_t>(m * row), 0.5f);
  cpu::multiply_bf16(left, packed, c.data(), row, m, n, k, accumulate, left_memory.data());
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < row; ++j) {
      double sum = accumulate || j >= n ? 0.5 : 0, size = 0;
      for (std::int64_t p = 0; j < n && p < k; ++p) {
        const double term = rounded(a[static_cast<std::size_t>(i * left.row + p * left.column)]) *
                            rounded(b[static_cast<std::size_t>(p * right.row + j * right.column)]);
        sum += term;
        size += std::abs(term);
      }
      ASSERT_NEAR(static_cast<double>(c[static_cast<std::size_t>(i * row + j)]), sum, 1e-6 * (1 + size))
          << m << "x" << n << "x" << k << " at " << i << ", " << j;
    }
  }
}

TEST(Bf16Product, EqualsTheProductOfRoundedNumbers) {
  for (const bool left : {false, true}) {
    for (const bool right : {false, true}) {
      for (const bool accumulate : {false, true}) {
        check_product({64, 96, 128, left, right, accumulate});
        check_product({33, 47, 65, left, right, accumulate});
        check_product({16, 16, 32, left, right, accumulate});
        check_product({5, 3, 7, left, right, accumulate});
        check_product({1, 1, 1, left, right, accumulate});
      }
    }
  }
}

TEST(Bf16Product, KeepsWhatIsNotFinite) {
  const std::vector<float> a = {1.0f, std::nanf("")}, b = {2.0f, INFINITY};
  std::vector<std::byte> left_memory(static_cast<std::size_t>(cpu::bf16_left_bytes(2, 1)));
  std::vector<std::byte> right_memory(static_cast<std::size_t>(cpu::bf16_right_bytes(1, 2)));
  const cpu::Bf16Right right = cpu::pack_bf16({b.data(), 2, 1}, 1, 2, right_memory.data());
  float c[4];
  cpu::multiply_bf16({a.data(), 1, 1}, right, c, 2, 2, 2, 1, false, left_memory.data());
  EXPECT_EQ(c[0], 2.0f);
  EXPECT_EQ(c[1], INFINITY);
  EXPECT_TRUE(std::isnan(c[2]));
}

// A transformer's large products: they differ from the exact ones, by no more than the rounding of what is multiplied.
TEST(Bf16Products, AreNearTheExactOnes) {
  std::vector<std::vector<double>> results[2];
  for (const Products products : {Products::exact, Products::bf16}) {
    Graph graph(DType::f32, products);
    const Value x = graph.parameter("x", {600, 64}), inner = graph.parameter("inner", {64, 500});
    const Value outer = graph.parameter("outer", {500, 64}), table = graph.parameter("table", {1900, 64});
    std::vector<std::int64_t> targets;
    for (std::int64_t i = 0; i < 600; ++i) targets.push_back(i * 13 % 1900);
    const Value hidden = matmul(gelu(matmul(x, inner)), outer);
    const Value loss = cross_entropy(matmul(hidden, table, false, true), graph.constant_i32({600}, targets));
    const std::vector<Value> gradients = differentiate(graph, loss, {x, inner, outer, table});
    State state(graph, 1);
    for (const State::Entry& entry : state.entries()) {
      std::vector<double> values(static_cast<std::size_t>(entry.type.shape.size()));
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.2 * std::sin(static_cast<double>(i * i % 1009));
      state.write(0, entry, values);
    }
    auto& into = results[products == Products::bf16];
    into.push_back(evaluate(graph, loss, {}, &state));
    for (const Value& value : gradients) into.push_back(evaluate(graph, value, {}, &state));
  }
  EXPECT_NEAR(results[1][0][0], results[0][0][0], 1e-2);
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    double difference = 0, size = 0;
    for (std::size_t k = 0; k < results[0][i].size(); ++k) {
      difference += std::pow(results[1][i][k] - results[0][i][k], 2);
      size += std::pow(results[0][i][k], 2);
    }
    EXPECT_GT(difference, 0) << i;
    EXPECT_LT(std::sqrt(difference / size), 0.02) << i;
  }
}

}  // namespace
}  // namespace jari
