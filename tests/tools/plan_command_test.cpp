// `jari plan` from its command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/store/atomic_file.hpp"
#include "tests/support/files.hpp"
#include "tests/support/specs.hpp"
#include "tools/commands.hpp"

namespace jari {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Output {
  int status;
  std::string out, err;
};

Output plan(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv = {"jari", "plan"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int status = run_program(static_cast<int>(argv.size()), argv.data());
  const std::string err = ::testing::internal::GetCapturedStderr();
  return {status, ::testing::internal::GetCapturedStdout(), err};
}

class PlanCommandLine : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& sweep) const {
    const std::filesystem::path path = folder_.path() / name;
    write_file_atomically(path, std::string(test::kSmallSpec) + sweep);
    return path.string();
  }
  std::vector<std::string> arguments(const std::string& spec, std::vector<std::string> more) const {
    more.insert(more.begin(), {spec, "--runs", (folder_.path() / "runs").string(), "--no-time"});
    return more;
  }

  test::TemporaryFolder folder_;
};

TEST_F(PlanCommandLine, TakesOverridesAndFormats) {
  const std::string spec = write("spec.yaml", "sweep: {grid: {model.width: [8, 16]}}\n");
  const Output text = plan(arguments(spec, {"seeds=3"}));
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, StartsWith("small: 6 trials in 2 fused groups\n"));
  const Output csv = plan(arguments(spec, {"--format", "csv"}));
  EXPECT_THAT(csv.out, StartsWith("folder,group,model.width,seed,state,"));
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 3);
}

TEST_F(PlanCommandLine, ComparesWithAnotherSpecAsItStands) {
  const std::string old_spec = write("old.yaml", "sweep: {grid: {model.width: [8, 16]}}\n");
  const std::string spec = write("spec.yaml", "sweep: {grid: {model.width: [8, 32]}}\n");
  const Output output = plan(arguments(spec, {"--against", old_spec}));
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.out, HasSubstr("against " + old_spec +
                                    ": 1 added, 1 reused, 1 dropped\n"
                                    "added: the 1 with model.width=32\n"));
  const Output both = plan(arguments(spec, {"--against", old_spec, "--format", "csv"}));
  EXPECT_EQ(both.status, 2);
  EXPECT_EQ(both.err, "error: --against is told as text only; leave --format csv out\n");
}

TEST_F(PlanCommandLine, OfAWrongSpecIsItsErrors) {
  const Output output = plan(arguments(write("spec.yaml", "sweep: {grid: {model.heads: [1, 3]}}\n"), {}));
  EXPECT_EQ(output.status, 2);
  EXPECT_EQ(output.out, "");
  EXPECT_THAT(output.err, HasSubstr("affects 1 of 2 trials: all with model.heads=3\n"));
}

}  // namespace
}  // namespace jari
