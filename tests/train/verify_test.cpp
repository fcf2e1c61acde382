#include "framework/train/verify.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/base/error.hpp"
#include "framework/store/run_file.hpp"
#include "framework/train/trainer.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"
#include "tests/support/specs.hpp"

namespace jari {
namespace {

using test::kSmallSpec;
using test::ParsedSweep;
using test::sweep_of;
using test::TemporaryFolder;
using ::testing::HasSubstr;

using Environment = std::vector<std::pair<std::string, std::string>>;
const Environment kHere = {{"cpu", "a"}, {"build", "b"}, {"cpu_backend", "c"}};

class Verify : public ::testing::Test {
 protected:
  Verify() : parsed_(sweep_of(kSmallSpec)) {
    parsed_.sweep.groups[0].programs->plan();
    ThreadPool pool(1);
    Progress silent;
    Provenance provenance;
    provenance.device = "cpu";
    provenance.environment = kHere;
    const TemporaryFolder folder;
    train_group(*parsed_.sweep.groups[0].programs, {&trial()}, folder.path(), provenance, pool, silent);
    run_ = read_run_file(folder.path() / trial().folder / "run.h5");
  }
  const Trial& trial() const { return parsed_.sweep.trials[0]; }
  VerifyReport verify(std::int64_t steps, const Environment& here = kHere) const {
    ThreadPool pool(3);
    return verify_run(run_, trial(), steps, {}, here, pool);
  }

  ParsedSweep parsed_;
  RunRecord run_;
};

TEST_F(Verify, AGoodRunIsEqualToTheLastBit) {
  const VerifyReport report = verify(1000);
  EXPECT_TRUE(report.passed());
  EXPECT_TRUE(report.same_machine);
  EXPECT_EQ(report.steps, 60) << "no more than the run had";
  std::vector<std::string> names;
  for (const Verification& check : report.checks) {
    EXPECT_TRUE(check.equal) << check.what << ": " << check.recorded << " " << check.found;
    names.push_back(check.what);
  }
  for (const char* name :
       {"digest of the state at step 1", "digest of the state at step 10", "digest of the state at step 60",
        "train/loss at step 20", "evaluate/longer/accuracy_new of the stored weights"})
    EXPECT_THAT(names, ::testing::Contains(name));
}

TEST_F(Verify, OnlyTheFirstStepsIfSoAsked) {
  const VerifyReport report = verify(5);
  EXPECT_EQ(report.steps, 5);
  for (const Verification& check : report.checks) EXPECT_EQ(check.what.find("step 10"), std::string::npos);
}

TEST_F(Verify, FindsAWeightThatWasChanged) {
  std::get<std::vector<float>>(run_.weights[0].values)[0] += 100;
  const VerifyReport report = verify(1);
  EXPECT_FALSE(report.passed());
}

TEST_F(Verify, FindsALossThatWasChanged) {
  run_.metrics[0].values[1] *= 1.0001;
  EXPECT_FALSE(verify(1000).passed());
  const Environment other = {{"cpu", "another"}, {"build", "b"}, {"cpu_backend", "c"}};
  const VerifyReport report = verify(1000, other);
  EXPECT_TRUE(report.passed()) << "on another machine a ten-thousandth is no difference";
  EXPECT_FALSE(report.same_machine);
  EXPECT_EQ(report.difference, "cpu: a then, another now");
  run_.metrics[0].values[1] *= 1.01;
  EXPECT_FALSE(verify(1000, other).passed());
}

TEST_F(Verify, SaysThatThereIsNothingToCompare) {
  run_.metrics.clear();
  run_.weights.clear();
  run_.digests.clear();
  EXPECT_THAT(test::error_of<StoreError>([&] { verify(10); }), HasSubstr("holds neither digests, losses nor weights"));
}

}  // namespace
}  // namespace jari
