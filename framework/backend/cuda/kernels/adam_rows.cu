// Adam's steps of single rows, and those that a row waited with: backend/cpu/adam_rows.cpp has the formulas.

#include <limits>

#include "framework/backend/cuda/optimizer.hpp"
#include "framework/backend/cuda/rows.hpp"

namespace jari {

namespace {

using namespace cuda;

constexpr int kTerms = 5;               // of the series in e
constexpr double kLargestRatio = 0.01;  // e^5 = 1e-10 is left out
constexpr int kRowsOfBlock = static_cast<int>(kThreads) / kWarp;

template <class T>
struct Tables {
  Operand<T> parameter, first, second;
  Operand<std::int32_t> steps_done;
  std::int64_t rows, width;
};

template <class T>
Tables<T> tables_of(const Call& call, std::int64_t rows, std::int64_t width) {
  return {copied<T>(call, 0, rows * width),
          copied<T>(call, 1, rows * width),
          copied<T>(call, 2, rows * width),
          copied<std::int32_t>(call, 3, rows),
          rows,
          width};
}

// -- steps that rows waited with

// What all rows that missed the same steps have in common.
template <class T>
struct alignas(8) Wait {
  T sums[kTerms];
  T scale;           // of the parameter: decoupled decay
  T scale1, scale2;  // of the moments
  T smallest_root;   // smallest q
};

struct MissedStep {
  double rate, correction, keep;
};

// A trial's waits by steps missed and steps by how many ago, both from 1 on.
template <class T>
struct Missed {
  Operand<Wait<T>> waits;
  Operand<MissedStep> steps;
};

// y[t] = ratio * y[t - 1] + value of thread t, for all threads of a block; `shared` has a place for each.
__device__ inline double recurrence(double value, double ratio, double* shared) {
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2, ratio *= ratio) {
    shared[threadIdx.x] = value;
    __syncthreads();
    if (threadIdx.x >= distance) value += ratio * shared[threadIdx.x - distance];
    __syncthreads();
  }
  return value;
}

// The product of the values of this thread and those before it.
__device__ inline double product_so_far(double value, double* shared) {
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    shared[threadIdx.x] = value;
    __syncthreads();
    if (threadIdx.x >= distance) value *= shared[threadIdx.x - distance];
    __syncthreads();
  }
  return value;
}

// One block a trial: thread t works out the step t + 1 steps ago, and what all t + 1 steps do together. q falls with
// each step that is missed, so that of the first is the smallest but for what it falls.
template <class T>
__global__ void prepare_missed(AdamAttributes options, AdamScalars<T> scalars, std::int64_t history, Missed<T> missed) {
  JARI_DYNAMIC_SHARED(double, shared);
  const std::int64_t step = *scalars.step.of_trial(), age = threadIdx.x;
  const bool exists = age < history && age < step;
  const double beta1 = static_cast<T>(options.beta1), beta2 = static_cast<T>(options.beta2);
  const double root2 = square_root(beta2), number = static_cast<double>(step - age), all = static_cast<double>(age + 1);
  const double rate = exists ? static_cast<double>(scalars.rate.of_trial()[history - 1 - age]) : 0;
  const double slope = exists ? rate / (1 - power(options.beta1, number)) : 0;
  const double correction = exists ? 1 / square_root(1 - power(options.beta2, number)) : 1;
  const double keep = options.decoupled_decay ? 1 - rate * static_cast<double>(*scalars.decay.of_trial()) : 1;
  const double first_correction = step > 0 ? 1 / square_root(1 - power(options.beta2, static_cast<double>(step))) : 1;

  const double scale = product_so_far(keep, shared);
  shared[threadIdx.x] = scale;
  __syncthreads();
  const double inverse = 1 / (root2 * correction);
  double term = slope * beta1 * (age > 0 ? shared[age - 1] : 1), ratio = beta1;
  __syncthreads();
  Wait<T> wait;
  for (int k = 0; k < kTerms; ++k) {
    term *= inverse;
    ratio /= root2;  // what one more missed step does to a sum: its terms are that much older
    wait.sums[k] = static_cast<T>(recurrence(term, ratio, shared));
  }
  if (!exists) return;
  wait.scale = static_cast<T>(scale);
  wait.scale1 = static_cast<T>(power(beta1, all));
  wait.scale2 = static_cast<T>(power(beta2, all));
  wait.smallest_root = static_cast<T>(first_correction * power(root2, all));
  missed.waits.of_trial()[age + 1] = wait;
  missed.steps.of_trial()[age + 1] = {slope, correction, keep};
}

// The rows that a launch looks at: `turn_rows` of the table in turn (or all), then those of up to four lists of ids.
constexpr int kLists = 4;
struct Candidates {
  bool all_rows = false;
  std::int64_t turn_rows = 0, history = 1;
  Operand<const std::int32_t> lists[kLists];
  std::int64_t counts[kLists] = {};

  std::int64_t count() const {
    std::int64_t count = turn_rows;
    for (const std::int64_t list : counts) count += list;
    return count;
  }

  // -1: none.
  __device__ std::int64_t row(std::int64_t candidate, std::int64_t rows, std::int64_t step) const {
    if (candidate < turn_rows) {
      if (all_rows) return candidate;
      const std::int64_t turn = step % history, row = rows * turn / history + candidate;
      return row < rows * (turn + 1) / history ? row : -1;
    }
    candidate -= turn_rows;
    int list = 0;
    for (; list < kLists && candidate >= counts[list]; ++list) candidate -= counts[list];
    if (list == kLists) return -1;
    const std::int64_t id = lists[list].of_trial()[candidate];
    return id < rows ? id : rows - 1;
  }
};

// The columns of a row that a thread takes are lane, lane + 32 ...

template <class T>
__device__ void by_series(T* parameter, T* first, T* second, std::int64_t width, const Wait<T>& wait, T epsilon) {
  for (std::int64_t j = threadIdx.x % kWarp; j < width; j += kWarp) {
    const T moment = first[j], square = second[j];
    const T inverse = 1 / square_root(moment != T(0) ? square : T(1));
    const T e = epsilon * inverse;
    const T* const s = wait.sums;
    parameter[j] =
        wait.scale * parameter[j] - moment * inverse * (s[0] - e * (s[1] - e * (s[2] - e * (s[3] - e * s[4]))));
    first[j] = moment * wait.scale1;
    second[j] = square * wait.scale2;
  }
}

template <class T>
__device__ void step_by_step(T* parameter, T* first, T* second, std::int64_t width, const Wait<T>& wait,
                             const MissedStep* steps, std::int64_t missed, const AdamAttributes& options) {
  const double beta1 = static_cast<T>(options.beta1), beta2 = static_cast<T>(options.beta2);
  const T epsilon = static_cast<T>(options.epsilon);
  for (std::int64_t j = threadIdx.x % kWarp; j < width; j += kWarp) {
    const T moment = first[j], root_of_square = square_root(second[j]);
    T value = parameter[j];
    double power1 = 1, power2 = 1;
    for (std::int64_t age = missed; age > 0; --age) {
      const MissedStep step = steps[age];
      power1 *= beta1;
      power2 *= beta2;
      const T slope = static_cast<T>(step.rate * power1), keep = static_cast<T>(step.keep);
      const T root = static_cast<T>(square_root(power2) * step.correction);
      value = keep * value - slope * moment / (root_of_square * root + epsilon);
    }
    parameter[j] = value;
    first[j] *= wait.scale1;
    second[j] *= wait.scale2;
  }
}

// Whether the series serves a row, for all threads of the warp that has it.
template <class T>
__device__ bool is_small(const T* first, const T* second, std::int64_t width, const Wait<T>& wait, T epsilon) {
  const T limit = epsilon / (wait.smallest_root * static_cast<T>(kLargestRatio)), squared = limit * limit;
  bool large = false;
  for (std::int64_t j = threadIdx.x % kWarp; j < width; j += kWarp)
    large = large || (first[j] != T(0) && !(second[j] > squared));
  return __any_sync(kWholeWarp, large) == 0;
}

// A warp takes a candidate: the first one to name a late row brings it up to `step`.
template <class T>
__global__ void catch_up_rows(Tables<T> tables, Candidates candidates, std::int64_t count, Missed<T> missed,
                              Operand<const std::int32_t> steps, AdamAttributes options, const std::int32_t* active) {
  if (!is_active(active)) return;
  const std::int64_t candidate = static_cast<std::int64_t>(blockIdx.x) * kRowsOfBlock + threadIdx.x / kWarp;
  if (candidate >= count) return;
  const std::int32_t step = *steps.of_trial();
  const std::int64_t row = candidates.row(candidate, tables.rows, step);
  if (row < 0) return;
  std::int32_t waited = 0;
  if (threadIdx.x % kWarp == 0) waited = step - atomicMax(&tables.steps_done.of_trial()[row], step);
  waited = __shfl_sync(kWholeWarp, waited, 0);
  if (waited <= 0) return;
  const std::int64_t by = waited < candidates.history ? waited : candidates.history;
  T* const parameter = tables.parameter.of_trial() + row * tables.width;
  T* const first = tables.first.of_trial() + row * tables.width;
  T* const second = tables.second.of_trial() + row * tables.width;
  const Wait<T> wait = missed.waits.of_trial()[by];
  const T epsilon = static_cast<T>(options.epsilon);
  if (is_small(first, second, tables.width, wait, epsilon)) {
    by_series(parameter, first, second, tables.width, wait, epsilon);
  } else {
    step_by_step(parameter, first, second, tables.width, wait, missed.steps.of_trial(), by, options);
  }
}

// Sizes of adam_catch_up, and its workspace.
struct CatchUp {
  explicit CatchUp(const KernelRequest& request)
      : rows(request.inputs[0].shape[0]),
        width(rows == 0 ? 0 : request.inputs[0].shape.size() / rows),
        history(request.inputs[4].shape[0]),
        threads(static_cast<unsigned>(blocks_of(history, kWarp) * kWarp)) {
    for (std::size_t i = 7; i < request.inputs.size(); ++i) id_counts.push_back(request.inputs[i].shape.size());
    if (threads > 1024) throw DeviceError("adam_catch_up on CUDA has learning rates of up to 1024 steps");
  }

  // Of a trial's waits, and of its steps.
  template <class Entry>
  std::size_t bytes() const {
    return static_cast<std::size_t>(history + 1) * sizeof(Entry);
  }

  std::int64_t rows, width, history;
  unsigned threads;
  std::vector<std::int64_t> id_counts;
};

template <class T>
Missed<T> missed_steps(const Call& call, const CatchUp& sizes, const AdamAttributes& options) {
  const std::size_t waits = sizes.bytes<Wait<T>>();  // those of all trials, then their steps
  const Missed<T> missed{
      call.workspace<Wait<T>>(0, waits),
      call.workspace<MissedStep>(static_cast<std::size_t>(call.trials()) * waits, sizes.bytes<MissedStep>())};
  const AdamScalars<T> scalars{call.input<T>(4), call.input<T>(5), call.input<std::int32_t>(6)};
  call.launch(prepare_missed<T>, 1, sizes.threads, sizes.threads * sizeof(double), options, scalars, sizes.history,
              missed);
  return missed;
}

template <class T>
void catch_up(const Call& call, const CatchUp& sizes, const AdamAttributes& options) {
  const Tables<T> tables = tables_of<T>(call, sizes.rows, sizes.width);
  const Missed<T> missed = missed_steps<T>(call, sizes, options);
  const auto look_at = [&](const Candidates& candidates) {
    const std::int64_t count = candidates.count();
    call.launch(catch_up_rows<T>, blocks_of(count, kRowsOfBlock), kThreads, 0, tables, candidates, count, missed,
                call.input<std::int32_t>(6), options, call.active());
  };
  Candidates candidates;
  candidates.history = sizes.history;
  candidates.all_rows = sizes.id_counts.empty();
  candidates.turn_rows = candidates.all_rows ? sizes.rows : sizes.rows / sizes.history + 1;
  std::size_t list = 0;
  do {
    for (int k = 0; k < kLists; ++k, ++list) {
      const bool exists = list < sizes.id_counts.size();
      candidates.counts[k] = exists ? sizes.id_counts[list] : 0;
      if (exists) candidates.lists[k] = call.input<std::int32_t>(static_cast<int>(list) + 7);
    }
    look_at(candidates);
    candidates.turn_rows = 0;
  } while (list < sizes.id_counts.size());
}

// -- a step of the rows with a gradient

// Element after element of the rows, each of which belongs to another row of the tables.
template <class T>
__global__ void update_named_rows(Tables<T> tables, Operand<const T> rows, Operand<const std::int32_t> ids,
                                  std::int64_t count, AdamScalars<T> scalars, AdamAttributes options,
                                  const std::int32_t* active) {
  JARI_SHARED(T, parts, 2);
  if (!is_active(active)) return;
  const AdamStep<T> step = adam_step(options, scalars, parts);
  const std::int32_t done = *scalars.step.of_trial() + 1;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x, elements = count * tables.width;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < elements; i += stride) {
    const Split at = split(i, tables.width);
    std::int64_t id = ids.of_trial()[at.quotient];
    if (id < 0) continue;
    if (id >= tables.rows) id = tables.rows - 1;
    const std::int64_t to = id * tables.width + at.remainder;
    step.run(tables.parameter.of_trial()[to], tables.first.of_trial()[to], tables.second.of_trial()[to],
             rows.of_trial()[i]);
    if (at.remainder == 0) tables.steps_done.of_trial()[id] = done;
  }
}

// Decay that is a gradient moves all other rows too: those whose step is not done. A warp takes a row.
template <class T>
__global__ void decay_other_rows(Tables<T> tables, AdamScalars<T> scalars, AdamAttributes options,
                                 const std::int32_t* active) {
  JARI_SHARED(T, parts, 2);
  if (!is_active(active) || *scalars.decay.of_trial() == T(0)) return;
  const AdamStep<T> step = adam_step(options, scalars, parts);
  const std::int32_t done = *scalars.step.of_trial() + 1;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kRowsOfBlock;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRowsOfBlock + threadIdx.x / kWarp; row < tables.rows;
       row += stride) {
    std::int32_t& steps = tables.steps_done.of_trial()[row];
    const bool waits = steps != done;
    __syncwarp();
    if (!waits) continue;
    for (std::int64_t j = threadIdx.x % kWarp; j < tables.width; j += kWarp) {
      const std::int64_t at = row * tables.width + j;
      step.run(tables.parameter.of_trial()[at], tables.first.of_trial()[at], tables.second.of_trial()[at], T(0));
    }
    if (threadIdx.x % kWarp == 0) steps = done;
  }
}

template <class T>
void update_rows(const Call& call, std::int64_t rows, std::int64_t width, std::int64_t count,
                 const AdamAttributes& options) {
  constexpr std::int64_t kElements = 4;  // of a thread, so that a block's powers serve more than one
  const Tables<T> tables = tables_of<T>(call, rows, width);
  const AdamScalars<T> scalars{call.input<T>(6), call.input<T>(7), call.input<std::int32_t>(8)};
  const std::int64_t blocks = blocks_of(count * width, kThreads * kElements);
  call.launch(update_named_rows<T>, blocks < kMostBlocks ? blocks : kMostBlocks, kThreads, 0, tables, call.input<T>(4),
              call.input<std::int32_t>(5), count, scalars, options, call.active());
  if (options.decoupled_decay) return;
  call.launch(decay_other_rows<T>, table_blocks(rows, kRowsOfBlock), kThreads, 0, tables, scalars, options,
              call.active());
}

}  // namespace

std::unique_ptr<DeviceKernel> make_cuda_adam_catch_up(const KernelRequest& request) {
  const auto options = request.attributes.as<AdamAttributes>();
  const CatchUp sizes(request);
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    return make_kernel([=](const Call& call) { catch_up<T>(call, sizes, options); },
                       sizes.bytes<Wait<T>>() + sizes.bytes<MissedStep>());
  });
}

std::unique_ptr<DeviceKernel> make_cuda_adam_update_rows(const KernelRequest& request) {
  const auto options = request.attributes.as<AdamAttributes>();
  const std::int64_t rows = request.inputs[0].shape[0], count = request.inputs[5].shape[0];
  const std::int64_t width = rows == 0 ? 0 : request.inputs[0].shape.size() / rows;
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    return make_kernel([=](const Call& call) { update_rows<T>(call, rows, width, count, options); });
  });
}

}  // namespace jari
