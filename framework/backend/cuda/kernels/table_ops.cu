// Rows of tables by ids, and back. An id below 0 stands for none; one that is too large is moved into range: that keeps
// memory safe, and what feeds the ids is where such a mistake is told.

#include "framework/backend/cuda/group_sums.hpp"
#include "framework/backend/cuda/totals.hpp"
#include "framework/ops/attributes.hpp"

namespace jari {

namespace {

using namespace cuda;

// One thread an element of the result.
template <class T>
struct Gather {
  Operand<const T> table;
  Operand<const std::int32_t> ids;
  Operand<T> out;
  std::int64_t rows, width;
  __device__ void operator()(std::int64_t i) const {
    const Split at = split(i, width);
    std::int64_t id = ids.of_trial()[at.quotient];
    if (id >= rows) id = rows - 1;
    out.of_trial()[i] = id < 0 ? T(0) : table.of_trial()[id * width + at.remainder];
  }
};

template <class T>
struct Updates {
  Operand<const T> updates;
  std::int64_t width;
  __device__ GroupTerm<T> operator()(std::int32_t entry) const { return {updates.of_trial() + entry * width, T(1)}; }
};

template <class T>
struct Zero {
  Operand<T> out;
  __device__ void operator()(std::int64_t i) const { out.of_trial()[i] = 0; }
};

// Tables of few rows: a block takes a row and some of its columns, looks for the row among all ids, a tile of them at a
// time, and adds up what it finds. One launch, where grouping the ids takes seven.
constexpr std::int64_t kFewRows = 256;  // of which ids are looked through once each
constexpr int kIdsOfThread = 8;
constexpr int kTile = kGroupThreads * kIdsOfThread;

// Its threads are rows of `columns`; row r adds up entries r, r + rows ... of those found in a tile, then the rows are
// added in their order.
template <class T>
__global__ void add_found(Operand<const T> updates, Operand<const std::int32_t> ids, Operand<T> out, std::int64_t count,
                          std::int64_t rows, std::int64_t width, unsigned columns) {
  JARI_SHARED(std::int32_t, found, kTile);
  JARI_SHARED(std::int32_t, warps, 32);
  JARI_SHARED(T, parts, kGroupThreads);
  const std::int64_t strips = (width + columns - 1) / columns, row = blockIdx.x / strips;
  const std::int64_t column = blockIdx.x % strips * columns + threadIdx.x % columns;
  const int own = static_cast<int>(threadIdx.x / columns), adders = static_cast<int>(kGroupThreads / columns);
  const T* const from = updates.of_trial() + column;
  T sum = 0;
  for (std::int64_t begin = 0; begin < count; begin += kTile) {
    const std::int64_t first = begin + static_cast<std::int64_t>(threadIdx.x) * kIdsOfThread;
    std::uint32_t matches = 0;  // a bit each
    for (int i = 0; i < kIdsOfThread && first + i < count; ++i) {
      const std::int64_t id = ids.of_trial()[first + i];
      if (id == row || (id >= rows && row == rows - 1)) matches |= 1u << i;
    }
    std::int32_t total = 0;
    std::int32_t at = sum_of_threads_before(static_cast<std::int32_t>(__popc(matches)), warps, total);
    for (int i = 0; i < kIdsOfThread; ++i) {
      if ((matches >> i & 1) != 0) found[at++] = static_cast<std::int32_t>(first + i);
    }
    __syncthreads();
    if (column < width) {
#pragma unroll 4
      for (int i = own; i < total; i += adders) sum += from[found[i] * width];
    }
    __syncthreads();
  }
  parts[threadIdx.x] = sum;
  __syncthreads();
  if (own != 0 || column >= width) return;
  for (int adder = 1; adder < adders; ++adder) sum += parts[adder * static_cast<int>(columns) + threadIdx.x];
  out.of_trial()[row * width + column] = sum;
}

template <class T>
void launch_add_found(const Call& call, std::int64_t count, std::int64_t rows, std::int64_t width) {
  unsigned columns = 1;
  while (columns < 64 && columns < width) columns *= 2;
  call.launch(add_found<T>, rows * blocks_of(width, columns), kGroupThreads, 0, call.input<T>(0),
              call.input<std::int32_t>(1), call.output<T>(0), count, rows, width, columns);
}

bool are_shared(const Operand<const std::int32_t>& ids) { return ids.stride == 0; }

}  // namespace

std::unique_ptr<DeviceKernel> make_cuda_gather(const KernelRequest& request) {
  const Shape& table = request.inputs[0].shape;
  const std::int64_t rows = table[0], width = table.last(table.rank() - 1).size();
  const std::int64_t count = request.outputs[0].shape.size();
  return for_any(request, request.outputs[0].dtype, [&]<class T>() {
    return make_kernel([=](const Call& call) {
      launch_elements(call, count,
                      Gather<T>{call.input<T>(0), call.input<std::int32_t>(1), call.output<T>(0), rows, width});
    });
  });
}

std::unique_ptr<DeviceKernel> make_cuda_scatter_add(const KernelRequest& request) {
  const Shape& result = request.outputs[0].shape;
  const std::int64_t rows = result[0], size = result.size(), width = result.last(result.rank() - 1).size();
  const std::int64_t count = request.inputs[1].shape.size();
  const RowGrouping grouping(rows, count);
  return for_number(request, request.outputs[0].dtype, [&]<class T>() {
    if (rows <= kFewRows) return make_kernel([=](const Call& call) { launch_add_found<T>(call, count, rows, width); });
    return make_kernel(
        [=](const Call& call) {
          const IdList ids{call.input<std::int32_t>(1)};
          const RowGroups groups = grouping.group(call, ids, are_shared(ids.ids), 0, grouping.bytes());
          launch_elements(call, size, Zero<T>{call.output<T>(0)});
          const GroupSums<T> sums{call.output<T>(0), width, grouping.most(), /*by_id=*/true, {}, {}};
          launch_group_sums(call, groups, Updates<T>{call.input<T>(0), width}, sums);
        },
        grouping.bytes());
  });
}

std::unique_ptr<DeviceKernel> make_cuda_combine_rows(const KernelRequest& request) {
  const Shape& result = request.outputs[0].shape;
  const std::int64_t width = result.last(result.rank() - 1).size();
  const RowGrouping grouping(request.attributes.as<ScatterAddAttributes>().rows, request.inputs[1].shape.size());
  const std::size_t bytes = grouping.bytes() + aligned(static_cast<std::size_t>(grouping.most()) * sizeof(double));
  return for_real(request, request.outputs[0].dtype, [&]<class T>() {
    return make_kernel(
        [=](const Call& call) {
          const IdList ids{call.input<std::int32_t>(1)};
          const RowGroups groups = grouping.group(call, ids, are_shared(ids.ids), 0, bytes);
          const GroupSums<T> sums{call.output<T>(0),
                                  width,
                                  grouping.most(),
                                  /*by_id=*/false,
                                  call.output<std::int32_t>(1),
                                  call.workspace<double>(grouping.bytes(), bytes)};
          launch_group_sums(call, groups, Updates<T>{call.input<T>(0), width}, sums);
          launch_total(call, sums.squares, grouping.most(), call.output<T>(2));
        },
        bytes);
  });
}

}  // namespace jari
