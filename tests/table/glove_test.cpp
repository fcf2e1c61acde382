// The real GloVe table: numbers equal to gensim's (tests/golden/glove_gensim.json). Needs JARI_DATA.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "framework/table/analogy.hpp"
#include "framework/table/similarity.hpp"
#include "framework/table/table_file.hpp"
#include "tests/support/files.hpp"
#include "tests/table/tables.hpp"

namespace jari {
namespace {

using nlohmann::json;

class Glove : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const char* data = std::getenv("JARI_DATA");
    if (data == nullptr) return;
    folder_ = data;
    table_ = std::make_unique<WordTable>(read_table(folder_ / "glove-6b-100d-20k.bin.gz").table);
    golden_ = json::parse(test::read_text(test::source_path("tests/golden/glove_gensim.json")));
  }
  static void TearDownTestSuite() { table_.reset(); }
  void SetUp() override {
    if (!table_) GTEST_SKIP() << "JARI_DATA is not set: no GloVe vectors";
  }
  static void expect_equal(const std::vector<NearRow>& found, const json& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(table_->word(found[i].row), expected[i][0].get<std::string>());
      EXPECT_NEAR(found[i].score, expected[i][1].get<double>(), 1e-5);
    }
  }
  static std::vector<std::int64_t> rows(const json& words) {
    return rows_of(*table_, words.get<std::vector<std::string>>());
  }

  static inline std::filesystem::path folder_;
  static inline std::unique_ptr<WordTable> table_;
  static inline json golden_;
  ThreadPool pool_{2};
};

TEST_F(Glove, NeighborsAreGensims) {
  EXPECT_EQ(table_->size(), 20167);
  const NeighborSearch search(*table_, Closeness::cosine, pool_);
  for (const json& each : golden_["most_similar"]) {
    const std::int64_t row = row_of(*table_, each["word"].get<std::string>());
    expect_equal(most_similar(search, std::span(&row, 1), {}, 10), each["found"]);
  }
}

TEST_F(Glove, KingMinusManPlusWomanIsQueenWithGensimsCosines) {
  const NeighborSearch search(*table_, Closeness::cosine, pool_);
  for (const json& each : golden_["most_similar_of_several"])
    expect_equal(most_similar(search, rows(each["positive"]), rows(each["negative"]), 5), each["found"]);
  const auto queen = most_similar(search, rows({"king", "woman"}), rows({"man"}), 1);
  EXPECT_EQ(table_->word(queen.front().row), "queen");
}

TEST_F(Glove, SimilaritiesAreGensims) {
  for (const json& each : golden_["similarity"]) {
    EXPECT_NEAR(cosine(table_->row(row_of(*table_, each[0].get<std::string>())),
                       table_->row(row_of(*table_, each[1].get<std::string>()))),
                each[2].get<double>(), 1e-6);
  }
}

TEST_F(Glove, AgreesWithWordSim353AsInGensim) {
  const PairsAgreement agreement = judge_pairs(*table_, folder_ / "wordsim353.csv");
  EXPECT_NEAR(agreement.spearman, golden_["wordsim353"]["spearman"].get<double>(), 1e-5);
  EXPECT_NEAR(agreement.pearson, golden_["wordsim353"]["pearson"].get<double>(), 1e-5);
  const double all = static_cast<double>(agreement.pairs) + static_cast<double>(agreement.unknown.size());
  EXPECT_EQ(all, 353);
  EXPECT_NEAR(100 * static_cast<double>(agreement.unknown.size()) / all,
              golden_["wordsim353"]["oov_percent"].get<double>(), 1e-9);
}

TEST_F(Glove, AnswersTheAnalogiesOfEachSectionAsOftenAsGensim) {
  const std::pair<const char*, AnalogyOptions> cases[] = {
      {"questions_words", {}}, {"questions_words_5000_cased", {.most_frequent = 5000, .ignores_case = false}}};
  for (const auto& [name, options] : cases) {
    std::vector<AnalogySection> sections = answer_analogies(*table_, folder_ / "questions-words.txt", options, pool_);
    const json& expected = golden_[name]["sections"];
    sections.push_back(total_of(sections));
    ASSERT_EQ(sections.size(), expected.size());
    for (std::size_t i = 0; i < sections.size(); ++i) {
      const bool is_total = i + 1 == sections.size();  // the two programs name it differently
      EXPECT_TRUE(is_total || sections[i].name == expected[i][0].get<std::string>()) << sections[i].name;
      EXPECT_EQ(sections[i].correct, expected[i][1].get<std::int64_t>()) << sections[i].name;
      EXPECT_EQ(sections[i].asked, expected[i][2].get<std::int64_t>()) << sections[i].name;
    }
  }
}

}  // namespace
}  // namespace jari
