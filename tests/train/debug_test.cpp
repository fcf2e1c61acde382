// What went wrong, and where: divergence, --check-nan, --dump.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "framework/base/error.hpp"
#include "framework/store/hdf5_file.hpp"
#include "framework/store/run_file.hpp"
#include "framework/train/dump.hpp"
#include "framework/train/trainer.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"
#include "tests/support/specs.hpp"

namespace jari {
namespace {

using test::error_of;
using test::kSmallSpec;
using test::ParsedSweep;
using test::sweep_of;
using test::TemporaryFolder;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

std::vector<TrialOutcome> train(ParsedSweep& parsed, const TemporaryFolder& folder, const TrainOptions& options = {}) {
  parsed.sweep.groups[0].programs->plan();
  std::vector<const Trial*> trials;
  for (const Trial& trial : parsed.sweep.trials) trials.push_back(&trial);
  ThreadPool pool(2);
  Progress silent;
  return train_group(*parsed.sweep.groups[0].programs, trials, folder.path(), {}, pool, silent, options);
}

RunRecord record_of(const ParsedSweep& parsed, std::size_t trial, const TemporaryFolder& folder) {
  return read_run_file(folder.path() / parsed.sweep.trials[trial].folder / "run.h5");
}

ParsedSweep one_that_diverges() {
  return sweep_of(std::string(kSmallSpec) + "sweep: {grid: {train.optimizer.lr: [1e-2, 1e30]}}\n",
                  {"train.optimizer.type=sgd"});
}

TEST(Divergence, NamesTheFirstBadNodeTheStepAndTheLine) {
  ParsedSweep parsed = one_that_diverges();
  const TemporaryFolder folder;
  const auto outcomes = train(parsed, folder);
  ASSERT_EQ(outcomes[1].status, "diverged");
  EXPECT_THAT(outcomes[1].message,
              ContainsRegex("^loss (nan|inf), gradient norm (nan|inf) at step 2; first not finite: [a-z_]+ at "
                            "model[a-z/]* \\(test.yaml:3:[0-9]+\\): [0-9]+ of [0-9]+ elements of f32"));
  const RunRecord record = record_of(parsed, 1, folder);
  EXPECT_EQ(record.attributes.message, outcomes[1].message);
}

TEST(Divergence, KeepsTheWeightsFromBeforeTheStepAndRecordsTheLoss) {
  ParsedSweep parsed = one_that_diverges();
  const TemporaryFolder folder;
  train(parsed, folder);
  const RunRecord record = record_of(parsed, 1, folder);
  ASSERT_FALSE(record.weights.empty());
  for (const RecordArray& array : record.weights) {
    for (float value : std::get<std::vector<float>>(array.values)) EXPECT_TRUE(std::isfinite(value)) << array.name;
  }
  ASSERT_EQ(record.metrics.front().name, "train/loss");
  EXPECT_EQ(record.metrics.front().steps, (std::vector<std::int64_t>{1, 2}));
  EXPECT_FALSE(std::isfinite(record.metrics.front().values.back()));
}

TEST(CheckNan, ChangesNoBitsAndFindsTheSamePlace) {
  ParsedSweep plain = one_that_diverges(), checked = one_that_diverges();
  const TemporaryFolder left, right;
  const auto expected = train(plain, left);
  TrainOptions options;
  options.check_nan = true;
  const auto outcomes = train(checked, right, options);
  EXPECT_EQ(record_of(checked, 0, right).weights, record_of(plain, 0, left).weights);
  EXPECT_EQ(outcomes[1].status, "diverged");
  const auto place = [](const std::string& message) { return message.substr(message.find("; first not finite")); };
  EXPECT_EQ(place(outcomes[1].message), place(expected[1].message));
}

TEST(Dump, WritesWhatNodesAndParametersHoldInThatStep) {
  ParsedSweep parsed = sweep_of(kSmallSpec, {"train.log_every=1"});
  const TemporaryFolder folder;
  TrainOptions options;
  options.dumps = {parse_dump_request("model/embedding@1"), parse_dump_request("*@3")};
  train(parsed, folder, options);
  const std::filesystem::path trial = folder.path() / parsed.sweep.trials[0].folder;

  const Hdf5File first = Hdf5File::open(trial / "dump-step-1.h5");
  const auto embedding = first.read<float>("model/embedding/value");
  EXPECT_EQ(embedding.shape, (Hdf5Shape{7, 8}));
  State state = parsed.sweep.groups[0].programs->make_state(1);
  initialize(state, 0, parsed.sweep.groups[0].programs->declarations(), parsed.sweep.trials[0]);
  const std::vector<double> expected = state.read(0, *state.find("model/embedding"));
  EXPECT_EQ(std::vector<double>(embedding.values.begin(), embedding.values.end()), expected)
      << "the first step begins with the first weights";

  // Somewhere in the third step stands the loss that the journal has for it.
  const RunRecord record = record_of(parsed, 0, folder);
  const double loss = record.metrics.front().values[2];
  const Hdf5File third = Hdf5File::open(trial / "dump-step-3.h5");
  bool found = false;
  for (const std::string& name : third.arrays_below("")) {
    if (third.element(name) != Hdf5Element::f32) continue;
    const auto array = third.read<float>(name);
    found = found || (array.shape.empty() && static_cast<double>(array.values[0]) == loss);
  }
  EXPECT_TRUE(found) << "loss " << loss;
  EXPECT_FALSE(std::filesystem::exists(trial / "dump-step-2.h5"));
}

TEST(Dump, RefusesWhatItCanNotUnderstand) {
  EXPECT_EQ(error_of<SpecError>([] { parse_dump_request("model/embedding"); }),
            "error: --dump model/embedding: expected PATH@STEP with a step from 1 on, e.g. 'model/attention/*@100'\n");
  EXPECT_THAT(error_of<SpecError>([] { parse_dump_request("x@0"); }), HasSubstr("expected PATH@STEP"));
  EXPECT_THAT(error_of<SpecError>([] { parse_dump_request("x@1e3"); }), HasSubstr("expected PATH@STEP"));
  ParsedSweep parsed = sweep_of(kSmallSpec);
  parsed.sweep.groups[0].programs->plan();
  const Program* program = parsed.sweep.groups[0].programs->train();
  EXPECT_EQ(error_of<SpecError>([&] { check_dump_requests({parse_dump_request("model/embeding@1")}, {program}); }),
            "error: --dump model/embeding@1: no node or parameter of the train program has this path (did you mean "
            "'model/embedding'?); `jari graph SPEC` lists them\n");
}

}  // namespace
}  // namespace jari
