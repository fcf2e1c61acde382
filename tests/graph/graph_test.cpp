#include "framework/graph/graph.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/base/error.hpp"
#include "framework/graph/copy.hpp"

namespace jari {
namespace {

using testing::ElementsAre;

struct JoinAttributes {
  std::int64_t times = 1;
  bool loud = false;
  template <class F>
  void fields(F& f) {
    f("times", times);
    f("loud", loud);
  }
};

// Two vectors of equal type to one of both lengths, and its length as a scalar.
const Op kJoin = {.name = "join", .infer = [](const std::vector<TensorType>& inputs, const Attributes&) {
                    if (inputs[0].dtype != inputs[1].dtype)
                      throw ShapeError(fmt::format("join: {} and {}", inputs[0].to_string(), inputs[1].to_string()));
                    return std::vector<TensorType>{{inputs[0].dtype, {inputs[0].shape.size() + inputs[1].shape.size()}},
                                                   {DType::i32, {}}};
                  }};

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "no error";
}

SourceSpan line_of_spec(int line) {
  SourceSpan span;
  span.file = std::make_shared<SourceFile>(SourceFile{"configs/a.yaml", {}});
  span.line = line;
  span.column = 3;
  return span;
}

TEST(Graph, PrintsOneLineANode) {
  Graph graph;
  const Value tokens = graph.input("tokens", {DType::i32, {2, 3}}, false);
  const Value weights = graph.parameter("model/weights", {4});
  {
    const Graph::Scope scope(graph, "model");
    const Value half = graph.constant({2}, {0.5, 1});
    const std::vector<Value> joined = graph.apply(kJoin, {weights, half}, JoinAttributes{3, true});
    graph.output("length", joined[1]);
  }
  graph.apply(kJoin, {tokens, tokens});
  graph.update(weights, weights);
  EXPECT_EQ(graph.to_string(),
            "%0 = input : i32[2, 3]  tokens\n"
            "%1 = parameter : f32[4] per trial  model/weights\n"
            "%2 = constant {[0.5, 1]} : f32[2]  model\n"
            "%3 = join(%1, %2) {times=3, loud=true} : f32[6], i32[] per trial  model\n"
            "%4 = join(%0, %0) : i32[12], i32[]\n"
            "output length = %3.1\n"
            "update model/weights = %1\n");
}

TEST(Graph, PrintsLongConstantsByTheirHash) {
  Graph graph;
  graph.constant({20}, std::vector<double>(20, 1.0));
  graph.constant({20}, std::vector<double>(20, 2.0));
  const std::string text = graph.to_string();
  EXPECT_THAT(text, testing::HasSubstr("constant {[20 values, hash "));
  EXPECT_NE(text.substr(5, 60), text.substr(text.find("%1") + 5, 60));
}

TEST(Graph, GivesNodesThePathAndSpanOfTheirScopes) {
  Graph graph;
  const Value x = graph.parameter("x", {2});
  const auto made_here = [&] { return graph.node(graph.apply(kJoin, {x, x})[0].node()); };
  EXPECT_EQ(made_here().path, "");
  {
    const Graph::Scope model(graph, "model", line_of_spec(4));
    EXPECT_EQ(graph.path("weights"), "model/weights");
    {
      const Graph::Scope block(graph, "block0");
      EXPECT_EQ(made_here().path, "model/block0");
      EXPECT_EQ(made_here().span.line, 4);
    }
    const Graph::Scope attention(graph, "attention", line_of_spec(9));
    EXPECT_EQ(made_here().path, "model/attention");
    EXPECT_EQ(made_here().span.line, 9);
  }
  EXPECT_EQ(made_here().path, "");
  EXPECT_FALSE(made_here().span);
}

TEST(Graph, AddsThePlaceToAShapeError) {
  Graph graph;
  const Value a = graph.parameter("a", {2}), b = graph.input("b", {DType::i32, {2}}, false);
  EXPECT_EQ(message_of([&] { graph.apply(kJoin, {a, b}); }), "join: f32[2] and i32[2]");
  const Graph::Scope scope(graph, "model/attention", line_of_spec(9));
  EXPECT_EQ(message_of([&] {
              graph.apply(kJoin, {a, b});
            }),
            "join: f32[2] and i32[2]\n  at model/attention\n  from configs/a.yaml:9:3");
}

TEST(Graph, MakesAValuePerTrialIfAnOperandIs) {
  Graph graph;
  const Value shared = graph.input("shared", {DType::f32, {2}}, false);
  const Value per_trial = graph.input("per_trial", {DType::f32, {2}}, true);
  EXPECT_FALSE(graph.apply(kJoin, {shared, shared})[0].per_trial());
  EXPECT_TRUE(graph.apply(kJoin, {shared, per_trial})[0].per_trial());
  EXPECT_TRUE(graph.parameter("weights", {2}).per_trial());
}

TEST(Graph, GivesTheSameLeafForTheSameName) {
  Graph graph;
  const Value tokens = graph.input("tokens", {DType::i32, {2}}, false);
  const Value weights = graph.parameter("tokens", {3});  // inputs and parameters have names of their own
  EXPECT_EQ(graph.input("tokens", {DType::i32, {2}}, false), tokens);
  EXPECT_EQ(graph.parameter("tokens", {3}), weights);
  EXPECT_EQ(graph.find_input("tokens"), tokens);
  EXPECT_EQ(graph.find_parameter("tokens"), weights);
  EXPECT_FALSE(graph.find_input("others"));
  EXPECT_THAT(graph.parameters(), ElementsAre(weights));
}

TEST(Graph, RefusesALeafOfTheSameNameAndAnotherType) {
  Graph graph;
  graph.input("tokens", {DType::i32, {2}}, false);
  EXPECT_EQ(message_of([&] {
              graph.input("tokens", {DType::i32, {2}}, true);
            }),
            "input 'tokens' is already there as i32[2] shared, and is asked for as i32[2] per trial: use another name");
  EXPECT_EQ(message_of([&] { graph.parameter("weights", {-1}); }), "parameter 'weights': negative size in shape [-1]");
}

TEST(Graph, KnowsResidentsByTheirElements) {
  Graph graph;
  const std::int32_t text[] = {3, 1, 4}, other[] = {1, 5, 9};
  const Value value = graph.resident("corpus", {DType::i32, {3}}, text);
  EXPECT_EQ(graph.resident("corpus", {DType::i32, {3}}, text), value);
  EXPECT_FALSE(value.per_trial());
  EXPECT_EQ(message_of([&] {
              graph.resident("corpus", {DType::i32, {3}}, other);
            }),
            "resident 'corpus' is already there with other elements: use another name");
  EXPECT_EQ(graph.to_string(), "%0 = resident : i32[3]  corpus\n");
}

TEST(Graph, CopiesWhatNeedsNoParameter) {
  Graph graph, other;
  const std::int32_t text[] = {3, 1, 4};
  const Value corpus = graph.resident("corpus", {DType::i32, {3}}, text);
  const Value begins = graph.input("begins", {DType::i32, {2}}, true);
  const Value once = graph.apply(kJoin, {corpus, begins})[0];
  const Value twice = graph.apply(kJoin, {once, once}, JoinAttributes{2})[1];
  EXPECT_TRUE(needs_no_parameter(twice));
  EXPECT_FALSE(needs_no_parameter(graph.apply(kJoin, {graph.parameter("x", {2}), graph.constant({1}, {1})})[0]));
  const Value copy = copied_into(other, twice);
  EXPECT_EQ(other.to_string(),
            "%0 = resident : i32[3]  corpus\n%1 = input : i32[2] per trial  begins\n"
            "%2 = join(%0, %1) : i32[5], i32[] per trial\n%3 = join(%2, %2) {times=2, loud=false} : i32[10], i32[] per "
            "trial\n");
  EXPECT_EQ(copy, Value(&other, 3, 1));
}

TEST(Graph, RefusesAConstantWithTooFewValues) {
  Graph graph;
  EXPECT_EQ(message_of([&] {
              graph.constant({2, 3}, {1, 2});
            }),
            "constant: f32[2, 3] has 6 elements, 2 values were given");
}

TEST(Graph, UpdatesAParameterOnce) {
  Graph graph;
  const Value weights = graph.parameter("weights", {3}), other = graph.parameter("other", {4});
  const Value input = graph.input("input", {DType::f32, {3}}, false);
  EXPECT_EQ(message_of([&] { graph.update(input, weights); }), "update: only a parameter is kept from step to step");
  EXPECT_EQ(message_of([&] { graph.update(weights, other); }),
            "update: parameter 'weights' is f32[3], its new value is f32[4]");
  graph.update(weights, input);
  EXPECT_EQ(message_of([&] { graph.update(weights, input); }), "update: parameter 'weights' is updated twice");
  EXPECT_THAT(graph.updates(), ElementsAre(std::pair(weights, input)));
}

TEST(Graph, RefusesTwoOutputsOfOneName) {
  Graph graph;
  const Value weights = graph.parameter("weights", {3});
  graph.output("loss", weights);
  EXPECT_EQ(message_of([&] { graph.output("loss", weights); }), "output 'loss' is already there: use another name");
}

TEST(Graph, TakesItsRealTypeForParametersAndConstants) {
  Graph graph(DType::f64);
  EXPECT_EQ(graph.parameter("weights", {3}).dtype(), DType::f64);
  EXPECT_EQ(graph.constant(1).dtype(), DType::f64);
  EXPECT_EQ(graph.constant_i32({1}, {7}).dtype(), DType::i32);
  EXPECT_EQ(graph.constant_boolean({1}, {true}).type(), (TensorType{DType::boolean, {1}}));
}

TEST(Shape, BroadcastsFromTheLastAxis) {
  const auto broadcast_to_text = [](const Shape& left, const Shape& right) {
    Shape result;
    return broadcast(left, right, result) ? result.to_string() : "no";
  };
  EXPECT_EQ(broadcast_to_text({2, 1, 3}, {5, 1}), "[2, 5, 3]");
  EXPECT_EQ(broadcast_to_text({}, {4}), "[4]");
  EXPECT_EQ(broadcast_to_text({1}, {0}), "[0]");
  EXPECT_EQ(broadcast_to_text({2, 3}, {2}), "no");
}

TEST(Shape, CountsAxesFromBothEnds) {
  const Shape shape = {2, 3, 5};
  EXPECT_EQ(shape.size(), 30);
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(shape[-1], 5);
  EXPECT_EQ(shape.first(2), (Shape{2, 3}));
  EXPECT_EQ(shape.last(1), Shape{5});
  EXPECT_EQ(Shape{}.size(), 1);
}

TEST(Attributes, HaveATextThatReadsBackAsTheSameNumbers) {
  EXPECT_EQ(attributes_detail::text(0.1), "0.1");
  EXPECT_EQ(attributes_detail::text(1e-8), "1e-08");
  EXPECT_EQ(attributes_detail::text(std::vector<int>{0, 2, 1}), "[0, 2, 1]");
  EXPECT_EQ(attributes_detail::text(Shape{2, 3}), "[2, 3]");
  EXPECT_EQ(Attributes(JoinAttributes{2, false}).to_string(), "times=2, loud=false");
  EXPECT_EQ(Attributes().to_string(), "");
}

}  // namespace
}  // namespace jari
