#include "framework/table/similarity.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "framework/base/error.hpp"
#include "framework/base/philox.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"
#include "tests/table/tables.hpp"

namespace jari {
namespace {

using testing::ElementsAre;

TEST(Similarity, CosineAndDistanceOfSmallVectors) {
  const std::vector<float> a = {3, 4}, b = {4, 3}, zero = {0, 0};
  EXPECT_DOUBLE_EQ(cosine(a, b), 24.0 / 25);
  EXPECT_DOUBLE_EQ(distance(a, b), std::sqrt(2));
  EXPECT_EQ(cosine(a, zero), 0);
}

// scipy.stats.spearmanr([1, 2, 2, 4, 5], [5, 6, 7, 8, 7]) and pearsonr of the same (SciPy 1.17.1).
TEST(Similarity, SpearmanGivesEqualValuesTheirMeanRank) {
  const std::vector<double> left = {1, 2, 2, 4, 5}, right = {5, 6, 7, 8, 7};
  EXPECT_NEAR(spearman(left, right), 0.7631578947368421, 1e-15);
  EXPECT_NEAR(pearson(left, right), 0.7472647177570731, 1e-15);
  const std::vector<double> constant = {1, 1, 1, 1, 1};
  EXPECT_TRUE(std::isnan(spearman(left, constant)));
}

TEST(Similarity, CosineOfDirectionsKnowsNothingOfWhereTheyBegin) {
  const WordTable table = test::table_of({"a", "b", "c", "d"}, {{1, 1}, {2, 1}, {5, 5}, {5, 6}});
  EXPECT_DOUBLE_EQ(cosine_of_directions(table, {0, 1}, {2, 3}), 0);
  EXPECT_DOUBLE_EQ(cosine_of_directions(table, {0, 1}, {1, 0}), -1);
  EXPECT_EQ(cosine_of_directions(table, {0, 0}, {2, 3}), 0);
}

TEST(Similarity, ChanceCosinesAreRepeatableAndNarrowInManyDimensions) {
  constexpr std::int64_t kWidth = 400;
  RowMatrix rows(5000, kWidth);
  const RandomStream random{3, 1, 0};
  for (std::size_t i = 0; i < rows.values().size(); ++i) rows.values()[i] = uniform_f32(random.bits(i)) - 0.5F;
  const WordTable table(std::move(rows));
  const ChanceCosines chance = chance_cosines(table, table.size(), 2000, 1);
  EXPECT_EQ(chance.mean, chance_cosines(table, table.size(), 2000, 1).mean);
  EXPECT_NE(chance.mean, chance_cosines(table, table.size(), 2000, 2).mean);
  // Of random directions the standard deviation is 1 / sqrt(width), and 1.96 of them hold 95 of 100.
  EXPECT_NEAR(chance.mean, 0, 0.02);
  EXPECT_NEAR(chance.sd, 1 / std::sqrt(static_cast<double>(kWidth)), 0.02);
  EXPECT_NEAR(chance.high, 1.96 * chance.sd, 0.03);
}

class Pairs : public testing::Test {
 protected:
  PairsAgreement judge(const std::string& text, const PairsOptions& options = {}) const {
    test::write_bytes(path_, text);
    return judge_pairs(table_, path_, options);
  }
  std::string error(const std::string& text) const {
    const std::string message = test::error_of<StoreError>([&] { judge(text); });
    return message.substr(std::min(message.size(), path_.string().size()));
  }
  test::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "pairs.csv";
  WordTable table_ = test::table_of({"cat", "Dog", "car", "DOG"}, {{1, 0}, {0.9F, 0.1F}, {0, 1}, {-1, 0}});
};

TEST_F(Pairs, AreReadWithHeaderCommasOrTabsAndAnyCase) {
  const PairsAgreement agreement =
      judge("Word 1,Word 2,Human (mean)\r\nCat,DOG,9\r\ncat,car,1\r\ndog,car,2\r\ncat,bird,3\r\n");
  EXPECT_EQ(agreement.pairs, 3);
  EXPECT_DOUBLE_EQ(agreement.spearman, 1);
  EXPECT_THAT(agreement.unknown, ElementsAre("cat, bird"));
  EXPECT_EQ(judge("# words\ncat\tdog\t9\ncat\tcar\t1\n").pairs, 2);
}

TEST_F(Pairs, CanMindTheCaseAndKnowOnlyTheFirstWords) {
  const std::string text = "cat,DOG,9\ncat,car,1\nCat,car,2\n";
  const PairsAgreement exact = judge(text, {.most_frequent = 300000, .ignores_case = false});
  EXPECT_EQ(exact.pairs, 2);
  EXPECT_DOUBLE_EQ(exact.spearman, -1);  // the cat is far from the DOG of the fourth row
  EXPECT_EQ(judge(text, {.most_frequent = 2}).pairs, 1);
}

TEST_F(Pairs, ThatAreNoneAreErrorsWithTheirLine) {
  EXPECT_EQ(error("cat,dog,9\ncat,car\n"),
            ": line 2: 'cat,car' is no pair of words and a number, separated by commas or tabs");
  EXPECT_EQ(error("a header\n"), ": holds no pairs of words");
}

}  // namespace
}  // namespace jari
