#include "framework/train/device_choice.hpp"

#include <fmt/format.h>

#include "framework/base/error.hpp"

namespace jari {

std::vector<std::shared_ptr<Device>> devices_of(const Experiment& experiment, const Cards& cards) {
  std::vector<std::shared_ptr<Device>> devices;
  if (experiment.device != DeviceChoice::cpu) {
    for (int card = 0; card < cards.count(); ++card) devices.push_back(cards.open(card));
  }
  if (experiment.device == DeviceChoice::cuda && devices.empty()) {
    throw DeviceError(
        fmt::format("device: cuda, but there is no card to train on: {}. `device: auto` takes the CPU where "
                    "there is no card; `jari doctor` shows what this machine has",
                    cards.reason()));
  }
  if (experiment.train && static_cast<std::size_t>(experiment.train->data_parallel) > devices.size() &&
      experiment.train->data_parallel > 1) {
    throw DeviceError(fmt::format("train.data_parallel: {} takes that many cards, and this machine has {}{}",
                                  experiment.train->data_parallel, devices.size(),
                                  devices.empty() ? fmt::format(": {}", cards.reason()) : ""));
  }
  if (experiment.precision == Precision::tf32 && devices.empty()) {
    throw DeviceError(
        "precision: tf32 is one of NVIDIA's cards, and this trains on the CPU: take f32 (exact) or bf16 (faster)");
  }
  return devices;
}

std::string name_of_devices(const std::vector<std::shared_ptr<Device>>& devices) {
  return devices.empty() ? "cpu" : devices.front()->info().kind;
}

}  // namespace jari
