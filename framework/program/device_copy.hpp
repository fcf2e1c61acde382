#pragma once
// The bytes of a State in a device's memory, and for each trial on which side the newest ones are.

#include <mutex>
#include <vector>

#include "framework/program/program.hpp"

namespace jari {

class State::DeviceCopy {
 public:
  // `host`: the trials' slices, `stride` bytes apart; until now the only ones.
  DeviceCopy(std::shared_ptr<Device> device, std::byte* host, int trials, std::size_t stride);

  // Thread-safe for different trials.
  void bring_to_host(int trial, bool to_change);
  // Trials [first, first + count); the slice of the first. DeviceError for another device than this copy's.
  std::byte* bring_to_device(const Device& device, int first, int count);
  void changed(int trial) { newest_[static_cast<std::size_t>(trial)] = Newest::device; }

 private:
  enum class Newest { both, host, device };

  void upload(int first, int count);

  std::shared_ptr<Device> device_;
  std::byte* host_;
  std::size_t stride_;
  Device::Memory memory_, staging_;  // staging: of the host, where the device can copy from and to
  std::unique_ptr<DeviceQueue> queue_;
  std::mutex mutex_;  // of queue and staging
  std::vector<Newest> newest_;
};

}  // namespace jari
