#include "framework/program/device_run.hpp"

#include <algorithm>

#include "framework/base/error.hpp"
#include "framework/program/device_session.hpp"

namespace jari {
namespace {

// Of the free memory, what others may need meanwhile is left.
constexpr double kShareOfFree = 0.9;

}  // namespace

DeviceRun::DeviceRun(const Program::Plan& plan, std::shared_ptr<Device> device)
    : plan_(plan), device_(std::move(device)) {}
DeviceRun::~DeviceRun() = default;

std::size_t DeviceRun::bytes(int trials) const {
  std::size_t workspace = 0;
  for (const KernelCall& call : plan_.calls)
    workspace = std::max(workspace, call.device_kernel->workspace_bytes(trials));
  const std::size_t a_trial = plan_.report.arena_bytes + plan_.report.input_bytes + sizeof(std::int32_t);
  return a_trial * static_cast<std::size_t>(trials) + workspace + plan_.report.constant_bytes +
         plan_.report.resident_bytes;
}

void DeviceRun::leave() {
  const std::lock_guard lock(mutex_);
  session_.reset();
}

int DeviceRun::trials_at_once(int wanted) const {
  const double free = kShareOfFree * static_cast<double>(device_->info().free);
  while (wanted > 1 && static_cast<double>(bytes(wanted)) > free) wanted = (wanted + 1) / 2;
  return wanted;
}

DeviceRun::Session& DeviceRun::session(int count, const std::vector<std::string>& finite) {
  if (!session_ || !session_->serves(count, finite)) {
    session_.reset();  // its memory is free again
    session_ = std::make_unique<Session>(plan_, device_, count, finite);
  }
  return *session_;
}

namespace {

// Until nothing is under way: it uses memory of the call. What fails then is of a step that nobody asks for any more.
struct Drain {
  DeviceRun::Session& session;
  ~Drain() {
    try {
      session.wait();
    } catch (const DeviceError&) {
    }
  }
};

// The trials of one call that are together on the device.
class Steps {
 public:
  Steps(const Program::Plan& plan, DeviceRun::Session& session, int first, std::vector<bool> runs,
        const Program::Hooks& hooks, ThreadPool& pool, Observer* observer)
      : plan_(plan),
        session_(session),
        first_(first),
        runs_(std::move(runs)),
        hooks_(hooks),
        pool_(pool),
        observer_(observer) {}

  Program::DeviceSteps run(State& state, std::int64_t begin, std::int64_t end) {
    if (begin >= end) return {};
    session_.begin(state, first_, runs_);
    for (int slot = 0; slot < count(); ++slot) {
      if (runs_[index(slot)]) ran_.push_back(slot);
    }
    const bool whole = observer_ == nullptr && (!hooks_.guard || !hooks_.finite.empty());
    if (!whole) {
      run_one_by_one(begin, end);
    } else if (hooks_.feeds_ahead) {
      run_ahead(begin, end);
    } else {
      run_in_turn(begin, end);
    }
    if (plan_.changes_state()) {
      for (const int slot : ran_) state.changed_on_device(first_ + slot);
    }
    return steps_;
  }

 private:
  static std::size_t index(int slot) { return static_cast<std::size_t>(slot); }
  int count() const { return static_cast<int>(runs_.size()); }
  bool any() const { return std::find(runs_.begin(), runs_.end(), true) != runs_.end(); }

  // A step is started before the host looks at what the one before gave, so that the device never waits for it.
  void run_ahead(std::int64_t begin, std::int64_t end) {
    const Drain drain{session_};
    feed(begin);
    start(begin);
    if (begin + 1 < end) feed(begin + 1);
    for (std::int64_t step = begin; step < end && any(); ++step) {
      const std::vector<bool> leaves = leaving(step);
      for (const int slot : ran_) {
        if (leaves[index(slot)]) session_.stop(slot);
      }
      const bool goes_on = step + 1 < end && leaves != runs_;
      if (goes_on) start(step + 1);
      session_.wait_for_step(step);
      finish(step, leaves);
      if (goes_on && step + 2 < end) feed(step + 2);
    }
  }

  void run_in_turn(std::int64_t begin, std::int64_t end) {
    for (std::int64_t step = begin; step < end && any(); ++step) {
      feed(step);
      start(step);
      const std::vector<bool> leaves = leaving(step);
      session_.wait_for_step(step);
      finish(step, leaves);
    }
  }

  void run_one_by_one(std::int64_t begin, std::int64_t end) {
    for (std::int64_t step = begin; step < end && any(); ++step) {
      feed(step);
      const std::vector<bool> leaves = leaving(step);
      for (int slot = 0; slot < count(); ++slot) {
        if (runs_[index(slot)]) run_alone(slot, step);
      }
      finish_leaving(leaves);
      ++steps_.all;
    }
  }

  void start(std::int64_t step) {
    if (session_.start_step(step)) ++steps_.replayed;
    ++steps_.all;
  }

  // The trials whose last step this is, by slot.
  std::vector<bool> leaving(std::int64_t step) const {
    std::vector<bool> leaves(runs_.size(), false);
    if (!hooks_.is_last) return leaves;
    for (const int slot : ran_) leaves[index(slot)] = runs_[index(slot)] && hooks_.is_last(first_ + slot, step);
    return leaves;
  }

  void feed(std::int64_t step) {
    if (!hooks_.feed) return;
    pool_.for_each(static_cast<std::int64_t>(ran_.size()), [&](std::int64_t i, int) {
      const int slot = ran_[static_cast<std::size_t>(i)];
      if (!runs_[index(slot)]) return;
      session_.with_inputs(slot, step, [&](const Tensors& inputs) { hooks_.feed(first_ + slot, step, inputs); });
    });
  }

  bool passes(int slot, std::int64_t step) {
    if (!hooks_.guard) return true;
    return session_.with_outputs(slot, step, session_.guarded(),
                                 [&](const Tensors& outputs) { return hooks_.guard(first_ + slot, step, outputs); });
  }

  bool goes_on(int slot, std::int64_t step) {
    if (!hooks_.fetch) return true;
    return session_.with_outputs(slot, step, session_.outputs(),
                                 [&](const Tensors& outputs) { return hooks_.fetch(first_ + slot, step, outputs); });
  }

  void end(int slot) {
    runs_[index(slot)] = false;
    session_.stop(slot);
  }

  // The device has run the step; where its guard held, the state is that of before.
  void finish(std::int64_t step, const std::vector<bool>& leaves) {
    for (const int slot : ran_) {
      if (runs_[index(slot)] && (!passes(slot, step) || !goes_on(slot, step))) end(slot);
    }
    finish_leaving(leaves);
  }

  void finish_leaving(const std::vector<bool>& leaves) {
    for (const int slot : ran_) {
      if (leaves[index(slot)] && runs_[index(slot)]) end(slot);
    }
  }

  void run_alone(int slot, std::int64_t step) {
    const int trial = first_ + slot;
    session_.upload_inputs(slot, step);
    session_.run_calls(slot, 0, plan_.first_update, trial, step, observer_);
    if (hooks_.guard) {
      session_.download_outputs(slot, step);
      if (!passes(slot, step)) return end(slot);
    }
    session_.run_calls(slot, plan_.first_update, plan_.calls.size(), trial, step, observer_);
    session_.copy_updates(slot);
    session_.download_outputs(slot, step);
    if (!goes_on(slot, step)) end(slot);
  }

  const Program::Plan& plan_;
  DeviceRun::Session& session_;
  int first_;
  std::vector<bool> runs_;  // by slot
  std::vector<int> ran_;    // slots that ran at the call's first step
  const Program::Hooks& hooks_;
  ThreadPool& pool_;
  Observer* observer_;
  Program::DeviceSteps steps_;
};

}  // namespace

void DeviceRun::run(State& state, std::span<const int> trials, std::int64_t begin, std::int64_t end,
                    const Program::Hooks& hooks, ThreadPool& pool, Observer* observer) {
  if (trials.empty()) return;
  const std::lock_guard lock(mutex_);
  std::vector<int> rows(trials.begin(), trials.end());
  std::sort(rows.begin(), rows.end());
  std::size_t next = 0;
  while (next < rows.size()) {
    const int first = rows[next];
    int most = rows.back() - first + 1;
    if (!session_ || !session_->serves(most, hooks.finite)) {
      session_.reset();
      most = trials_at_once(most);
    }
    std::size_t last = next;
    while (last + 1 < rows.size() && rows[last + 1] - first < most) ++last;
    std::vector<bool> runs(static_cast<std::size_t>(rows[last] - first + 1), false);
    for (std::size_t i = next; i <= last; ++i) runs[static_cast<std::size_t>(rows[i] - first)] = true;
    Session& of = session(static_cast<int>(runs.size()), hooks.finite);
    const Program::DeviceSteps steps =
        Steps(plan_, of, first, std::move(runs), hooks, pool, observer).run(state, begin, end);
    steps_.all += steps.all;
    steps_.replayed += steps.replayed;
    next = last + 1;
  }
}

}  // namespace jari
