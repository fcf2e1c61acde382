#pragma once
// Seconds and bytes of a program's kernel calls, by node and by kind of op.

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "framework/program/observer.hpp"

namespace jari {

// Sums over all steps of all trials that it watched.
class Profile final : public Observer {
 public:
  struct Row {
    std::string path;  // "" in the sums by kind
    std::string op;
    std::int64_t calls = 0;
    double seconds = 0;
    double bytes = 0;  // of operands and results: what the call reads and writes at least
  };

  void before(int trial, std::int64_t step, const NodeView& node) override;
  void after(int trial, std::int64_t step, const NodeView& node) override;

  void add(const Profile& other);

  // Slowest first.
  std::vector<Row> by_node() const;
  std::vector<Row> by_kind() const;
  std::int64_t steps() const { return steps_; }  // of all trials together
  // Two tables: all kinds, and the `most` slowest nodes; times a step of one trial.
  std::string to_string(std::size_t most = 20) const;

 private:
  using Clock = std::chrono::steady_clock;

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Row> rows_;  // by path and op
  std::map<int, Clock::time_point> begun_;                   // by trial: the call that runs
  std::map<int, std::int64_t> last_step_;                    // by trial
  std::int64_t steps_ = 0;
};

}  // namespace jari
