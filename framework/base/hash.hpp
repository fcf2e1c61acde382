#pragma once
// Hashes: 128 bits for identities (a trial, a file), 64 bits for checksums and random streams. Both are XXH3.

#include <cstdint>
#include <string>
#include <string_view>

namespace jari {

std::uint64_t hash64(std::string_view bytes);
std::string hash128_hex(std::string_view bytes);  // 32 lower-case hexadecimal digits

}  // namespace jari
