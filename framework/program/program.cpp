#include "framework/program/program.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "framework/program/addresses.hpp"
#include "framework/program/device_run.hpp"

namespace jari {
namespace {

constexpr std::size_t kAlignment = 64;

// 64-byte aligned, zeroed.
class Block {
 public:
  explicit Block(std::size_t bytes) : bytes_(bytes + kAlignment) {
    void* start = bytes_.data();
    std::size_t space = bytes_.size();
    start_ = static_cast<std::byte*>(std::align(kAlignment, bytes, start, space));
  }
  std::byte* data() const { return start_; }

 private:
  std::vector<std::byte> bytes_;
  std::byte* start_;
};

// What one core needs to run a step of any trial.
class Core {
 public:
  explicit Core(const PlanReport& report)
      : arena(report.arena_bytes), inputs(report.input_bytes), workspace(report.workspace_bytes) {}

  // Where the inputs of the next step are made while a step runs.
  std::byte* next_inputs(const PlanReport& report) {
    if (!next_inputs_) next_inputs_ = std::make_unique<Block>(report.input_bytes);
    return next_inputs_->data();
  }

  Block arena, inputs, workspace;

 private:
  std::unique_ptr<Block> next_inputs_;
};

}  // namespace

Program::Program(const Graph& graph, std::shared_ptr<Device> device, std::shared_ptr<Communicator> communicator)
    : plan_(make_plan(graph, graph.outputs(), graph.updates(), device.get(), std::move(communicator))) {
  if (device) device_run_ = std::make_unique<DeviceRun>(*plan_, std::move(device));
}
Program::Program(const Graph& graph, std::vector<std::pair<std::string, Value>> outputs, std::shared_ptr<Device> device)
    : plan_(make_plan(graph, outputs, {}, device.get())) {
  if (device) device_run_ = std::make_unique<DeviceRun>(*plan_, std::move(device));
}
Program::~Program() = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;

const PlanReport& Program::report() const { return plan_->report; }
std::string Program::to_string() const { return plan_->text; }
std::size_t Program::device_bytes(int trials) const { return device_run_ ? device_run_->bytes(trials) : 0; }
Program::DeviceSteps Program::device_steps() const { return device_run_ ? device_run_->steps() : DeviceSteps(); }
void Program::leave_device() const {
  if (device_run_) device_run_->leave();
}

std::vector<std::string> Program::observable_paths() const {
  std::vector<std::string> paths;
  const auto add = [&paths](const std::string& path) {
    if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
  };
  for (const KernelCall& call : plan_->calls) add(call.path);
  for (const auto& [name, type] : plan_->parameters) add(name);
  for (const NamedLocation& input : plan_->inputs) add(input.name);
  return paths;
}

namespace {

// The calls of one step of one trial.
class StepRunner {
 public:
  StepRunner(const Program::Plan& plan, const Addresses& addresses, void* workspace, const Workers& workers)
      : plan_(plan), addresses_(addresses), workspace_(workspace), workers_(workers) {}

  void run(std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) run(plan_.calls[i]);
  }

  void run_observed(std::size_t first, std::size_t last, int trial, std::int64_t step, Observer& observer) {
    std::vector<TensorView> inputs, outputs;
    for (std::size_t i = first; i < last; ++i) {
      const KernelCall& call = plan_.calls[i];
      view(call.inputs, call.input_types, inputs);
      view(call.outputs, call.output_types, outputs);
      const NodeView node{call.path, call.op, call.span, inputs, outputs};
      observer.before(trial, step, node);
      run(call);
      observer.after(trial, step, node);
    }
  }

 private:
  void run(const KernelCall& call) {
    inputs_.clear();
    outputs_.clear();
    for (const Location& location : call.inputs) inputs_.push_back(addresses_(location));
    for (const Location& location : call.outputs) outputs_.push_back(addresses_(location));
    call.kernel->run({inputs_.data(), outputs_.data(), workspace_, &workers_});
  }

  void view(const std::vector<Location>& locations, const std::vector<TensorType>& types,
            std::vector<TensorView>& views) const {
    views.clear();
    for (std::size_t i = 0; i < locations.size(); ++i)
      views.push_back({&types[i], addresses_(locations[i]), leaf_name(plan_, locations[i])});
  }

  const Program::Plan& plan_;
  const Addresses& addresses_;
  void* workspace_;
  const Workers& workers_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
};

// Fills the inputs of a trial's steps: where the hook allows it, while the step before runs.
class Feeder {
 public:
  // `addresses`: of the inputs of the step that runs. `pool`: null if nothing is to be done ahead.
  Feeder(const Program::Hooks& hooks, int trial, const Program::Plan& plan, Addresses& addresses, Core& core,
         ThreadPool* pool)
      : hooks_(hooks), trial_(trial), pool_(pool), addresses_(addresses), ahead_(addresses) {
    if (pool_ != nullptr) ahead_.input = core.next_inputs(plan.report);
    inputs_.emplace(plan.inputs, addresses_);
    next_inputs_.emplace(plan.inputs, ahead_);
  }
  // Whether a step that is never run could have been fed is of no interest.
  ~Feeder() {
    try {
      if (is_offered_) pool_->finish_aside();
    } catch (...) {
    }
  }
  Feeder(const Feeder&) = delete;
  Feeder& operator=(const Feeder&) = delete;

  void feed(std::int64_t step, std::int64_t end) {
    if (is_offered_) {
      is_offered_ = false;
      pool_->finish_aside();
      std::swap(addresses_.input, ahead_.input);
    } else if (hooks_.feed) {
      hooks_.feed(trial_, step, *inputs_);
    }
    if (pool_ == nullptr || step + 1 == end) return;
    next_step_ = step + 1;
    pool_->offer_aside(feed_next_);
    is_offered_ = true;
  }

 private:
  const Program::Hooks& hooks_;
  int trial_;
  ThreadPool* pool_;
  Addresses& addresses_;
  Addresses ahead_;
  std::optional<LocatedTensors> inputs_, next_inputs_;
  std::int64_t next_step_ = 0;
  bool is_offered_ = false;
  const std::function<void()> feed_next_ = [this] { hooks_.feed(trial_, next_step_, *next_inputs_); };
};

}  // namespace

void Program::run(State& state, std::span<const int> trials, std::int64_t begin, std::int64_t end, const Hooks& hooks,
                  ThreadPool& pool, Observer* observer) const {
  if (device_run_) return device_run_->run(state, trials, begin, end, hooks, pool, observer);
  const std::vector<std::size_t> offsets = parameter_offsets(plan_->parameters, state);
  const bool split_kernels = static_cast<int>(trials.size()) < pool.threads();
  const bool feeds_ahead = split_kernels && hooks.feed && hooks.feeds_ahead;
  std::vector<std::unique_ptr<Core>> cores(static_cast<std::size_t>(split_kernels ? 1 : pool.threads()));

  const auto run_trial = [&](int trial, Core& core, const Workers& workers) {
    Addresses addresses{core.arena.data(), core.inputs.data(), plan_->constants.data(),
                        state.data(trial), &offsets,           &plan_->residents};
    const LocatedTensors outputs(plan_->outputs, addresses), guarded(plan_->guarded, addresses);
    Feeder feeder(hooks, trial, *plan_, addresses, core, feeds_ahead ? &pool : nullptr);
    StepRunner runner(*plan_, addresses, core.workspace.data(), workers);
    for (std::int64_t step = begin; step < end; ++step) {
      const auto run_calls = [&](std::size_t first, std::size_t last) {
        if (observer == nullptr) return runner.run(first, last);
        runner.run_observed(first, last, trial, step, *observer);
      };
      feeder.feed(step, end);
      run_calls(0, plan_->first_update);
      if (hooks.guard && !hooks.guard(trial, step, guarded)) return;
      run_calls(plan_->first_update, plan_->calls.size());
      for (const Plan::Copy& copy : plan_->copies) std::memcpy(addresses(copy.to), addresses(copy.from), copy.bytes);
      if (hooks.fetch && !hooks.fetch(trial, step, outputs)) return;
      if (hooks.is_last && hooks.is_last(trial, step)) return;
    }
  };

  if (split_kernels) {
    cores[0] = std::make_unique<Core>(plan_->report);
    for (int trial : trials) run_trial(trial, *cores[0], Workers(pool));
    return;
  }
  pool.for_each(static_cast<std::int64_t>(trials.size()), [&](std::int64_t i, int worker) {
    std::unique_ptr<Core>& core = cores[static_cast<std::size_t>(worker)];
    if (!core) core = std::make_unique<Core>(plan_->report);
    run_trial(trials[static_cast<std::size_t>(i)], *core, Workers());
  });
}

}  // namespace jari
