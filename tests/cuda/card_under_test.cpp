#include <gtest/gtest.h>

#include "framework/backend/device_module.hpp"
#include "tests/support/device_under_test.hpp"

namespace jari::test {
namespace {

// Without a card the binary does not fail, it says that nothing was tested.
class NeedsCard final : public testing::Environment {
 public:
  void SetUp() override {
    if (Cards::get().count() == 0) GTEST_SKIP() << Cards::get().reason();
  }
};

const testing::Environment* const needs_card = testing::AddGlobalTestEnvironment(new NeedsCard);

}  // namespace

std::shared_ptr<Device> device_under_test() { return Cards::get().open(0); }

}  // namespace jari::test
