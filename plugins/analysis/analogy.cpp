// a is to b as c is to what? The words nearest to b - a + c, unit vectors summed (3CosAdd: Mikolov, Yih and Zweig
// 2013).
//
// Arrays: `question` [questions] ("king - man + woman"), `answer` and `cosine` [questions, count]; `unknown`: questions
// with a word that the vocabulary does not have. Numbers of a question that expects a word: <d>/rank of it, from 1.

#include <algorithm>

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct AnalogyParameters {
  std::vector<std::vector<std::string>> questions;
  std::int64_t count = 5;
  std::string tensor = "embedding";
  template <class F>
  void fields(F& f) {
    f("questions", questions, "three words each, [a, b, c]: a is to b as c is to what? A fourth is the word expected",
      required);
    f("count", count, "answers to each", between(1, 10000));
    f("tensor", tensor, "the table: a weight of the model with a row a word");
  }
  void check(FieldChecks& checks) const {
    for (std::size_t i = 0; i < questions.size(); ++i) {
      if (questions[i].size() == 3 || questions[i].size() == 4) continue;
      checks.error("questions",
                   "question " + std::to_string(i) + " has " + std::to_string(questions[i].size()) + " words",
                   "give three, [a, b, c], or four, [a, b, c, d]");
    }
  }
};

std::string text_of(const std::vector<std::string>& question) {
  return question[1] + " - " + question[0] + " + " + question[2];
}

class Analogy final : public Analysis {
 public:
  explicit Analogy(const AnalogyParameters& parameters) : parameters_(parameters) {}

  AnalysisResult run(const AnalysisContext& context) const override {
    const AnalyzedTable analyzed = analyzed_table(context, parameters_.tensor);
    if (!analyzed.table) return skipped_analysis(analyzed.skipped);
    const WordTable& table = *analyzed.table;
    const std::int64_t count = std::min(parameters_.count, table.size() - 3);
    if (count < 1) return skipped_analysis("the vocabulary is too small to answer anything");
    ThreadPool pool(1);
    const NeighborSearch search(table, Closeness::cosine, pool);
    AnalysisResult result;
    std::vector<std::string> questions, answers, unknown;
    std::vector<double> cosines;
    for (const std::vector<std::string>& question : parameters_.questions) {
      std::vector<std::string> missing;
      const std::vector<std::int64_t> rows = known_rows(table, question, missing);
      if (!missing.empty()) {
        unknown.push_back(text_of(question));
        continue;
      }
      const auto summed = std::span(rows).first(3);
      const auto found = most_similar(search, summed.subspan(1), summed.first(1), table.size());
      questions.push_back(text_of(question));
      for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        const bool is_there = i < found.size();
        answers.push_back(is_there ? std::string(table.word(found[i].row)) : "");
        cosines.push_back(is_there ? static_cast<double>(found[i].score) : 0);
      }
      if (rows.size() < 4) continue;
      const auto place =
          std::find_if(found.begin(), found.end(), [&](const NearRow& each) { return each.row == rows[3]; });
      if (place != found.end())
        result.numbers.emplace_back(question[3] + "/rank", 1 + std::distance(found.begin(), place));
    }
    const auto asked = static_cast<std::int64_t>(questions.size()),
               left_out = static_cast<std::int64_t>(unknown.size());
    if (asked == 0) return skipped_analysis("every question has a word that is not in the vocabulary");
    result.arrays.push_back(text_array("question", {asked}, std::move(questions), {"question"}));
    result.arrays.push_back(text_array("answer", {asked, count}, std::move(answers), {"question", "rank"}));
    result.arrays.push_back({"cosine", {asked, count}, std::move(cosines), {"question", "rank"}});
    if (left_out > 0) result.arrays.push_back(text_array("unknown", {left_out}, std::move(unknown), {"question"}));
    return result;
  }

 private:
  AnalogyParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Analysis, jari::Analogy, jari::AnalogyParameters>("analogy", "a is to b as c is to what?");
}
