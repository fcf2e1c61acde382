#include "framework/ops/negative_sampling.hpp"

#include <limits>
#include <numeric>

#include "framework/backend/cpu/cpu_kernel.hpp"
#include "framework/backend/cpu/panel_product.hpp"
#include "framework/backend/cpu/row_slots.hpp"
#include "framework/backend/cpu/rows.hpp"
#include "framework/backend/cpu/scattered_rows.hpp"

namespace jari {

namespace {

using namespace cpu;

NegativeSamplingSizes sizes_of(const KernelRequest& request) {
  return {request.inputs[0].shape, request.inputs[1].shape, request.inputs[2].shape, request.inputs[3].shape,
          request.attributes.as<NegativeSamplingAttributes>()};
}

template <class T>
std::int64_t padded(std::int64_t width) {
  return blocks_of(width, kVectorLanes<T>) * kVectorLanes<T>;
}

// Rows lie all over a table: asking for one a few rows early hides most of the way to it.
constexpr std::int64_t kAhead = 8;
template <class T>
void prefetch(const T* row, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += 64 / static_cast<std::int64_t>(sizeof(T))) __builtin_prefetch(row + i);
}

template <class T>
const T* row_of(const T* table, std::int32_t id, const NegativeSamplingSizes& sizes) {
  return table + std::min<std::int64_t>(id, sizes.vocabulary - 1) * sizes.width;
}

// out [count, stride] = the rows that `ids` name, zeros for none and behind each up to `stride`.
template <class T>
void gather_rows(const T* table, const std::int32_t* ids, std::int64_t count, const NegativeSamplingSizes& sizes,
                 std::int64_t stride, T* out) {
  for (std::int64_t i = 0; i < count; ++i, out += stride) {
    if (i + kAhead < count && ids[i + kAhead] >= 0) prefetch(row_of(table, ids[i + kAhead], sizes), sizes.width);
    const std::int64_t copied = ids[i] < 0 ? 0 : sizes.width;
    std::copy_n(row_of(table, std::max(ids[i], 0), sizes), copied, out);
    std::fill(out + copied, out + stride, T(0));
  }
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

// Forward: the scores of rows of `hidden`, turned into slopes where they lie.
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
        shared_rows_(reinterpret_cast<T*>(losses_ + blocks_of(sizes.batch, 8) * 8)),
        shared_columns_(shared_rows_ + sizes.sampled * padded<T>(sizes.width)),
        pairs_(count_of(targets_, sizes.batch * sizes.count)) {
    share_ = static_cast<T>(1.0 / static_cast<double>(std::max<std::int64_t>(1, pairs_)));
    negative_share_ = static_cast<T>(weight / static_cast<double>(sizes.sampled)) * share_;
  }

  static std::size_t workspace_bytes(const NegativeSamplingSizes& sizes) {
    const std::int64_t shared =
        sizes.shared ? sizes.sampled * padded<T>(sizes.width) + Panels<T>::size(sizes.width, sizes.sampled) : 0;
    return static_cast<std::size_t>(blocks_of(sizes.batch, 8) * 8) * sizeof(double) +
           static_cast<std::size_t>(shared) * sizeof(T);
  }

  void run() {
    if (sizes_.shared) pack_shared();
    for_blocks(*arguments_.workers, sizes_.batch, kRows, [&](std::int64_t begin, std::int64_t end) {
      losses_[begin / kRows] = run_targets(begin, end) + run_negatives(begin, end);
    });
    *arguments_.output<T>(0) = static_cast<T>(std::accumulate(losses_, losses_ + blocks_of(sizes_.batch, kRows), 0.0));
    *arguments_.output<T>(1) = static_cast<T>(pairs_);
  }

 private:
  static constexpr std::int64_t kRows = 32;

  static std::int64_t count_of(const std::int32_t* ids, std::int64_t count) {
    return std::count_if(ids, ids + count, [](std::int32_t id) { return id >= 0; });
  }

  // Shared rows as columns: [width, shared].
  void pack_shared() {
    const std::int64_t stride = padded<T>(sizes_.width);
    gather_rows(table_, negatives_, sizes_.sampled, sizes_, stride, shared_rows_);
    pack_panels<T>({shared_rows_, 1, stride}, sizes_.width, sizes_.sampled, shared_columns_);
  }

  double run_targets(std::int64_t begin, std::int64_t end) {
    const std::int64_t count = sizes_.count, all = sizes_.batch * count;
    for (std::int64_t row = begin; row < end; ++row)
      score(row, targets_ + row * count, count, targets_ + all, target_slopes_ + row * count);
    return finish(target_slopes_ + begin * count, targets_ + begin * count, (end - begin) * count, share_, T(-1));
  }

  double run_negatives(std::int64_t begin, std::int64_t end) {
    const std::int64_t count = sizes_.negatives_a_row;
    if (sizes_.shared) {
      multiply_panels<T>({hidden_ + begin * sizes_.width, sizes_.width, 1}, {shared_columns_, sizes_.width},
                         negative_slopes_ + begin * count, count, end - begin, count, sizes_.width, false);
    }
    double loss = 0;
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int32_t* const ids = sizes_.shared ? negatives_ : negatives_ + row * count;
      T* const slopes = negative_slopes_ + row * count;
      if (!sizes_.shared) score(row, ids, count, negatives_ + sizes_.batch * count, slopes);
      loss += finish_negatives(row, ids, slopes);
    }
    return loss;
  }

  // Scores of a row of `hidden` with those of the table that `ids` names; `end`: of all ids, for the next row's are
  // asked for as well.
  void score(std::int64_t row, const std::int32_t* ids, std::int64_t count, const std::int32_t* end, T* scores) {
    const T* const own = hidden_ + row * sizes_.width;
    const RowScores<T> scores_of(own, sizes_.width);
    for (std::int64_t first = 0; first < count; first += 4) {
      const T* rows[4];
      T four[4];
      const std::int64_t here = std::min<std::int64_t>(4, count - first);
      for (std::int64_t i = 0; i < 4; ++i) {
        const std::int32_t* const id = ids + first + i;
        if (end - id > kAhead && id[kAhead] >= 0) prefetch(row_of(table_, id[kAhead], sizes_), sizes_.width);
        rows[i] = i < here && *id >= 0 ? row_of(table_, *id, sizes_) : nullptr;
      }
      const bool is_empty = !rows[0] && !rows[1] && !rows[2] && !rows[3];
      const T* const any = own;  // for the lanes of none
      if (!is_empty)
        scores_of({rows[0] ? rows[0] : any, rows[1] ? rows[1] : any, rows[2] ? rows[2] : any, rows[3] ? rows[3] : any},
                  four);
      for (std::int64_t i = 0; i < here; ++i) scores[first + i] = rows[i] ? four[i] : T(0);
    }
  }

  double finish_negatives(std::int64_t row, const std::int32_t* ids, T* slopes) {
    const std::int64_t count = sizes_.negatives_a_row;
    const std::int32_t* const targets = targets_ + row * sizes_.count;
    if (!sizes_.by_pair) {
      const std::int64_t pairs = count_of(targets, sizes_.count);
      if (pairs > 0) return finish(slopes, ids, count, static_cast<T>(pairs) * negative_share_, T(1));
      std::fill_n(slopes, count, T(0));
      return 0;
    }
    double loss = 0;
    for (std::int64_t i = 0; i < sizes_.count; ++i) {
      const std::int64_t begin = i * sizes_.sampled;
      loss += finish(slopes + begin, ids + begin, sizes_.sampled, targets[i] < 0 ? T(0) : negative_share_, T(1));
    }
    return loss;
  }

  // Scores to slopes of weight softplus(sign score); returns the loss. Inlined, its loop would not become vectors.
  [[gnu::noinline]] static double finish(T* slopes, const std::int32_t* ids, std::int64_t count, T weight, T sign) {
    constexpr std::int64_t kPart = 64;
    T losses[kPart];
    double loss = 0;
    for (std::int64_t begin = 0; begin < count; begin += kPart) {
      const std::int64_t part = std::min(kPart, count - begin);
      T* const scores = slopes + begin;
#pragma omp simd
      for (std::int64_t i = 0; i < part; ++i) {
        const Softplus<T> of(sign * scores[i]);
        const T counts = ids[begin + i] < 0 ? T(0) : weight;
        losses[i] = of.loss * counts;
        scores[i] = sign * of.slope * counts;
      }
      loss += static_cast<double>(sum_of<T>(part, [&](std::int64_t i) { return losses[i]; }));
    }
    return loss;
  }

  const KernelArguments& arguments_;
  const NegativeSamplingSizes& sizes_;
  const T *hidden_, *table_;
  const std::int32_t *targets_, *negatives_;
  T *target_slopes_, *negative_slopes_;
  double* losses_;  // by block
  T *shared_rows_, *shared_columns_;
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

  // In two rounds: the gradient of `hidden`, and meanwhile which rows of the table have one; then these.
  void run() {
    RowSlots slots(squares_ + sizes_.rows, sizes_.vocabulary, sizes_.ids, arguments_.output<std::int32_t>(2),
                   sizes_.rows);
    if (sizes_.shared) gather_rows(table_, negatives_, sizes_.sampled, sizes_, stride_, shared_rows_);
    arguments_.workers->for_each(1 + blocks_of(sizes_.batch, kRows), [&](std::int64_t i, int) {
      if (i == 0) return add_ids(slots);
      run_rows((i - 1) * kRows, std::min(sizes_.batch, i * kRows));
    });
    const std::int64_t products = sizes_.shared ? blocks_of(sizes_.sampled, kShared) : 0;
    arguments_.workers->for_each(products + blocks_of(sizes_.rows, kSlots), [&](std::int64_t i, int) {
      if (i < products) return multiply_shared(i * kShared, std::min(sizes_.sampled, (i + 1) * kShared));
      const std::int64_t begin = (i - products) * kSlots;
      run_slots(slots, begin, std::min(sizes_.rows, begin + kSlots));
    });
    if (sizes_.shared) add_shared(slots);
    const double squares = std::accumulate(squares_, squares_ + slots.used(), 0.0);
    *arguments_.output<T>(3) = slots.overflowed() ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(squares);
  }

 private:
  static constexpr std::int64_t kRows = 32, kSlots = 128;
  static constexpr std::int64_t kShared = 12;  // rows of a tile of `multiply`, or of two

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

  // Rows [begin, end) of the gradient of `hidden`.
  void run_rows(std::int64_t begin, std::int64_t end) {
    if (sizes_.shared) {
      pad_hidden(begin, end);
      multiply<T>({negative_slopes_ + begin * sizes_.sampled, sizes_.sampled, 1}, shared_rows_, stride_,
                  padded_gradient_ + begin * stride_, stride_, end - begin, stride_, sizes_.sampled);
    }
    for (std::int64_t row = begin; row < end; ++row) {
      ask_for(targets_, row + 1, sizes_.count);
      if (!sizes_.shared) ask_for(negatives_, row + 1, sizes_.negatives_a_row);
      const auto each_row = [&](const auto& add) {
        add_rows(row, sizes_.count, targets_, target_slopes_, add);
        if (sizes_.shared) {
          add(upstream_, padded_gradient_ + row * stride_);
        } else {
          add_rows(row, sizes_.negatives_a_row, negatives_, negative_slopes_, add);
        }
      };
      sum_rows(sizes_.width, each_row, hidden_gradient_ + row * sizes_.width);
    }
  }

  // The table's rows of the ids of row `row`.
  void ask_for(const std::int32_t* ids, std::int64_t row, std::int64_t count) const {
    if (row >= sizes_.batch) return;
    for (std::int64_t i = row * count; i < (row + 1) * count; ++i) {
      if (ids[i] >= 0) prefetch(row_of(table_, ids[i], sizes_), sizes_.width);
    }
  }

  template <class Add>
  void add_rows(std::int64_t row, std::int64_t count, const std::int32_t* ids, const T* slopes, const Add& add) const {
    for (std::int64_t i = row * count; i < (row + 1) * count; ++i) {
      if (ids[i] >= 0) add(slopes[i] * upstream_, row_of(table_, ids[i], sizes_));
    }
  }

  // Rows [begin, end) of the table's gradient, but for what shared negatives give.
  void run_slots(const RowSlots& slots, std::int64_t begin, std::int64_t end) {
    const auto a_row = static_cast<std::uint32_t>(entries_a_row());
    const std::int64_t of_rows = sizes_.batch * entries_a_row();
    for (std::int64_t slot = begin; slot < std::min(end, slots.used()); ++slot) {
      T* const to = rows_ + slot * sizes_.width;
      const auto each_row = [&](const auto& add) {
        slots.for_entries(slot, [&](std::int32_t entry) {
          if (entry >= of_rows) return;
          const std::int64_t row = static_cast<std::uint32_t>(entry) / a_row,
                             i = static_cast<std::uint32_t>(entry) % a_row;
          const T slope = i < sizes_.count ? target_slopes_[row * sizes_.count + i]
                                           : negative_slopes_[row * sizes_.negatives_a_row + i - sizes_.count];
          add(slope * upstream_, hidden_ + row * sizes_.width);
        });
      };
      sum_rows(sizes_.width, each_row, to);
    }
    const std::int64_t unused = std::max(begin, slots.used());
    squares_of_rows(rows_ + begin * sizes_.width, std::min(end, unused) - begin, sizes_.width, squares_ + begin);
    if (unused < end) std::fill(rows_ + unused * sizes_.width, rows_ + end * sizes_.width, T(0));
  }

  // -- shared negatives: products of matrices whose rows are padded to whole vectors

  void pad_hidden(std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      T* const to = padded_hidden_ + row * stride_;
      std::copy_n(hidden_ + row * sizes_.width, sizes_.width, to);
      std::fill(to + sizes_.width, to + stride_, T(0));
    }
  }

  // What shared negatives [begin, end) give.
  void multiply_shared(std::int64_t begin, std::int64_t end) {
    multiply({negative_slopes_ + begin, 1, sizes_.sampled}, padded_hidden_, stride_, shared_gradient_ + begin * stride_,
             stride_, end - begin, stride_, sizes_.batch, upstream_);
  }

  void add_shared(const RowSlots& slots) {
    const std::int64_t first = sizes_.batch * entries_a_row();
    for (std::int64_t i = 0; i < sizes_.sampled; ++i) {
      const std::int32_t slot = slots.slot_of(first + i);
      if (slot < 0) continue;
      T* const to = rows_ + slot * sizes_.width;
      const T* const from = shared_gradient_ + i * stride_;
#pragma omp simd
      for (std::int64_t j = 0; j < sizes_.width; ++j) to[j] += from[j];
    }
    for (std::int64_t i = 0; i < sizes_.sampled; ++i) {
      const std::int32_t slot = slots.slot_of(first + i);
      if (slot >= 0) squares_of_rows(rows_ + slot * sizes_.width, 1, sizes_.width, squares_ + slot);
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
