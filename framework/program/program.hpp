#pragma once
// A graph planned for one device: a fixed order of kernel calls over one arena. Its verb is run().

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "framework/backend/device.hpp"
#include "framework/base/thread_pool.hpp"
#include "framework/graph/graph.hpp"
#include "framework/graph/tensors.hpp"
#include "framework/program/observer.hpp"

namespace jari {

// What is kept from step to step: weights and optimizer state, trial-major: [trial][all tensors], so that one trial is
// one contiguous slice. Several programs (train, evaluate) share one State.
//
// A program that runs on a device has a copy there; what asks for a trial's bytes here gets the newest ones. Different
// trials may be asked for on different threads.
class State {
 public:
  struct Entry {
    std::string name;  // "model/embedding", "optimizer/adam/first_moment/model/embedding"
    TensorType type;
    std::size_t offset = 0;  // bytes from the start of a trial's slice
  };

  // Entries in the order of creation of the graph's parameters.
  State(const Graph& graph, int trials);
  ~State();
  State(State&&) noexcept;
  State& operator=(State&&) noexcept;

  int trials() const { return trials_; }
  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* find(const std::string& name) const;
  std::size_t bytes_per_trial() const { return stride_; }
  std::byte* data(int trial);  // to change, and so newer than the device's from here on
  const std::byte* data(int trial) const;
  template <class T>
  std::span<T> tensor(int trial, const Entry& entry) {
    return {reinterpret_cast<T*>(data(trial) + entry.offset), static_cast<std::size_t>(entry.type.shape.size())};
  }
  // Values as doubles, whatever the dtype.
  std::vector<double> read(int trial, const Entry& entry) const;
  void write(int trial, const Entry& entry, std::span<const double> values);
  // Of the names, types and bytes of a trial's entries: 16 hexadecimal digits.
  std::string digest(int trial) const;

  // The slice of trial `first` on the device, with `count` trials from there on up to date; they lie bytes_per_trial()
  // apart. Of one device at a time.
  std::byte* on_device(const std::shared_ptr<Device>& device, int first, int count);
  // The device has changed it.
  void changed_on_device(int trial);

 private:
  class DeviceCopy;
  struct AlignedDelete {
    void operator()(std::byte* memory) const;
  };
  struct Memory {
    std::unique_ptr<std::byte[], AlignedDelete> bytes;
    std::byte* data() const { return bytes.get(); }
  };

  int trials_;
  std::size_t stride_ = 0;
  std::vector<Entry> entries_;
  Memory data_;
  std::unique_ptr<DeviceCopy> device_copy_;  // null: the bytes here are all there is
};

struct PlanReport {
  int nodes = 0;                   // kernel calls a step
  std::size_t arena_bytes = 0;     // activations, for one trial at a time
  std::size_t constant_bytes = 0;  // computed once
  std::size_t input_bytes = 0;
  std::size_t workspace_bytes = 0;
  std::size_t state_bytes = 0;     // a trial
  std::size_t resident_bytes = 0;  // of Graph::resident(): read where they lie; a device has one copy
};

class Program {
 public:
  struct Plan;

  // Plans the graph: drops what no output or update needs, computes constant parts once, orders, lays out the arena.
  // `device`: what it is to run on; null: the host. `communicator`: where the program is one of several ranks.
  explicit Program(const Graph& graph, std::shared_ptr<Device> device = nullptr,
                   std::shared_ptr<Communicator> communicator = nullptr);
  // The same for `outputs` alone, whatever the graph itself outputs or updates.
  Program(const Graph& graph, std::vector<std::pair<std::string, Value>> outputs,
          std::shared_ptr<Device> device = nullptr);
  ~Program();
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;

  struct Hooks {
    // Before a step of a trial: fills its inputs. Runs on the thread that runs the step, unless `feeds_ahead`;
    // for a device on any of the pool.
    std::function<void(int trial, std::int64_t step, const Tensors& inputs)> feed;
    // What `feed` writes depends on trial and step alone. Then it may be called on any thread while the step before
    // runs, and for a step that is never run.
    bool feeds_ahead = false;
    // Within a step, after the outputs that it is given and before anything of the state changes. Returning false
    // leaves the state as it was before the step and ends this trial's steps.
    std::function<bool(int trial, std::int64_t step, const Tensors& outputs)> guard;
    // The outputs, scalars, of which the guard asks no more than whether they are finite. A device asks that itself and
    // so does a whole step without the host; it calls the guard afterwards. Empty: it has to wait for the guard.
    std::vector<std::string> finite;
    // Once a step has begun: whether it is to be the trial's last, as when somebody has asked to stop.
    std::function<bool(int trial, std::int64_t step)> is_last;
    // After it: reads its outputs. Returning false ends this trial's steps because something failed: a device may have
    // begun the step after it by then, and changes the state.
    std::function<bool(int trial, std::int64_t step, const Tensors& outputs)> fetch;
  };

  // Runs steps [begin, end) of each of `trials`, in place on `state`. Each core takes a whole trial at a time; kernels
  // are split over the cores only when there are fewer trials than cores. The bits are the same either way. A device
  // takes all trials of a step at once, and with `feeds_ahead` the next step before the host has looked at its outputs;
  // with an observer it takes them one by one, node by node.
  void run(State& state, std::span<const int> trials, std::int64_t begin, std::int64_t end, const Hooks& hooks,
           ThreadPool& pool, Observer* observer = nullptr) const;

  // Bytes on the device for that many trials at once, without their state; 0 for a program of the host.
  std::size_t device_bytes(int trials) const;
  // Steps that were replayed from a recording, and all that ran on the device.
  struct DeviceSteps {
    std::int64_t replayed = 0, all = 0;
  };
  DeviceSteps device_steps() const;
  // Gives the device's memory back, until the next run.
  void leave_device() const;

  const PlanReport& report() const;
  std::string to_string() const;  // one line a kernel call: path, op, types, arena offsets
  // What an observer can see: paths of the kernel calls in order, then names of parameters and inputs. Each once.
  std::vector<std::string> observable_paths() const;

 private:
  std::unique_ptr<Plan> plan_;
  std::unique_ptr<class DeviceRun> device_run_;  // null for a program of the host
};

// Elements as doubles, whatever the dtype.
void write_tensor(const Tensors& tensors, const std::string& name, const std::vector<double>& values);
std::vector<double> read_tensor(const Tensors& tensors, const std::string& name);

using NamedValues = std::vector<std::pair<std::string, std::vector<double>>>;

// Runs what `value` needs, on one trial, and gives its elements: for tests and analyses. `inputs`: by name; those that
// `value` does not need are ignored. Without a state, parameters are zeros.
std::vector<double> evaluate(const Graph& graph, Value value, const NamedValues& inputs = {}, State* state = nullptr,
                             int threads = 1);

}  // namespace jari
