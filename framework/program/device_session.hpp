#pragma once
// What a plan needs on a device to run so many trials at once: memory there, and a step's recording. The trials are
// [first, first + count) of a state; those in that range that are not to run are computed all the same, but keep their
// state.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "framework/program/device_run.hpp"

namespace jari {

class DeviceRun::Session {
 public:
  Session(const Program::Plan& plan, const std::shared_ptr<Device>& device, int count,
          const std::vector<std::string>& finite);

  bool serves(int count, const std::vector<std::string>& finite) const { return count_ == count && finite_ == finite; }
  // Before the steps of a call: the state is brought up to date, and these trials are to run, by slot: trial - first.
  void begin(State& state, int first, const std::vector<bool>& runs);

  // The host's side of a slot. Two steps have room there, so that one can be filled or looked at while the next runs.
  template <class Use>
  void with_inputs(int slot, std::int64_t step, const Use& use) const {
    const Addresses addresses = host_addresses(slot, step);
    use(LocatedTensors(plan_.inputs, addresses));
  }
  template <class Use>
  bool with_outputs(int slot, std::int64_t step, const std::vector<NamedLocation>& outputs, const Use& use) const {
    std::byte* const block = host_outputs_[side(step)].get() + static_cast<std::size_t>(slot) * output_bytes_;
    const Addresses addresses{block, nullptr, nullptr, nullptr, nullptr, nullptr};
    return use(LocatedTensors(outputs, addresses));
  }
  const std::vector<NamedLocation>& outputs() const { return outputs_; }
  const std::vector<NamedLocation>& guarded() const { return guarded_; }

  // A step of all trials, guarded by the device, begun and not waited for. Whether it was replayed.
  bool start_step(std::int64_t step);
  void wait_for_step(std::int64_t step) { queue_->wait(*done_[side(step)]); }
  void wait() { queue_->wait(); }

  // The parts of a step of one trial, for a guard or an observer on the host; each waits until it is done.
  void upload_inputs(int slot, std::int64_t step);
  void run_calls(int slot, std::size_t first_call, std::size_t last_call, int trial, std::int64_t step,
                 Observer* observer);
  void copy_updates(int slot);
  void download_outputs(int slot, std::int64_t step);

  void stop(int slot);  // from the next step that is started on

 private:
  // Slots: the first, and their number.
  struct Range {
    int first, count;
  };

  static std::size_t side(std::int64_t step) { return static_cast<std::size_t>(step & 1); }

  Device::Memory allocate(std::size_t bytes_a_slot) const;
  void place_outputs();
  void find_finite();
  Addresses host_addresses(int slot, std::int64_t step) const;
  DeviceOperand operand(const Location& location, int slot) const;
  std::int32_t* active(int slot) const { return reinterpret_cast<std::int32_t*>(active_.get()) + slot; }
  void launch(const DeviceKernel& kernel, const std::vector<Location>& inputs, const std::vector<Location>& outputs,
              Range slots);
  void replay(std::int64_t step);
  void launch_step(std::int64_t step);  // of all trials, with guard
  void launch_guard();
  void launch_copies(Range slots);
  void launch_downloads(Range slots, std::int64_t step);
  std::vector<TensorView> views(const std::vector<Location>& locations, const std::vector<TensorType>& types, int slot,
                                Device::Memory& bytes);

  const Program::Plan& plan_;
  std::shared_ptr<Device> device_;
  int count_;
  std::vector<std::string> finite_;
  // Of the state of the last call; a recording has these addresses in it.
  std::vector<std::size_t> parameter_offsets_;
  std::size_t state_stride_ = 0;
  std::byte* state_data_ = nullptr;

  std::unique_ptr<DeviceQueue> queue_;
  Device::Memory arena_, inputs_, constants_, workspace_, active_;
  std::vector<Device::Memory> residents_;
  Device::Memory host_inputs_[2], host_outputs_[2], host_active_;  // by side of the step
  std::size_t output_bytes_ = 0;                                   // a trial's
  std::vector<NamedLocation> outputs_, guarded_;                   // in the block of a trial's outputs
  std::vector<Location> finite_sources_;
  std::unique_ptr<DeviceKernel> guard_;
  std::vector<std::unique_ptr<DeviceKernel>> copies_;  // as the plan's
  std::unique_ptr<DeviceGraph> graphs_[2];             // of a step, by side; null until one has run node by node
  std::unique_ptr<DeviceEvent> done_[2];               // behind the newest step of the side
  bool warm_ = false;
};

}  // namespace jari
