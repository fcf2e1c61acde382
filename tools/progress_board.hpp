#pragma once
// Tells on stderr how a sweep is getting on: a board that is redrawn on a terminal, a line now and then elsewhere.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "framework/sweep/sweep.hpp"
#include "framework/train/progress.hpp"

namespace jari {

class ProgressBoard final : public Progress {
 public:
  // `terminal`: redraw in place. `interval`: seconds between lines elsewhere.
  ProgressBoard(const Sweep& sweep, std::FILE* out, bool terminal, double interval = 10);
  ~ProgressBoard() override;

  void already_done(const Trial& trial) override;
  void started(const Trial& trial, std::int64_t from_step) override;
  void stepped(const Trial& trial, std::int64_t step, double loss) override;
  void ended(const Trial& trial, const std::string& status, const std::string& message) override;
  void note(const Trial& trial, const std::string& message) override;

 private:
  struct Row {
    std::string label;
    std::int64_t steps = 0;
    std::atomic<std::int64_t> step{0};
    std::atomic<double> loss{0};
    std::atomic<bool> active{false};
  };

  void report_until_stopped();
  void draw();
  void erase();
  std::string summary() const;
  void say(const std::string& line);

  std::map<const Trial*, Row> rows_;
  std::FILE* out_;
  bool terminal_;
  double interval_;
  std::chrono::steady_clock::time_point start_;
  std::atomic<std::int64_t> steps_done_{0}, steps_left_{0}, trials_ended_{0}, trials_started_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  int lines_drawn_ = 0;
  std::thread reporter_;
};

}  // namespace jari
