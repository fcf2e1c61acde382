#include "framework/store/hdf5_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <thread>

#include "framework/base/error.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"

namespace jari {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr const char* kIfDamaged =
    "; if the file is damaged, remove it and run again, or rebuild it with 'jari repair'";

class Hdf5 : public testing::Test {
 protected:
  Hdf5File reopened(Hdf5File& file) const {
    file.save();
    return Hdf5File::open(path_);
  }
  template <class Action>
  static std::string error_of(const Action& action) {
    return test::error_of<StoreError>(action);
  }

  test::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "a.h5";
};

template <class T>
void expect_round_trip(const std::filesystem::path& path, Hdf5Element element, const std::vector<T>& values) {
  const Hdf5Shape shape{2, static_cast<std::int64_t>(values.size()) / 2, 1};
  Hdf5File file = Hdf5File::create(path);
  file.write("group/array", shape, values);
  file.save();
  const Hdf5File stored = Hdf5File::open(path);
  EXPECT_EQ(stored.element("group/array"), element);
  EXPECT_EQ(stored.shape("/group/array"), shape);
  const auto array = stored.read<T>("group/array");
  EXPECT_EQ(array.shape, shape);
  EXPECT_EQ(array.values, values);
}

TEST_F(Hdf5, KeepsArraysOfEveryElement) {
  expect_round_trip<float>(path_, Hdf5Element::f32, {0.1F, -2, 3e38F, std::numeric_limits<float>::infinity()});
  expect_round_trip<double>(path_, Hdf5Element::f64, {0.1, -2, 1e308, 5e-324});
  expect_round_trip<std::int32_t>(path_, Hdf5Element::i32, {-1, 2, 2147483647, 0});
  expect_round_trip<std::int64_t>(path_, Hdf5Element::i64, {-1, 2, std::int64_t{1} << 62, 0});
  expect_round_trip<std::uint8_t>(path_, Hdf5Element::u8, {0, 1, 128, 255});
  expect_round_trip<std::string>(path_, Hdf5Element::string, {"", "물리학", "a b", std::string(5000, 'x')});
}

TEST_F(Hdf5, KeepsSingleValuesAndEmptyArrays) {
  Hdf5File file = Hdf5File::create(path_);
  file.write("number", {}, std::vector<double>{1.5});
  file.write_text("text", "자리\n");
  file.write("none", {0, 3}, std::vector<float>{});
  file.write("no_texts", {0}, std::vector<std::string>{});
  const Hdf5File stored = reopened(file);
  EXPECT_THAT(stored.shape("number"), IsEmpty());
  EXPECT_THAT(stored.read<double>("number").values, ElementsAre(1.5));
  EXPECT_EQ(stored.read_text("text"), "자리\n");
  EXPECT_THAT(stored.read<float>("none").shape, ElementsAre(0, 3));
  EXPECT_THAT(stored.read<std::string>("no_texts").values, IsEmpty());
}

TEST_F(Hdf5, KeepsAttributesOfEveryType) {
  const std::vector<std::pair<std::string, Hdf5Attribute>> attributes{
      {"yes", true},
      {"no", false},
      {"integer", std::int64_t{-5}},
      {"seed", std::numeric_limits<std::uint64_t>::max()},
      {"number", 0.1},
      {"text", std::string("자리")},
      {"empty", std::string()},
      {"axes", std::vector<std::string>{"token", "width"}},
      {"shape", std::vector<std::int64_t>{3, 4}}};
  Hdf5File file = Hdf5File::create(path_);
  file.write_text("group/text", "x");
  for (const char* object : {"", "group", "group/text"})
    for (const auto& [name, value] : attributes) file.set_attribute(object, name, value);
  const Hdf5File stored = reopened(file);
  for (const char* object : {"", "group", "/group/text"}) {
    for (const auto& [name, value] : attributes) EXPECT_EQ(stored.attribute(object, name), value) << object << name;
    EXPECT_EQ(stored.attribute(object, "other"), std::nullopt);
  }
  EXPECT_THAT(stored.attribute_names("group"),
              ElementsAre("yes", "no", "integer", "seed", "number", "text", "empty", "axes", "shape"));
}

TEST_F(Hdf5, ListsMembersInTheOrderOfTheirMaking) {
  Hdf5File file = Hdf5File::create(path_);
  for (const char* name : {"b/gap_10/mean", "b/gap_2/mean", "a", "b/first"})
    file.write(name, {}, std::vector<double>{1});
  file.make_group("empty/inner");
  const Hdf5File stored = reopened(file);
  EXPECT_THAT(stored.children(""), ElementsAre("b", "a", "empty"));
  EXPECT_THAT(stored.arrays_below("b"), ElementsAre("gap_10/mean", "gap_2/mean", "first"));
  EXPECT_THAT(stored.arrays_below(""), ElementsAre("b/gap_10/mean", "b/gap_2/mean", "b/first", "a"));
  EXPECT_THAT(stored.children("missing"), IsEmpty());
  EXPECT_TRUE(stored.is_group("empty/inner"));
  EXPECT_TRUE(stored.exists("b/gap_2"));
  EXPECT_FALSE(stored.exists("b/gap_3/mean"));
  EXPECT_FALSE(stored.is_group("a"));
}

TEST_F(Hdf5, ReadsTheNumbersOfAGroupInOneGo) {
  Hdf5File file = Hdf5File::create(path_);
  file.write("b/late/value", {2}, std::vector<double>{1, 2.5});
  file.write("b/late/step", {2}, std::vector<std::int64_t>{10, 1LL << 52});
  file.write("b/alone", {}, std::vector<float>{0.5F});
  file.write("b/none", {0}, std::vector<double>{});
  file.write("b/table", {1, 1}, std::vector<double>{1});
  file.write("b/text", {1}, std::vector<std::string>{"x"});
  const Hdf5File stored = reopened(file);
  EXPECT_THAT(stored.numbers_below("b", 1),
              ElementsAre(Pair("late/value", ElementsAre(1, 2.5)), Pair("late/step", ElementsAre(10, 0x1p52)),
                          Pair("alone", ElementsAre(0.5)), Pair("none", IsEmpty())));
  EXPECT_THAT(stored.numbers_below("b", 0), ElementsAre(Pair("alone", ElementsAre(0.5))));
  EXPECT_THAT(stored.numbers_below("missing", 1), IsEmpty());
}

TEST_F(Hdf5, RefusesValuesThatDoNotFillTheShape) {
  Hdf5File file = Hdf5File::create(path_);
  EXPECT_EQ(error_of([&] {
              file.write("a/b", {2, 3}, std::vector<float>(5));
            }),
            path_.string() + ": /a/b: 5 values do not fill the shape [2, 3], which needs 6");
}

TEST_F(Hdf5, RefusesTextsThatItWouldCut) {
  Hdf5File file = Hdf5File::create(path_);
  EXPECT_EQ(error_of([&] { file.write_text("a", std::string("x\0y", 3)); }),
            path_.string() + ": /a: a text holds a NUL character, which HDF5 strings can not; escape it");
}

TEST_F(Hdf5, RefusesToReadWhatIsOfAnotherKind) {
  Hdf5File file = Hdf5File::create(path_);
  file.write("numbers", {2}, std::vector<double>{1, 2});
  file.write("texts", {2}, std::vector<std::string>{"a", "b"});
  file.set_attribute("", "text", std::string("x"));
  const Hdf5File stored = reopened(file);
  EXPECT_EQ(error_of([&] { stored.read<float>("numbers"); }),
            path_.string() + ": /numbers: can not read the array: it holds f64 values, expected f32" + kIfDamaged);
  EXPECT_EQ(error_of([&] { stored.read_text("texts"); }),
            path_.string() + ": /texts: can not read the text: it holds 2 texts, expected one" + kIfDamaged);
  EXPECT_EQ(error_of([&] { stored.integer_attribute("", "text"); }),
            path_.string() + ": /: can not read the attribute 'text': expected a whole number" + kIfDamaged);
  EXPECT_EQ(error_of([&] { stored.text_attribute("", "other"); }),
            path_.string() + ": /: can not read the attribute 'other': it is missing" + kIfDamaged);
  EXPECT_THAT(error_of([&] { stored.read<float>("missing"); }),
              testing::StartsWith(path_.string() + ": /missing: can not open the array: "));
}

TEST_F(Hdf5, RefusesAGroupWhereAnArrayIs) {
  Hdf5File file = Hdf5File::create(path_);
  file.write("loss", {}, std::vector<double>{1});
  EXPECT_EQ(error_of([&] { file.write("loss/step", {}, std::vector<double>{1}); }),
            path_.string() + ": /loss: can not make the group: /loss is an array, not a group" + kIfDamaged);
  EXPECT_THAT(error_of([&] { file.write("loss", {}, std::vector<double>{1}); }),
              HasSubstr(": /loss: can not make the array: "));
}

TEST_F(Hdf5, SaysThatAFileIsMissingOrNoHdf5File) {
  EXPECT_EQ(error_of([&] { Hdf5File::open(path_); }),
            path_.string() + ": can not read: No such file or directory; make the folder first, or correct the path");
  EXPECT_EQ(error_of([&] { Hdf5File::open(folder_.path()); }),
            folder_.path().string() +
                ": can not read: Is a directory; it is a folder where a file should be: correct the path");
  std::ofstream(path_) << "experiment: extrapolate\n";
  EXPECT_EQ(error_of([&] { Hdf5File::open(path_); }),
            path_.string() + ": can not read: it is not an HDF5 file" + kIfDamaged);
}

TEST_F(Hdf5, SaysThatAFileIsTruncated) {
  Hdf5File file = Hdf5File::create(path_);
  file.write("numbers", {1000}, std::vector<double>(1000, 1.0));
  file.save();
  const auto size = std::filesystem::file_size(path_);
  std::filesystem::resize_file(path_, size / 2);
  const std::string error = error_of([&] { Hdf5File::open(path_); });
  EXPECT_THAT(error, testing::StartsWith(path_.string() + ": can not read: truncated file"));
  EXPECT_THAT(error, HasSubstr(kIfDamaged));
}

TEST_F(Hdf5, NoticesDamagedBytes) {
  Hdf5File file = Hdf5File::create(path_);
  file.write("texts", {2}, std::vector<std::string>{"x", "y"});
  file.save();
  const std::string whole = test::read_text(path_);
  for (std::size_t i = 0; i < whole.size(); i += 31) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    std::ofstream(path_, std::ios::binary) << damaged;
    EXPECT_NE(error_of([&] { Hdf5File::open(path_, Hdf5File::Checksum::must_be_there); }), "no error") << "byte " << i;
  }
  std::string damaged = whole;
  damaged[whole.size() / 2] ^= 1;
  std::ofstream(path_, std::ios::binary) << damaged;
  EXPECT_EQ(error_of([&] { Hdf5File::open(path_); }),
            path_.string() + ": can not read: its checksum does not match" + kIfDamaged);
}

TEST_F(Hdf5, LeavesNoFileWhenItCanNotBeSaved) {
  Hdf5File file = Hdf5File::create(folder_.path() / "missing" / "a.h5");
  EXPECT_THAT(error_of([&] { file.save(); }), HasSubstr("a.h5: can not write: No such file or directory"));
}

TEST_F(Hdf5, MayBeUsedByManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      const auto path = folder_.path() / (std::to_string(t) + ".h5");
      for (int round = 0; round < 5; ++round) {
        Hdf5File file = Hdf5File::create(path);
        file.write("a/b", {1}, std::vector<std::string>{std::to_string(t)});
        file.save();
        EXPECT_THAT(Hdf5File::open(path).read<std::string>("a/b").values, ElementsAre(std::to_string(t)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace jari
