// jari doctor on this machine, and where something is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "framework/store/atomic_file.hpp"
#include "tests/support/files.hpp"
#include "tests/tools/run_jari.hpp"
#include "tools/self_test.hpp"

namespace jari {
namespace {

using test::Output;
using test::run_jari;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

// Sets an environment variable while it lives.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Environment() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(Doctor, FindsAllThatIsNeededWhereTestsRun) {
  const test::TemporaryFolder folder;
  const Output output = run_jari({"doctor", "--runs", (folder.path() / "runs").string()});
  EXPECT_EQ(output.status, 0) << output.out;
  for (const char* what : {"ok      jari  ", "HDF5 1.", "oneDNN ", "yaml-cpp 0.", "ok      CPU  ", "ok      cores  ",
                           "ok      memory  ", "CUDA  ", "gnuplot  ", "(not yet there), ", "ok      locks  ",
                           "ok      training     3 trials of 20 steps, equal bits on 1 and ", "ok      gradients  "})
    EXPECT_THAT(output.out, HasSubstr(what));
  EXPECT_THAT(output.out, ContainsRegex("\nall that jari needs is there\n$"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "it leaves nothing behind";
}

TEST(Doctor, SaysWhatToDoWhereRunsCanNotBeWritten) {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "file";
  write_file_atomically(file, "in the way");
  const Output output = run_jari({"doctor", "--runs", file.string()});
  EXPECT_EQ(output.status, 3);
  EXPECT_THAT(output.out,
              HasSubstr("PROBLEM runs folder  " + file.string() + ": can not be written: Not a directory\n"));
  EXPECT_THAT(output.out, HasSubstr("choose a folder that you may write to with --runs, or change its permissions\n"));
  EXPECT_THAT(output.out, HasSubstr("\n1 problem\n"));
}

TEST(Doctor, TellsOfAMissingPlotterWithoutCallingItAProblem) {
  const test::TemporaryFolder empty;
  const Environment path("PATH", empty.path().string());
  const Output output = run_jari({"doctor", "--runs", empty.path().string()});
  EXPECT_EQ(output.status, 0) << output.out;
  EXPECT_THAT(output.out, HasSubstr("note    gnuplot      not found in the PATH\n"));
}

TEST(SelfTest, GradientsAreThoseOfFiniteDifferences) {
  const SelfTest test = test_gradient();
  EXPECT_TRUE(test.passed) << test.text;
}

}  // namespace
}  // namespace jari
