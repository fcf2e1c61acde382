#include "framework/backend/cuda/kernel_table.hpp"

#include <fmt/format.h>

#include <map>
#include <string>

#include "framework/backend/cuda/step_kernels.hpp"
#include "framework/base/error.hpp"

namespace jari {

// Not through cuda_kernel.hpp, which needs <jari_simt.hpp>.
#define JARI_OP(name) std::unique_ptr<DeviceKernel> make_cuda_##name(const KernelRequest& request);
#include "framework/ops/ops.def"
#undef JARI_OP

namespace cuda {

// By name, since this is also part of a module, whose ops are not at the program's addresses.
std::unique_ptr<DeviceKernel> make_kernel_of(const KernelRequest& request) {
  using Make = std::unique_ptr<DeviceKernel> (*)(const KernelRequest&);
  static const std::map<std::string, Make> table = {
#define JARI_OP(name) {#name, make_cuda_##name},
#include "framework/ops/ops.def"
#undef JARI_OP
  };
  const auto found = table.find(request.op->name);
  if (found == table.end()) throw DeviceError(fmt::format("{}: CUDA has no kernel for this op", request.op->name));
  return found->second(request);
}

std::unique_ptr<DeviceKernel> make_joint_kernel_of(const std::vector<KernelRequest>& requests) {
  const std::string name = requests.front().op->name;
  return name == "adam_update" ? make_joint_adam_update(requests) : nullptr;
}

}  // namespace cuda
}  // namespace jari
