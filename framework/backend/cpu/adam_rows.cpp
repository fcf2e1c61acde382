// Adam's steps of single rows, and those that a row waited with.
//
// A row with moments m, v and no gradient for n steps: step i (1 to n) has moments m b1^i and v b2^i and moves the
// parameter by -c_i m / (s q_i + epsilon), with s = sqrt(v), c_i = rate_i b1^i / (1 - b1^t_i), q_i = sqrt(b2^i / (1 -
// b2^t_i)), t_i the number of the step from 1 on. Where e = epsilon / (s q) is small, 1 / (s q + epsilon) = (1 - e +
// e^2 - ...) / (s q), so the sum over the steps is m / s (S1 - e' (S2 - e' (S3 - ...))), e' = epsilon / s, S_k = sum
// c_i / q_i^k: one root and one division for all steps. Other rows take their steps one by one.

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "framework/backend/cpu/cpu_kernel.hpp"
#include "framework/ops/optimizer_step.hpp"

namespace jari {

namespace {

using namespace cpu;

constexpr int kTerms = 5;               // of the series in e
constexpr double kLargestRatio = 0.01;  // e^5 = 1e-10 is left out

// Sizes of a table and Adam's settings, in the element type that the dense kernel uses.
template <class T>
struct Adam {
  Adam(const KernelRequest& request, const AdamAttributes& settings)
      : rows(request.inputs[0].shape[0]),
        width(request.inputs[0].shape.size() / rows),
        beta1(static_cast<T>(settings.beta1)),
        beta2(static_cast<T>(settings.beta2)),
        rest1(static_cast<T>(1 - settings.beta1)),
        rest2(static_cast<T>(1 - settings.beta2)),
        epsilon(static_cast<T>(settings.epsilon)),
        options(settings) {}

  std::int64_t rows, width;
  T beta1, beta2, rest1, rest2, epsilon;
  AdamAttributes options;
};

template <class T>
struct Tables {
  T *parameter, *first, *second;
  std::int32_t* steps_done;
};

// The outputs; where they are not the inputs' own memory, copies of these.
template <class T>
Tables<T> tables_of(const KernelArguments& arguments, const Adam<T>& adam) {
  const auto copy = [&]<class Element>(int i, std::int64_t count) {
    auto* const out = arguments.output<Element>(i);
    const auto* const in = arguments.input<Element>(i);
    if (out != in) std::memcpy(out, in, static_cast<std::size_t>(count) * sizeof(Element));
    return out;
  };
  const std::int64_t count = adam.rows * adam.width;
  return {copy.template operator()<T>(0, count), copy.template operator()<T>(1, count),
          copy.template operator()<T>(2, count), copy.template operator()<std::int32_t>(3, adam.rows)};
}

// Rows lie all over the tables: the next one is asked for while this one is worked on.
template <class T>
void prefetch_row(const Tables<T>& tables, std::int64_t row, std::int64_t width) {
  constexpr std::int64_t kLine = 64 / sizeof(T);
  for (std::int64_t i = row * width; i < (row + 1) * width; i += kLine) {
    __builtin_prefetch(tables.parameter + i, 1);
    __builtin_prefetch(tables.first + i, 1);
    __builtin_prefetch(tables.second + i, 1);
  }
}

// What all rows that missed the same steps have in common.
template <class T>
struct Wait {
  T sums[kTerms];
  T scale;           // of the parameter: decoupled decay
  T scale1, scale2;  // of the moments
  T smallest_root;   // smallest q
};

template <class T>
class CatchUp {
 public:
  // `rates`: of the last `history` steps before `step`.
  CatchUp(const Adam<T>& adam, const T* rates, std::int64_t history, double decay, std::int64_t step) : adam_(adam) {
    const double beta1 = static_cast<double>(adam.beta1), beta2 = static_cast<double>(adam.beta2);
    const double root2 = std::sqrt(beta2);
    double ratios[kTerms];  // what one more missed step does to each sum: its terms are that much older
    for (int k = 0; k < kTerms; ++k) ratios[k] = beta1 / std::pow(root2, k + 1);
    double power1 = std::pow(adam.options.beta1, static_cast<double>(step));
    double power2 = std::pow(adam.options.beta2, static_cast<double>(step));
    double sums[kTerms] = {}, scale = 1, scale1 = 1, scale2 = 1, smallest = std::numeric_limits<double>::max();
    waits_.push_back({});
    steps_.push_back({});
    for (std::int64_t age = 0; age < std::min(history, step); ++age) {  // step - age, counted from 1
      const double rate = static_cast<double>(rates[history - 1 - age]) / (1 - power1);
      const double correction = 1 / std::sqrt(1 - power2), inverse = 1 / (root2 * correction);
      const double keep = adam.options.decoupled_decay ? 1 - static_cast<double>(rates[history - 1 - age]) * decay : 1;
      double term = rate * beta1 * scale;
      for (int k = 0; k < kTerms; ++k) sums[k] = sums[k] * ratios[k] + (term *= inverse);
      scale *= keep;
      scale1 *= beta1;
      scale2 *= beta2;
      smallest = std::min(smallest, correction) * root2;
      add_wait(sums, scale, scale1, scale2, smallest);
      steps_.push_back({rate, correction, keep});
      power1 /= adam.options.beta1;
      power2 /= adam.options.beta2;
    }
  }

  void run(T* parameter, T* first, T* second, std::int64_t missed) const {
    const Wait<T>& wait = waits_[static_cast<std::size_t>(missed)];
    if (is_small(first, second, wait)) return by_series(parameter, first, second, wait);
    step_by_step(parameter, first, second, missed);
#pragma omp simd
    for (std::int64_t j = 0; j < adam_.width; ++j) {
      first[j] *= wait.scale1;
      second[j] *= wait.scale2;
    }
  }

 private:
  struct MissedStep {
    double rate, correction, keep;
  };

  void add_wait(const double* sums, double scale, double scale1, double scale2, double smallest) {
    Wait<T>& wait = waits_.emplace_back();
    for (int k = 0; k < kTerms; ++k) wait.sums[k] = static_cast<T>(sums[k]);
    wait.scale = static_cast<T>(scale);
    wait.scale1 = static_cast<T>(scale1);
    wait.scale2 = static_cast<T>(scale2);
    wait.smallest_root = static_cast<T>(smallest);
  }

  bool is_small(const T* first, const T* second, const Wait<T>& wait) const {
    const T limit = adam_.epsilon / (wait.smallest_root * static_cast<T>(kLargestRatio)), squared = limit * limit;
    int large = 0;
#pragma omp simd reduction(| : large)
    for (std::int64_t j = 0; j < adam_.width; ++j) large |= first[j] != T(0) && !(second[j] > squared);
    return large == 0;
  }

  void by_series(T* parameter, T* first, T* second, const Wait<T>& wait) const {
    const T scale1 = wait.scale1, scale2 = wait.scale2;
    const T s1 = wait.sums[0], s2 = wait.sums[1], s3 = wait.sums[2], s4 = wait.sums[3], s5 = wait.sums[4];
    const T scale = wait.scale, epsilon = adam_.epsilon;
#pragma omp simd
    for (std::int64_t j = 0; j < adam_.width; ++j) {
      const bool moves = first[j] != T(0);
      const T inverse = 1 / std::sqrt(moves ? second[j] : T(1));
      const T e = epsilon * inverse;
      parameter[j] = scale * parameter[j] - first[j] * inverse * (s1 - e * (s2 - e * (s3 - e * (s4 - e * s5))));
      first[j] *= scale1;
      second[j] *= scale2;
    }
  }

  void step_by_step(T* parameter, const T* first, const T* second, std::int64_t missed) const {
    double power1 = 1, power2 = 1;
    for (std::int64_t age = missed; age > 0; --age) {
      const MissedStep& step = steps_[static_cast<std::size_t>(age)];
      power1 *= static_cast<double>(adam_.beta1);
      power2 *= static_cast<double>(adam_.beta2);
      const T slope = static_cast<T>(step.rate * power1), keep = static_cast<T>(step.keep);
      const T root = static_cast<T>(std::sqrt(power2) * step.correction);
#pragma omp simd
      for (std::int64_t j = 0; j < adam_.width; ++j)
        parameter[j] = keep * parameter[j] - slope * first[j] / (std::sqrt(second[j]) * root + adam_.epsilon);
    }
  }

  const Adam<T>& adam_;
  std::vector<Wait<T>> waits_;     // by steps missed
  std::vector<MissedStep> steps_;  // by how many steps ago, from 1 on
};

// A row that has to be caught up, and by how many steps.
struct Late {
  std::int32_t row, missed;
};

template <class T>
void catch_up(const KernelArguments& arguments, const Adam<T>& adam, std::int64_t history,
              const std::vector<std::int64_t>& id_counts) {
  const std::int64_t step = *arguments.input<std::int32_t>(6);
  const Tables<T> tables = tables_of(arguments, adam);
  CatchUp<T> late_rows(adam, arguments.input<T>(4), history, static_cast<double>(*arguments.input<T>(5)), step);
  auto* const late = static_cast<Late*>(arguments.workspace);
  std::int64_t count = 0;
  const auto look_at = [&](std::int64_t row) {
    std::int32_t& done = tables.steps_done[row];
    const std::int64_t missed = std::min<std::int64_t>(step - done, history);
    if (missed <= 0) return;
    late[count++] = {static_cast<std::int32_t>(row), static_cast<std::int32_t>(missed)};
    done = static_cast<std::int32_t>(step);
  };
  if (id_counts.empty()) {
    for (std::int64_t row = 0; row < adam.rows; ++row) look_at(row);
  } else {
    const std::int64_t turn = step % history;
    for (std::int64_t row = adam.rows * turn / history; row < adam.rows * (turn + 1) / history; ++row) look_at(row);
    for (std::size_t i = 0; i < id_counts.size(); ++i) {
      const auto* const ids = arguments.input<std::int32_t>(static_cast<int>(i) + 7);
      for (std::int64_t k = 0; k < id_counts[i]; ++k) {
        if (ids[k] >= 0) look_at(std::min<std::int64_t>(ids[k], adam.rows - 1));
      }
    }
  }
  for_row_blocks(*arguments.workers, count, adam.width, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (i + 1 < end) prefetch_row(tables, late[i + 1].row, adam.width);
      const std::int64_t at = late[i].row * adam.width;
      late_rows.run(tables.parameter + at, tables.first + at, tables.second + at, late[i].missed);
    }
  });
}

// One step of one row: the dense kernel's formulas.
template <class T>
struct Step {
  Step(const KernelArguments& arguments, const Adam<T>& of) : adam(of) {
    const double rate = *arguments.input<T>(6), decay = *arguments.input<T>(7);
    const double steps = *arguments.input<std::int32_t>(8) + 1.0;
    const bool decoupled = adam.options.decoupled_decay;
    keep = static_cast<T>(decoupled ? 1 - rate * decay : 1);
    slope_decay = static_cast<T>(decoupled ? 0 : decay);
    step_size = static_cast<T>(rate / (1 - std::pow(adam.options.beta1, steps)));
    correction = static_cast<T>(std::sqrt(1 - std::pow(adam.options.beta2, steps)));
  }

  void run(T* parameter, T* first, T* second, const T* gradient) const {
#pragma omp simd
    for (std::int64_t j = 0; j < adam.width; ++j) {
      const T slope = gradient[j] + slope_decay * parameter[j];
      first[j] = adam.beta1 * first[j] + adam.rest1 * slope;
      second[j] = adam.beta2 * second[j] + adam.rest2 * slope * slope;
      parameter[j] = keep * parameter[j] - step_size * first[j] / (std::sqrt(second[j]) / correction + adam.epsilon);
    }
  }

  const Adam<T>& adam;
  T keep, slope_decay, step_size, correction;
};

template <class T>
void update_rows(const KernelArguments& arguments, const Adam<T>& adam, std::int64_t count) {
  const Tables<T> tables = tables_of(arguments, adam);
  const T* const rows = arguments.input<T>(4);
  const auto* const ids = arguments.input<std::int32_t>(5);
  const auto done = *arguments.input<std::int32_t>(8) + 1;
  const Step<T> step(arguments, adam);
  const auto run_row = [&](std::int64_t row, const T* gradient) {
    const std::int64_t at = row * adam.width;
    step.run(tables.parameter + at, tables.first + at, tables.second + at, gradient);
    tables.steps_done[row] = done;
  };
  if (step.slope_decay == T(0)) {
    for_row_blocks(*arguments.workers, count, adam.width, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        if (i + 1 < end && ids[i + 1] >= 0) prefetch_row(tables, ids[i + 1], adam.width);
        if (ids[i] >= 0) run_row(std::min<std::int64_t>(ids[i], adam.rows - 1), rows + i * adam.width);
      }
    });
    return;
  }
  T* const no_gradient = static_cast<T*>(arguments.workspace);
  auto* const gradient_of = reinterpret_cast<std::int32_t*>(no_gradient + adam.width);
  std::fill_n(no_gradient, adam.width, T(0));
  std::fill_n(gradient_of, adam.rows, -1);
  for (std::int64_t i = 0; i < count; ++i) {
    if (ids[i] >= 0) gradient_of[std::min<std::int64_t>(ids[i], adam.rows - 1)] = static_cast<std::int32_t>(i);
  }
  for_row_blocks(*arguments.workers, adam.rows, adam.width, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row)
      run_row(row, gradient_of[row] < 0 ? no_gradient : rows + gradient_of[row] * adam.width);
  });
}

}  // namespace

std::unique_ptr<Kernel> make_cpu_adam_catch_up(const KernelRequest& request) {
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    const Adam<T> adam(request, request.attributes.as<AdamAttributes>());
    const std::int64_t history = request.inputs[4].shape[0];
    std::vector<std::int64_t> id_counts;
    for (std::size_t i = 7; i < request.inputs.size(); ++i) id_counts.push_back(request.inputs[i].shape.size());
    return make_kernel([=](const KernelArguments& arguments) { catch_up<T>(arguments, adam, history, id_counts); },
                       static_cast<std::size_t>(adam.rows) * sizeof(Late));
  });
}

std::unique_ptr<Kernel> make_cpu_adam_update_rows(const KernelRequest& request) {
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    const Adam<T> adam(request, request.attributes.as<AdamAttributes>());
    const std::int64_t count = request.inputs[5].shape[0];
    return make_kernel(
        [=](const KernelArguments& arguments) { update_rows<T>(arguments, adam, count); },
        static_cast<std::size_t>(adam.width) * sizeof(T) + static_cast<std::size_t>(adam.rows) * sizeof(std::int32_t));
  });
}

}  // namespace jari
