#pragma once
// Unicode normalization (UAX 15): one sequence of code points for each text that looks the same.

#include <string>
#include <string_view>

namespace jari {

// `text` itself where it is in NFC already, as most text is: that costs one look at every code point. Otherwise its
// NFC, in `scratch`. The text is valid UTF-8.
std::string_view to_nfc(std::string_view text, std::string& scratch);

// NFKC: as NFC, and what is the same letter in another form (ﬁ, Ａ, ㎏) becomes one.
std::string to_nfkc(std::string_view text);

// The same two, with letters and their marks apart.
std::string to_nfd(std::string_view text);
std::string to_nfkd(std::string_view text);

}  // namespace jari
