// jari neighbors TABLE WORD...: the nearest words of each.

#include "framework/table/nearest.hpp"

#include "framework/sweep/launcher.hpp"
#include "tools/commands.hpp"
#include "tools/table_arguments.hpp"

namespace jari {
namespace {

class NeighborsCommand final : public Command {
 public:
  const char* name() const override { return "neighbors"; }
  const char* summary() const override { return "the nearest words of words in a table"; }
  void options(CommandOptions& options) override {
    table_.options(options);
    options.arguments("words", words_, "words to look around; after -- if one begins with a dash");
    options.option("--count", count_, "neighbors of each");
    options.choice("--by", by_, {"cosine", "dot"}, "what is nearest");
    ResultTable::option(options, format_);
  }
  int run() override;

 private:
  TableArguments table_;
  std::vector<std::string> words_;
  std::int64_t count_ = 10;
  std::string by_ = "cosine", format_ = "text";
};

int NeighborsCommand::run() {
  require_positive("--count", count_);
  const WordTable table = table_.open();
  const std::vector<std::int64_t> rows = rows_of(table, words_);
  ThreadPool pool(usable_cores());
  const NeighborSearch search(table, by_ == "dot" ? Closeness::dot : Closeness::cosine, pool);
  std::vector<float> queries;
  std::vector<std::vector<std::int64_t>> excluded;
  for (const std::int64_t row : rows) {
    queries.insert(queries.end(), table.row(row).begin(), table.row(row).end());
    excluded.push_back({row});
  }
  const auto found = search.find(queries, count_, excluded);
  ResultTable result({"word", "rank", "neighbor", by_});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t k = 0; k < found[i].size(); ++k) {
      result.add_row({words_[i], static_cast<std::int64_t>(k + 1), std::string(table.word(found[i][k].row)),
                      static_cast<double>(found[i][k].score)});
    }
  }
  result.print(format_);
  return 0;
}

}  // namespace

CommandPtr neighbors_command() { return std::make_unique<NeighborsCommand>(); }

}  // namespace jari
