#pragma once
// From the places of a plan to addresses: of the host, or of a device.

#include <string>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/program/plan.hpp"

namespace jari {

// Turns a Location into an address for one core and trial.
struct Addresses {
  std::byte* arena;
  std::byte* input;
  std::byte* constant;
  std::byte* state;
  const std::vector<std::size_t>* parameter_offsets;
  const std::vector<Program::Plan::Resident>* residents;

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
      case Region::resident:  // never an output, so never written to
        return static_cast<std::byte*>(const_cast<void*>((*residents)[location.offset].elements));
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

// Where this State keeps the program's parameters: its layout may hold more than the program knows. Throws ShapeError.
std::vector<std::size_t> parameter_offsets(const std::vector<std::pair<std::string, TensorType>>& parameters,
                                           const State& state);

// Name of the parameter or program input that lies there; "" for computed values and constants.
const char* leaf_name(const Program::Plan& plan, const Location& location);

}  // namespace jari
