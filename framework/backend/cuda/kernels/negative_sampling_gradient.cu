// The gradient of negative sampling's loss: that of each row of `hidden`, and those of the rows of the table that have
// one, grouped by id.

#include "framework/backend/cuda/group_sums.hpp"
#include "framework/backend/cuda/totals.hpp"
#include "framework/ops/negative_sampling.hpp"

namespace jari {

namespace {

using namespace cuda;

template <class T>
struct Backward {
  NegativeSamplingSizes sizes;
  Operand<const T> hidden, table;
  Operand<const std::int32_t> targets, negatives;
  Operand<const T> target_slopes, negative_slopes, upstream;
  Operand<T> shared_partials;  // [chunks, sampled, width]
  Operand<T> shared_gradient;  // [sampled, width]
};

// Entries: row by row its targets and its negatives; shared negatives after all rows.
struct Entries {
  explicit Entries(const NegativeSamplingSizes& sizes)
      : batch(sizes.batch),
        count(static_cast<std::int32_t>(sizes.count)),
        negatives(sizes.shared ? 0 : static_cast<std::int32_t>(sizes.negatives_a_row)) {}

  // `target(place)`, `negative(place)` or `shared(place)`: what an entry stands for, and where it is in its list.
  template <class Target, class Negative, class Shared>
  __device__ auto of(std::int64_t entry, const Target& target, const Negative& negative, const Shared& shared) const {
    const Split at = split(entry, count + negatives);
    if (at.quotient >= batch) return shared(entry - batch * count);
    if (at.remainder < count) return target(at.quotient, at.quotient * count + at.remainder);
    return negative(at.quotient, at.quotient * negatives + at.remainder - count);
  }

  std::int64_t batch;
  std::int32_t count, negatives;  // of a row
};

struct EntryIds {
  Entries entries;
  Operand<const std::int32_t> targets, negatives;
  __device__ std::int32_t operator()(std::int64_t entry) const {
    return entries.of(
        entry, [&](std::int64_t, std::int64_t at) { return targets.of_trial()[at]; },
        [&](std::int64_t, std::int64_t at) { return negatives.of_trial()[at]; },
        [&](std::int64_t at) { return negatives.of_trial()[at]; });
  }
};

template <class T>
struct EntryTerms {
  Entries entries;
  Backward<T> backward;
  __device__ GroupTerm<T> operator()(std::int32_t entry) const {
    const std::int64_t width = backward.sizes.width;
    const T* const hidden = backward.hidden.of_trial();
    const T upstream = *backward.upstream.of_trial();
    return entries.of(
        entry,
        [&](std::int64_t row, std::int64_t at) {
          return GroupTerm<T>{hidden + row * width, backward.target_slopes.of_trial()[at] * upstream};
        },
        [&](std::int64_t row, std::int64_t at) {
          return GroupTerm<T>{hidden + row * width, backward.negative_slopes.of_trial()[at] * upstream};
        },
        [&](std::int64_t at) {
          return GroupTerm<T>{backward.shared_gradient.of_trial() + at * width, T(1)};
        });
  }
};

// Threads for the columns of a row, a strip of them where there are more.
unsigned threads_for_columns(std::int64_t width) {
  return static_cast<unsigned>(width < 256 ? blocks_of(width, kWarp) * kWarp : 256);
}

// -- the gradient of `hidden`

// Rows of the table, each times a slope, added to a column of a row of the gradient in their order.
template <class T>
__device__ T add_rows(const Backward<T>& backward, const std::int32_t* ids, const T* slopes, std::int64_t count,
                      std::int64_t column, T sum) {
  const NegativeSamplingSizes& sizes = backward.sizes;
  const T upstream = *backward.upstream.of_trial();
#pragma unroll 4
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t id = ids[i] < sizes.vocabulary ? ids[i] : sizes.vocabulary - 1;
    if (id >= 0) sum += slopes[i] * upstream * backward.table.of_trial()[id * sizes.width + column];
  }
  return sum;
}

// A block takes kRows rows, a thread a column: targets in their order, then negatives in theirs. Shared negatives are
// read once for all its rows.
template <class T, int kRows>
__global__ void hidden_gradient(Backward<T> backward, Operand<T> out) {
  const NegativeSamplingSizes& sizes = backward.sizes;
  const Split block = split(blockIdx.x, (sizes.width + blockDim.x - 1) / blockDim.x);
  const std::int64_t column = block.remainder * blockDim.x + threadIdx.x, first = block.quotient * kRows;
  if (column >= sizes.width) return;
  T sums[kRows] = {};
  for (int k = 0; k < kRows && first + k < sizes.batch; ++k) {
    const std::int64_t row = first + k, targets = row * sizes.count, negatives = row * sizes.negatives_a_row;
    sums[k] = add_rows(backward, backward.targets.of_trial() + targets, backward.target_slopes.of_trial() + targets,
                       sizes.count, column, T(0));
    if (!sizes.shared)
      sums[k] = add_rows(backward, backward.negatives.of_trial() + negatives,
                         backward.negative_slopes.of_trial() + negatives, sizes.negatives_a_row, column, sums[k]);
  }
  const T upstream = *backward.upstream.of_trial();
  for (std::int64_t i = 0; sizes.shared && i < sizes.sampled; ++i) {
    std::int64_t id = backward.negatives.of_trial()[i];
    if (id < 0) continue;
    if (id >= sizes.vocabulary) id = sizes.vocabulary - 1;
    const T value = backward.table.of_trial()[id * sizes.width + column] * upstream;
    for (int k = 0; k < kRows && first + k < sizes.batch; ++k)
      sums[k] += backward.negative_slopes.of_trial()[(first + k) * sizes.sampled + i] * value;
  }
  for (int k = 0; k < kRows && first + k < sizes.batch; ++k)
    out.of_trial()[(first + k) * sizes.width + column] = sums[k];
}

// -- the gradient of the rows of shared negatives: a product of matrices

constexpr std::int64_t kChunk = 128;  // rows of `hidden` that a block adds up
constexpr int kNegatives = 8;         // negatives that a block takes

// A block takes a chunk of rows and some negatives, a thread a column: rows in their order.
template <class T>
__global__ void shared_partials(Backward<T> backward, std::int64_t chunks) {
  const NegativeSamplingSizes& sizes = backward.sizes;
  const Split strip = split(blockIdx.x, (sizes.width + blockDim.x - 1) / blockDim.x);
  const Split block = split(strip.quotient, chunks);
  const std::int64_t column = strip.remainder * blockDim.x + threadIdx.x, chunk = block.remainder;
  const std::int64_t begin = chunk * kChunk, end = begin + kChunk < sizes.batch ? begin + kChunk : sizes.batch;
  const std::int64_t first = block.quotient * kNegatives;
  if (column >= sizes.width) return;
  T sums[kNegatives] = {};
  for (std::int64_t row = begin; row < end; ++row) {
    const T value = backward.hidden.of_trial()[row * sizes.width + column];
    const T* const slopes = backward.negative_slopes.of_trial() + row * sizes.sampled + first;
    for (int k = 0; k < kNegatives; ++k) {
      if (first + k < sizes.sampled) sums[k] += slopes[k] * value;
    }
  }
  T* const to = backward.shared_partials.of_trial() + (chunk * sizes.sampled + first) * sizes.width + column;
  for (int k = 0; k < kNegatives; ++k) {
    if (first + k < sizes.sampled) to[k * sizes.width] = sums[k];
  }
}

// One thread an element: chunks in their order.
template <class T>
struct AddChunks {
  Backward<T> backward;
  std::int64_t chunks, size;
  __device__ void operator()(std::int64_t i) const {
    T sum = 0;
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) sum += backward.shared_partials.of_trial()[chunk * size + i];
    backward.shared_gradient.of_trial()[i] = sum * *backward.upstream.of_trial();
  }
};

// -- all of it

template <class T>
struct Plan {
  explicit Plan(const NegativeSamplingSizes& of)
      : sizes(of),
        grouping(of.vocabulary, of.ids),
        chunks(of.shared ? blocks_of(of.batch, kChunk) : 0),
        shared(of.shared ? of.sampled * of.width : 0) {
    squares_at = grouping.bytes();
    partials_at = squares_at + aligned(static_cast<std::size_t>(of.rows) * sizeof(double));
    gradient_at = partials_at + aligned(static_cast<std::size_t>(chunks * shared) * sizeof(T));
    bytes = gradient_at + aligned(static_cast<std::size_t>(shared) * sizeof(T));
  }

  NegativeSamplingSizes sizes;
  RowGrouping grouping;
  std::int64_t chunks, shared;  // chunks of rows, elements of the shared negatives' gradient
  std::size_t squares_at, partials_at, gradient_at, bytes;  // of a trial's workspace
};

template <class T>
void launch_hidden_gradient(const Call& call, const Backward<T>& backward, const Operand<T>& out) {
  const NegativeSamplingSizes& sizes = backward.sizes;
  const unsigned threads = threads_for_columns(sizes.width);
  const std::int64_t strips = sizes.width == 0 ? 0 : blocks_of(sizes.width, threads);
  if (sizes.shared) {
    call.launch(hidden_gradient<T, 4>, blocks_of(sizes.batch, 4) * strips, threads, 0, backward, out);
  } else {
    call.launch(hidden_gradient<T, 1>, sizes.batch * strips, threads, 0, backward, out);
  }
}

template <class T>
void launch_shared_gradient(const Call& call, const Plan<T>& plan, const Backward<T>& backward) {
  if (plan.shared == 0) return;
  const unsigned threads = threads_for_columns(plan.sizes.width);
  const std::int64_t strips = blocks_of(plan.sizes.width, threads), groups = blocks_of(plan.sizes.sampled, kNegatives);
  call.launch(shared_partials<T>, plan.chunks * groups * strips, threads, 0, backward, plan.chunks);
  launch_elements(call, plan.shared, AddChunks<T>{backward, plan.chunks, plan.shared});
}

template <class T>
void run(const Call& call, const Plan<T>& plan) {
  const Backward<T> backward{plan.sizes,
                             call.input<T>(0),
                             call.input<T>(1),
                             call.input<std::int32_t>(2),
                             call.input<std::int32_t>(3),
                             call.input<T>(4),
                             call.input<T>(5),
                             call.input<T>(6),
                             call.workspace<T>(plan.partials_at, plan.bytes),
                             call.workspace<T>(plan.gradient_at, plan.bytes)};
  launch_hidden_gradient(call, backward, call.output<T>(0));
  launch_shared_gradient(call, plan, backward);
  const Entries entries(plan.sizes);
  const EntryIds ids{entries, backward.targets, backward.negatives};
  const bool are_shared = backward.targets.stride == 0 && backward.negatives.stride == 0;
  const RowGroups groups = plan.grouping.group(call, ids, are_shared, 0, plan.bytes);
  const GroupSums<T> sums{call.output<T>(1),
                          plan.sizes.width,
                          plan.sizes.rows,
                          /*by_id=*/false,
                          call.output<std::int32_t>(2),
                          call.workspace<double>(plan.squares_at, plan.bytes)};
  launch_group_sums(call, groups, EntryTerms<T>{entries, backward}, sums);
  launch_total(call, sums.squares, plan.sizes.rows, call.output<T>(3));
}

}  // namespace

std::unique_ptr<DeviceKernel> make_cuda_negative_sampling_gradient(const KernelRequest& request) {
  const NegativeSamplingSizes sizes(request.inputs[0].shape, request.inputs[1].shape, request.inputs[2].shape,
                                    request.inputs[3].shape, request.attributes.as<NegativeSamplingAttributes>());
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    const Plan<T> plan(sizes);
    return make_kernel([=](const Call& call) { run<T>(call, plan); }, plan.bytes);
  });
}

}  // namespace jari
