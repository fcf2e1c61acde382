#pragma once
// A kernel for the element type that is asked for. Kernels of all devices are made here, so nvcc reads this too, and
// does not take fmt's headers.

#include <cstdint>
#include <string>

#include "framework/backend/kernel.hpp"
#include "framework/base/error.hpp"

namespace jari {

// What errors call the device, by the kind of its kernels (Kernel, DeviceKernel): `static constexpr const char* text`.
// Each backend says its own.
template <class AnyKernel>
struct DeviceName;

template <class AnyKernel>
[[noreturn]] void refuse(const KernelRequest& request, DType dtype) {
  throw DeviceError(std::string(request.op->name) + ": " + DeviceName<AnyKernel>::text +
                    " has no kernel for elements of type " + name_of(dtype));
}

// `make.template operator()<T>()`, a pointer to a kernel, for T = float or double; DeviceError for another element
// type.
template <class Make>
auto for_real(const KernelRequest& request, DType dtype, const Make& make) {
  using Pointer = decltype(make.template operator()<float>());
  switch (dtype) {
    case DType::f32:
      return make.template operator()<float>();
    case DType::f64:
      return make.template operator()<double>();
    default:
      refuse<typename Pointer::element_type>(request, dtype);
  }
}

// The same for float, double and std::int32_t.
template <class Make>
auto for_number(const KernelRequest& request, DType dtype, const Make& make) {
  if (dtype == DType::i32) return make.template operator()<std::int32_t>();
  return for_real(request, dtype, make);
}

// The same for all element types; a boolean is a std::uint8_t.
template <class Make>
auto for_any(const KernelRequest& request, DType dtype, const Make& make) {
  if (dtype == DType::boolean) return make.template operator()<std::uint8_t>();
  return for_number(request, dtype, make);
}

}  // namespace jari
