#pragma once
// Optimizer steps of tables of which a step reads and changes few rows.
//
// sgd_update_rows: parameter, rows, ids, learning_rate, weight_decay -> parameter.
//   sgd_update without momentum for the gradient scatter_add(rows, ids); each id at most once.
//
// Dense Adam moves every row at every step: a row without gradient goes on along its first moment. Rows that a step
// does not read can wait: m steps without gradient scale the moments by beta1^m and beta2^m and move the parameter by a
// sum that has a closed form in its moments (backend/cpu/adam_rows.cpp). So each row has its number of steps done:
//
// adam_catch_up: parameter, first_moment, second_moment, steps_done (i32 [rows]), learning_rates [history],
//   weight_decay, step, ids... -> the first four, with all rows in `ids` brought to `step` steps done (without ids: all
//   rows of the table). `learning_rates` are those of the steps step - history to step - 1. So that no row waits
//   longer, each step also takes its share of the table in turn: of R rows those from R h / history to R (h + 1) /
//   history, where h = step mod history.
// adam_update_rows: parameter, first_moment, second_moment, steps_done, rows, ids, learning_rate, weight_decay, step ->
//   the first four after step `step`. The rows in `ids` must have `step` steps done.
//
// With weight decay that is part of the gradient, rows can not wait: the decay is a gradient at every step. Then
// adam_update_rows steps all rows, and adam_catch_up finds nothing to do.

#include <optional>
#include <vector>

#include "framework/graph/op.hpp"
#include "framework/ops/ops.hpp"

namespace jari {

// Steps that a row may wait.
inline constexpr std::int64_t kAdamHistory = 128;

// A gradient that is zero but for some rows of its table.
struct RowGradient {
  Value rows, ids, squares;  // as combine_rows gives them
};

// Ids a row of the table from which on a step is taken to change most rows, and gradients stay dense.
inline constexpr std::int64_t kFewIds = 4;
// Elements of a table up to which a step of all of it costs less than finding its rows, if they are the same each time.
inline constexpr std::int64_t kSmallTable = 1 << 16;

// The rows of a gradient that is a scatter_add, or a sum of them: combined, each id once. Nothing for other gradients,
// and where kFewIds or kSmallTable say so.
std::optional<RowGradient> row_gradient(Value gradient);

// scatter_add(rows, ids): as a gradient that optimizers know again.
Value as_gradient(const RowGradient& gradient, std::int64_t table_rows);

// The rows of a gradient that as_gradient made; nothing for others.
std::optional<RowGradient> combined_rows_of(Value gradient);

// Ids of the rows that the graph's ops read of a parameter; nothing if an op reads it in another way.
std::optional<std::vector<Value>> rows_read_of(const Graph& graph, Value parameter);

// `parameter` after adam_catch_up, whose other outputs adam_update finds by it. Moments and steps done are the
// optimizer's state.
struct AdamRowState {
  Value first_moment, second_moment, steps_done;
};
Value adam_catch_up(Value parameter, const AdamRowState& state, Value learning_rates, Value weight_decay, Value step,
                    const std::vector<Value>& ids, const AdamOptions& options);
bool is_caught_up(Value parameter);

struct AdamRowsResult {
  Value parameter;
  AdamRowState state;
};
// `parameter`: of adam_catch_up.
AdamRowsResult adam_update_rows(Value parameter, const RowGradient& gradient, Value learning_rate, Value weight_decay,
                                Value step);

}  // namespace jari
