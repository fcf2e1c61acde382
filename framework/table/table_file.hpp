#pragma once
// Tables in files of other programs:
//
//   word2vec       header "rows width"; each row: the word, a space, little-endian f32, a line end or none
//   word2vec_text  header "rows width"; each line: the word and its numbers
//   glove          the same lines without a header; words may hold spaces
//   npy            NumPy's array (f2, f4, f8); words from a file beside it
//   npz            NumPy's archive: vectors, words, counts
//   safetensors    a named tensor (F16, BF16, F32, F64); words from a file beside it
//   tsv            two files for the TensorBoard projector: vectors.tsv and metadata.tsv
//   csv            written only: a line a word, with a header
//
// Names that end in .gz are packed; files that begin as gzip does are unpacked. All are read in one pass, into the
// table itself. What a header promises is compared with the file's size before memory is taken.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "framework/table/word_table.hpp"

namespace jari {

enum class TableFormat { word2vec, word2vec_text, glove, npy, npz, safetensors, tsv, csv };

// "word2vec", ... in the order of the enum.
const std::vector<std::string>& table_format_names();
std::optional<TableFormat> table_format_named(const std::string& name);

struct TableOptions {
  std::optional<TableFormat> format;  // none: by the file's first bytes and its name's ending
  std::string tensor;                 // of safetensors and npz; "": the only one that can be a table
  std::filesystem::path words;        // "": beside the table, where the format has none of its own
  bool escape_invalid_utf8 = false;   // such bytes become "\xNN" in words; otherwise they are an error
};

struct LoadedTable {
  WordTable table;
  std::vector<std::string> notes;  // what a user should know: "3 words occur again; ..."
};

// StoreError that names file, row and byte offset of what is wrong with it.
LoadedTable read_table(const std::filesystem::path& path, const TableOptions& options = {});

// Atomic. StoreError if the format can not hold one of the words, or the file can not be written. `tensor`: the name in
// a safetensors file.
void write_table(const std::filesystem::path& path, const WordTable& table, TableFormat format,
                 const std::string& tensor = "embedding");

// Where the words of a table without its own are: "gpt2.safetensors" -> "gpt2.words.txt", "vectors.tsv" ->
// "metadata.tsv".
std::filesystem::path words_beside(const std::filesystem::path& path, TableFormat format);

}  // namespace jari
