#include "framework/text/byte_alphabet.hpp"

#include "framework/text/unicode.hpp"

namespace jari {
namespace {

constexpr std::size_t kCharacters = 0x144;

struct Tables {
  std::array<int, kCharacters> byte_of;  // by code point, or -1
  std::array<char32_t, 256> character_of{};
  std::array<unsigned char, 256> order{};

  Tables() {
    byte_of.fill(-1);
    char32_t next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      const char32_t character = printable ? static_cast<char32_t>(byte) : next++;
      byte_of[character] = byte;
      character_of[static_cast<std::size_t>(byte)] = character;
    }
    std::size_t count = 0;
    for (const int byte : byte_of) {
      if (byte >= 0) order[count++] = static_cast<unsigned char>(byte);
    }
  }
};

const Tables& tables() {
  static const Tables made;
  return made;
}

}  // namespace

const std::array<unsigned char, 256>& byte_alphabet_order() { return tables().order; }

std::string byte_alphabet_encode(std::string_view bytes) {
  std::string characters;
  for (const char byte : bytes) append_utf8(tables().character_of[static_cast<unsigned char>(byte)], characters);
  return characters;
}

std::optional<std::string> byte_alphabet_decode(std::string_view characters) {
  std::string bytes;
  for (std::size_t offset = 0; offset < characters.size();) {
    const char32_t c = next_code_point(characters, offset);
    const int byte = c < kCharacters ? tables().byte_of[c] : -1;
    if (byte < 0) return std::nullopt;
    bytes += static_cast<char>(static_cast<unsigned char>(byte));
  }
  return bytes;
}

}  // namespace jari
