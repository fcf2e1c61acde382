// task/language_model: which stretches of a corpus are trained and tested on.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "framework/base/error.hpp"
#include "tests/plugins/components.hpp"
#include "tests/plugins/token_batch.hpp"
#include "tests/support/errors.hpp"

namespace jari {
namespace {

using test::bound;
using test::Bound;
using test::error_of;
using test::TokenBatch;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A text in which token i is i, so that a token tells its place.
class Numbers {
 public:
  explicit Numbers(std::int32_t count) {
    std::vector<std::string> pieces;
    for (std::int32_t i = 0; i < count; ++i) {
      ids_.push_back(i);
      pieces.push_back("p" + std::to_string(i));
    }
    corpus_ = std::make_shared<TokenizedCorpus>(TokenizedCorpus{
        ids_, starts_, Vocabulary(pieces, std::vector<std::int64_t>(pieces.size(), 1), std::nullopt, 0), nullptr});
  }
  const TokenizedCorpus* get() const { return corpus_.get(); }
  const std::shared_ptr<const TokenizedCorpus>& shared() const { return corpus_; }

 private:
  std::vector<std::int32_t> ids_;
  std::vector<std::int64_t> starts_ = {0};
  std::shared_ptr<const TokenizedCorpus> corpus_;
};

class LanguageModelTask : public testing::Test {
 protected:
  static TokenBatch batch(const Bound<Task>& task, const Numbers& text, std::int64_t count, std::int64_t length,
                          std::uint32_t step, bool training, std::int64_t stride = 0, std::uint64_t seed = 1) {
    const BatchStream stream{.draws = 11, .training = training, .stride = stride};
    return test::batch_of(
        *task,
        {.stream = stream, .sequences = count, .length = length, .seed = seed, .step = step, .corpus = text.shared()});
  }
};

TEST_F(LanguageModelTask, RandomSequencesLieAnywhereInTheTrainedPart) {
  const Numbers text(1000);
  const auto task = bound<Task>("{type: language_model, held_out: 0.2}");
  std::set<std::int32_t> begins;
  for (std::uint32_t step = 0; step < 60; ++step) {
    const TokenBatch drawn = batch(task, text, 8, 50, step, true);
    for (std::size_t i = 0; i < drawn.tokens.size(); ++i) {
      EXPECT_EQ(drawn.targets[i], drawn.tokens[i] + 1);
      EXPECT_LT(drawn.targets[i], 800);
      if (i % 50 == 0) {
        begins.insert(drawn.tokens[i]);
      } else {
        EXPECT_EQ(drawn.tokens[i], drawn.tokens[i - 1] + 1);
      }
    }
  }
  EXPECT_GT(begins.size(), 300u);
  EXPECT_LT(*begins.begin(), 20);
  EXPECT_GT(*begins.rbegin(), 730);
}

TEST_F(LanguageModelTask, APassReadsEveryPieceOfTextOnceAndTheNextCutsItElsewhere) {
  const Numbers text(1000);
  const auto task = bound<Task>("{type: language_model, held_out: 0, windows: pass}");
  constexpr std::int64_t kLength = 30, kBatch = 8;
  EXPECT_TRUE(task->has_epochs());
  EXPECT_EQ(task->steps_of_epoch(*text.get(), kBatch, kLength), 4);  // of 32 sequences
  std::vector<std::set<std::int32_t>> begins(2);
  for (std::uint32_t step = 0; step < 8; ++step) {
    const TokenBatch drawn = batch(task, text, kBatch, kLength, step, true);
    for (std::size_t i = 0; i < drawn.tokens.size(); i += kLength) begins[step / 4].insert(drawn.tokens[i]);
    for (std::size_t i = 0; i < drawn.tokens.size(); ++i) EXPECT_EQ(drawn.targets[i], drawn.tokens[i] + 1);
  }
  for (const std::set<std::int32_t>& pass : begins) {
    ASSERT_EQ(pass.size(), 32u);
    for (auto at = std::next(pass.begin()); at != pass.end(); ++at) EXPECT_EQ(*at - *std::prev(at), kLength);
  }
  EXPECT_NE(*begins[0].begin(), *begins[1].begin());
}

TEST_F(LanguageModelTask, PackedEvaluationAsksForEveryHeldOutTokenButTheFirst) {
  const Numbers text(1000);
  const auto task = bound<Task>("{type: language_model, held_out: 0.1}");
  const SequenceTask& sequences = *task->as_sequence_task();
  const std::int64_t count = sequences.sequences({text.get(), 30, 30, false});
  EXPECT_EQ(count, 4);
  std::vector<std::int32_t> asked;
  for (std::uint32_t step = 0; step < 3; ++step) {  // batches of 2: the third lies behind the end
    const TokenBatch drawn = batch(task, text, 2, 30, step, false, 30);
    for (const std::int32_t target : drawn.targets)
      if (target >= 0) asked.push_back(target);
    if (step == 2) {
      EXPECT_THAT(drawn.targets, Each(-1));
    }
  }
  ASSERT_EQ(asked.size(), 99u);
  for (std::size_t i = 0; i < asked.size(); ++i) EXPECT_EQ(asked[i], 901 + static_cast<std::int32_t>(i));
}

TEST_F(LanguageModelTask, SlidingEvaluationAsksForEachTokenOnceBehindEnoughOthers) {
  const Numbers text(1000);
  const auto task = bound<Task>("{type: language_model, held_out: 0.1}");
  const SequenceTask& sequences = *task->as_sequence_task();
  const std::int64_t count = sequences.sequences({text.get(), 30, 10, false});
  EXPECT_EQ(count, 8);  // 30 tokens, then 10 each
  std::vector<std::int32_t> asked;
  const TokenBatch drawn = batch(task, text, count, 30, 0, false, 10);
  for (std::size_t i = 0; i < drawn.targets.size(); ++i) {
    if (drawn.targets[i] < 0) continue;
    asked.push_back(drawn.targets[i]);
    EXPECT_EQ(drawn.tokens[i] + 1, drawn.targets[i]);
    if (i >= 30) {
      EXPECT_GE(i % 30, 20u);
    }
  }
  ASSERT_EQ(asked.size(), 99u);
  for (std::size_t i = 0; i < asked.size(); ++i) EXPECT_EQ(asked[i], 901 + static_cast<std::int32_t>(i));
}

TEST_F(LanguageModelTask, SaysWhenTheCorpusIsTooShort) {
  const Numbers text(100);
  const auto task = bound<Task>("{type: language_model, held_out: 0.1}");
  const auto error = [&](std::int64_t length, bool training) {
    return error_of<StoreError>([&] { task->as_sequence_task()->sequences({text.get(), length, length, training}); });
  };
  EXPECT_EQ(error(90, true),
            "the trained part of the corpus has 90 tokens: sequences of 90 need more; take a longer corpus, a shorter "
            "length, or another task.held_out");
  EXPECT_THAT(error(10, false), HasSubstr("the held-out part of the corpus has 10 tokens: sequences of 10 need more"));
  EXPECT_EQ(error(9, false), "no error");
}

TEST_F(LanguageModelTask, TakesModelsThatDoNotSeeWhatComes) {
  const auto task = bound<Task>("language_model");
  EXPECT_EQ(task->refuse_model(*bound<Model>("{type: gpt, position: sin}")), "");
  EXPECT_EQ(task->refuse_model(*bound<Model>("{type: probe, causal: true, position: sin}")), "");
  EXPECT_EQ(task->refuse_model(*bound<Model>("{type: encoder, position: sin}")),
            "its tokens see what comes after them, which is what they should predict");
  EXPECT_NE(task->refuse_model(*bound<Model>("skip_gram")), "");
}

}  // namespace
}  // namespace jari
