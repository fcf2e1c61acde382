// Which cells are compared with which, by which seeds, and what is said of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "framework/base/error.hpp"
#include "framework/report/compare.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/run_folder.hpp"

namespace jari {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CompareBaseline : public testing::Test {
 protected:
  // Two schemes, seeds from 1 on; `rel` is better by about 0.1.
  void add_pairs(int seeds) {
    for (int seed = 1; seed <= seeds; ++seed) {
      runs_.add("{type: learned, max_length: 40}", seed, 0.5 + 0.01 * seed);
      runs_.add("{type: rel, max_length: 40}", seed, 0.6 + 0.01 * seed + 0.002 * (seed % 3));
    }
  }
  Comparison compare(const std::vector<std::string>& baseline = {}, const std::vector<std::string>& by = {}) const {
    CompareOptions options;
    options.by = by;
    options.metrics = {"evaluate/longer/accuracy"};
    options.baseline = baseline;
    return compare_runs({runs_.path()}, options);
  }
  static const std::optional<BaselineComparison>& against(const Comparison& comparison, std::size_t cell) {
    return comparison.cells.at(cell).metrics.at(0)->against_baseline;
  }
  std::string error_of(const std::vector<std::string>& baseline) const {
    return test::error_of<SpecError>([&] { compare(baseline); });
  }

  test::RunFolder runs_;
};

TEST_F(CompareBaseline, PairsBySeed) {
  add_pairs(7);
  const Comparison comparison = compare({"model.position=learned"});
  EXPECT_EQ(comparison.baseline, "model.position=learned");
  EXPECT_TRUE(comparison.cells[0].is_baseline);
  EXPECT_FALSE(against(comparison, 0));
  ASSERT_TRUE(against(comparison, 1));
  EXPECT_EQ(against(comparison, 1)->seeds, 7);
  EXPECT_NEAR(against(comparison, 1)->difference.mean, 0.102, 1e-12);
  EXPECT_EQ(against(comparison, 1)->test->p, std::ldexp(1.0, -6));
  EXPECT_EQ(against(comparison, 1)->p_holm, std::ldexp(1.0, -6));
  EXPECT_EQ(against(comparison, 1)->verdict, Verdict::differs);
  EXPECT_THAT(comparison.notes, IsEmpty());
}

TEST_F(CompareBaseline, TakesTheSweepsOwnAndAComponentByItsType) {
  add_pairs(2);
  EXPECT_EQ(compare().baseline, "");
  for (const char* yaml : {"{model.position.type: learned}", "{model.position: learned}",
                           "{model: {position: learned}}", "{model.position: {type: learned, max_length: 40}}"}) {
    runs_.set_baseline(yaml);
    EXPECT_TRUE(compare().cells[0].is_baseline) << yaml;
    EXPECT_FALSE(compare().cells[1].is_baseline) << yaml;
  }
  EXPECT_EQ(compare().baseline, "model.position={type: learned, max_length: 40}");
  EXPECT_EQ(compare({"model.position=rel"}).baseline, "model.position=rel");
}

TEST_F(CompareBaseline, ComparesAtEqualOtherKeys) {
  for (const char* width : {"64", "128"})
    for (const char* type : {"{type: learned}", "{type: sin}"})
      for (const int seed : {1, 2})
        runs_.add(type, seed, (type == std::string("{type: sin}") ? 0.5 : 0.25) * (width == std::string("64") ? 1 : 2),
                  std::string("train: {width: ") + width + "}\n");
  const Comparison comparison = compare({"model.position=learned"});
  EXPECT_TRUE(comparison.cells[0].is_baseline && comparison.cells[2].is_baseline);
  EXPECT_EQ(against(comparison, 1)->difference.mean, 0.25);
  EXPECT_EQ(against(comparison, 3)->difference.mean, 0.5);
}

// As in configs/extrapolate_all.yaml, where a scheme comes with settings of its own.
TEST_F(CompareBaseline, ComparesWithTheOnlyOneWhereNoneHasTheSameOtherKeys) {
  for (const int seed : {1, 2}) {
    runs_.add("{type: learned}", seed, 0.25);
    runs_.add("{type: rel}", seed, 0.5);
    runs_.add("{type: rel}", seed, 0.75, "train: {lr: 0.1}\n");
  }
  const Comparison comparison = compare({"model.position=learned"});
  EXPECT_EQ(against(comparison, 1)->difference.mean, 0.25);
  EXPECT_EQ(against(comparison, 2)->difference.mean, 0.5);
}

TEST_F(CompareBaseline, UsesTheSeedsThatBothHaveAndSaysSo) {
  add_pairs(3);
  runs_.add("{type: rel, max_length: 40}", 9, 0.1);
  const Comparison comparison = compare({"model.position=learned"});
  EXPECT_EQ(comparison.cells[1].metrics[0]->statistics.count, 4);
  EXPECT_EQ(against(comparison, 1)->seeds, 3);
  EXPECT_THAT(comparison.notes, ElementsAre("1 of 1 cells and the baseline have not all seeds in common; only those "
                                            "that both have are compared"));
}

TEST_F(CompareBaseline, SaysNothingWithoutACommonSeed) {
  runs_.add("{type: learned}", 1, 0.5);
  runs_.add("{type: rel}", 2, 0.5);
  EXPECT_FALSE(against(compare({"model.position=learned"}), 1));
}

TEST_F(CompareBaseline, AveragesPooledPairsOfASeed) {
  for (const int seed : {1, 2, 3})
    for (const char* rate : {"0.1", "0.2"}) {
      const std::string keys = std::string("train: {lr: ") + rate + "}\n";
      const double scale = rate == std::string("0.1") ? 1 : 3;
      runs_.add("{type: learned}", seed, 0.1, keys);
      runs_.add("{type: rel}", seed, 0.1 + 0.05 * scale, keys);
    }
  const Comparison comparison = compare({"model.position=learned"}, {"model.position"});
  EXPECT_EQ(comparison.cells[1].metrics[0]->statistics.count, 6);
  EXPECT_EQ(against(comparison, 1)->seeds, 3);
  EXPECT_NEAR(against(comparison, 1)->difference.mean, 0.1, 1e-12);
}

TEST_F(CompareBaseline, CorrectsForTheNumberOfComparisonsOfAMetric) {
  add_pairs(6);
  for (int seed = 1; seed <= 6; ++seed) runs_.add("{type: sin}", seed, 0.5 + 0.01 * seed + 0.001 * (seed % 2));
  const Comparison comparison = compare({"model.position=learned"});
  EXPECT_EQ(against(comparison, 1)->test->p, 1 / 32.0);
  EXPECT_EQ(against(comparison, 1)->p_holm, 2 / 32.0);
  EXPECT_EQ(against(comparison, 1)->verdict, Verdict::too_few_seeds);
  EXPECT_EQ(against(comparison, 1)->fewest_seeds, 7);
  EXPECT_EQ(against(comparison, 1)->needed_seeds, 7);
  EXPECT_EQ(against(comparison, 2)->p_holm, 8 / 32.0);
}

TEST_F(CompareBaseline, TellsNoDifferenceFromTooFewSeeds) {
  for (int seed = 1; seed <= 8; ++seed) {
    runs_.add("{type: learned}", seed, 0.5);
    runs_.add("{type: rel}", seed, 0.5 + (seed % 2 == 0 ? 0.11 : -0.1));
  }
  EXPECT_EQ(against(compare({"model.position=learned"}), 1)->verdict, Verdict::no_difference_seen);
  EXPECT_THAT(comparison_text(compare({"model.position=learned"})),
              HasSubstr("no difference seen (n=3958 might show it)"));
}

TEST_F(CompareBaseline, LeavesOutDifferencesThatAreNotANumber) {
  add_pairs(6);
  runs_.add("{type: sin}", 1, std::nan(""));
  const Comparison comparison = compare({"model.position=learned"});
  EXPECT_FALSE(against(comparison, 2)->test);
  EXPECT_EQ(against(comparison, 1)->p_holm, against(comparison, 1)->test->p);
  EXPECT_THAT(comparison_text(comparison), HasSubstr("not a number\n"));
}

TEST_F(CompareBaseline, TestsSuccessesToo) {
  for (int seed = 1; seed <= 8; ++seed) {
    runs_.add("{type: learned}", seed, seed == 1 ? 0.95 : 0.2);
    runs_.add("{type: rel}", seed, 0.9 + 0.001 * seed);
  }
  CompareOptions options;
  options.baseline = {"model.position=learned"};
  options.success = {"evaluate/longer/accuracy>=0.9"};
  options.metrics = {"evaluate/longer/accuracy"};
  const Comparison comparison = compare_runs({runs_.path()}, options);
  ASSERT_EQ(comparison.metrics.size(), 1u);
  EXPECT_EQ(comparison.metrics[0].name(), "evaluate/longer/accuracy>=0.9");
  EXPECT_THAT(comparison.cells[0].metrics[0]->values, ElementsAre(1, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(comparison.cells[0].metrics[0]->statistics.interval->low, wilson_interval(1, 8).low);
  EXPECT_EQ(against(comparison, 1)->test->p, 2 / 128.0);
}

TEST_F(CompareBaseline, MustNameACellOfTheTable) {
  add_pairs(1);
  EXPECT_EQ(error_of({"model.position=lerned"}),
            "--baseline: no run has the model.position 'lerned'; did you mean 'learned'? values: learned, rel");
  EXPECT_EQ(error_of({"model.positon=learned"}),
            "--baseline: no run has the key 'model.positon'; did you mean 'model.position'? keys that vary: "
            "model.position");
  EXPECT_EQ(error_of({"learned"}),
            "--baseline: expected KEY=VALUE, found 'learned'; for example model.position=learned");
  EXPECT_EQ(test::error_of<SpecError>([&] { compare({"model.position=learned"}, {"model.width"}); }),
            "--baseline: no cell of the table has model.position=learned and nothing else; columns: model.width; leave "
            "--by out, or name the baseline's key there too");
}

TEST_F(CompareBaseline, MustTellItsCellsApart) {
  for (const int seed : {1, 2}) {
    runs_.add("{type: rel, unseen: clamp}", seed, 0.5);
    runs_.add("{type: rel, unseen: zero}", seed, 0.5);
    runs_.add("{type: sin}", seed, 0.5);
  }
  EXPECT_EQ(error_of({"model.position=rel"}),
            "--baseline: model.position=rel does not tell these apart: model.position=rel (unseen=clamp); "
            "model.position=rel (unseen=zero); name more of their keys");
  EXPECT_EQ(compare({"model.position=rel (unseen=zero)"}).cells[1].is_baseline, true);
  EXPECT_EQ(compare({"model.position={type: rel, unseen: zero}"}).cells[1].is_baseline, true);
  EXPECT_EQ(compare({"model.position=rel", "model.position.unseen=zero"}).cells[1].is_baseline, true);
  runs_.set_baseline("{model.position: rel}");
  EXPECT_THAT(compare().notes, ElementsAre("the sweep's baseline, model.position=rel, is several cells of the table: "
                                           "nothing is tested; --baseline KEY=VALUE names another"));
}

TEST_F(CompareBaseline, OfASweepMayBeMissing) {
  add_pairs(1);
  runs_.set_baseline("{model.position: none}");
  EXPECT_THAT(compare().notes, ElementsAre("the sweep's baseline, model.position=none, is no cell of the table: "
                                           "nothing is tested; --baseline KEY=VALUE names another"));
  EXPECT_EQ(compare().baseline, "");
}

TEST_F(CompareBaseline, ComparesNumbersAsNumbers) {
  for (const char* rate : {"0.001", "0.01"})
    runs_.add("{type: sin}", 1, 0.5, std::string("train: {lr: ") + rate + "}\n");
  EXPECT_TRUE(compare({"train.lr=1e-3"}).cells[0].is_baseline);
}

TEST_F(CompareBaseline, MayBeAnExperiment) {
  for (const int seed : {1, 2}) {
    runs_.add("{type: sin}", seed, 0.25);
    RunRecord other = runs_.record("{type: sin}", seed, 0.75);
    other.attributes.experiment = "other";
    other.spec_resolved.replace(0, 23, "experiment: other");
    runs_.write(other);
  }
  const Comparison comparison = compare({"experiment=extrapolate"});
  EXPECT_THAT(comparison.columns, ElementsAre("experiment"));
  EXPECT_EQ(against(comparison, 1)->difference.mean, 0.5);
}

}  // namespace
}  // namespace jari
