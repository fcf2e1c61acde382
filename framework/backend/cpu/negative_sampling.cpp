#include "framework/ops/negative_sampling.hpp"

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
    const std::int64_t pairs =
        std::count_if(targets, targets + sizes_.count, [](std::int32_t id) { return id >= 0; });
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
      if (ids + i + kAhead < end && ids[i + kAhead] >= 0) prefetch(row_of(table_, ids[i + kAhead], sizes_), sizes_.width);
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

// Backward, by columns: cores share no element.
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
        shared_gradient_(shared_rows_ + sizes.sampled * stride_) {}

  static std::size_t workspace_bytes(const NegativeSamplingSizes& sizes) {
    return shared_bytes(sizes) + RowSlots::bytes(sizes.vocabulary, sizes.ids);
  }

  void run() {
    RowSlots slots(static_cast<char*>(arguments_.workspace) + shared_bytes(sizes_), sizes_.vocabulary,
                   arguments_.output<std::int32_t>(2), sizes_.rows);
    number(slots);
    const std::int64_t vectors = stride_ / kVectorLanes<T>;
    const std::int64_t columns = blocks_of(vectors, arguments_.workers->threads()) * kVectorLanes<T>;
    for_blocks(*arguments_.workers, stride_, columns, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t inside = std::min(end, sizes_.width);
      std::int64_t begun = 0;  // rows of the result, in their order
      for (std::int64_t row = 0; row < sizes_.batch; ++row) run_row(row, begin, inside, begun);
      for (std::int64_t i = begun; i < sizes_.rows; ++i)
        std::fill(rows_ + i * sizes_.width + begin, rows_ + i * sizes_.width + inside, T(0));
      if (sizes_.shared) run_shared(begin, end);
    });
  }

 private:
  static std::size_t shared_bytes(const NegativeSamplingSizes& sizes) {
    return sizes.shared ? static_cast<std::size_t>(2 * (sizes.batch + sizes.sampled) * padded<T>(sizes.width)) * sizeof(T)
                        : 0;
  }

  void number(RowSlots& slots) {
    target_slots_ = slots.extra();
    const std::int64_t targets = sizes_.batch * sizes_.count;
    negative_slots_ = target_slots_ + targets;
    // In the order in which run_row comes by.
    for (std::int64_t row = 0; row < sizes_.batch; ++row) {
      number(slots, row, sizes_.count, targets_, target_slots_);
      if (!sizes_.shared) number(slots, row, sizes_.negatives_a_row, negatives_, negative_slots_);
    }
    if (sizes_.shared) number(slots, 0, sizes_.sampled, negatives_, negative_slots_);
    slots.finish();
  }

  static void number(RowSlots& slots, std::int64_t row, std::int64_t count, const std::int32_t* ids,
                     std::int32_t* slots_of) {
    for (std::int64_t i = row * count; i < (row + 1) * count; ++i) slots_of[i] = slots.of(ids[i]);
  }

  void run_row(std::int64_t row, std::int64_t begin, std::int64_t end, std::int64_t& begun) {
    T* const gradient = hidden_gradient_ + row * sizes_.width;
    std::fill(gradient + begin, gradient + end, T(0));
    add_pairs(row, sizes_.count, targets_, target_slopes_, target_slots_, begin, end, begun);
    if (!sizes_.shared)
      add_pairs(row, sizes_.negatives_a_row, negatives_, negative_slopes_, negative_slots_, begin, end, begun);
  }

  void add_pairs(std::int64_t row, std::int64_t count, const std::int32_t* ids, const T* slopes,
                 const std::int32_t* slots, std::int64_t begin, std::int64_t end, std::int64_t& begun) {
    const T* const own = hidden_ + row * sizes_.width;
    T* const gradient = hidden_gradient_ + row * sizes_.width;
    const std::int64_t last = sizes_.batch * count;
    for (std::int64_t i = row * count; i < (row + 1) * count; ++i) {
      if (i + kAhead < last && slots[i + kAhead] >= 0) {
        prefetch(row_of(table_, ids[i + kAhead], sizes_) + begin, end - begin);
        prefetch(rows_ + slots[i + kAhead] * sizes_.width + begin, end - begin);
      }
      if (slots[i] < 0) continue;
      const T slope = slopes[i] * upstream_;
      const T* const from = row_of(table_, ids[i], sizes_);
      T* const to = rows_ + slots[i] * sizes_.width;
      if (slots[i] == begun) {
        ++begun;
#pragma omp simd
        for (std::int64_t j = begin; j < end; ++j) {
          gradient[j] += slope * from[j];
          to[j] = slope * own[j];
        }
      } else {
#pragma omp simd
        for (std::int64_t j = begin; j < end; ++j) {
          gradient[j] += slope * from[j];
          to[j] += slope * own[j];
        }
      }
    }
  }

  // Two products over columns [begin, end) of rows that are padded to whole vectors.
  void run_shared(std::int64_t begin, std::int64_t end) {
    const std::int64_t inside = std::min(end, sizes_.width), shared = sizes_.sampled;
    pad(hidden_, nullptr, sizes_.batch, begin, end, padded_hidden_);
    pad(table_, negatives_, shared, begin, end, shared_rows_);
    multiply({negative_slopes_, shared, 1}, shared_rows_ + begin, stride_, padded_gradient_ + begin, stride_,
             sizes_.batch, end - begin, shared, upstream_);
    multiply({negative_slopes_, 1, shared}, padded_hidden_ + begin, stride_, shared_gradient_ + begin, stride_, shared,
             end - begin, sizes_.batch, upstream_);
    for (std::int64_t row = 0; row < sizes_.batch; ++row)
      add(padded_gradient_ + row * stride_, hidden_gradient_ + row * sizes_.width, begin, inside);
    for (std::int64_t k = 0; k < shared; ++k) {
      if (negative_slots_[k] >= 0)
        add(shared_gradient_ + k * stride_, rows_ + negative_slots_[k] * sizes_.width, begin, inside);
    }
  }

  // Columns of rows [count, width], or of those that `ids` names, with zeros up to `end`.
  void pad(const T* rows, const std::int32_t* ids, std::int64_t count, std::int64_t begin, std::int64_t end, T* out) {
    const std::int64_t inside = std::min(end, sizes_.width);
    for (std::int64_t i = 0; i < count; ++i) {
      T* const to = out + i * stride_;
      const bool none = ids != nullptr && ids[i] < 0;
      const T* const from = ids == nullptr ? rows + i * sizes_.width : row_of(rows, std::max(ids[i], 0), sizes_);
      for (std::int64_t j = begin; j < inside; ++j) to[j] = none ? T(0) : from[j];
      std::fill(to + inside, to + end, T(0));
    }
  }

  static void add(const T* from, T* to, std::int64_t begin, std::int64_t end) {
#pragma omp simd
    for (std::int64_t j = begin; j < end; ++j) to[j] += from[j];
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
  std::int32_t *target_slots_ = nullptr, *negative_slots_ = nullptr;
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
