// jari tokens, from its command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "framework/store/atomic_file.hpp"
#include "framework/store/run_file.hpp"
#include "tests/support/cache_home.hpp"
#include "tests/support/files.hpp"
#include "tests/support/small_byte_pair.hpp"
#include "tools/commands.hpp"

namespace jari {
namespace {

using ::testing::HasSubstr;

struct Output {
  int status;
  std::string out, err;
};

class TokensCommand : public ::testing::Test {
 protected:
  TokensCommand() {
    write_file_atomically(folder_.path() / "corpus.txt",
                          "학교에서 음악을 듣는다.\n학교의 음악 시간\n학교에서는 음악을\n");
    write_file_atomically(spec_,
                          "experiment: words\ndata:\n  corpus: corpus.txt\n"
                          "  tokenizer: {type: words, stemmer: josa}\n  vocabulary: {min_count: 2}\n");
  }

  static Output jari(const std::vector<std::string>& arguments) {
    std::vector<const char*> argv = {"jari", "tokens"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int status = run_program(static_cast<int>(argv.size()), argv.data());
    const std::string err = ::testing::internal::GetCapturedStderr();
    return {status, ::testing::internal::GetCapturedStdout(), err};
  }

  test::TemporaryFolder folder_;
  std::filesystem::path spec_ = folder_.path() / "spec.yaml";
  const test::CacheHome cache_{folder_.path()};
};

TEST_F(TokensCommand, ShowsPiecesIdsAndWhatIsUnknown) {
  const Output output = jari({spec_.string(), "학교에서는 수학을, 음악과"});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_EQ(output.out,
            "piece  id  count\n"
            "-----  --  -----  -----------------\n"
            "학교    0      3\n"
            "수학    -         unknown: left out\n"
            "음악    1      3\n"
            "3 pieces, 1 of them unknown; the vocabulary has 2\n");
}

TEST_F(TokensCommand, WithoutATextShowsTheCorpusFirstLines) {
  const Output output = jari({spec_.string()});
  EXPECT_THAT(output.out, HasSubstr("듣는다"));
  EXPECT_THAT(output.out, HasSubstr("8 pieces, 2 of them unknown; the vocabulary has 2\n"));
}

TEST_F(TokensCommand, TakesOverridesAndCounts) {
  const Output counts =
      jari({spec_.string(), "--count", "3", "-", "data.tokenizer={type: characters, white_space: drop}"});
  EXPECT_EQ(counts.out,
            "piece  id  count\n"
            "-----  --  -----\n"
            "학      0      3\n"
            "교      1      3\n"
            "음      2      3\n");
  const Output unknown = jari({spec_.string(), "수학", "data.vocabulary.unknown=<unk>"});
  EXPECT_THAT(unknown.out, HasSubstr("수학    0         unknown\n"));
}

TEST_F(TokensCommand, ShowsBytesOfByteLevelPieces) {
  const auto files = test::write_byte_pair(folder_.path());
  write_file_atomically(spec_,
                        "experiment: pairs\ndata:\n  corpus: corpus.txt\n"
                        "  tokenizer: {type: byte_pair, vocabulary: encoder.json, merges: vocab.bpe}\n");
  EXPECT_THAT(jari({spec_.string(), "hello\n한"}).out, HasSubstr("hello  259      0\n\\n      10      3\n\\xED   237"));
}

TEST_F(TokensCommand, RefusesWhatItCanNotDo) {
  const Output negative = jari({spec_.string(), "--count", "-1"});
  EXPECT_EQ(negative.status, 2);
  EXPECT_EQ(negative.err, "error: --count -1: expected 0 or more\n");
  EXPECT_EQ(jari({spec_.string(), "--trial", "1"}).err, "error: --trial 1: the spec declares trials 0 to 0\n");
  EXPECT_EQ(jari({spec_.string(), "--count", "1", "text"}).err,
            "error: --count shows pieces of the corpus; leave the text out, or write - in its place\n");
  EXPECT_EQ(jari({spec_.string(), "data.tokenizer=characters"}).err,
            "error: 'data.tokenizer=characters' stands where the text should; overrides follow it: jari tokens " +
                spec_.string() + " \"\" data.tokenizer=characters\n");
  EXPECT_EQ(jari({folder_.path().string(), "text"}).err,
            "error: " + (folder_.path() / "run.h5").string() +
                ": there is no such run file; give a spec, a finished trial's folder or a run file\n");
  EXPECT_EQ(jari({spec_.string(), "a\xFF"}).err, "error: the text is not UTF-8 at byte 1\n");
  write_file_atomically(spec_, "experiment: none\n");
  const Output none = jari({spec_.string(), "text"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("missing key 'data'"));
  write_file_atomically(spec_, "data: {corpus: none.txt, tokenizer: words}\n");
  EXPECT_THAT(jari({spec_.string(), "text"}).err, HasSubstr("none.txt: No such file or directory"));
}

TEST_F(TokensCommand, ReadsTheVocabularyOfARun) {
  RunRecord record;
  record.attributes.experiment = "words";
  record.spec_resolved =
      "experiment: words\ndata: {corpus: [/gone.txt], tokenizer: {type: words, stemmer: josa}, normalize: nfc}\n";
  record.vocabulary_tokens = {"학교", "음악"};
  record.vocabulary_counts = {3, 2};
  write_run_file(folder_.path() / "run.h5", record);
  for (const std::filesystem::path& run : {folder_.path(), folder_.path() / "run.h5"}) {
    const Output output = jari({run.string(), "음악은"});
    EXPECT_EQ(output.status, 0) << output.err;
    EXPECT_THAT(output.out, HasSubstr("음악    1      2\n"));
  }
  EXPECT_EQ(jari({folder_.path().string()}).err, "error: a run holds no text: give one\n");
}

TEST_F(TokensCommand, KnowsWhichTokensOfARunAreNoText) {
  RunRecord record;
  record.spec_resolved =
      "data: {corpus: [/gone.txt], tokenizer: {type: words}, vocabulary: {min_count: 1, unknown: <unk>}, "
      "normalize: nfc}\n";
  record.vocabulary_tokens = {"<unk>", "음악"};
  record.vocabulary_counts = {1, 2};
  write_run_file(folder_.path() / "run.h5", record);
  EXPECT_THAT(jari({folder_.path().string(), "<unk> 음악"}).out, HasSubstr("2 pieces, 1 of them unknown"));
}

TEST_F(TokensCommand, SavesATokenizerAndReadsThatOfARun) {
  const std::string train = "data.tokenizer={type: byte_pair, train: {vocabulary: 287, coverage: 1}}";
  const std::filesystem::path file = folder_.path() / "tokenizer.json";
  const Output saved = jari({spec_.string(), "", train, "--save", file.string()});
  EXPECT_EQ(saved.status, 0) << saved.err;
  const Output of_spec = jari({spec_.string(), "음악을 학교", train});
  const std::string read = "data.tokenizer={type: hugging_face, file: '" + file.string() + "'}";
  const Output of_file = jari({spec_.string(), "음악을 학교", read});
  EXPECT_THAT(of_spec.out, HasSubstr("▁음악을"));
  EXPECT_EQ(of_file.out, of_spec.out);
  EXPECT_EQ(jari({spec_.string(), "", "--save", file.string()}).err,
            "error: --save " + file.string() + ": the tokenizer 'words' can not be written as a tokenizer.json\n");

  RunRecord record;
  record.attributes.experiment = "words";
  record.spec_resolved =
      "experiment: words\ndata: {corpus: [/gone.txt], tokenizer: {type: byte_pair, train: {vocabulary: 287}}, "
      "normalize: nfc}\n";
  record.vocabulary_tokens = {"▁학교", "▁음악을"};
  record.vocabulary_counts = {3, 2};
  record.tokenizer_model = test::read_text(file);
  write_run_file(folder_.path() / "run.h5", record);
  const Output of_run = jari({folder_.path().string(), "음악을"});
  EXPECT_EQ(of_run.status, 0) << of_run.err;
  EXPECT_THAT(of_run.out, HasSubstr("▁음악을   1      2\n"));
}

}  // namespace
}  // namespace jari
