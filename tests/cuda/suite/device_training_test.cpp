// Trials trained on a device, from spec to run file.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "framework/store/run_file.hpp"
#include "framework/train/trainer.hpp"
#include "tests/support/device_under_test.hpp"
#include "tests/support/files.hpp"
#include "tests/support/specs.hpp"

namespace jari {
namespace {

using test::device_under_test;
using test::ParsedSweep;
using test::sweep_of;
using test::TemporaryFolder;

// With `extra` at its end.
std::string small(const std::string& extra) { return std::string(test::kSmallSpec) + extra; }

std::vector<RunRecord> train(const std::string& spec, const std::shared_ptr<Device>& device,
                             const std::set<std::size_t>& chosen = {}) {
  ParsedSweep parsed = sweep_of(spec);
  const TemporaryFolder folder;
  ThreadPool pool(1);
  Progress silent;
  std::vector<RunRecord> records;
  for (TrialGroup& group : parsed.sweep.groups) {
    group.programs->plan(device);
    std::vector<const Trial*> trials;
    for (const std::size_t i : group.trials) {
      if (chosen.empty() || chosen.count(i) > 0) trials.push_back(&parsed.sweep.trials[i]);
    }
    for (const TrialOutcome& outcome : train_group(*group.programs, trials, folder.path(), {}, pool, silent)) {
      EXPECT_EQ(outcome.status, "finished") << outcome.message;
      records.push_back(read_run_file(folder.path() / outcome.trial->folder / "run.h5"));
    }
  }
  return records;
}

void expect_near(const std::vector<RunRecord>& found, const std::vector<RunRecord>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t run = 0; run < found.size(); ++run) {
    ASSERT_EQ(found[run].metrics.size(), expected[run].metrics.size());
    for (std::size_t m = 0; m < found[run].metrics.size(); ++m) {
      const MetricSeries &left = found[run].metrics[m], &right = expected[run].metrics[m];
      ASSERT_EQ(left.values.size(), right.values.size());
      for (std::size_t i = 0; i < left.values.size(); ++i) {
        if (left.name.find("accuracy") != std::string::npos) continue;  // jumps where two logits are nearly equal
        EXPECT_NEAR(left.values[i], right.values[i], tolerance * (1 + std::abs(right.values[i])))
            << found[run].attributes.label << " " << left.name << " " << i;
      }
    }
  }
}

TEST(DeviceTraining, LossesAreThoseOfTheHost) {
  for (const char* position :
       {"{type: learned, max_length: 12}", "{type: sin}", "{type: rel, max_length: 12}", "{type: rope}",
        "{type: alibi}", "{type: t5}", "{type: none, allow_bag_of_words: true}"}) {
    SCOPED_TRACE(position);
    const std::string spec =
        small(std::string("precision: f64\nsweep: {grid: {model.position: [") + position + "]}}\n");
    expect_near(train(spec, device_under_test()), train(spec, nullptr), 1e-9);
  }
}

TEST(DeviceTraining, InSinglePrecisionToo) {
  const std::string spec = small("seeds: 2\n");
  expect_near(train(spec, device_under_test()), train(spec, nullptr), 1e-2);
}

TEST(DeviceTraining, ATrialInAGroupEqualsTheTrialAlone) {
  const std::string spec = small("seeds: 2\nsweep: {grid: {train.optimizer.lr: [1e-3, 1e-2]}}\n");
  const std::vector<RunRecord> together = train(spec, device_under_test());
  for (std::size_t trial = 0; trial < together.size(); ++trial) {
    const std::vector<RunRecord> alone = train(spec, device_under_test(), {trial});
    EXPECT_EQ(alone[0].weights, together[trial].weights);
    EXPECT_EQ(alone[0].metrics, together[trial].metrics);
  }
}

class StopsAt final : public Progress {
 public:
  explicit StopsAt(std::int64_t step) : step_(step) {}
  void stepped(const Trial&, std::int64_t step, double) override {
    if (step == step_) stop = true;
  }
  std::atomic<bool> stop{false};

 private:
  std::int64_t step_;
};

// Stopped on one side, gone on with on the other, in both directions.
TEST(DeviceTraining, ResumesAcrossDevices) {
  const std::string spec = small("precision: f64\n");
  const std::vector<RunRecord> expected = train(spec, nullptr);
  const std::shared_ptr<Device> sides[] = {nullptr, device_under_test()};
  for (const int first : {0, 1}) {
    const TemporaryFolder folder;
    ThreadPool pool(1);
    StopsAt progress(35);
    for (const auto& device : {sides[first], sides[1 - first]}) {
      ParsedSweep parsed = sweep_of(spec);
      parsed.sweep.groups[0].programs->plan(device);
      TrainOptions options;
      options.stop = &progress.stop;
      const auto outcomes = train_group(*parsed.sweep.groups[0].programs, {&parsed.sweep.trials[0]}, folder.path(), {},
                                        pool, progress, options);
      EXPECT_EQ(outcomes[0].status, progress.stop ? "interrupted" : "finished");
      progress.stop = false;
      if (outcomes[0].status == "finished")
        expect_near({read_run_file(folder.path() / outcomes[0].trial->folder / "run.h5")}, expected, 1e-9);
    }
  }
}

}  // namespace
}  // namespace jari
