// Tokenizers and stemmers, bound as a spec would.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/plugins/components.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"
#include "tests/support/random_text.hpp"
#include "tests/support/small_byte_pair.hpp"

namespace jari {
namespace {

using test::bound;

std::string pieces_of(const Tokenizer& tokenizer, std::string_view text) {
  PieceList pieces;
  tokenizer.split(text, pieces);
  std::string result;
  for (std::size_t i = 0; i < pieces.size(); ++i) result += (i == 0 ? "" : "|") + std::string(pieces[i]);
  return result;
}

std::string pieces_of(const std::string& block, std::string_view text) {
  return pieces_of(*bound<Tokenizer>(block), text);
}

std::string stem(const Stemmer& stemmer, std::string_view word) {
  std::string scratch;
  return std::string(stemmer.stem(word, scratch));
}

TEST(Words, AreWhatStandsBetweenWhiteSpace) {
  EXPECT_EQ(pieces_of("words", "  하나\t둘\u3000셋\u00A0넷 다섯 "), "하나|둘|셋|넷|다섯");
  EXPECT_EQ(pieces_of("words", ""), "");
  EXPECT_EQ(pieces_of("words", " . "), "");
}

TEST(Words, LoseTheSignsAtBothEnds) {
  EXPECT_EQ(pieces_of("words", "(“Hello,”) it's «that»... 3.14; --- 《책》"), "Hello|it's|that|3.14|---|《책》");
  EXPECT_EQ(pieces_of("{type: words, strip_punctuation: true}", "--- 《책》 $5 a-b!"), "책|$5|a-b");
  EXPECT_EQ(pieces_of("{type: words, strip: ''}", "(a) b."), "(a)|b.");
  EXPECT_EQ(pieces_of("{type: words, strip: 'xß'}", "xxßaßbxß xß"), "aßb");
}

TEST(Words, MayBeLowered) {
  EXPECT_EQ(pieces_of("{type: words, lower_case: true}", "The ÉCOLE Ω"), "the|école|ω");
  EXPECT_EQ(pieces_of("words", "The"), "The");
  // Before the stemmer.
  EXPECT_EQ(pieces_of("{type: words, lower_case: true, stemmer: {type: josa, endings: [ing], stem: 2}}", "SINGING"),
            "sing");
}

TEST(Josa, StemsAsTheSourcesRuleDoes) {
  const auto golden = nlohmann::json::parse(test::read_text(test::source_path("tests/golden/text.json")));
  const auto words = bound<Tokenizer>("{type: words, stemmer: josa}");
  for (const auto& pair : golden.at("stems"))
    EXPECT_EQ(pieces_of(*words, pair[0].get<std::string>()), pair[1].get<std::string>());
  EXPECT_GT(golden.at("stems").size(), 50u);
}

TEST(Josa, TakesTheLongestEndingThatLeavesAStem) {
  const auto josa = bound<Stemmer>("josa");
  EXPECT_EQ(stem(*josa, "학교에서는"), "학교");
  EXPECT_EQ(stem(*josa, "집에서는"), "집에서") << "a stem of one character is too short: the next ending that fits";
  EXPECT_EQ(stem(*josa, "나는"), "나는");
  EXPECT_EQ(stem(*josa, "는"), "는");
  const auto own = bound<Stemmer>("{type: josa, endings: [b, ab], stem: 1}");
  EXPECT_EQ(stem(*own, "xab"), "x") << "longest first, whatever the order of the list";
  EXPECT_EQ(stem(*own, "ab"), "a");
}

TEST(Josa, HasTheSourcesList) {
  const SpecNode resolved = bound<Stemmer>("josa").resolved;
  EXPECT_EQ(resolved.find_path("slot.endings")->items.size(), 33u);
  EXPECT_NE(test::error_of<SpecError>([] {
              bound<Stemmer>("{type: josa, endings: [은, 는, 은]}");
            }).find("'은' is in the list twice"),
            std::string::npos);
}

TEST(Characters, TreatWhiteSpaceAsTold) {
  EXPECT_EQ(pieces_of("characters", "a  한\n"), "a| | |한|\n");
  EXPECT_EQ(pieces_of("{type: characters, white_space: collapse}", " a \t\u3000한 "), " |a| |한| ");
  EXPECT_EQ(pieces_of("{type: characters, white_space: drop}", " a \t\u3000한 "), "a|한");
  EXPECT_TRUE(bound<Tokenizer>("characters")->keeps_line_ends());
  EXPECT_FALSE(bound<Tokenizer>("{type: characters, white_space: drop}")->keeps_line_ends());
}

class BytePairComponent : public ::testing::Test {
 protected:
  test::TemporaryFolder folder_;
  test::BytePairFiles files_ = test::write_byte_pair(folder_.path());
  std::string block_ =
      "{type: byte_pair, vocabulary: '" + files_.vocabulary.string() + "', merges: '" + files_.merges.string() + "'}";
};

TEST_F(BytePairComponent, HasItsOwnVocabulary) {
  const auto tokenizer = bound<Tokenizer>(block_);
  std::vector<std::int32_t> ids;
  tokenizer->encode("hello world", TextPlace::beginning, ids);
  std::string text;
  for (const std::int32_t id : ids) text += tokenizer->own_pieces()->at(static_cast<std::size_t>(id)) + "|";
  EXPECT_EQ(text, "hello| wor|l|d|");
  EXPECT_EQ(pieces_of(*tokenizer, "hello world"), "hello| wor|l|d");
}

TEST_F(BytePairComponent, IsKnownByTheContentsOfItsFiles) {
  const std::string before = bound<Tokenizer>(block_)->content_hash();
  EXPECT_EQ(before.size(), 32u);
  std::ofstream(files_.merges, std::ios::app) << "b b\n";
  std::string text = test::read_text(files_.vocabulary);
  text.insert(text.rfind('}'), ", \"bb\": 266");
  std::ofstream(files_.vocabulary) << text;
  EXPECT_NE(bound<Tokenizer>(block_)->content_hash(), before);
}

TEST_F(BytePairComponent, FilesThatAreNoneAreMistakesOfTheSpec) {
  const std::string error =
      test::error_of<SpecError>([] { bound<Tokenizer>("{type: byte_pair, vocabulary: /no/v, merges: /no/m}"); });
  EXPECT_NE(error.find("test.yaml:1:37: error: slot.vocabulary: /no/v: there is no such file\n"), std::string::npos)
      << error;
  EXPECT_NE(error.find("slot.merges: /no/m: there is no such file\n"), std::string::npos) << error;
}

// -- learned from a corpus

const std::string kCorpus = "학교에서 학교를 학교가\n\n  banana banana's bandana 12 12";

// As `data` makes it (framework/train/tokenize.cpp).
std::shared_ptr<const Tokenizer> learned(const std::string& settings, const std::string& corpus = kCorpus) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "corpus.txt") << corpus;
  CorpusReader reader({folder.path() / "corpus.txt"}, {});
  const auto tokenizer = bound<Tokenizer>("{type: byte_pair, train: " + settings + "}");
  EXPECT_TRUE(tokenizer->learns());
  EXPECT_EQ(tokenizer->own_pieces(), nullptr);
  return tokenizer->with_model(tokenizer->train(reader));
}

TEST(LearnedBytePair, MarksWhereWordsStart) {
  const auto tokenizer = learned("{vocabulary: 289, coverage: 1}");
  EXPECT_EQ(tokenizer->own_pieces()->size(), 289u);
  EXPECT_EQ(pieces_of(*tokenizer, "학교를 banana\n\n학교"), "▁학교를|▁banana|\n|\n|▁학교");
  EXPECT_EQ(pieces_of(*tokenizer, "힣"), "▁|<0xED>|<0x9E>|<0xA3>");
}

TEST(LearnedBytePair, OfBytesCutsAsGpt2Does) {
  const auto tokenizer = learned("{vocabulary: 276, mark: bytes}");
  EXPECT_EQ(tokenizer->own_pieces()->size(), 276u);
  EXPECT_EQ(pieces_of(*tokenizer, "a banana's"), "a| banana|'s");
}

TEST(LearnedBytePair, KnowsNoSpecialTokenInAText) {
  const auto tokenizer = learned("{vocabulary: 290, coverage: 1, special: [<a>]}");
  EXPECT_EQ(tokenizer->own_pieces()->front(), "<a>");
  EXPECT_EQ(pieces_of(*tokenizer, "<a>"), "▁|<0x3C>|a|<0x3E>");
}

// What is written for Hugging Face is read back as the same tokenizer.
TEST(LearnedBytePair, IsTheSameFromItsFile) {
  const test::TemporaryFolder folder;
  std::mt19937 random(5);
  for (const char* settings : {"{vocabulary: 289, coverage: 1}", "{vocabulary: 276, mark: bytes}",
                               "{vocabulary: 34, coverage: 1, byte_fallback: false}"}) {
    const auto tokenizer = learned(settings);
    const std::filesystem::path file = folder.path() / "tokenizer.json";
    std::ofstream(file) << tokenizer->to_json();
    const auto read = bound<Tokenizer>("{type: hugging_face, file: '" + file.string() + "'}");
    EXPECT_TRUE(read->keeps_line_ends());
    EXPECT_EQ(*read->own_pieces(), *tokenizer->own_pieces());
    EXPECT_EQ(read->content_hash().size(), 32u);
    for (int round = 0; round < 200; ++round) {
      const std::string text = test::random_text(random, 60);
      EXPECT_EQ(pieces_of(*read, text), pieces_of(*tokenizer, text));
    }
  }
}

TEST_F(BytePairComponent, IsTheSameFromTheFileThatItWrites) {
  std::ofstream(folder_.path() / "tokenizer.json") << bound<Tokenizer>(block_)->to_json();
  const auto read =
      bound<Tokenizer>("{type: hugging_face, file: '" + (folder_.path() / "tokenizer.json").string() + "'}");
  EXPECT_EQ(*read->own_pieces(), *bound<Tokenizer>(block_)->own_pieces());
  EXPECT_EQ(pieces_of(*read, "hello world"), "hello| wor|l|d");
  EXPECT_EQ(read->decode(std::vector<std::int32_t>{259, 10}), "hello\n");
}

TEST(HuggingFaceComponent, ThatKeepsWhiteSpaceInItsWordsSeesOneLineAtATime) {
  const auto keeps_line_ends = [](const std::string& name) {
    const std::string file = test::source_path("tests/golden/tokenizers/" + name + ".json").string();
    return bound<Tokenizer>("{type: hugging_face, file: '" + file + "'}")->keeps_line_ends();
  };
  EXPECT_TRUE(keeps_line_ends("byte_level"));
  for (const char* name : {"metaspace", "unigram", "word_piece", "llama3"}) EXPECT_FALSE(keeps_line_ends(name)) << name;
}

TEST(SentencePieceComponent, HasItsOwnVocabulary) {
  if (!has_sentence_piece()) GTEST_SKIP() << "this build has no SentencePiece";
  const std::string file = test::source_path("tests/golden/tokenizers/bpe.model").string();
  const auto tokenizer = bound<Tokenizer>("{type: sentence_piece, model: '" + file + "'}");
  EXPECT_EQ(tokenizer->own_pieces()->size(), 380u);
  EXPECT_EQ(tokenizer->to_json(), "");
  EXPECT_FALSE(tokenizer->keeps_line_ends());
  std::vector<std::int32_t> whole, parts;
  tokenizer->encode("학교 음악은", TextPlace::beginning, whole);
  tokenizer->encode("학교", TextPlace::beginning, parts);
  tokenizer->encode(" 음악은", TextPlace::rest, parts);
  EXPECT_EQ(parts, whole);
  EXPECT_EQ(tokenizer->decode(whole), "학교 음악은");
}

// Streams are cut before white space that follows other text: no tokenizer's ids may depend on where.
TEST_F(BytePairComponent, AndAllOthersGiveTextsAndTheirSegmentsTheSameIds) {
  std::mt19937 random(6);
  const std::shared_ptr<const Tokenizer> all[] = {bound<Tokenizer>(block_).slot.shared(),
                                                  learned("{vocabulary: 289, coverage: 1}"),
                                                  learned("{vocabulary: 276, mark: bytes}")};
  for (const auto& tokenizer : all) {
    for (int round = 0; round < 200; ++round) {
      const std::string text = test::random_text(random, 60);
      std::vector<std::int32_t> whole;
      tokenizer->encode(text, TextPlace::beginning, whole);
      for (std::size_t cut = 1; cut < text.size(); ++cut) {
        const bool after_text =
            utf8_prefix(text.substr(0, cut)).valid == cut && !is_white_space(last_code_point(text, cut).code_point);
        if (!after_text || white_space_at(text, cut) == 0) continue;
        std::vector<std::int32_t> parts;
        tokenizer->encode(std::string_view(text).substr(0, cut), TextPlace::beginning, parts);
        tokenizer->encode(std::string_view(text).substr(cut), TextPlace::rest, parts);
        ASSERT_EQ(parts, whole) << text;
      }
    }
  }
}

// The same of the pieces.
TEST_F(BytePairComponent, AndAllOthersCutTextsAndTheirSegmentsAlike) {
  std::mt19937 random(1);
  for (const std::string& block : {block_, std::string("words"), std::string("characters"),
                                   std::string("{type: characters, white_space: collapse}")}) {
    const auto tokenizer = bound<Tokenizer>(block);
    for (int round = 0; round < 200; ++round) {
      const std::string text = test::random_text(random, 60);
      for (std::size_t cut = 1; cut < text.size(); ++cut) {
        const bool after_text =
            utf8_prefix(text.substr(0, cut)).valid == cut && !is_white_space(last_code_point(text, cut).code_point);
        if (!after_text || white_space_at(text, cut) == 0) continue;
        PieceList parts, whole;
        tokenizer->split(text, whole);
        tokenizer->split(std::string_view(text).substr(0, cut), parts);
        tokenizer->split(std::string_view(text).substr(cut), parts);
        ASSERT_EQ(parts.size(), whole.size()) << block << ": " << text;
        for (std::size_t i = 0; i < whole.size(); ++i) ASSERT_EQ(parts[i], whole[i]);
      }
    }
  }
}

// A dictionary of four words and two particles, compiled by Debian's mecab-utils.
class MecabComponent : public ::testing::Test {
 protected:
  static constexpr const char* kCompiler = "/usr/lib/mecab/mecab-dict-index";

  void SetUp() override {
    if (!has_mecab()) GTEST_SKIP() << "this build has no MeCab";
    if (!std::filesystem::exists(kCompiler)) GTEST_SKIP() << "needs mecab-utils";
    const std::filesystem::path source = folder_.path() / "source";
    std::filesystem::create_directory(source);
    const auto write = [&](const char* name, const char* text) { std::ofstream(source / name) << text; };
    write("dicrc",
          "cost-factor = 800\nbos-feature = BOS/EOS,*\neval-size = 1\nunk-eval-size = 1\nconfig-charset = UTF-8\n");
    write("char.def", "DEFAULT 0 1 0\nSPACE 0 1 0\n0x0020 SPACE\n");
    write("unk.def", "DEFAULT,0,0,9000,UNKNOWN,*\nSPACE,0,0,9000,SPACE,*\n");
    write("matrix.def", "1 1\n0 0 0\n");
    write("feature.def", "UNIGRAM:%F[0]\n");
    write("rewrite.def", "[unigram rewrite]\n*,* $1,$2\n[left rewrite]\n*,* $1,$2\n[right rewrite]\n*,* $1,$2\n");
    write("left-id.def", "0 BOS/EOS,*\n");
    write("right-id.def", "0 BOS/EOS,*\n");
    write("pos-id.def", "");
    write("words.csv",
          "학교,0,0,100,NNG,*\n학생,0,0,100,NNG,*\n공부,0,0,100,NNG,*\n하,0,0,100,XSV,*\n였다,0,0,100,EP+EF,*\n"
          "에서,0,0,100,JKB,*\n는,0,0,100,JX,*\n들,0,0,100,XSN,*\n");
    const std::string command = std::string(kCompiler) + " -d '" + source.string() + "' -o '" + dictionary_.string() +
                                "' -f UTF-8 -t UTF-8 > '" + (folder_.path() / "log").string() + "' 2>&1";
    std::filesystem::create_directory(dictionary_);
    ASSERT_EQ(std::system(command.c_str()), 0) << test::read_text(folder_.path() / "log");
    std::filesystem::copy(source / "dicrc", dictionary_ / "dicrc");
  }

  std::string block(const std::string& more = "") const {
    return "{type: mecab, dictionary: '" + dictionary_.string() + "'" + more + "}";
  }

  test::TemporaryFolder folder_;
  std::filesystem::path dictionary_ = folder_.path() / "a dictionary";
};

TEST_F(MecabComponent, LeavesParticlesAndEndingsOut) {
  const auto mecab = bound<Stemmer>(block());
  EXPECT_EQ(stem(*mecab, "학교에서는"), "학교");
  EXPECT_EQ(stem(*mecab, "학생들"), "학생");
  EXPECT_EQ(stem(*mecab, "공부하였다"), "공부");
  EXPECT_EQ(stem(*mecab, "에서는"), "에서는") << "a word of which nothing is left stays whole";
  const auto keep_all = bound<Stemmer>(block(", drop: [J]"));
  EXPECT_EQ(stem(*keep_all, "공부하였다"), "공부하였다");
}

TEST_F(MecabComponent, ServesSeveralThreads) {
  const auto words = bound<Tokenizer>("{type: words, stemmer: " + block() + "}");
  EXPECT_EQ(words->content_hash().size(), 32u);
  std::vector<std::string> results(8);
  std::vector<std::thread> threads;
  for (std::string& result : results) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) result = pieces_of(*words, "학교에서는 학생들 공부하였다.");
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& result : results) EXPECT_EQ(result, "학교|학생|공부");
}

TEST_F(MecabComponent, AFolderWithoutADictionaryIsAMistakeOfTheSpec) {
  const std::string error = test::error_of<SpecError>(
      [&] { bound<Stemmer>("{type: mecab, dictionary: '" + folder_.path().string() + "'}"); });
  EXPECT_NE(error.find("no dictionary of MeCab: "), std::string::npos) << error;
}

}  // namespace
}  // namespace jari
