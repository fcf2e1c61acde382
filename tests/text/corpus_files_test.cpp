#include "framework/text/corpus_files.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "framework/base/hash.hpp"
#include "tests/support/files.hpp"

namespace jari {
namespace {

class Files : public ::testing::Test {
 protected:
  Files() {
    for (const char* name : {"b.txt", "a.txt", "Z.txt", "a[1].txt", "c.gz"}) write(name, name);
    write("empty.log", "");
    std::filesystem::create_directory(folder_.path() / "sub");
  }
  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_.path() / name, std::ios::binary) << bytes;
    return folder_.path() / name;
  }
  std::string found(const std::vector<std::string>& patterns) const {
    std::vector<std::filesystem::path> paths;
    for (const std::string& pattern : patterns) paths.push_back(folder_.path() / pattern);
    const CorpusFiles files = find_corpus_files(paths);
    std::string text;
    for (const auto& path : files.paths) text += path.filename().string() + " ";
    for (const CorpusMistake& mistake : files.mistakes) {
      std::string message = mistake.message;
      const std::string folder = folder_.path().string() + "/";
      if (const std::size_t at = message.find(folder); at != std::string::npos) message.erase(at, folder.size());
      text += std::to_string(mistake.pattern) + ": " + message + "; ";
    }
    return text;
  }
  test::TemporaryFolder folder_;
};

TEST_F(Files, ComeInTheOrderOfTheListAndOfTheirBytes) {
  EXPECT_EQ(found({"c.gz", "*.txt"}), "c.gz Z.txt a.txt a[1].txt b.txt ");
  EXPECT_EQ(found({"a[1].txt"}), "a[1].txt ") << "a file of that name comes before what the pattern matches";
  EXPECT_EQ(found({"[ab].txt"}), "a.txt b.txt ");
}

TEST_F(Files, ThatCanNotBeReadAreMistakes) {
  EXPECT_EQ(found({"a.txt", "none.txt", "*.md"}),
            "a.txt 1: none.txt: No such file or directory; 2: no file matches *.md; ");
  EXPECT_EQ(found({"sub", "empty.log"}), "0: sub: is a folder; 1: empty.log: the file is empty; ");
  EXPECT_EQ(found({"a.txt", "sub/../a.txt"}), "a.txt 1: sub/../a.txt: named twice, so it would be read twice; ");
}

TEST_F(Files, AreKnownByTheirContents) {
  const auto path = write("big.txt", std::string(1000000, 'x'));
  EXPECT_EQ(file_hash(path), hash128_hex(std::string(1000000, 'x')));
  const std::string before = files_hash({path, folder_.path() / "a.txt"});
  EXPECT_NE(before, files_hash({folder_.path() / "a.txt", path}));
  std::filesystem::rename(path, folder_.path() / "moved.txt");
  EXPECT_EQ(before, files_hash({folder_.path() / "moved.txt", folder_.path() / "a.txt"}));
  write("moved.txt", "other");
  EXPECT_EQ(file_hash(folder_.path() / "moved.txt"), hash128_hex("other")) << "a changed file is read again";
}

}  // namespace
}  // namespace jari
