#include "framework/spec/binder.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "framework/spec/yaml_reader.hpp"
#include "tests/spec/recipe.hpp"

namespace jari::test {
namespace {

struct Bound {
  Recipe recipe;
  SpecNode resolved;
};

Bound bind_recipe(const std::string& text) {
  Diagnostics diagnostics;
  const SpecNode root = read_yaml_text(text, "a.yaml", diagnostics);
  const Registry registry = recipe_registry();
  Binder binder(&registry, diagnostics);
  Bound bound;
  binder.bind(root, "", bound.recipe, bound.resolved);
  EXPECT_TRUE(diagnostics.empty()) << diagnostics.render();
  return bound;
}

const char* const kSpec =
    "train: {steps: 1e3, optimizer: {type: adam, lr: 1.0e-3, groups: [{match: 'model/*'}]}, clip_norm: 1}\n"
    "evaluate: {long: {length: 40}, short: {length: 10, seen: 9}}\n"
    "model: {type: probe, position: {type: alibi, sides: left}}\nexperiment: \"2024\"\nnotes: {free: [1, {a: b}]}\n";

TEST(Binder, FillsInDefaultsInTheOrderOfTheFields) {
  EXPECT_EQ(to_yaml(bind_recipe(kSpec).resolved), R"(experiment: "2024"
seed: 1
shuffle: true
words: []
model:
  type: probe
  width: 128
  heads: 4
  position:
    type: alibi
    slope_scale: 1
    sides: left
train:
  steps: 1000
  batch: 32
  length: 20
  dropout: 0
  clip_norm: 1
  optimizer:
    type: adam
    lr: 0.001
    betas: [0.9, 0.999]
    groups:
      - match: model/*
  checkpoint:
    every: 500
    keep: 2
evaluate:
  long:
    length: 40
  short:
    length: 10
    seen: 9
notes:
  free:
    - 1
    - a: b
)");
}

TEST(Binder, BindsEveryMember) {
  const Recipe recipe = bind_recipe(kSpec).recipe;
  EXPECT_EQ(recipe.train.steps, 1000);
  EXPECT_EQ(recipe.train.clip_norm, 1.0);
  ASSERT_EQ(recipe.evaluate.size(), 2u);
  EXPECT_EQ(recipe.evaluate[0].first, "long");
  EXPECT_EQ(recipe.evaluate[1].second.seen, 9);
  const auto& adam = dynamic_cast<const Adam&>(*recipe.train.optimizer).parameters;
  EXPECT_EQ(adam.lr.example(), 1e-3);
  EXPECT_EQ(adam.lr.spec_path(), "train.optimizer.lr");
  EXPECT_EQ(adam.groups.at(0).match, "model/*");
  const auto& probe = dynamic_cast<const Probe&>(*recipe.model).parameters;
  const auto& alibi = dynamic_cast<const Alibi&>(*probe.position).parameters;
  EXPECT_EQ(alibi.sides, Sides::left);
  EXPECT_EQ(alibi.slope_scale.spec_path(), "model.position.slope_scale");  // a default has its place too
  EXPECT_EQ(recipe.model.span().location(), "a.yaml:3:15");
}

TEST(Binder, ResolvedTreeReadsBackAsItself) {
  const SpecNode resolved = bind_recipe(kSpec).resolved;
  EXPECT_EQ(to_yaml(bind_recipe(to_yaml(resolved)).resolved), to_yaml(resolved));
  Diagnostics diagnostics;
  EXPECT_TRUE(same_value(read_yaml_text(to_yaml(resolved), "b.yaml", diagnostics), resolved));
}

TEST(Binder, ResolvedValuesKnowWhereTheyComeFrom) {
  const SpecNode resolved = bind_recipe(kSpec).resolved;
  EXPECT_EQ(resolved.find_path("train.optimizer.lr")->span.location(), "a.yaml:1:49");
  EXPECT_EQ(resolved.find_path("train.batch")->span.location(), "(default)");
}

TEST(Binder, IdentityLeavesOutputSettingsOutAndGroupsHyperparametersToo) {
  const std::string plain =
      "experiment: a\nmodel: {type: probe}\ntrain: {steps: 1, optimizer: {type: adam, lr: 0.1}}\n";
  const std::string other =
      "experiment: b\nmodel: probe\ntrain: {steps: 1, optimizer: {type: adam, lr: 0.2}, checkpoint: {keep: 9}}\n";
  const SpecNode a = bind_recipe(plain).resolved, b = bind_recipe(other).resolved;
  EXPECT_EQ(identity_form(a).find("experiment"), nullptr);
  EXPECT_EQ(identity_form(a).find_path("train.checkpoint.keep"), nullptr);
  EXPECT_NE(identity_form(a).find_path("train.checkpoint.every"), nullptr);
  EXPECT_NE(to_yaml(identity_form(a), true), to_yaml(identity_form(b), true));
  EXPECT_EQ(to_yaml(group_form(a), true), to_yaml(group_form(b), true));
}

TEST(Binder, ChecksAThousandTrialsInHalfASecond) {
  Diagnostics diagnostics;
  const SpecNode root = read_yaml_text(kSpec, "a.yaml", diagnostics);
  const Registry registry = recipe_registry();
  const auto start = std::chrono::steady_clock::now();
  for (int trial = 0; trial < 1000; ++trial) {
    Diagnostics of_trial;
    Binder binder(&registry, of_trial);
    Recipe recipe;
    SpecNode resolved;
    binder.bind(root, "", recipe, resolved);
    diagnostics.add_trial(of_trial, static_cast<std::size_t>(trial), 1000);
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  RecordProperty("milliseconds", static_cast<int>(elapsed.count() * 1000));
  EXPECT_TRUE(diagnostics.empty());
#ifdef NDEBUG
  EXPECT_LT(elapsed.count(), 0.5);
#endif
}

}  // namespace
}  // namespace jari::test
