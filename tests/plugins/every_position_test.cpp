// What holds for every positional scheme, through the probe. A new scheme is covered as soon as its file is there.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/plugins/components.hpp"
#include "tests/support/errors.hpp"

namespace jari {
namespace {

using test::builtin_components;
using test::example_block;
using test::ProbeCase;
using test::ProbeSize;

class EveryPosition : public testing::TestWithParam<std::string> {
 protected:
  std::string block() const { return example_block("position", GetParam()); }
  static bool is_position_parameter(const State::Entry& entry) { return entry.name.starts_with("model/position/"); }
};

double run_loss(const Program& program, State& state, const NamedValues& inputs) {
  static ThreadPool pool(1);
  double loss = 0;
  const int trial = 0;
  Program::Hooks hooks;
  hooks.feed = [&](int, std::int64_t, const Tensors& tensors) {
    for (const auto& [name, values] : inputs)
      if (tensors.has(name)) write_tensor(tensors, name, values);
  };
  hooks.fetch = [&](int, std::int64_t, const Tensors& tensors) {
    loss = tensors.scalar("loss");
    return true;
  };
  program.run(state, {&trial, 1}, 0, 1, hooks, pool);
  return loss;
}

// All numbers of the scheme's own parameters, every seventh of the others.
TEST_P(EveryPosition, HasTheGradientsThatFiniteDifferencesGive) {
  for (const std::int64_t heads : {1, 2}) {
    SCOPED_TRACE(heads);
    ProbeCase probe(block(), {.heads = heads});
    State state = probe.random_state();
    const NamedValues inputs = probe.inputs();
    const Program program(probe.graph(), {{"loss", probe.loss()}});
    for (const State::Entry& entry : state.entries()) {
      const std::vector<double> gradient = evaluate(probe.graph(), probe.gradient(entry.name), inputs, &state);
      const std::size_t stride = is_position_parameter(entry) ? 1 : 7;
      std::span<double> values = state.tensor<double>(0, entry);
      for (std::size_t i = 0; i < values.size(); i += stride) {
        constexpr double kStep = 1e-5;
        const double kept = values[i];
        values[i] = kept + kStep;
        const double above = run_loss(program, state, inputs);
        values[i] = kept - kStep;
        const double below = run_loss(program, state, inputs);
        values[i] = kept;
        EXPECT_NEAR(gradient[i], (above - below) / (2 * kStep), 1e-8) << entry.name << "[" << i << "]";
      }
    }
  }
}

// A scheme that does nothing is a mistake that is easy to overlook: turning the sequences by one place must do more
// than turn the logits. (A mirror image would not do: symmetric distances can not tell it.)
TEST_P(EveryPosition, TellsOrdersApart) {
  ProbeCase probe(block());
  if (!probe.scheme().knows_order()) GTEST_SKIP() << "has no positions by design";
  State state = probe.random_state();
  const auto length = static_cast<std::ptrdiff_t>(probe.size().length);
  const auto turn = [&](std::vector<double> values, std::ptrdiff_t numbers_a_place) {
    const std::ptrdiff_t row = length * numbers_a_place;
    for (auto begin = values.begin(); begin != values.end(); begin += row)
      std::rotate(begin, begin + numbers_a_place, begin + row);
    return values;
  };
  const std::vector<double> logits = evaluate(probe.graph(), probe.logits(), probe.inputs(), &state);
  const std::vector<double> of_turned =
      evaluate(probe.graph(), probe.logits(), probe.inputs(turn(probe.tokens(), 1)), &state);
  const std::vector<double> turned = turn(logits, probe.size().vocabulary);
  double difference = 0;
  for (std::size_t i = 0; i < turned.size(); ++i) difference = std::max(difference, std::abs(turned[i] - of_turned[i]));
  EXPECT_GT(difference, 1e-6);
}

TEST_P(EveryPosition, HasNoParameterWithoutInfluence) {
  ProbeCase probe(block(), {.heads = 2});
  State state = probe.random_state();
  for (const State::Entry& entry : state.entries()) {
    if (!is_position_parameter(entry)) continue;
    const std::vector<double> gradient = evaluate(probe.graph(), probe.gradient(entry.name), probe.inputs(), &state);
    EXPECT_TRUE(std::any_of(gradient.begin(), gradient.end(), [](double g) { return std::abs(g) > 1e-8; }))
        << entry.name;
  }
}

TEST_P(EveryPosition, WorksAtGreaterLengthsOrSaysWhyNot) {
  for (const std::int64_t length : {6, 40}) {
    SCOPED_TRACE(length);
    const std::string error = test::error_of<ShapeError>([&] {
      ProbeCase probe(block(), {.batch = 1, .length = length, .trained_length = 5}, DType::f32);
      State state = probe.random_state();
      for (const double logit : evaluate(probe.graph(), probe.logits(), probe.inputs(), &state))
        ASSERT_TRUE(std::isfinite(logit));
    });
    if (error == "no error") continue;
    EXPECT_NE(error.find("position/" + GetParam()), std::string::npos) << error;
    EXPECT_NE(error.find(std::to_string(length)), std::string::npos) << error;
  }
}

TEST_P(EveryPosition, GivesTheSameBitsOnAnyNumberOfThreads) {
  ProbeCase probe(block(), {.width = 16, .heads = 2, .batch = 12}, DType::f32);
  const State state = probe.random_state();
  std::vector<std::vector<double>> results;
  for (const int threads : {1, 2, 3}) {
    State own = probe.random_state();
    results.push_back(evaluate(probe.graph(), probe.gradient("model/query"), probe.inputs(), &own, threads));
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryPosition, testing::ValuesIn(builtin_components().names("position")),
                         [](const auto& scheme) { return scheme.param; });

}  // namespace
}  // namespace jari
