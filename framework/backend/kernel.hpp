#pragma once
// How a device runs one node: a kernel is made once, at plan time, for known shapes, and then run every step.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "framework/base/thread_pool.hpp"
#include "framework/graph/graph.hpp"

namespace jari {

// What the kernel is made for. The types are those of one trial.
struct KernelRequest {
  const Op* op = nullptr;
  Attributes attributes;
  std::vector<TensorType> inputs, outputs;
  Products products = Products::exact;  // of large products; small ones may be exact all the same
};

// A worker's view of the cores that one trial's step may use. Kernels cut their work into blocks by the problem alone.
class Workers {
 public:
  Workers() = default;  // the calling thread only
  explicit Workers(ThreadPool& pool) : pool_(&pool) {}

  int threads() const { return pool_ ? pool_->threads() : 1; }
  // `block(i, worker)` for i in [0, count); `worker` < threads() is unique among the calls that run at one time.
  template <class Block>
  void for_each(std::int64_t count, const Block& block) const {
    if (pool_ == nullptr || count <= 1) {
      for (std::int64_t i = 0; i < count; ++i) block(i, 0);
    } else {
      pool_->for_each(count, block);
    }
  }

 private:
  ThreadPool* pool_ = nullptr;
};

struct KernelArguments {
  const void* const* inputs;  // by input, row-major
  void* const* outputs;
  void* workspace;  // workspace_bytes() bytes, 64-byte aligned, contents undefined
  const Workers* workers;

  template <class T>
  const T* input(int i) const {
    return static_cast<const T*>(inputs[i]);
  }
  template <class T>
  T* output(int i) const {
    return static_cast<T*>(outputs[i]);
  }
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual std::size_t workspace_bytes() const { return 0; }
  // Thread-safe: several trials run one kernel at one time. Never throws.
  virtual void run(const KernelArguments& arguments) const = 0;
};

// Makes a CPU kernel. Throws DeviceError if an operand's dtype is not served.
std::unique_ptr<Kernel> make_cpu_kernel(const KernelRequest& request);

// The kind of CPU that kernels are run on: "AMD EPYC 9B14, AVX-512". Equal texts give equal bits.
std::string cpu_description();

// The library behind the matrix products: "oneDNN 2.6.3".
std::string cpu_backend_version();

}  // namespace jari
