#pragma once
// A device beside the host: memory of its own, a queue of work, and kernels that do a node's work for all trials of a
// group at once. The host's own kernels are in kernel.hpp.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "framework/backend/kernel.hpp"

namespace jari {

struct DeviceInfo {
  std::string name;        // "NVIDIA H200"
  std::string kind;        // "cuda"
  std::string libraries;   // "driver 13.0, runtime 13.0, cuBLASLt 13.1, cuDNN 9.19"; equal texts give equal bits
  std::size_t memory = 0;  // bytes
  std::size_t free = 0;    // bytes that nobody has taken yet
};

// A node's operand on the device: elements of trial t are dense from `data + t * stride` bytes on. Stride 0: all trials
// share them.
struct DeviceOperand {
  void* data = nullptr;
  std::size_t stride = 0;
};

struct DeviceArguments {
  const DeviceOperand* inputs;
  const DeviceOperand* outputs;
  void* workspace;  // workspace_bytes(trials) bytes, 256-byte aligned, contents undefined
  int trials;
  // By trial: where it is 0, what is kept from step to step must stay as it is. Null: nowhere. Kernels of optimizer
  // steps look at it, others need not.
  const std::int32_t* active;
};

// A recorded sequence of work.
class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;
};

// A place in a queue's work.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;
};

// Work that the device does in the order in which it is given. All verbs return at once but wait(). DeviceError where
// the device fails; a failed kernel may show only at a later call.
class DeviceQueue {
 public:
  virtual ~DeviceQueue() = default;
  // Between any two memories. Host memory must be of Device::allocate_host(), and stay as it is until the copy is done.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  // `rows` stretches of `bytes` bytes, `to_stride` and `from_stride` bytes apart.
  virtual void copy_rows(void* to, std::size_t to_stride, const void* from, std::size_t from_stride, std::size_t bytes,
                         std::size_t rows) = 0;
  // From here on work is recorded, not done, until end_capture().
  virtual void begin_capture() = 0;
  virtual std::unique_ptr<DeviceGraph> end_capture() = 0;
  virtual void run(const DeviceGraph& graph) = 0;
  virtual std::unique_ptr<DeviceEvent> make_event() = 0;
  virtual void record(DeviceEvent& event) = 0;  // the event is now behind all that was given
  // Until all is done that was given, or given before the event.
  virtual void wait() = 0;
  virtual void wait(const DeviceEvent& event) = 0;
};

// Made once, at plan time, for known shapes; launched every step.
class DeviceKernel {
 public:
  virtual ~DeviceKernel() = default;
  virtual std::size_t workspace_bytes(int /*trials*/) const { return 0; }
  virtual void launch(const DeviceArguments& arguments, DeviceQueue& queue) const = 0;
};

class Communicator;  // communicator.hpp

class Device {
 public:
  using Memory = std::shared_ptr<std::byte[]>;

  virtual ~Device() = default;
  virtual DeviceInfo info() const = 0;
  // 256-byte aligned, filled with zeros. DeviceError where there is not enough.
  virtual Memory allocate(std::size_t bytes) = 0;
  virtual Memory allocate_host(std::size_t bytes) = 0;  // of the host, for copies
  virtual std::unique_ptr<DeviceQueue> make_queue() = 0;
  // DeviceError where an operand's element type is not served.
  virtual std::unique_ptr<DeviceKernel> make_kernel(const KernelRequest& request) = 0;
  // For several nodes of one op and equal attributes, of which none reads what another writes and all have the same
  // step: its operands are theirs, one node's after the other's. Null where they are launched one by one.
  virtual std::unique_ptr<DeviceKernel> make_joint_kernel(const std::vector<KernelRequest>& requests) = 0;
  // Its one output is `active`, i32 by trial: made 0 where one of the inputs, scalars of these types, is not finite.
  virtual std::unique_ptr<DeviceKernel> make_guard(const std::vector<DType>& inputs) = 0;
  // From its input to its output, `bytes` bytes, where the trial is active.
  virtual std::unique_ptr<DeviceKernel> make_copy(std::size_t bytes) = 0;
  // Between `devices`, this one and others of its kind: one for each, in their order. DeviceError where there is no
  // way.
  virtual std::vector<std::shared_ptr<Communicator>> make_communicators(
      const std::vector<std::shared_ptr<Device>>& devices) = 0;
};

}  // namespace jari
