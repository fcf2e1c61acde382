// Reader of tokenizer.json: the input is the file, and behind a NUL a text to encode. What is read gives every text ids
// of its own pieces, always the same, and a text for them.

#include <algorithm>
#include <string>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/text/subword.hpp"
#include "tests/fuzz/expect.hpp"

namespace jari::fuzz {
namespace {

using Ids = std::vector<std::int32_t>;

// Ids of the text, or what is wrong with the file.
std::string outcome(std::string_view file, std::string_view text) {
  std::string result;
  try {
    const Subword tokenizer = Subword::read(file, "tokenizer.json");
    Ids ids;
    tokenizer.encode(text, TextPlace::beginning, ids);
    for (const std::int32_t id : ids) {
      expect(id >= 0 && static_cast<std::size_t>(id) < tokenizer.pieces().size(), "ids are of pieces");
      result += std::to_string(id) + " ";
    }
    return result + tokenizer.decode(ids);
  } catch (const StoreError& error) {
    return error.what();
  }
}

}  // namespace
}  // namespace jari::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(input.find('\0'), size);
  const std::string own = jari::as_utf8(input.substr(std::min(end + 1, size)));  // texts are UTF-8
  for (const std::string& text : {own, std::string(" The  caf\u00E9's 12,\n\u314Bab <x>\u0301 \u2581\u4E2D")}) {
    const std::string_view file = input.substr(0, end);
    jari::fuzz::expect(jari::fuzz::outcome(file, text) == jari::fuzz::outcome(file, text),
                       "equal files give equal ids");
  }
  return 0;
}
