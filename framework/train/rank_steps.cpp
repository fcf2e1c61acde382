#include "framework/train/rank_steps.hpp"

#include <fmt/format.h>

#include <array>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"

namespace jari {
namespace {

// What the first rank decides about each step; the others do the same, so that none waits for numbers of one that has
// stopped.
class Decisions {
 public:
  enum Question { is_last, guard, fetch };

  Decisions(std::int64_t begin, std::int64_t end) : begin_(begin), told_(static_cast<std::size_t>(end - begin)) {}

  bool tell(std::int64_t step, Question question, bool answer) {
    const std::lock_guard lock(mutex_);
    throw_if_failed();
    answer_of(step, question) = answer;
    changed_.notify_all();
    return answer;
  }

  bool hear(std::int64_t step, Question question) {
    std::unique_lock lock(mutex_);
    const std::optional<bool>& answer = answer_of(step, question);
    changed_.wait(lock, [&] { return answer.has_value() || failure_; });
    throw_if_failed();
    return *answer;
  }

  // Only the first failure counts: others follow from it.
  void fail(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
    changed_.notify_all();
  }

  // The numbers of a step that a rank has left mean nothing.
  void check() {
    const std::lock_guard lock(mutex_);
    throw_if_failed();
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::optional<bool>& answer_of(std::int64_t step, Question question) {
    return told_[static_cast<std::size_t>(step - begin_)][question];
  }
  void throw_if_failed() const {
    if (failure_) throw DeviceError("another rank has failed");
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t begin_;
  std::vector<std::array<std::optional<bool>, 3>> told_;
  std::exception_ptr failure_;
};

Program::Hooks deciding(const Program::Hooks& hooks, Decisions& decisions) {
  Program::Hooks first = hooks;
  first.is_last = [&](int trial, std::int64_t step) {
    return decisions.tell(step, Decisions::is_last, hooks.is_last && hooks.is_last(trial, step));
  };
  if (hooks.guard) {
    first.guard = [&](int trial, std::int64_t step, const Tensors& outputs) {
      decisions.check();
      return decisions.tell(step, Decisions::guard, hooks.guard(trial, step, outputs));
    };
  }
  first.fetch = [&](int trial, std::int64_t step, const Tensors& outputs) {
    decisions.check();
    return decisions.tell(step, Decisions::fetch, !hooks.fetch || hooks.fetch(trial, step, outputs));
  };
  return first;
}

Program::Hooks following(const Program::Hooks& hooks, Decisions& decisions) {
  Program::Hooks other;
  other.feed = hooks.feed;
  other.feeds_ahead = hooks.feeds_ahead;
  other.finite = hooks.finite;
  other.is_last = [&](int, std::int64_t step) { return decisions.hear(step, Decisions::is_last); };
  if (hooks.guard)
    other.guard = [&](int, std::int64_t step, const Tensors&) { return decisions.hear(step, Decisions::guard); };
  other.fetch = [&](int, std::int64_t step, const Tensors&) { return decisions.hear(step, Decisions::fetch); };
  return other;
}

}  // namespace

void RankSteps::bring_up_to_date(const State& state, int trial) {
  const auto row = static_cast<std::size_t>(trial);
  is_copied_.resize(static_cast<std::size_t>(state.trials()), false);
  while (peers_.size() + 1 < programs_.ranks().size()) peers_.push_back(programs_.make_state(state.trials()));
  if (is_copied_[row]) return;
  for (State& peer : peers_) std::memcpy(peer.data(trial), state.data(trial), state.bytes_per_trial());
  is_copied_[row] = true;
}

void RankSteps::run(State& state, std::span<const int> trials, std::int64_t begin, std::int64_t end,
                    const Program::Hooks& hooks, ThreadPool& pool, Observer* observer) {
  const std::vector<TrialPrograms::Rank> ranks = programs_.ranks();
  const auto wanted = static_cast<std::size_t>(programs_.experiment().train->data_parallel);
  if (ranks.size() != wanted)
    throw DeviceError(
        fmt::format("train.data_parallel: {} takes that many cards, and this is planned for {}", wanted, ranks.size()));
  if (ranks.size() == 1) return ranks[0].program->run(state, trials, begin, end, hooks, pool, observer);
  for (const int& trial : trials) {
    bring_up_to_date(state, trial);
    Decisions decisions(begin, end);
    const auto guarded = [&](const std::function<void()>& run) {
      try {
        run();
      } catch (...) {
        decisions.fail(std::current_exception());
        for (const TrialPrograms::Rank& rank : ranks) rank.communicator->abort();
      }
    };
    std::vector<std::thread> others;
    for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
      others.emplace_back(guarded, [&, rank] {
        ThreadPool serial(1);
        ranks[rank].program->run(peers_[rank - 1], {&trial, 1}, begin, end, following(hooks, decisions), serial);
      });
    }
    guarded([&] { ranks[0].program->run(state, {&trial, 1}, begin, end, deciding(hooks, decisions), pool, observer); });
    for (std::thread& other : others) other.join();
    decisions.rethrow();
  }
}

}  // namespace jari
