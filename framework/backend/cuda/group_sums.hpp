#pragma once
// Sums of rows over the entries of groups (row_groups.hpp).

#include "framework/backend/cuda/row_groups.hpp"

namespace jari::cuda {

// An entry adds `factor` times `row`.
template <class T>
struct GroupTerm {
  const T* row;
  T factor;
};

// Where sums go. By slot: the first `slots` of them; rows of slots that are not used become 0, and `ids` and `squares`,
// f64 sums of a row's squares, are written, NaN if more slots are used. By id: only rows of ids that appear are
// written, `ids` and `squares` are not.
template <class T>
struct GroupSums {
  Operand<T> rows;
  std::int64_t width, slots;
  bool by_id;
  Operand<std::int32_t> ids;
  Operand<double> squares;
};

// A warp adds up a small group, entry after entry, four columns a thread at a time.
template <class T, class Source>
__device__ T add_small_group(const Source& source, const std::int32_t* entries, std::int32_t size, T* to,
                             std::int64_t width) {
  constexpr int kColumns = 4;
  T squares = 0;
  for (std::int64_t begin = threadIdx.x % kWarp; begin < width; begin += kColumns * kWarp) {
    T sums[kColumns] = {};
    for (std::int32_t i = 0; i < size; ++i) {
      const GroupTerm<T> term = source(entries[i]);
      for (int k = 0; k < kColumns; ++k) {
        const std::int64_t column = begin + k * kWarp;
        if (column < width) sums[k] += term.factor * term.row[column];
      }
    }
    for (int k = 0; k < kColumns; ++k) {
      if (begin + k * kWarp >= width) break;
      to[begin + k * kWarp] = sums[k];
      squares += sums[k] * sums[k];
    }
  }
  return squares;
}

// A block adds up a large group: its threads are rows of `columns`; row r adds up entries r, r + rows ..., then the
// rows are added in their order.
template <class T, class Source>
__device__ T add_large_group(const Source& source, const std::int32_t* entries, std::int32_t size, T* to,
                             std::int64_t width, unsigned columns, T* parts) {
  const unsigned own = threadIdx.x / columns, rows = kGroupThreads / columns;
  T squares = 0;
  for (std::int64_t begin = 0; begin < width; begin += columns) {
    const std::int64_t column = begin + threadIdx.x % columns;
    T sum = 0;
    for (std::int32_t i = static_cast<std::int32_t>(own); column < width && i < size; i += static_cast<int>(rows)) {
      const GroupTerm<T> term = source(entries[i]);
      sum += term.factor * term.row[column];
    }
    parts[threadIdx.x] = sum;
    __syncthreads();
    if (own == 0 && column < width) {
      for (unsigned row = 1; row < rows; ++row) sum += parts[row * columns + threadIdx.x];
      to[column] = sum;
      squares += sum * sum;
    }
    __syncthreads();
  }
  return squares;
}

// A block takes eight slots: small groups by a warp each, then large ones by all its threads. `columns`: a power of two
// up to 32.
template <class T, class Source>
__global__ void add_groups(RowGroups groups, Source source, GroupSums<T> sums, unsigned columns) {
  JARI_SHARED(T, parts, kGroupThreads);
  JARI_SHARED(T, warps, 32);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kSlotsOfBlock, width = sums.width;
  const std::int64_t own = first + threadIdx.x / kWarp;
  const std::int32_t size = groups.size_of(own);
  T* const rows = sums.rows.of_trial();
  const auto to = [&](std::int64_t slot) { return rows + (sums.by_id ? groups.ids()[slot] : slot) * width; };
  if (size <= kSmallGroup && own < sums.slots && (size > 0 || !sums.by_id)) {
    const std::int32_t* const entries = size > 0 ? groups.sorted() + groups.starts()[own] : nullptr;
    const T squares = reduce_warp(add_small_group(source, entries, size, to(own), width), Sum());
    if (threadIdx.x % kWarp == 0 && !sums.by_id) sums.squares.of_trial()[own] = static_cast<double>(squares);
  }
  for (std::int64_t slot = first; slot < first + kSlotsOfBlock && slot < sums.slots; ++slot) {
    const std::int32_t large = groups.size_of(slot);
    if (large <= kSmallGroup) continue;
    const std::int32_t* const entries = groups.sorted() + groups.starts()[slot];
    const T part = add_large_group(source, entries, large, to(slot), width, columns, parts);
    const T squares = reduce_block(part, Sum(), warps);
    if (threadIdx.x == 0 && !sums.by_id) sums.squares.of_trial()[slot] = static_cast<double>(squares);
  }
  if (!sums.by_id && first == 0 && threadIdx.x == 0 && groups.used() > sums.slots)
    sums.squares.of_trial()[0] = __longlong_as_double(0x7ff8000000000000);  // this thread has written the number before
  if (!sums.by_id && threadIdx.x < kSlotsOfBlock && first + threadIdx.x < sums.slots)
    sums.ids.of_trial()[first + threadIdx.x] =
        first + threadIdx.x < groups.used() ? groups.ids()[first + threadIdx.x] : -1;
}

// `source(entry)` is entry's GroupTerm.
template <class T, class Source>
void launch_group_sums(const Call& call, const RowGroups& groups, const Source& source, const GroupSums<T>& sums) {
  unsigned columns = 1;
  while (columns < kWarp && columns < sums.width) columns *= 2;
  call.launch(add_groups<T, Source>, blocks_of(sums.slots, kSlotsOfBlock), kGroupThreads, 0, groups, source, sums,
              columns);
}

}  // namespace jari::cuda
