#pragma once
// A reader and a writer for each format. Readers begin at the source's first byte; writers leave the commit to the
// caller.

#include <string>

#include "framework/table/input_file.hpp"
#include "framework/table/output_file.hpp"
#include "framework/table/table_file.hpp"
#include "framework/table/tensor_file.hpp"

namespace jari {

LoadedTable read_word2vec(InputFile& source, const TableOptions& options);
LoadedTable read_word2vec_text(InputFile& source, const TableOptions& options);
LoadedTable read_glove(InputFile& source, const TableOptions& options);
LoadedTable read_npy(InputFile& source, const TableOptions& options);
LoadedTable read_npz(const std::filesystem::path& path, const TableOptions& options);
LoadedTable read_safetensors(InputFile& source, const TableOptions& options);
LoadedTable read_tsv(InputFile& source, const TableOptions& options);

void write_word2vec(OutputFile& file, const WordTable& table);
void write_word2vec_text(OutputFile& file, const WordTable& table);
void write_glove(OutputFile& file, const WordTable& table);
void write_npy(OutputFile& file, const WordTable& table);
void write_npz(OutputFile& file, const WordTable& table);
void write_safetensors(OutputFile& file, const WordTable& table, const std::string& tensor);
void write_tsv(OutputFile& file, const WordTable& table);
void write_csv(OutputFile& file, const WordTable& table);

// -- what several of them share

// "rows width" of a word2vec file, whichever its kind. The header's promise is compared with what can still come, at
// `row_bytes(width)` bytes a row.
struct Word2vecHeader {
  std::int64_t rows = 0, width = 0;
};
Word2vecHeader read_word2vec_header(InputFile& source, bool is_text);

// Takes rows as they come, with their words.
class TableBuilder {
 public:
  // Memory for `rows` is taken at once, unless the source is packed, whose size is not known.
  TableBuilder(const InputFile& source, const TableOptions& options, std::int64_t rows, std::int64_t width);

  std::span<float> next_row();  // to be filled
  // Keeps it. `offset`: where the row began in the file. The first of equal words wins, as in gensim.
  void add(std::string_view word, std::uint64_t offset);
  std::int64_t seen() const { return seen_; }  // rows, those of repeated words too
  LoadedTable finish();

 private:
  const InputFile& source_;
  bool escapes_;
  WordList words_;
  RowMatrix rows_;
  std::int64_t used_ = 0, seen_ = 0, repeated_ = 0, escaped_ = 0;
  std::string first_repeated_;
};

// Bytes that are no UTF-8, as "\xNN"; the rest as it is.
std::string escaped_utf8(std::string_view text);

// A line of a text format, split from its right end: the word may hold spaces.
struct TextRow {
  std::string_view word, numbers;
};
std::optional<TextRow> split_row(std::string_view line, std::int64_t width);
// Fields that blanks or tabs separate.
std::int64_t count_fields(std::string_view text);
// Reads exactly values.size() numbers; what is wrong, or "".
std::string parse_numbers(std::string_view text, std::span<float> values);
// One line of read_word2vec_text and of read_glove, whose words may hold spaces.
enum class Spaces { end_a_word, may_be_in_words };
void add_text_row(TableBuilder& builder, const InputFile& source, std::string_view line, std::uint64_t offset,
                  std::int64_t width, Spaces spaces);
// The shortest text that reads back as the same number.
void append_number(std::string& text, float value);

// StoreError if the word, which begins at `offset` of the file, is none; it names the byte.
void refuse_invalid_utf8(const InputFile& source, std::int64_t row, std::string_view word, std::uint64_t offset);

// StoreError if a word holds one of these characters: "word2vec's rows end their word with a space".
void refuse_in_words(const OutputFile& file, const WordTable& table, std::string_view characters,
                     const std::string& reason);

// How numbers are stored in npy and safetensors files.
void read_values(InputFile& source, ElementType type, std::span<float> values);
void read_values(InputFile& source, ElementType type, std::span<double> values);
// [rows, width]; `by_columns`: stored one column after the other. The promise is compared with the file's size first.
RowMatrix read_matrix(InputFile& source, ElementType type, std::int64_t rows, std::int64_t width, bool by_columns);

// The words of a table that has none of its own: a line each, or a JSON object {"word": row} or array (GPT-2's
// encoder.json: its byte alphabet is decoded; control characters and bytes that are no UTF-8 become "\xNN").
LoadedTable with_words(const InputFile& source, TableFormat format, RowMatrix rows, const TableOptions& options);

// Adds a word; one that is there already with its row's number, "the#17", as every row of such a table stays. False
// then.
bool add_marked(WordList& words, std::string word);

}  // namespace jari
