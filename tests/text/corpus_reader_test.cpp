#include "framework/text/corpus_reader.hpp"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <fstream>

#include "framework/base/error.hpp"
#include "framework/text/unicode.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"
#include "tests/support/random_text.hpp"

namespace jari {
namespace {

std::string gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  std::string input = text;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string zstd(const std::string& text) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);  // as the command zstd does
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress2(context, packed.data(), packed.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return packed;
}

class Corpus : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_.path() / name, std::ios::binary) << bytes;
    return folder_.path() / name;
  }

  // Segments joined; "|" where a file ends.
  static std::string read(const std::vector<std::filesystem::path>& paths, std::size_t block,
                          Normalization normalization = Normalization::nfc) {
    CorpusReader reader(paths, {normalization, block});
    std::string text;
    while (const auto segment = reader.next()) {
      text += segment->text;
      if (segment->ends_file) text += "|";
    }
    return text;
  }

  // The error, without the folder.
  std::string refusal(const std::filesystem::path& path, std::size_t block = 4096) const {
    std::string text = test::error_of<StoreError>([&] { read({path}, block); });
    const std::string folder = folder_.path().string() + "/";
    for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder))
      text.erase(at, folder.size());
    return text;
  }

  test::TemporaryFolder folder_;
};

TEST_F(Corpus, IsTheSameAtAllBlockSizes) {
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    const std::string text = "x" + test::random_text(random, 300) + "x";
    const auto path = write("a.txt", text);
    for (const std::size_t block : {1, 2, 3, 7, 64, 4096})
      ASSERT_TRUE(read({path}, block, Normalization::none) == text + "|") << round << " " << block;
  }
}

TEST_F(Corpus, IsTheSamePackedOrPlain) {
  std::mt19937 random(2);
  std::string text;
  while (text.size() < 300000) text += test::random_text(random, 300) + " ";
  const auto plain = write("a.txt", text), gz = write("a.gz", gzip(text)), zst = write("a.zst", zstd(text));
  const std::string expected = read({plain}, 4096);
  for (const std::size_t block : {std::size_t{7}, std::size_t{4096}, std::size_t{1} << 18}) {
    EXPECT_EQ(read({gz}, block), expected);
    EXPECT_EQ(read({zst}, block), expected);
  }
  EXPECT_EQ(read({gz, plain, zst}, 4096), expected + expected + expected);
}

TEST_F(Corpus, PackedFilesMayHaveSeveralParts) {
  const auto gz = write("a.gz", gzip("one ") + gzip("two ") + gzip("three") + std::string(9, '\0'));
  const auto zst =
      write("a.zst", std::string("\x50\x2A\x4D\x18\x03\x00\x00\x00xyz", 11) + zstd("one ") + zstd("two three"));
  EXPECT_EQ(read({gz}, 4096), "one two three|");
  EXPECT_EQ(read({zst}, 4096), "one two three|");
}

TEST_F(Corpus, SegmentsEndBeforeWhiteSpaceOrAtTheEndOfAFile) {
  std::mt19937 random(3);
  const auto path = write("a.txt", "x" + test::random_text(random, 3000) + "x");
  for (const std::size_t block : {1, 7, 256}) {
    CorpusReader reader({path}, {Normalization::nfc, block});
    int segments = 0;
    bool first = true;
    while (const auto segment = reader.next()) {
      ++segments;
      EXPECT_FALSE(segment->text.empty());
      const LastCodePoint last = last_code_point(segment->text, segment->text.size());
      EXPECT_TRUE(first || white_space_at(segment->text, 0) > 0);
      EXPECT_TRUE(segment->ends_file || !is_white_space(last.code_point));
      first = false;
    }
    EXPECT_GT(segments, 10);
  }
}

TEST_F(Corpus, SkipsByteOrderMarksAndReadsBothLineEnds) {
  const auto path = write("a.txt", "\xEF\xBB\xBFone\r\ntwo\rthree\r\n\r\nfour\r");
  for (const std::size_t block : {1, 2, 3, 5, 4096}) EXPECT_EQ(read({path}, block), "one\ntwo\rthree\n\nfour\r|");
}

TEST_F(Corpus, IsNormalizedUnlessToldNotTo) {
  const auto path = write("a.txt", "caf\u0065\u0301 \u1112\u1161\u11AB");
  for (const std::size_t block : {1, 4, 4096}) EXPECT_EQ(read({path}, block), "caf\u00E9 \uD55C|");
  EXPECT_EQ(read({path}, 4, Normalization::none), "caf\u0065\u0301 \u1112\u1161\u11AB|");
}

TEST_F(Corpus, InvalidBytesAreNamedByTheirOffset) {
  for (const std::size_t block : {1, 7, 4096}) {
    EXPECT_EQ(refusal(write("a.txt", "한 줄\r\n\r\n둘째\xFF 줄"), block),
              "a.txt: byte 17: \\xFF is not UTF-8: convert the file, for example with `iconv -f CP949 -t UTF-8`");
    EXPECT_EQ(refusal(write("b.gz", gzip("text \xC0\x80")), block),
              "b.gz: byte 5: \\xC0 is not UTF-8: convert the file, for example with `iconv -f CP949 -t UTF-8`");
    EXPECT_EQ(refusal(write("c.txt", "한\xEA\xB5"), block),
              "c.txt: byte 3: the file ends within a UTF-8 sequence (\\xEA\\xB5): it is cut short");
  }
}

TEST_F(Corpus, FilesThatAreNoneAreRefused) {
  EXPECT_EQ(refusal(folder_.path() / "none.txt"), "none.txt: can not read: No such file or directory");
  EXPECT_EQ(refusal(write("empty.txt", "")), "empty.txt: the file is empty");
  EXPECT_EQ(refusal(write("empty.gz", gzip(""))), "empty.gz: the file is empty");
  std::filesystem::create_directory(folder_.path() / "sub");
  EXPECT_EQ(refusal(folder_.path() / "sub"), "sub: is a folder: name the files in it, for example with /*.txt");
  EXPECT_EQ(refusal(write("a.xz", std::string("\xFD"
                                              "7zXZ\0",
                                              6))),
            "a.xz: is an xz file, which is not read: unpack it, or pack it with gzip or zstd");
  EXPECT_EQ(refusal(write("utf16.txt", std::string("\xFF\xFE"
                                                   "a\0",
                                                   4))),
            "utf16.txt: is UTF-16: convert it, for example with `iconv -f UTF-16 -t UTF-8`");
}

TEST_F(Corpus, DamagedAndCutFilesAreRefused) {
  std::mt19937 random(4);
  std::string text;
  while (text.size() < 100000) text += test::random_text(random, 300) + " ";
  const std::string gz = gzip(text), zst = zstd(text);
  EXPECT_EQ(refusal(write("cut.gz", gz.substr(0, gz.size() - 1)))
                .find("cut.gz: gzip file that is cut short: it ends after 1"),
            0u);
  EXPECT_EQ(refusal(write("cut.zst", zst.substr(0, zst.size() / 2)))
                .find("cut.zst: zstd file that is cut short: it ends after "),
            0u);
  std::string wrong_sum = gz;
  wrong_sum[gz.size() - 6] ^= 1;
  EXPECT_EQ(refusal(write("sum.gz", wrong_sum)).find("sum.gz: damaged gzip file: incorrect data check after "), 0u);
  EXPECT_EQ(refusal(write("more.gz", gz + "more")).find("more.gz: damaged gzip file: other bytes follow after "), 0u);
  EXPECT_EQ(refusal(write("more.zst", zst + "more text"))
                .find("more.zst: damaged zstd file: Unknown frame descriptor after "),
            0u);
  EXPECT_EQ(refusal(write("head.gz", "\x1F\x8B\x07")).find("head.gz: "), 0u);
}

// Whatever is broken in a packed file is an error, never a crash or other text without one.
TEST_F(Corpus, NoDamageToAPackedFilePassesUnseen) {
  std::mt19937 random(5);
  const std::string text = test::random_text(random, 3000) + "x";
  for (const std::string& packed : {gzip(text), zstd(text)}) {
    const std::string expected = read({write("whole", packed)}, 4096, Normalization::none);
    for (std::size_t cut = 1; cut < packed.size(); cut += 1 + packed.size() / 60) {
      EXPECT_NE(refusal(write("cut", packed.substr(0, packed.size() - cut))), "no error") << cut;
      std::string flipped = packed;
      flipped[cut] ^= 0x10;
      const auto path = write("flipped", flipped);
      const std::string error = refusal(path);
      if (error != "no error") continue;  // what is left are the time and the name in a header
      EXPECT_TRUE(read({path}, 4096, Normalization::none) == expected) << cut;
    }
  }
}

TEST_F(Corpus, TextWithoutWhiteSpaceIsRefusedAtSomeLength) {
  const auto path = write("a.txt", std::string(CorpusReader::kLongestWord + (1 << 20), 'a'));
  EXPECT_EQ(refusal(path, 1 << 20).find("a.txt: no white space in the "), 0u);
}

}  // namespace
}  // namespace jari
