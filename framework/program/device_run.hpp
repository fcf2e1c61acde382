#pragma once
// Runs a plan on a device, all trials of a step at once. A step is recorded once and replayed from then on; the host
// fills the next step's inputs meanwhile.

#include <map>
#include <mutex>

#include "framework/program/addresses.hpp"
#include "framework/program/plan.hpp"

namespace jari {

class DeviceRun {
 public:
  DeviceRun(const Program::Plan& plan, std::shared_ptr<Device> device);
  ~DeviceRun();

  // As Program::run(). One call at a time: others wait.
  void run(State& state, std::span<const int> trials, std::int64_t begin, std::int64_t end, const Program::Hooks& hooks,
           ThreadPool& pool, Observer* observer);

  // Bytes of the device that `trials` trials at once take, without their state.
  std::size_t bytes(int trials) const;
  Program::DeviceSteps steps() const { return steps_; }
  void leave();

  class Session;  // device_session.hpp

 private:
  // Trials that the device's free memory holds at once, at least one.
  int trials_at_once(int wanted) const;
  Session& session(int count, const std::vector<std::string>& finite);

  const Program::Plan& plan_;
  std::shared_ptr<Device> device_;
  std::mutex mutex_;
  std::unique_ptr<Session> session_;  // of the last call: most calls want the same again
  Program::DeviceSteps steps_;
};

}  // namespace jari
