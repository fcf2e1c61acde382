// What single schemes promise.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "framework/base/error.hpp"
#include "tests/plugins/components.hpp"
#include "tests/support/errors.hpp"

namespace jari {
namespace {

using test::bound;
using test::Bound;
using test::error_of;
using test::ProbeCase;

// One scheme's hooks on their own, in double.
class Hooks {
 public:
  explicit Hooks(const std::string& block, std::int64_t length = 5, std::int64_t heads = 1, std::int64_t trained = 0,
                 bool causal = false)
      : scheme_(bound<Position>(block)),
        context_{graph_, declarations_, 0, length, trained},
        at_(place(context_, *scheme_, 8 * heads, heads, causal)) {}

  Graph& graph() { return graph_; }
  const PositionContext& at() const { return at_; }
  const Position& scheme() const { return *scheme_; }

  // [heads, length, length] or [length, length].
  std::vector<double> bias() {
    const Value value = *scheme_->bias(at_, {}, {});
    shape = value.shape();
    State state(graph_, 1);
    for (const State::Entry& entry : state.entries()) {
      std::vector<double> values(static_cast<std::size_t>(entry.type.shape.size()));
      const ParameterDeclaration* declaration = declarations_.find(entry.name);
      declaration->init->fill({1, entry.name, entry.type.shape, nullptr}, values);
      state.write(0, entry, values);
    }
    return evaluate(graph_, value, test::per_trial_values(graph_, {scheme_.resolved}), &state);
  }

  Shape shape;

 private:
  Graph graph_{DType::f64};
  Declarations declarations_;
  Bound<Position> scheme_;
  BuildContext context_;
  PositionContext at_;
};

class RelativeBias : public testing::TestWithParam<const char*> {};

TEST_P(RelativeBias, DependsOnTheOffsetAlone) {
  for (const std::int64_t heads : {1, 2, 4}) {
    SCOPED_TRACE(heads);
    Hooks hooks(GetParam(), 6, heads, 4);
    const std::vector<double> bias = hooks.bias();
    ASSERT_EQ(bias.size() % 36, 0u);
    for (std::size_t head = 0; head < bias.size() / 36; ++head)
      for (std::size_t i = 0; i + 1 < 6; ++i)
        for (std::size_t j = 0; j + 1 < 6; ++j)
          EXPECT_EQ(bias[head * 36 + i * 6 + j], bias[head * 36 + (i + 1) * 6 + j + 1]);
  }
}

INSTANTIATE_TEST_SUITE_P(Schemes, RelativeBias,
                         testing::Values("t5", "{type: t5, buckets: 8, max_distance: 5}",
                                         "{type: rel, max_length: 6, init: {type: normal, std: 1}}",
                                         "{type: rel, max_length: 6, per_head: false, init: {type: normal, std: 1}}",
                                         "{type: rel, max_length: 4, unseen: clamp, init: {type: normal, std: 1}}",
                                         "{type: rel, max_length: 9, unseen: mask, init: {type: normal, std: 1}}",
                                         "alibi", "{type: alibi, left_scale: 2}",
                                         "{type: alibi, learned: true, slope_scale: 3}"));

TEST(Rel, ClampGivesUnseenOffsetsTheFarthestTrainedBias) {
  const std::vector<double> bias =
      Hooks("{type: rel, max_length: 9, unseen: clamp, init: {type: normal, std: 1}}", 6, 1, 3).bias();
  EXPECT_EQ(bias[3], bias[2]);
  EXPECT_EQ(bias[5], bias[2]);
  EXPECT_NE(bias[1], bias[2]);
  EXPECT_EQ(bias[30], bias[12]);  // (5, 0) and (2, 0)
}

TEST(Rel, MaskTakesUnseenOffsetsOut) {
  const std::vector<double> bias = Hooks("{type: rel, max_length: 9, unseen: mask}", 5, 1, 3).bias();
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 5; ++j)
      EXPECT_EQ(bias[i * 5 + j], (i > j ? i - j : j - i) < 3 ? 0 : -std::numeric_limits<double>::infinity());
}

TEST(Rel, RefusesLengthsThatItsTableDoesNotHave) {
  EXPECT_EQ(
      error_of<ShapeError>([] { Hooks("{type: rel, max_length: 4}", 5).bias(); }),
      "position/rel: length 5 is over max_length 4; raise max_length, evaluate at most 4 tokens, or set unseen: clamp "
      "(or mask)");
}

TEST(Learned, RefusesLengthsThatItsTableDoesNotHave) {
  const std::string error =
      error_of<ShapeError>([] { ProbeCase probe("{type: learned, max_length: 20}", {.length = 40}); });
  EXPECT_EQ(error.substr(0, error.find('\n')),
            "position/learned: length 40 is over max_length 20; raise max_length or evaluate at most 20 tokens");
  EXPECT_NE(error.find("at model/position"), std::string::npos) << error;
  EXPECT_NE(error.find("test.yaml:1:"), std::string::npos) << error;
}

TEST(None, RefusesABagOfWordsUnlessItIsAskedFor) {
  const std::string error = error_of<ShapeError>([] { Hooks hooks("none"); });
  EXPECT_NE(error.find("allow_bag_of_words: true"), std::string::npos) << error;
  EXPECT_NO_THROW(Hooks("{type: none, allow_bag_of_words: true}"));
  EXPECT_NO_THROW(Hooks("none", 5, 1, 0, /*causal=*/true));
}

TEST(Sin, RefusesAnOddWidth) {
  const std::string error = error_of<ShapeError>([] { ProbeCase probe("sin", {.width = 7}); });
  EXPECT_NE(error.find("width 7 is odd"), std::string::npos) << error;
}

TEST(Sin, SplitIsInterleavedInAnotherOrder) {
  const auto rows = [](const std::string& block) {
    Hooks hooks(block);
    return evaluate(hooks.graph(), embedded_zeros(hooks.at().build, hooks.scheme(), 8));
  };
  const std::vector<double> interleaved = rows("sin"), split = rows("{type: sin, layout: split}");
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t m = 0; m < 4; ++m) {
      EXPECT_EQ(split[i * 8 + m], interleaved[i * 8 + 2 * m]);
      EXPECT_EQ(split[i * 8 + 4 + m], interleaved[i * 8 + 2 * m + 1]);
    }
  }
}

// Slope of each head, from the bias between neighbors.
std::vector<double> slopes(std::int64_t heads) {
  const std::vector<double> bias = Hooks("alibi", 2, heads).bias();
  std::vector<double> result;
  for (std::size_t head = 0; head < static_cast<std::size_t>(heads); ++head) result.push_back(-bias[head * 4 + 2]);
  return result;
}

// Values of the original implementation (ofirpress/attention_with_linear_biases).
TEST(Alibi, SlopesFollowThePaper) {
  EXPECT_EQ(slopes(2), (std::vector<double>{0x1p-4, 0x1p-8}));
  EXPECT_EQ(slopes(8), (std::vector<double>{0x1p-1, 0x1p-2, 0x1p-3, 0x1p-4, 0x1p-5, 0x1p-6, 0x1p-7, 0x1p-8}));
  EXPECT_EQ(slopes(3), (std::vector<double>{0.0625, 0.00390625, 0.25}));
  EXPECT_EQ(slopes(6), (std::vector<double>{0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125}));
  const std::vector<double> twelve = slopes(12);
  for (std::size_t head = 0; head < 8; ++head) EXPECT_EQ(twelve[head], std::exp2(-1.0 - static_cast<double>(head)));
  for (std::size_t head = 0; head < 4; ++head)
    EXPECT_DOUBLE_EQ(twelve[8 + head], std::exp2(-0.5 - static_cast<double>(head)));
}

TEST(Alibi, LeftScaleTellsLeftFromRight) {
  const std::vector<double> bias = Hooks("{type: alibi, slopes: [0.5], slope_scale: 2, left_scale: 3}", 3).bias();
  EXPECT_EQ(bias, (std::vector<double>{0, -1, -2, -3, 0, -1, -6, -3, 0}));
}

TEST(Alibi, LearnedSlopesStartWhereTheFixedOnesStand) {
  for (const std::int64_t heads : {1, 4})
    EXPECT_EQ(Hooks("{type: alibi, left_scale: 2, learned: true}", 4, heads).bias(),
              Hooks("{type: alibi, left_scale: 2}", 4, heads).bias());
}

TEST(Alibi, RefusesAnotherNumberOfSlopesThanHeads) {
  EXPECT_EQ(error_of<ShapeError>([] { Hooks("{type: alibi, slopes: [1, 2, 3]}", 4, 2).bias(); }),
            "position/alibi: 3 slopes for 2 heads; give one slope for each head, or one for all");
}

// Scores of one query and one key vector that stand at every pair of places.
std::vector<double> rope_scores(const std::string& block, const std::vector<double>& query,
                                const std::vector<double>& key, std::size_t length) {
  Hooks hooks(block, static_cast<std::int64_t>(length));
  const auto everywhere = [&](const std::vector<double>& x) {
    return broadcast_to(hooks.graph().constant({1, 1, 1, 8}, x), {1, 1, static_cast<std::int64_t>(length), 8});
  };
  const auto [q, k] = hooks.scheme().rotate(hooks.at(), everywhere(query), everywhere(key));
  return evaluate(hooks.graph(), matmul(q, k, false, true));
}

const std::vector<double> kQuery = {0.3, -1.2, 0.7, 0.1, 2.0, -0.4, 0.9, 1.1};
const std::vector<double> kKey = {-0.5, 0.8, 1.3, -0.2, 0.6, 0.4, -1.0, 0.2};

TEST(Rope, ScoresDependOnTheOffsetAlone) {
  for (const std::string block : {"rope", "{type: rope, pairing: half_split}", "{type: rope, fraction: 0.5}"}) {
    const std::vector<double> scores = rope_scores(block, kQuery, kKey, 9);
    for (std::size_t i = 0; i + 1 < 9; ++i)
      for (std::size_t j = 0; j + 1 < 9; ++j) EXPECT_NEAR(scores[i * 9 + j], scores[(i + 1) * 9 + j + 1], 1e-13);
    EXPECT_GT(std::abs(scores[0] - scores[1]), 1e-3);
  }
}

// half(P x) = P interleaved(x), where P takes even places first, then odd ones.
TEST(Rope, PairingsAreOneUpToAPermutation) {
  const auto even_first = [](const std::vector<double>& x) {
    return std::vector<double>{x[0], x[2], x[4], x[6], x[1], x[3], x[5], x[7]};
  };
  const std::vector<double> interleaved = rope_scores("rope", kQuery, kKey, 6);
  const std::vector<double> half =
      rope_scores("{type: rope, pairing: half_split}", even_first(kQuery), even_first(kKey), 6);
  for (std::size_t i = 0; i < interleaved.size(); ++i) EXPECT_NEAR(half[i], interleaved[i], 1e-13);
  EXPECT_GT(std::abs(rope_scores("{type: rope, pairing: half_split}", kQuery, kKey, 6)[5] - interleaved[5]), 1e-3);
}

TEST(Rope, LeavesTheRestOfAHeadAlone) {
  Hooks hooks("{type: rope, fraction: 0.25}", 3);
  const Value x = broadcast_to(hooks.graph().constant({1, 1, 1, 8}, kQuery), {1, 1, 3, 8});
  const std::vector<double> turned = evaluate(hooks.graph(), hooks.scheme().rotate(hooks.at(), x, x).first);
  EXPECT_NE(turned[8], kQuery[0]);
  EXPECT_NE(turned[9], kQuery[1]);
  for (std::size_t k = 2; k < 8; ++k) EXPECT_EQ(turned[16 + k], kQuery[k]);
}

TEST(Rope, RefusesAFractionThatLeavesHalfAPair) {
  const std::string error = error_of<ShapeError>([] { ProbeCase probe("{type: rope, fraction: 0.4}"); });
  EXPECT_NE(error.find("position/rope: 0.4 of the head width 8 is 3.2"), std::string::npos) << error;
}

// First offsets of the buckets of transformers' T5, from bucket 16 (causal) and 8 (each side) on.
TEST(T5, HasTheBucketsOfTheOriginal) {
  constexpr std::int64_t kLength = 130;
  for (const bool causal : {true, false}) {
    SCOPED_TRACE(causal);
    Hooks hooks("t5", kLength, 1, 0, causal);
    const std::vector<double> bias = hooks.bias();
    const auto past = [&](std::int64_t distance) { return bias[(kLength - 1) * kLength + kLength - 1 - distance]; };
    const auto future = [&](std::int64_t distance) { return bias[static_cast<std::size_t>(distance)]; };
    const std::vector<std::int64_t> edges =
        causal ? std::vector<std::int64_t>{16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113}
               : std::vector<std::int64_t>{8, 12, 16, 23, 32, 46, 64, 91};
    for (std::int64_t distance = 1; distance < kLength; ++distance) {
      const bool is_edge = distance <= edges.front() || std::find(edges.begin(), edges.end(), distance) != edges.end();
      EXPECT_EQ(past(distance) != past(distance - 1), is_edge) << distance;
      if (causal || distance == 1) continue;
      EXPECT_EQ(future(distance) != future(distance - 1), is_edge) << distance;
    }
    if (!causal) {
      EXPECT_NE(past(5), future(5));
    }
  }
}

}  // namespace
}  // namespace jari
