// jari generate, from its command line.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <sstream>

#include "tests/support/small_language_model.hpp"
#include "tests/tools/run_jari.hpp"

namespace jari {
namespace {

using test::kRhyme;
using test::LanguageModelFolder;
using test::Output;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

// One run for all tests: it knows its text by heart.
class GenerateCommand : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<LanguageModelFolder>();
    run_ = folder_->train_by_heart("{type: learned, max_length: 44}");
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static Output jari(std::vector<std::string> arguments, const std::filesystem::path& run = run_) {
    arguments.insert(arguments.begin(), {"generate", run.string()});
    return test::run_jari(arguments);
  }
  static std::string error(const std::vector<std::string>& arguments) {
    const Output output = jari(arguments);
    EXPECT_EQ(output.status, 2);
    EXPECT_EQ(output.out, "");
    return output.err;
  }

  static inline std::unique_ptr<LanguageModelFolder> folder_;
  static inline std::filesystem::path run_;
};

TEST_F(GenerateCommand, WritesTheTextAndHowFastItCame) {
  const Output output = jari({"--prompt", "the quick", "--greedy", "--tokens", "35"});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_EQ(output.out, std::string(kRhyme) + "\n");
  EXPECT_THAT(output.err, MatchesRegex("35 tokens in [0-9.]+ s: [0-9.]+ tokens/s, with kept keys and values\n"));
  const Output anew = jari({"--prompt", "the quick", "--greedy", "--tokens", "35", "--no-cache"}, run_ / "run.h5");
  EXPECT_EQ(anew.out, output.out);
  EXPECT_THAT(anew.err, HasSubstr("tokens/s, each sequence anew\n"));
}

TEST_F(GenerateCommand, ReadsThePromptFromStdin) {
  std::istringstream text("the quick");
  std::streambuf* before = std::cin.rdbuf(text.rdbuf());
  const Output output = jari({"--prompt", "-", "--greedy", "--tokens", "6"});
  std::cin.rdbuf(before);
  EXPECT_EQ(output.out, "the quick brown\n") << output.err;
}

TEST_F(GenerateCommand, SeparatesSamples) {
  const std::vector<std::string> options = {"--prompt",      "the", "--tokens", "9",  "--samples", "3",   "--seed", "5",
                                            "--temperature", "4.5", "--top-k",  "20", "--top-p",   "0.99"};
  const Output output = jari(options);
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.err, MatchesRegex("27 tokens in .*\n"));
  std::vector<std::string> samples = {""};
  std::istringstream lines(output.out);
  for (std::string line; std::getline(lines, line);) {
    if (line == "---") {
      samples.emplace_back();
    } else {
      samples.back() += line + "\n";
    }
  }
  ASSERT_EQ(samples.size(), 3u) << output.out;
  for (const std::string& sample : samples) EXPECT_EQ(sample.size(), 13u) << sample;
  EXPECT_NE(samples[0], samples[1]);
  EXPECT_NE(samples[1], samples[2]);
  EXPECT_EQ(jari(options).out, output.out);
}

TEST_F(GenerateCommand, GoesOnBeyondTheContextWhereItSlides) {
  EXPECT_THAT(error({"--prompt", "the", "--greedy", "--tokens", "42"}),
              HasSubstr("the prompt's 3 tokens and 42 new ones are 45, more than the context of 44 (train.length)"));
  const Output output = jari({"--prompt", "the", "--greedy", "--tokens", "85", "--slide"});
  EXPECT_EQ(output.out, std::string(kRhyme) + kRhyme + "\n") << output.err;
  EXPECT_THAT(
      error({"--prompt", "the", "--tokens", "42", "--context", "50"}),
      HasSubstr("error: position/learned: length 45 is over max_length 44; raise max_length or evaluate at most "
                "44 tokens"));
}

TEST_F(GenerateCommand, RefusesWhatItCanNotDo) {
  EXPECT_EQ(error({}),
            "error: the prompt is empty, and the model goes on from at least one token: give --prompt a text such as "
            "the beginning of a sentence\n");
  EXPECT_THAT(error({"--prompt", "THE"}),
              HasSubstr("error: the text has pieces that are not in the run's vocabulary: 'T', 'H', 'E';"));
  EXPECT_EQ(error({"--prompt", "the", "--temperature", "0"}),
            "error: --temperature 0: expected a number above 0; --greedy takes the likeliest token, which is what "
            "temperatures tend to at 0\n");
  EXPECT_EQ(error({"--prompt", "the", "--greedy", "--temperature", "1"}),
            "error: --temperature has no effect beside --greedy, which takes the likeliest token: leave one of the two "
            "out\n");
  EXPECT_THAT(error({"--prompt", "the", "--tokens", "many"}), HasSubstr("--tokens"));
  const Output nowhere = jari({"--prompt", "the"}, "/no/such");
  EXPECT_EQ(nowhere.status, 2);
  EXPECT_EQ(nowhere.err,
            "error: /no/such: there is no such run file; give a finished trial's folder or its run file\n");
  EXPECT_THAT(jari({"--prompt", "the"}, folder_->corpus()).err, HasSubstr("text.txt"));
}

}  // namespace
}  // namespace jari
