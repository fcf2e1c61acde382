// Reader of SentencePiece's models: the input is the file. What is read gives every text ids of its own pieces, and a
// text for them.

#include "framework/text/sentence_piece.hpp"
#include "framework/base/error.hpp"
#include "tests/fuzz/expect.hpp"
#include "tests/fuzz/sealed_file.hpp"

namespace jari::fuzz {
namespace {

void check(std::string_view bytes) {
  try {
    const SentencePiece model(write_scratch("a.model", bytes));
    std::vector<std::int32_t> ids;
    for (const char* text : {" The  caf\u00E9's 12, ab \u314B", "\uD559\uAD50\uC5D0\uC11C\uB294 \u2581 banana", ""})
      model.encode(text, TextPlace::beginning, ids);
    for (const std::int32_t id : ids)
      expect(id >= 0 && static_cast<std::size_t>(id) < model.pieces().size(), "ids are of pieces");
    for (std::size_t id = 0; id < model.pieces().size(); ++id) ids.push_back(static_cast<std::int32_t>(id));
    model.decode(ids);
  } catch (const StoreError&) {
  }
}

}  // namespace
}  // namespace jari::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  jari::fuzz::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
