#include "framework/program/joint_calls.hpp"

#include <algorithm>

namespace jari {
namespace {

bool has(const std::vector<Location>& locations, const Location& wanted) {
  return std::find(locations.begin(), locations.end(), wanted) != locations.end();
}

// Calls that may go together: [first, last).
class Run {
 public:
  Run(const std::vector<KernelCall>& calls, const std::vector<KernelRequest>& requests, std::size_t first)
      : calls_(calls), requests_(requests), first_(first), last_(first + 1) {
    while (last_ < calls.size() && joins(last_)) ++last_;
  }
  std::size_t last() const { return last_; }

 private:
  // What lies in the arena may take the place of another's operand that is dead by then, so outputs are of the state.
  bool joins(std::size_t next) const {
    const KernelCall &call = calls_[next], &head = calls_[first_];
    if (requests_[next].op != requests_[first_].op || !requests_[next].op->steps || requests_[next].op->settles)
      return false;
    if (call.attributes != head.attributes || call.output_types[0].dtype != head.output_types[0].dtype) return false;
    if (call.inputs.back() != head.inputs.back()) return false;  // the step
    for (std::size_t i = first_; i <= next; ++i) {
      const std::vector<Location>& outputs = calls_[i].outputs;
      const auto is_apart = [&](const Location& output) {
        const bool is_state = output.region == Region::state;
        return is_state && (i == next || (!has(call.inputs, output) && !has(call.outputs, output)));
      };
      if (!std::all_of(outputs.begin(), outputs.end(), is_apart)) return false;
      const auto is_read = [&](const Location& output) { return i != next && has(calls_[i].inputs, output); };
      if (std::any_of(call.outputs.begin(), call.outputs.end(), is_read)) return false;
    }
    return true;
  }

  const std::vector<KernelCall>& calls_;
  const std::vector<KernelRequest>& requests_;
  std::size_t first_, last_;
};

}  // namespace

std::vector<Program::Plan::Joint> joint_calls(const std::vector<KernelCall>& calls,
                                              const std::vector<KernelRequest>& requests, Device& device) {
  std::vector<Program::Plan::Joint> joints;
  for (std::size_t first = 0, last; first < calls.size(); first = last) {
    last = Run(calls, requests, first).last();
    if (last - first < 2) continue;
    const auto begin = requests.begin() + static_cast<std::ptrdiff_t>(first);
    Program::Plan::Joint joint{
        first, last, device.make_joint_kernel({begin, begin + static_cast<std::ptrdiff_t>(last - first)}), {}, {}};
    if (!joint.kernel) continue;
    for (std::size_t i = first; i < last; ++i) {
      joint.inputs.insert(joint.inputs.end(), calls[i].inputs.begin(), calls[i].inputs.end());
      joint.outputs.insert(joint.outputs.end(), calls[i].outputs.begin(), calls[i].outputs.end());
    }
    joints.push_back(std::move(joint));
  }
  return joints;
}

}  // namespace jari
