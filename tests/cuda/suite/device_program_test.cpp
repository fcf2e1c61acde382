// Programs on a device: they do what programs of the host do, replayed or node by node.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "framework/ops/differentiate.hpp"
#include "framework/ops/ops.hpp"
#include "framework/program/profile.hpp"
#include "framework/program/program.hpp"
#include "tests/support/device_under_test.hpp"

namespace jari {
namespace {

using test::device_under_test;
using ::testing::ElementsAre;

constexpr std::int64_t kRows = 5, kWidth = 3;

// Least squares: w <- w - rate d/dw mean (x w - y)^2, y = 1 for all, x from the step and the trial.
class DeviceProgram : public ::testing::Test {
 protected:
  DeviceProgram() {
    const Value x = graph_.input("x", {DType::f32, {kRows, kWidth}}, true);
    const Value w = graph_.parameter("w", {kWidth, 1});
    const Value error = matmul(x, w) - 1.0;
    const Value loss = mean(error * error, {0, 1});
    graph_.output("loss", loss);
    const Value gradient = differentiate(graph_, loss, {w})[0];
    const Value norm = sqrt(sum_of_squares({gradient}));
    graph_.output("norm", norm);
    const Value rate = graph_.input("rate", {DType::f32, Shape{}}, true);
    const Value none = graph_.constant(0);
    graph_.update(w, sgd_update(w, gradient, Value(), rate, none, Value(), {}).parameter);
  }

  struct Run {
    std::vector<std::vector<double>> losses;  // by trial
    std::vector<std::vector<double>> weights;
    Program::DeviceSteps steps;
  };

  // A trial whose input is infinite at a step.
  struct Bad {
    int trial;
    std::int64_t step;
  };
  static constexpr Bad kNone{-1, -1};

  Run run(const std::shared_ptr<Device>& device, const std::vector<int>& trials, std::int64_t steps, bool replays,
          Bad bad = kNone, Observer* observer = nullptr) {
    const Program program(graph_, device);
    State state(graph_, 6);
    Run result;
    result.losses.resize(6);
    Program::Hooks hooks;
    hooks.feed = [&](int trial, std::int64_t step, const Tensors& inputs) {
      std::vector<double> x;
      for (std::int64_t i = 0; i < kRows * kWidth; ++i)
        x.push_back(std::sin(static_cast<double>(i + 7 * step + 13 * trial)));
      if (trial == bad.trial && step == bad.step) x[2] = INFINITY;
      write_tensor(inputs, "x", x);
      write_tensor(inputs, "rate", {0.1 + 0.05 * trial});
    };
    hooks.guard = [&](int, std::int64_t, const Tensors& outputs) {
      return std::isfinite(outputs.scalar("loss")) && std::isfinite(outputs.scalar("norm"));
    };
    hooks.feeds_ahead = replays;
    hooks.is_last = is_last_;
    if (replays) hooks.finite = {"loss", "norm"};
    hooks.fetch = [&](int trial, std::int64_t, const Tensors& outputs) {
      result.losses[static_cast<std::size_t>(trial)].push_back(outputs.scalar("loss"));
      return true;
    };
    ThreadPool pool(2);
    program.run(state, trials, 0, steps / 2, hooks, pool, observer);
    program.run(state, trials, steps / 2, steps, hooks, pool, observer);
    for (int trial = 0; trial < 6; ++trial) result.weights.push_back(state.read(trial, *state.find("w")));
    result.steps = program.device_steps();
    return result;
  }

  static void expect_near(const Run& found, const Run& expected) {
    for (std::size_t trial = 0; trial < 6; ++trial) {
      ASSERT_EQ(found.losses[trial].size(), expected.losses[trial].size()) << trial;
      for (std::size_t i = 0; i < found.losses[trial].size(); ++i)
        EXPECT_NEAR(found.losses[trial][i], expected.losses[trial][i], 1e-5);
      for (std::size_t i = 0; i < found.weights[trial].size(); ++i)
        EXPECT_NEAR(found.weights[trial][i], expected.weights[trial][i], 1e-5);
    }
  }

  Graph graph_;
  std::function<bool(int trial, std::int64_t step)> is_last_;
};

TEST_F(DeviceProgram, TrainsAsTheHost) {
  const Run found = run(device_under_test(), {0, 1, 2, 3}, 10, true);
  expect_near(found, run(nullptr, {0, 1, 2, 3}, 10, true));
  EXPECT_THAT(found.weights[5], ElementsAre(0, 0, 0)) << "not among the trials";
}

TEST_F(DeviceProgram, ReplayedStepsEqualStepsNodeByNode) {
  const Run replayed = run(device_under_test(), {0, 1, 2}, 10, true);
  const Run by_node = run(device_under_test(), {0, 1, 2}, 10, false);
  EXPECT_EQ(replayed.losses, by_node.losses);
  EXPECT_EQ(replayed.weights, by_node.weights);
  EXPECT_EQ(replayed.steps.all, 10);
  EXPECT_EQ(replayed.steps.replayed, 9) << "the first one runs node by node, so that libraries set themselves up";
  EXPECT_EQ(by_node.steps.replayed, 0);
}

TEST_F(DeviceProgram, TrialsTogetherEqualTrialsAlone) {
  const Run together = run(device_under_test(), {0, 1, 2, 5}, 8, true);
  for (const int trial : {0, 1, 2, 5}) {
    const auto index = static_cast<std::size_t>(trial);
    const Run alone = run(device_under_test(), {trial}, 8, true);
    EXPECT_EQ(alone.losses[index], together.losses[index]) << trial;
    EXPECT_EQ(alone.weights[index], together.weights[index]) << trial;
  }
  EXPECT_THAT(together.weights[3], ElementsAre(0, 0, 0)) << "computed along, but not trained";
}

TEST_F(DeviceProgram, ATrialThatDivergesKeepsItsStateAndOthersGoOn) {
  for (const bool replays : {true, false}) {
    SCOPED_TRACE(replays);
    const Run found = run(device_under_test(), {0, 1, 2}, 10, replays, {1, 6});
    expect_near(found, run(nullptr, {0, 1, 2}, 10, replays, {1, 6}));
    EXPECT_EQ(found.losses[1].size(), 6u);
    EXPECT_EQ(found.losses[2].size(), 10u);
    const Run until_then = run(device_under_test(), {1}, 6, replays);
    EXPECT_EQ(found.weights[1], until_then.weights[1]);
  }
}

// The device runs a step before the host has looked at the last one, and must not have when that one was the last.
TEST_F(DeviceProgram, ATrialThatLeavesKeepsTheStateOfItsLastStep) {
  for (const bool replays : {true, false}) {
    SCOPED_TRACE(replays);
    is_last_ = [](int trial, std::int64_t step) { return trial == 1 && step == 2; };
    const Run found = run(device_under_test(), {0, 1, 2}, 8, replays);
    is_last_ = nullptr;
    EXPECT_EQ(found.losses[1].size(), 3u + 4u) << "in the first of two calls; the second goes on";
    EXPECT_EQ(found.losses[2].size(), 8u);
    const Run others = run(device_under_test(), {0, 2}, 8, replays);
    EXPECT_EQ(found.weights[2], others.weights[2]);
    is_last_ = [](int, std::int64_t step) { return step == 2; };
    const Run first = run(device_under_test(), {1}, 4, replays);
    is_last_ = nullptr;
    EXPECT_EQ(first.losses[1].size(), 2u + 1u);
    expect_near(first, [&] {
      is_last_ = [](int, std::int64_t step) { return step == 2; };
      return run(nullptr, {1}, 4, replays);
    }());
    is_last_ = nullptr;
  }
}

TEST_F(DeviceProgram, ShowsAnObserverEachNode) {
  struct Recorder final : Observer {
    void after(int trial, std::int64_t step, const NodeView& node) override {
      if (step != 0 || std::string(node.op) != "sgd_update") return;
      trials.push_back(trial);
      const float* const weights = static_cast<const float*>(node.outputs[0].data);
      after_step.emplace_back(weights, weights + kWidth);
    }
    std::vector<int> trials;
    std::vector<std::vector<float>> after_step;
  } recorder;
  const Run observed = run(device_under_test(), {0, 1}, 4, true, kNone, &recorder);
  EXPECT_THAT(recorder.trials, ElementsAre(0, 1));
  const Run one_step = run(device_under_test(), {0, 1}, 1, true);
  for (std::size_t trial = 0; trial < 2; ++trial) {
    EXPECT_EQ(std::vector<double>(recorder.after_step[trial].begin(), recorder.after_step[trial].end()),
              one_step.weights[trial]);
  }
  EXPECT_EQ(observed.weights, run(device_under_test(), {0, 1}, 4, true).weights) << "looking changes nothing";
}

TEST_F(DeviceProgram, EachSideSeesWhatTheOtherWrote) {
  const Program program(graph_, device_under_test());
  State state(graph_, 2);
  const State::Entry& w = *state.find("w");
  Program::Hooks hooks;
  hooks.feed = [](int, std::int64_t, const Tensors& inputs) {
    write_tensor(inputs, "x", std::vector<double>(kRows * kWidth, 1));
    write_tensor(inputs, "rate", {0.5});
  };
  std::vector<double> losses;
  hooks.fetch = [&](int, std::int64_t, const Tensors& outputs) {
    losses.push_back(outputs.scalar("loss"));
    return true;
  };
  ThreadPool pool(1);
  const int both[] = {0, 1};
  state.write(1, w, std::vector<double>{1, 1, 1});
  program.run(state, both, 0, 1, hooks, pool);
  EXPECT_THAT(losses, ElementsAre(1, 4)) << "x w - 1 is -1 and 2";
  EXPECT_THAT(state.read(0, w), ElementsAre(1, 1, 1)) << "w - rate 2 (x w - 1)";
  state.write(0, w, std::vector<double>{0, 0, 0});
  program.run(state, both, 1, 2, hooks, pool);
  EXPECT_EQ(losses[2], 1) << "of what the host wrote";
  EXPECT_EQ(losses[3], 16) << "of what the device left: -1, so -4";
}

TEST_F(DeviceProgram, TellsWhatItNeeds) {
  const Program program(graph_, device_under_test());
  EXPECT_GT(program.device_bytes(1), 0u);
  EXPECT_GT(program.device_bytes(8), 4 * program.device_bytes(1));
  EXPECT_EQ(Program(graph_).device_bytes(8), 0u);
}

// Adam's steps of several parameters are one launch, as long as none reads what another writes.
TEST(DeviceJoints, StepSeveralParametersAsTheHostDoes) {
  Graph graph;
  const auto parameter = [&](const std::string& name) { return graph.parameter(name, {700}); };
  const Value rate = graph.input("rate", {DType::f32, Shape{}}, true), step = random_inputs(graph).step;
  std::vector<Value> all;
  for (int i = 0; i < 50; ++i) all.push_back(parameter(fmt::format("p{}", i)));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name = graph.node(all[i].node()).path;
    const Value first = parameter(fmt::format("first/{}", name)), second = parameter(fmt::format("second/{}", name));
    const Value gradient = i == 30 ? all[7] : all[i] * 2.0;  // one's gradient is another parameter
    const Value decay = graph.constant(i % 2 == 0 ? 0.1 : 0);
    const AdamResult result = adam_update(all[i], gradient, first, second, rate, decay, step, {.beta1 = 0.8});
    graph.update(all[i], result.parameter);
    graph.update(first, result.first_moment);
    graph.update(second, result.second_moment);
  }
  const auto trained = [&](const std::shared_ptr<Device>& device) {
    const Program program(graph, device);
    State state(graph, 2);
    for (int trial = 0; trial < 2; ++trial) {
      for (std::size_t i = 0; i < state.entries().size(); ++i) {
        std::vector<double> values;
        for (int k = 0; k < 700; ++k) values.push_back(std::abs(std::sin(k + 3.0 * static_cast<double>(i) + trial)));
        state.write(trial, state.entries()[i], values);
      }
    }
    Program::Hooks hooks;
    hooks.feed = [](int trial, std::int64_t at, const Tensors& inputs) {
      write_tensor(inputs, "rate", {0.1 + trial});
      write_tensor(inputs, kRandomStep, {static_cast<double>(at)});
    };
    ThreadPool pool(1);
    const int trials[] = {0, 1};
    program.run(state, trials, 0, 3, hooks, pool);
    std::vector<std::vector<double>> found;
    for (const State::Entry& entry : state.entries()) found.push_back(state.read(1, entry));
    return found;
  };
  const auto found = trained(device_under_test()), expected = trained(nullptr);
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (std::size_t k = 0; k < 700; ++k) ASSERT_NEAR(found[i][k], expected[i][k], 2e-5) << i << " " << k;
  }
}

// Of two parameters that change places, no kernel can write in place.
TEST(DeviceCopies, ParametersMayChangePlaces) {
  Graph graph;
  const Value left = graph.parameter("left", {2}), right = graph.parameter("right", {2});
  graph.update(left, right + 0.0);
  graph.update(right, left + 0.0);
  const Program program(graph, device_under_test());
  State state(graph, 3);
  for (int trial = 0; trial < 3; ++trial) {
    state.write(trial, *state.find("left"), std::vector<double>{1, 2});
    state.write(trial, *state.find("right"), std::vector<double>{3, 4});
  }
  ThreadPool pool(1);
  const int trials[] = {0, 2};
  program.run(state, trials, 0, 3, {}, pool);
  EXPECT_THAT(state.read(0, *state.find("left")), ElementsAre(3, 4));
  EXPECT_THAT(state.read(2, *state.find("right")), ElementsAre(1, 2));
  EXPECT_THAT(state.read(1, *state.find("left")), ElementsAre(1, 2)) << "between the others, and not to run";
}

// Of a corpus there is one copy on the device, whatever reads it.
TEST(DeviceResidents, AreCopiedOnceForAllPrograms) {
  constexpr std::int64_t kText = 5'000'000;  // 20 MB: more than is copied at once
  std::vector<std::int32_t> text(kText);
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<std::int32_t>(i * i % 1000);
  Graph graph;
  const Value corpus = graph.resident("corpus", {DType::i32, {kText}}, text.data());
  const Value begins = graph.input("begins", {DType::i32, {2}}, true);
  const TextWindows windows = text_windows(corpus, begins, graph.constant_i32({2}, {0, 1}), 3, kText);
  const auto device = device_under_test();
  const Program first(graph, {{"found", windows.tokens}}, device), second(graph, {{"found", windows.targets}}, device);
  EXPECT_EQ(first.report().resident_bytes, text.size() * 4);
  EXPECT_GT(first.device_bytes(1), text.size() * 4);
  State state(graph, 2);
  Program::Hooks hooks;
  hooks.feed = [](int trial, std::int64_t, const Tensors& inputs) {
    write_tensor(inputs, "begins", {3.0 + trial, static_cast<double>(kText - 2)});
  };
  std::vector<std::vector<double>> found;
  hooks.fetch = [&](int, std::int64_t, const Tensors& outputs) {
    found.push_back(read_tensor(outputs, "found"));
    return true;
  };
  const int trials[] = {0, 1};
  ThreadPool pool(1);
  const std::size_t before = device->info().free;
  first.run(state, trials, 0, 1, hooks, pool);
  second.run(state, trials, 0, 1, hooks, pool);
  const std::size_t taken = before - device->info().free;
  EXPECT_GE(taken, text.size() * 4);
  EXPECT_LT(taken, text.size() * 7);
  const double last = text[kText - 1], but_one = text[kText - 2];
  EXPECT_THAT(found, ElementsAre(ElementsAre(9, 16, 25, but_one, last, 0), ElementsAre(16, 25, 36, but_one, last, 0),
                                 ElementsAre(16, 25, 36, -1, -1, -1), ElementsAre(25, 36, 49, -1, -1, -1)));
  first.leave_device();
  second.leave_device();
  EXPECT_LT(before - device->info().free, text.size()) << "gone with the last program that has it";
}

TEST(DeviceOutputs, MayBeInputsConstantsAndParameters) {
  Graph graph;
  const Value x = graph.input("x", {DType::f32, {2}}, true);
  graph.output("input", x);
  graph.output("constant", graph.constant({2}, {5, 6}));
  graph.output("parameter", graph.parameter("p", {2}));
  const Program program(graph, device_under_test());
  State state(graph, 2);
  state.write(1, *state.find("p"), std::vector<double>{7, 8});
  Program::Hooks hooks;
  hooks.feed = [](int trial, std::int64_t, const Tensors& inputs) { write_tensor(inputs, "x", {1.0 + trial, 2}); };
  std::vector<double> found;
  hooks.fetch = [&](int trial, std::int64_t, const Tensors& outputs) {
    if (trial != 1) return true;
    for (const char* name : {"input", "constant", "parameter"}) {
      for (const double value : read_tensor(outputs, name)) found.push_back(value);
    }
    return true;
  };
  ThreadPool pool(1);
  const int trials[] = {0, 1};
  program.run(state, trials, 0, 1, hooks, pool);
  EXPECT_THAT(found, ElementsAre(2, 2, 5, 6, 7, 8));
}

}  // namespace
}  // namespace jari
