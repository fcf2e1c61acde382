#include "framework/backend/cuda/cuda_device.hpp"

#include <cublasLt.h>
#include <cudnn.h>

#include <algorithm>

#include "framework/backend/cuda/cuda_error.hpp"
#include "framework/backend/cuda/kernel_table.hpp"
#include "framework/backend/cuda/nccl_communicator.hpp"
#include "framework/backend/cuda/step_kernels.hpp"
#include "framework/backend/cuda/stream_queue.hpp"

namespace jari::cuda {

namespace {

// The runtime's calls work on the calling thread's current card.
void use(int card) { check(cudaSetDevice(card), fmt::format("use card {}", card)); }

class Graph final : public DeviceGraph {
 public:
  explicit Graph(cudaGraph_t graph) {
    const cudaError_t status = cudaGraphInstantiate(&executable_, graph, 0);
    cudaGraphDestroy(graph);
    check(status, "make a graph of a step");
  }
  ~Graph() override { cudaGraphExecDestroy(executable_); }
  cudaGraphExec_t executable() const { return executable_; }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

class Event final : public DeviceEvent {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "make an event"); }
  ~Event() override { cudaEventDestroy(event_); }
  cudaEvent_t event() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

class Queue final : public StreamQueue {
 public:
  explicit Queue(int card) : card_(card) {
    use(card_);
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "make a stream");
  }
  ~Queue() override { cudaStreamDestroy(stream_); }

  simt::Stream stream() const override {
    use(card_);  // for the launch that it is wanted for
    return stream_;
  }

  void copy(void* to, const void* from, std::size_t bytes) override {
    if (bytes == 0) return;
    use(card_);
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_), fmt::format("copy {} bytes", bytes));
  }

  void copy_rows(void* to, std::size_t to_stride, const void* from, std::size_t from_stride, std::size_t bytes,
                 std::size_t rows) override {
    if (bytes == 0 || rows == 0) return;
    use(card_);
    check(cudaMemcpy2DAsync(to, to_stride, from, from_stride, bytes, rows, cudaMemcpyDefault, stream_),
          fmt::format("copy {} rows of {} bytes", rows, bytes));
  }

  void begin_capture() override {
    use(card_);
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "begin to record a step");
  }

  std::unique_ptr<DeviceGraph> end_capture() override {
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream_, &graph), "record a step");
    return std::make_unique<Graph>(graph);
  }

  void run(const DeviceGraph& graph) override {
    use(card_);
    check(cudaGraphLaunch(static_cast<const Graph&>(graph).executable(), stream_), "start a step");
  }

  std::unique_ptr<DeviceEvent> make_event() override {
    use(card_);
    return std::make_unique<Event>();
  }

  void record(DeviceEvent& event) override {
    use(card_);
    check(cudaEventRecord(static_cast<Event&>(event).event(), stream_), "record an event");
  }

  void wait() override {
    use(card_);
    check(cudaStreamSynchronize(stream_), "finish its work");
  }

  void wait(const DeviceEvent& event) override {
    use(card_);
    check(cudaEventSynchronize(static_cast<const Event&>(event).event()), "finish its work");
  }

 private:
  int card_;
  cudaStream_t stream_ = nullptr;
};

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

// cuBLAS and cuDNN count major * 10000 + minor * 100 + patch.
std::string library_version(std::size_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int card) : card_(card) {
    use(card_);
    check(cudaGetDeviceProperties(&properties_, card_), fmt::format("ask card {} for its properties", card_));
  }

  DeviceInfo info() const override {
    use(card_);
    DeviceInfo info;
    info.kind = "cuda";
    info.name = properties_.name;
    check(cudaMemGetInfo(&info.free, &info.memory), "ask for its free memory");
    int driver = 0, runtime = 0;
    check(cudaDriverGetVersion(&driver), "ask for the driver's version");
    check(cudaRuntimeGetVersion(&runtime), "ask for the runtime's version");
    info.libraries = fmt::format("compute capability {}.{}, driver {}, runtime {}, cuBLASLt {}, cuDNN {}",
                                 properties_.major, properties_.minor, version_text(driver), version_text(runtime),
                                 library_version(cublasLtGetVersion()), library_version(cudnnGetVersion()));
    return info;
  }

  Memory allocate(std::size_t bytes) override {
    use(card_);
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes > 0 ? bytes : 1), fmt::format("take {} bytes of its memory", bytes));
    const Memory owned(static_cast<std::byte*>(memory), [](std::byte* taken) { cudaFree(taken); });
    check(cudaMemset(memory, 0, bytes), "clear its memory");
    check(cudaDeviceSynchronize(), "clear its memory");
    return owned;
  }

  Memory allocate_host(std::size_t bytes) override {
    use(card_);
    void* memory = nullptr;
    check(cudaMallocHost(&memory, bytes > 0 ? bytes : 1), fmt::format("take {} bytes of pinned memory", bytes));
    std::fill_n(static_cast<std::byte*>(memory), bytes, std::byte{0});
    return {static_cast<std::byte*>(memory), [](std::byte* taken) { cudaFreeHost(taken); }};
  }

  std::unique_ptr<DeviceQueue> make_queue() override { return std::make_unique<Queue>(card_); }
  std::unique_ptr<DeviceKernel> make_kernel(const KernelRequest& request) override {
    use(card_);
    return make_kernel_of(request);
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
    std::vector<int> cards;
    for (const auto& device : devices) cards.push_back(static_cast<const CudaDevice&>(*device).card_);
    return make_nccl_communicators(cards);
  }

 private:
  int card_;
  cudaDeviceProp properties_;
};

}  // namespace

int count_cards() {
  int count = 0;
  check(cudaGetDeviceCount(&count), "find a card");
  return count;
}

std::shared_ptr<Device> open_card(int index) { return std::make_shared<CudaDevice>(index); }

}  // namespace jari::cuda
