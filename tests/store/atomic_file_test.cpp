#include "framework/store/atomic_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "framework/base/error.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"

namespace jari {
namespace {

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

TEST(AtomicFile, TakesThePlaceOfTheOldOne) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "a.txt";
  write_file_atomically(path, "old");
  write_file_atomically(path, std::string("new\0bytes", 9));
  EXPECT_EQ(test::read_text(path), std::string("new\0bytes", 9));
  EXPECT_THAT(names_in(folder.path()), testing::ElementsAre("a.txt"));
}

TEST(AtomicFile, IsNotThereBeforeItIsCommitted) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "a.txt";
  {
    AtomicFile file(path);
    file.write("half");
    file.sync();
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_THAT(names_in(folder.path()), testing::IsEmpty());
}

TEST(AtomicFile, LeavesTheOldOneAloneWhenTheDiskIsFull) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "a.txt";
  write_file_atomically(path, "old");
  // A limit on file sizes acts like a full disk; it is a process's own, so a child sets it.
  const auto write_too_much = [&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::string error = test::error_of<StoreError>([&] { write_file_atomically(path, std::string(5000, 'x')); });
    const std::string expected =
        path.string() +
        ": can not write: File too large; raise the limit on the size of files (ulimit -f) and run again: finished "
        "trials are kept";
    std::_Exit(error == expected ? 0 : 1);
  };
  EXPECT_EXIT(write_too_much(), testing::ExitedWithCode(0), "");
  EXPECT_EQ(test::read_text(path), "old");
  EXPECT_THAT(names_in(folder.path()), testing::ElementsAre("a.txt"));
}

TEST(AtomicFile, SaysWhatIsWrongWithThePath) {
  const test::TemporaryFolder folder;
  const auto missing = folder.path() / "no" / "a.txt";
  EXPECT_EQ(
      test::error_of<StoreError>([&] { write_file_atomically(missing, "x"); }),
      missing.string() + ": can not write: No such file or directory; make the folder first, or correct the path");

  std::ofstream(folder.path() / "file") << "x";
  const auto below_a_file = folder.path() / "file" / "a.txt";
  EXPECT_EQ(test::error_of<StoreError>([&] { write_file_atomically(below_a_file, "x"); }),
            below_a_file.string() +
                ": can not write: Not a directory; a part of the path is a file where a folder "
                "should be: correct the path");

  std::filesystem::create_directory(folder.path() / "folder");
  EXPECT_EQ(test::error_of<StoreError>([&] { write_file_atomically(folder.path() / "folder", "x"); }),
            (folder.path() / "folder").string() +
                ": can not write: Is a directory; it is a folder where a file should be: correct the path");
  EXPECT_THAT(names_in(folder.path()), testing::UnorderedElementsAre("file", "folder"));
}

TEST(AtomicFile, SaysThatAFolderIsReadOnly) {
  const auto path = std::filesystem::path("/proc/jari.txt");  // root may not write there either
  const std::string error = test::error_of<StoreError>([&] { write_file_atomically(path, "x"); });
  EXPECT_THAT(error, testing::StartsWith("/proc/jari.txt: can not write: "));
}

TEST(RenameFile, NamesBothFiles) {
  const test::TemporaryFolder folder;
  const auto from = folder.path() / "a", to = folder.path() / "b";
  EXPECT_THAT(test::error_of<StoreError>([&] { rename_file(from, to); }),
              testing::StartsWith(from.string() + ": can not rename to b: No such file or directory; "));
}

}  // namespace
}  // namespace jari
