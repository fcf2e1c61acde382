#include "framework/ops/negative_sampling.hpp"

#include <numeric>

#include "framework/backend/cpu/cpu_kernel.hpp"
#include "framework/backend/cpu/row_slots.hpp"
#include "framework/backend/cpu/rows.hpp"
#include "framework/backend/cpu/small_product.hpp"

namespace jari {

namespace {

using namespace cpu;

NegativeSamplingSizes sizes_of(const KernelRequest& request) {
  return {request.inputs[0].shape, request.inputs[1].shape, request.inputs[2].shape, request.inputs[3].shape};
}

template <class T>
std::int64_t padded(std::int64_t width) {
  return blocks_of(width, kVectorLanes<T>) * kVectorLanes<T>;
}

template <class T>
T dot(const T* left, const T* right, std::int64_t width) {
  constexpr int lanes = kVectorLanes<T>;
  Vector<T> sums[4] = {};
  std::int64_t i = 0;
  for (; i + 4 * lanes <= width; i += 4 * lanes) {
    for (int v = 0; v < 4; ++v) sums[v] += load(left + i + v * lanes) * load(right + i + v * lanes);
  }
  for (int v = 0; i + lanes <= width; i += lanes, ++v) sums[v] += load(left + i) * load(right + i);
  const Vector<T> all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  T parts[lanes];
  store(parts, all);
  for (int half = lanes / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) parts[lane] += parts[lane + half];
  }
  for (; i < width; ++i) parts[0] += left[i] * right[i];
  return parts[0];
}

// Rows lie all over a table: asking for one a few rows early hides most of the way to it.
constexpr std::int64_t kAhead = 4;
template <class T>
void prefetch(const T* row, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += 64 / static_cast<std::int64_t>(sizeof(T))) __builtin_prefetch(row + i);
}

template <class T>
const T* row_of(const T* table, std::int32_t id, const NegativeSamplingSizes& sizes) {
  return table + std::min<std::int64_t>(id, sizes.vocabulary - 1) * sizes.width;
}

// Loss and slope of a score: softplus(score) and its derivative, the logistic function.
template <class T>
struct Softplus {
  explicit Softplus(T score) {
    const T e = exponential(score < 0 ? score : -score);
    const T large = 1 / (1 + e);
    slope = score < 0 ? e * large : large;
    loss = (score < 0 ? 0 : score) + log_of_one_and(e);
  }
  T slope, loss;
};

// Forward: the scores of one row of `hidden`, turned into slopes where they lie.
template <class T>
class Forward {
 public:
  Forward(const KernelArguments& arguments, const NegativeSamplingSizes& sizes, double weight)
      : arguments_(arguments),
        sizes_(sizes),
        hidden_(arguments.input<T>(0)),
        table_(arguments.input<T>(1)),
        targets_(arguments.input<std::int32_t>(2)),
        negatives_(arguments.input<std::int32_t>(3)),
        target_slopes_(arguments.output<T>(2)),
        negative_slopes_(arguments.output<T>(3)),
        losses_(static_cast<double*>(arguments.workspace)),
        shared_rows_(reinterpret_cast<T*>(losses_ + blocks_of(sizes.batch, 8) * 8)) {
    const std::int64_t ids = sizes.batch * sizes.count;
    pairs_ = std::count_if(targets_, targets_ + ids, [](std::int32_t id) { return id >= 0; });
    share_ = static_cast<T>(1.0 / static_cast<double>(std::max<std::int64_t>(1, pairs_)));
    negative_share_ = static_cast<T>(weight / static_cast<double>(sizes.sampled)) * share_;
  }

  static std::size_t workspace_bytes(const NegativeSamplingSizes& sizes) {
    const std::int64_t packed = sizes.shared ? sizes.width * sizes.sampled : 0;
    return static_cast<std::size_t>(blocks_of(sizes.batch, 8) * 8) * sizeof(double) +
           static_cast<std::size_t>(packed) * sizeof(T);
  }

  void run() {
    if (sizes_.shared) pack_shared();
    for_blocks(*arguments_.workers, sizes_.batch, kRows, [&](std::int64_t begin, std::int64_t end) {
      if (sizes_.shared) score_shared(begin, end);
      for (std::int64_t row = begin; row < end; ++row) losses_[row] = run_row(row);
    });
    double loss = 0;
    for (std::int64_t row = 0; row < sizes_.batch; ++row) loss += losses_[row];
    *arguments_.output<T>(0) = static_cast<T>(loss);
    *arguments_.output<T>(1) = static_cast<T>(pairs_);
  }

 private:
  static constexpr std::int64_t kRows = 64;

  // Shared rows as columns: [width, shared].
  void pack_shared() {
    for (std::int64_t k = 0; k < sizes_.sampled; ++k) {
      const std::int32_t id = negatives_[k];
      const T* row = row_of(table_, std::max(id, 0), sizes_);
      for (std::int64_t j = 0; j < sizes_.width; ++j) shared_rows_[j * sizes_.sampled + k] = id < 0 ? T(0) : row[j];
    }
  }

  void score_shared(std::int64_t begin, std::int64_t end) {
    const Strided<T> rows{hidden_ + begin * sizes_.width, sizes_.width, 1};
    multiply(rows, shared_rows_, sizes_.sampled, negative_slopes_ + begin * sizes_.sampled, sizes_.sampled, end - begin,
             sizes_.sampled, sizes_.width);
  }

  double run_row(std::int64_t row) {
    const T* const own = hidden_ + row * sizes_.width;
    const std::int32_t* const targets = targets_ + row * sizes_.count;
    T* const slopes = target_slopes_ + row * sizes_.count;
    const std::int64_t pairs = std::count_if(targets, targets + sizes_.count, [](std::int32_t id) { return id >= 0; });
    score(own, targets, sizes_.count, slopes);
    double loss = 0;
    for (std::int64_t i = 0; i < sizes_.count; ++i) {
      const Softplus<T> of(-slopes[i]);
      const bool valid = targets[i] >= 0;
      slopes[i] = valid ? -of.slope * share_ : T(0);
      loss += valid ? static_cast<double>(of.loss * share_) : 0.0;
    }
    return loss + run_negatives(row, own, targets, pairs);
  }

  // Ids of one row follow those of the row before, so the next row's are asked for as well.
  void score(const T* own, const std::int32_t* ids, std::int64_t count, T* scores) {
    const std::int32_t* const end = end_of(ids);
    for (std::int64_t i = 0; i < count; ++i) {
      if (ids + i + kAhead < end && ids[i + kAhead] >= 0)
        prefetch(row_of(table_, ids[i + kAhead], sizes_), sizes_.width);
      scores[i] = ids[i] < 0 ? T(0) : dot(own, row_of(table_, ids[i], sizes_), sizes_.width);
    }
  }

  const std::int32_t* end_of(const std::int32_t* ids) const {
    const std::int64_t targets = sizes_.batch * sizes_.count;
    const bool is_target = ids >= targets_ && ids < targets_ + targets;
    return is_target ? targets_ + targets : negatives_ + sizes_.ids - targets;
  }

  double run_negatives(std::int64_t row, const T* own, const std::int32_t* targets, std::int64_t pairs) {
    const std::int64_t count = sizes_.negatives_a_row;
    T* const slopes = negative_slopes_ + row * count;
    const std::int32_t* const ids = sizes_.shared ? negatives_ : negatives_ + row * count;
    if (pairs == 0) {
      std::fill_n(slopes, count, T(0));
      return 0;
    }
    if (!sizes_.shared) score(own, ids, count, slopes);
    T loss = 0;
    if (!sizes_.by_pair) {
      loss = finish(slopes, ids, count, static_cast<T>(pairs) * negative_share_);
    } else {
      for (std::int64_t i = 0; i < sizes_.count; ++i) {
        const std::int64_t begin = i * sizes_.sampled;
        loss += finish(slopes + begin, ids + begin, sizes_.sampled, targets[i] < 0 ? T(0) : negative_share_);
      }
    }
    return static_cast<double>(loss);
  }

  // Scores to slopes; returns the loss.
  static T finish(T* slopes, const std::int32_t* ids, std::int64_t count, T weight) {
    constexpr std::int64_t kPart = 64;
    T losses[kPart];
    T loss = 0;
    for (std::int64_t begin = 0; begin < count; begin += kPart) {
      const std::int64_t part = std::min(kPart, count - begin);
      T* const scores = slopes + begin;
#pragma omp simd
      for (std::int64_t i = 0; i < part; ++i) {
        const Softplus<T> of(scores[i]);
        const T counts = ids[begin + i] < 0 ? T(0) : weight;
        losses[i] = of.loss * counts;
        scores[i] = of.slope * counts;
      }
      loss += sum_of<T>(part, [&](std::int64_t i) { return losses[i]; });
    }
    return loss;
  }

  const KernelArguments& arguments_;
  const NegativeSamplingSizes& sizes_;
  const T *hidden_, *table_;
  const std::int32_t *targets_, *negatives_;
  T *target_slopes_, *negative_slopes_;
  double* losses_;  // by row
  T* shared_rows_;
  std::int64_t pairs_;
  T share_, negative_share_;
};

// Backward: the gradient of each row of `hidden`, then that of each row of the table that has one.
template <class T>
class Backward {
 public:
  Backward(const KernelArguments& arguments, const NegativeSamplingSizes& sizes)
      : arguments_(arguments),
        sizes_(sizes),
        hidden_(arguments.input<T>(0)),
        table_(arguments.input<T>(1)),
        targets_(arguments.input<std::int32_t>(2)),
        negatives_(arguments.input<std::int32_t>(3)),
        target_slopes_(arguments.input<T>(4)),
        negative_slopes_(arguments.input<T>(5)),
        upstream_(*arguments.input<T>(6)),
        hidden_gradient_(arguments.output<T>(0)),
        rows_(arguments.output<T>(1)),
        stride_(padded<T>(sizes.width)),
        padded_hidden_(static_cast<T*>(arguments.workspace)),
        padded_gradient_(padded_hidden_ + sizes.batch * stride_),
        shared_rows_(padded_gradient_ + sizes.batch * stride_),
        shared_gradient_(shared_rows_ + sizes.sampled * stride_),
        squares_(reinterpret_cast<double*>(static_cast<char*>(arguments.workspace) + shared_bytes(sizes))) {}

  static std::size_t workspace_bytes(const NegativeSamplingSizes& sizes) {
    return shared_bytes(sizes) + static_cast<std::size_t>(sizes.rows) * sizeof(double) +
           RowSlots::bytes(sizes.vocabulary, sizes.ids, sizes.rows);
  }

  void run() {
    RowSlots slots(squares_ + sizes_.rows, sizes_.vocabulary, sizes_.ids, arguments_.output<std::int32_t>(2),
                   sizes_.rows);
    add_ids(slots);
    if (sizes_.shared) pad(table_, negatives_, 0, sizes_.sampled, shared_rows_);
    for_blocks(*arguments_.workers, sizes_.batch, kRows, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) run_row(row);
      if (sizes_.shared) add_shared(begin, end);
    });
    if (sizes_.shared) run_shared();
    for_row_blocks(*arguments_.workers, sizes_.rows, sizes_.width, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t slot = begin; slot < end; ++slot) run_slot(slots, slot);
    });
    *arguments_.output<T>(3) = static_cast<T>(std::accumulate(squares_, squares_ + slots.used(), 0.0));
  }

 private:
  static constexpr std::int64_t kRows = 32;

  static std::size_t shared_bytes(const NegativeSamplingSizes& sizes) {
    const std::int64_t rows = sizes.shared ? 2 * (sizes.batch + sizes.sampled) : 0;
    return static_cast<std::size_t>(rows * padded<T>(sizes.width)) * sizeof(T);
  }

  // Entries: row by row its targets and its negatives; shared negatives after all rows.
  std::int64_t entries_a_row() const { return sizes_.count + (sizes_.shared ? 0 : sizes_.negatives_a_row); }

  void add_ids(RowSlots& slots) const {
    for (std::int64_t row = 0; row < sizes_.batch; ++row) {
      for (std::int64_t i = 0; i < sizes_.count; ++i) slots.add(targets_[row * sizes_.count + i]);
      if (sizes_.shared) continue;
      for (std::int64_t i = 0; i < sizes_.negatives_a_row; ++i) slots.add(negatives_[row * sizes_.negatives_a_row + i]);
    }
    for (std::int64_t i = 0; sizes_.shared && i < sizes_.sampled; ++i) slots.add(negatives_[i]);
    slots.finish();
  }

  void run_row(std::int64_t row) {
    std::fill_n(hidden_gradient_ + row * sizes_.width, sizes_.width, T(0));
    add_rows(row, sizes_.count, targets_, target_slopes_);
    if (!sizes_.shared) add_rows(row, sizes_.negatives_a_row, negatives_, negative_slopes_);
  }

  void add_rows(std::int64_t row, std::int64_t count, const std::int32_t* ids, const T* slopes) {
    T* const gradient = hidden_gradient_ + row * sizes_.width;
    const std::int64_t last = sizes_.batch * count;
    for (std::int64_t i = row * count; i < (row + 1) * count; ++i) {
      if (i + kAhead < last && ids[i + kAhead] >= 0) prefetch(row_of(table_, ids[i + kAhead], sizes_), sizes_.width);
      if (ids[i] >= 0) add(row_of(table_, ids[i], sizes_), slopes[i] * upstream_, gradient);
    }
  }

  void run_slot(const RowSlots& slots, std::int64_t slot) {
    T* const to = rows_ + slot * sizes_.width;
    std::fill_n(to, sizes_.width, T(0));
    if (slot >= slots.used()) return;
    slots.for_entries(slot, [&](std::int64_t entry) {
      const std::int64_t row = entry / entries_a_row(), i = entry % entries_a_row();
      if (row >= sizes_.batch) {
        add(shared_gradient_ + (entry - sizes_.batch * entries_a_row()) * stride_, T(1), to);
      } else {
        const T slope = i < sizes_.count ? target_slopes_[row * sizes_.count + i]
                                         : negative_slopes_[row * sizes_.negatives_a_row + i - sizes_.count];
        add(hidden_ + row * sizes_.width, slope * upstream_, to);
      }
    });
    squares_[slot] = squares_of(to, sizes_.width);
  }

  void add(const T* from, T factor, T* to) const {
#pragma omp simd
    for (std::int64_t j = 0; j < sizes_.width; ++j) to[j] += factor * from[j];
  }

  // -- shared negatives: products of matrices whose rows are padded to whole vectors

  void add_shared(std::int64_t begin, std::int64_t end) {
    pad(hidden_, nullptr, begin, end, padded_hidden_);
    multiply({negative_slopes_ + begin * sizes_.sampled, sizes_.sampled, 1}, shared_rows_, stride_,
             padded_gradient_ + begin * stride_, stride_, end - begin, stride_, sizes_.sampled, upstream_);
    for (std::int64_t row = begin; row < end; ++row)
      add(padded_gradient_ + row * stride_, T(1), hidden_gradient_ + row * sizes_.width);
  }

  void run_shared() {
    constexpr std::int64_t kShared = 12;  // rows of two tiles of `multiply`
    for_blocks(*arguments_.workers, sizes_.sampled, kShared, [&](std::int64_t begin, std::int64_t end) {
      multiply({negative_slopes_ + begin, 1, sizes_.sampled}, padded_hidden_, stride_,
               shared_gradient_ + begin * stride_, stride_, end - begin, stride_, sizes_.batch, upstream_);
    });
  }

  // Rows [begin, end), or those that `ids` names, with zeros up to whole vectors.
  void pad(const T* rows, const std::int32_t* ids, std::int64_t begin, std::int64_t end, T* out) const {
    for (std::int64_t i = begin; i < end; ++i) {
      T* const to = out + i * stride_;
      const bool none = ids != nullptr && ids[i] < 0;
      const T* const from = ids == nullptr ? rows + i * sizes_.width : row_of(rows, std::max(ids[i], 0), sizes_);
      for (std::int64_t j = 0; j < sizes_.width; ++j) to[j] = none ? T(0) : from[j];
      std::fill(to + sizes_.width, to + stride_, T(0));
    }
  }

  const KernelArguments& arguments_;
  const NegativeSamplingSizes& sizes_;
  const T *hidden_, *table_;
  const std::int32_t *targets_, *negatives_;
  const T *target_slopes_, *negative_slopes_;
  T upstream_;
  T *hidden_gradient_, *rows_;
  std::int64_t stride_;  // of padded rows
  T *padded_hidden_, *padded_gradient_, *shared_rows_, *shared_gradient_;
  double* squares_;  // by row of the result
};

}  // namespace

std::unique_ptr<Kernel> make_cpu_negative_sampling(const KernelRequest& request) {
  const NegativeSamplingSizes sizes = sizes_of(request);
  const double weight = request.attributes.as<NegativeSamplingAttributes>().weight;
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    return make_kernel([=](const KernelArguments& arguments) { Forward<T>(arguments, sizes, weight).run(); },
                       Forward<T>::workspace_bytes(sizes));
  });
}

std::unique_ptr<Kernel> make_cpu_negative_sampling_gradient(const KernelRequest& request) {
  const NegativeSamplingSizes sizes = sizes_of(request);
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    return make_kernel([=](const KernelArguments& arguments) { Backward<T>(arguments, sizes).run(); },
                       Backward<T>::workspace_bytes(sizes));
  });
}

}  // namespace jari
