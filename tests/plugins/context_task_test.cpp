// task/context: which words stand beside which, on a corpus that is made here.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "framework/base/error.hpp"
#include "tests/plugins/components.hpp"
#include "tests/support/errors.hpp"

namespace jari {
namespace {

using test::bound;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Lines of ids, kept in memory.
class Corpus {
 public:
  Corpus(const std::vector<std::vector<std::int32_t>>& lines, std::int32_t words) {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(words));
    std::vector<std::string> pieces;
    for (std::int32_t id = 0; id < words; ++id) pieces.push_back("w" + std::to_string(id));
    starts_.push_back(0);
    for (const auto& line : lines) {
      ids_.insert(ids_.end(), line.begin(), line.end());
      starts_.push_back(static_cast<std::int64_t>(ids_.size()));
      for (const std::int32_t id : line) ++counts[static_cast<std::size_t>(id)];
    }
    corpus_ = std::make_shared<TokenizedCorpus>(
        TokenizedCorpus{ids_, starts_, Vocabulary(std::move(pieces), std::move(counts), std::nullopt, 0), nullptr});
  }
  std::shared_ptr<const TokenizedCorpus> get() const { return corpus_; }

 private:
  std::vector<std::int32_t> ids_;
  std::vector<std::int64_t> starts_;
  std::shared_ptr<const TokenizedCorpus> corpus_;
};

// A batch of so many centers, by what it is made of.
class Inputs {
 public:
  explicit Inputs(std::int64_t batch) : batch_(batch) {}
  std::int64_t batch() const { return batch_; }
  const std::vector<std::int32_t>& of(const std::string& name) const { return tensors_.at(name); }
  std::vector<std::int32_t>& operator[](const std::string& name) { return tensors_[name]; }

 private:
  std::int64_t batch_;
  std::map<std::string, std::vector<std::int32_t>> tensors_;
};

// Makes the batches that the task's loss is of, for skip_gram.
struct Filler {
  Filler(const std::string& settings, const Corpus& of)
      : task(bound<Task>("{type: context, " + settings + "}")), corpus(of), batches(task->batches(of.get())) {}

  void fill(Inputs& inputs, std::uint32_t step, bool training = true, std::uint64_t seed = 5) const {
    Graph graph;
    Declarations declarations;
    const BuildContext build{.graph = graph,
                             .declarations = declarations,
                             .vocabulary = task->vocabulary(corpus.get().get()),
                             .training = training,
                             .corpus = corpus.get().get()};
    const BatchStream stream{.draws = 11, .training = training};
    task->loss({build, model.slot, stream, batches.get(), inputs.batch(), {}});
    Program::Hooks hooks;
    hooks.feed = [&](int, std::int64_t, const Tensors& tensors) {
      write_tensor(tensors, kRandomSeed, {static_cast<double>(seed), 0});
      write_tensor(tensors, kRandomStep, {static_cast<double>(step)});
    };
    hooks.fetch = [&](int, std::int64_t, const Tensors& tensors) {
      for (const char* name : {"centers", "contexts", "negatives"}) {
        const auto values = tensors.get<std::int32_t>(name);
        inputs[name].assign(values.begin(), values.end());
      }
      return true;
    };
    const Value windows = find(graph, op_word_windows), negatives = find(graph, op_random_ids);
    const Program program(
        graph, {{"centers", windows}, {"contexts", Value(&graph, windows.node(), 1)}, {"negatives", negatives}});
    State state(graph, 1);
    const int trial = 0;
    ThreadPool pool(2);
    program.run(state, {&trial, 1}, 0, 1, hooks, pool);
  }

  static Value find(Graph& graph, const Op& op) {
    for (int i = 0; i < graph.size(); ++i)
      if (graph.node(i).op == &op) return {&graph, i, 0};
    return {};
  }

  test::Bound<Task> task;
  test::Bound<Model> model = bound<Model>("{type: skip_gram, width: 2}");
  const Corpus& corpus;
  std::unique_ptr<const Batches> batches;
};

const std::string kUniform = "negatives: {type: uniform, count: 2}";

// 200 lines of 1 to 9 words; each id once, so that a word's place is its id.
std::vector<std::vector<std::int32_t>> numbered_lines(std::int32_t* words) {
  std::vector<std::vector<std::int32_t>> lines;
  std::int32_t next = 0;
  for (int i = 0; i < 200; ++i) {
    std::vector<std::int32_t>& line = lines.emplace_back();
    for (int k = 0; k <= i * 7 % 9; ++k) line.push_back(next++);
  }
  *words = next;
  return lines;
}

TEST(ContextTask, RandomPairsStandInOneLineWithinTheWindow) {
  std::int32_t words = 0;
  const auto lines = numbered_lines(&words);
  std::vector<int> line_of;
  for (std::size_t i = 0; i < lines.size(); ++i) line_of.insert(line_of.end(), lines[i].size(), static_cast<int>(i));
  const Corpus corpus(lines, words);
  const Filler filler("window: 3, " + kUniform, corpus);
  Inputs inputs(500);
  std::set<int> offsets;
  for (std::uint32_t step = 0; step < 4; ++step) {
    filler.fill(inputs, step);
    for (std::size_t i = 0; i < 500; ++i) {
      const std::int32_t center = inputs.of("centers")[i], context = inputs.of("contexts")[i];
      ASSERT_EQ(center < 0, context < 0);
      if (center < 0) continue;
      EXPECT_EQ(line_of[static_cast<std::size_t>(center)], line_of[static_cast<std::size_t>(context)]);
      offsets.insert(context - center);
    }
  }
  EXPECT_THAT(offsets, ElementsAre(-3, -2, -1, 1, 2, 3));
}

TEST(ContextTask, AcrossLinesCentersKeepAWindowFromBothEnds) {
  std::int32_t words = 0;
  const auto lines = numbered_lines(&words);
  const Corpus corpus(lines, words);
  const Filler filler("window: 5, across_lines: true, " + kUniform, corpus);
  Inputs inputs(4096);
  std::map<int, int> offsets;
  std::int32_t lowest = words, highest = 0;
  for (std::uint32_t step = 0; step < 20; ++step) {
    filler.fill(inputs, step);
    for (std::size_t i = 0; i < 4096; ++i) {
      const std::int32_t center = inputs.of("centers")[i];
      ASSERT_GE(center, 0) << "every draw fits";
      ++offsets[inputs.of("contexts")[i] - center];
      lowest = std::min(lowest, center);
      highest = std::max(highest, center);
    }
  }
  EXPECT_EQ(lowest, 5);
  EXPECT_EQ(highest, words - 6);
  ASSERT_EQ(offsets.size(), 10u);
  for (const auto& [offset, count] : offsets) EXPECT_NEAR(count, 8192, 5 * std::sqrt(8192.0)) << offset;
}

// Word by word: what each center's window holds, for windows that all reach as far.
TEST(ContextTask, APassTakesEveryWordOnceWithAllItsNeighbors) {
  std::int32_t words = 0;
  const auto lines = numbered_lines(&words);
  const Corpus corpus(lines, words);
  const Filler filler("window: 2, centers: pass, " + kUniform, corpus);
  constexpr std::int64_t kBatch = 64;
  const std::int64_t steps = filler.task->steps_of_epoch(*corpus.get(), kBatch, 0);
  EXPECT_EQ(steps, (words + kBatch - 1) / kBatch);
  Inputs inputs(kBatch);
  std::map<std::int32_t, std::vector<std::int32_t>> found;
  for (std::uint32_t step = 0; step < static_cast<std::uint32_t>(steps); ++step) {
    filler.fill(inputs, step);
    for (std::size_t i = 0; i < kBatch; ++i) {
      const std::int32_t center = inputs.of("centers")[i];
      if (center < 0) continue;
      std::vector<std::int32_t> neighbors;
      for (std::size_t k = 0; k < 4; ++k) {
        const std::int32_t neighbor = inputs.of("contexts")[i * 4 + k];
        const std::int32_t negative = inputs.of("negatives")[(i * 4 + k) * 2];
        EXPECT_EQ(negative < 0, neighbor < 0) << "negatives only where there is a neighbor";
        if (neighbor >= 0) neighbors.push_back(neighbor);
      }
      const auto [known, is_first] = found.emplace(center, neighbors);
      // The last batch goes on with the second pass.
      if (!is_first) {
        EXPECT_EQ(known->second, neighbors);
      }
    }
  }
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      std::vector<std::int32_t> expected;
      for (std::size_t j = i - std::min<std::size_t>(i, 2); j < std::min(line.size(), i + 3); ++j)
        if (j != i) expected.push_back(line[j]);
      if (line.size() > 1) {
        EXPECT_EQ(found.at(line[i]), expected);
      } else {
        EXPECT_EQ(found.count(line[i]), 0u) << "a word alone has no neighbors";
      }
    }
  }
}

TEST(ContextTask, BatchesDoNotDependOnHowAPassIsCut) {
  std::int32_t words = 0;
  const auto lines = numbered_lines(&words);
  const Corpus corpus(lines, words);
  const Filler filler("window: 4, dynamic_window: true, subsample: 1e-3, centers: pass, " + kUniform, corpus);
  const auto windows = [&](std::int64_t batch) {
    std::map<std::int32_t, std::vector<std::int32_t>> found;
    Inputs inputs(batch);
    for (std::uint32_t step = 0; static_cast<std::int64_t>(step) * batch + batch <= words; ++step) {
      filler.fill(inputs, step);
      for (std::size_t i = 0; i < static_cast<std::size_t>(batch); ++i) {
        const auto* first = inputs.of("contexts").data() + i * 8;
        if (inputs.of("centers")[i] >= 0) found[inputs.of("centers")[i]] = {first, first + 8};
      }
    }
    return found;
  };
  const auto small = windows(7), large = windows(100);
  std::size_t compared = 0;
  for (const auto& [center, neighbors] : small) {
    if (large.count(center) == 0) continue;
    EXPECT_EQ(neighbors, large.at(center));
    ++compared;
  }
  EXPECT_GT(compared, 50u);
}

// What the task promises the loss, by which the rows of the table's gradient are counted. Each word has an id of its
// own.
TEST(ContextTask, ABatchOfAPassHasItsWordsForNeighborsAndAWindowsAtBothEndsOfAStretch) {
  std::int32_t words = 0;
  const auto lines = numbered_lines(&words);
  const Corpus corpus(lines, words);
  for (const std::string across : {"true", "false"}) {
    const Filler filler("window: 4, centers: pass, across_lines: " + across + ", " + kUniform, corpus);
    constexpr std::int64_t kBatch = 50;
    Inputs inputs(kBatch);
    std::size_t most = 0;
    for (std::uint32_t step = 0; step < 60; ++step) {  // over the corpus' end as well
      filler.fill(inputs, step);
      std::set<std::int32_t> neighbors(inputs.of("contexts").begin(), inputs.of("contexts").end());
      neighbors.erase(-1);
      most = std::max(most, neighbors.size());
    }
    EXPECT_LE(most, 50u + 2 * 2 * 4);
    EXPECT_GT(most, 50u);
  }
}

TEST(ContextTask, FrequentWordsAreDroppedAsOftenAsWord2vecDropsThem) {
  // Word 0 makes up half of the corpus, the others 1 / 200 each.
  std::vector<std::int32_t> line;
  for (int i = 0; i < 100000; ++i) line.push_back(i % 2 == 0 ? 0 : 1 + i / 2 % 100);
  const Corpus corpus({line}, 101);
  const Filler filler("window: 1, centers: pass, subsample: 1e-2, negatives: {type: uniform}", corpus);
  Inputs inputs(100000);
  filler.fill(inputs, 0);
  std::map<bool, double> kept;
  for (const std::int32_t center : inputs.of("centers")) {
    if (center >= 0) ++kept[center == 0];
  }
  const double ratio = 1e-2 / 0.5, chance = std::sqrt(ratio) + ratio;
  EXPECT_NEAR(kept[true] / 50000, chance, 5 * std::sqrt(chance * (1 - chance) / 50000));
  EXPECT_EQ(kept[false], 50000) << "rarer than the threshold";
}

TEST(ContextTask, DynamicWindowsReachEachDistanceAsOften) {
  std::vector<std::int32_t> line;
  for (std::int32_t i = 0; i < 5000; ++i) line.push_back(i);
  const Corpus corpus({line}, 5000);
  const Filler filler("window: 4, dynamic_window: true, centers: pass, negatives: {type: uniform}", corpus);
  Inputs inputs(5000);
  filler.fill(inputs, 0);
  std::map<int, int> reaches;
  for (std::size_t i = 10; i < 4990; ++i) {
    int farthest = 0;
    for (std::size_t k = 0; k < 8; ++k) {
      const std::int32_t neighbor = inputs.of("contexts")[i * 8 + k];
      if (neighbor >= 0) farthest = std::max(farthest, std::abs(neighbor - inputs.of("centers")[i]));
    }
    ++reaches[farthest];
  }
  ASSERT_EQ(reaches.size(), 4u);
  for (const auto& [reach, count] : reaches) EXPECT_NEAR(count, 1245, 5 * std::sqrt(1245.0)) << reach;
}

TEST(ContextTask, NegativesFollowTheirSampler) {
  std::vector<std::int32_t> line;
  for (int i = 0; i < 1000; ++i) line.push_back(i % 10 == 0 ? 1 : i % 3 == 0 ? 2 : 0);
  const Corpus corpus({line}, 3);
  const std::vector<std::int64_t>& counts = corpus.get()->vocabulary.counts();
  for (const bool unigram : {false, true}) {
    const Filler filler(unigram ? "negatives: {type: unigram, count: 60000, share: batch}"
                                : "negatives: {type: uniform, count: 60000, share: batch}",
                        corpus);
    Inputs inputs(8);
    filler.fill(inputs, 3);
    std::vector<double> expected, found(3);
    double sum = 0;
    for (const std::int64_t count : counts) {
      expected.push_back(unigram ? std::pow(static_cast<double>(count), 0.75) : 1);
      sum += expected.back();
    }
    for (const std::int32_t id : inputs.of("negatives")) found.at(static_cast<std::size_t>(id)) += 1;
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(found[i] / 60000, expected[i] / sum, 0.01) << i << unigram;
  }
}

TEST(ContextTask, EvaluationsDrawAtRandomAndSeedsDiffer) {
  std::int32_t words = 0;
  const auto lines = numbered_lines(&words);
  const Corpus corpus(lines, words);
  const Filler filler("window: 2, centers: pass, " + kUniform, corpus);
  const auto centers = [&](std::uint32_t step, bool training, std::uint64_t seed) {
    Inputs inputs(32);
    filler.fill(inputs, step, training, seed);
    return inputs.of("centers");
  };
  EXPECT_EQ(centers(1, true, 5), centers(1, true, 6)) << "a pass is a pass";
  EXPECT_EQ(centers(1, false, 5), centers(1, false, 5));
  EXPECT_NE(centers(1, false, 5), centers(1, false, 6));
  EXPECT_NE(centers(1, false, 5), centers(2, false, 5));
}

TEST(ContextTask, TellsACorpusThatIsTooShort) {
  const Corpus corpus({{0, 1, 2, 0}}, 3);
  const std::string error = test::error_of<StoreError>([&] { Filler("negatives: {type: uniform}", corpus); });
  EXPECT_EQ(error, "the corpus has 4 words: a window of 5 to each side needs more");
}

}  // namespace
}  // namespace jari
