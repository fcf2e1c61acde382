// jari tokens SPEC|RUN [TEXT]: how a tokenizer cuts a text, and which ids the pieces have.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <numeric>

#include "framework/base/error.hpp"
#include "framework/base/table.hpp"
#include "framework/base/text.hpp"
#include "framework/spec/yaml_reader.hpp"
#include "framework/store/atomic_file.hpp"
#include "framework/store/run_directory.hpp"
#include "framework/store/run_file.hpp"
#include "framework/text/normalize.hpp"
#include "framework/text/unicode.hpp"
#include "framework/train/recorded_text.hpp"
#include "framework/train/token_cache.hpp"
#include "tools/commands.hpp"
#include "tools/session.hpp"

namespace jari {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSampleBytes = 400;  // of the corpus, where no text is given

// What is needed to cut a text: the rest of the spec is not looked at.
struct TextSide {
  DataSpec data;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const TokenizedCorpus> corpus;  // holds the vocabulary; null: it is in `recorded`
  Vocabulary recorded;                            // a run's own

  const Vocabulary& vocabulary() const { return corpus ? corpus->vocabulary : recorded; }
};

template <class Block>
struct DataOnly {
  Block data;
  template <class F>
  void fields(F& f) {
    f("data", data, "a corpus, and how it becomes ids", required);
  }
};

template <class Block>
Block bind_data(const SpecNode& spec, const Registry& registry, Diagnostics& diagnostics) {
  SpecNode only = SpecNode::mapping(spec.span);
  if (const SpecNode* data = spec.find("data")) only.set("data", *data, data->span);
  DataOnly<Block> result;
  SpecNode resolved;
  Binder(&registry, diagnostics).bind(only, "", result, resolved);
  diagnostics.throw_if_any();
  return std::move(result.data);
}

TextSide of_spec(const std::string& path, const std::vector<std::string>& overrides, std::int64_t trial) {
  Session session = open_spec({path, overrides});
  const Expansion expansion = expand(session.spec, session.diagnostics);
  session.diagnostics.throw_if_any();
  const auto count = static_cast<std::int64_t>(expansion.cells.size());
  if (trial < 0 || trial >= count) {
    throw SpecError(fmt::format("error: --trial {}: the spec declares trials 0 to {}\n", trial, count - 1));
  }
  const SpecNode& spec = expansion.cells[static_cast<std::size_t>(trial)].spec;
  TextSide side;
  side.data = bind_data<DataSpec>(spec, session.registry, session.diagnostics);
  side.corpus = TokenCache().get(side.data);
  side.tokenizer = side.data.learned_tokenizer(side.corpus->model);
  return side;
}

TextSide of_run(const fs::path& path) {
  if (!fs::exists(path)) {
    throw StoreError(fmt::format("{}: there is no such run file; give a spec, a finished trial's folder or a run file",
                                 path.string()));
  }
  const RunRecord run = read_run_file(path);
  if (run.vocabulary_tokens.empty()) {
    throw StoreError(fmt::format("{}: the run has no vocabulary: its task reads no text", path.string()));
  }
  Diagnostics diagnostics;
  const SpecNode spec = read_yaml_text(run.spec_resolved, path.string() + ":/spec/resolved", diagnostics);
  const RecordedData data = bind_data<RecordedData>(spec, builtin_registry(), diagnostics);
  TextSide side;
  side.data = data.data_spec();
  side.tokenizer = side.data.learned_tokenizer(run.tokenizer_model);
  side.recorded = recorded_vocabulary(data, run);
  return side;
}

// The first lines of the corpus.
std::string sample(const DataSpec& data) {
  CorpusOptions options;
  options.normalization = data.normalize;
  CorpusReader reader(data.files(), options);
  const std::optional<Segment> segment = reader.next();
  const std::string_view text = segment ? segment->text : std::string_view();
  if (text.size() <= kSampleBytes) return std::string(text);
  const std::size_t line = text.rfind('\n', kSampleBytes), space = text.rfind(' ', kSampleBytes);
  return std::string(text.substr(0, line != std::string_view::npos ? line : space));
}

void add_row(TextTable& table, std::string_view piece, std::optional<std::int32_t> id, const Vocabulary& vocabulary) {
  if (id) {
    table.add_row({escaped(piece), fmt::format("{}", *id),
                   fmt::format("{}", vocabulary.counts()[static_cast<std::size_t>(*id)]), ""});
  } else if (vocabulary.unknown()) {
    table.add_row({escaped(piece), fmt::format("{}", *vocabulary.unknown()), "", "unknown"});
  } else {
    table.add_row({escaped(piece), "-", "", "unknown: left out"});
  }
}

void show_text(const TextSide& side, const std::string& text) {
  if (const std::optional<std::size_t> offset = first_invalid_utf8(text)) {
    throw SpecError(fmt::format("error: the text is not UTF-8 at byte {}\n", *offset));
  }
  std::string scratch;
  const std::string_view normal = side.data.normalize == Normalization::nfc ? to_nfc(text, scratch) : text;
  PieceList pieces;
  const Tokenizer& tokenizer = *side.tokenizer;
  for (std::size_t begin = 0; begin <= normal.size();) {
    const std::size_t end =
        tokenizer.keeps_line_ends() ? normal.size() : std::min(normal.find('\n', begin), normal.size());
    tokenizer.split(normal.substr(begin, end - begin), pieces);
    begin = end + 1;
  }
  TextTable table({{"piece"}, {"id", Align::right}, {"count", Align::right}, {""}});
  std::size_t unknown = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::optional<std::int32_t> id = side.vocabulary().find(pieces[i]);
    unknown += id ? 0 : 1;
    add_row(table, pieces[i], id, side.vocabulary());
  }
  fmt::print("{}{} pieces, {} of them unknown; the vocabulary has {}\n", table.text(), pieces.size(), unknown,
             side.vocabulary().size());
}

void show_most_frequent(const Vocabulary& vocabulary, std::int64_t count) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(vocabulary.size()));
  std::iota(order.begin(), order.end(), 0);
  const auto count_of = [&](std::int32_t id) { return vocabulary.counts()[static_cast<std::size_t>(id)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return count_of(a) > count_of(b); });
  TextTable table({{"piece"}, {"id", Align::right}, {"count", Align::right}});
  for (std::size_t i = 0; i < order.size() && i < static_cast<std::size_t>(count); ++i) {
    table.add_row({escaped(vocabulary.pieces()[static_cast<std::size_t>(order[i])]), fmt::format("{}", order[i]),
                   fmt::format("{}", count_of(order[i]))});
  }
  fmt::print("{}", table.text());
}

void save_tokenizer(const TextSide& side, const fs::path& path) {
  const std::string json = side.tokenizer->to_json();
  if (json.empty()) {
    throw SpecError(fmt::format("error: --save {}: the tokenizer '{}' can not be written as a tokenizer.json\n",
                                path.string(), side.data.tokenizer.type()));
  }
  write_file_atomically(path, json);
}

class TokensCommand final : public Command {
 public:
  const char* name() const override { return "tokens"; }
  const char* summary() const override { return "show the pieces and ids of a text"; }
  void options(CommandOptions& options) override;
  int run() override;

 private:
  std::string source_, text_, save_;
  std::vector<std::string> overrides_;
  std::int64_t count_ = 0, trial_ = 0;
};

void TokensCommand::options(CommandOptions& options) {
  options.argument("source", source_, "a YAML spec with `data`, a run file, or the folder of a trial");
  options.argument("text", text_,
                   "the text; - reads it from stdin; without it, or where it is empty, the corpus' first lines", false);
  options.arguments("overrides", overrides_, "KEY=VALUE, as strict as the file", /*is_needed=*/false);
  options.option("--count", count_, "show this many of the most frequent pieces instead of a text");
  options.option("--save", save_, "write the tokenizer to this file, as Hugging Face's tokenizer.json");
  options.option("--trial", trial_, "which trial of a sweep, from 0");
}

int TokensCommand::run() {
  if (count_ < 0) throw SpecError(fmt::format("error: --count {}: expected 0 or more\n", count_));
  if (count_ > 0 && !text_.empty() && text_ != "-")
    throw SpecError("error: --count shows pieces of the corpus; leave the text out, or write - in its place\n");
  if (text_.starts_with("data.") && text_.find('=') != std::string::npos && overrides_.empty()) {
    throw SpecError(
        fmt::format("error: '{}' stands where the text should; overrides follow it: jari tokens {} \"\" {}\n", text_,
                    source_, text_));
  }
  const fs::path path = source_;
  const bool is_run = fs::is_directory(path) || path.extension() == ".h5";
  if (is_run && !overrides_.empty()) throw SpecError("error: a run has no overrides; name its spec instead\n");
  const TextSide side =
      is_run ? of_run(fs::is_directory(path) ? path / kRunFile : path) : of_spec(source_, overrides_, trial_);
  if (!save_.empty()) {
    save_tokenizer(side, save_);
    if (count_ == 0 && text_.empty()) return 0;
  }
  if (count_ > 0) {
    show_most_frequent(side.vocabulary(), count_);
    return 0;
  }
  if (text_ == "-") text_.assign(std::istreambuf_iterator<char>(std::cin), {});
  if (text_.empty() && is_run) throw SpecError("error: a run holds no text: give one\n");
  show_text(side, text_.empty() ? sample(side.data) : text_);
  return 0;
}

}  // namespace

CommandPtr tokens_command() { return std::make_unique<TokensCommand>(); }

}  // namespace jari
