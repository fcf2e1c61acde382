#include "framework/backend/cuda/kernel_table.hpp"

#include <fmt/format.h>

#include <map>
#include <string>

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

}  // namespace cuda
}  // namespace jari
