#include "framework/table/analogy.hpp"

#include <gtest/gtest.h>

#include "framework/base/error.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"
#include "tests/table/tables.hpp"

namespace jari {
namespace {

class Questions : public testing::Test {
 protected:
  std::vector<AnalogySection> answer(const std::string& text, const AnalogyOptions& options = {}) {
    test::write_bytes(path_, text);
    return answer_analogies(table_, path_, options, pool_);
  }
  std::string error(const std::string& text) {
    const std::string message = test::error_of<StoreError>([&] { answer(text); });
    return message.substr(std::min(message.size(), path_.string().size()));
  }
  test::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "questions.txt";
  ThreadPool pool_{1};
  WordTable table_ = test::table_of({"man", "woman", "king", "queen", "King", "자리"},
                                    {{1, 0, 0}, {1, 1, 0}, {1, 0, 1}, {1, 1, 1}, {0.4F, 0.7F, 0.7F}, {-1, 0, 0}});
};

TEST_F(Questions, AreCountedBySection) {
  const auto sections = answer(
      ": family\nman woman king queen\nking queen man woman\nman woman king bishop\n\n: wrong ones\r\nman king woman "
      "자리\r\n");
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_EQ(sections[0].name, "family");
  EXPECT_EQ(sections[0].correct, 2);
  EXPECT_EQ(sections[0].asked, 2);
  EXPECT_EQ(sections[0].unknown, 1);
  EXPECT_EQ(sections[1].name, "wrong ones");
  EXPECT_EQ(sections[1].correct, 0);
  EXPECT_EQ(sections[1].asked, 1);
  const AnalogySection total = total_of(sections);
  EXPECT_EQ(total.correct, 2);
  EXPECT_EQ(total.asked, 3);
  EXPECT_EQ(total.unknown, 1);
}

TEST_F(Questions, IgnoringTheCaseAnInputInAnotherCaseIsNoAnswer) {
  // "King" is nearer to woman - man + king than "queen", but it is an input.
  EXPECT_EQ(answer(": s\nMAN Woman KING Queen\n")[0].correct, 1);
  const AnalogyOptions exact{.most_frequent = 300000, .ignores_case = false};
  EXPECT_EQ(answer(": s\nman woman king queen\n", exact)[0].correct, 0);
  EXPECT_EQ(answer(": s\nMAN Woman KING Queen\n", exact)[0].unknown, 1);
  EXPECT_EQ(answer(": s\nman woman king queen\n", {.most_frequent = 3})[0].unknown, 1);
}

TEST_F(Questions, ThatAreNoneAreErrorsWithTheirLine) {
  EXPECT_EQ(error("man woman king queen\n"), ": line 1: a question before the first section (\": name\")");
  EXPECT_EQ(error(": s\nman woman king\n"),
            ": line 2: 3 words; a question has four, \"a b c d\": a is to b as c is to d");
  EXPECT_EQ(error("\n"), ": holds no questions");
}

}  // namespace
}  // namespace jari
