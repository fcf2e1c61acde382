#include "framework/program/program.hpp"

#include <fmt/format.h>

#include <cstring>

#include "framework/base/error.hpp"
#include "framework/program/plan.hpp"

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
struct Core {
  explicit Core(const PlanReport& report)
      : arena(report.arena_bytes), inputs(report.input_bytes), workspace(report.workspace_bytes) {}
  Block arena, inputs, workspace;
};

// Turns a Location into an address for one core and trial.
struct Addresses {
  std::byte* arena;
  std::byte* input;
  std::byte* constant;
  std::byte* state;
  const std::vector<std::size_t>* parameter_offsets;

  std::byte* operator()(const Location& location) const {
    switch (location.region) {
      case Region::arena:
        return arena + location.offset;
      case Region::input:
        return input + location.offset;
      case Region::constant:
        return constant + location.offset;
      case Region::state:
        return state + (*parameter_offsets)[location.offset];
    }
    return nullptr;
  }
};

class LocatedTensors final : public Tensors {
 public:
  LocatedTensors(const std::vector<NamedLocation>& named, const Addresses& addresses)
      : named_(named), addresses_(addresses) {}

  bool has(const std::string& name) const override { return find(name) != nullptr; }
  const TensorType& type(const std::string& name) const override { return get_named(name).type; }
  void* data(const std::string& name) const override { return addresses_(get_named(name).location); }

 private:
  const NamedLocation* find(const std::string& name) const {
    for (const NamedLocation& named : named_) {
      if (named.name == name) return &named;
    }
    return nullptr;
  }
  const NamedLocation& get_named(const std::string& name) const {
    const NamedLocation* named = find(name);
    JARI_ASSERT(named != nullptr, "no tensor " + name);
    return *named;
  }

  const std::vector<NamedLocation>& named_;
  const Addresses& addresses_;
};

}  // namespace

double Tensors::scalar(const std::string& name) const {
  const void* source = data(name);
  switch (type(name).dtype) {
    case DType::f32:
      return static_cast<double>(*static_cast<const float*>(source));
    case DType::f64:
      return *static_cast<const double*>(source);
    case DType::i32:
      return *static_cast<const std::int32_t*>(source);
    case DType::boolean:
      return *static_cast<const std::uint8_t*>(source);
  }
  return 0;
}

Program::Program(const Graph& graph) : plan_(make_plan(graph, graph.outputs(), graph.updates())) {}
Program::Program(const Graph& graph, std::vector<std::pair<std::string, Value>> outputs)
    : plan_(make_plan(graph, outputs, {})) {}
Program::~Program() = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;

const PlanReport& Program::report() const { return plan_->report; }
std::string Program::to_string() const { return plan_->text; }

namespace {

// Where this State keeps the program's parameters: its layout may hold more than the program knows.
std::vector<std::size_t> parameter_offsets(const std::vector<std::pair<std::string, TensorType>>& parameters,
                                           const State& state) {
  std::vector<std::size_t> offsets;
  for (const auto& [name, type] : parameters) {
    const State::Entry* entry = state.find(name);
    if (entry == nullptr || entry->type != type) {
      throw ShapeError(fmt::format("program: parameter '{}' is {} in the graph and {} in the state", name,
                                   type.to_string(), entry ? entry->type.to_string() : "absent"));
    }
    offsets.push_back(entry->offset);
  }
  return offsets;
}

void run_kernels(const std::vector<KernelCall>& calls, const Addresses& addresses, void* workspace,
                 const Workers& workers) {
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (const KernelCall& call : calls) {
    inputs.clear();
    outputs.clear();
    for (const Location& location : call.inputs) inputs.push_back(addresses(location));
    for (const Location& location : call.outputs) outputs.push_back(addresses(location));
    call.kernel->run({inputs.data(), outputs.data(), workspace, &workers});
  }
}

}  // namespace

void Program::run(State& state, std::span<const int> trials, std::int64_t begin, std::int64_t end, const Hooks& hooks,
                  ThreadPool& pool) const {
  const std::vector<std::size_t> offsets = parameter_offsets(plan_->parameters, state);
  const bool split_kernels = static_cast<int>(trials.size()) < pool.threads();
  std::vector<std::unique_ptr<Core>> cores(static_cast<std::size_t>(split_kernels ? 1 : pool.threads()));

  const auto run_trial = [&](int trial, Core& core, const Workers& workers) {
    const Addresses addresses{core.arena.data(), core.inputs.data(), plan_->constants.data(), state.data(trial),
                              &offsets};
    const LocatedTensors inputs(plan_->inputs, addresses), outputs(plan_->outputs, addresses);
    for (std::int64_t step = begin; step < end; ++step) {
      if (hooks.feed) hooks.feed(trial, step, inputs);
      run_kernels(plan_->calls, addresses, core.workspace.data(), workers);
      for (const Plan::Copy& copy : plan_->copies) std::memcpy(addresses(copy.to), addresses(copy.from), copy.bytes);
      if (hooks.fetch && !hooks.fetch(trial, step, outputs)) return;
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
