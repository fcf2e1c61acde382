#include "framework/base/stream_hash.hpp"

#include <gtest/gtest.h>

#include "framework/base/hash.hpp"

namespace jari {
namespace {

TEST(StreamHash, EqualsTheHashOfTheWholeHoweverItIsCut) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += static_cast<char>(i * 7);
  for (const std::size_t part : {1, 17, 255, 4096, 5000}) {
    StreamHash hash;
    for (std::size_t begin = 0; begin < text.size(); begin += part)
      hash.update(std::string_view(text).substr(begin, part));
    EXPECT_EQ(hash.hex(), hash128_hex(text)) << part;
  }
  EXPECT_EQ(StreamHash().hex(), hash128_hex(""));
}

}  // namespace
}  // namespace jari
