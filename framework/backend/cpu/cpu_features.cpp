#include "framework/backend/cpu_features.hpp"

#include <fmt/format.h>

#include <dnnl.hpp>
#include <vector>

namespace jari {
namespace {

const char* name_of(dnnl::cpu_isa isa) {
  switch (isa) {
    case dnnl::cpu_isa::sse41:
      return "SSE4.1";
    case dnnl::cpu_isa::avx:
      return "AVX";
    case dnnl::cpu_isa::avx2:
      return "AVX2";
    case dnnl::cpu_isa::avx2_vnni:
      return "AVX2 with VNNI";
    case dnnl::cpu_isa::avx512_core:
      return "AVX-512";
    case dnnl::cpu_isa::avx512_core_vnni:
      return "AVX-512 with VNNI";
    case dnnl::cpu_isa::avx512_core_bf16:
      return "AVX-512 with bf16";
    case dnnl::cpu_isa::avx512_core_amx:
      return "AVX-512 with AMX";
    default:
      return "what it finds";
  }
}

}  // namespace

std::string cpu_instruction_sets() {
  std::vector<const char*> compiled;
#ifdef __AVX512F__
  compiled.push_back("AVX-512");
#endif
#ifdef __AVX2__
  compiled.push_back("AVX2");
#endif
#ifdef __FMA__
  compiled.push_back("FMA");
#endif
  if (compiled.empty()) compiled.push_back("any CPU of its kind");
  return fmt::format("compiled for {}; oneDNN uses {}", fmt::join(compiled, ", "),
                     name_of(dnnl::get_effective_cpu_isa()));
}

}  // namespace jari
