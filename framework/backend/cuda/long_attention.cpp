// cuDNN's attention or the own kernel: which one is measured, once for each shape and card in a process, so that the
// choice does not change within it. The measuring is a check as well: cuDNN is taken only if both agree.

#include "framework/backend/cuda/long_attention.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "framework/backend/cuda/cuda_device.hpp"
#include "framework/backend/cuda/cuda_error.hpp"
#include "framework/backend/cuda/library_attention.hpp"
#include "framework/backend/cuda/stream_queue.hpp"
#include "framework/base/error.hpp"
#include "framework/ops/ops.hpp"

namespace jari::cuda {

namespace {

constexpr const char* kVariable = "JARI_CUDA_ATTENTION";  // own or cudnn; otherwise measured
constexpr int kLeastCapability = 8;                       // cards before do not have bf16
// For these cards cuDNN's own frontend does not use this graph of the gradient where bits are to repeat, and it has
// none for the bias's gradient then.
constexpr int kUnorderedGradients = 10;
constexpr int kRounds = 3, kRunsEach = 4;
// Of the largest number of a result: how far two ways to make it may be apart. Both round operands to eight bits.
constexpr float kTolerance = 1.0f / 16;

int current_card() {
  int card = 0;
  check(cudaGetDevice(&card), "tell the current card");
  return card;
}

bool is_served_by(int card, bool is_gradient) {
  int major = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, card), "ask a card for its kind");
  return major >= kLeastCapability && !(is_gradient && major == kUnorderedGradients);
}

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "make an event"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

// A trial's operands, of random numbers, for the two kernels to work on.
class Trial {
 public:
  explicit Trial(const KernelRequest& request)
      : card_(open_card(current_card())), queue_(card_->make_queue()), outputs_(request.outputs) {
    std::mt19937 random(1);
    for (const TensorType& type : request.inputs) {
      const Device::Memory memory = card_->allocate(type.bytes());
      const Device::Memory numbers = card_->allocate_host(type.bytes());
      std::uniform_real_distribution<float> uniform(-1, 1);
      std::generate_n(reinterpret_cast<float*>(numbers.get()), type.shape.size(), [&] { return uniform(random); });
      queue_->copy(memory.get(), numbers.get(), type.bytes());
      queue_->wait();
      inputs_.push_back(memory);
    }
  }

  // What a kernel writes.
  struct Results {
    std::vector<Device::Memory> memories;
    Device::Memory workspace;
  };

  Results prepare(const DeviceKernel& kernel) const {
    Results results;
    for (const TensorType& type : outputs_) results.memories.push_back(card_->allocate(type.bytes()));
    results.workspace = card_->allocate(kernel.workspace_bytes(1));
    return results;
  }

  void run(const DeviceKernel& kernel, const Results& results) const {
    std::vector<DeviceOperand> inputs, outputs;
    for (const Device::Memory& memory : inputs_) inputs.push_back({memory.get(), 0});
    for (const Device::Memory& memory : results.memories) outputs.push_back({memory.get(), 0});
    kernel.launch({inputs.data(), outputs.data(), results.workspace.get(), 1, nullptr}, *queue_);
  }

  // Of the fastest of some rounds, after one to warm up.
  float milliseconds(const DeviceKernel& kernel, const Results& results) const {
    const cudaStream_t stream = static_cast<StreamQueue&>(*queue_).stream();
    const Event begin, end;
    float best = INFINITY;
    run(kernel, results);
    for (int round = 0; round < kRounds; ++round) {
      check(cudaEventRecord(begin.get(), stream), "measure a kernel");
      for (int i = 0; i < kRunsEach; ++i) run(kernel, results);
      check(cudaEventRecord(end.get(), stream), "measure a kernel");
      queue_->wait();
      float elapsed = 0;
      check(cudaEventElapsedTime(&elapsed, begin.get(), end.get()), "measure a kernel");
      best = std::min(best, elapsed / kRunsEach);
    }
    return best;
  }

  std::vector<float> numbers(const Results& results, std::size_t output) const {
    const TensorType& type = outputs_[output];
    const Device::Memory copy = card_->allocate_host(type.bytes());
    queue_->copy(copy.get(), results.memories[output].get(), type.bytes());
    queue_->wait();
    const auto* const first = reinterpret_cast<const float*>(copy.get());
    return {first, first + type.shape.size()};
  }

  bool agree(const Results& a, const Results& b) const {
    for (std::size_t output = 0; output < outputs_.size(); ++output) {
      const std::vector<float> expected = numbers(a, output), found = numbers(b, output);
      float largest = 0, apart = 0;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        largest = std::max(largest, std::abs(expected[i]));
        apart = std::max(apart, std::abs(expected[i] - found[i]));
        if (!std::isfinite(found[i])) return false;
      }
      if (apart > kTolerance * largest) return false;
    }
    return true;
  }

  // A gradient's input `saved` is to be what the forward kernel makes of its other inputs.
  void save(const DeviceKernel& forward, bool is_biased) const {
    constexpr std::size_t kSaved = 3, kUpstream = 4, kBias = 5;
    std::vector<DeviceOperand> inputs;
    for (std::size_t i = 0; i < kSaved; ++i) inputs.push_back({inputs_[i].get(), 0});
    if (is_biased) inputs.push_back({inputs_[kBias].get(), 0});
    const DeviceOperand outputs[] = {{inputs_[kUpstream].get(), 0}, {inputs_[kSaved].get(), 0}};
    const Device::Memory workspace = card_->allocate(forward.workspace_bytes(1));
    forward.launch({inputs.data(), outputs, workspace.get(), 1, nullptr}, *queue_);
    queue_->wait();
  }

 private:
  std::shared_ptr<Device> card_;
  std::unique_ptr<DeviceQueue> queue_;
  std::vector<TensorType> outputs_;
  std::vector<Device::Memory> inputs_;
};

// Whether cuDNN's kernel makes what the own one makes, in less time.
bool is_faster(const KernelRequest& request, const CudnnAttentionShape& shape, bool is_gradient,
               const DeviceKernel& own, const DeviceKernel& library) {
  const Trial trial(request);
  if (is_gradient) {
    CudnnAttentionShape forward = shape;
    forward.bias_gradient = false;
    trial.save(*make_library_attention(forward), shape.biased);
  }
  const Trial::Results by_own = trial.prepare(own), by_library = trial.prepare(library);
  const float own_time = trial.milliseconds(own, by_own), library_time = trial.milliseconds(library, by_library);
  if (!trial.agree(by_own, by_library)) {
    fmt::print(stderr,
               "{}: cuDNN makes other numbers than the plain kernel for [{}, {}, {}, {}], so it is not used here\n",
               request.op->name, shape.batch, shape.heads, shape.length, shape.width);
    return false;
  }
  return library_time < own_time;
}

// The same, remembered.
bool is_chosen(const KernelRequest& request, const CudnnAttentionShape& shape, bool is_gradient,
               const DeviceKernel& own, const DeviceKernel& library) {
  static std::mutex mutex;  // also keeps two threads from measuring at one time
  static std::map<std::tuple<int, bool, CudnnAttentionShape>, bool> chosen;
  const std::lock_guard lock(mutex);
  const auto key = std::tuple(current_card(), is_gradient, shape);
  const auto found = chosen.find(key);
  if (found != chosen.end()) return found->second;
  return chosen[key] = is_faster(request, shape, is_gradient, own, library);
}

}  // namespace

std::unique_ptr<DeviceKernel> faster_attention(const KernelRequest& request, std::unique_ptr<DeviceKernel> own) {
  const char* const given = std::getenv(kVariable);
  const std::string choice = given ? given : "";
  if (choice == "own") return own;
  const bool is_gradient = request.op->name == std::string_view(op_attention_gradient.name);
  const std::optional<CudnnAttentionShape> shape = library_attention_shape(request);
  if (!shape || !is_served_by(current_card(), is_gradient)) return own;
  std::unique_ptr<DeviceKernel> library;
  try {
    library = is_gradient ? make_library_attention_gradient(*shape) : make_library_attention(*shape);
  } catch (const DeviceError&) {
    // cuDNN has no plan. What fails later is no reason to take the other kernel: a card's memory of the moment is not
    // to decide about bits.
    if (choice == "cudnn") throw;
    return own;
  }
  const bool is_library = choice == "cudnn" || is_chosen(request, *shape, is_gradient, *own, *library);
  return is_library ? std::move(library) : std::move(own);
}

}  // namespace jari::cuda
