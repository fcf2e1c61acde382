// Softmax along the last axis: a block of threads a row. The result may lie over the operand.

#include "framework/backend/cuda/real_math.hpp"
#include "framework/backend/cuda/rows.hpp"

namespace jari {

namespace {

using namespace cuda;

// The largest element, at least kLowestMaximum; all threads of the block get it.
template <class T>
__device__ T largest_of(const T* row, std::int64_t width, T* parts) {
  T largest = static_cast<T>(kLowestMaximum);
  for (std::int64_t i = threadIdx.x; i < width; i += blockDim.x) largest = larger(largest, row[i]);
  return reduce_block(largest, Largest(), parts);
}

template <class T>
__global__ void softmax(Operand<const T> x, Operand<T> out, std::int64_t width) {
  JARI_SHARED(T, parts, 32);
  const T* const row = x.of_trial() + blockIdx.x * width;
  T* const to = out.of_trial() + blockIdx.x * width;
  const T largest = largest_of(row, width, parts);
  T sum = 0;
  for (std::int64_t i = threadIdx.x; i < width; i += blockDim.x) sum += to[i] = exponential(row[i] - largest);
  sum = larger(reduce_block(sum, Sum(), parts), static_cast<T>(kLowestSum));
  for (std::int64_t i = threadIdx.x; i < width; i += blockDim.x) to[i] /= sum;
}

template <class T>
__global__ void log_softmax(Operand<const T> x, Operand<T> out, std::int64_t width) {
  JARI_SHARED(T, parts, 32);
  const T* const row = x.of_trial() + blockIdx.x * width;
  T* const to = out.of_trial() + blockIdx.x * width;
  const T largest = largest_of(row, width, parts);
  T sum = 0;
  for (std::int64_t i = threadIdx.x; i < width; i += blockDim.x) sum += exponential(row[i] - largest);
  sum = larger(reduce_block(sum, Sum(), parts), static_cast<T>(kLowestSum));
  const T shift = largest + logarithm(sum);
  for (std::int64_t i = threadIdx.x; i < width; i += blockDim.x) to[i] = row[i] - shift;
}

template <class T>
__global__ void softmax_gradient(Operand<const T> probabilities, Operand<const T> upstream, Operand<T> out,
                                 std::int64_t width) {
  JARI_SHARED(T, parts, 32);
  const T* const probability = probabilities.of_trial() + blockIdx.x * width;
  const T* const slope = upstream.of_trial() + blockIdx.x * width;
  T* const to = out.of_trial() + blockIdx.x * width;
  T mean = 0;
  for (std::int64_t i = threadIdx.x; i < width; i += blockDim.x) mean += probability[i] * slope[i];
  mean = reduce_block(mean, Sum(), parts);
  for (std::int64_t i = threadIdx.x; i < width; i += blockDim.x) to[i] = probability[i] * (slope[i] - mean);
}

struct Rows {
  explicit Rows(const TensorType& type)
      : width(type.shape[-1]), count(width == 0 ? 0 : type.shape.size() / width), threads(threads_for_row(width)) {}
  std::int64_t width, count;
  unsigned threads;
};

}  // namespace

std::unique_ptr<DeviceKernel> make_cuda_softmax(const KernelRequest& request) {
  const Rows rows(request.inputs[0]);
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    return make_kernel([=](const Call& call) {
      call.launch(softmax<T>, rows.count, rows.threads, 0, call.input<T>(0), call.output<T>(0), rows.width);
    });
  });
}

std::unique_ptr<DeviceKernel> make_cuda_log_softmax(const KernelRequest& request) {
  const Rows rows(request.inputs[0]);
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    return make_kernel([=](const Call& call) {
      call.launch(log_softmax<T>, rows.count, rows.threads, 0, call.input<T>(0), call.output<T>(0), rows.width);
    });
  });
}

std::unique_ptr<DeviceKernel> make_cuda_softmax_gradient(const KernelRequest& request) {
  const Rows rows(request.inputs[0]);
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    return make_kernel([=](const Call& call) {
      call.launch(softmax_gradient<T>, rows.count, rows.threads, 0, call.input<T>(0), call.input<T>(1),
                  call.output<T>(0), rows.width);
    });
  });
}

}  // namespace jari
