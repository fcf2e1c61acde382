#pragma once
// all_reduce where a program is one of several ranks.

#include <memory>

#include "framework/backend/communicator.hpp"

namespace jari {

class SumOverRanks final : public DeviceKernel {
 public:
  SumOverRanks(std::shared_ptr<Communicator> communicator, const TensorType& type)
      : communicator_(std::move(communicator)), count_(type.shape.size()), dtype_(type.dtype) {}

  void launch(const DeviceArguments& arguments, DeviceQueue& queue) const override {
    for (int trial = 0; trial < arguments.trials; ++trial) {
      communicator_->all_reduce_sum(at(arguments.outputs[0], trial), at(arguments.inputs[0], trial), count_, dtype_,
                                    queue);
    }
  }

 private:
  static std::byte* at(const DeviceOperand& operand, int trial) {
    return static_cast<std::byte*>(operand.data) + static_cast<std::size_t>(trial) * operand.stride;
  }

  std::shared_ptr<Communicator> communicator_;
  std::int64_t count_;
  DType dtype_;
};

}  // namespace jari
