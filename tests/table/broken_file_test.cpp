// Files that are cut short, lie about themselves, or are something else: an error that says where, and no memory taken
// for what they claim.
#include <gtest/gtest.h>

#include <cstdlib>

#include "framework/base/error.hpp"
#include "framework/table/table_file.hpp"
#include "framework/table/zip.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"
#include "tests/table/tables.hpp"

namespace jari {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string kOne("\0\0\x80\x3f", 4);
const std::string kNaN("\0\0\xc0\x7f", 4);

struct BrokenCase {
  const char* name;
  const char* file;  // its ending
  std::string bytes;
  std::string message;  // after the path
};

class Broken : public testing::TestWithParam<BrokenCase> {};

TEST_P(Broken, IsRefusedWithThePlace) {
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / (std::string("broken") + GetParam().file);
  test::write_bytes(path, GetParam().bytes);
  EXPECT_EQ(test::error_of<StoreError>([&] { read_table(path); }), path.string() + ": " + GetParam().message);
}

std::string npy(const std::string& header, const std::string& bytes) {
  const auto size = static_cast<char>(header.size());
  return std::string("\x93NUMPY\x01\0", 8) + size + '\0' + header + bytes;
}
std::string safetensors(const std::string& header, const std::string& bytes) {
  return std::string(1, static_cast<char>(header.size())) + std::string(7, '\0') + header + bytes;
}

INSTANTIATE_TEST_SUITE_P(
    Files, Broken,
    testing::Values(
        BrokenCase{"Empty", ".bin", "", "is empty"},
        BrokenCase{"CutInARow", ".bin", "2 2\na " + kOne + kOne + "\nb " + kOne,
                   "cut short: row 1 ('b', byte 15) should take 10 bytes, and 6 are left"},
        BrokenCase{"CutInAWord", ".bin", "2 2\na " + kOne + kOne + "\nbcdefghijklmnop",
                   "cut short: row 1 ends at byte 30, before its numbers"},
        BrokenCase{"CutBeforeARow", ".bin", "2 2\nabcdefghijk " + kOne + kOne + "\n",
                   "cut short: its header promises 2 rows, but it ends after 1, at byte 25"},
        BrokenCase{"MoreThanPromised", ".bin", "1 1\na " + kOne + "\nb " + kOne,
                   "its header promises 1 rows, but there are more bytes after them, from byte 11 on"},
        BrokenCase{"AbsurdRows", ".bin", "1000000000000 100\na " + kOne,
                   "its header promises 1000000000000 rows of 100 numbers, which the 6 bytes after it can not hold"},
        BrokenCase{
            "AbsurdWidth", ".bin", "1 9223372036854775807\na " + kOne,
            "its header promises 1 rows of 9223372036854775807 numbers, which the 6 bytes after it can not hold"},
        BrokenCase{"NoNumbersInText", ".txt", "2 2\na 1 2\nb 1 x\n",
                   "row 1 ('b', byte 10): 'x' where a number should be"},
        BrokenCase{"TooFewFields", ".txt", "2 2\na 1 2\nb 1\n",
                   "row 1 (byte 10) holds 2 fields, not a word and 2 numbers"},
        BrokenCase{"TooManyFields", ".txt", "2 2\na 1 2\nb 1 2 3\n",
                   "row 1 (byte 10) holds 4 fields, not a word and 2 numbers"},
        BrokenCase{"TextCutShort", ".txt", "3 2\nabcdefg 1 2\nbcdefgh 1 1\n",
                   "cut short: its header promises 3 rows, but it ends after 2, at byte 28"},
        BrokenCase{"TextTooLong", ".txt", "1 2\na 1 2\nb 1 1\n",
                   "its header promises 1 rows, but there are more lines after them, from byte 10 on"},
        BrokenCase{"AbsurdText", ".txt", "1000000000000 2\na 1 2\n",
                   "its header promises 1000000000000 rows of 2 numbers, which the 6 bytes after it can not hold"},
        BrokenCase{"NanInText", ".txt", "2 2\na 1 2\nb nan 1\n",
                   "row 1 ('b', byte 10) holds a number that is not finite (NaN or infinity); take it out"},
        BrokenCase{"TooLargeInText", ".txt", "1 1\na 1e39\n",
                   "row 0 ('a', byte 4) holds a number that is not finite (NaN or infinity); take it out"},
        BrokenCase{"NanInBinary", ".bin", "1 1\na " + kNaN,
                   "row 0 ('a', byte 4) holds a number that is not finite (NaN or infinity); take it out"},
        BrokenCase{
            "NoUtf8InBinary", ".bin", "1 1\n\xEA\xB0 " + kOne,
            "the word of row 0 is no UTF-8: '\\xea\\xb0', byte 4 of the file; --escape keeps such words, with \\xNN in "
            "place of the byte"},
        BrokenCase{"NoUtf8AndLong", ".bin", "1 1\n\x1B\xFF" + std::string(100, 'x') + " " + kOne,
                   "the word of row 0 is no UTF-8: '\\x1b\\xff" + std::string(58, 'x') +
                       "...', byte 5 of the file; --escape keeps such words, with \\xNN in place of the byte"},
        BrokenCase{"Csv", ".csv", "word,v0\na,1\n",
                   "csv is written only; read one of word2vec, word2vec_text, glove, npy, npz, safetensors, tsv"},
        BrokenCase{"NoTable", ".txt", "once upon a time\nthere was\n",
                   "holds no lines of a word and numbers; name its format with --table-format"},
        BrokenCase{"NpyAbsurd", ".npy",
                   npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000, 100), }", kOne),
                   "promises an array of 1000000000000 x 100 numbers, which its 4 bytes can not hold"},
        BrokenCase{
            "NpyOverflow", ".npy",
            npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9223372036854775807), }", ""),
            "promises an array of 9223372036854775807 x 9223372036854775807 numbers, which its 0 bytes can not hold"},
        BrokenCase{
            "NpyOneAxis", ".npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", kOne),
            "holds an array of type '<f4' and shape (1); a table needs f2, f4 or f8 with two axes, rows and columns"},
        BrokenCase{"NpyIntegers", ".npy", npy("{'descr': '<i4', 'fortran_order': False, 'shape': (1, 1), }", kOne),
                   "holds an array of type '<i4' and shape (1, 1); a table needs f2, f4 or f8 with two axes, rows and "
                   "columns"},
        BrokenCase{"NpyRecords", ".npy",
                   npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1, 1), }", kOne),
                   "its elements are '[('a'', and a table needs plain numbers (f2, f4, f8)"},
        BrokenCase{"NpyNoShape", ".npy", npy("{'descr': '<f4', 'fortran_order': False, }", kOne),
                   "its header has no 'shape'; this is no .npy file"},
        BrokenCase{"NpyBadShape", ".npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 2), }", kOne),
                   "its header names no usable shape: (-1, 2)"},
        BrokenCase{"NpyCutHeader", ".npy", npy("{'descr'", "").substr(0, 9),
                   "cut short: the header should go on for 1 bytes more, but the file ends at byte 9"},
        BrokenCase{"NpyLongHeader", ".npy", std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12),
                   "its header claims to be 4294967295 bytes long"},
        BrokenCase{"NpyVersion", ".npy", std::string("\x93NUMPY\x09\0\x01\0 ", 11),
                   "is a .npy file of version 9; known are 1 to 3"},
        BrokenCase{"NpyNaN", ".npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }", kOne + kNaN),
                   "row 1 holds a number that is not finite (NaN or infinity); take it out"},
        BrokenCase{"NpyTooLong", ".npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }", kOne + "x"),
                   "has more bytes after its array, from byte 73 on"},
        BrokenCase{"TensorsLongHeader", ".safetensors", std::string("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10),
                   "its header claims to be 9223372036854775807 bytes long, and 2 bytes are left"},
        BrokenCase{"TensorsNoJson", ".safetensors", safetensors("{\"a\": ", ""),
                   "its header is no JSON object; this is no safetensors file"},
        BrokenCase{"TensorsNoShape", ".safetensors", safetensors(R"({"a": {"dtype": "F32"}})", ""),
                   "its header does not say type, shape and place of the tensor 'a'"},
        BrokenCase{"TensorsCut", ".safetensors",
                   safetensors(R"({"a": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]}})", kOne),
                   "cut short: its tensor 'a' should take bytes 0 to 8, and there are 4"},
        BrokenCase{
            "TensorsAbsurd", ".safetensors",
            safetensors(R"({"a": {"dtype": "F32", "shape": [4611686018427387904, 4], "data_offsets": [0, 4]}})", kOne),
            "its tensor 'a' is F32 (4611686018427387904, 4); that is not what its 4 bytes can hold"},
        BrokenCase{"TensorsOneAxis", ".safetensors",
                   safetensors(R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})", kOne),
                   "name the tensor that is the table with --tensor; it holds a F32 (1)"},
        BrokenCase{"NoZip", ".npz", "PK nothing", "cut short, or no zip archive: it does not end as one"},
        BrokenCase{"TsvUneven", ".tsv", "1\t2\n3\n", "row 1 (byte 4): 1 numbers, not 2"},
        BrokenCase{"TsvEmpty", ".tsv", "", "is empty"}),
    [](const auto& each) { return each.param.name; });

class BrokenOnDisk : public testing::Test {
 protected:
  std::string error(const std::string& name, const TableOptions& options = {}) const {
    const std::string text = test::error_of<StoreError>([&] { read_table(folder_.path() / name, options); });
    const std::string path = (folder_.path() / name).string();
    return text.starts_with(path) ? text.substr(path.size()) : text;
  }
  // All but the last bytes of a file.
  void cut(const std::string& name, std::size_t bytes) const {
    const fs::path path = folder_.path() / name;
    fs::resize_file(path, fs::file_size(path) - bytes);
  }
  test::TemporaryFolder folder_;
};

TEST_F(BrokenOnDisk, MissingFilesAndFolders) {
  EXPECT_EQ(error("nowhere.bin"), ": can not be read: No such file or directory");
  fs::create_directory(folder_.path() / "folder");
  EXPECT_EQ(error("folder"), ": is no file");
}

TEST_F(BrokenOnDisk, PackedFilesThatEndTooEarlyOrAreDamaged) {
  write_table(folder_.path() / "t.bin.gz", test::golden_table(), TableFormat::word2vec);
  const std::string whole = test::read_text(folder_.path() / "t.bin.gz");
  cut("t.bin.gz", 9);
  EXPECT_EQ(error("t.bin.gz"), ": cut short: its compressed bytes end after 117 unpacked ones");
  std::string damaged = whole;
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 1);  // of the checksum
  test::write_bytes(folder_.path() / "t.bin.gz", damaged);
  EXPECT_EQ(error("t.bin.gz"), ": damaged after 118 unpacked bytes: incorrect data check");
}

TEST_F(BrokenOnDisk, APackedFileCanNotClaimMoreThanItsBytesCanUnpackTo) {
  write_table(folder_.path() / "t.txt.gz", test::golden_table(), TableFormat::glove);
  // The same bytes under a header that lies: "1000000000000 4".
  const std::string lies = "1000000000000 4\na 1 2 3 4\n";
  {
    const std::string command = "printf '" + lies + "' | gzip > " + (folder_.path() / "lies.gz").string();
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  EXPECT_EQ(error("lies.gz"),
            ": its header promises 1000000000000 rows of 4 numbers, which the packed bytes after it can not hold");
}

TEST_F(BrokenOnDisk, EveryPrefixOfEveryFormatIsAnErrorOrWhole) {
  const std::vector<std::pair<std::string, TableFormat>> formats = {{"t.bin", TableFormat::word2vec},
                                                                    {"t.txt", TableFormat::word2vec_text},
                                                                    {"t.npy", TableFormat::npy},
                                                                    {"t.npz", TableFormat::npz},
                                                                    {"t.safetensors", TableFormat::safetensors},
                                                                    {"t.bin.gz", TableFormat::word2vec}};
  for (const auto& [name, format] : formats) {
    write_table(folder_.path() / name, test::golden_table(), format);
    const std::string whole = test::read_text(folder_.path() / name);
    for (std::size_t size = 0; size + 1 < whole.size(); ++size) {
      test::write_bytes(folder_.path() / name, whole.substr(0, size));
      // Text may lose the digits of its last number; nothing else may pass.
      const std::string text = error(name);
      const bool is_last_number = format == TableFormat::word2vec_text && size + 4 > whole.size();
      EXPECT_TRUE(text != "no error" || is_last_number) << name << " cut to " << size << " of " << whole.size();
    }
  }
}

TEST_F(BrokenOnDisk, ArchivesThatNeedZip64OrLieAboutTheirMembers) {
  write_table(folder_.path() / "t.npz", test::golden_table(), TableFormat::npz);
  const std::string whole = test::read_text(folder_.path() / "t.npz");
  const std::size_t central = whole.find("PK\x01\x02");
  std::string changed = whole;
  changed.replace(central + 24, 4, "\xff\xff\xff\xff");
  test::write_bytes(folder_.path() / "t.npz", changed);
  EXPECT_EQ(error("t.npz"),
            ": its member vectors.npy is zip64 (4 GiB or more), which jari does not read; save the table as .npy");
  changed = whole;
  changed[central + 16] = static_cast<char>(changed[central + 16] ^ 1);  // of the checksum
  test::write_bytes(folder_.path() / "t.npz", changed);
  EXPECT_EQ(error("t.npz"), ":vectors.npy: damaged: its checksum does not fit");
  changed = whole;
  changed[central + 10] = 12;
  test::write_bytes(folder_.path() / "t.npz", changed);
  EXPECT_EQ(error("t.npz"), ": its member vectors.npy is packed by method 12; known are stored and deflated ones");
}

TEST_F(BrokenOnDisk, AMemberWhosePackedBytesEndTooEarlyIsDamaged) {
  write_table(folder_.path() / "t.npz", test::golden_table(), TableFormat::npz);
  std::string changed = test::read_text(folder_.path() / "t.npz");
  const std::size_t central = changed.find("PK\x01\x02");
  changed[central + 24] = static_cast<char>(changed[central + 24] + 2);  // the member's size
  test::write_bytes(folder_.path() / "t.npz", changed);
  EXPECT_EQ(error("t.npz"), ":vectors.npy: damaged: 2 bytes of it are missing");
}

TEST_F(BrokenOnDisk, AnArchiveIsNotPackedTwice) {
  const fs::path path = folder_.path() / "t.npz.gz";
  EXPECT_EQ(test::error_of<StoreError>([&] { write_table(path, test::golden_table(), TableFormat::npz); }),
            path.string() + ": can not be written: an npz is packed already; name it without .gz");
  ASSERT_EQ(std::system(("printf 'PK nothing' | gzip > " + path.string()).c_str()), 0);
  EXPECT_EQ(error("t.npz.gz"), ": is an archive within gzip: unpack it with gunzip");
}

TEST_F(BrokenOnDisk, OptionsThatWouldChangeNothingAreRefused) {
  write_table(folder_.path() / "t.bin", test::golden_table(), TableFormat::word2vec);
  write_table(folder_.path() / "t.npy", test::golden_table(), TableFormat::npy);
  TableOptions options;
  options.tensor = "embedding";
  EXPECT_EQ(error("t.npy", options), ": a npy file holds one table, without a name; leave --tensor out");
  options = {};
  options.words = folder_.path() / "words.txt";
  EXPECT_EQ(error("t.bin", options), ": a word2vec file has words of its own; leave --words out");
}

TEST_F(BrokenOnDisk, FoldersAndMissingFoldersAreNotWritten) {
  const auto refusal = [&](const fs::path& path) {
    return test::error_of<StoreError>([&] { write_table(path, test::golden_table(), TableFormat::word2vec); });
  };
  EXPECT_EQ(refusal(folder_.path()), folder_.path().string() + ": is a folder; name a file in it");
  const fs::path path = folder_.path() / "none" / "t.bin";
  EXPECT_EQ(refusal(path), path.string() +
                               ": can not be written: No such file or directory; make its folder first, or correct "
                               "the path");
}

TEST_F(BrokenOnDisk, WordsBesideATableMustFitIt) {
  write_table(folder_.path() / "t.npy", test::golden_table(), TableFormat::npy);
  test::write_bytes(folder_.path() / "t.words.txt", "a\nb\n");
  EXPECT_THAT(error("t.npy"), HasSubstr("t.words.txt: holds 2 words, and the table "));
  test::write_bytes(folder_.path() / "t.words.txt", "a\nb\nc\xFF\nd\ne\n");
  EXPECT_THAT(error("t.npy"), HasSubstr("t.words.txt: the word of row 2 is no UTF-8: 'c\\xff', byte 5 of the file"));
  TableOptions options;
  options.escape_invalid_utf8 = true;
  EXPECT_EQ(error("t.npy", options), "no error");
  options.words = folder_.path() / "words.json";
  test::write_bytes(options.words, R"({"a": 0, "b": 2, "c": 2, "d": 3, "e": 4})");
  EXPECT_THAT(error("t.npy", options), HasSubstr("'c' has the row 2; rows should be 0 to 4, each once"));
  test::write_bytes(options.words, R"({"a": )");
  EXPECT_THAT(error("t.npy", options), HasSubstr("words.json: is no JSON"));
}

TEST_F(BrokenOnDisk, AMissingTensorIsNamedWithThoseThatAreThere) {
  TableOptions options;
  options.tensor = "wpe";
  const fs::path path = test::source_path("tests/golden/tables/small.safetensors");
  EXPECT_EQ(test::error_of<StoreError>([&] { read_table(path, options); }),
            path.string() +
                ": there is no tensor 'wpe'; it holds bias F32 (4), double F64 (5, 4), half F16 (5, 4), "
                "wte.weight F32 (5, 4)");
}

}  // namespace
}  // namespace jari
