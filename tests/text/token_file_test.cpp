#include "framework/text/token_file.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"

namespace jari {
namespace {

const std::string kKey = hash128_hex("key");

std::string token_file(const std::string& key) {
  std::string bytes;
  TokenFileWriter writer([&](std::string_view part) { bytes += part; }, key);
  writer.ids(std::vector<std::int32_t>{2, 1, 2});
  writer.ids(std::vector<std::int32_t>{1, 0});
  writer.finish(std::vector<std::int64_t>{0, 2, 5}, Vocabulary({"<unk>", "한", "a b"}, {1, 2, 2}, 0, 1), "a model");
  return bytes;
}

class TokenFile : public ::testing::Test {
 protected:
  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  test::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "a.tokens";
};

TEST_F(TokenFile, ReadsBackWhatWasWritten) {
  write(token_file(kKey));
  const auto corpus = open_token_file(path_, kKey);
  EXPECT_EQ(std::vector<std::int32_t>(corpus->ids.begin(), corpus->ids.end()),
            (std::vector<std::int32_t>{2, 1, 2, 1, 0}));
  EXPECT_EQ(std::vector<std::int64_t>(corpus->line_starts.begin(), corpus->line_starts.end()),
            (std::vector<std::int64_t>{0, 2, 5}));
  EXPECT_EQ(corpus->lines(), 2);
  EXPECT_EQ(corpus->vocabulary.pieces(), (std::vector<std::string>{"<unk>", "한", "a b"}));
  EXPECT_EQ(corpus->vocabulary.counts(), (std::vector<std::int64_t>{1, 2, 2}));
  EXPECT_EQ(corpus->vocabulary.unknown(), 0);
  EXPECT_EQ(corpus->vocabulary.find("a b"), 2);
  EXPECT_EQ(corpus->model, "a model");
}

TEST_F(TokenFile, NoDamagePassesUnseen) {
  const std::string whole = token_file(kKey);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] ^= 1;
    write(damaged);
    ASSERT_EQ(test::error_of<StoreError>([&] { open_token_file(path_, kKey); }),
              path_.string() + ": a damaged token file")
        << i;
    write(whole.substr(0, i));
    ASSERT_EQ(test::error_of<StoreError>([&] { open_token_file(path_, kKey); }),
              path_.string() + ": a damaged token file")
        << i;
  }
}

// Bytes of files that are in this process' memory.
std::int64_t resident_file_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssFile:")) return std::stoll(line.substr(8)) * 1024;
  }
  return -1;
}

TEST_F(TokenFile, IsCheckedWithoutHoldingAllOfItInMemory) {
  {
    std::ofstream file(path_, std::ios::binary);
    TokenFileWriter writer([&](std::string_view part) { file << part; }, kKey);
    const std::vector<std::int32_t> ids(1 << 20, 1);
    for (int i = 0; i < 16; ++i) writer.ids(ids);
    writer.finish(std::vector<std::int64_t>{0, 16 << 20}, Vocabulary({"a", "b"}, {0, 16 << 20}, std::nullopt, 0));
  }
  const std::int64_t before = resident_file_bytes();
  const auto corpus = open_token_file(path_, kKey);
  const std::int64_t taken = resident_file_bytes() - before;
  ASSERT_GT(before, 0);
  EXPECT_LT(taken, 24 << 20) << "of a file of 64 MiB";
  EXPECT_EQ(corpus->ids.front() + corpus->ids.back(), 2);
}

TEST_F(TokenFile, OfAnotherKeyIsRefused) {
  write(token_file(hash128_hex("other")));
  EXPECT_EQ(test::error_of<StoreError>([&] { open_token_file(path_, kKey); }),
            path_.string() + ": a damaged token file");
}

}  // namespace
}  // namespace jari
