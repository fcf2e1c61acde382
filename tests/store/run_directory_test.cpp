#include "framework/store/run_directory.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <future>

#include "framework/base/error.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"

namespace jari {
namespace {

TEST(TrialLabel, NamesEachKeyByItsLastPart) {
  EXPECT_EQ(trial_label({{"model.position", "rel"}, {"seed", "42"}}), "position=rel,seed=42");
  EXPECT_EQ(trial_label({}), "");
}

TEST(TrialLabel, TakesMorePartsWhereTheLastOneIsNotEnough) {
  EXPECT_EQ(trial_label({{"model.encoder.width", "8"}, {"model.decoder.width", "16"}, {"seed", "1"}}),
            "encoder.width=8,decoder.width=16,seed=1");
  EXPECT_EQ(trial_label({{"width", "8"}, {"model.width", "16"}}), "width=8,model.width=16");
}

TEST(TrialLabel, HasOnlySafeCharacters) {
  EXPECT_EQ(trial_label({{"data.corpus", "../a b/물.txt"}, {"lr", "1e-3"}}), "corpus=.._a_b__.txt,lr=1e-3");
}

TEST(TrialLabel, IsOfBoundedLength) { EXPECT_EQ(trial_label({{"key", std::string(500, 'x')}}).size(), 100U); }

TEST(TrialFolderName, EndsInSixDigitsOfTheHash) {
  EXPECT_EQ(trial_folder_name("position=rel,seed=42", "3fa9c1d20011"), "position=rel,seed=42-3fa9c1");
  EXPECT_EQ(trial_folder_name("", "3fa9c1d20011"), "trial-3fa9c1");
}

TEST(RunLock, KeepsASecondWriterOut) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "extrapolate" / "trial";
  {
    const RunLock lock(path);
    EXPECT_EQ(test::error_of<StoreError>([&] { RunLock second(path); }),
              path.string() + ": another jari process is writing this folder; wait until it has ended, or stop it");
  }
  EXPECT_EQ(test::error_of<StoreError>([&] { RunLock second(path); }), "no error");
}

TEST(RunLock, MayWaitForTheFirst) {
  const test::TemporaryFolder folder;
  auto first = std::make_unique<RunLock>(folder.path());
  auto second = std::async(std::launch::async, [&] { RunLock lock(folder.path(), RunLock::IfHeld::wait); });
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  first.reset();
  second.get();
}

TEST(RunLock, MovesWithItsOwner) {
  const test::TemporaryFolder folder;
  RunLock lock(folder.path());
  {
    const RunLock moved = std::move(lock);
    EXPECT_NE(test::error_of<StoreError>([&] { RunLock second(folder.path()); }), "no error");
  }
  EXPECT_EQ(test::error_of<StoreError>([&] { RunLock second(folder.path()); }), "no error");
}

TEST(RunLock, RemovesTheTemporaryFilesOfAKilledProcess) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "run.h5.17.tmp") << "half";
  std::ofstream(folder.path() / "run.h5") << "whole";
  const RunLock lock(folder.path());
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "run.h5.17.tmp"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "run.h5"));
}

TEST(RunLock, NeedsAFolder) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "x";
  EXPECT_EQ(test::error_of<StoreError>([&] { RunLock lock(folder.path() / "file" / "trial"); }),
            (folder.path() / "file" / "trial").string() +
                ": can not make the folder: Not a directory; a part of the path is a file where a folder should be: "
                "correct the path");
}

}  // namespace
}  // namespace jari
