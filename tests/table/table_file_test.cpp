// Every format: what other programs wrote (tests/golden/make_tables.py), and what we write and read again.
#include "framework/table/table_file.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "framework/base/error.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"
#include "tests/table/tables.hpp"

namespace jari {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

fs::path golden(const std::string& name) { return test::source_path("tests/golden/tables/" + name); }

struct GoldenCase {
  const char* file;
  const char* tensor;
  bool has_words, has_counts;
  bool is_half;
};

class Golden : public testing::TestWithParam<GoldenCase> {};

TEST_P(Golden, IsReadAsWhoeverWroteItMeant) {
  TableOptions options;
  options.tensor = GetParam().tensor;
  const LoadedTable loaded = read_table(golden(GetParam().file), options);
  const WordTable expected = test::golden_table();
  EXPECT_EQ(loaded.table.width(), 4);
  const std::vector<std::string> words =
      GetParam().has_words ? test::words_of(expected) : std::vector<std::string>{"0", "1", "2", "3", "4"};
  EXPECT_EQ(test::words_of(loaded.table), words);
  EXPECT_EQ(loaded.table.has_words(), GetParam().has_words);
  EXPECT_EQ(loaded.table.counts(), GetParam().has_counts ? expected.counts() : std::vector<std::int64_t>{});
  const std::vector<float> wanted = test::values_of(expected), found = test::values_of(loaded.table);
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (GetParam().is_half) {
      EXPECT_NEAR(found[i], wanted[i], std::abs(wanted[i]) * 0x1p-11F + 0x1p-25F) << i;
    } else {
      EXPECT_EQ(found[i], wanted[i]) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Files, Golden,
    testing::Values(
        GoldenCase{"gensim.bin", "", true, false, false}, GoldenCase{"gensim.txt", "", true, false, false},
        GoldenCase{"gensim.txt.gz", "", true, false, false}, GoldenCase{"gensim_glove.txt", "", true, false, false},
        GoldenCase{"f4.npy", "", false, false, false}, GoldenCase{"f8_fortran.npy", "", false, false, false},
        GoldenCase{"f2.npy", "", false, false, true}, GoldenCase{"big_endian.npy", "", false, false, false},
        GoldenCase{"version_2.npy", "", false, false, false}, GoldenCase{"version_3.npy", "", false, false, false},
        GoldenCase{"stored.npz", "", true, true, false}, GoldenCase{"deflated.npz", "vectors", true, true, false},
        GoldenCase{"small.safetensors", "wte.weight", false, false, false},
        GoldenCase{"small.safetensors", "double", false, false, false},
        GoldenCase{"small.safetensors", "half", false, false, true}),
    [](const auto& each) {
      std::string name = std::string(each.param.file) + "_" + each.param.tensor;
      std::replace_if(
          name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
      return name;
    });

class EveryFormat : public testing::TestWithParam<std::string> {
 protected:
  TableFormat format() const { return *table_format_named(GetParam()); }
  fs::path path(const std::string& packing = "") const {
    const std::string name = GetParam();
    const std::string end = name == "word2vec"                           ? ".bin"
                            : name == "word2vec_text" || name == "glove" ? ".txt"
                                                                         : "." + name;
    return folder_.path() / ("table" + end + packing);
  }
  test::TemporaryFolder folder_;
};

TEST_P(EveryFormat, GivesBackWordsAndBits) {
  const WordTable table = test::golden_table();
  for (const std::string packing : {"", ".gz"}) {
    if (!packing.empty() && GetParam() == "npz") continue;  // is packed already
    write_table(path(packing), table, format());
    const LoadedTable loaded = read_table(path(packing));
    EXPECT_EQ(test::words_of(loaded.table), test::words_of(table));
    EXPECT_EQ(test::values_of(loaded.table), test::values_of(table));
    const bool has_counts = GetParam() == "npz" || GetParam() == "tsv";
    EXPECT_EQ(loaded.table.counts(), has_counts ? table.counts() : std::vector<std::int64_t>{});
    EXPECT_THAT(loaded.notes, ElementsAre());
  }
}

TEST_P(EveryFormat, OfATableWithoutWordsGivesBackRowNumbers) {
  RowMatrix rows(3, 2);
  std::fill(rows.values().begin(), rows.values().end(), 0.25F);
  write_table(path(), WordTable(std::move(rows)), format());
  const LoadedTable loaded = read_table(path());
  EXPECT_THAT(test::words_of(loaded.table), ElementsAre("0", "1", "2"));
  EXPECT_THAT(test::values_of(loaded.table), testing::Each(0.25F));
}

TEST_P(EveryFormat, OfATableWithManyRowsCrossesItsBuffers) {
  constexpr int kRows = 6000, kWidth = 33;
  WordList words;
  RowMatrix rows(kRows, kWidth);
  for (int row = 0; row < kRows; ++row) {
    words.add("단어" + std::string(static_cast<std::size_t>(row % 70), 'x') + std::to_string(row));
    for (std::size_t i = 0; i < kWidth; ++i) rows.row(row)[i] = static_cast<float>(row) / static_cast<float>(i + 3);
  }
  const WordTable table(std::move(words), std::move(rows));
  for (const std::string packing : {"", ".gz"}) {
    if (!packing.empty() && GetParam() == "npz") continue;
    write_table(path(packing), table, format());
    const LoadedTable loaded = read_table(path(packing));
    EXPECT_EQ(test::values_of(loaded.table), test::values_of(table));
    EXPECT_EQ(test::words_of(loaded.table), test::words_of(table));
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, EveryFormat,
                         testing::Values("word2vec", "word2vec_text", "glove", "npy", "npz", "safetensors", "tsv"),
                         [](const auto& each) { return each.param; });

class TableFile : public testing::Test {
 protected:
  fs::path write(const std::string& name, const std::string& bytes) const {
    test::write_bytes(folder_.path() / name, bytes);
    return folder_.path() / name;
  }
  test::TemporaryFolder folder_;
};

TEST_F(TableFile, GloveSplitsFromTheRightAsWordsMayHoldSpacesAndNumbers) {
  const fs::path path = write("g.txt", ", 1 2 3\n. . . 4 5 6\n2013 7 8 9\nat 10 name 1e-1 -2.5e+1 3\n");
  const LoadedTable loaded = read_table(path);
  EXPECT_THAT(test::words_of(loaded.table), ElementsAre(",", ". . .", "2013", "at 10 name"));
  EXPECT_THAT(loaded.table.row(3), ElementsAre(0.1F, -25.0F, 3.0F));
}

TEST_F(TableFile, Word2vecTextMayEndItsLinesWithASpace) {
  const LoadedTable loaded = read_table(write("w.vec", "2 2\nthe 1 2 \nof 3 4 \n"));
  EXPECT_THAT(test::words_of(loaded.table), ElementsAre("the", "of"));
}

TEST_F(TableFile, Word2vecBinaryNeedsNoLineEnds) {
  const std::string one("\0\0\x80\x3f", 4);
  const LoadedTable loaded = read_table(write("w.bin", "2 1\nthe " + one + "of " + one));
  EXPECT_THAT(test::words_of(loaded.table), ElementsAre("the", "of"));
  EXPECT_THAT(test::values_of(loaded.table), ElementsAre(1, 1));
}

TEST_F(TableFile, OfRepeatedWordsTheFirstWinsAndThatIsTold) {
  const fs::path path = write("w.txt", "4 1\na 1\nb 2\na 3\nb 4\n");
  const LoadedTable loaded = read_table(path);
  EXPECT_THAT(test::words_of(loaded.table), ElementsAre("a", "b"));
  EXPECT_THAT(test::values_of(loaded.table), ElementsAre(1, 2));
  EXPECT_THAT(loaded.notes,
              ElementsAre(path.string() + ": 2 rows repeat an earlier word and are left out (first: 'a' in row 2)"));
}

TEST_F(TableFile, WordsThatAreNoUtf8CanBeKeptEscaped) {
  const fs::path path = write("w.txt", "2 1\nok 1\nb\xE9\xFFt 2\n");
  EXPECT_EQ(test::error_of<StoreError>([&] { read_table(path); }),
            path.string() +
                ": the word of row 1 is no UTF-8: 'b\\xe9\\xfft', byte 10 of the file; --escape keeps such words, "
                "with \\xNN in place of the byte");
  TableOptions options;
  options.escape_invalid_utf8 = true;
  EXPECT_THAT(test::words_of(read_table(path, options).table), ElementsAre("ok", "b\\xe9\\xfft"));
}

TEST_F(TableFile, ChoosesTheOnlyTensorThatCanBeATable) {
  const WordTable table = test::golden_table();
  const fs::path path = folder_.path() / "t.safetensors";
  write_table(path, table, TableFormat::safetensors, "any.name");
  EXPECT_EQ(test::values_of(read_table(path).table), test::values_of(table));
}

TEST_F(TableFile, ReadsGpt2sVocabularyWithItsByteAlphabetDecoded) {
  write_table(folder_.path() / "t.npy", test::table_of({"0", "1", "2", "3"}, {{1}, {2}, {3}, {4}}), TableFormat::npy);
  // The character of U+0120 is the space, those of \xEC and \xC4 are bytes of Hangul, U+010A is the line end.
  const fs::path words = write("encoder.json", R"({"\u0120king": 1, "!": 0, "\u00ec\u0140\u0132": 2, "\u010a": 3})");
  TableOptions options;
  options.words = words;
  EXPECT_THAT(test::words_of(read_table(folder_.path() / "t.npy", options).table),
              ElementsAre("!", " king", "자", "\\x0a"));
}

TEST_F(TableFile, ReadsJsonListsOfWordsAsTheyAre) {
  write_table(folder_.path() / "t.npy", test::table_of({"0", "1"}, {{1}, {2}}), TableFormat::npy);
  TableOptions options;
  options.words = write("words.json", R"(["café", "é"])");
  EXPECT_THAT(test::words_of(read_table(folder_.path() / "t.npy", options).table), ElementsAre("café", "é"));
}

TEST_F(TableFile, CsvIsQuoted) {
  const fs::path path = folder_.path() / "t.csv";
  write_table(path, test::table_of({"a,b", "say \"x\""}, {{1, 0.5F}, {2, -3}}, {7, 8}), TableFormat::csv);
  EXPECT_EQ(test::read_text(path), "word,count,v0,v1\n\"a,b\",7,1,0.5\n\"say \"\"x\"\"\",8,2,-3\n");
}

TEST_F(TableFile, FormatsThatCanNotHoldAWordSaySoAndLeaveNoFile) {
  const WordTable table = test::table_of({"the", " queen"}, {{1}, {2}});
  const fs::path path = folder_.path() / "t.bin";
  EXPECT_EQ(test::error_of<StoreError>([&] { write_table(path, table, TableFormat::word2vec); }),
            path.string() +
                ": can not be written: the word of row 1 (' queen') holds a space, and in word2vec's format a "
                "space ends the word; npz and csv hold any word");
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

// What NumPy reads of what we wrote.
TEST_F(TableFile, NumpyReadsOurArrays) {
  if (std::system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") != 0) GTEST_SKIP() << "no python3-numpy";
  const WordTable table = test::golden_table();
  write_table(folder_.path() / "t.npy", table, TableFormat::npy);
  write_table(folder_.path() / "t.npz", table, TableFormat::npz);
  write_table(folder_.path() / "vectors.tsv", table, TableFormat::tsv);
  const fs::path script = write("read.py", R"(import numpy as np, sys
a, z = np.load(sys.argv[1] + "/t.npy"), np.load(sys.argv[1] + "/t.npz")
assert a.dtype == np.float32 and a.flags.c_contiguous
assert (a == z["vectors"]).all() and (a == np.loadtxt(sys.argv[1] + "/vectors.tsv", dtype="f4")).all()
print(a.shape, a[0].tolist(), " ".join(z["words"]), z["counts"].tolist())
print(open(sys.argv[1] + "/metadata.tsv", encoding="utf-8").read().split("\n")[:2])
)");
  const fs::path out = folder_.path() / "out.txt";
  EXPECT_EQ(std::system(("PYTHONIOENCODING=utf-8 /usr/bin/python3 " + script.string() + " " + folder_.path().string() +
                         " > " + out.string())
                            .c_str()),
            0);
  EXPECT_EQ(test::read_text(out),
            "(5, 4) [0.5, -1.25, 3.0, 0.0010000000474974513] 자리 the 물리학 a café [50, 40, 30, 20, 10]\n"
            "['word\\tcount', '자리\\t50']\n");
}

}  // namespace
}  // namespace jari
