// jari analogy TABLE A B C: A is to B as C is to what? And how many questions of a file a table answers.

#include "framework/table/analogy.hpp"

#include <fmt/format.h>

#include "framework/base/error.hpp"
#include "framework/sweep/launcher.hpp"
#include "tools/commands.hpp"
#include "tools/table_arguments.hpp"

namespace jari {
namespace {

class AnalogyCommand final : public Command {
 public:
  const char* name() const override { return "analogy"; }
  const char* summary() const override { return "A is to B as C is to what? (B - A + C)"; }
  void options(CommandOptions& options) override {
    table_.options(options);
    options.arguments("words", words_, "A B C: A is to B as C is to what? The nearest to B - A + C: man king woman",
                      /*is_needed=*/false);
    options.option("--questions", questions_, "file of questions by section, as questions-words.txt: accuracy of each");
    options.option("--count", count_, "answers to show");
    options.flag("--raw", raw_, "add the rows as they are, not the unit vectors in their directions");
    options.option("--most-frequent", most_frequent_, "with --questions: words that count as known, from the first on");
    options.flag("--case", minds_case_, "with --questions: capitals matter");
    ResultTable::option(options, format_);
  }
  int run() override;

 private:
  int answer(const WordTable& table, ThreadPool& pool) const;
  int judge(const WordTable& table, ThreadPool& pool) const;

  TableArguments table_;
  std::vector<std::string> words_;
  std::string questions_, format_ = "text";
  std::int64_t count_ = 5, most_frequent_ = AnalogyOptions{}.most_frequent;
  bool raw_ = false, minds_case_ = false;
};

int AnalogyCommand::answer(const WordTable& table, ThreadPool& pool) const {
  const std::vector<std::int64_t> rows = rows_of(table, words_);
  const NeighborSearch search(table, Closeness::cosine, pool);
  const auto found = most_similar(search, std::span(rows).subspan(1, 2), std::span(rows).first(1), count_,
                                  raw_ ? Summands::raw : Summands::unit);
  if (format_ == "text") fmt::print("{} - {} + {}\n", words_[1], words_[0], words_[2]);
  ResultTable result({"rank", "word", "cosine"});
  for (std::size_t i = 0; i < found.size(); ++i) {
    result.add_row(
        {static_cast<std::int64_t>(i + 1), std::string(table.word(found[i].row)), static_cast<double>(found[i].score)});
  }
  result.print(format_);
  return 0;
}

int AnalogyCommand::judge(const WordTable& table, ThreadPool& pool) const {
  const AnalogyOptions options{.most_frequent = most_frequent_, .ignores_case = !minds_case_};
  std::vector<AnalogySection> sections = answer_analogies(table, questions_, options, pool);
  sections.push_back(total_of(sections));
  ResultTable result({"section", "accuracy", "correct", "asked", "unknown"});
  for (const AnalogySection& section : sections) {
    const double asked = static_cast<double>(section.asked);
    result.add_row(
        {section.name, static_cast<double>(section.correct) / asked, section.correct, section.asked, section.unknown});
  }
  result.print(format_);
  return 0;
}

int AnalogyCommand::run() {
  require_positive("--count", count_);
  require_positive("--most-frequent", most_frequent_);
  if (questions_.empty() ? words_.size() != 3 : !words_.empty()) {
    throw SpecError(
        fmt::format("error: analogy takes three words, A B C, or --questions FILE; {}\n",
                    questions_.empty() ? fmt::format("{} words were given", words_.size()) : "not words and a file"));
  }
  if (raw_ && !questions_.empty())
    throw SpecError("error: --raw is for three words; questions are asked of unit vectors\n");
  if (questions_.empty() && (minds_case_ || most_frequent_ != AnalogyOptions{}.most_frequent))
    throw SpecError("error: --most-frequent and --case go with --questions\n");
  const WordTable table = table_.open();
  ThreadPool pool(usable_cores());
  return questions_.empty() ? answer(table, pool) : judge(table, pool);
}

}  // namespace

CommandPtr analogy_command() { return std::make_unique<AnalogyCommand>(); }

}  // namespace jari
