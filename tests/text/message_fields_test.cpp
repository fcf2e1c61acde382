#include "framework/text/message_fields.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace jari {
namespace {

// "1:ab 2:", and "!" where the bytes are no message.
std::string fields(std::string_view message) {
  std::string result;
  const bool whole = visit_fields(message, [&](std::uint64_t number, std::string_view bytes) {
    result += fmt::format("{}:{} ", number, bytes);
    return bytes != "stop";
  });
  return result + (whole ? "" : "!");
}

TEST(MessageFields, AreThoseOfBytesAmongOthers) {
  EXPECT_EQ(fields(""), "");
  EXPECT_EQ(fields("\x0A\x02"
                   "ab\x12" +
                   std::string(1, '\0')),
            "1:ab 2: ");
  EXPECT_EQ(fields("\x08\x96\x01"
                   "\x15"
                   "four"
                   "\x19"
                   "12345678"
                   "\x0A\x01"
                   "a"),
            "1:a ")
      << "numbers are skipped";
  EXPECT_EQ(fields("\xC2\x0C\x01"
                   "a"),
            "200:a ");
}

TEST(MessageFields, EndWhereTheBytesAreNoMessage) {
  EXPECT_EQ(fields("\x0A\x05"
                   "ab"),
            "!")
      << "cut short";
  EXPECT_EQ(fields("\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"), "!");
  EXPECT_EQ(fields("\x0A\x01"
                   "a\x0A"),
            "1:a !");
  EXPECT_EQ(fields("\x08\xFF"), "!");
  EXPECT_EQ(fields("\x0B\x0C"), "!") << "a group";
  EXPECT_EQ(fields("\x0A\x04"
                   "stop\x0A\x01"
                   "a"),
            "1:stop !")
      << "as soon as asked to";
}

}  // namespace
}  // namespace jari
