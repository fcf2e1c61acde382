// Looking into a program while it runs: observers, the guard, the search for what is not finite, the profile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "framework/ops/ops.hpp"
#include "framework/program/nonfinite.hpp"
#include "framework/program/profile.hpp"
#include "framework/program/program.hpp"

namespace jari {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kTrials[] = {0};

// y = log(x); p <- p + y; loss = sum(y)
struct Fixture {
  Fixture() {
    const Value x = graph.input("x", {DType::f64, {3}}, false);
    const Value p = graph.parameter("p", {3});
    {
      const Graph::Scope scope(graph, "model");
      y = log(x);
      const Value sum = sum_all(y);
      graph.output("loss", sum);
    }
    const Graph::Scope scope(graph, "optimizer");
    graph.update(p, p + y);
    program = std::make_unique<Program>(graph);
    state = std::make_unique<State>(graph, 1);
  }
  void run(const std::vector<double>& x, std::int64_t steps, Observer* observer,
           const std::function<bool(int, std::int64_t, const Tensors&)>& guard = {}) {
    ThreadPool pool(1);
    Program::Hooks hooks;
    hooks.feed = [&](int, std::int64_t, const Tensors& inputs) { write_tensor(inputs, "x", x); };
    hooks.guard = guard;
    program->run(*state, kTrials, 0, steps, hooks, pool, observer);
  }
  std::vector<double> parameter() const { return state->read(0, *state->find("p")); }

  Graph graph{DType::f64};
  Value y;
  std::unique_ptr<Program> program;
  std::unique_ptr<State> state;
};

TEST(Guard, SeesTheOutputsAndKeepsTheStateWhenItRefuses) {
  Fixture fixture;
  std::vector<double> losses;
  fixture.run({1, std::exp(1.0), 1}, 5, nullptr, [&](int, std::int64_t step, const Tensors& outputs) {
    losses.push_back(outputs.scalar("loss"));
    return step < 2;
  });
  EXPECT_EQ(losses, (std::vector<double>{1, 1, 1})) << "the third refusal ends the steps";
  EXPECT_THAT(fixture.parameter(), ElementsAre(0, 2, 0)) << "two steps were taken";
}

TEST(Observer, SeesEachCallWithPathOpAndLeaves) {
  struct Recorder final : Observer {
    void after(int trial, std::int64_t step, const NodeView& node) override {
      std::string line = std::to_string(trial) + "/" + std::to_string(step) + " " + node.path + " " + node.op;
      for (const TensorView& input : node.inputs) line += *input.leaf != '\0' ? std::string(" ") + input.leaf : "";
      lines.push_back(line);
    }
    std::vector<std::string> lines;
  } recorder;
  Fixture fixture;
  fixture.run({1, 2, 3}, 1, &recorder);
  EXPECT_THAT(recorder.lines, ElementsAre("0/0 model log x", "0/0 model reduce_sum", "0/0 optimizer add p"));
  EXPECT_THAT(fixture.program->observable_paths(), ElementsAre("model", "optimizer", "p", "x"));
}

TEST(NonFinite, NamesTheNodeThatMadeIt) {
  Fixture fixture;
  NonFiniteSearch search;
  fixture.run({1, -1, 4}, 1, &search);
  ASSERT_TRUE(search.found(0));
  EXPECT_EQ(search.found(0)->to_string(),
            "log at model: 1 of 3 elements of f64[3] is nan, the first at [1]; its operands are finite, the largest 4");
  EXPECT_FALSE(search.found(1));
}

TEST(NonFinite, NamesAnInputThatWasBadBefore) {
  Fixture fixture;
  NonFiniteSearch search;
  fixture.run({1, std::numeric_limits<double>::infinity(), 4}, 1, &search);
  ASSERT_TRUE(search.found(0));
  EXPECT_EQ(search.found(0)->to_string(),
            "x: 1 of 3 elements of f64[3] is infinite, the first at [1], before this step used it");
}

TEST(NonFinite, AMaskOfMinusInfinityIsNoMistake) {
  Graph graph(DType::f64);
  const Value x = graph.input("x", {DType::f64, {3}}, false);
  const double infinity = std::numeric_limits<double>::infinity();
  graph.output("weights", softmax(x + graph.constant(Shape{3}, {0, -infinity, 0})));
  const Program program(graph);
  State state(graph, 1);
  ThreadPool pool(1);
  NonFiniteSearch search;
  Program::Hooks hooks;
  hooks.feed = [&](int, std::int64_t, const Tensors& inputs) { write_tensor(inputs, "x", {1, 2, 3}); };
  program.run(state, kTrials, 0, 1, hooks, pool, &search);
  EXPECT_FALSE(search.found(0)) << search.found(0)->to_string();
}

TEST(Profile, CountsCallsAndBytesByNodeAndKind) {
  Fixture fixture;
  Profile profile;
  fixture.run({1, 2, 3}, 4, &profile);
  EXPECT_EQ(profile.steps(), 4);
  double bytes = 0;
  for (const Profile::Row& row : profile.by_node()) {
    EXPECT_EQ(row.calls, 4) << row.path;
    EXPECT_GT(row.seconds, 0) << row.path;
    bytes += row.bytes;
  }
  EXPECT_EQ(bytes, 4 * 8 * ((3 + 3) + (3 + 1) + (3 + 3 + 3)));
  EXPECT_EQ(profile.by_kind().size(), 3u);
  EXPECT_THAT(profile.to_string(), HasSubstr("4 steps, "));
  Profile sum;
  sum.add(profile);
  sum.add(profile);
  EXPECT_EQ(sum.steps(), 8);
  EXPECT_EQ(sum.by_node().front().calls, 8);
}

}  // namespace
}  // namespace jari
