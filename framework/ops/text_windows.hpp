#pragma once
// Windows of a text, which stays where it is.

#include <cstdint>

namespace jari {

struct TextWindowsAttributes {
  std::int64_t length = 0;  // tokens a window
  std::int64_t end = 0;     // of the part of the text that counts
  template <class F>
  void fields(F& f) {
    f("length", length);
    f("end", end);
  }
};

}  // namespace jari
