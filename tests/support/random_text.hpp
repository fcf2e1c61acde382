#pragma once
// Random text of many scripts, with the white space, marks and signs that tokenizers stumble over.

#include <random>
#include <string>

namespace jari::test {

// Valid UTF-8 of up to `most` code points.
inline std::string random_text(std::mt19937& random, int most) {
  using namespace std::string_literals;
  static const std::u32string characters =
      U"abcXYZ' 's'll 're  \t\n\n .,!?-_()1290½²٣中文字가나다라힣ᄀ가각éa\u0301ñßДжאבגहि한국어日本"
      U"🙂👩‍👩‍👧🇰🇷\u00A0\u2003\u3000\u0085\u200B\uFEFFŒ\U0001D400\U00020000\u0000\u007F"s;
  std::uniform_int_distribution<int> length(0, most);
  std::uniform_int_distribution<std::size_t> index(0, characters.size() - 1);
  std::string text;
  for (int i = length(random); i > 0; --i) {
    const char32_t c = characters[index(random)];
    if (c < 0x80) {
      text += static_cast<char>(c);
    } else if (c < 0x800) {
      text += {static_cast<char>(0xC0 | (c >> 6)), static_cast<char>(0x80 | (c & 0x3F))};
    } else if (c < 0x10000) {
      text += {static_cast<char>(0xE0 | (c >> 12)), static_cast<char>(0x80 | ((c >> 6) & 0x3F)),
               static_cast<char>(0x80 | (c & 0x3F))};
    } else {
      text += {static_cast<char>(0xF0 | (c >> 18)), static_cast<char>(0x80 | ((c >> 12) & 0x3F)),
               static_cast<char>(0x80 | ((c >> 6) & 0x3F)), static_cast<char>(0x80 | (c & 0x3F))};
    }
  }
  return text;
}

}  // namespace jari::test
