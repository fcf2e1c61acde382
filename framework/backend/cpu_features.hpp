#pragma once
// What the kernels use of this CPU, beside kernel.hpp's cpu_description().

#include <string>

namespace jari {

// The most that the library behind the matrix products uses here: "AVX2", "AVX-512 with AMX".
std::string cpu_backend_instructions();

}  // namespace jari
