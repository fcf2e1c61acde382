#include "framework/program/profile.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "framework/base/table.hpp"

namespace jari {
namespace {

double bytes_of(const NodeView& node) {
  double bytes = 0;
  for (const TensorView& view : node.inputs) bytes += static_cast<double>(view.type->bytes());
  for (const TensorView& view : node.outputs) bytes += static_cast<double>(view.type->bytes());
  return bytes;
}

std::vector<Profile::Row> slowest_first(std::vector<Profile::Row> rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Profile::Row& left, const Profile::Row& right) { return left.seconds > right.seconds; });
  return rows;
}

std::string table_of(const std::vector<Profile::Row>& rows, bool by_node, double steps, double total) {
  std::vector<TextTable::Column> columns = {{by_node ? "node" : "kind"}};
  if (by_node) columns.push_back({"op"});
  for (const char* title : {"calls", "µs", "%", "MB", "GB/s"}) columns.push_back({title, Align::right});
  TextTable table(std::move(columns));
  for (const Profile::Row& row : rows) {
    std::vector<std::string> cells = {by_node ? row.path : row.op};
    if (by_node) cells.push_back(row.op);
    cells.push_back(fmt::format("{:.0f}", static_cast<double>(row.calls) / steps));
    cells.push_back(fmt::format("{:.1f}", 1e6 * row.seconds / steps));
    cells.push_back(fmt::format("{:.1f}", total > 0 ? 100 * row.seconds / total : 0));
    cells.push_back(fmt::format("{:.3f}", row.bytes / steps / 1e6));
    cells.push_back(row.seconds > 0 ? fmt::format("{:.1f}", row.bytes / row.seconds / 1e9) : "-");
    table.add_row(std::move(cells));
  }
  return table.text();
}

}  // namespace

void Profile::before(int trial, std::int64_t /*step*/, const NodeView& /*node*/) {
  const std::lock_guard lock(mutex_);
  begun_[trial] = Clock::now();
}

void Profile::after(int trial, std::int64_t step, const NodeView& node) {
  const Clock::time_point end = Clock::now();
  const std::lock_guard lock(mutex_);
  Row& row = rows_[{node.path, node.op}];
  if (row.calls == 0) {
    row.path = node.path;
    row.op = node.op;
  }
  ++row.calls;
  row.seconds += std::chrono::duration<double>(end - begun_[trial]).count();
  row.bytes += bytes_of(node);
  const auto [last, is_first] = last_step_.emplace(trial, step);
  if (is_first || last->second != step) ++steps_;
  last->second = step;
}

void Profile::add(const Profile& other) {
  const std::vector<Row> rows = other.by_node();
  const std::lock_guard lock(mutex_);
  for (const Row& row : rows) {
    Row& own = rows_.try_emplace({row.path, row.op}, Row{row.path, row.op}).first->second;
    own.calls += row.calls;
    own.seconds += row.seconds;
    own.bytes += row.bytes;
  }
  steps_ += other.steps_;
}

std::vector<Profile::Row> Profile::by_node() const {
  const std::lock_guard lock(mutex_);
  std::vector<Row> rows;
  for (const auto& [key, row] : rows_) rows.push_back(row);
  return slowest_first(std::move(rows));
}

std::vector<Profile::Row> Profile::by_kind() const {
  std::map<std::string, Row> kinds;
  for (const Row& row : by_node()) {
    Row& kind = kinds[row.op];
    kind.op = row.op;
    kind.calls += row.calls;
    kind.seconds += row.seconds;
    kind.bytes += row.bytes;
  }
  std::vector<Row> rows;
  for (const auto& [op, row] : kinds) rows.push_back(row);
  return slowest_first(std::move(rows));
}

std::string Profile::to_string(std::size_t most) const {
  std::vector<Row> nodes = by_node();
  if (nodes.empty()) return "no step was run\n";
  const double steps = static_cast<double>(steps_);
  double total = 0;
  for (const Row& row : nodes) total += row.seconds;
  const std::size_t all = nodes.size();
  nodes.resize(std::min(most, all));
  return fmt::format("{} steps, {:.1f} µs a step in kernels\n\n{}\n{}{}", steps_, 1e6 * total / steps,
                     table_of(by_kind(), false, steps, total), table_of(nodes, true, steps, total),
                     all > most ? fmt::format("({} more nodes)\n", all - most) : "");
}

}  // namespace jari
