#pragma once
// How GPT-2's files write bytes as printable characters: those that are printable in Latin-1 as themselves, the others
// as U+0100, U+0101 ... ("Ġ" is a space).

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace jari {

// The 256 bytes in the order of their characters, which is that of GPT-2's first 256 ids.
const std::array<unsigned char, 256>& byte_alphabet_order();

std::string byte_alphabet_encode(std::string_view bytes);

// Nothing if a character stands for no byte.
std::optional<std::string> byte_alphabet_decode(std::string_view characters);

}  // namespace jari
