// Gradients of few rows of a table, and what optimizers do with them.

#include <algorithm>
#include <cmath>

#include "framework/ops/negative_sampling.hpp"
#include "framework/ops/optimizer_step.hpp"
#include "framework/ops/row_updates.hpp"
#include "tests/ops/reference.hpp"

namespace jari::test {

namespace {

std::size_t at(double number) { return static_cast<std::size_t>(number); }

// Rows by id, in order of appearance.
struct Combined {
  std::vector<double> ids;
  Array rows;
};

Combined combine(const Array& updates, const Array& ids, std::size_t width, std::size_t most) {
  Combined result;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0) continue;
    const auto known = std::find(result.ids.begin(), result.ids.end(), ids[i]);
    const auto slot = static_cast<std::size_t>(known - result.ids.begin());
    if (known == result.ids.end()) {
      result.ids.push_back(ids[i]);
      result.rows.resize(result.rows.size() + width);
    }
    for (std::size_t j = 0; j < width; ++j) result.rows[slot * width + j] += updates[i * width + j];
  }
  result.ids.resize(most, -1);
  result.rows.resize(most * width);
  return result;
}

OpCase combining(std::string name, const Shape& updates, const Shape& ids, std::int64_t rows) {
  OpCase of;
  of.name = std::move(name);
  of.operands = {real(updates), integer(ids, -1, double(rows))};
  of.build = [rows](Graph&, const std::vector<Value>& x) {
    const CombinedRows combined = combine_rows(x[0], x[1], rows);
    return std::vector<Value>{combined.rows, combined.ids, combined.squares};
  };
  of.reference = [=](const Arrays& x) {
    const auto most = static_cast<std::size_t>(std::min(ids.size(), rows));
    const Combined combined = combine(x[0], x[1], static_cast<std::size_t>(updates.size() / ids.size()), most);
    double squares = 0;
    for (const double number : combined.rows) squares += number * number;
    return Arrays{combined.rows, combined.ids, {squares}};
  };
  of.differentiable = false;
  of.tolerance_f32 = 1e-5;
  return of;
}

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

// Loss and number of pairs, pair by pair.
Arrays sample_negatives(const Arrays& x, const NegativeSamplingSizes& sizes, double weight) {
  const auto width = static_cast<std::size_t>(sizes.width);
  const auto score = [&](std::int64_t row, double id) {
    double sum = 0;
    for (std::size_t j = 0; j < width; ++j)
      sum += x[0][static_cast<std::size_t>(row) * width + j] * x[1][at(id) * width + j];
    return sum;
  };
  double loss = 0, pairs = 0;
  for (std::int64_t row = 0; row < sizes.batch; ++row) {
    for (std::int64_t i = 0; i < sizes.count; ++i) {
      const double target = x[2][static_cast<std::size_t>(row * sizes.count + i)];
      if (target < 0) continue;
      pairs += 1;
      loss += softplus(-score(row, target));
      for (std::int64_t k = 0; k < sizes.sampled; ++k) {
        const std::int64_t first = sizes.shared    ? 0
                                   : sizes.by_pair ? (row * sizes.count + i) * sizes.sampled
                                                   : row * sizes.sampled;
        const double negative = x[3][static_cast<std::size_t>(first + k)];
        if (negative >= 0) loss += weight / static_cast<double>(sizes.sampled) * softplus(score(row, negative));
      }
    }
  }
  return {{pairs > 0 ? loss / pairs : 0}, {pairs}};
}

std::vector<Operand> sampling_operands(const Shape& hidden, std::int64_t vocabulary, std::int64_t count,
                                       const Shape& negatives, double lowest) {
  return {real(hidden), real({vocabulary, hidden[1]}), integer({hidden[0], count}, lowest, double(vocabulary)),
          integer(negatives, lowest, double(vocabulary))};
}

OpCase sampling(std::string name, const Shape& hidden, std::int64_t vocabulary, std::int64_t count,
                const Shape& negatives, double lowest = -1, double weight = 1) {
  OpCase of;
  of.name = std::move(name);
  of.operands = sampling_operands(hidden, vocabulary, count, negatives, lowest);
  of.build = [weight](Graph&, const std::vector<Value>& x) {
    const NegativeSamplingResult result = negative_sampling(x[0], x[1], x[2], x[3], weight);
    return std::vector<Value>{result.loss, result.pairs};
  };
  of.reference = [=](const Arrays& x) {
    return sample_negatives(x, {hidden, {vocabulary, hidden[1]}, {hidden[0], count}, negatives, {}}, weight);
  };
  of.differentiable = hidden.size() < 500;
  of.tolerance_f64 = 1e-12;
  return of;
}

// `named`: ids are below it, and so many rows has the table's gradient; 0: as many as there may be.
OpCase sampling_gradient(std::string name, const Shape& hidden, std::int64_t vocabulary, std::int64_t count,
                         const Shape& negatives, std::int64_t named = 0) {
  OpCase of;
  of.name = std::move(name);
  of.operands = sampling_operands(hidden, named > 0 ? named : vocabulary, count, negatives, -1);
  of.operands[1] = real({vocabulary, hidden[1]});
  of.operands.push_back(real({hidden[0], count}));
  of.operands.push_back(real(negatives.rank() == 1 ? Shape{hidden[0], negatives[0]} : negatives));
  of.operands.push_back(real({}));
  of.build = [named](Graph& graph, const std::vector<Value>& x) {
    return graph.apply(op_negative_sampling_gradient, x, NegativeSamplingAttributes{.most_rows = named});
  };
  of.differentiable = false;
  return of;
}

// Adam's state of 3 columns: parameter, moments, steps done.
std::vector<Operand> adam_operands(std::int64_t rows, std::int64_t width, double lowest_second, double highest_second) {
  return {real({rows, width}), real({rows, width}), real({rows, width}, lowest_second, highest_second),
          integer({rows}, 0, kStep + 1)};
}

// One step without a gradient, counted from 1, on all columns of a row.
void step_without_gradient(Arrays& x, std::size_t row, std::size_t width, double rate, double decay, std::int64_t n,
                           const AdamOptions& options) {
  for (std::size_t i = row * width; i < (row + 1) * width; ++i) {
    x[1][i] *= options.beta1;
    x[2][i] *= options.beta2;
    const double step_size = rate / (1 - std::pow(options.beta1, static_cast<double>(n)));
    const double correction = std::sqrt(1 - std::pow(options.beta2, static_cast<double>(n)));
    if (options.decoupled_decay) x[0][i] *= 1 - rate * decay;
    x[0][i] -= step_size * x[1][i] / (std::sqrt(x[2][i]) / correction + options.epsilon);
  }
}

constexpr std::int64_t kHistory = 5;

OpCase catching_up(std::string name, std::int64_t rows, std::int64_t width, bool all_rows, AdamOptions options,
                   double lowest_second = 0.01, double highest_second = 1) {
  OpCase of;
  of.name = std::move(name);
  of.operands = adam_operands(rows, width, lowest_second, highest_second);
  of.operands[3].low = kStep - kHistory;  // none waits longer
  of.operands.push_back(real({kHistory}, 0.01, 0.1));
  of.operands.push_back(real({}, 0.01, 0.1));
  of.operands.push_back(integer({4}, -1, double(rows)));
  of.operands.push_back(integer({2, 3}, -1, double(rows)));
  of.build = [=](Graph& graph, const std::vector<Value>& x) {
    const std::vector<Value> ids = all_rows ? std::vector<Value>{} : std::vector<Value>{x[6], x[7]};
    const Value parameter =
        adam_catch_up(x[0], {x[1], x[2], x[3]}, x[4], x[5], random_inputs(graph).step, ids, options);
    std::vector<Value> outputs;
    for (int i = 0; i < 4; ++i) outputs.emplace_back(&graph, parameter.node(), i);
    return outputs;
  };
  of.reference = [=](const Arrays& operands) {
    Arrays x = operands;
    std::vector<bool> late(static_cast<std::size_t>(rows), all_rows);
    for (const int i : {6, 7}) {
      for (const double id : x[static_cast<std::size_t>(i)]) {
        if (id >= 0) late[at(id)] = true;
      }
    }
    const std::int64_t turn = kStep % kHistory;
    for (std::int64_t row = rows * turn / kHistory; row < rows * (turn + 1) / kHistory; ++row)
      late[static_cast<std::size_t>(row)] = true;
    for (std::size_t row = 0; row < late.size(); ++row) {
      for (; late[row] && x[3][row] < kStep; x[3][row] += 1) {
        const auto done = static_cast<std::int64_t>(x[3][row]);
        const double rate = x[4][static_cast<std::size_t>(done - (kStep - kHistory))];
        step_without_gradient(x, row, static_cast<std::size_t>(width), rate, x[5][0], done + 1, options);
      }
    }
    return Arrays{x[0], x[1], x[2], x[3]};
  };
  of.differentiable = false;
  of.tolerance_f64 = 1e-9;  // the series leaves out e^5, e up to 0.01
  of.tolerance_f32 = 2e-6;
  return of;
}

OpCase updating(std::string name, std::int64_t rows, std::int64_t width, AdamOptions options, double decay) {
  OpCase of;
  of.name = std::move(name);
  of.operands = adam_operands(rows, width, 0.01, 1);
  of.operands.push_back(real({6, width}));
  of.operands.push_back(integer({6}, -1, double(rows)));
  of.operands.push_back(real({}, 0.01, 0.1));
  of.build = [=](Graph& graph, const std::vector<Value>& x) {
    const CombinedRows combined = combine_rows(x[4], x[5], rows);
    const AdamAttributes attributes = {options.beta1, options.beta2, options.epsilon, options.decoupled_decay};
    return graph.apply(
        op_adam_update_rows,
        {x[0], x[1], x[2], x[3], combined.rows, combined.ids, x[6], graph.constant(decay), random_inputs(graph).step},
        attributes);
  };
  of.reference = [=](const Arrays& operands) {
    Arrays x = operands;
    const auto columns = static_cast<std::size_t>(width);
    const Combined combined = combine(x[4], x[5], columns, 6);
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
      const auto found = std::find(combined.ids.begin(), combined.ids.end(), static_cast<double>(row));
      const bool has_gradient = found != combined.ids.end();
      if (!has_gradient && (decay == 0 || options.decoupled_decay)) continue;
      for (std::size_t j = 0; j < columns; ++j) {
        double& parameter = x[0][row * columns + j];
        double gradient =
            has_gradient ? combined.rows[static_cast<std::size_t>(found - combined.ids.begin()) * columns + j] : 0;
        if (options.decoupled_decay) {
          parameter *= 1 - x[6][0] * decay;
        } else {
          gradient += decay * parameter;
        }
        double &first = x[1][row * columns + j], &second = x[2][row * columns + j];
        first = options.beta1 * first + (1 - options.beta1) * gradient;
        second = options.beta2 * second + (1 - options.beta2) * gradient * gradient;
        const double step_size = x[6][0] / (1 - std::pow(options.beta1, kStep + 1));
        const double correction = std::sqrt(1 - std::pow(options.beta2, kStep + 1));
        parameter -= step_size * first / (std::sqrt(second) / correction + options.epsilon);
      }
      x[3][row] = kStep + 1;
    }
    return Arrays{x[0], x[1], x[2], x[3]};
  };
  of.differentiable = false;
  of.tolerance_f64 = 1e-12;
  return of;
}

OpCase stepping(std::string name, double decay) {
  OpCase of;
  of.name = std::move(name);
  of.operands = {real({9, 5}), real({6, 5}), integer({6}, -1, 9), real({}, 0.01, 0.1)};
  of.build = [=](Graph& graph, const std::vector<Value>& x) {
    const CombinedRows combined = combine_rows(x[1], x[2], 9);
    return std::vector<Value>{
        graph.apply_one(op_sgd_update_rows, {x[0], combined.rows, combined.ids, x[3], graph.constant(decay)})};
  };
  of.reference = [=](const Arrays& x) {
    Array result = x[0];
    for (double& number : result) number -= x[3][0] * decay * number;
    for (std::size_t i = 0; i < 6; ++i) {
      for (std::size_t j = 0; x[2][i] >= 0 && j < 5; ++j) result[at(x[2][i]) * 5 + j] -= x[3][0] * x[1][i * 5 + j];
    }
    return Arrays{result};
  };
  of.differentiable = false;
  return of;
}

}  // namespace

OpCases cases_sum_of_squares() {
  const auto summing = [](std::string name, const std::vector<Shape>& shapes) {
    OpCase of;
    of.name = std::move(name);
    for (const Shape& shape : shapes) of.operands.push_back(real(shape));
    of.build = [](Graph&, const std::vector<Value>& x) { return std::vector<Value>{sum_of_squares(x)}; };
    of.reference = [](const Arrays& x) {
      double sum = 0;
      for (const Array& part : x) {
        for (const double number : part) sum += number * number;
      }
      return Arrays{{sum}};
    };
    of.differentiable = shapes[0].size() < 500;
    of.tolerance_f64 = 1e-12;
    return of;
  };
  return {{summing("a scalar", {{}}), summing("a matrix", {{5, 7}}), summing("nothing", {{0, 3}}),
           summing("several blocks", {{70001}}), summing("several parts", {{5, 7}, {}, {0}, {300}}),
           summing("many parts", std::vector<Shape>(150, {3000}))},
          {{"ids",
            [](Graph& graph) {
              sum_of_squares({graph.input("ids", {DType::i32, {3}}, false)});
            },
            "sum_of_squares: takes f32 or f64, not i32[3]"}}};
}

OpCases cases_combine_rows() {
  return {{combining("more rows than ids", {2, 3, 4}, {2, 3}, 40), combining("fewer rows than ids", {30, 3}, {30}, 7),
           combining("elements of a vector", {9}, {9}, 20), combining("wide rows", {300, 101}, {300}, 90)},
          {{"ids of another shape",
            [](Graph& graph) {
              combine_rows(graph.parameter("a", {2, 3}), graph.input("ids", {DType::i32, {3}}, false), 4);
            },
            "scatter_add: the first axes of the updates [2, 3] must be those of the ids [3]"}}};
}

OpCases cases_negative_sampling() {
  return {
      {sampling("negatives of each pair", {3, 4}, 7, 2, {3, 2, 3}),
       sampling("negatives of each row", {4, 5}, 6, 3, {4, 2}), sampling("negatives of all", {4, 5}, 6, 3, {7}, -1, 5),
       sampling("one target", {5, 3}, 9, 1, {5, 3}, 0), sampling("wide rows", {70, 101}, 300, 6, {70, 6, 5}, -30),
       sampling("wide rows, shared", {130, 100}, 300, 10, {64}, -90, 5)},
      {{"rows of another width",
        [](Graph& graph) {
          negative_sampling(graph.parameter("hidden", {2, 3}), graph.parameter("table", {9, 4}),
                            graph.input("targets", {DType::i32, {2, 1}}, false),
                            graph.input("negatives", {DType::i32, {5}}, false), 1);
        },
        "negative_sampling: hidden f32[2, 3] and table f32[9, 4] must be [batch, width] and [vocabulary, width]"},
       {"negatives of another batch",
        [](Graph& graph) {
          negative_sampling(graph.parameter("hidden", {2, 3}), graph.parameter("table", {9, 3}),
                            graph.input("targets", {DType::i32, {2, 1}}, false),
                            graph.input("negatives", {DType::i32, {3, 5}}, false), 1);
        },
        "negative_sampling: the negatives i32[3, 5] must be [shared], [batch, K] or [batch, count, K] for targets "
        "i32[2, 1]"}}};
}

OpCases cases_negative_sampling_gradient() {
  return {{sampling_gradient("negatives of each pair", {3, 4}, 7, 2, {3, 2, 3}),
           sampling_gradient("negatives of each row", {4, 5}, 6, 3, {4, 2}),
           sampling_gradient("negatives of all", {4, 5}, 60, 3, {7}),
           sampling_gradient("wide rows, shared", {130, 100}, 300, 4, {64}),
           sampling_gradient("few distinct ids, shared", {40, 37}, 300, 4, {9}, 30),
           sampling_gradient("few distinct ids", {40, 37}, 300, 4, {40, 3}, 30)},
          {}};
}

OpCases cases_sgd_update_rows() { return {{stepping("without decay", 0), stepping("with decay", 0.2)}, {}}; }

OpCases cases_adam_update_rows() {
  return {{updating("some rows", 9, 5, {}, 0), updating("decoupled decay", 9, 5, {.decoupled_decay = true}, 0.1),
           updating("decay that is a gradient of all rows", 9, 5, {}, 0.1),
           updating("wide rows", 200, 101, {.beta1 = 0.5, .epsilon = 0.1}, 0)},
          {}};
}

OpCases cases_adam_catch_up() {
  return {{catching_up("some rows", 20, 5, false, {}), catching_up("all rows", 20, 5, true, {}),
           catching_up("decoupled decay", 20, 5, true, {.decoupled_decay = true}),
           catching_up("a large epsilon", 20, 5, true, {.epsilon = 0.1}),
           catching_up("small second moments", 20, 5, true, {.epsilon = 1e-3}, 0, 1e-4),
           catching_up("wide rows", 200, 101, false, {.beta1 = 0.5, .beta2 = 0.9})},
          {{"learning rates of no history",
            [](Graph& graph) {
              const Value x = graph.parameter("x", {3, 2});
              adam_catch_up(x, {x, x, graph.parameter_of("done", {DType::i32, {3}})}, graph.constant(0.1),
                            graph.constant(0.0), random_inputs(graph).step, {}, {});
            },
            "adam_catch_up: the learning rates f32[] must be f32[history]"}}};
}

}  // namespace jari::test
