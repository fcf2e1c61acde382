#include "framework/base/table.hpp"

#include <gtest/gtest.h>

namespace jari {
namespace {

TEST(TextTable, AlignsByDisplayWidth) {
  TextTable table({{"word"}, {"count", Align::right}, {"note"}});
  table.add_row({"물리학", "12", "자리"});
  table.add_row({"the", "3400", ""});
  table.add_row({"e\xcc\x81t\xc3\xa9", "7", "combining"});  // an accent takes no column
  EXPECT_EQ(table.text(),
            "word    count  note\n"
            "------  -----  ---------\n"
            "물리학     12  자리\n"
            "the      3400\n"
            "e\xcc\x81t\xc3\xa9         7  combining\n");
}

TEST(TextTable, WithoutRowsIsItsHeader) {
  EXPECT_EQ(TextTable({{"key"}, {"n", Align::right}}).text(), "key  n\n---  -\n");
}

}  // namespace
}  // namespace jari
