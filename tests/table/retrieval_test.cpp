#include "framework/table/retrieval.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "framework/base/error.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"
#include "tests/table/tables.hpp"

namespace jari {
namespace {

using testing::ElementsAre;

TEST(Retrieval, WordsAreSplitAtSpaceAndLosePunctuationAtBothEnds) {
  EXPECT_THAT(words_of_text("  \"Well-known\" — 자리(place),\tend... don't "),
              ElementsAre("Well-known", "자리(place", "end", "don't"));
  EXPECT_THAT(words_of_text(" ... "), ElementsAre());
}

TEST(Retrieval, TheMeanIsOfTheKnownWordsAsOftenAsTheyOccur) {
  const WordTable table = test::table_of({"sea", "Love"}, {{1, 0}, {0, 1}});
  const MeanVector mean = mean_vector(table, {"Sea", "sea", "Love", "love"});
  EXPECT_THAT(mean.rows, ElementsAre(0, 0, 1));
  EXPECT_THAT(mean.unknown, ElementsAre("love"));
  EXPECT_DOUBLE_EQ(mean.values[0], 2.0 / 3);
  EXPECT_DOUBLE_EQ(mean.values[1], 1.0 / 3);
}

TEST(Retrieval, RanksAllDocumentsBestFirst) {
  const WordTable table = test::table_of({"sea", "ship", "love"}, {{1, 0}, {0.9F, 0.2F}, {0, 1}});
  const std::vector<MeanVector> documents = {mean_vector(table, {"love"}), mean_vector(table, {"unknown"}),
                                             mean_vector(table, {"ship"}), mean_vector(table, {"ship"})};
  const std::vector<Hit> hits = retrieve(mean_vector(table, {"sea"}), documents);
  ASSERT_EQ(hits.size(), 4u);
  EXPECT_EQ(hits[0].document, 2u);
  EXPECT_EQ(hits[1].document, 3u);  // equal, so in their order
  EXPECT_NEAR(hits[0].cosine, 0.9 / std::sqrt(0.85), 1e-6);
  EXPECT_EQ(hits[2].document, 0u);
  EXPECT_EQ(hits[3].cosine, 0);
}

TEST(Retrieval, DocumentsAreALineEach) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "books.tsv";
  test::write_bytes(path, "The Ship\tA ship at sea.\n\nno title here\n");
  const std::vector<Document> documents = read_documents(path);
  ASSERT_EQ(documents.size(), 2u);
  EXPECT_EQ(documents[0].title, "The Ship");
  EXPECT_EQ(documents[0].text, "A ship at sea.");
  EXPECT_EQ(documents[1].title, "no title here");
  EXPECT_EQ(documents[1].text, "no title here");
  test::write_bytes(path, "\n");
  EXPECT_EQ(test::error_of<StoreError>([&] { read_documents(path); }),
            path.string() + ": holds no documents (a line each: title, a tab, the text)");
}

}  // namespace
}  // namespace jari
