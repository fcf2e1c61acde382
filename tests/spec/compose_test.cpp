#include "framework/spec/compose.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "framework/spec/interpolate.hpp"
#include "framework/spec/yaml_reader.hpp"
#include "tests/support/files.hpp"

namespace jari {
namespace {

using testing::HasSubstr;

class Compose : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    const auto path = folder_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  SpecNode load(const std::string& path, const std::vector<std::string>& overrides = {}) {
    Diagnostics diagnostics;
    SpecNode root = load_spec(path, overrides, diagnostics);
    EXPECT_TRUE(diagnostics.empty()) << diagnostics.render();
    return root;
  }
  test::TemporaryFolder folder_;
};

TEST_F(Compose, MergesWhatAFileExtends) {
  write("base/one.yaml", "a: {x: 1, y: 2}\nb: {x: 1, y: 2}\nlist: [1, 2]\n");
  write("base/two.yaml", "extends: one.yaml\na: {y: 3, z: 4}\n");
  write("extra.yaml", "c: 1\na: {z: 5}\n");
  const std::string path =
      write("spec.yaml", "extends: [base/two.yaml, extra.yaml]\na: {x: 9}\nb: !replace {q: 1}\nlist: [3]\n");
  const SpecNode root = load(path);
  EXPECT_EQ(to_flow_yaml(root), "{a: {x: 9, y: 3, z: 5}, b: {q: 1}, list: [3], c: 1}");
  EXPECT_THAT(root.find_path("a.y")->span.location(), HasSubstr("base/two.yaml:2:8"));
  EXPECT_THAT(root.find_path("a.x")->span.location(), HasSubstr("spec.yaml:2:8"));
}

TEST_F(Compose, SetsOverrides) {
  const std::string path = write("spec.yaml", "train: {steps: 3, groups: [{lr: 1}, {lr: 2}]}\nposition: none\n");
  const SpecNode root = load(path, {"train.steps=1e3", "train.groups.1.lr=0.5", "train.optimizer.lr=2",
                                    "position.max_length=4", "words=[a, '=b']", "name=물리: 학"});
  EXPECT_EQ(
      to_flow_yaml(root),
      "{train: {steps: 1e3, groups: [{lr: 1}, {lr: 0.5}], optimizer: {lr: 2}}, position: {type: none, max_length: "
      "4}, words: [a, \"=b\"], name: {물리: 학}}");
  EXPECT_EQ(root.find_path("train.groups.1.lr")->span.location(), "override #2:1:19");
  EXPECT_EQ(root.find_path("words.1")->span.location(), "override #5:1:11");
  EXPECT_EQ(root.find_path("name.물리")->span.location(), "override #6:1:10");
}

TEST_F(Compose, OverridesReachKeysThatHaveDots) {
  const std::string path = write("spec.yaml", "sizes: {a: {b: 1}, a.b: {c: 2}, a.b.c: [3], d: 4}\n");
  const SpecNode root = load(path, {"sizes.a.b.c=5", "sizes.a.b.d=6", "sizes.a.x=7", "sizes.d.e=8", "sizes.f.g=9"});
  EXPECT_EQ(to_flow_yaml(root),
            "{sizes: {a: {b: 1, x: 7}, a.b: {c: 2, d: 6}, a.b.c: 5, d: {type: 4, e: 8}, f: {g: 9}}}");
  EXPECT_EQ(root.find_path("sizes.a.b.d")->span.location(), "override #2:1:13");
  EXPECT_EQ(root.find_path("sizes.a.b.c")->text, "5");
  EXPECT_EQ(root.find_path("sizes.a.b.c.d"), nullptr);
}

TEST_F(Compose, KeysOfASweepsBlocksArePathsInOverridesToo) {
  const std::string path = write("spec.yaml",
                                 "sweep: {grid: {model.width: [1, 2]}, zip: [{a.b: [1]}], list: [{a.b: 1}],\n"
                                 "  when: [{if: {a.b: 1}}], random: {space: {a.b: {from: 1}}}}\n");
  const SpecNode root = load(
      path, {"sweep.grid.model.width.1=3", "sweep.grid.model.heads=[4]", "sweep.zip.0.c.d=[5]", "sweep.list.0.c.d=6",
             "sweep.when.0.if.c.d=7", "sweep.when.0.grid.c.d=[8]", "sweep.random.space.a.b.from=9",
             "sweep.random.space.c.d={from: 10}", "sweep.baseline.a.b=11", "sweep.retries=12"});
  EXPECT_EQ(to_flow_yaml(root),
            "{sweep: {grid: {model.width: [1, 3], model.heads: [4]}, zip: [{a.b: [1], c.d: [5]}], list: [{a.b: 1, "
            "c.d: 6}], when: [{if: {a.b: 1, c.d: 7}, grid: {c.d: [8]}}], random: {space: {a.b: {from: 9}, c.d: "
            "{from: 10}}}, baseline: {a.b: 11}, retries: 12}}");
  EXPECT_EQ(root.find_path("sweep.grid.model.heads.0")->span.location(), "override #2:1:25");
}

TEST_F(Compose, RefusesOverridesThatNestTooDeep) {
  const std::string path = write("spec.yaml", "a: 1\n");
  std::string deepest = "b";
  for (int i = 1; i < 64; ++i) deepest += ".b";
  load(path, {deepest + "=1"});
  for (const std::string& too_deep : {deepest + ".b=1", deepest + "=[1]"}) {
    Diagnostics diagnostics;
    load_spec(path, {too_deep}, diagnostics);
    EXPECT_THAT(diagnostics.render(), HasSubstr("nested more than 64 deep"));
  }
}

TEST_F(Compose, InterpolatesAfterOverrides) {
  setenv("JARI_TEST_NUMBER", "17", 1);
  setenv("JARI_TEST_WORD", "yes", 1);
  const std::string path = write("spec.yaml",
                                 "length: ${train.length}\nhome: \"${env:JARI_TEST_WORD}/runs/${length}\"\n"
                                 "number: \"${env:JARI_TEST_NUMBER}\"\nword: ${env:JARI_TEST_WORD}\n"
                                 "copy: ${train}\ntrain: {length: 20, batch: \"${number}\"}\n");
  const SpecNode root = load(path, {"train.length=40"});
  EXPECT_EQ(to_flow_yaml(root),
            "{length: 40, home: yes/runs/40, number: 17, word: \"yes\", copy: {length: 40, batch: 17}, train: {length: "
            "40, batch: 17}}");
  EXPECT_EQ(root.find("length")->span.origin, "from ${train.length} in override #1:1:14");
}

TEST(Interpolate, BoundsReferencesThatExplode) {
  Diagnostics diagnostics;
  std::string text = "a0: [x, x, x, x, x, x, x, x, x, x]\nt0: xxxxxxxxxx\n";
  for (int i = 1; i < 9; ++i) {
    const std::string number = std::to_string(i), below = std::to_string(i - 1);
    text += "a" + number + ": [";
    std::string part;
    for (int k = 0; k < 10; ++k) {
      text += (k ? ", '${a" : "'${a") + below + "}'";
      part += "${t" + below + "}";
    }
    text += "]\nt" + number + ": " + part + "\n";
  }
  SpecNode root = read_yaml_text(text, "a.yaml", diagnostics);
  interpolate(root, diagnostics);
  EXPECT_THAT(diagnostics.render(), HasSubstr("more than 100000 values with references replaced"));
  EXPECT_THAT(diagnostics.render(), HasSubstr("longer than 65536 bytes"));
}

TEST(Interpolate, BoundsLongChains) {
  Diagnostics diagnostics;
  std::string text;
  for (int i = 0; i < 5000; ++i) text += fmt::format("k{}: ${{k{}}}\n", i, i + 1);
  SpecNode root = read_yaml_text(text + "k5000: 1\n", "a.yaml", diagnostics);
  interpolate(root, diagnostics);
  EXPECT_THAT(diagnostics.render(), HasSubstr("more than 32 references on end"));
}

}  // namespace
}  // namespace jari
