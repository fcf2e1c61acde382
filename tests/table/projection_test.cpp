#include "framework/table/projection.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "framework/table/similarity.hpp"
#include "tests/table/tables.hpp"

namespace jari {
namespace {

std::vector<std::int64_t> all_rows(const WordTable& table) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(table.size()));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  return rows;
}

// numpy.linalg.eigh(numpy.cov(x.T)), largest first, signs so that the largest number of each vector is positive
// (NumPy 2.4.6).
TEST(PrincipalComponents, AreThoseOfNumpy) {
  const WordTable table =
      test::table_of({"a", "b", "c", "d", "e"}, {{1, 2, 0.5F}, {2, 1, 0.25F}, {4, 3, -1}, {3, 5, 0}, {0, 0.5F, 2}});
  ThreadPool pool(2);
  const Projection found = principal_components(table, all_rows(table), 2, pool);
  const std::vector<double> variance = {5.731518584685991, 1.0706760565825129},
                            ratio = {0.8336754304997804, 0.1557346991392746},
                            directions = {0.619129902429958,   0.6768798658906082, -0.3981354180037024,
                                          -0.5085636774077972, 0.7319175602070314, 0.45349715664163126},
                            coordinates = {-0.8819141748976957, 0.3570129828419326, -0.8401302838574204,
                                           -0.9968425439333037, 2.2495585252883403, -1.1170062241368746,
                                           2.586052936635896,   1.3088897303266167, -3.1135670031691194,
                                           0.4479460549016296};
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(found.variance[i], variance[i], 1e-12);
    EXPECT_NEAR(found.variance_ratio[i], ratio[i], 1e-12);
  }
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(found.directions[i], directions[i], 1e-12) << i;
  for (std::size_t i = 0; i < 10; ++i) EXPECT_NEAR(found.coordinates[i], coordinates[i], 1e-12) << i;
}

TEST(PrincipalComponents, HaveTheSameBitsAtAnyNumberOfThreads) {
  RowMatrix rows(5000, 12);
  for (std::size_t i = 0; i < rows.values().size(); ++i) rows.values()[i] = std::sin(static_cast<float>(i * i % 7919));
  const WordTable table(std::move(rows));
  ThreadPool one(1), three(3);
  const Projection first = principal_components(table, all_rows(table), 12, one);
  const Projection second = principal_components(table, all_rows(table), 12, three);
  EXPECT_EQ(first.coordinates, second.coordinates);
  EXPECT_NEAR(std::accumulate(first.variance_ratio.begin(), first.variance_ratio.end(), 0.0), 1, 1e-12);
}

TEST(PrincipalComponents, AxesAreCorrelatedWithWhatIsKnownOfTheWords) {
  // The first axis is the count's logarithm, the second tells beginnings of words.
  const WordTable table =
      test::table_of({"▁a", "b", "c", "▁d"}, {{0, 1}, {10, -1}, {20, -1}, {30, 1}}, {1, 10, 100, 1000});
  ThreadPool pool(1);
  const std::vector<std::int64_t> rows = all_rows(table);
  const Projection projection = principal_components(table, rows, 2, pool);
  const std::vector<AxisMeaning> meaning = meaning_of_axes(table, rows, projection);
  EXPECT_NEAR(meaning[0].log_frequency, 1, 1e-3);
  EXPECT_GT(std::abs(meaning[1].word_start), 0.99);
  const WordTable unknown = test::table_of({"a", "b"}, {{0, 1}, {1, 0}});
  const std::vector<std::int64_t> both = {0, 1};
  const auto nothing = meaning_of_axes(unknown, both, principal_components(unknown, both, 1, pool));
  EXPECT_TRUE(std::isnan(nothing[0].log_frequency));
  EXPECT_TRUE(std::isnan(nothing[0].word_start));
}

}  // namespace
}  // namespace jari
