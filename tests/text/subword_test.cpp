// tokenizer.json and SentencePiece's models: ids equal to those libraries' own (tests/golden/make_tokenizers.py).
#include "framework/text/subword.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "framework/base/error.hpp"
#include "framework/text/sentence_piece.hpp"
#include "framework/text/unicode.hpp"
#include "tests/support/data.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"
#include "tests/support/random_text.hpp"

namespace jari {
namespace {

using Ids = std::vector<std::int32_t>;

const nlohmann::json& golden() {
  static const nlohmann::json read =
      nlohmann::json::parse(test::read_text(test::source_path("tests/golden/tokenizers/golden.json")));
  return read;
}

template <class Tokenizer>
Ids ids_of(const Tokenizer& tokenizer, const std::string& text) {
  Ids ids;
  tokenizer.encode(text, TextPlace::beginning, ids);
  return ids;
}

template <class Tokenizer>
void expect_golden(const Tokenizer& tokenizer, const nlohmann::json& expected) {
  const auto& texts = golden().at("texts");
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Ids ids = ids_of(tokenizer, texts[i]);
    EXPECT_EQ(ids, expected.at("ids")[i].get<Ids>()) << texts[i];
    EXPECT_EQ(tokenizer.decode(ids), expected.at("decoded")[i]) << texts[i];
  }
}

TEST(Subword, IdsAndTextsEqualHuggingFaces) {
  for (const auto& [name, expected] : golden().at("files").items()) {
    SCOPED_TRACE(name);
    const auto path = test::source_path("tests/golden/tokenizers/" + name + ".json");
    expect_golden(Subword::read(test::read_text(path), name), expected);
  }
}

// Corpora come in segments that end before white space: ids may not depend on where.
TEST(Subword, GivesTextsAndTheirSegmentsTheSameIds) {
  std::mt19937 random(7);
  for (const std::string name : {"metaspace", "fused", "byte_level", "llama3", "qwen", "unigram", "unigram_fallback",
                                 "word_piece", "word_piece_cased"}) {
    const auto path = test::source_path("tests/golden/tokenizers/" + name + ".json");
    const Subword tokenizer = Subword::read(test::read_text(path), name);
    for (int round = 0; round < 200; ++round) {
      const std::string text = test::random_text(random, 60);
      const Ids whole = ids_of(tokenizer, text);
      for (std::size_t cut = 1; cut < text.size(); ++cut) {
        if (text[cut] != ' ' || is_white_space(last_code_point(text, cut).code_point)) continue;
        Ids parts = ids_of(tokenizer, text.substr(0, cut));
        tokenizer.encode(std::string_view(text).substr(cut), TextPlace::rest, parts);
        ASSERT_EQ(parts, whole) << name << ": " << text;
      }
    }
  }
}

TEST(SentencePiece, IdsAndTextsEqualItsOwn) {
  if (!has_sentence_piece()) GTEST_SKIP() << "this build has no SentencePiece";
  for (const auto& [name, expected] : golden().at("sentence_piece").items()) {
    SCOPED_TRACE(name);
    expect_golden(SentencePiece(test::source_path("tests/golden/tokenizers/" + name + ".model")), expected);
  }
}

template <class Tokenizer>
void expect_vectors(const Tokenizer& tokenizer, const std::filesystem::path& vectors, const std::string& except = "") {
  std::ifstream lines(vectors);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto vector = nlohmann::json::parse(line);
    if (vector.at("text") == except) continue;
    EXPECT_EQ(ids_of(tokenizer, vector.at("text")), vector.at("ids").get<Ids>()) << line;
  }
  EXPECT_EQ(count, 72);
}

TEST(Subword, IdsOfKoBartEqualItsVectors) {
  const auto file = test::data_path("kobart-tokenizer.json");
  JARI_NEEDS_DATA(file);
  const Subword tokenizer = Subword::read(test::read_text(file), "kobart");
  // The vectors are of a library in JavaScript. Where a character is left out, that does not merge its neighbors;
  // Hugging Face's own (tokenizers 0.23.3) does, and these are its ids.
  const std::string left_out = "뷁 똠방각하 펲시";
  expect_vectors(tokenizer, test::data_path("kobart-tokenizer-vectors.jsonl"), left_out);
  EXPECT_EQ(ids_of(tokenizer, left_out), (Ids{1700, 10983, 1700, 10115, 10788, 8982, 13586, 14044}));
}

TEST(SentencePiece, IdsOfTheNovelsModelsEqualSpmEncodes) {
  JARI_NEEDS_DATA(test::data_path("ko-novels-spm-bpe-4k.model"));
  if (!has_sentence_piece()) GTEST_SKIP() << "this build has no SentencePiece";
  for (const std::string name : {"ko-novels-spm-bpe-4k", "ko-novels-spm-unigram-4k"}) {
    SCOPED_TRACE(name);
    expect_vectors(SentencePiece(test::data_path(name + ".model")), test::data_path(name + "-vectors.jsonl"));
  }
}

TEST(SentencePiece, FilesThatAreNoModelAreRefused) {
  if (!has_sentence_piece()) GTEST_SKIP() << "this build has no SentencePiece";
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "a.model";
  const std::string whole = test::read_text(test::source_path("tests/golden/tokenizers/bpe.model"));
  const auto stored = [](const std::string& name) {
    return test::read_text(test::source_path("tests/fuzz/corpus/sentence_piece/" + name));
  };
  for (const std::string& bytes : {std::string(), std::string("no model"), whole.substr(0, whole.size() / 2),
                                   stored("rules_that_lead_out_of_their_trie"), stored("rules_that_begin_outside"),
                                   stored("a_piece_without_text")}) {
    std::ofstream(path, std::ios::binary) << bytes;
    EXPECT_EQ(test::error_of<StoreError>([&] { SentencePiece{path}; }),
              path.string() + ": no model of SentencePiece; expected a file that spm_train has made");
  }
}

// -- what is refused

std::string refusal(const std::string& json) {
  return test::error_of<StoreError>([&] { Subword::read(json, "t.json"); });
}

const std::string kForm = "; expected Hugging Face's tokenizer.json with a model BPE, Unigram or WordPiece";

// A small file, of which parts are replaced.
std::string with(const std::string& key, const std::string& value, const std::string& model = "") {
  nlohmann::json file = nlohmann::json::parse(
      R"({"added_tokens": [], "normalizer": null, "pre_tokenizer": null, "decoder": null,
          "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}})");
  file[nlohmann::json::json_pointer(key)] = nlohmann::json::parse(value);
  if (!model.empty()) file["model"] = nlohmann::json::parse(model);
  return file.dump();
}

TEST(Subword, ReadsASmallFile) {
  const Subword tokenizer = Subword::read(with("/version", "\"1.0\""), "t.json");
  EXPECT_EQ(ids_of(tokenizer, "abba"), (Ids{2, 1, 0}));
  EXPECT_EQ(ids_of(tokenizer, "axb"), (Ids{2})) << "without an unknown token what has no piece is left out";
  EXPECT_EQ(tokenizer.decode(Ids{2, 1}), "ab b") << "without a decoder spaces stand between pieces";
}

TEST(Subword, RefusesWhatItDoesNotSupport) {
  const auto expect = [](const char* key, const char* value, const char* what) {
    EXPECT_EQ(refusal(with(key, value)), std::string("t.json: ") + what + " is not supported");
  };
  expect("/model/type", "\"WordLevel\"", "a model of type WordLevel");
  expect("/model", R"({"type": "Unigram", "vocab": [["a", 0]], "unk_id": null})", "Unigram without unk_id");
  expect("/model/dropout", "0.1", "dropout");
  expect("/model/end_of_word_suffix", "\"</w>\"", "end_of_word_suffix");
  expect("/normalizer", R"({"type": "Nmt"})", "the normalizer Nmt");
  expect("/normalizer", R"({"type": "Replace", "pattern": {"Regex": " +"}, "content": " "})",
         "the expression ' +' in Replace");
  expect("/pre_tokenizer", R"({"type": "Punctuation", "behavior": "Removed"})", "Punctuation, Removed");
  expect("/pre_tokenizer", R"({"type": "Sequence", "pretokenizers": [{"type": "Digits"}]})",
         "the pre-tokenizer Digits");
  expect("/pre_tokenizer", R"({"type": "Split", "pattern": {"String": "a"}, "behavior": "Removed"})",
         "Split by 'a', Removed");
  expect("/pre_tokenizer", R"({"type": "Metaspace", "prepend_scheme": "last"})", "the prepend_scheme 'last'");
  expect("/decoder", R"({"type": "CTC"})", "the decoder CTC");
  expect("/added_tokens", R"([{"content": "x", "id": 3, "single_word": true}])", "single_word of the token 'x'");
}

TEST(Subword, RefusesFilesThatDoNotFit) {
  const auto expect = [&](const std::string& json, const std::string& what) {
    EXPECT_EQ(refusal(json), "t.json: " + what + kForm);
  };
  expect("no json", "no JSON object with a model");
  expect("{}", "no JSON object with a model");
  expect(R"({"model": {"merges": []}})", "the model has no vocabulary");
  expect(R"({"model": 1})", "the model is no object");
  expect(with("/model/vocab", R"({"a": 0, "b": 0})"), "'a' and 'b' have both the id 0");
  expect(with("/model/vocab", R"({"a": 0, "b": 7})"), "'b' has the id 7");
  expect(with("/model/vocab", R"({"a": 0, "b": -1})"), "'b' has the id -1");
  expect(with("/added_tokens", R"([{"content": "x", "id": 9}])"), "'x' has the id 9");
  expect(with("/added_tokens", R"([{"content": "x", "id": 3}, {"content": "", "id": 4}])"),
         "added_tokens holds an empty one");
  expect(with("/model/merges", R"(["ab"])"), "the merge \"ab\" is no pair");
  expect(with("/model/merges", R"([["b", "a"]])"), "'ba' is not in the vocabulary");
  expect(with("/model/unk_token", R"("<unk>")"), "'<unk>' is not in the vocabulary");
  expect(with("/pre_tokenizer", R"({"type": "ByteLevel"})"), "there is no piece for the byte 0x00");
  expect(with("/normalizer", R"({"type": "Prepend"})"), "'prepend' is missing in {\"type\":\"Prepend\"}");
  expect(with("/normalizer", R"({"type": 1})"), "'type' is 1");
  expect(with("/added_tokens", R"([{"content": "x", "id": 1e300}])"), "'id' is 1e+300");
  expect(with("/added_tokens", R"([{"content": "x", "id": 4294967296}])"), "'x' has the id 4294967296");
  expect(with("/pre_tokenizer", R"({"type": "Metaspace", "replacement": "  "})"),
         "the replacement '  ' is not one character");
  expect(R"({"model": )" + std::string(100000, '[') + std::string(100000, ']') + "}",
         "lists and objects are more than 64 deep");
}

TEST(Subword, RefusesStepsThatDoubleATextAgainAndAgain) {
  std::string twice = R"({"type": "Replace", "pattern": {"String": "a"}, "content": "aa"})", steps = twice;
  for (int i = 0; i < 40; ++i) steps += ", " + twice;
  const Subword normalizes =
      Subword::read(with("/normalizer", R"({"type": "Sequence", "normalizers": [)" + steps + "]}"), "t.json");
  EXPECT_EQ(test::error_of<StoreError>([&] { ids_of(normalizes, "a"); }),
            "the tokenizer's steps make of a text of 1 bytes one of 131072");
  const Subword joins =
      Subword::read(with("/decoder", R"({"type": "Sequence", "decoders": [)" + steps + "]}"), "t.json");
  EXPECT_EQ(test::error_of<StoreError>([&] { joins.decode(Ids{0}); }),
            "the tokenizer's steps make of a text of 1 bytes one of 131072");
}

TEST(Subword, RefusesUnigramsAndWordPiecesThatDoNotFit) {
  const auto expect = [&](const char* model, const std::string& what) {
    EXPECT_EQ(refusal(with("/model", model)), "t.json: " + what + kForm);
  };
  expect(R"({"type": "Unigram", "vocab": {"a": 0}})", "the model has no vocabulary");
  expect(R"({"type": "Unigram", "vocab": [], "unk_id": 0})", "the vocabulary is empty");
  expect(R"({"type": "Unigram", "vocab": [["a", "b"]], "unk_id": 0})",
         "the entry [\"a\",\"b\"] of the vocabulary is no piece with a score");
  expect(R"({"type": "Unigram", "vocab": [["a", -1]], "unk_id": 1})", "the unk_id 1 is not in the vocabulary");
  expect(R"({"type": "WordPiece", "vocab": {"a": 0}})", "'[UNK]' is not in the vocabulary");
  EXPECT_EQ(refusal(with("/pre_tokenizer", R"({"type": "ByteLevel"})", R"({"type": "Unigram", "vocab": [["a", 0]]})")),
            "t.json: ByteLevel with a model of type Unigram is not supported");
  const auto charsmap = [&](const char* text) {
    return refusal(
        with("/normalizer", fmt::format(R"({{"type": "Precompiled", "precompiled_charsmap": "{}"}})", text)));
  };
  EXPECT_EQ(charsmap("===="), "t.json: precompiled_charsmap is no base64" + kForm);
  EXPECT_EQ(charsmap("AAAA"), "t.json: a charsmap of 3 bytes says that its trie has 0" + kForm);
  EXPECT_EQ(charsmap("CAAAAAAA"), "t.json: a charsmap of 6 bytes says that its trie has 8" + kForm);
  EXPECT_EQ(charsmap("BAAAAAAAAAD/"), "t.json: a charsmap whose texts are not UTF-8" + kForm);
  EXPECT_EQ(charsmap("BAAAAAAAAAAA"), "t.json: a charsmap whose trie leads out of it" + kForm);
}

}  // namespace
}  // namespace jari
