// How many questions of a file a table answers, "a is to b as c is to d", by section: as gensim's
// evaluate_word_analogies counts. The file is as questions-words.txt of Mikolov and others 2013.
//
// Numbers: `accuracy`, `asked`, `unknown` of all, and <section>/accuracy. Arrays: `section` with `correct_by_section`,
// `asked_by_section`, `unknown_by_section` [sections].

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct AnalogyAccuracyParameters {
  SpecPath questions;
  std::int64_t most_frequent = AnalogyOptions{}.most_frequent;
  bool ignores_case = true;
  bool compose = false;
  std::string tensor = "embedding";
  template <class F>
  void fields(F& f) {
    f("questions", questions, "file of questions by section, as questions-words.txt", required);
    f("most_frequent", most_frequent, "words that count as known, from the first on", at_least(1));
    f("ignores_case", ignores_case, "capitals do not matter");
    f("compose", compose,
      "give every word of the file the mean of its pieces, and let no others answer: compares tokenizers");
    f("tensor", tensor, "the table: a weight of the model with a row a word");
  }
  void check(FieldChecks& checks) const { check_file(checks, "questions", questions); }
};

class AnalogyAccuracy final : public Analysis {
 public:
  explicit AnalogyAccuracy(const AnalogyAccuracyParameters& parameters) : parameters_(parameters) {}

  AnalysisResult run(const AnalysisContext& context) const override {
    AnalyzedTable analyzed = analyzed_table(context, parameters_.tensor);
    if (analyzed.table && parameters_.compose)
      analyzed = composed_table(context, analyzed, words_of_analogies(parameters_.questions.path));
    if (!analyzed.table) return skipped_analysis(analyzed.skipped);
    ThreadPool pool(1);
    const std::vector<AnalogySection> sections =
        answer_analogies(*analyzed.table, parameters_.questions.path,
                         {.most_frequent = parameters_.most_frequent, .ignores_case = parameters_.ignores_case}, pool);
    const AnalogySection total = total_of(sections);
    if (total.asked == 0) return skipped_analysis("no question has four words that the table knows");
    AnalysisResult result;
    result.numbers.emplace_back("accuracy", accuracy_of(total));
    result.numbers.emplace_back("asked", static_cast<double>(total.asked));
    result.numbers.emplace_back("unknown", static_cast<double>(total.unknown));
    std::vector<std::string> names;
    std::vector<double> correct, asked, unknown;
    for (const AnalogySection& section : sections) {
      if (section.asked > 0) result.numbers.emplace_back(section.name + "/accuracy", accuracy_of(section));
      names.push_back(section.name);
      correct.push_back(static_cast<double>(section.correct));
      asked.push_back(static_cast<double>(section.asked));
      unknown.push_back(static_cast<double>(section.unknown));
    }
    const Shape shape{static_cast<std::int64_t>(names.size())};
    result.arrays.push_back(text_array("section", shape, std::move(names), {"section"}));
    result.arrays.push_back({"correct_by_section", shape, std::move(correct), {"section"}});
    result.arrays.push_back({"asked_by_section", shape, std::move(asked), {"section"}});
    result.arrays.push_back({"unknown_by_section", shape, std::move(unknown), {"section"}});
    return result;
  }

 private:
  static double accuracy_of(const AnalogySection& section) {
    return static_cast<double>(section.correct) / static_cast<double>(section.asked);
  }

  AnalogyAccuracyParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Analysis, jari::AnalogyAccuracy, jari::AnalogyAccuracyParameters>(
      "analogy_accuracy", "how many analogies of a file a table solves, by section");
}
