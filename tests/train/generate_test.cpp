// Going on with texts: with kept keys and values as without, by a model that knows its text by heart, and what is
// refused.

#include "framework/train/generate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "framework/base/hash.hpp"
#include "framework/base/philox.hpp"
#include "framework/program/program.hpp"
#include "framework/train/record.hpp"
#include "framework/train/token_predictor.hpp"
#include "framework/train/trial.hpp"
#include "framework/train/trial_programs.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/small_language_model.hpp"

namespace jari {
namespace {

using test::error_of;
using test::kRhyme;
using test::LanguageModelFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Rows = std::vector<std::vector<double>>;

// What the model says after each of `forced`, which it is given whatever it says.
Rows forced_logits(TokenPredictor& predictor, std::vector<std::int32_t> forced, std::size_t begin = 1) {
  Rows rows;
  std::vector<std::int32_t> tokens(forced.begin(), forced.begin() + static_cast<std::ptrdiff_t>(begin));
  ThreadPool pool(1);
  forced.push_back(0);
  const auto choose = [&](std::span<const double> logits) {
    rows.emplace_back(logits.begin(), logits.end());
    return forced[begin - 1 + rows.size()];
  };
  predictor.extend(tokens, static_cast<std::int64_t>(forced.size() - begin), choose, pool);
  EXPECT_EQ(tokens, forced);
  return rows;
}

// The model's logits of all places of a sequence, at once, by its own graph.
Rows whole_logits(const LanguageModelRun& run, const std::vector<std::int32_t>& tokens) {
  Graph graph(real_type(run.precision()));
  Declarations declarations;
  const auto length = static_cast<std::int64_t>(tokens.size());
  const std::int64_t vocabulary = run.text().vocabulary().size();
  const BuildContext context{graph, declarations, vocabulary, length, run.trained_length()};
  Value logits;
  {
    const Graph::Scope scope(graph, "model");
    logits = run.model().logits(context, graph.input("tokens", {DType::i32, {1, length}}, true));
  }
  State state(graph, 1);
  for (const ParameterDeclaration& declaration : declarations.all())
    EXPECT_TRUE(restore_weights(run.record(), declaration.path, state, 0)) << declaration.path;
  NamedValues inputs = {{"tokens", std::vector<double>(tokens.begin(), tokens.end())}};
  const ResolvedValues values(run.resolved());
  for (const std::string& path : per_trial_paths_of(graph))
    inputs.push_back({per_trial_input(path), {values.number(path)}});
  const std::vector<double> all = evaluate(graph, logits, inputs, &state);
  Rows rows;
  for (std::int64_t i = 0; i < length; ++i)
    rows.emplace_back(all.begin() + i * vocabulary, all.begin() + (i + 1) * vocabulary);
  return rows;
}

void expect_near(const Rows& found, const Rows& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].size(), expected[i].size());
    for (std::size_t k = 0; k < found[i].size(); ++k)
      ASSERT_NEAR(found[i][k], expected[i][k], tolerance) << "place " << i << ", token " << k;
  }
}

std::vector<GeneratedText> generated(const LanguageModelRun& run, const std::string& prompt,
                                     const GenerateOptions& options, int threads = 1) {
  ThreadPool pool(threads);
  std::vector<GeneratedText> texts;
  generate(run, prompt, options, pool, [&](const GeneratedText& text) { texts.push_back(text); });
  return texts;
}

std::vector<std::string> texts(const LanguageModelRun& run, const std::string& prompt, const GenerateOptions& options,
                               int threads = 1) {
  std::vector<std::string> result;
  for (const GeneratedText& text : generated(run, prompt, options, threads)) result.push_back(text.text);
  return result;
}

// -- kept keys and values

struct Scheme {
  const char* name;
  const char* block;
};

class EveryScheme : public ::testing::TestWithParam<Scheme> {
 protected:
  const LanguageModelFolder folder_;
};

const std::vector<std::int32_t> kTokens20 = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4};

TEST_P(EveryScheme, CachedIsUncachedIsTheModelItself) {
  const LanguageModelRun run = folder_.run(folder_.spec(GetParam().block));
  const auto length = static_cast<std::int64_t>(kTokens20.size());  // longer than in training
  TokenPredictor cached(run, length, true), uncached(run, length, false);
  EXPECT_TRUE(cached.cached());
  EXPECT_FALSE(uncached.cached());
  const Rows expected = whole_logits(run, kTokens20);
  expect_near(forced_logits(cached, kTokens20), expected, 1e-12);
  expect_near(forced_logits(uncached, kTokens20), expected, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Schemes, EveryScheme,
                         testing::Values(Scheme{"learned", "{type: learned, max_length: 24}"}, Scheme{"sin", "sin"},
                                         Scheme{"rope", "rope"}, Scheme{"alibi", "alibi"}, Scheme{"t5", "t5"},
                                         Scheme{"rel", "{type: rel, max_length: 24, init: {type: normal}}"}),
                         [](const auto& scheme) { return scheme.param.name; });

class Generate : public ::testing::Test {
 protected:
  const LanguageModelFolder folder_;
};

TEST_F(Generate, CachedIsUncachedInF32) {
  const LanguageModelRun run = folder_.run(folder_.spec("rope"), {"precision=f32"});
  TokenPredictor cached(run, 20, true), uncached(run, 20, false);
  expect_near(forced_logits(cached, kTokens20), forced_logits(uncached, kTokens20), 1e-4);
}

TEST_F(Generate, KeysOfAnotherSequenceAreKeptOnlyAsFarAsItIsTheSame) {
  const LanguageModelRun run = folder_.run(folder_.spec("t5"));
  TokenPredictor predictor(run, 20, true);
  forced_logits(predictor, kTokens20);
  std::vector<std::int32_t> other = kTokens20;
  other[5] = 0;
  Rows expected = whole_logits(run, other);
  expected.erase(expected.begin(), expected.begin() + 7);
  expect_near(forced_logits(predictor, other, 8), expected, 1e-12);
  const std::vector<std::int32_t> shorter(other.begin(), other.begin() + 3);
  expect_near(forced_logits(predictor, shorter), whole_logits(run, shorter), 1e-12);
}

TEST_F(Generate, ASlidingWindowIsAskedAsASequenceOfItsOwn) {
  const LanguageModelRun run = folder_.run(folder_.spec("{type: learned, max_length: 16}"));
  TokenPredictor predictor(run, 6, false);
  const Rows found = forced_logits(predictor, kTokens20);
  ASSERT_EQ(found.size(), kTokens20.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t first = i < 6 ? 0 : i - 5;
    const std::vector<std::int32_t> window(kTokens20.begin() + static_cast<std::ptrdiff_t>(first),
                                           kTokens20.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    expect_near({found[i]}, {whole_logits(run, window).back()}, 1e-12);
  }
}

// -- texts

TEST_F(Generate, GreedyKnowsATextByHeart) {
  const LanguageModelRun run = LanguageModelFolder::open(folder_.train_by_heart("sin"));
  const std::string rhyme = std::string(kRhyme).substr(0, 43);
  GenerateOptions options{.tokens = 33, .sampling = {.greedy = true}};
  EXPECT_THAT(texts(run, rhyme.substr(0, 10), options), ElementsAre(rhyme));
  options.cached = false;
  EXPECT_THAT(texts(run, rhyme.substr(0, 10), options), ElementsAre(rhyme));
  options.tokens = 34 + 44;
  options.slide = true;
  EXPECT_THAT(texts(run, rhyme.substr(0, 10), options), ElementsAre(std::string(kRhyme) + kRhyme));
}

TEST_F(Generate, TopKOfOneIsGreedy) {
  const LanguageModelRun run = folder_.run(folder_.spec("rope"));
  const GenerateOptions one{.tokens = 12, .samples = 2, .sampling = {.temperature = 3, .top_k = 1}};
  const std::vector<std::string> greedy = texts(run, "fox", {.tokens = 12, .sampling = {.greedy = true}});
  EXPECT_THAT(texts(run, "fox", one), ElementsAre(greedy[0], greedy[0]));
}

TEST_F(Generate, EqualSeedsGiveEqualTextsOnAnyThreads) {
  const LanguageModelRun run = folder_.run(folder_.spec("alibi"));
  const GenerateOptions options{.tokens = 13, .samples = 3, .seed = 7};
  const std::vector<std::string> first = texts(run, "fox", options);
  EXPECT_EQ(texts(run, "fox", options, 3), first);
  GenerateOptions changed = options;
  changed.seed = 8;
  const std::vector<std::string> others = texts(run, "fox", changed);
  std::set<std::string> all(first.begin(), first.end());
  all.insert(others.begin(), others.end());
  EXPECT_EQ(all.size(), 6u);
  changed.seed.reset();
  GenerateOptions zero = options;
  zero.seed = 0;
  EXPECT_EQ(texts(run, "fox", changed), texts(run, "fox", zero));
}

TEST_F(Generate, AShortContextSlides) {
  const LanguageModelRun run = folder_.run(folder_.spec("learned", 2), {"model.position.max_length=16"});
  const std::vector<GeneratedText> slid =
      generated(run, "the quick brown fox", {.tokens = 9, .seed = 1, .context = 7, .slide = true});
  ASSERT_EQ(slid.size(), 1u);
  EXPECT_FALSE(slid[0].cached);
  // Token by token, each by a call of its own with the last 7 characters.
  std::string text = "the quick brown fox";
  ThreadPool pool(1);
  std::vector<std::int32_t> all = run.text().encode(text);
  TokenPredictor predictor(run, 7, false);
  for (std::uint32_t i = 0; i < 9; ++i) {
    std::vector<std::int32_t> last(all.end() - 7, all.end());
    const PhiloxBlock bits = RandomStream{1, hash64("generate/0"), i}.block(0);
    const auto choose = [&](std::span<const double> logits) {
      return draw(next_tokens(logits, {}), uniform_f64(bits.word[0], bits.word[1]));
    };
    predictor.extend(last, 1, choose, pool);
    all.push_back(last.back());
  }
  EXPECT_EQ(slid[0].text, run.text().decode(all));
  // Where everything fits, there is nothing to slide.
  const GenerateOptions fits{.tokens = 5, .slide = true};
  EXPECT_TRUE(generated(run, "fox", fits)[0].cached);
  EXPECT_EQ(texts(run, "fox", fits), texts(run, "fox", {.tokens = 5}));
}

// -- what is refused

class GenerateRefuses : public Generate {
 protected:
  static std::string error(const LanguageModelRun& run, const std::string& prompt, const GenerateOptions& options) {
    return error_of<SpecError>([&] { generated(run, prompt, options); });
  }
};

TEST_F(GenerateRefuses, WhatIsLongerThanTheContext) {
  const LanguageModelRun run = folder_.run(folder_.spec("{type: learned, max_length: 20}"));
  EXPECT_EQ(error(run, "the fox", {.tokens = 10}),
            "the prompt's 7 tokens and 10 new ones are 17, more than the context of 16 (train.length): ask for "
            "--tokens 9, --slide (each token sees the 16 before it), or --context 17 where the positional scheme can");
  EXPECT_EQ(error(run, "the fox", {.tokens = 1, .context = 7}),
            "the prompt has 7 tokens, which leaves no room for new ones in the context of 7: shorten it, or ask for "
            "--slide (each token sees the 7 before it), or --context 8 where the positional scheme can");
  EXPECT_EQ(texts(run, "the fox", {.tokens = 9}).size(), 1u);
  EXPECT_EQ(texts(run, "the fox", {.tokens = 13, .context = 20}).size(), 1u);
  EXPECT_THAT(error_of<ShapeError>([&] { generated(run, "the fox", {.tokens = 14, .context = 21}); }),
              HasSubstr("position/learned: length 21 is over max_length 20"));
}

TEST_F(GenerateRefuses, PromptsWithoutTokens) {
  const LanguageModelRun run = folder_.run(folder_.spec("sin"));
  EXPECT_EQ(error(run, "", {}),
            "the prompt is empty, and the model goes on from at least one token: give --prompt a text such as the "
            "beginning of a sentence");
  EXPECT_EQ(error(run, "the {cat}", {}),
            "the text has pieces that are not in the run's vocabulary: '{', '}'; write it without them, or train with "
            "a token that stands for such pieces (data.vocabulary.unknown)");
  const LanguageModelRun words = folder_.run(folder_.spec("sin"), {"data.tokenizer=words", "train.length=5"});
  EXPECT_EQ(error(words, " ... ", {}),
            "the tokenizer finds no piece in the prompt, and the model goes on from at least one token: give --prompt "
            "a text with more in it");
}

TEST_F(GenerateRefuses, OptionsThatMakeNoSense) {
  const auto error = [](const GenerateOptions& options) { return error_of<SpecError>([&] { options.check(); }); };
  EXPECT_EQ(error({.tokens = 0}), "--tokens 0: expected 1 to 1000000000");
  EXPECT_EQ(error({.tokens = 2'000'000'000}), "--tokens 2000000000: expected 1 to 1000000000");
  EXPECT_EQ(error({.samples = 0}), "--samples 0: expected 1 to 1000000000");
  EXPECT_EQ(error({.context = -1}), "--context -1: expected 1 to 1000000000");
  EXPECT_EQ(error({.seed = -1}), "--seed -1: expected 0 or more");
  EXPECT_THAT(error({.sampling = {.top_k = -1}}), HasSubstr("--top-k -1: expected 1 or more"));
  const std::string beside = " has no effect beside --greedy, which draws nothing: leave one of the two out";
  EXPECT_EQ(error({.sampling = {.greedy = true}, .seed = 0}), "--seed" + beside);
  EXPECT_EQ(error({.samples = 2, .sampling = {.greedy = true}}), "--samples" + beside);
}

std::string refusal(RunRecord record) {
  return error_of<Error>([&] { LanguageModelRun(std::move(record), "run.h5", test::builtin_plugins()); });
}

TEST_F(GenerateRefuses, RunsThatAreNoLanguageModels) {
  const RunRecord record = folder_.run(folder_.spec("sin")).record();
  const auto changed = [&](const std::string& from, const std::string& to) {
    RunRecord other = record;
    const std::size_t at = other.spec_resolved.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    other.spec_resolved.replace(at, from.size(), to);
    return other;
  };
  const std::string what_to_do = "; give one of task/language_model with a causal model, such as model/gpt";
  EXPECT_EQ(
      refusal(changed("type: gpt", "type: encoder")),
      "run.h5: is no run of a language model: tokens of its model 'encoder' see what comes after them" + what_to_do);
  EXPECT_EQ(
      refusal(changed("type: language_model\n  held_out: 0\n  windows: random", "type: neighbor\n  vocabulary: 9")),
      "run.h5: is no run of a language model: its task 'neighbor' does not predict a text" + what_to_do);
  RunRecord without_text = record;
  without_text.vocabulary_tokens.clear();
  EXPECT_EQ(refusal(without_text), "run.h5: is no run of a language model: its task reads no text" + what_to_do);
  RunRecord without_weights = record;
  without_weights.weights.clear();
  EXPECT_EQ(refusal(without_weights),
            "run.h5: holds no weights (keep.weights, or the trial failed); train it with keep.weights: all");
  EXPECT_THAT(refusal(changed("type: gpt", "type: gtp")), HasSubstr("unknown model 'gtp'"));
}

TEST_F(GenerateRefuses, WeightsThatDoNotFit) {
  RunRecord record = folder_.run(folder_.spec("sin")).record();
  const auto error = [&] {
    const LanguageModelRun run(record, "run.h5", test::builtin_plugins());
    return error_of<StoreError>([&] { TokenPredictor(run, 4, true); });
  };
  const auto embedding = std::find_if(record.weights.begin(), record.weights.end(),
                                      [](const auto& array) { return array.name == "embedding"; });
  std::swap(embedding->shape[0], embedding->shape[1]);
  EXPECT_EQ(error(), "weights of model/embedding: [16, 28] in the run file, expected f64[28, 16]");
  record.weights.erase(embedding);
  EXPECT_EQ(error(), "run.h5: holds no weights of model/embedding, which the model needs; train it again");
}

}  // namespace
}  // namespace jari
