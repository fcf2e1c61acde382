#include "tests/cuda/emulation/emulated_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "framework/backend/cuda/kernel_table.hpp"
#include "framework/backend/cuda/step_kernels.hpp"
#include "framework/backend/cuda/stream_queue.hpp"
#include "framework/base/error.hpp"
#include "tests/cuda/emulation/emulated_communicator.hpp"

namespace jari::test {
namespace {

class EmulatedGraph final : public DeviceGraph {
 public:
  explicit EmulatedGraph(simt::EmulatedStream stream) : stream_(std::move(stream)) {}
  void replay() const { stream_.replay(); }

 private:
  simt::EmulatedStream stream_;
};

class EmulatedEvent final : public DeviceEvent {};

// Everything is done when it is given, so that an error comes from the call that made it.
class EmulatedQueue final : public cuda::StreamQueue {
 public:
  simt::Stream stream() const override { return &stream_; }

  void copy(void* to, const void* from, std::size_t bytes) override {
    if (bytes == 0) return;
    stream_.enqueue([=] { std::memcpy(to, from, bytes); });
  }
  void copy_rows(void* to, std::size_t to_stride, const void* from, std::size_t from_stride, std::size_t bytes,
                 std::size_t rows) override {
    if (to_stride < bytes || from_stride < bytes)
      throw DeviceError("rows of a copy overlap: CUDA refuses such pitches");
    stream_.enqueue([=] {
      for (std::size_t row = 0; row < rows; ++row)
        std::memcpy(static_cast<std::byte*>(to) + row * to_stride,
                    static_cast<const std::byte*>(from) + row * from_stride, bytes);
    });
  }
  void begin_capture() override {
    stream_.recorded.clear();
    stream_.capturing = true;
  }
  std::unique_ptr<DeviceGraph> end_capture() override {
    stream_.capturing = false;
    return std::make_unique<EmulatedGraph>(std::move(stream_));
  }
  void run(const DeviceGraph& graph) override { static_cast<const EmulatedGraph&>(graph).replay(); }
  std::unique_ptr<DeviceEvent> make_event() override { return std::make_unique<EmulatedEvent>(); }
  void record(DeviceEvent&) override {}
  void wait() override {
    if (stream_.capturing) throw DeviceError("a queue that is recorded can not be waited for");
  }
  void wait(const DeviceEvent&) override { wait(); }

 private:
  mutable simt::EmulatedStream stream_;
};

class EmulatedDevice final : public Device {
 public:
  explicit EmulatedDevice(const EmulatedDeviceOptions& options) : options_(options) {}

  DeviceInfo info() const override {
    return {"emulated", "cuda", "none", options_.memory,
            options_.memory - std::min<std::size_t>(options_.memory, *taken_)};
  }
  Memory allocate(std::size_t bytes) override {
    if (*taken_ + bytes > options_.memory) throw DeviceError(fmt::format("no {} bytes are left", bytes));
    *taken_ += bytes;
    return memory(bytes, [taken = taken_, bytes] { *taken -= bytes; });
  }
  Memory allocate_host(std::size_t bytes) override {
    return memory(bytes, [] {});
  }
  std::unique_ptr<DeviceQueue> make_queue() override { return std::make_unique<EmulatedQueue>(); }
  std::unique_ptr<DeviceKernel> make_kernel(const KernelRequest& request) override {
    return cuda::make_kernel_of(request);
  }
  std::unique_ptr<DeviceKernel> make_joint_kernel(const std::vector<KernelRequest>& requests) override {
    return cuda::make_joint_kernel_of(requests);
  }
  std::unique_ptr<DeviceKernel> make_guard(const std::vector<DType>& inputs) override {
    return cuda::make_guard(inputs);
  }
  std::unique_ptr<DeviceKernel> make_copy(std::size_t bytes) override { return cuda::make_copy(bytes); }
  std::vector<std::shared_ptr<Communicator>> make_communicators(
      const std::vector<std::shared_ptr<Device>>& devices) override {
    return make_emulated_communicators(static_cast<int>(devices.size()));
  }

 private:
  // Of exact size, so that the sanitizers see what goes beyond it.
  template <class Freed>
  static Memory memory(std::size_t bytes, const Freed& freed) {
    void* taken = nullptr;
    if (posix_memalign(&taken, 256, std::max<std::size_t>(bytes, 1)) != 0) throw std::bad_alloc();
    std::memset(taken, 0, bytes);
    return {static_cast<std::byte*>(taken), [freed](std::byte* data) {
              std::free(data);
              freed();
            }};
  }

  EmulatedDeviceOptions options_;
  std::shared_ptr<std::atomic<std::size_t>> taken_ = std::make_shared<std::atomic<std::size_t>>(0);
};

}  // namespace

std::shared_ptr<Device> make_emulated_device(const EmulatedDeviceOptions& options) {
  return std::make_shared<EmulatedDevice>(options);
}

}  // namespace jari::test
