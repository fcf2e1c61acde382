#include "framework/program/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include "framework/base/error.hpp"
#include "framework/ops/ops.hpp"
#include "framework/program/arena.hpp"
#include "framework/program/joint_calls.hpp"
#include "framework/program/sum_over_ranks.hpp"

namespace jari {
namespace {

constexpr int kForever = std::numeric_limits<int>::max();

std::size_t aligned(std::size_t bytes) {
  return (bytes + ArenaLayout::kAlignment - 1) / ArenaLayout::kAlignment * ArenaLayout::kAlignment;
}

// A storage that one or more Values share: its own, or that of the Value it is a reshape or an in-place result of.
struct Storage {
  Location location;
  int last_use = -1;  // index of the last node that reads it
  bool placed = false;
};

class Planner {
 public:
  Planner(const Graph& graph, const std::vector<std::pair<std::string, Value>>& outputs,
          const std::vector<std::pair<Value, Value>>& updates, Device* device,
          std::shared_ptr<Communicator> communicator)
      : graph_(graph),
        outputs_(outputs),
        updates_(updates),
        device_(device),
        communicator_(std::move(communicator)),
        plan_(std::make_unique<Program::Plan>()) {}

  std::unique_ptr<Program::Plan> make() {
    find_live();
    find_constant();
    find_last_uses();
    place_leaves();
    for (int node = 0; node < graph_.size(); ++node) {
      if (live_[index(node)] && graph_.node(node).kind == NodeKind::op) place_op(node);
    }
    finish();
    return std::move(plan_);
  }

 private:
  static std::size_t index(int node) { return static_cast<std::size_t>(node); }

  // Handles are made for builders and so carry a graph that may change; this one does not.
  Value output_of(int node, int output) const { return {const_cast<Graph*>(&graph_), node, output}; }

  void find_live() {
    live_.assign(index(graph_.size()), false);
    std::vector<int> stack;
    const auto visit = [&](Value value) {
      if (!live_[index(value.node())]) {
        live_[index(value.node())] = true;
        stack.push_back(value.node());
      }
    };
    for (const auto& [name, value] : outputs_) visit(value);
    for (const auto& [parameter, value] : updates_) {
      visit(parameter);
      visit(value);
    }
    while (!stack.empty()) {
      const int node = stack.back();
      stack.pop_back();
      for (const Value& input : graph_.node(node).inputs) visit(input);
    }
  }

  // A node is constant if everything that it reads is: computed once, here.
  void find_constant() {
    constant_.assign(index(graph_.size()), false);
    for (int i = 0; i < graph_.size(); ++i) {
      const Node& node = graph_.node(i);
      constant_[index(i)] =
          node.kind == NodeKind::constant ||
          (node.kind == NodeKind::op && std::all_of(node.inputs.begin(), node.inputs.end(), [&](const Value& input) {
             return constant_[index(input.node())];
           }));
    }
  }

  // Reads of every Value, where a reshape's readers count as readers of what it reshapes.
  void find_last_uses() {
    for (int i = 0; i < graph_.size(); ++i) {
      const Node& node = graph_.node(i);
      for (std::size_t output = 0; output < node.outputs.size(); ++output) {
        const Value value = output_of(i, static_cast<int>(output));
        if (node.kind == NodeKind::op && node.op == &op_reshape && !constant_[index(i)]) {
          storage_of_[value] = storage_of_.at(node.inputs[0]);
        } else {
          storage_of_[value] = static_cast<int>(storages_.size());
          storages_.emplace_back();
        }
      }
      if (live_[index(i)] && !constant_[index(i)]) {
        for (const Value& input : node.inputs) storage(input).last_use = std::max(storage(input).last_use, i);
      }
    }
    for (const auto& [name, value] : outputs_) storage(value).last_use = kForever;
    for (const auto& [parameter, value] : updates_) storage(value).last_use = kForever;
  }

  Storage& storage(const Value& value) { return storages_[index(storage_of_.at(value))]; }

  void place_leaves() {
    std::size_t input_bytes = 0;
    for (int i = 0; i < graph_.size(); ++i) {
      if (!live_[index(i)]) continue;
      const Node& node = graph_.node(i);
      const Value value = output_of(i, 0);
      if (node.kind == NodeKind::input) {
        storage(value).location = {Region::input, input_bytes};
        plan_->inputs.push_back({node.path, node.outputs[0], storage(value).location});
        input_bytes += aligned(node.outputs[0].bytes());
      } else if (node.kind == NodeKind::parameter) {
        storage(value).location = {Region::state, plan_->parameters.size()};
        plan_->parameters.emplace_back(node.path, node.outputs[0]);
      } else if (node.kind == NodeKind::resident) {
        storage(value).location = {Region::resident, plan_->residents.size()};
        plan_->residents.push_back({node.path, node.outputs[0], node.resident});
      } else if (node.kind == NodeKind::constant) {
        place_constant(value);
        fill_constant(node, storage(value).location.offset);
      }
      if (node.kind != NodeKind::op) storage(value).placed = true;
    }
    plan_->report.input_bytes = input_bytes;
  }

  void place_constant(const Value& value) {
    storage(value).location = {Region::constant, plan_->constants.size()};
    storage(value).placed = true;
    plan_->constants.resize(plan_->constants.size() + aligned(value.type().bytes()));
  }

  void fill_constant(const Node& node, std::size_t offset) {
    std::byte* target = plan_->constants.data() + offset;
    const auto store = [&](auto zero) {
      using T = decltype(zero);
      for (double number : node.constant) {
        const T element = static_cast<T>(number);
        std::memcpy(target, &element, sizeof(T));
        target += sizeof(T);
      }
    };
    switch (node.outputs[0].dtype) {
      case DType::f32:
        return store(float{});
      case DType::f64:
        return store(double{});
      case DType::i32:
        return store(std::int32_t{});
      case DType::boolean:
        return store(std::uint8_t{});
    }
  }

  void place_op(int i) {
    const Node& node = graph_.node(i);
    if (constant_[index(i)]) return compute_constant(i);
    if (node.op == &op_reshape) return;  // the same bytes under another shape
    KernelCall call = make_call(node, device_);
    call_of_node_[i] = plan_->calls.size();
    for (std::size_t output = 0; output < node.outputs.size(); ++output) place_output(i, static_cast<int>(output));
    for (std::size_t output = 0; output < node.outputs.size(); ++output) {
      const Value value = output_of(i, static_cast<int>(output));
      call.outputs.push_back(storage(value).location);
    }
    for (const Value& input : node.inputs) call.inputs.push_back(storage(input).location);
    const std::size_t workspace = call.kernel ? call.kernel->workspace_bytes() : call.device_kernel->workspace_bytes(1);
    plan_->report.workspace_bytes = std::max(plan_->report.workspace_bytes, workspace);
    plan_->calls.push_back(std::move(call));
    requests_.push_back(request_of(node));
    release_dead(i);
  }

  KernelRequest request_of(const Node& node) const {
    KernelRequest request{node.op, node.attributes, {}, node.outputs, graph_.products()};
    for (const Value& input : node.inputs) request.inputs.push_back(input.type());
    return request;
  }

  // Null: a kernel of the host.
  KernelCall make_call(const Node& node, Device* device) {
    const KernelRequest request = request_of(node);
    KernelCall call;
    if (device == nullptr) {
      call.kernel = make_cpu_kernel(request);
    } else if (communicator_ && node.op == &op_all_reduce) {
      call.device_kernel = std::make_shared<SumOverRanks>(communicator_, node.outputs[0]);
    } else {
      call.device_kernel = device->make_kernel(request);
    }
    call.path = node.path;
    call.op = node.op->name;
    call.span = node.span;
    call.settles = node.op->settles;
    call.input_types = request.inputs;
    call.output_types = node.outputs;
    call.attributes = node.attributes.to_string();
    return call;
  }

  void place_output(int i, int output) {
    const Node& node = graph_.node(i);
    const Value value = output_of(i, output);
    if (place_on_parameter(i, output) || place_on_input(i, output)) return;
    Storage& own = storage(value);
    own.location = {Region::arena, arena_.take(node.outputs[index(output)].bytes())};
    own.placed = true;
    in_arena_.insert(storage_of_.at(value));
  }

  // What follows the value of a parameter that is updated goes straight into its place, if its kernel may write over
  // the old one and nobody reads the old one later.
  bool place_on_parameter(int i, int output) {
    const Node& node = graph_.node(i);
    if (node.op->in_place.size() <= index(output) || node.op->in_place[index(output)] < 0) return false;
    if (device_ != nullptr && !node.op->steps) return false;
    const Storage over = storage(node.inputs[index(node.op->in_place[index(output)])]);
    if (over.location.region != Region::state || over.last_use > i) return false;
    const bool is_updated = std::any_of(updates_.begin(), updates_.end(), [&](const auto& update) {
      return storage(update.first).location.offset == over.location.offset;
    });
    if (!is_updated) return false;
    Storage& own = storage(output_of(i, output));
    own.location = over.location;
    own.placed = true;
    return true;
  }

  // A pointwise result takes over an operand of its own type that dies here.
  bool place_on_input(int i, int output) {
    const Node& node = graph_.node(i);
    if (!node.op->pointwise || output != 0) return false;
    const Value value = output_of(i, output);
    for (const Value& input : node.inputs) {
      const int shared = storage_of_.at(input);
      const Storage& candidate = storages_[index(shared)];
      if (input.type() != value.type() || candidate.location.region != Region::arena || candidate.last_use != i)
        continue;
      if (taken_over_.count(shared) > 0) continue;
      const int own = storage_of_.at(value);
      storages_[index(own)].location = candidate.location;
      storages_[index(own)].placed = true;
      taken_over_.insert(shared);
      in_arena_.erase(shared);
      in_arena_.insert(own);
      return true;
    }
    return false;
  }

  void release_dead(int i) {
    for (auto it = in_arena_.begin(); it != in_arena_.end();) {
      if (storages_[index(*it)].last_use <= i) {
        arena_.release(storages_[index(*it)].location.offset);
        it = in_arena_.erase(it);
      } else {
        ++it;
      }
    }
  }

  void compute_constant(int i) {
    const Node& node = graph_.node(i);
    for (std::size_t output = 0; output < node.outputs.size(); ++output) {
      place_constant(output_of(i, static_cast<int>(output)));
    }
    const KernelCall call = make_call(node, nullptr);
    std::vector<const void*> inputs;
    for (const Value& input : node.inputs) inputs.push_back(plan_->constants.data() + storage(input).location.offset);
    std::vector<void*> outputs;
    for (std::size_t output = 0; output < node.outputs.size(); ++output) {
      const Value value = output_of(i, static_cast<int>(output));
      outputs.push_back(plan_->constants.data() + storage(value).location.offset);
    }
    const std::size_t bytes = aligned(call.kernel->workspace_bytes()) + ArenaLayout::kAlignment;
    std::vector<std::byte> workspace(bytes);
    void* start = workspace.data();
    std::size_t space = bytes;
    start = std::align(ArenaLayout::kAlignment, call.kernel->workspace_bytes(), start, space);
    const Workers workers;
    call.kernel->run({inputs.data(), outputs.data(), start, &workers});
  }

  void finish() {
    const auto changes_state = [](const KernelCall& call) {
      return !call.settles && std::any_of(call.outputs.begin(), call.outputs.end(),
                                          [](const Location& location) { return location.region == Region::state; });
    };
    const auto first = std::find_if(plan_->calls.begin(), plan_->calls.end(), changes_state);
    plan_->first_update = index(static_cast<int>(first - plan_->calls.begin()));
    for (const auto& [name, value] : outputs_) {
      plan_->outputs.push_back({name, value.type(), storage(value).location});
      const auto call = call_of_node_.find(computed_by(value));
      if (call == call_of_node_.end() || call->second < plan_->first_update) {
        plan_->guarded.push_back(plan_->outputs.back());
      }
    }
    for (const auto& [parameter, value] : updates_) {
      const Location from = storage(value).location, to = storage(parameter).location;
      if (from.region == to.region && from.offset == to.offset) continue;
      plan_->copies.push_back({from, to, value.type().bytes()});
    }
    if (device_ != nullptr) plan_->joints = joint_calls(plan_->calls, requests_, *device_);
    PlanReport& report = plan_->report;
    report.nodes = static_cast<int>(plan_->calls.size());
    report.arena_bytes = arena_.peak();
    report.constant_bytes = plan_->constants.size();
    for (const auto& [name, type] : plan_->parameters) report.state_bytes += aligned(type.bytes());
    for (const Program::Plan::Resident& resident : plan_->residents) report.resident_bytes += resident.type.bytes();
    write_text();
  }

  // The node whose kernel writes the value: reshapes have none.
  int computed_by(const Value& value) const {
    const Node& node = graph_.node(value.node());
    const bool is_reshape = node.kind == NodeKind::op && node.op == &op_reshape;
    return is_reshape ? computed_by(node.inputs[0]) : value.node();
  }

  static std::string place_text(const Location& location) {
    static const char* const names[] = {"arena", "input", "constant", "state", "resident"};
    return fmt::format("{}+{}", names[static_cast<int>(location.region)], location.offset);
  }

  void write_text() {
    for (const KernelCall& call : plan_->calls) {
      std::vector<std::string> inputs, outputs;
      for (const Location& location : call.inputs) inputs.push_back(place_text(location));
      for (std::size_t output = 0; output < call.outputs.size(); ++output) {
        outputs.push_back(
            fmt::format("{} {}", place_text(call.outputs[output]), call.output_types[output].to_string()));
      }
      plan_->text += fmt::format("{} = {}({}) {{{}}}  {}\n", fmt::join(outputs, ", "), call.op, fmt::join(inputs, ", "),
                                 call.attributes, call.path);
    }
  }

  const Graph& graph_;
  const std::vector<std::pair<std::string, Value>>& outputs_;
  const std::vector<std::pair<Value, Value>>& updates_;
  Device* const device_;
  const std::shared_ptr<Communicator> communicator_;
  std::unique_ptr<Program::Plan> plan_;
  std::vector<bool> live_, constant_;
  std::map<Value, int> storage_of_;
  std::map<int, std::size_t> call_of_node_;
  std::vector<KernelRequest> requests_;  // of the calls
  std::vector<Storage> storages_;
  std::set<int> in_arena_;    // storages that hold a stretch of the arena now
  std::set<int> taken_over_;  // storages whose stretch has passed to an in-place result
  ArenaLayout arena_;
};

}  // namespace

bool Program::Plan::changes_state() const {
  return !copies.empty() || std::any_of(calls.begin(), calls.end(), [](const KernelCall& call) {
    return std::any_of(call.outputs.begin(), call.outputs.end(),
                       [](const Location& location) { return location.region == Region::state; });
  });
}

std::unique_ptr<Program::Plan> make_plan(const Graph& graph, const std::vector<std::pair<std::string, Value>>& outputs,
                                         const std::vector<std::pair<Value, Value>>& updates, Device* device,
                                         std::shared_ptr<Communicator> communicator) {
  return Planner(graph, outputs, updates, device, std::move(communicator)).make();
}

}  // namespace jari
