#include "framework/program/device_session.hpp"

#include <algorithm>
#include <cstring>

#include "framework/program/resident_copy.hpp"

namespace jari {
namespace {

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

DeviceRun::Session::Session(const Program::Plan& plan, const std::shared_ptr<Device>& device, int count,
                            const std::vector<std::string>& finite)
    : plan_(plan), device_(device), count_(count), finite_(finite), queue_(device->make_queue()) {
  place_outputs();
  find_finite();
  for (const Program::Plan::Copy& copy : plan.copies) copies_.push_back(device->make_copy(copy.bytes));
  arena_ = allocate(plan.report.arena_bytes);
  inputs_ = allocate(plan.report.input_bytes);
  active_ = allocate(sizeof(std::int32_t));
  std::size_t workspace = 1;
  for (const KernelCall& call : plan.calls) workspace = std::max(workspace, call.device_kernel->workspace_bytes(count));
  workspace_ = device->allocate(workspace);
  const auto slots = static_cast<std::size_t>(count);
  for (Device::Memory& block : host_inputs_) block = device->allocate_host(slots * plan.report.input_bytes);
  for (Device::Memory& block : host_outputs_) block = device->allocate_host(slots * output_bytes_);
  for (std::unique_ptr<DeviceEvent>& event : done_) event = queue_->make_event();
  host_active_ = device->allocate_host(slots * sizeof(std::int32_t));
  for (const Program::Plan::Resident& resident : plan.residents)
    residents_.push_back(resident_copy(device, resident.elements, resident.type.bytes(), *queue_));
  const std::size_t bytes = plan.constants.size();
  const Device::Memory staging = device->allocate_host(bytes);
  constants_ = device->allocate(bytes);
  if (bytes > 0) std::memcpy(staging.get(), plan.constants.data(), bytes);
  queue_->copy(constants_.get(), staging.get(), bytes);
  queue_->wait();
}

Device::Memory DeviceRun::Session::allocate(std::size_t bytes_a_slot) const {
  return device_->allocate(bytes_a_slot * static_cast<std::size_t>(count_));
}

void DeviceRun::Session::place_outputs() {
  for (const NamedLocation& output : plan_.outputs) {
    outputs_.push_back({output.name, output.type, {Region::arena, output_bytes_}});
    output_bytes_ += aligned(output.type.bytes());
    const bool is_guarded = std::any_of(plan_.guarded.begin(), plan_.guarded.end(),
                                        [&](const NamedLocation& guarded) { return guarded.name == output.name; });
    if (is_guarded) guarded_.push_back(outputs_.back());
  }
}

void DeviceRun::Session::find_finite() {
  std::vector<DType> types;
  for (const std::string& name : finite_) {
    const auto found = std::find_if(plan_.guarded.begin(), plan_.guarded.end(),
                                    [&](const NamedLocation& guarded) { return guarded.name == name; });
    JARI_ASSERT(found != plan_.guarded.end(), "no guarded output " + name);
    finite_sources_.push_back(found->location);
    types.push_back(found->type.dtype);
  }
  if (!types.empty()) guard_ = device_->make_guard(types);
}

void DeviceRun::Session::begin(State& state, int first, const std::vector<bool>& runs) {
  std::vector<std::size_t> offsets = parameter_offsets(plan_.parameters, state);
  std::byte* const data = state.on_device(device_, first, count_);
  if (data != state_data_ || offsets != parameter_offsets_ || state_stride_ != state.bytes_per_trial()) {
    for (std::unique_ptr<DeviceGraph>& graph : graphs_) graph.reset();
  }
  parameter_offsets_ = std::move(offsets);
  state_stride_ = state.bytes_per_trial();
  state_data_ = data;
  auto* const flags = reinterpret_cast<std::int32_t*>(host_active_.get());
  for (int slot = 0; slot < count_; ++slot) flags[slot] = runs[static_cast<std::size_t>(slot)] ? 1 : 0;
  queue_->copy(active_.get(), flags, static_cast<std::size_t>(count_) * sizeof(std::int32_t));
  queue_->wait();
}

Addresses DeviceRun::Session::host_addresses(int slot, std::int64_t step) const {
  std::byte* const block = host_inputs_[side(step)].get() + static_cast<std::size_t>(slot) * plan_.report.input_bytes;
  return {nullptr, block, nullptr, nullptr, nullptr, nullptr};
}

DeviceOperand DeviceRun::Session::operand(const Location& location, int slot) const {
  const auto index = static_cast<std::size_t>(slot);
  const std::size_t arena = plan_.report.arena_bytes, input = plan_.report.input_bytes;
  switch (location.region) {
    case Region::arena:
      return {arena_.get() + index * arena + location.offset, arena};
    case Region::input:
      return {inputs_.get() + index * input + location.offset, input};
    case Region::constant:
      return {constants_.get() + location.offset, 0};
    case Region::resident:
      return {residents_[location.offset].get(), 0};
    case Region::state:
      return {state_data_ + index * state_stride_ + parameter_offsets_[location.offset], state_stride_};
  }
  return {};
}

bool DeviceRun::Session::start_step(std::int64_t step) {
  queue_->copy(inputs_.get(), host_inputs_[side(step)].get(),
               static_cast<std::size_t>(count_) * plan_.report.input_bytes);
  const bool replays = warm_;
  if (replays) {
    replay(step);
  } else {  // libraries set themselves up at their first call, which must not be recorded
    launch_step(step);
    warm_ = true;
  }
  queue_->record(*done_[side(step)]);
  return replays;
}

void DeviceRun::Session::replay(std::int64_t step) {
  std::unique_ptr<DeviceGraph>& graph = graphs_[side(step)];
  if (!graph) {
    queue_->begin_capture();
    launch_step(step);
    graph = queue_->end_capture();
  }
  queue_->run(*graph);
}

void DeviceRun::Session::launch_step(std::int64_t step) {
  const Range all{0, count_};
  auto joint = plan_.joints.begin();
  for (std::size_t i = 0; i < plan_.calls.size();) {
    if (i == plan_.first_update) launch_guard();
    if (joint != plan_.joints.end() && joint->first == i) {
      launch(*joint->kernel, joint->inputs, joint->outputs, all);
      i = joint->last;
      ++joint;
    } else {
      const KernelCall& call = plan_.calls[i++];
      launch(*call.device_kernel, call.inputs, call.outputs, all);
    }
  }
  if (plan_.first_update == plan_.calls.size()) launch_guard();
  launch_copies(all);
  launch_downloads(all, step);
}

void DeviceRun::Session::launch(const DeviceKernel& kernel, const std::vector<Location>& inputs,
                                const std::vector<Location>& outputs, Range slots) {
  std::vector<DeviceOperand> from, to;
  for (const Location& location : inputs) from.push_back(operand(location, slots.first));
  for (const Location& location : outputs) to.push_back(operand(location, slots.first));
  kernel.launch({from.data(), to.data(), workspace_.get(), slots.count, active(slots.first)}, *queue_);
}

void DeviceRun::Session::launch_guard() {
  if (!guard_) return;
  std::vector<DeviceOperand> from;
  for (const Location& location : finite_sources_) from.push_back(operand(location, 0));
  const DeviceOperand to{active(0), sizeof(std::int32_t)};
  guard_->launch({from.data(), &to, workspace_.get(), count_, nullptr}, *queue_);
}

// Parameters that no kernel could write in place.
void DeviceRun::Session::launch_copies(Range slots) {
  for (std::size_t i = 0; i < copies_.size(); ++i)
    launch(*copies_[i], {plan_.copies[i].from}, {plan_.copies[i].to}, slots);
}

void DeviceRun::Session::launch_downloads(Range slots, std::int64_t step) {
  std::byte* const block = host_outputs_[side(step)].get() + static_cast<std::size_t>(slots.first) * output_bytes_;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const DeviceOperand from = operand(plan_.outputs[i].location, slots.first);
    const std::size_t bytes = outputs_[i].type.bytes();
    std::byte* const to = block + outputs_[i].location.offset;
    if (bytes == 0) continue;
    if (from.stride != 0) {
      queue_->copy_rows(to, output_bytes_, from.data, from.stride, bytes, static_cast<std::size_t>(slots.count));
    } else {
      for (int slot = 0; slot < slots.count; ++slot)
        queue_->copy(to + static_cast<std::size_t>(slot) * output_bytes_, from.data, bytes);
    }
  }
}

void DeviceRun::Session::upload_inputs(int slot, std::int64_t step) {
  const std::size_t bytes = plan_.report.input_bytes, offset = static_cast<std::size_t>(slot) * bytes;
  queue_->copy(inputs_.get() + offset, host_inputs_[side(step)].get() + offset, bytes);
  queue_->wait();
}

void DeviceRun::Session::run_calls(int slot, std::size_t first_call, std::size_t last_call, int trial,
                                   std::int64_t step, Observer* observer) {
  for (std::size_t i = first_call; i < last_call; ++i) {
    const KernelCall& call = plan_.calls[i];
    const auto run = [&] {
      launch(*call.device_kernel, call.inputs, call.outputs, {slot, 1});
      queue_->wait();
    };
    if (observer == nullptr) {
      run();
      continue;
    }
    Device::Memory bytes_in, bytes_out;
    const std::vector<TensorView> inputs = views(call.inputs, call.input_types, slot, bytes_in);
    std::vector<TensorView> outputs = views(call.outputs, call.output_types, slot, bytes_out);
    observer->before(trial, step, {call.path, call.op, call.span, inputs, outputs});
    run();
    outputs = views(call.outputs, call.output_types, slot, bytes_out);
    observer->after(trial, step, {call.path, call.op, call.span, inputs, outputs});
  }
}

std::vector<TensorView> DeviceRun::Session::views(const std::vector<Location>& locations,
                                                  const std::vector<TensorType>& types, int slot,
                                                  Device::Memory& bytes) {
  std::size_t size = 0;
  for (const TensorType& type : types) size += aligned(type.bytes());
  if (!bytes) bytes = device_->allocate_host(size);
  std::vector<TensorView> result;
  std::size_t offset = 0;
  for (std::size_t i = 0; i < locations.size(); ++i) {
    queue_->copy(bytes.get() + offset, operand(locations[i], slot).data, types[i].bytes());
    result.push_back({&types[i], bytes.get() + offset, leaf_name(plan_, locations[i])});
    offset += aligned(types[i].bytes());
  }
  queue_->wait();
  return result;
}

void DeviceRun::Session::copy_updates(int slot) { launch_copies({slot, 1}); }

void DeviceRun::Session::download_outputs(int slot, std::int64_t step) {
  launch_downloads({slot, 1}, step);
  queue_->wait();
}

void DeviceRun::Session::stop(int slot) {
  auto* const flags = reinterpret_cast<std::int32_t*>(host_active_.get());
  flags[slot] = 0;
  queue_->copy(active(slot), flags + slot, sizeof(std::int32_t));
}

}  // namespace jari
