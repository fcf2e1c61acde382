// What holds for every registered component. A new one is covered as soon as its file is there.

#include <gtest/gtest.h>

#include <set>

#include "tests/plugins/components.hpp"
#include "tests/plugins/token_batch.hpp"
#include "tests/support/errors.hpp"

namespace jari {
namespace {

using test::bound;
using test::builtin_components;
using test::example_block;

// "resolved" as text, and what binding that text gives again.
template <class Family>
std::pair<std::string, std::string> bound_twice(const std::string& name) {
  const SpecNode once = bound<Family>(example_block(Family::kFamily, name)).resolved;
  Diagnostics diagnostics;
  const SpecNode again = read_yaml_text(to_yaml(once), "resolved.yaml", diagnostics);
  test::SlotParameters<Family> parameters;
  SpecNode twice;
  Binder(&builtin_components(), diagnostics).bind(again, "", parameters, twice);
  diagnostics.throw_if_any();
  return {to_yaml(once), to_yaml(twice)};
}

template <class Family>
std::string error_with_unknown_key(const std::string& name) {
  std::string block = example_block(Family::kFamily, name);
  block.insert(block.size() - 1, ", no_such_key: 1");
  return test::error_of<SpecError>([&] { bound<Family>(block); });
}

// `needing_files`: those that their defaults can not make; tokenizer_test.cpp binds them.
template <class Family>
void check_family(const std::set<std::string>& needing_files = {}) {
  const std::vector<std::string> names = builtin_components().names(Family::kFamily);
  EXPECT_FALSE(names.empty()) << Family::kFamily;
  for (const std::string& name : names) {
    if (needing_files.contains(name)) continue;
    SCOPED_TRACE(std::string(Family::kFamily) + "/" + name);
    const auto [once, twice] = bound_twice<Family>(name);
    EXPECT_EQ(once, twice);
    EXPECT_NE(error_with_unknown_key<Family>(name).find("no_such_key"), std::string::npos);
  }
}

TEST(EveryComponent, BindsFromItsDefaultsAndFromItsResolvedForm) {
  check_family<Analysis>({"analogy_accuracy", "word_similarity"});
  check_family<Init>();
  check_family<Model>();
  check_family<Optimizer>();
  check_family<Position>();
  check_family<Sampler>();
  check_family<Schedule>();
  check_family<Stemmer>({"mecab"});
  check_family<Task>();
  check_family<Tokenizer>({"hugging_face", "sentence_piece"});
}

void check_documented(const std::vector<FieldDescription>& fields) {
  for (const FieldDescription& field : fields) {
    SCOPED_TRACE(field.name);
    EXPECT_FALSE(field.doc.empty());
    check_documented(field.fields);
    for (const FieldDescription& element : field.element) check_documented(element.fields);
  }
}

TEST(EveryComponent, AndEveryKeyHasALineOfDocumentation) {
  for (const std::string& family : builtin_components().families()) {
    for (const std::string& name : builtin_components().names(family)) {
      SCOPED_TRACE(family + "/" + name);
      const RegistryEntry* entry = builtin_components().find(family, name);
      EXPECT_FALSE(entry->doc.empty());
      check_documented(entry->fields);
    }
  }
}

TEST(EveryModel, ComputesWhatItsKindSaysThroughDeclaredParameters) {
  for (const std::string& name : builtin_components().names("model")) {
    SCOPED_TRACE(name);
    const auto model = bound<Model>(example_block("model", name));
    Graph graph;
    Declarations declarations;
    const Graph::Scope scope(graph, "model");
    const Value tokens = graph.input("tokens", {DType::i32, {2, 6}}, true);
    const BuildContext context{graph, declarations, 11, 6, 6};
    if (const auto* sequences = dynamic_cast<const SequenceModel*>(&*model)) {
      EXPECT_EQ(sequences->logits(context, tokens).type(), (TensorType{DType::f32, {2, 6, 11}}));
    } else {
      const auto& words = dynamic_cast<const WordModel&>(*model);
      const Value given = words.predicts_center() ? tokens : graph.input("centers", {DType::i32, {2, 1}}, true);
      const Value hidden = words.hidden(context, given), table = words.output_table(context);
      EXPECT_EQ(hidden.shape(), (Shape{2, table.shape()[1]}));
      EXPECT_EQ(table.shape()[0], 11);
    }
    ASSERT_FALSE(graph.parameters().empty());
    for (const Value& parameter : graph.parameters()) {
      const std::string& path = graph.node(parameter.node()).path;
      EXPECT_TRUE(path.starts_with("model/")) << path;
      ASSERT_NE(declarations.find(path), nullptr) << path;
    }
  }
}

TEST(EveryInit, FillsTheSameFiniteNumbersEveryTime) {
  for (const std::string& name : builtin_components().names("init")) {
    SCOPED_TRACE(name);
    const auto init = bound<Init>(example_block("init", name));
    std::vector<double> first(24, 1e300), second(24, 1e300);
    init->fill({5, "model/table", {4, 6}, nullptr}, first);
    init->fill({5, "model/table", {4, 6}, nullptr}, second);
    EXPECT_EQ(first, second);
    for (const double value : first) EXPECT_LT(std::abs(value), 1e10);
  }
}

TEST(EverySchedule, IsFiniteAndNeverNegative) {
  for (const std::string& name : builtin_components().names("schedule")) {
    SCOPED_TRACE(name);
    const auto schedule = bound<Schedule>(example_block("schedule", name));
    for (std::int64_t step = 0; step < 20; ++step) {
      const double factor = schedule->factor({step, 20});
      EXPECT_GE(factor, 0);
      EXPECT_LT(factor, 1e6);
      EXPECT_EQ(factor, schedule->factor({step, 20}));
    }
  }
}

// Whatever a task is about: its batches follow from seed, stream and step, its ids are in range, and its targets stand
// where it says.
TEST(EveryTask, MakesTheSameLawfulBatchesEveryTime) {
  for (const std::string& name : builtin_components().names("task")) {
    SCOPED_TRACE(name);
    const auto bound_task = bound<Task>(example_block("task", name));
    const SequenceTask* task = bound_task->as_sequence_task();
    if (task == nullptr || bound_task->reads_data()) continue;  // tests of their own, with a corpus
    constexpr std::int64_t kBatch = 3, kLength = 7;
    ASSERT_EQ(task->refuse_length(kLength), "");
    const auto draw = [&](std::uint64_t seed, std::uint32_t step) {
      return test::batch_of(*bound_task, {.sequences = kBatch, .length = kLength, .seed = seed, .step = step});
    };
    const test::TokenBatch batch = draw(1, 0);
    EXPECT_EQ(batch, draw(1, 0));
    EXPECT_NE(batch, draw(1, 1));
    EXPECT_NE(batch, draw(2, 0));
    test::TokenBatch joined;  // of its parts, as `train.accumulate` makes them
    for (std::int64_t part = 0; part < kBatch; ++part) {
      const test::TokenBatch one =
          test::batch_of(*bound_task, {.sequences = kBatch, .length = kLength, .part = part, .parts = kBatch});
      joined.tokens.insert(joined.tokens.end(), one.tokens.begin(), one.tokens.end());
      joined.targets.insert(joined.targets.end(), one.targets.begin(), one.targets.end());
    }
    EXPECT_EQ(batch, joined);
    for (std::int64_t i = 0; i < kBatch * kLength; ++i) {
      const std::int32_t token = batch.tokens[static_cast<std::size_t>(i)];
      const std::int32_t target = batch.targets[static_cast<std::size_t>(i)];
      EXPECT_GE(token, 0);
      EXPECT_LT(token, task->vocabulary(nullptr));
      EXPECT_LT(target, task->vocabulary(nullptr));
      EXPECT_EQ(target >= 0, task->has_target(i % kLength, kLength)) << i;
    }
  }
}

}  // namespace
}  // namespace jari
