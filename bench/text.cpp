// How fast corpora are read and cut: bytes of text a second on one core. JARI_DATA names the folder of kowiki.txt.gz;
// without it the text is made up.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "framework/base/diagnostic.hpp"
#include "framework/plugin_api.hpp"
#include "framework/spec/yaml_reader.hpp"
#include "framework/text/corpus_reader.hpp"
#include "framework/text/normalize.hpp"

namespace jari {
namespace {

std::filesystem::path data(const std::string& name) {
  const char* folder = std::getenv("JARI_DATA");
  return folder ? std::filesystem::path(folder) / name : std::filesystem::path();
}

std::string made_up() {
  std::mt19937 random(1);
  std::uniform_int_distribution<char32_t> syllable(0xAC00, 0xD7A3);
  std::uniform_int_distribution<int> length(1, 5);
  std::string text;
  while (text.size() < 8'000'000) {
    for (int i = length(random); i > 0; --i) append_utf8(syllable(random), text);
    text += "에서는 ";
  }
  return text;
}

// The first 8 MB of Korean Wikipedia.
const std::string& korean() {
  static const std::string text = [] {
    const std::filesystem::path path = data("kowiki.txt.gz");
    if (!std::filesystem::exists(path)) return made_up();
    CorpusReader reader({path}, {});
    std::string all;
    while (const auto segment = reader.next()) {
      all += segment->text;
      if (all.size() > 8'000'000) break;
    }
    return all;
  }();
  return text;
}

struct Block {
  Slot<Tokenizer> tokenizer;
  template <class F>
  void fields(F& f) {
    f("tokenizer", tokenizer, "what is measured", required);
  }
};

Slot<Tokenizer> tokenizer_of(const std::string& block) {
  static Registry registry = [] {
    Registry all;
    register_builtin_plugins(all);
    return all;
  }();
  Diagnostics diagnostics;
  const SpecNode node = read_yaml_text("tokenizer: " + block, "bench", diagnostics);
  Block bound;
  SpecNode resolved;
  Binder(&registry, diagnostics).bind(node, "", bound, resolved);
  diagnostics.throw_if_any();
  return bound.tokenizer;
}

void split(benchmark::State& state, const std::string& block) {
  const Slot<Tokenizer> tokenizer = tokenizer_of(block);
  PieceList pieces;
  for (auto _ : state) {
    for (std::size_t begin = 0; begin < korean().size();) {  // in segments, as a corpus comes
      const std::size_t end =
          std::min(korean().find('\n', std::min(begin + (1u << 18), korean().size())), korean().size());
      pieces.clear();
      tokenizer->split(std::string_view(korean()).substr(begin, end - begin), pieces);
      benchmark::DoNotOptimize(pieces.size());
      begin = end;
    }
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(korean().size()));
}

void words(benchmark::State& state) { split(state, "words"); }
void josa(benchmark::State& state) { split(state, "{type: words, stemmer: josa}"); }
void characters(benchmark::State& state) { split(state, "characters"); }

void byte_pair(benchmark::State& state) {
  const std::filesystem::path vocabulary = data("gpt2-encoder.json"), merges = data("gpt2-vocab.bpe");
  if (!std::filesystem::exists(vocabulary)) return state.SkipWithError("needs JARI_DATA");
  const BytePair pairs(vocabulary, merges);
  std::vector<std::int32_t> ids;
  for (auto _ : state) {
    ids.clear();
    pairs.encode(korean(), ids);
    benchmark::DoNotOptimize(ids.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(korean().size()));
}

void nfc(benchmark::State& state) {
  std::string scratch;
  for (auto _ : state) benchmark::DoNotOptimize(to_nfc(korean(), scratch).size());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(korean().size()));
}

void read_gzip(benchmark::State& state) {
  const std::filesystem::path path = data("kowiki.txt.gz");
  if (!std::filesystem::exists(path)) return state.SkipWithError("needs JARI_DATA");
  std::int64_t bytes = 0;
  for (auto _ : state) {
    CorpusReader reader({path}, {});
    while (const auto segment = reader.next()) benchmark::DoNotOptimize(segment->text.size());
    bytes += static_cast<std::int64_t>(reader.bytes());
  }
  state.SetBytesProcessed(bytes);
}

BENCHMARK(words)->Unit(benchmark::kMillisecond);
BENCHMARK(josa)->Unit(benchmark::kMillisecond);
BENCHMARK(characters)->Unit(benchmark::kMillisecond);
BENCHMARK(byte_pair)->Unit(benchmark::kMillisecond);
BENCHMARK(nfc)->Unit(benchmark::kMillisecond);
BENCHMARK(read_gzip)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace jari

BENCHMARK_MAIN();
