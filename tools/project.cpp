// jari project TABLE: words on a map, by their principal components.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "framework/base/error.hpp"
#include "framework/sweep/launcher.hpp"
#include "framework/table/output_file.hpp"
#include "framework/table/projection.hpp"
#include "tools/commands.hpp"
#include "tools/table_arguments.hpp"

namespace jari {
namespace {

class ProjectCommand final : public Command {
 public:
  const char* name() const override { return "project"; }
  const char* summary() const override { return "principal components of a table: variance, meaning, coordinates"; }
  void options(CommandOptions& options) override {
    table_.options(options);
    options.arguments("words", words_, "words to project; otherwise the most frequent", /*is_needed=*/false);
    options.option("--most-frequent", most_frequent_, "without words: rows from the first on; 0 is all of them");
    options.option("--components", components_, "axes, of the largest variance first");
    options.option("-o,--output", output_, "CSV file for the words' coordinates");
    ResultTable::option(options, format_);
  }
  int run() override;

 private:
  std::vector<std::int64_t> rows(const WordTable& table) const;
  void write(const WordTable& table, const std::vector<std::int64_t>& rows, const Projection& projection) const;

  TableArguments table_;
  std::vector<std::string> words_;
  std::int64_t most_frequent_ = 0, components_ = 2;
  std::string output_, format_ = "text";
};

std::vector<std::int64_t> ProjectCommand::rows(const WordTable& table) const {
  if (!words_.empty()) return rows_of(table, words_);
  std::vector<std::int64_t> rows(
      static_cast<std::size_t>(most_frequent_ > 0 ? std::min(most_frequent_, table.size()) : table.size()));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  return rows;
}

void ProjectCommand::write(const WordTable& table, const std::vector<std::int64_t>& rows,
                           const Projection& projection) const {
  const auto quoted = [](std::string_view word) {
    std::string text = "\"";
    for (const char c : word) text += c == '"' ? "\"\"" : std::string(1, c);
    return text + '"';
  };
  OutputFile file(output_);
  const bool has_counts = !table.counts().empty();
  std::string line = has_counts ? "word,count" : "word";
  for (std::int64_t i = 0; i < projection.components; ++i) line += fmt::format(",axis{}", i + 1);
  file.write(line + "\n");
  const auto components = static_cast<std::size_t>(projection.components);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    line = quoted(table.word(rows[i]));
    if (has_counts) line += fmt::format(",{}", table.counts()[static_cast<std::size_t>(rows[i])]);
    for (std::size_t k = 0; k < components; ++k) line += fmt::format(",{}", projection.coordinates[i * components + k]);
    file.write(line + "\n");
  }
  file.commit();
}

int ProjectCommand::run() {
  require_positive("--components", components_);
  if (most_frequent_ < 0)
    throw SpecError(fmt::format("error: --most-frequent {}: expected 0 or more\n", most_frequent_));
  if (most_frequent_ > 0 && !words_.empty())
    throw SpecError("error: project takes words or --most-frequent, not both\n");
  const WordTable table = table_.open();
  const std::vector<std::int64_t> chosen = rows(table);
  if (chosen.size() < 2) throw SpecError("error: project needs two words at least; one has no variance\n");
  ThreadPool pool(usable_cores());
  const Projection projection = principal_components(table, chosen, components_, pool);
  const std::vector<AxisMeaning> meaning = meaning_of_axes(table, chosen, projection);
  ResultTable result({"axis", "variance_ratio", "together", "r_log_frequency", "r_word_start"});
  double together = 0;
  for (std::size_t i = 0; i < meaning.size(); ++i) {
    together += projection.variance_ratio[i];
    result.add_row({static_cast<std::int64_t>(i + 1), projection.variance_ratio[i], together, meaning[i].log_frequency,
                    meaning[i].word_start});
  }
  result.print(format_);
  if (!output_.empty()) {
    write(table, chosen, projection);
    fmt::print(stderr, "{} words written to {}\n", chosen.size(), output_);
  }
  return 0;
}

}  // namespace

CommandPtr project_command() { return std::make_unique<ProjectCommand>(); }

}  // namespace jari
