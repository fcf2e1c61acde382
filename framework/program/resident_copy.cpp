#include "framework/program/resident_copy.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

namespace jari {
namespace {

constexpr std::size_t kStaged = std::size_t{16} << 20;  // bytes that are copied at once

Device::Memory upload(Device& device, const std::byte* elements, std::size_t bytes, DeviceQueue& queue) {
  const Device::Memory memory = device.allocate(bytes);
  const Device::Memory staging = device.allocate_host(std::min(bytes, kStaged));
  for (std::size_t begin = 0; begin < bytes; begin += kStaged) {
    const std::size_t some = std::min(kStaged, bytes - begin);
    std::memcpy(staging.get(), elements + begin, some);
    queue.copy(memory.get() + begin, staging.get(), some);
    queue.wait();
  }
  return memory;
}

}  // namespace

Device::Memory resident_copy(const std::shared_ptr<Device>& device, const void* elements, std::size_t bytes,
                             DeviceQueue& queue) {
  // Who has a copy has its device and keeps its elements, so neither address can be another's while the copy lives.
  static std::mutex mutex;
  static std::map<std::pair<const Device*, const void*>, std::weak_ptr<std::byte[]>> copies;
  const std::lock_guard lock(mutex);
  std::erase_if(copies, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<std::byte[]>& known = copies[{device.get(), elements}];
  if (Device::Memory copy = known.lock()) return copy;
  Device::Memory copy = upload(*device, static_cast<const std::byte*>(elements), bytes, queue);
  known = copy;
  return copy;
}

}  // namespace jari
