#include "framework/table/nearest.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "framework/base/error.hpp"
#include "framework/base/philox.hpp"
#include "framework/table/analogy.hpp"
#include "framework/table/similarity.hpp"
#include "tests/support/errors.hpp"
#include "tests/table/tables.hpp"

namespace jari {
namespace {

using testing::ElementsAre;

// Rows of a few distinct numbers, so that there are many ties.
WordTable random_table(std::int64_t rows, std::int64_t width, std::uint32_t levels) {
  WordList words = WordList::numbers(rows);
  RowMatrix matrix(rows, width);
  const RandomStream random{7, 1, 0};
  for (std::size_t i = 0; i < matrix.values().size(); ++i)
    matrix.values()[i] = static_cast<float>(uniform_below(random.bits(i), levels)) - static_cast<float>(levels / 2);
  return {std::move(words), std::move(matrix)};
}

// One after the other, all rows sorted.
std::vector<std::int64_t> sorted_rows(const WordTable& table, std::span<const float> query, bool by_cosine) {
  std::vector<std::pair<double, std::int64_t>> scored;
  for (std::int64_t row = 0; row < table.size(); ++row) {
    double dot = 0;
    for (std::size_t i = 0; i < query.size(); ++i)
      dot += static_cast<double>(query[i]) * static_cast<double>(table.row(row)[i]);
    scored.emplace_back(by_cosine ? -cosine(table.row(row), query) : -dot, row);
  }
  std::stable_sort(scored.begin(), scored.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::int64_t> rows;
  for (const auto& [score, row] : scored) rows.push_back(row);
  return rows;
}

TEST(NeighborSearch, FindsByDotProductWhatSortingAllRowsFindsAndTiesByTheLowerRow) {
  // Products of small integers are exact, so ties are real ones.
  for (const std::int64_t rows : {1, 31, 512, 513, 3000}) {
    const WordTable table = random_table(rows, 9, 5);
    ThreadPool pool(2);
    const NeighborSearch search(table, Closeness::dot, pool);
    std::vector<float> queries;
    for (std::int64_t row = 0; row < std::min<std::int64_t>(rows, 70); ++row)
      queries.insert(queries.end(), table.row(row).begin(), table.row(row).end());
    const auto found = search.find(queries, 40);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::vector<std::int64_t> expected = sorted_rows(table, std::span(queries).subspan(9 * i, 9), false);
      ASSERT_EQ(found[i].size(), std::min<std::size_t>(40, static_cast<std::size_t>(rows)));
      for (std::size_t k = 0; k < found[i].size(); ++k)
        ASSERT_EQ(found[i][k].row, expected[k]) << rows << " " << i << " " << k;
    }
  }
}

TEST(NeighborSearch, CosinesAreThoseOfDoublePrecision) {
  const WordTable table = random_table(2500, 50, 1000);
  ThreadPool pool(1);
  const NeighborSearch search(table, Closeness::cosine, pool);
  const auto found = search.find(table.row(17), 8).front();
  EXPECT_EQ(found[0].row, 17);
  const std::vector<std::int64_t> expected = sorted_rows(table, table.row(17), true);
  for (std::size_t k = 0; k < found.size(); ++k) {
    EXPECT_EQ(found[k].row, expected[k]);
    EXPECT_NEAR(found[k].score, cosine(table.row(17), table.row(found[k].row)), 1e-6);
  }
}

TEST(NeighborSearch, GivesTheSameBitsAtAnyNumberOfThreads) {
  const WordTable table = random_table(9000, 33, 1000);
  ThreadPool one(1), three(3);
  const std::span<const float> queries = table.rows().values().subspan(0, 33 * 700);
  const auto found = NeighborSearch(table, Closeness::cosine, one).find(queries, 5);
  EXPECT_EQ(NeighborSearch(table, Closeness::cosine, three).find(queries, 5), found);
}

TEST(NeighborSearch, LeavesOutExcludedRowsAndRowsPastTheLimit) {
  const WordTable table = test::table_of({"a", "b", "c", "d"}, {{1, 0}, {1, 0}, {0.9F, 0.1F}, {1, 0}});
  ThreadPool pool(1);
  const NeighborSearch search(table, Closeness::cosine, pool, 3);
  const std::vector<std::vector<std::int64_t>> excluded = {{0}};
  const auto found = search.find(table.row(0), 3, excluded).front();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].row, 1);
  EXPECT_EQ(found[1].row, 2);
}

TEST(NeighborSearch, ARowOfZerosIsNeitherNearNorFar) {
  const WordTable table = test::table_of({"zero", "minus"}, {{0, 0}, {-1, 0}});
  ThreadPool pool(1);
  const std::vector<float> query = {1, 0};
  const auto found = NeighborSearch(table, Closeness::cosine, pool).find(query, 2).front();
  EXPECT_THAT(found, ElementsAre(NearRow{0, 0}, NearRow{1, -1}));
}

TEST(MostSimilar, SumsUnitRowsAsGensimDoesOrRowsAsTheyAre) {
  const WordTable table = test::table_of({"long", "short", "between", "near_long"}, {{10, 0}, {0, 1}, {1, 1}, {10, 1}});
  ThreadPool pool(1);
  const NeighborSearch search(table, Closeness::cosine, pool);
  const std::vector<std::int64_t> plus = {0, 1};
  EXPECT_EQ(most_similar(search, plus, {}, 1).front().row, 2);
  EXPECT_EQ(most_similar(search, plus, {}, 1, Summands::raw).front().row, 3);
}

TEST(RowOf, AnUnknownWordIsToldWithThoseThatLookLikeIt) {
  const WordTable table = test::table_of({"king", " Queen", "서울특별시", "x"}, {{1}, {2}, {3}, {4}});
  EXPECT_EQ(row_of(table, "king"), 0);
  EXPECT_EQ(test::error_of<Error>([&] { row_of(table, "kign"); }), "no word 'kign' among 4; did you mean 'king'?");
  EXPECT_EQ(test::error_of<Error>([&] { row_of(table, "queen"); }), "no word 'queen' among 4; did you mean ' Queen'?");
  EXPECT_EQ(test::error_of<Error>([&] { row_of(table, "서울특별사"); }),
            "no word '서울특별사' among 4; did you mean '서울특별시'?");
  EXPECT_EQ(test::error_of<Error>([&] { row_of(table, "nothing"); }), "no word 'nothing' among 4");
  EXPECT_EQ(test::error_of<Error>([&] { row_of(table, ""); }), "no word '' among 4");
}

TEST(RowOf, ATableWithoutWordsGoesByRowNumbers) {
  RowMatrix rows(3, 1);
  std::fill(rows.values().begin(), rows.values().end(), 1.0F);
  const WordTable table(std::move(rows));
  EXPECT_EQ(row_of(table, "2"), 2);
  EXPECT_EQ(
      test::error_of<Error>([&] { row_of(table, "king"); }),
      "no row 'king': this table has no words, so rows go by their numbers, 0 to 2; give its words with --words FILE");
}

}  // namespace
}  // namespace jari
