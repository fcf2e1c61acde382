#include "framework/store/checkpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "framework/base/error.hpp"
#include "framework/store/hdf5_file.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"

namespace jari {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

Checkpoint example(std::int64_t step) {
  Checkpoint checkpoint;
  checkpoint.step = step;
  checkpoint.trial = "3fa9c1";
  checkpoint.tensors.push_back({"model/embedding", "f32", {2, 3}, std::vector<std::uint8_t>(24, 0x7f)});
  checkpoint.tensors.push_back({"optimizer/steps", "i64", {}, {1, 2, 3, 4, 5, 6, 7, 8}});
  checkpoint.tensors.push_back({"model/none", "bf16", {0, 4}, {}});
  checkpoint.numbers = {{"best", 0.1}, {"worst", std::numeric_limits<double>::infinity()}, {"patience", -0.0}};
  return checkpoint;
}

class CheckpointFiles : public testing::Test {
 protected:
  void damage(const std::filesystem::path& path) const {
    std::string bytes = test::read_text(path);
    bytes[bytes.find("\x7f\x7f\x7f\x7f\x7f\x7f")] ^= 1;  // one bit of a tensor
    std::ofstream(path, std::ios::binary) << bytes;
  }

  test::TemporaryFolder folder_;
  std::filesystem::path newest_ = folder_.path() / "checkpoint.h5";
  std::filesystem::path previous_ = folder_.path() / "checkpoint.previous.h5";
};

TEST_F(CheckpointFiles, GiveBackEveryByte) {
  write_checkpoint(folder_.path(), example(500));
  const Checkpoint stored = read_checkpoint(newest_, "3fa9c1");
  EXPECT_EQ(stored, example(500));
  EXPECT_TRUE(std::signbit(stored.numbers.at("patience")));
  ASSERT_NE(stored.find("optimizer/steps"), nullptr);
  EXPECT_EQ(stored.find("optimizer/steps")->dtype, "i64");
  EXPECT_EQ(stored.find("other"), nullptr);
}

TEST_F(CheckpointFiles, KeepTheLastTwo) {
  for (const std::int64_t step : {500, 1000, 1500}) write_checkpoint(folder_.path(), example(step));
  EXPECT_EQ(read_checkpoint(newest_, "3fa9c1").step, 1500);
  EXPECT_EQ(read_checkpoint(previous_, "3fa9c1").step, 1000);
  const auto files = std::distance(std::filesystem::directory_iterator(folder_.path()), {});
  EXPECT_EQ(files, 2);
}

TEST_F(CheckpointFiles, KeepAsManyAsAsked) {
  const test::TemporaryFolder one, four;
  for (const std::int64_t step : {1, 2, 3, 4, 5}) {
    write_checkpoint(one.path(), example(step), 1);
    write_checkpoint(four.path(), example(step), 4);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(one.path()), {}), 1);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(four.path()), {}), 4);
  EXPECT_EQ(read_checkpoint(four.path() / "checkpoint.previous_3.h5", "3fa9c1").step, 2);
  remove_checkpoints(four.path());
  EXPECT_TRUE(std::filesystem::is_empty(four.path()));
}

TEST_F(CheckpointFiles, AreNotNeeded) {
  const CheckpointSearch search = find_checkpoint(folder_.path(), "3fa9c1");
  EXPECT_EQ(search.checkpoint, std::nullopt);
  EXPECT_THAT(search.damage, IsEmpty());
}

TEST_F(CheckpointFiles, FallBackToThePreviousOneAndNameTheDamage) {
  write_checkpoint(folder_.path(), example(500));
  write_checkpoint(folder_.path(), example(1000));
  damage(newest_);
  const CheckpointSearch search = find_checkpoint(folder_.path(), "3fa9c1");
  ASSERT_TRUE(search.checkpoint);
  EXPECT_EQ(*search.checkpoint, example(500));
  EXPECT_EQ(search.path, previous_);
  EXPECT_THAT(search.damage,
              ElementsAre(newest_.string() +
                          ": can not read: its checksum does not match; if the file is damaged, remove it and run "
                          "again, or rebuild it with 'jari repair'"));
}

TEST_F(CheckpointFiles, ThatAreAllDamagedGiveNone) {
  write_checkpoint(folder_.path(), example(500));
  write_checkpoint(folder_.path(), example(1000));
  damage(newest_);
  std::filesystem::resize_file(previous_, 1000);
  const CheckpointSearch search = find_checkpoint(folder_.path(), "3fa9c1");
  EXPECT_EQ(search.checkpoint, std::nullopt);
  EXPECT_THAT(search.damage, ElementsAre(StartsWith(newest_.string()), StartsWith(previous_.string())));
}

TEST_F(CheckpointFiles, SurviveAKillBetweenTheTwoRenames) {
  write_checkpoint(folder_.path(), example(500));
  std::filesystem::rename(newest_, previous_);
  std::ofstream(folder_.path() / "checkpoint.h5.1.tmp") << "half";
  const CheckpointSearch search = find_checkpoint(folder_.path(), "3fa9c1");
  ASSERT_TRUE(search.checkpoint);
  EXPECT_EQ(search.checkpoint->step, 500);
  EXPECT_THAT(search.damage, IsEmpty());
}

TEST_F(CheckpointFiles, NoticeAFlippedBit) {
  write_checkpoint(folder_.path(), example(500), 1);
  const std::string whole = test::read_text(newest_);
  for (std::size_t i = 0; i < whole.size(); i += 29) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    std::ofstream(newest_, std::ios::binary) << damaged;
    const CheckpointSearch search = find_checkpoint(folder_.path(), "3fa9c1");
    EXPECT_EQ(search.checkpoint, std::nullopt) << "byte " << i;
    EXPECT_THAT(search.damage, SizeIs(1)) << "byte " << i;
  }
}

TEST_F(CheckpointFiles, NoticeThatTheyAreCutAnywhere) {
  write_checkpoint(folder_.path(), example(500), 1);
  const std::string whole = test::read_text(newest_);
  for (std::size_t size = 0; size < whole.size(); size = size < whole.size() - 96 ? size + 97 : size + 1) {
    std::ofstream(newest_, std::ios::binary) << whole.substr(0, size);
    EXPECT_THAT(find_checkpoint(folder_.path(), "3fa9c1").damage, SizeIs(1)) << size << " bytes";
  }
}

TEST_F(CheckpointFiles, OfAnotherTrialAreRefused) {
  write_checkpoint(folder_.path(), example(500));
  const std::string expected = newest_.string() +
                               ": belongs to trial 3fa9c1, expected abcdef: the spec or a data file has changed; use "
                               "another folder, or start anew with --force";
  EXPECT_EQ(test::error_of<StoreError>([&] { read_checkpoint(newest_, "abcdef"); }), expected);
  EXPECT_EQ(test::error_of<StoreError>([&] { find_checkpoint(folder_.path(), "abcdef"); }), expected);
}

TEST_F(CheckpointFiles, OfAnotherKindAreRefused) {
  EXPECT_THAT(test::error_of<StoreError>([&] { read_checkpoint(newest_, "3fa9c1"); }),
              StartsWith(newest_.string() + ": can not read: No such file or directory"));
  Hdf5File::create(newest_).save();
  EXPECT_EQ(test::error_of<StoreError>([&] { read_checkpoint(newest_, "3fa9c1"); }),
            newest_.string() + ": is an HDF5 file, but no checkpoint of jari; correct the path");
}

TEST_F(CheckpointFiles, ThatCanNotBeWrittenLeaveTheOldOnesAlone) {
  write_checkpoint(folder_.path(), example(500));
  EXPECT_THAT(test::error_of<StoreError>([&] { write_checkpoint(newest_, example(1000)); }),
              HasSubstr("can not write: Not a directory"));
  EXPECT_EQ(find_checkpoint(folder_.path(), "3fa9c1").checkpoint, example(500));
}

}  // namespace
}  // namespace jari
