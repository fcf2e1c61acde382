#include "framework/train/trainer.hpp"

#include <algorithm>
#include <exception>
#include <limits>

#include "framework/base/error.hpp"
#include "framework/program/nonfinite.hpp"
#include "framework/train/dump.hpp"
#include "framework/train/rank_steps.hpp"
#include "framework/train/trial_run.hpp"

namespace jari {
namespace {

// The observers that the options ask for, as one.
class Instruments final : public Observer {
 public:
  Instruments(const TrainOptions& options, const std::vector<std::filesystem::path>& folders) : options_(options) {
    if (options.check_nan) search_ = std::make_unique<NonFiniteSearch>();
    if (!options.dumps.empty()) dump_ = std::make_unique<Dump>(options.dumps, folders);
    if (options.profile != nullptr) profile_ = std::make_unique<Profile>();
  }
  ~Instruments() override {
    if (profile_) options_.profile->add(*profile_);
  }

  bool empty() const { return !search_ && !dump_ && !profile_; }
  const NonFiniteSearch* search() const { return search_.get(); }
  Dump* dump() const { return dump_.get(); }

  // The clock runs only around the kernel itself.
  void before(int trial, std::int64_t step, const NodeView& node) override {
    if (search_) search_->before(trial, step, node);
    if (dump_) dump_->before(trial, step, node);
    if (profile_) profile_->before(trial, step, node);
  }
  void after(int trial, std::int64_t step, const NodeView& node) override {
    if (profile_) profile_->after(trial, step, node);
    if (dump_) dump_->after(trial, step, node);
    if (search_) search_->after(trial, step, node);
  }

 private:
  const TrainOptions& options_;
  std::unique_ptr<NonFiniteSearch> search_;
  std::unique_ptr<Dump> dump_;
  std::unique_ptr<Profile> profile_;
};

std::vector<std::filesystem::path> folders_of(const std::vector<const Trial*>& trials,
                                              const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> folders;
  for (const Trial* trial : trials) folders.push_back(folder / trial->folder);
  return folders;
}

class GroupTrainer {
 public:
  GroupTrainer(const TrialPrograms& programs, const std::vector<const Trial*>& trials,
               const std::filesystem::path& folder, const Provenance& provenance, ThreadPool& pool, Progress& progress,
               const TrainOptions& options)
      : programs_(programs),
        steps_(programs),
        pool_(pool),
        state_(programs.make_state(static_cast<int>(trials.size()))),
        instruments_(options, folders_of(trials, folder)) {
    for (std::size_t row = 0; row < trials.size(); ++row) {
      runs_.push_back(std::make_unique<TrialRun>(programs, *trials[row], state_, static_cast<int>(row),
                                                 folder / trials[row]->folder, provenance, progress));
      runs_.back()->set_stop(options.stop);
      runs_.back()->set_search(instruments_.search());
    }
  }

  std::vector<TrialOutcome> run() {
    for (const auto& run : runs_) {
      guard(*run, [&] {
        run->open();
        if (run->complete()) run->reached(run->step(), pool_);
      });
    }
    while (std::any_of(runs_.begin(), runs_.end(), [](const auto& run) { return run->active(); })) advance();
    std::vector<TrialOutcome> outcomes;
    for (const auto& run : runs_) outcomes.push_back({&run->trial(), run->status(), run->message()});
    return outcomes;
  }

 private:
  // What goes wrong in one trial ends that trial alone.
  template <class Action>
  static void guard(TrialRun& run, const Action& action) {
    try {
      action();
    } catch (const std::exception& error) {
      run.fail(error.what());
    }
  }

  // Trains the trials that are furthest behind up to the next step at which something is to be done.
  void advance() {
    std::int64_t begin = std::numeric_limits<std::int64_t>::max();
    for (const auto& run : runs_) {
      if (run->active()) begin = std::min(begin, run->step());
    }
    std::vector<int> rows;
    for (const auto& run : runs_) {
      if (run->active() && run->step() == begin) rows.push_back(run->row());
    }
    std::int64_t end = begin;
    if (programs_.train() != nullptr && begin < programs_.experiment().train->steps) {
      end = next_stop(programs_.experiment().train.value(), begin);
      train(rows, begin, end);
    }
    after_steps(rows, end);
  }

  void train(const std::vector<int>& rows, std::int64_t begin, std::int64_t end) {
    Program::Hooks hooks;
    hooks.feed = [&](int row, std::int64_t step, const Tensors& inputs) { run_of(row).feed(step, inputs); };
    hooks.feeds_ahead = true;  // a batch is a function of seed, stream and step
    hooks.guard = [&](int row, std::int64_t step, const Tensors& outputs) { return run_of(row).guard(step, outputs); };
    hooks.is_last = [&](int row, std::int64_t step) { return run_of(row).is_last(step); };
    hooks.fetch = [&](int row, std::int64_t step, const Tensors& outputs) { return run_of(row).fetch(step, outputs); };
    hooks.finite = {kLoss, kGradientNorm};  // as TrialRun::guard
    steps_.run(state_, rows, begin, end, hooks, pool_, instruments_.empty() ? nullptr : &instruments_);
    if (instruments_.dump() == nullptr) return;
    for (int row : rows) guard(run_of(row), [&] { instruments_.dump()->write(row); });
  }

  // On a device. Where rows wait for their steps, each trial is settled and evaluated by itself.
  void evaluate_together(const std::vector<int>& rows, std::int64_t step) {
    if (!programs_.on_device() || programs_.settle() != nullptr) return;
    std::vector<EvaluatedTrial> due;
    for (const int row : rows) {
      if (run_of(row).evaluates_at(step)) due.push_back({&run_of(row).trial(), &run_of(row).inputs(), row});
    }
    std::vector<TrialRun::Evaluations> results(due.size());
    for (const EvaluateProgram& program : programs_.evaluate()) {
      std::vector<Evaluation> of_program = evaluate_trials(program, due, state_, pool_);
      for (std::size_t i = 0; i < due.size(); ++i) results[i].emplace_back(program.name, std::move(of_program[i]));
    }
    for (std::size_t i = 0; i < due.size(); ++i) run_of(due[i].row).set_evaluations(std::move(results[i]));
  }

  void after_steps(const std::vector<int>& rows, std::int64_t step) {
    evaluate_together(rows, step);
    if (static_cast<int>(rows.size()) < pool_.threads()) {
      for (int row : rows) guard(run_of(row), [&] { run_of(row).reached(step, pool_); });
      return;
    }
    pool_.for_each(static_cast<std::int64_t>(rows.size()), [&](std::int64_t i, int) {
      ThreadPool serial(1);
      TrialRun& run = run_of(rows[static_cast<std::size_t>(i)]);
      guard(run, [&] { run.reached(step, serial); });
    });
  }

  TrialRun& run_of(int row) { return *runs_[static_cast<std::size_t>(row)]; }

  const TrialPrograms& programs_;
  RankSteps steps_;
  ThreadPool& pool_;
  State state_;
  Instruments instruments_;
  std::vector<std::unique_ptr<TrialRun>> runs_;
};

}  // namespace

std::vector<TrialOutcome> train_group(const TrialPrograms& programs, const std::vector<const Trial*>& trials,
                                      const std::filesystem::path& folder, const Provenance& provenance,
                                      ThreadPool& pool, Progress& progress, const TrainOptions& options) {
  return GroupTrainer(programs, trials, folder, provenance, pool, progress, options).run();
}

void initialize(State& state, int row, const Declarations& declarations, const Trial& trial) {
  const ResolvedValues values(trial.resolved);
  for (const ParameterDeclaration& declaration : declarations.all()) {
    const State::Entry* entry = state.find(declaration.path);
    if (entry == nullptr) continue;
    std::vector<double> numbers(static_cast<std::size_t>(declaration.shape.size()));
    declaration.init->fill({trial.seed(), declaration.path, declaration.shape, &values}, numbers);
    state.write(row, *entry, numbers);
  }
}

}  // namespace jari
