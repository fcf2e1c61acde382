#include "framework/train/device_choice.hpp"

#include <fmt/format.h>

#include "framework/base/error.hpp"

namespace jari {

namespace {

std::vector<std::shared_ptr<Device>> chosen(const DeviceSpec& spec, const Cards& cards) {
  if (spec.choice == DeviceChoice::cpu) return {};
  if (spec.choice == DeviceChoice::cuda && cards.count() == 0) {
    throw DeviceError(
        fmt::format("device: {}, but there is no card to train on: {}. `device: auto` takes the CPU where "
                    "there is no card; `jari doctor` shows what this machine has",
                    spec.to_string(), cards.reason()));
  }
  if (spec.card) {
    if (*spec.card < cards.count()) return {cards.open(*spec.card)};
    throw DeviceError(
        fmt::format("device: {}, but this machine's cards are cuda:0 to cuda:{}; `device: cuda` takes all",
                    spec.to_string(), cards.count() - 1));
  }
  std::vector<std::shared_ptr<Device>> devices;
  for (int card = 0; card < cards.count(); ++card) devices.push_back(cards.open(card));
  return devices;
}

}  // namespace

std::vector<std::shared_ptr<Device>> devices_of(const Experiment& experiment, const Cards& cards) {
  std::vector<std::shared_ptr<Device>> devices = chosen(experiment.device, cards);
  if (experiment.train && static_cast<std::size_t>(experiment.train->data_parallel) > devices.size() &&
      experiment.train->data_parallel > 1) {
    throw DeviceError(fmt::format("train.data_parallel: {} takes that many cards, and there are {}{}",
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
