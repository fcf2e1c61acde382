// jari similarity TABLE WORD WORD...: cosine and distance of each two words, or of directions; agreement with a file of
// judgments.

#include "framework/table/similarity.hpp"

#include <fmt/format.h>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "tools/commands.hpp"
#include "tools/table_arguments.hpp"

namespace jari {
namespace {

class SimilarityCommand final : public Command {
 public:
  const char* name() const override { return "similarity"; }
  const char* summary() const override { return "how alike words or directions are, and whether people agree"; }
  void options(CommandOptions& options) override {
    table_.options(options);
    options.arguments("words", words_, "two words or more: each two are compared", /*is_needed=*/false);
    options.flag("--directions", directions_,
                 "take the words by twos, from and to: compares the differences of each two pairs, and random ones");
    options.option("--pairs", pairs_, "file of word pairs and judgments, as WordSim-353: rank correlation");
    options.option("--most-frequent", most_frequent_, "with --pairs: words that count as known, from the first on");
    options.flag("--case", minds_case_, "with --pairs: capitals matter");
    ResultTable::option(options, format_);
  }
  int run() override;

 private:
  void compare_words(const WordTable& table) const;
  void compare_directions(const WordTable& table) const;
  void judge(const WordTable& table) const;

  TableArguments table_;
  std::vector<std::string> words_;
  std::string pairs_, format_ = "text";
  std::int64_t most_frequent_ = PairsOptions{}.most_frequent;
  bool directions_ = false, minds_case_ = false;
};

void SimilarityCommand::compare_words(const WordTable& table) const {
  const std::vector<std::int64_t> rows = rows_of(table, words_);
  ResultTable result({"word", "other", "cosine", "distance"});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t k = i + 1; k < rows.size(); ++k) {
      result.add_row({words_[i], words_[k], cosine(table.row(rows[i]), table.row(rows[k])),
                      distance(table.row(rows[i]), table.row(rows[k]))});
    }
  }
  result.print(format_);
}

void SimilarityCommand::compare_directions(const WordTable& table) const {
  const std::vector<std::int64_t> rows = rows_of(table, words_);
  const auto direction = [&](std::size_t pair) { return Direction{rows[2 * pair], rows[2 * pair + 1]}; };
  const auto text = [&](std::size_t pair) { return words_[2 * pair + 1] + " - " + words_[2 * pair]; };
  ResultTable result({"direction", "other", "cosine"});
  for (std::size_t i = 0; i < rows.size() / 2; ++i) {
    for (std::size_t k = i + 1; k < rows.size() / 2; ++k)
      result.add_row({text(i), text(k), cosine_of_directions(table, direction(i), direction(k))});
  }
  result.print(format_);
  constexpr std::int64_t kFrequent = 10'000, kPairs = 10'000;
  const ChanceCosines chance = chance_cosines(table, kFrequent, kPairs, /*seed=*/1);
  fmt::print(stderr,
             "control: directions of {} random pairs among the first {} words have cosines of mean {:.4f}, sd {:.4f}; "
             "95 of 100 lie within {:.4f} of 0\n",
             chance.pairs, std::min(kFrequent, table.size()), chance.mean, chance.sd, chance.high);
}

void SimilarityCommand::judge(const WordTable& table) const {
  const PairsAgreement agreement =
      judge_pairs(table, pairs_, {.most_frequent = most_frequent_, .ignores_case = !minds_case_});
  ResultTable result({"spearman", "pearson", "pairs", "unknown"});
  result.add_row(
      {agreement.spearman, agreement.pearson, agreement.pairs, static_cast<std::int64_t>(agreement.unknown.size())});
  result.print(format_);
  for (const std::string& pair : agreement.unknown) fmt::print(stderr, "not in the table: {}\n", printable(pair));
}

int SimilarityCommand::run() {
  require_positive("--most-frequent", most_frequent_);
  if (!pairs_.empty() ? !words_.empty() || directions_ : words_.size() < 2) {
    throw SpecError(fmt::format("error: similarity takes two words or more, or --pairs FILE{}\n",
                                pairs_.empty() ? "" : "; not words and a file"));
  }
  if (pairs_.empty() && (minds_case_ || most_frequent_ != PairsOptions{}.most_frequent))
    throw SpecError("error: --most-frequent and --case go with --pairs\n");
  if (directions_ && (words_.size() < 4 || words_.size() % 2 != 0)) {
    throw SpecError(fmt::format("error: --directions takes words by twos, from and to, four at least; {} were given\n",
                                words_.size()));
  }
  const WordTable table = table_.open();
  if (!pairs_.empty()) {
    judge(table);
  } else if (directions_) {
    compare_directions(table);
  } else {
    compare_words(table);
  }
  return 0;
}

}  // namespace

CommandPtr similarity_command() { return std::make_unique<SimilarityCommand>(); }

}  // namespace jari
