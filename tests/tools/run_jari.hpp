#pragma once
// The program from its command line, within the test's process.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/commands.hpp"

namespace jari::test {

struct Output {
  int status;
  std::string out, err;
};

inline Output run_jari(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv = {"jari"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int status = run_program(static_cast<int>(argv.size()), argv.data());
  const std::string err = ::testing::internal::GetCapturedStderr();
  return {status, ::testing::internal::GetCapturedStdout(), err};
}

}  // namespace jari::test
