#pragma once
// Kernels with which the emulation itself is tested; nvcc compiles them as well.

#include <jari_simt.hpp>

// sums[block] = sum of the block's 256 values of x[0, count), by shuffles within the warps, then over the warps.
void launch_block_sums(const float* x, float* sums, int count, simt::Stream stream);

// out[column, row] = in[row, column], by 32 x 32 tiles in dynamic shared memory, 32 x 8 threads.
void launch_transpose(const float* in, float* out, int rows, int columns, simt::Stream stream);

// counts[bin] += how many of values[0, count) are `bin` modulo 64.
void launch_histogram(const unsigned* values, unsigned* counts, int count, simt::Stream stream);

// out[i] = 2 x[i] + 1, nobody waits.
template <class T>
void launch_affine(const T* x, T* out, int count, int block_threads, simt::Stream stream);

inline constexpr int kHistogramBins = 64;
