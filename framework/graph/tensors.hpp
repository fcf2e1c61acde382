#pragma once
// Named tensors in the host's memory.

#include <cstdint>
#include <span>
#include <string>

#include "framework/graph/tensor_type.hpp"

namespace jari {

// One trial's inputs or outputs, by name, while the program runs it.
class Tensors {
 public:
  virtual ~Tensors() = default;
  virtual const TensorType& type(const std::string& name) const = 0;
  virtual void* data(const std::string& name) const = 0;
  virtual bool has(const std::string& name) const = 0;
  template <class T>
  std::span<T> get(const std::string& name) const {
    return {static_cast<T*>(data(name)), static_cast<std::size_t>(type(name).shape.size())};
  }
  double scalar(const std::string& name) const;  // of any dtype
};

}  // namespace jari
