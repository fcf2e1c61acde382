#include "framework/program/device_copy.hpp"

#include <cstring>

#include "framework/base/error.hpp"

namespace jari {

State::DeviceCopy::DeviceCopy(std::shared_ptr<Device> device, std::byte* host, int trials, std::size_t stride)
    : device_(std::move(device)),
      host_(host),
      stride_(stride),
      memory_(device_->allocate(stride * static_cast<std::size_t>(trials))),
      staging_(device_->allocate_host(stride * static_cast<std::size_t>(trials))),
      queue_(device_->make_queue()),
      newest_(static_cast<std::size_t>(trials), Newest::host) {}

void State::DeviceCopy::bring_to_host(int trial, bool to_change) {
  Newest& newest = newest_[static_cast<std::size_t>(trial)];
  if (newest == Newest::device) {
    const std::size_t offset = static_cast<std::size_t>(trial) * stride_;
    const std::lock_guard lock(mutex_);
    queue_->copy(staging_.get() + offset, memory_.get() + offset, stride_);
    queue_->wait();
    std::memcpy(host_ + offset, staging_.get() + offset, stride_);
    newest = Newest::both;
  }
  if (to_change) newest = Newest::host;
}

std::byte* State::DeviceCopy::bring_to_device(const Device& device, int first, int count) {
  if (&device != device_.get()) throw DeviceError("the state is on another device than the program that is to run");
  for (int begin = first; begin < first + count; ++begin) {
    int end = begin;
    while (end < first + count && newest_[static_cast<std::size_t>(end)] == Newest::host) ++end;
    if (end > begin) upload(begin, end - begin);
    begin = std::max(begin, end - 1);
  }
  return memory_.get() + static_cast<std::size_t>(first) * stride_;
}

void State::DeviceCopy::upload(int first, int count) {
  const std::size_t offset = static_cast<std::size_t>(first) * stride_,
                    bytes = static_cast<std::size_t>(count) * stride_;
  const std::lock_guard lock(mutex_);
  std::memcpy(staging_.get() + offset, host_ + offset, bytes);
  queue_->copy(memory_.get() + offset, staging_.get() + offset, bytes);
  queue_->wait();
  for (int trial = first; trial < first + count; ++trial) newest_[static_cast<std::size_t>(trial)] = Newest::both;
}

}  // namespace jari
