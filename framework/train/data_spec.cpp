#include "framework/train/data_spec.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "framework/base/hash.hpp"
#include "framework/text/corpus_files.hpp"

namespace jari {
namespace {

std::vector<std::filesystem::path> patterns_of(const SpecPaths& corpus) {
  std::vector<std::filesystem::path> patterns;
  for (const SpecPath& path : corpus.paths) patterns.push_back(path.path);
  return patterns;
}

}  // namespace

void VocabularySpec::check(FieldChecks& checks) const {
  std::vector<std::string> tokens = special;
  if (unknown) tokens.push_back(*unknown);
  std::vector<std::string> sorted = tokens;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    checks.error("special", fmt::format("the token '{}' is there twice", *twice), "take one of them out");
  }
  if (std::find(tokens.begin(), tokens.end(), "") != tokens.end()) {
    checks.error("", "a special token without a name", "write for example <unk>");
  }
  if (size && *size <= static_cast<std::int64_t>(tokens.size())) {
    checks.error("size", fmt::format("the {} special tokens leave no id for a piece of text", tokens.size()),
                 fmt::format("give at least {}", tokens.size() + 1));
  }
}

void DataSpec::check(FieldChecks& checks) const {
  for (const CorpusMistake& mistake : find_corpus_files(patterns_of(corpus)).mistakes) {
    const bool listed = corpus.paths.size() > 1;
    checks.error(listed ? fmt::format("corpus.{}", mistake.pattern) : "corpus", mistake.message, mistake.hint);
  }
}

std::vector<std::filesystem::path> DataSpec::files() const { return find_corpus_files(patterns_of(corpus)).paths; }

std::shared_ptr<const Tokenizer> DataSpec::learned_tokenizer(std::string_view model) const {
  return tokenizer->learns() ? tokenizer->with_model(model) : tokenizer.shared();
}

std::string DataSpec::content_hash() const {
  return hash128_hex(files_hash(files()) + "\n" + tokenizer->content_hash());
}

}  // namespace jari
