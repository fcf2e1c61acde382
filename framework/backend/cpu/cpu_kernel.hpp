#pragma once
// What CPU kernels share. A kernel's work is cut into blocks by the problem alone, never by the number of threads, so
// that bits do not depend on it.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "framework/backend/element_types.hpp"
#include "framework/backend/kernel.hpp"

namespace jari {

// `std::unique_ptr<Kernel> make_cpu_add(const KernelRequest&)` and so on: one an op.
#define JARI_OP(name) std::unique_ptr<Kernel> make_cpu_##name(const KernelRequest& request);
#include "framework/ops/ops.def"
#undef JARI_OP

template <>
struct DeviceName<Kernel> {
  static constexpr const char* text = "the CPU";
};

namespace cpu {

using jari::for_any;
using jari::for_number;
using jari::for_real;

// Elements that are worth handing to another core.
inline constexpr std::int64_t kBlock = 16384;

inline std::int64_t blocks_of(std::int64_t count, std::int64_t block) { return (count + block - 1) / block; }

// `task(begin, end)` over [0, count) in blocks of `block`.
template <class Task>
void for_blocks(const Workers& workers, std::int64_t count, std::int64_t block, const Task& task) {
  workers.for_each(blocks_of(count, block),
                   [&](std::int64_t i, int) { task(i * block, std::min(count, (i + 1) * block)); });
}

// The same over rows of `row_size` elements each, several rows a block where they are short.
template <class Task>
void for_row_blocks(const Workers& workers, std::int64_t rows, std::int64_t row_size, const Task& task) {
  for_blocks(workers, rows, std::max<std::int64_t>(1, kBlock / std::max<std::int64_t>(1, row_size)), task);
}

template <class Run>
class FunctionKernel final : public Kernel {
 public:
  FunctionKernel(Run run, std::size_t workspace) : run_(std::move(run)), workspace_(workspace) {}
  std::size_t workspace_bytes() const override { return workspace_; }
  void run(const KernelArguments& arguments) const override { run_(arguments); }

 private:
  Run run_;
  std::size_t workspace_;
};

// A kernel from `void run(const KernelArguments&)`, which captures by value what it needs of the request.
template <class Run>
std::unique_ptr<Kernel> make_kernel(Run run, std::size_t workspace_bytes = 0) {
  return std::make_unique<FunctionKernel<Run>>(std::move(run), workspace_bytes);
}

}  // namespace cpu
}  // namespace jari
