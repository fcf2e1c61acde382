// Stands for the CPU backend in fuzz targets, which build graphs and run none.

#include "framework/backend/cpu_features.hpp"
#include "framework/backend/kernel.hpp"
#include "framework/base/error.hpp"

namespace jari {

std::unique_ptr<Kernel> make_cpu_kernel(const KernelRequest&) { throw DeviceError("fuzz targets have no kernels"); }
std::string cpu_backend_version() { return "none"; }
std::string cpu_backend_instructions() { return "none"; }
std::string cpu_description() { return "none"; }

}  // namespace jari
