// From the `data` block of a spec to ids on the disk.
#include "framework/train/token_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "framework/base/error.hpp"
#include "framework/registry/registry.hpp"
#include "framework/spec/yaml_reader.hpp"
#include "framework/train/tokenize.hpp"
#include "framework/train/trial.hpp"
#include "tests/support/data.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"
#include "tests/support/random_text.hpp"
#include "tests/support/small_byte_pair.hpp"

namespace jari {
namespace {

const Registry& registry() {
  static const Registry builtin = [] {
    Registry all;
    register_builtin_plugins(all);
    return all;
  }();
  return builtin;
}

class Tokens : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_.path() / name, std::ios::binary) << bytes;
    return folder_.path() / name;
  }

  // A `data` block in a file of the folder.
  DataSpec data(const std::string& block) const {
    Diagnostics diagnostics;
    const SpecNode node = read_yaml_text(block, (folder_.path() / "spec.yaml").string(), diagnostics);
    DataSpec spec;
    SpecNode resolved;
    Binder(&registry(), diagnostics).bind(node, "", spec, resolved);
    diagnostics.throw_if_any();
    return spec;
  }

  // "a b|c d": pieces by the ids, lines apart.
  static std::string text_of(const TokenizedCorpus& corpus) {
    std::string text;
    for (std::size_t line = 0; line + 1 < corpus.line_starts.size(); ++line) {
      if (line > 0) text += "|";
      for (std::int64_t i = corpus.line_starts[line]; i < corpus.line_starts[line + 1]; ++i) {
        text += (i == corpus.line_starts[line] ? "" : " ");
        text += corpus.vocabulary.pieces()[static_cast<std::size_t>(corpus.ids[static_cast<std::size_t>(i)])];
      }
    }
    return text;
  }
  std::string tokens(const std::string& block) { return text_of(*cache_.get(data(block))); }

  // The file that `tokenize` writes.
  std::string file_of(const DataSpec& spec, std::size_t block) const {
    std::string bytes;
    TokenFileWriter writer([&](std::string_view part) { bytes += part; }, std::string(32, '0'));
    tokenize(spec, folder_.path(), writer, block);
    return bytes;
  }

  test::TemporaryFolder folder_;
  TokenCache cache_{folder_.path() / "cache" / "tokens"};
};

TEST_F(Tokens, KeepLinesApart) {
  write("a.txt", "하나 둘 셋\r\n\r\n둘 셋\n");
  write("b.txt", "셋");
  EXPECT_EQ(tokens("{corpus: a.txt, tokenizer: words}"), "하나 둘 셋|둘 셋");
  EXPECT_EQ(tokens("{corpus: [a.txt, b.txt], tokenizer: words}"), "하나 둘 셋|둘 셋|셋");
  EXPECT_EQ(tokens("{corpus: '?.txt', tokenizer: {type: characters, white_space: drop}}"), "하 나 둘 셋|둘 셋|셋");
  EXPECT_EQ(tokens("{corpus: b.txt, tokenizer: characters}"), "셋");
  write("c.txt", "a\nb");
  EXPECT_EQ(tokens("{corpus: [c.txt, b.txt], tokenizer: characters}"), "a \n|b|셋") << "a line end belongs to its line";
}

TEST_F(Tokens, OfLeftOutPiecesLeaveNoLines) {
  write("a.txt", "x a\ny\na z a\n");
  EXPECT_EQ(tokens("{corpus: a.txt, tokenizer: words, vocabulary: {min_count: 2}}"), "a|a a");
  EXPECT_EQ(tokens("{corpus: a.txt, tokenizer: words, vocabulary: {min_count: 2, unknown: '?', special: [m]}}"),
            "? a|?|a ? a");
  EXPECT_EQ(tokens("{corpus: a.txt, tokenizer: words, vocabulary: {size: 2}}"), "x a|a a");
}

TEST_F(Tokens, OfByteLevelPairsKeepTheirIdsUnlessTheyAreChosen) {
  const auto files = test::write_byte_pair(folder_.path());
  write("a.txt", "hello world\nhello");
  const std::string tokenizer = "tokenizer: {type: byte_pair, vocabulary: encoder.json, merges: vocab.bpe}";
  const auto own = cache_.get(data("{corpus: a.txt, " + tokenizer + "}"));
  EXPECT_EQ(text_of(*own), "hello  wor l d \n|hello");
  EXPECT_EQ(own->vocabulary.size(), 266);
  EXPECT_EQ(own->ids[0], own->vocabulary.find("hello"));
  EXPECT_EQ(own->vocabulary.counts()[static_cast<std::size_t>(own->ids[0])], 2);
  const auto chosen = cache_.get(data("{corpus: a.txt, vocabulary: {size: 2}, " + tokenizer + "}"));
  EXPECT_EQ(chosen->vocabulary.pieces(), (std::vector<std::string>{"hello", "\n"}));
}

TEST_F(Tokens, OfATokenizerThatLearnsHoldItsModel) {
  write("a.txt", "banana bandana\nbanana");
  const std::string block = "{corpus: a.txt, tokenizer: {type: byte_pair, train: {vocabulary: 268}}}";
  const auto corpus = cache_.get(data(block));
  EXPECT_EQ(text_of(*corpus), "▁banana ▁ban dana \n|▁banana");
  EXPECT_EQ(corpus->vocabulary.size(), 268);
  const auto tokenizer = data(block).learned_tokenizer(corpus->model);
  EXPECT_EQ(tokenizer->decode(corpus->ids), "banana bandana\nbanana");
  EXPECT_NE(cache_.path_of(data(block)),
            cache_.path_of(data("{corpus: a.txt, tokenizer: {type: byte_pair, train: {vocabulary: 267}}}")));
  EXPECT_EQ(test::error_of<StoreError>(
                [&] { tokens("{corpus: a.txt, tokenizer: {type: byte_pair, train: {vocabulary: 1000}}}"); }),
            (folder_.path() / "a.txt").string() +
                ": the text gives 269 pieces, too few for a vocabulary of 1000: ask for fewer, or give more text");
}

TEST_F(Tokens, AreTheSameAtAllBlockSizes) {
  std::mt19937 random(1);
  test::write_byte_pair(folder_.path());
  write("a.txt", test::random_text(random, 2000) + "end");
  write("b.txt", test::random_text(random, 2000) + "end");
  for (const char* tokenizer :
       {"words", "{type: words, stemmer: josa, lower_case: true}", "characters",
        "{type: characters, white_space: collapse}", "{type: characters, white_space: drop}",
        "{type: byte_pair, vocabulary: encoder.json, merges: vocab.bpe}", "{type: byte_pair, train: {vocabulary: 400}}",
        "{type: byte_pair, train: {vocabulary: 300, mark: bytes}}"}) {
    const DataSpec spec = data(std::string("{corpus: [a.txt, b.txt], tokenizer: ") + tokenizer + "}");
    const std::string whole = file_of(spec, std::size_t{1} << 20);
    for (const std::size_t block : {1, 7, 4096})
      EXPECT_TRUE(file_of(spec, block) == whole) << tokenizer << " " << block;
  }
}

TEST_F(Tokens, AreReadBackFromTheDisk) {
  std::mt19937 random(2);
  write("a.txt", test::random_text(random, 2000) + " end");
  const std::string block = "{corpus: a.txt, tokenizer: words, vocabulary: {unknown: u}}";
  const DataSpec spec = data(block);
  const auto made = cache_.get(spec);
  EXPECT_EQ(cache_.get(spec), made) << "trials share one";
  const auto time = std::filesystem::last_write_time(cache_.path_of(spec));
  TokenCache other(folder_.path() / "cache" / "tokens");
  const auto read = other.get(data(block));
  EXPECT_NE(read, made);
  EXPECT_EQ(text_of(*read), text_of(*made));
  EXPECT_EQ(read->vocabulary.counts(), made->vocabulary.counts());
  EXPECT_EQ(std::filesystem::last_write_time(cache_.path_of(spec)), time) << "nothing was made again";
}

TEST_F(Tokens, AreMadeAgainWhereTheFileIsDamaged) {
  write("a.txt", "하나 둘 하나");
  const DataSpec spec = data("{corpus: a.txt, tokenizer: words}");
  const std::string expected = text_of(*cache_.get(spec));
  const std::string whole = test::read_text(cache_.path_of(spec));
  for (const std::string& bytes : {std::string(), whole.substr(0, whole.size() / 2), "X" + whole.substr(1)}) {
    std::ofstream(cache_.path_of(spec), std::ios::binary) << bytes;
    EXPECT_EQ(text_of(*cache_.get(spec)), expected);
    EXPECT_EQ(test::read_text(cache_.path_of(spec)), whole);
  }
  std::filesystem::remove_all(folder_.path() / "cache");
  EXPECT_EQ(text_of(*cache_.get(spec)), expected) << "the folder may be deleted at any time";
}

TEST_F(Tokens, FileNamesDependOnAllThatChangesTheIds) {
  write("a.txt", "a b");
  std::filesystem::copy(folder_.path() / "a.txt", folder_.path() / "copy.txt");
  write("b.txt", "a c");
  const auto name = [&](const std::string& block) { return cache_.path_of(data(block)).filename().string(); };
  const std::string base = name("{corpus: a.txt, tokenizer: words}");
  EXPECT_EQ(name("{corpus: copy.txt, tokenizer: {type: words, lower_case: false}}"), base);
  std::vector<std::string> names = {base};
  for (const char* block : {"{corpus: b.txt, tokenizer: words}", "{corpus: [a.txt, b.txt], tokenizer: words}",
                            "{corpus: [b.txt, a.txt], tokenizer: words}", "{corpus: a.txt, tokenizer: characters}",
                            "{corpus: a.txt, tokenizer: {type: words, lower_case: true}}",
                            "{corpus: a.txt, tokenizer: words, normalize: none}",
                            "{corpus: a.txt, tokenizer: words, vocabulary: {size: 5}}",
                            "{corpus: a.txt, tokenizer: words, vocabulary: {min_count: 2}}",
                            "{corpus: a.txt, tokenizer: words, vocabulary: {unknown: x}}",
                            "{corpus: a.txt, tokenizer: words, vocabulary: {special: [x]}}"}) {
    names.push_back(name(block));
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST_F(Tokens, ServeSeveralThreadsAndCaches) {
  std::mt19937 random(3);
  write("a.txt", test::random_text(random, 2000) + " end");
  const DataSpec spec = data("{corpus: a.txt, tokenizer: words}");
  std::vector<std::string> results(8);
  std::vector<std::thread> threads;
  TokenCache own(folder_.path() / "cache" / "tokens");
  for (std::string& result : results) threads.emplace_back([&] { result = text_of(*own.get(spec)); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& result : results) EXPECT_EQ(result, results[0]);
}

TEST_F(Tokens, WithoutPiecesAreAnError) {
  const std::string path = write("a.txt", "... \n").string();
  EXPECT_EQ(test::error_of<StoreError>([&] { tokens("{corpus: a.txt, tokenizer: words}"); }),
            path + ": the tokenizer 'words' finds no piece in the corpus");
  write("a.txt", "a b c");
  EXPECT_EQ(
      test::error_of<StoreError>([&] { tokens("{corpus: a.txt, tokenizer: words, vocabulary: {min_count: 2}}"); }),
      path + ": no piece occurs 2 times, so the vocabulary is empty: use a smaller min_count, or more text");
}

TEST_F(Tokens, DefaultToTheUsersCacheFolder) {
  const char* before = std::getenv("XDG_CACHE_HOME");
  const std::string kept = before ? before : "";
  setenv("XDG_CACHE_HOME", "/somewhere", 1);
  EXPECT_EQ(default_token_folder(), "/somewhere/jari/tokens");
  if (before) {
    setenv("XDG_CACHE_HOME", kept.c_str(), 1);
  } else {
    unsetenv("XDG_CACHE_HOME");
  }
}

// What Python makes of the same file by the source's rule (tests/golden/make_text.py).
TEST_F(Tokens, OfKoreanWikipediaEqualPythons) {
  const auto corpus = test::data_path("kowiki.txt.gz");
  JARI_NEEDS_DATA(corpus);
  const auto golden = nlohmann::json::parse(test::read_text(test::source_path("tests/golden/text.json")));
  const std::string block = "{corpus: '" + corpus.string() + "', tokenizer: {type: words, ";
  const auto stems = cache_.get(data(block + "stemmer: josa}, vocabulary: {size: 10000, min_count: 5}}"));
  EXPECT_EQ(stems->vocabulary.size(), golden.at("kowiki_vocabulary"));
  EXPECT_EQ(stems->ids.size(), golden.at("kowiki_tokens"));
  const auto check = [&](const nlohmann::json& pairs, std::size_t from) {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      EXPECT_EQ(stems->vocabulary.pieces()[from + i], pairs[i][0]);
      EXPECT_EQ(stems->vocabulary.counts()[from + i], pairs[i][1]);
    }
  };
  check(golden.at("kowiki_first"), 0);
  check(golden.at("kowiki_last"), 9950);

  const auto words = cache_.get(data(block + "strip: ''}}"));
  EXPECT_EQ(words->ids.size(), golden.at("kowiki_split"));
  EXPECT_EQ(words->vocabulary.size(), golden.at("kowiki_split_distinct"));
  // Counts that the data's own notes give.
  for (const auto& [word, count] :
       {std::pair("물리학", 58), {"서울특별시", 224}, {"음악", 205}, {"조선", 936}, {"전쟁", 903}}) {
    EXPECT_EQ(words->vocabulary.counts()[static_cast<std::size_t>(words->vocabulary.find(word).value())], count)
        << word;
  }
}

// -- `data` in a spec

TEST_F(Tokens, ContentsArePartOfATrialsIdentity) {
  write("a.txt", "a b");
  std::filesystem::copy(folder_.path() / "a.txt", folder_.path() / "copy.txt");
  write("b.txt", "a c");
  const auto trial = [&](const std::string& file) {
    Trial result;
    result.resolved = SpecNode::mapping();
    result.experiment.data = data("{corpus: " + file + ", tokenizer: words}");
    return combination_of(result);
  };
  EXPECT_EQ(trial("a.txt"), trial("copy.txt"));
  EXPECT_NE(trial("a.txt"), trial("b.txt"));
}

TEST_F(Tokens, PathsBeginAtTheSpecsFolderAndResolveToWholeOnes) {
  write("a.txt", "a b");
  const DataSpec spec = data("{corpus: sub/../a.txt, tokenizer: words}");
  EXPECT_EQ(spec.corpus.paths[0].path, folder_.path() / "a.txt");
  EXPECT_EQ(spec.corpus.paths[0].text, "sub/../a.txt");
}

}  // namespace
}  // namespace jari
