#pragma once
// The text of the error that an action ends with.

#include <string>

namespace jari::test {

// "no error" if it ends well. Errors of another type pass through and fail the test.
template <class Expected, class Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const Expected& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace jari::test
