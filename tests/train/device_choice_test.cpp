// Which device a spec gets, and what is said where it can not have it.

#include "framework/train/device_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/base/error.hpp"
#include "framework/store/atomic_file.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"
#include "tests/support/specs.hpp"

namespace jari {
namespace {

using test::error_of;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

Experiment experiment(const std::string& extra) {
  return test::sweep_of(std::string(test::kSmallSpec) + extra).sweep.trials[0].experiment;
}

// No module is there, so no card, whatever this machine has.
const Cards& no_cards() {
  static const Cards cards("/nowhere/libjari_cuda.so");
  return cards;
}

TEST(DeviceChoice, AutoTakesTheCpuWhereThereIsNoCard) {
  EXPECT_THAT(devices_of(experiment(""), no_cards()), IsEmpty());
  EXPECT_THAT(devices_of(experiment("device: cpu\n"), no_cards()), IsEmpty());
  EXPECT_EQ(name_of_devices({}), "cpu");
}

TEST(DeviceChoice, SaysWhatWasLookedForWhereCudaIsAskedFor) {
  const std::string text = error_of<DeviceError>([] { devices_of(experiment("device: cuda\n"), no_cards()); });
  EXPECT_THAT(text, StartsWith("device: cuda, but there is no card to train on: "));
  EXPECT_THAT(text, AnyOf(HasSubstr("no NVIDIA driver (libcuda.so.1 is not on this machine)"),
                          HasSubstr("there is a driver, but no libjari_cuda.so at '/nowhere/libjari_cuda.so': this "
                                    "jari was built without the CUDA Toolkit")));
  EXPECT_THAT(text, HasSubstr(". `device: auto` takes the CPU where there is no card; `jari doctor` shows what this "
                              "machine has"));
}

TEST(DeviceChoice, ACardHasANumber) {
  const Experiment of = experiment("device: cuda:1\n");
  EXPECT_EQ(of.device.choice, DeviceChoice::cuda);
  EXPECT_EQ(of.device.card, 1);
  EXPECT_EQ(of.device.to_string(), "cuda:1");
  EXPECT_THAT(error_of<DeviceError>([&] { devices_of(of, no_cards()); }),
              StartsWith("device: cuda:1, but there is no card to train on: "));
  for (const char* wrong : {"cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda:99999999999"})
    EXPECT_EQ(card_number(wrong), std::nullopt) << wrong;
}

TEST(DeviceChoice, TheCpuHasNoTf32) {
  EXPECT_EQ(error_of<DeviceError>([] { devices_of(experiment("precision: tf32\n"), no_cards()); }),
            "precision: tf32 is one of NVIDIA's cards, and this trains on the CPU: take f32 (exact) or bf16 (faster)");
}

TEST(DeviceChoice, ATrialOnSeveralCardsNeedsThem) {
  Experiment of = experiment("");
  of.train.emplace().data_parallel = 4;
  EXPECT_THAT(error_of<DeviceError>([&] { devices_of(of, no_cards()); }),
              StartsWith("train.data_parallel: 4 takes that many cards, and there are 0: "));
}

// A module that knows two cards, and opens none.
std::vector<int>& opened() {
  static std::vector<int> cards;
  return cards;
}
const DeviceModule kTwoCards = {device_module_abi(), [] { return 2; },
                                [](int card) {
                                  opened().push_back(card);
                                  return std::shared_ptr<Device>();
                                }};

TEST(DeviceChoice, TakesTheCardsThatAreAskedFor) {
  const Cards cards(kTwoCards, "two_cards.so");
  opened().clear();
  EXPECT_EQ(devices_of(experiment("device: cuda:1\n"), cards).size(), 1u);
  EXPECT_EQ(opened(), std::vector<int>{1});
  EXPECT_EQ(devices_of(experiment("device: cuda\n"), cards).size(), 2u);
  EXPECT_EQ(devices_of(experiment(""), cards).size(), 2u);
  EXPECT_EQ(error_of<DeviceError>([&] { devices_of(experiment("device: cuda:2\n"), cards); }),
            "device: cuda:2, but this machine's cards are cuda:0 to cuda:1; `device: cuda` takes all");
}

TEST(Cards, AreOfAModuleOfThisJari) {
  DeviceModule other = kTwoCards;
  other.abi = "1";
  EXPECT_THAT(error_of<DeviceError>([&] { Cards(other, "other.so"); }),
              StartsWith("'other.so' was built for another jari (module 1, program "));
  DeviceModule none = kTwoCards;
  none.count_cards = [] { return 0; };
  EXPECT_EQ(error_of<DeviceError>([&] { Cards(none, "none.so"); }), "the driver knows no card");
}

TEST(Cards, AreCountedFromZero) {
  EXPECT_THAT(error_of<DeviceError>([] { no_cards().open(0); }), StartsWith("no card: "));
}

}  // namespace
}  // namespace jari
