#include "tools/progress_board.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "framework/base/quantity.hpp"

namespace jari {

ProgressBoard::ProgressBoard(const Sweep& sweep, std::FILE* out, bool terminal, double interval)
    : out_(out), terminal_(terminal), interval_(interval), start_(std::chrono::steady_clock::now()) {
  for (const Trial& trial : sweep.trials) {
    Row& row = rows_[&trial];
    row.label = trial.label;
    row.steps = trial.experiment.train ? trial.experiment.train->steps : 0;
  }
  reporter_ = std::thread([this] { report_until_stopped(); });
}

ProgressBoard::~ProgressBoard() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  reporter_.join();
  if (terminal_) erase();
}

void ProgressBoard::already_done(const Trial& trial) {
  Row& row = rows_.at(&trial);
  row.step = row.steps;
  ++trials_ended_;
}

void ProgressBoard::started(const Trial& trial, std::int64_t from_step) {
  Row& row = rows_.at(&trial);
  row.step = from_step;
  row.active = true;
  steps_left_ += row.steps - from_step;
  ++trials_started_;
  if (from_step > 0) say(fmt::format("{}: goes on from step {}", row.label, from_step));
}

void ProgressBoard::stepped(const Trial& trial, std::int64_t step, double loss) {
  Row& row = rows_.at(&trial);
  row.step.store(step, std::memory_order_relaxed);
  row.loss.store(loss, std::memory_order_relaxed);
  steps_done_.fetch_add(1, std::memory_order_relaxed);
  steps_left_.fetch_sub(1, std::memory_order_relaxed);
}

void ProgressBoard::ended(const Trial& trial, const std::string& status, const std::string& message) {
  Row& row = rows_.at(&trial);
  row.active = false;
  steps_left_ -= row.steps - row.step;
  ++trials_ended_;
  if (status != "finished") say(fmt::format("{}: {}{}", row.label, status, message.empty() ? "" : ": " + message));
}

void ProgressBoard::note(const Trial& trial, const std::string& message) {
  say(fmt::format("{}: {}", rows_.at(&trial).label, message));
}

void ProgressBoard::say(const std::string& line) {
  const std::lock_guard lock(mutex_);
  if (terminal_) erase();
  fmt::print(out_, "{}\n", line);
  std::fflush(out_);
}

std::string ProgressBoard::summary() const {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const double rate = static_cast<double>(steps_done_) / std::max(seconds, 1e-3);
  double loss = 0;
  int active = 0;
  for (const auto& [trial, row] : rows_) {
    if (!row.active) continue;
    ++active;
    loss += row.loss;
  }
  // Trials that wait for their turn cost as many steps as their specs say.
  std::int64_t waiting = 0;
  for (const auto& [trial, row] : rows_) waiting += !row.active && row.step == 0 ? row.steps : 0;
  const double left = rate > 0 ? static_cast<double>(steps_left_ + waiting) / rate : 0;
  std::string text =
      fmt::format("{}/{} trials done, {} training, {:.0f} steps/s", trials_ended_.load(), rows_.size(), active, rate);
  if (active > 0 && steps_done_ > 0) text += fmt::format(", mean loss {:.4g}", loss / active);
  if (rate > 0) text += fmt::format(", {} left", duration_text(left));
  return text;
}

void ProgressBoard::report_until_stopped() {
  std::unique_lock lock(mutex_);
  const auto pause = std::chrono::duration<double>(terminal_ ? 0.25 : interval_);
  while (!wake_.wait_for(lock, pause, [this] { return stopping_; })) {
    if (terminal_) erase();
    draw();
  }
}

void ProgressBoard::draw() {
  fmt::print(out_, "{}\n", summary());
  if (terminal_) {
    lines_drawn_ = 1;
    constexpr int kMostRows = 12;
    int shown = 0;
    for (const auto& [trial, row] : rows_) {
      if (!row.active || row.step >= row.steps || ++shown > kMostRows) continue;
      const double share = static_cast<double>(row.step) / static_cast<double>(std::max<std::int64_t>(row.steps, 1));
      const auto filled = static_cast<std::size_t>(share * 20);
      fmt::print(out_, "  [{}{}] {:>6}/{}  loss {:<10.4g} {}\n", std::string(filled, '#'),
                 std::string(20 - filled, '.'), row.step.load(), row.steps, row.loss.load(), row.label);
      ++lines_drawn_;
    }
  }
  std::fflush(out_);
}

// Takes the board off the terminal.
void ProgressBoard::erase() {
  for (; lines_drawn_ > 0; --lines_drawn_) fmt::print(out_, "\x1b[1A\x1b[2K");
  std::fflush(out_);
}

}  // namespace jari
