#include "tests/cuda/emulation_kernels.hpp"

namespace {

constexpr int kSumThreads = 256, kTile = 32, kTileRows = 8;

__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
}

__global__ void __launch_bounds__(kSumThreads) block_sums(const float* x, float* sums, int count) {
  JARI_SHARED(float, of_warp, kSumThreads / 32);
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const float sum = warp_sum(i < count ? __ldg(x + i) : 0.0f);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  const float total = warp_sum(threadIdx.x < kSumThreads / 32 ? of_warp[threadIdx.x] : 0.0f);
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

__global__ void transpose(const float* in, float* out, int rows, int columns) {
  JARI_DYNAMIC_SHARED(float, tile);  // [kTile, kTile + 1]
  const int column = static_cast<int>(blockIdx.x) * kTile + static_cast<int>(threadIdx.x);
  const int first_row = static_cast<int>(blockIdx.y) * kTile;
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  for (int row = y; row < kTile; row += kTileRows) {
    if (first_row + row < rows && column < columns) {
      tile[row * (kTile + 1) + x] = in[(first_row + row) * columns + column];
    }
  }
  __syncthreads();
  const int out_column = first_row + x, first_out_row = static_cast<int>(blockIdx.x) * kTile;
  for (int row = y; row < kTile; row += kTileRows) {
    if (out_column < rows && first_out_row + row < columns) {
      out[(first_out_row + row) * rows + out_column] = tile[x * (kTile + 1) + row];
    }
  }
}

__global__ void histogram(const unsigned* values, unsigned* counts, int count) {
  JARI_SHARED(unsigned, own, kHistogramBins);
  for (unsigned bin = threadIdx.x; bin < kHistogramBins; bin += blockDim.x) own[bin] = 0;
  __syncthreads();
  const int step = static_cast<int>(gridDim.x * blockDim.x);
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += step) {
    atomicAdd(&own[values[i] % kHistogramBins], 1u);
  }
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < kHistogramBins; bin += blockDim.x) atomicAdd(&counts[bin], own[bin]);
}

template <class T>
__global__ void affine(const T* x, T* out, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) out[i] = 2 * x[i] + 1;
}

unsigned divide_up(int count, int by) { return static_cast<unsigned>((count + by - 1) / by); }

}  // namespace

void launch_block_sums(const float* x, float* sums, int count, simt::Stream stream) {
  simt::launch(block_sums, dim3(divide_up(count, kSumThreads)), dim3(kSumThreads), 0, stream, x, sums, count);
}

void launch_transpose(const float* in, float* out, int rows, int columns, simt::Stream stream) {
  const dim3 grid(divide_up(columns, kTile), divide_up(rows, kTile)), block(kTile, kTileRows);
  simt::launch(transpose, grid, block, kTile * (kTile + 1) * sizeof(float), stream, in, out, rows, columns);
}

void launch_histogram(const unsigned* values, unsigned* counts, int count, simt::Stream stream) {
  simt::launch(histogram, dim3(3), dim3(96), 0, stream, values, counts, count);
}

template <class T>
void launch_affine(const T* x, T* out, int count, int block_threads, simt::Stream stream) {
  simt::launch(affine<T>, dim3(divide_up(count, block_threads)), dim3(static_cast<unsigned>(block_threads)), 0, stream,
               x, out, count);
}
template void launch_affine(const float*, float*, int, int, simt::Stream);
template void launch_affine(const double*, double*, int, int, simt::Stream);
