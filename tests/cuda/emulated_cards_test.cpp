// Sweeps on cards: several of them, and such whose memory does not hold a whole group.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "framework/store/run_file.hpp"
#include "framework/sweep/launcher.hpp"
#include "framework/sweep/plan.hpp"
#include "tests/cuda/emulation/emulated_device.hpp"
#include "tests/support/files.hpp"
#include "tests/support/specs.hpp"

namespace jari {
namespace {

using test::kSmallSpec;
using test::make_emulated_device;
using test::ParsedSweep;
using test::sweep_of;
using test::TemporaryFolder;
using ::testing::HasSubstr;

using Devices = std::vector<std::shared_ptr<Device>>;

// Weights by trial.
std::map<std::string, std::vector<RecordArray>> run(const Devices& devices) {
  ParsedSweep parsed = sweep_of(std::string(kSmallSpec) + "seeds: 5\nsweep: {grid: {model.position: [sin, rope]}}\n",
                                {"train.steps=8", "evaluate={}"});
  const TemporaryFolder runs;
  Progress silent;
  const LaunchResult result =
      launch(parsed.sweep, parsed.spec, {}, {.runs = runs.path(), .threads = 2, .devices = devices}, silent);
  std::map<std::string, std::vector<RecordArray>> weights;
  for (const TrialOutcome& outcome : result.outcomes) {
    EXPECT_EQ(outcome.status, "finished") << outcome.message;
    weights[outcome.trial->label] = read_run_file(result.folder / outcome.trial->folder / "run.h5").weights;
  }
  EXPECT_EQ(weights.size(), 10u);
  return weights;
}

TEST(EmulatedCards, SeveralGiveWhatOneGives) {
  EXPECT_EQ(run({make_emulated_device(), make_emulated_device(), make_emulated_device()}),
            run({make_emulated_device()}));
}

TEST(EmulatedCards, AGroupThatDoesNotFitIsCutIntoParts) {
  ParsedSweep parsed = sweep_of(std::string(kSmallSpec) + "seeds: 5\n");
  TrialPrograms& programs = *parsed.sweep.groups[0].programs;
  programs.plan(make_emulated_device());
  EXPECT_EQ(trials_on_card(programs, std::size_t{1} << 30, 5), 5u);
  EXPECT_EQ(trials_on_card(programs, 1, 5), 1u) << "one is tried in any case";
  const std::size_t for_two = programs.device_bytes(2) * 10 / 8 + 1;
  EXPECT_EQ(trials_on_card(programs, for_two, 5), 2u);
  EXPECT_EQ(run({make_emulated_device({for_two})}), run({make_emulated_device()}));
}

TEST(EmulatedCards, ThePlanTellsWhatFits) {
  ParsedSweep parsed = sweep_of(std::string(kSmallSpec) + "seeds: 6\n");
  const TemporaryFolder runs;
  const SweepPlan plan = plan_sweep(parsed.sweep, {.runs = runs.path(),
                                                   .cores = 1,
                                                   .devices = {make_emulated_device(), make_emulated_device()},
                                                   .estimate_time = false});
  EXPECT_EQ(plan.groups[0].at_once, 3u) << "half of them on each card";
  const std::string text = plan_text(parsed.sweep, plan);
  EXPECT_THAT(text, HasSubstr("cards       emulated, emulated: up to 3 trials at once on one, in "));
  EXPECT_THAT(text, HasSubstr("time: of a trial, all cards at work"));
}

}  // namespace
}  // namespace jari
