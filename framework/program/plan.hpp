#pragma once
// A graph laid out for the host or a device: which kernels run, in which order, and where every value lives.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "framework/backend/communicator.hpp"
#include "framework/program/program.hpp"

namespace jari {

// The memories that a kernel's operands lie in. On a device each but constants and residents has a slice a trial.
enum class Region { arena, input, constant, state, resident };

struct Location {
  Region region = Region::arena;
  std::size_t offset = 0;  // bytes; of Region::state, resident: index into Plan::parameters, residents
  bool operator==(const Location&) const = default;
};

struct KernelCall {
  std::shared_ptr<const Kernel> kernel;               // of a program of the host,
  std::shared_ptr<const DeviceKernel> device_kernel;  // or of a device's
  std::vector<Location> inputs, outputs;
  // For observers and messages.
  std::string path;
  const char* op = "";
  std::string attributes;
  SourceSpan span;
  bool settles = false;  // Op::settles
  std::vector<TensorType> input_types, output_types;
};

struct NamedLocation {
  std::string name;
  TensorType type;
  Location location;
};

struct Program::Plan {
  std::vector<KernelCall> calls;
  std::vector<NamedLocation> inputs, outputs;
  std::size_t first_update = 0;        // index of the first call that changes the state; calls.size() if none does
  std::vector<NamedLocation> guarded;  // outputs that are there by then
  std::vector<std::pair<std::string, TensorType>> parameters;  // those that the calls read or write
  struct Copy {
    Location from, to;
    std::size_t bytes;
  };
  std::vector<Copy> copies;  // updates that no kernel could write in place, done after all calls
  // Calls [first, last) that a device does in one launch.
  struct Joint {
    std::size_t first, last;
    std::shared_ptr<const DeviceKernel> kernel;
    std::vector<Location> inputs, outputs;
  };
  std::vector<Joint> joints;  // in the order of the calls
  std::vector<std::byte> constants;
  struct Resident {
    std::string name;
    TensorType type;
    const void* elements;
  };
  std::vector<Resident> residents;
  PlanReport report;
  std::string text;

  bool changes_state() const;
};

// What `outputs` and `updates` need is computed; all else is dropped. Constant parts are computed by the host in any
// case. `communicator`: of the ranks that all_reduce sums over; null: one rank.
std::unique_ptr<Program::Plan> make_plan(const Graph& graph, const std::vector<std::pair<std::string, Value>>& outputs,
                                         const std::vector<std::pair<Value, Value>>& updates, Device* device,
                                         std::shared_ptr<Communicator> communicator = nullptr);

}  // namespace jari
