#pragma once
// What the kernels use of this CPU.

#include <string>

namespace jari {

// "compiled for AVX2, FMA; oneDNN uses AVX-512 with AMX".
std::string cpu_instruction_sets();

}  // namespace jari
