#include "framework/component/build_context.hpp"

#include <gtest/gtest.h>

#include "framework/base/error.hpp"
#include "framework/component/parameter_groups.hpp"
#include "framework/component/position.hpp"
#include "tests/support/errors.hpp"

namespace jari {
namespace {

class BuildContextTest : public testing::Test {
 protected:
  Graph graph_;
  Declarations declarations_;
  BuildContext context_{graph_, declarations_, /*vocabulary=*/5, /*length=*/4, /*trained_length=*/4};
};

TEST_F(BuildContextTest, AParameterIsNamedByTheScopesAroundIt) {
  const Graph::Scope model(graph_, "model");
  const Graph::Scope position(graph_, "position");
  const Value table = context_.parameter("table", {4, 2}, zeros(), {"position", "width"});
  EXPECT_EQ(graph_.find_parameter("model/position/table"), table);
  const ParameterDeclaration* declaration = declarations_.find("model/position/table");
  ASSERT_NE(declaration, nullptr);
  EXPECT_EQ(declaration->axes, (std::vector<std::string>{"position", "width"}));
}

TEST_F(BuildContextTest, TheSameParameterTwiceIsOneParameter) {
  const Value first = context_.parameter("table", {4}, zeros(), {"position"});
  EXPECT_EQ(context_.parameter("table", {4}, zeros(), {"position"}), first);
  EXPECT_EQ(declarations_.all().size(), 1u);
}

TEST_F(BuildContextTest, AHyperparameterOfTheSpecIsAnInputThatMayDifferByTrial) {
  PerTrial<double> rate = 0.5;
  rate.bind(0.25, "train.optimizer.lr");
  const Value value = context_.per_trial(rate);
  EXPECT_EQ(value, graph_.find_input("spec:train.optimizer.lr"));
  EXPECT_TRUE(value.per_trial());
  EXPECT_EQ(value.shape(), Shape{});
}

TEST_F(BuildContextTest, AHyperparameterWithoutAPlaceInTheSpecIsAConstant) {
  const Value value = context_.per_trial(PerTrial<double>(0.5));
  EXPECT_EQ(graph_.node(value.node()).kind, NodeKind::constant);
  EXPECT_EQ(graph_.node(value.node()).constant, std::vector<double>{0.5});
}

TEST_F(BuildContextTest, AFailureNamesPathAndSpecLine) {
  const auto file = std::make_shared<SourceFile>(SourceFile{"a.yaml", {"position: rope"}});
  const Graph::Scope scope(graph_, "model", {file, 1, 11, 4, ""});
  EXPECT_EQ(test::error_of<ShapeError>([&] { context_.fail("too long"); }), "too long\n  at model\n  from a.yaml:1:11");
}

TEST(ParameterGroups, PatternsMatchWholePaths) {
  EXPECT_TRUE(matches("model/position/*", "model/position/table"));
  EXPECT_TRUE(matches("*", "anything/at/all"));
  EXPECT_TRUE(matches("model/*/bias", "model/block0/attention/bias"));
  EXPECT_TRUE(matches("model/ke?", "model/key"));
  EXPECT_TRUE(matches("*a*b*", "xxaxxbxx"));
  EXPECT_FALSE(matches("model/key", "model/keys"));
  EXPECT_FALSE(matches("key", "model/key"));
  EXPECT_FALSE(matches("model/ke?", "model/ke"));
  EXPECT_FALSE(matches("*a*b", "bbaa"));
  EXPECT_FALSE(matches("", "a"));
}

TEST(ParameterGroups, APatternThatMatchesNothingIsAnErrorThatListsTheParameters) {
  const auto errors = check_patterns({"model/*", "modle/*"}, {"model/key", "model/query"});
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].field, "groups.1.match");
  EXPECT_EQ(errors[0].message, "no parameter matches 'modle/*'");
  EXPECT_EQ(errors[0].hint, "parameters: model/key, model/query");
}

TEST(ParameterGroups, APatternThatComesTooLateIsAnError) {
  const auto errors = check_patterns({"*", "model/key"}, {"model/key", "model/query"});
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].message, "'model/key' has no effect: earlier groups match all of its parameters");
}

}  // namespace
}  // namespace jari
