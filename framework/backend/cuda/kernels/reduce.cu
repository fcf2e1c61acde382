// Sums and maxima over axes. A reduction is done one group of neighboring axes at a time, the last group first; a long
// one in chunks whose partial results are reduced again. All cuts follow from the shape, so the order of additions is
// fixed.

#include <limits>
#include <type_traits>
#include <vector>

#include "framework/backend/cuda/indexing.hpp"
#include "framework/backend/cuda/joint.hpp"
#include "framework/backend/cuda/totals.hpp"
#include "framework/backend/layout.hpp"
#include "framework/ops/attributes.hpp"

namespace jari {

namespace {

using namespace cuda;

constexpr int kBlockThreads = 256;
constexpr std::int64_t kEnoughBlocks = 128;  // from here on, more of them would not keep more of a card busy
constexpr std::int64_t kAThread = 16, kMostAThread = 128;  // elements that a thread of a chunk takes

// A sum's integers wrap around, as unsigned ones may.
template <class T>
struct Adding : Sum {
  using Value = std::conditional_t<std::is_integral_v<T>, std::uint32_t, T>;
  static constexpr Value kEmpty = 0;
};

template <class T>
struct Comparing : Largest {
  using Value = T;
  static constexpr T kEmpty =
      std::is_integral_v<T> ? std::numeric_limits<T>::min() : -std::numeric_limits<T>::infinity();
};

// [outer][reduced][inner] -> [outer][chunks][inner]
struct Stage {
  std::int64_t outer, reduced, inner, chunk;
  __host__ __device__ std::int64_t chunks() const { return (reduced + chunk - 1) / chunk; }
  std::int64_t output_size() const { return outer * chunks() * inner; }
};

// Lanes that share a short row: the fewest that take four elements each, up to a warp.
unsigned lanes_for_row(std::int64_t width) {
  unsigned lanes = 1;
  while (lanes < kWarp && lanes * 4 < width) lanes *= 2;
  return lanes;
}

// Columns that a block takes side by side: up to a warp.
unsigned columns_of_block(std::int64_t inner) {
  unsigned columns = 2;
  while (columns < kWarp && columns < inner) columns *= 2;
  return columns;
}

constexpr std::int64_t kShortRow = 256;

// `lanes` neighboring threads take a row; lane l adds up elements l, l + lanes ..., then pairs of lanes are combined.
template <class In, class Value, class Out, class Reduction>
__global__ void reduce_short_rows(Operand<const In> x, Operand<Out> result, std::int64_t rows, std::int64_t width,
                                  unsigned lanes, Reduction reduction) {
  const unsigned lane = threadIdx.x % lanes;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / lanes) + threadIdx.x / lanes;
  Value value = Reduction::kEmpty;
  if (row < rows) {
    const In* const from = x.of_trial() + row * width;
    for (std::int64_t i = lane; i < width; i += lanes) value = reduction(value, static_cast<Value>(from[i]));
  }
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
    value = reduction(value, __shfl_xor_sync(kWholeWarp, value, static_cast<int>(distance)));
  if (row < rows && lane == 0) result.of_trial()[row] = static_cast<Out>(value);
}

// A block takes a chunk of a row: thread t adds up elements t, t + threads ..., then the block's threads are combined.
template <class In, class Value, class Out, class Reduction>
__global__ void reduce_long_rows(Operand<const In> x, Operand<Out> result, Stage stage, Reduction reduction) {
  JARI_SHARED(Value, parts, 32);
  const Split at = split(blockIdx.x, stage.chunks());
  const std::int64_t begin = at.remainder * stage.chunk;
  const std::int64_t end = begin + stage.chunk < stage.reduced ? begin + stage.chunk : stage.reduced;
  const In* const row = x.of_trial() + at.quotient * stage.reduced;
  Value value = Reduction::kEmpty;
  for (std::int64_t i = begin + threadIdx.x; i < end; i += blockDim.x)
    value = reduction(value, static_cast<Value>(row[i]));
  value = reduce_block(value, reduction, parts);
  if (threadIdx.x == 0) result.of_trial()[blockIdx.x] = static_cast<Out>(value);
}

// A block takes a chunk of rows of `columns` neighboring columns: its threads are groups of `columns`, and group g adds
// up rows g, g + groups ...; then the groups are combined in their order.
template <class In, class Value, class Out, class Reduction>
__global__ void reduce_columns(Operand<const In> x, Operand<Out> result, Stage stage, unsigned columns,
                               Reduction reduction) {
  JARI_SHARED(Value, parts, kBlockThreads);
  const unsigned group = threadIdx.x / columns, groups = kBlockThreads / columns;
  const Split strips = split(blockIdx.x, (stage.inner + columns - 1) / columns);
  const Split at = split(strips.quotient, stage.chunks());
  const std::int64_t column = strips.remainder * columns + threadIdx.x % columns;
  const std::int64_t begin = at.remainder * stage.chunk;
  const std::int64_t end = begin + stage.chunk < stage.reduced ? begin + stage.chunk : stage.reduced;
  Value value = Reduction::kEmpty;
  if (column < stage.inner) {
    const In* const from = x.of_trial() + at.quotient * stage.reduced * stage.inner + column;
    for (std::int64_t row = begin + group; row < end; row += groups)
      value = reduction(value, static_cast<Value>(from[row * stage.inner]));
  }
  parts[threadIdx.x] = value;
  __syncthreads();
  if (group != 0 || column >= stage.inner) return;
  for (unsigned other = 1; other < groups; ++other) value = reduction(value, parts[other * columns + threadIdx.x]);
  result.of_trial()[strips.quotient * stage.inner + column] = static_cast<Out>(value);
}

template <class T>
struct Fill {
  Operand<T> out;
  T value;
  __device__ void operator()(std::int64_t i) const { out.of_trial()[i] = value; }
};

// How many of `reduced` elements or rows one block takes, of which its threads take `threads` side by side.
std::int64_t chunk_of(std::int64_t reduced, std::int64_t blocks_without, std::int64_t threads) {
  const std::int64_t chunk = threads * (blocks_without >= kEnoughBlocks ? kMostAThread : kAThread);
  return reduced <= 2 * chunk ? reduced : chunk;
}

// The stages of a reduction, the last of which gives the result.
std::vector<Stage> stages_of(const Shape& shape, const std::vector<int>& axes) {
  std::vector<Stage> stages;
  for (const auto& [outer, reduced, inner] : reduced_axes(shape, axes)) {
    const std::int64_t columns = columns_of_block(inner);
    std::int64_t size = reduced;
    do {
      const std::int64_t chunk = inner == 1
                                     ? chunk_of(size, outer, kBlockThreads)
                                     : chunk_of(size, outer * blocks_of(inner, columns), kBlockThreads / columns);
      stages.push_back({outer, size, inner, chunk});
      size = stages.back().chunks();
    } while (size > 1);
  }
  if (stages.empty()) stages.push_back({shape.size(), 1, 1, 1});  // a copy
  return stages;
}

template <class In, class Value, class Out, class Reduction>
void run_stage(const Call& call, const Stage& stage, Operand<const In> x, Operand<Out> result, Reduction reduction) {
  if (stage.inner > 1) {
    const unsigned columns = columns_of_block(stage.inner);
    call.launch(reduce_columns<In, Value, Out, Reduction>,
                stage.outer * stage.chunks() * blocks_of(stage.inner, columns), kBlockThreads, 0, x, result, stage,
                columns, reduction);
  } else if (stage.reduced <= kShortRow) {
    const unsigned lanes = lanes_for_row(stage.reduced);
    call.launch(reduce_short_rows<In, Value, Out, Reduction>, blocks_of(stage.outer, kBlockThreads / lanes),
                kBlockThreads, 0, x, result, stage.outer, stage.reduced, lanes, reduction);
  } else {
    call.launch(reduce_long_rows<In, Value, Out, Reduction>, stage.outer * stage.chunks(), threads_for_row(stage.chunk),
                0, x, result, stage, reduction);
  }
}

// Stages between the first and the last go from one half of a trial's workspace to the other.
template <class T, class Reduction>
void run_stages(const Call& call, const std::vector<Stage>& stages, std::size_t half) {
  using Value = typename Reduction::Value;
  const Reduction reduction;
  const auto between = [&](std::size_t stage) { return call.workspace<Value>(stage % 2 * half, 2 * half); };
  if (stages.size() == 1) {
    run_stage<T, Value>(call, stages[0], call.input<T>(0), call.output<T>(0), reduction);
    return;
  }
  run_stage<T, Value>(call, stages[0], call.input<T>(0), between(0), reduction);
  for (std::size_t i = 1; i < stages.size(); ++i) {
    const Operand<Value> before = between(i - 1);
    const Operand<const Value> from = {before.data, before.stride};
    if (i + 1 < stages.size()) {
      run_stage<Value, Value>(call, stages[i], from, between(i), reduction);
    } else {
      run_stage<Value, Value>(call, stages[i], from, call.output<T>(0), reduction);
    }
  }
}

template <class T, class Reduction>
std::unique_ptr<DeviceKernel> reduce_kernel(const KernelRequest& request) {
  const Shape& shape = request.inputs[0].shape;
  const std::int64_t size = request.outputs[0].shape.size();
  if (shape.size() == 0) {
    return make_kernel([=](const Call& call) {
      launch_elements(call, size, Fill<T>{call.output<T>(0), static_cast<T>(Reduction::kEmpty)});
    });
  }
  const std::vector<Stage> stages = stages_of(shape, request.attributes.as<ReduceAttributes>().axes);
  std::size_t half = 0;
  for (std::size_t i = 0; i + 1 < stages.size(); ++i) {
    const std::size_t bytes = aligned(static_cast<std::size_t>(stages[i].output_size()) * sizeof(T));
    half = half < bytes ? bytes : half;
  }
  return make_kernel([=](const Call& call) { run_stages<T, Reduction>(call, stages, half); }, 2 * half);
}

constexpr std::int32_t kNowhere = std::numeric_limits<std::int32_t>::max();

struct Smallest {
  __device__ std::int32_t operator()(std::int32_t a, std::int32_t b) const { return b < a ? b : a; }
};

// A block takes a row: its largest element, then the first place of that; 0 where there is none, as in a row of NaN.
template <class T>
__global__ void argmax(Operand<const T> x, Operand<std::int32_t> out, std::int64_t width) {
  JARI_SHARED(T, parts, 32);
  JARI_SHARED(std::int32_t, places, 32);
  const T* const row = x.of_trial() + blockIdx.x * width;
  T largest = Comparing<T>::kEmpty;
  for (std::int64_t i = threadIdx.x; i < width; i += blockDim.x) largest = Largest()(largest, row[i]);
  largest = reduce_block(largest, Largest(), parts);
  std::int32_t first = kNowhere;
  for (std::int64_t i = threadIdx.x; i < width && first == kNowhere; i += blockDim.x) {
    if (row[i] == largest) first = static_cast<std::int32_t>(i);
  }
  first = reduce_block(first, Smallest(), places);
  if (threadIdx.x == 0) out.of_trial()[blockIdx.x] = first == kNowhere ? 0 : first;
}

constexpr std::int64_t kSquaresChunk = kBlockThreads * kAThread;

template <class T>
struct Squared {
  Operand<const T> x;
  std::int64_t count;
  std::int64_t first_partial;
  std::int64_t first_block = 0;
};

// A block takes a chunk of a part: thread t adds up the squares of elements t, t + 256 ..., and the threads' sums are
// added in f64.
template <class T>
__global__ void chunk_squares(JARI_GRID_CONSTANT PartTable<Squared<T>> table, Operand<double> partials) {
  JARI_SHARED(double, parts, 32);
  const Squared<T>& of = table.of_block(blockIdx.x);
  const std::int64_t chunk = blockIdx.x - of.first_block, begin = chunk * kSquaresChunk;
  const std::int64_t end = begin + kSquaresChunk < of.count ? begin + kSquaresChunk : of.count;
  const T* const from = of.x.of_trial();
  T sum = 0;
  for (std::int64_t i = begin + threadIdx.x; i < end; i += kBlockThreads) sum += from[i] * from[i];
  const double total = reduce_block(static_cast<double>(sum), Sum(), parts);
  if (threadIdx.x == 0) partials.of_trial()[of.first_partial + chunk] = total;
}

}  // namespace

std::unique_ptr<DeviceKernel> make_cuda_reduce_sum(const KernelRequest& request) {
  return for_number(request, request.inputs[0].dtype, [&]<class T>() { return reduce_kernel<T, Adding<T>>(request); });
}

std::unique_ptr<DeviceKernel> make_cuda_reduce_max(const KernelRequest& request) {
  return for_number(request, request.inputs[0].dtype,
                    [&]<class T>() { return reduce_kernel<T, Comparing<T>>(request); });
}

std::unique_ptr<DeviceKernel> make_cuda_argmax(const KernelRequest& request) {
  const std::int64_t width = request.inputs[0].shape[-1], rows = request.outputs[0].shape.size();
  return for_number(request, request.inputs[0].dtype, [&]<class T>() {
    return make_kernel([=](const Call& call) {
      call.launch(argmax<T>, rows, threads_for_row(width), 0, call.input<T>(0), call.output<std::int32_t>(0), width);
    });
  });
}

std::unique_ptr<DeviceKernel> make_cuda_sum_of_squares(const KernelRequest& request) {
  std::vector<std::int64_t> counts;
  std::int64_t chunks = 0;
  for (const TensorType& input : request.inputs) {
    counts.push_back(input.shape.size());
    chunks += blocks_of(counts.back(), kSquaresChunk);
  }
  const std::size_t bytes = aligned(static_cast<std::size_t>(chunks) * sizeof(double));
  return for_real(request, request.outputs[0].dtype, [&]<class T>() {
    return make_kernel(
        [=](const Call& call) {
          const Operand<double> partials = call.workspace<double>(0, bytes);
          std::vector<Squared<T>> parts;
          std::int64_t next = 0;
          for (std::size_t i = 0; i < counts.size(); ++i) {
            if (counts[i] == 0) continue;
            parts.push_back({call.input<T>(static_cast<int>(i)), counts[i], next});
            next += blocks_of(counts[i], kSquaresChunk);
          }
          const auto chunks_of = [](const Squared<T>& part) { return blocks_of(part.count, kSquaresChunk); };
          launch_parts(parts, chunks_of, [&](const PartTable<Squared<T>>& table, std::int64_t blocks) {
            call.launch(chunk_squares<T>, blocks, kBlockThreads, 0, table, partials);
          });
          launch_total(call, partials, chunks, call.output<T>(0));
        },
        bytes);
  });
}

}  // namespace jari
