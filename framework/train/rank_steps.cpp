#include "framework/train/rank_steps.hpp"

#include <fmt/format.h>

#include <condition_variable>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

#include "framework/base/error.hpp"

namespace jari {
namespace {

// What the first rank decides after each guard and each fetch; the others do the same, so that none waits for numbers
// of one that has stopped. Decisions are counted: 2 * step for the guard, 2 * step + 1 for the fetch.
class Decisions {
 public:
  bool tell(std::int64_t number, bool goes_on) {
    const std::lock_guard lock(mutex_);
    throw_if_failed();
    (goes_on ? told_ : stopped_) = number;
    changed_.notify_all();
    return goes_on;
  }

  bool hear(std::int64_t number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return told_ >= number || stopped_ <= number || failure_; });
    throw_if_failed();
    return told_ >= number;
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
  void throw_if_failed() const {
    if (failure_) throw DeviceError("another rank has failed");
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t told_ = -1;                                           // the newest that was to go on
  std::int64_t stopped_ = std::numeric_limits<std::int64_t>::max();  // the one that was not
  std::exception_ptr failure_;
};

Program::Hooks deciding(const Program::Hooks& hooks, Decisions& decisions) {
  Program::Hooks first = hooks;
  if (hooks.guard) {
    first.guard = [&](int trial, std::int64_t step, const Tensors& outputs) {
      decisions.check();
      return decisions.tell(2 * step, hooks.guard(trial, step, outputs));
    };
  }
  first.fetch = [&](int trial, std::int64_t step, const Tensors& outputs) {
    decisions.check();
    return decisions.tell(2 * step + 1, !hooks.fetch || hooks.fetch(trial, step, outputs));
  };
  return first;
}

Program::Hooks following(const Program::Hooks& hooks, Decisions& decisions) {
  Program::Hooks other;
  other.feed = hooks.feed;
  other.finite = hooks.finite;
  if (hooks.guard) other.guard = [&](int, std::int64_t step, const Tensors&) { return decisions.hear(2 * step); };
  other.fetch = [&](int, std::int64_t step, const Tensors&) { return decisions.hear(2 * step + 1); };
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
    Decisions decisions;
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
