// Products of matrices by cuBLASLt. What is row-major here is column-major there, so the operands are exchanged: the
// transposed result [n, m] is right transposed x left transposed.
//
// The algorithm is chosen once, for one trial's product, and then used for any number of them: a trial's bits do not
// depend on how many run beside it. None that splits a sum between blocks is taken, so they are the same in every run.

#include <cublasLt.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "framework/backend/cuda/cuda_error.hpp"
#include "framework/backend/cuda/products.hpp"
#include "framework/backend/cuda/stream_queue.hpp"

namespace jari::cuda {
namespace {

constexpr std::size_t kMostWorkspace = std::size_t{32} << 20;  // as cuBLAS's own on sm_90
constexpr int kCandidates = 8;                                 // algorithms to look at
constexpr std::int64_t kWidestLoad = 16;                       // bytes: a finer alignment makes no kernel faster

void check_library(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw DeviceError(fmt::format("cuBLAS could not {}: {} ({})", what, cublasLtGetStatusString(status),
                                cublasLtGetStatusName(status)));
}

// One for each card: it is of no stream and takes calls of several threads.
cublasLtHandle_t handle() {
  static std::mutex mutex;
  static std::map<int, cublasLtHandle_t> handles;
  int card = 0;
  check(cudaGetDevice(&card), "tell the current card");
  const std::lock_guard lock(mutex);
  cublasLtHandle_t& handle = handles[card];
  if (handle == nullptr) check_library(cublasLtCreate(&handle), "start");
  return handle;
}

cudaDataType_t data_type(const ProductShape& shape) { return shape.dtype == DType::f64 ? CUDA_R_64F : CUDA_R_32F; }

cublasComputeType_t compute_type(const ProductShape& shape) {
  if (shape.dtype == DType::f64) return CUBLAS_COMPUTE_64F;
  switch (shape.products) {
    case Products::exact:
      return CUBLAS_COMPUTE_32F;
    case Products::tf32:
      return CUBLAS_COMPUTE_32F_FAST_TF32;
    case Products::bf16:
      return CUBLAS_COMPUTE_32F_FAST_16BF;
  }
  throw DeviceError("cuBLAS: unknown products");
}

// Where one operand's matrices lie, as cuBLASLt sees them; the strides are those of a call's batch.
class Layout {
 public:
  Layout(cudaDataType_t type, std::int64_t rows, std::int64_t columns, int count, std::int64_t stride) {
    const std::int64_t leading = std::max<std::int64_t>(1, rows);
    check_library(cublasLtMatrixLayoutInit(&layout_, type, static_cast<std::uint64_t>(rows),
                                           static_cast<std::uint64_t>(columns), leading),
                  "describe a matrix");
    set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, count);
    set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
  }
  cublasLtMatrixLayout_t get() const { return const_cast<cublasLtMatrixLayoutOpaque_t*>(&layout_); }

 private:
  template <class Value>
  void set(cublasLtMatrixLayoutAttribute_t attribute, const Value& value) {
    check_library(cublasLtMatrixLayoutSetAttribute(&layout_, attribute, &value, sizeof(value)), "describe a batch");
  }
  cublasLtMatrixLayoutOpaque_t layout_{};
};

struct Strides {
  std::int64_t left, right, addend, result;  // elements
};

// Of `count` products, in the library's order of operands.
struct Layouts {
  Layouts(const ProductShape& shape, int count, const Strides& strides)
      : a(data_type(shape), shape.transpose_right ? shape.k : shape.n, shape.transpose_right ? shape.n : shape.k, count,
          strides.right),
        b(data_type(shape), shape.transpose_left ? shape.m : shape.k, shape.transpose_left ? shape.k : shape.m, count,
          strides.left),
        c(data_type(shape), shape.n, shape.m, count, strides.addend),
        d(data_type(shape), shape.n, shape.m, count, strides.result) {}
  Layout a, b, c, d;
};

class Description {
 public:
  explicit Description(const ProductShape& shape) {
    check_library(cublasLtMatmulDescInit(&description_, compute_type(shape), data_type(shape)), "describe a product");
    set(CUBLASLT_MATMUL_DESC_TRANSA, shape.transpose_right ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, shape.transpose_left ? CUBLAS_OP_T : CUBLAS_OP_N);
  }
  cublasLtMatmulDesc_t get() const { return const_cast<cublasLtMatmulDescOpaque_t*>(&description_); }

 private:
  void set(cublasLtMatmulDescAttributes_t attribute, cublasOperation_t value) {
    check_library(cublasLtMatmulDescSetAttribute(&description_, attribute, &value, sizeof(value)),
                  "describe a product");
  }
  cublasLtMatmulDescOpaque_t description_{};
};

// Bytes that every address of an operand is a multiple of, if it begins at a row of its matrix.
std::uint32_t alignment(const ProductShape& shape, std::int64_t row, std::int64_t stride) {
  const auto element = static_cast<std::int64_t>(size_of(shape.dtype));
  return static_cast<std::uint32_t>(std::gcd(kWidestLoad, std::gcd(row * element, stride * element)));
}

class Preference {
 public:
  explicit Preference(const ProductShape& shape) {
    check_library(cublasLtMatmulPreferenceInit(&preference_), "choose an algorithm");
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kMostWorkspace);
    set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_NONE));
    const std::int64_t left_row = shape.transpose_left ? shape.m : shape.k;
    const std::int64_t right_row = shape.transpose_right ? shape.k : shape.n;
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment(shape, right_row, shape.right_stride));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment(shape, left_row, shape.left_stride));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment(shape, shape.n, shape.result_stride));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment(shape, shape.n, shape.result_stride));
  }
  cublasLtMatmulPreference_t get() { return &preference_; }

 private:
  template <class Value>
  void set(cublasLtMatmulPreferenceAttributes_t attribute, const Value& value) {
    check_library(cublasLtMatmulPreferenceSetAttribute(&preference_, attribute, &value, sizeof(value)),
                  "choose an algorithm");
  }
  cublasLtMatmulPreferenceOpaque_t preference_{};
};

// Trials and the batch of each as calls of strided products: one if strides make them one, otherwise one for each of
// the fewer of the two.
struct Calls {
  int calls = 1, count = 1;
  Strides between_calls{}, within{};
};

Calls calls_of(const ProductShape& shape, const Strides& trial, int trials, bool one_by_one) {
  const Strides batch = {shape.left_stride, shape.right_stride, shape.result_stride, shape.result_stride};
  const auto size = static_cast<int>(shape.batch);
  if (one_by_one) return {trials, size, trial, batch};
  if (trials == 1) return {1, size, {}, batch};
  if (size == 1) return {1, trials, {}, trial};
  if (trial.left == size * batch.left && trial.right == size * batch.right && trial.addend == size * batch.addend &&
      trial.result == size * batch.result)
    return {1, size * trials, {}, batch};
  if (trials <= size) return {trials, size, trial, batch};
  return {size, trials, batch, trial};
}

class LibraryProduct final : public Product {
 public:
  explicit LibraryProduct(const ProductShape& shape) : shape_(shape), description_(shape) {
    if (!is_empty()) choose();
  }

  std::size_t workspace_bytes(int trials) const override {
    if (is_empty()) return 0;
    // The strides are not known yet; what matters is how many products a call may have.
    std::size_t most = 0;
    for (const std::int64_t count : {std::int64_t{1}, std::int64_t{trials}, shape_.batch, shape_.batch * trials})
      most = std::max(most, workspace_of(static_cast<int>(count)));
    return most;
  }

  void run(const ProductOperands& of, void* workspace, int trials, DeviceQueue& queue) const override {
    if (trials == 0 || shape_.m * shape_.n * shape_.batch == 0) return;
    const cudaStream_t stream = static_cast<StreamQueue&>(queue).stream();
    const DeviceOperand& addend = shape_.accumulate ? of.addend : of.result;
    const Strides strides = {elements(of.left.stride), elements(of.right.stride), elements(addend.stride),
                             elements(of.result.stride)};
    const Calls calls = calls_of(shape_, strides, trials, one_by_one_);
    const Strides& step = calls.between_calls;
    for (int i = 0; i < calls.calls; ++i) {
      const Places places = {at(of.left, i * step.left), at(of.right, i * step.right), at(addend, i * step.addend),
                             at(of.result, i * step.result)};
      run_call(calls, places, workspace, workspace_of(calls.count), stream);
    }
  }

 private:
  bool is_empty() const { return shape_.m * shape_.n * shape_.k * shape_.batch == 0; }

  struct Places {
    const void *left, *right, *addend;
    void* result;
  };

  Strides batch_strides() const {
    return {shape_.left_stride, shape_.right_stride, shape_.result_stride, shape_.result_stride};
  }

  // The first of the library's candidates for one trial that also does several; if none does, trials go one by one.
  void choose() {
    const Layouts one(shape_, static_cast<int>(shape_.batch), batch_strides());
    Preference preference(shape_);
    std::vector<cublasLtMatmulHeuristicResult_t> found(kCandidates);
    int count = 0;
    check_library(cublasLtMatmulAlgoGetHeuristic(handle(), description_.get(), one.a.get(), one.b.get(), one.c.get(),
                                                 one.d.get(), preference.get(), kCandidates, found.data(), &count),
                  "choose an algorithm");
    found.resize(static_cast<std::size_t>(count));
    std::erase_if(found, [](const auto& candidate) { return candidate.state != CUBLAS_STATUS_SUCCESS; });
    if (found.empty()) {
      throw DeviceError(fmt::format("cuBLAS has no algorithm for a product of [{}, {}] and [{}, {}]", shape_.m,
                                    shape_.k, shape_.k, shape_.n));
    }
    for (const cublasLtMatmulHeuristicResult_t& candidate : found) {
      algorithm_ = candidate.algo;
      std::size_t bytes = 0;
      if (serves(2, bytes) && serves(static_cast<int>(2 * shape_.batch), bytes)) return;
    }
    algorithm_ = found.front().algo;
    one_by_one_ = true;
  }

  // Whether the algorithm does `count` products in one call, and what it needs for that.
  bool serves(int count, std::size_t& bytes) const {
    const std::int64_t result = shape_.m * shape_.n;
    const Layouts layouts(shape_, count, {shape_.m * shape_.k, shape_.k * shape_.n, result, result});
    cublasLtMatmulHeuristicResult_t found{};
    const cublasStatus_t status =
        cublasLtMatmulAlgoCheck(handle(), description_.get(), layouts.a.get(), layouts.b.get(), layouts.c.get(),
                                layouts.d.get(), &algorithm_, &found);
    bytes = found.workspaceSize;
    return status == CUBLAS_STATUS_SUCCESS && bytes <= kMostWorkspace;
  }
  std::size_t workspace_of(int count) const {
    std::size_t bytes = 0;
    return serves(count, bytes) ? bytes : 0;
  }

  void run_call(const Calls& calls, const Places& at, void* workspace, std::size_t workspace_size,
                cudaStream_t stream) const {
    if (shape_.k == 0) return put_sum_of_nothing(calls, at, stream);
    const Layouts layouts(shape_, calls.count, calls.within);
    const double one = 1, zero = 0;
    const float one_f32 = 1, zero_f32 = 0;
    const bool is_f64 = shape_.dtype == DType::f64;
    const void* const alpha = is_f64 ? static_cast<const void*>(&one) : &one_f32;
    const void* const beta = shape_.accumulate ? alpha : is_f64 ? static_cast<const void*>(&zero) : &zero_f32;
    check_library(cublasLtMatmul(handle(), description_.get(), alpha, at.right, layouts.a.get(), at.left,
                                 layouts.b.get(), beta, at.addend, layouts.c.get(), at.result, layouts.d.get(),
                                 &algorithm_, workspace, workspace_size, stream),
                  "multiply matrices");
  }

  void put_sum_of_nothing(const Calls& calls, const Places& at, cudaStream_t stream) const {
    const std::size_t element = size_of(shape_.dtype), bytes = static_cast<std::size_t>(shape_.m * shape_.n) * element;
    const auto pitch = [&](std::int64_t stride) { return std::max(static_cast<std::size_t>(stride) * element, bytes); };
    const auto count = static_cast<std::size_t>(calls.count);
    if (!shape_.accumulate) {
      check(cudaMemset2DAsync(at.result, pitch(calls.within.result), 0, bytes, count, stream), "fill with zeros");
    } else if (at.addend != at.result) {
      check(cudaMemcpy2DAsync(at.result, pitch(calls.within.result), at.addend, pitch(calls.within.addend), bytes,
                              count, cudaMemcpyDeviceToDevice, stream),
            "copy an addend");
    }
  }

  std::int64_t elements(std::size_t bytes) const { return static_cast<std::int64_t>(bytes / size_of(shape_.dtype)); }
  void* at(const DeviceOperand& operand, std::int64_t element) const {
    return static_cast<std::byte*>(operand.data) + element * static_cast<std::int64_t>(size_of(shape_.dtype));
  }

  ProductShape shape_;
  Description description_;
  cublasLtMatmulAlgo_t algorithm_{};
  bool one_by_one_ = false;
};

}  // namespace

std::unique_ptr<Product> make_product(const ProductShape& shape) { return std::make_unique<LibraryProduct>(shape); }

}  // namespace jari::cuda
