// The installed layers in a program of somebody else: builds a graph, runs it, prints the value.
#include <cstdio>

#include "framework/ops/ops.hpp"
#include "framework/program/program.hpp"

int main() {
  jari::Graph graph(jari::DType::f64);
  const jari::Value x = graph.constant({2, 2}, {1, 2, 3, 4});
  const jari::Value product = jari::matmul(x, x);
  for (const double value : jari::evaluate(graph, product)) std::printf("%g ", value);
}
