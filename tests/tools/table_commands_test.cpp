// The commands that look into a table, from the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "framework/store/run_file.hpp"
#include "framework/table/table_file.hpp"
#include "tests/support/files.hpp"
#include "tests/table/tables.hpp"
#include "tests/tools/run_jari.hpp"

namespace jari {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

using test::run_jari;

WordTable royal_table() {
  return test::table_of({"man", "woman", "king", "queen", "바다"},
                        {{1, 0, 0}, {1, 1, 0}, {1, 0, 1}, {1, 1, 1}, {-1, 0, 0.5F}}, {50, 40, 6, 5, 30});
}

// A file of vectors, and a run with the same table.
class TableCommands : public testing::Test {
 protected:
  TableCommands() {
    write_table(file_, royal_table(), TableFormat::npz);
    RunRecord record;
    record.attributes.experiment = "royal";
    const WordTable table = royal_table();
    record.weights.push_back({"position/table", {2, 3}, std::vector<float>(6, 0.5F), {"position", "width"}});
    record.weights.push_back({"embedding", {5, 3}, test::values_of(table), {"token", "width"}});
    record.vocabulary_tokens = test::words_of(table);
    record.vocabulary_counts = table.counts();
    fs::create_directories(run_);
    write_run_file(run_ / "run.h5", record);
  }
  fs::path write(const std::string& name, const std::string& text) const {
    test::write_bytes(folder_.path() / name, text);
    return folder_.path() / name;
  }

  test::TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "royal.npz", run_ = folder_.path() / "trial";
};

TEST_F(TableCommands, NeighborsOfARunAndOfAFileAreTheSame) {
  const test::Output of_run = run_jari({"neighbors", run_.string(), "queen", "--count", "2"});
  EXPECT_EQ(of_run.status, 0) << of_run.err;
  EXPECT_THAT(of_run.out, HasSubstr("queen     1  woman     0.8165\n          2  king      0.8165\n"));
  EXPECT_EQ(run_jari({"neighbors", file_.string(), "queen", "--count", "2"}).out, of_run.out);
  EXPECT_EQ(run_jari({"neighbors", (run_ / "run.h5").string(), "queen", "--count", "2", "--tensor", "embedding"}).out,
            of_run.out);
}

TEST_F(TableCommands, NeighborsInCsvAndJson) {
  EXPECT_EQ(run_jari({"neighbors", file_.string(), "man", "--count", "1", "--by", "dot", "--format", "csv"}).out,
            "word,rank,neighbor,dot\nman,1,woman,1\n");
  const auto json = nlohmann::json::parse(run_jari({"neighbors", file_.string(), "바다", "--format", "json"}).out);
  EXPECT_EQ(json.size(), 4u);
  EXPECT_EQ(json[0]["word"], "바다");
  EXPECT_EQ(json[0]["neighbor"], "queen");
}

TEST_F(TableCommands, AnUnknownWordIsAnErrorWithWordsLikeIt) {
  const test::Output output = run_jari({"neighbors", file_.string(), "quen"});
  EXPECT_EQ(output.status, 2);
  EXPECT_EQ(output.err, "error: no word 'quen' among 5; did you mean 'queen'?\n");
  EXPECT_EQ(output.out, "");
}

TEST_F(TableCommands, AnAnalogySaysWhatItComputes) {
  const test::Output output = run_jari({"analogy", run_.string(), "man", "king", "woman", "--count", "1"});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.out, StartsWith("king - man + woman\n"));
  EXPECT_THAT(output.out, HasSubstr("   1  queen  "));
  EXPECT_EQ(run_jari({"analogy", run_.string(), "man", "king"}).err,
            "error: analogy takes three words, A B C, or --questions FILE; 2 words were given\n");
}

TEST_F(TableCommands, OptionsThatWouldChangeNothingAreRefused) {
  const std::string file = file_.string();
  EXPECT_EQ(run_jari({"analogy", file, "man", "king", "woman", "--questions", "q.txt"}).err,
            "error: analogy takes three words, A B C, or --questions FILE; not words and a file\n");
  EXPECT_EQ(run_jari({"analogy", file, "--questions", "q.txt", "--raw"}).err,
            "error: --raw is for three words; questions are asked of unit vectors\n");
  EXPECT_EQ(run_jari({"analogy", file, "man", "king", "woman", "--most-frequent", "3"}).err,
            "error: --most-frequent and --case go with --questions\n");
  EXPECT_EQ(run_jari({"similarity", file, "man", "king", "--pairs", "p.csv"}).err,
            "error: similarity takes two words or more, or --pairs FILE; not words and a file\n");
  EXPECT_EQ(run_jari({"similarity", file, "man", "king", "--case"}).err,
            "error: --most-frequent and --case go with --pairs\n");
  EXPECT_EQ(run_jari({"project", file, "man", "king", "--most-frequent", "3"}).err,
            "error: project takes words or --most-frequent, not both\n");
}

TEST_F(TableCommands, ControlCharactersOfAFileDoNotReachTheTerminal) {
  const fs::path path = write("t.txt", "2 1\na 1\nb\x1B[31m 2\n");
  EXPECT_THAT(run_jari({"neighbors", path.string(), "a"}).out, HasSubstr("b\\x1b[31m  1.0000\n"));
  EXPECT_EQ(run_jari({"neighbors", path.string(), "c\x1B"}).err, "error: no word 'c\\x1b' among 2\n");
}

TEST_F(TableCommands, QuestionsOfAFileAreCountedBySection) {
  const fs::path questions = write("questions.txt", ": royal\nman woman king queen\nman woman king duke\n");
  EXPECT_EQ(run_jari({"analogy", file_.string(), "--questions", questions.string(), "--format", "csv"}).out,
            "section,accuracy,correct,asked,unknown\nroyal,1,1,1,1\nall,1,1,1,1\n");
}

TEST_F(TableCommands, SimilarityOfWordsDirectionsAndJudgedPairs) {
  EXPECT_EQ(run_jari({"similarity", file_.string(), "man", "woman", "--format", "csv"}).out,
            "word,other,cosine,distance\nman,woman,0.7071067811865475,1\n");
  const test::Output directions =
      run_jari({"similarity", file_.string(), "--directions", "man", "woman", "king", "queen", "--format", "csv"});
  EXPECT_EQ(directions.out, "direction,other,cosine\nwoman - man,queen - king,1\n");
  EXPECT_THAT(directions.err, HasSubstr("control: directions of 10000 random pairs among the first 5 words"));
  const fs::path pairs = write("pairs.csv", "man,woman,9\nman,king,8\nman,바다,1\nman,duke,2\n");
  const test::Output judged = run_jari({"similarity", file_.string(), "--pairs", pairs.string(), "--format", "csv"});
  EXPECT_THAT(judged.out, StartsWith("spearman,pearson,pairs,unknown\n0.8660254"));
  EXPECT_THAT(judged.out, HasSubstr(",3,1\n"));
  EXPECT_EQ(judged.err, "not in the table: man, duke\n");
  EXPECT_EQ(run_jari({"similarity", file_.string(), "man"}).status, 2);
  EXPECT_THAT(run_jari({"similarity", file_.string(), "--directions", "man", "king", "woman"}).err,
              HasSubstr("takes words by twos"));
}

TEST_F(TableCommands, ProjectWritesCoordinatesAndShowsTheVariance) {
  const fs::path csv = folder_.path() / "map.csv";
  const test::Output output =
      run_jari({"project", run_.string(), "-o", csv.string(), "--components", "3", "--format", "csv"});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.out, StartsWith("axis,variance_ratio,together,r_log_frequency,r_word_start\n1,0."));
  const std::string text = test::read_text(csv);
  EXPECT_THAT(text, StartsWith("word,count,axis1,axis2,axis3\n\"man\",50,"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6);
  EXPECT_EQ(run_jari({"project", run_.string(), "man"}).err,
            "error: project needs two words at least; one has no variance\n");
}

TEST_F(TableCommands, RetrieveRanksDocuments) {
  const fs::path books = write("books.tsv", "Court\tThe king and the queen\nShip\t바다, 바다!\n");
  const test::Output output = run_jari({"retrieve", file_.string(), books.string(), "a", "바다", "--format", "csv"});
  EXPECT_EQ(output.out, "rank,document,cosine,known,unknown\n1,Ship,1,2,0\n2,Court,-0.29814239699997197,2,3\n");
  EXPECT_EQ(output.err, "not in the table: a\n");
  EXPECT_THAT(run_jari({"retrieve", file_.string(), books.string(), "nothing"}).err,
              HasSubstr("no word of the question 'nothing' is in the table"));
}

TEST_F(TableCommands, ExportWritesWhatIsReadAgain) {
  for (const std::string& format : table_format_names()) {
    const fs::path path = folder_.path() / ("out." + format);
    const test::Output output = run_jari({"export", run_.string(), "--to", format, "-o", path.string()});
    EXPECT_EQ(output.status, 0) << output.err;
    EXPECT_THAT(output.out, StartsWith(path.string() + ": 5 rows of 3 numbers\n"));
    if (format == "csv") continue;
    TableOptions options;
    options.format = table_format_named(format);
    const LoadedTable loaded = read_table(path, options);
    EXPECT_EQ(test::values_of(loaded.table), test::values_of(royal_table())) << format;
    EXPECT_EQ(test::words_of(loaded.table), test::words_of(royal_table())) << format;
  }
}

TEST_F(TableCommands, ExportNeedsAFormatAndSparesItsInput) {
  EXPECT_EQ(run_jari({"export", file_.string()}).err,
            "error: name the format with --to: word2vec, word2vec_text, glove, npy, npz, safetensors, tsv, csv\n");
  EXPECT_THAT(run_jari({"export", file_.string(), "--to", "npz", "-o", file_.string()}).err,
              HasSubstr("is the table itself; name another file with -o"));
}

TEST_F(TableCommands, AWeightThatIsNotThereIsNamedWithThoseThatAre) {
  EXPECT_EQ(run_jari({"neighbors", run_.string(), "man", "--tensor", "output"}).err,
            "error: " + (run_ / "run.h5").string() +
                ": there is no weight 'output'; it holds position/table (2, 3), embedding (5, 3)\n");
  EXPECT_THAT(run_jari({"neighbors", folder_.path().string(), "man"}).err, HasSubstr("there is no run.h5"));
  const fs::path words = write("places.txt", "first\nsecond\n");
  EXPECT_EQ(run_jari({"similarity", run_.string(), "first", "second", "--tensor", "position/table", "--words",
                      words.string(), "--format", "csv"})
                .out,
            "word,other,cosine,distance\nfirst,second,1,0\n");
  // Positions have no words of their own; they go by their numbers.
  EXPECT_EQ(run_jari({"similarity", run_.string(), "0", "1", "--tensor", "position/table", "--format", "csv"}).out,
            "word,other,cosine,distance\n0,1,1,0\n");
}

}  // namespace
}  // namespace jari
