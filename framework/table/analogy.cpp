#include "framework/table/analogy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "framework/base/text.hpp"
#include "framework/table/formats.hpp"
#include "framework/table/input_file.hpp"
#include "framework/table/letter_case.hpp"

namespace jari {
namespace {

double norm_of(std::span<const float> values) {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(squares);
}

void add(std::vector<double>& sum, std::span<const float> row, double sign, Summands summands) {
  const double norm = summands == Summands::unit ? norm_of(row) : 1;
  if (norm == 0) return;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += sign * static_cast<double>(row[i]) / norm;
}

struct Question {
  std::size_t section;
  std::int64_t rows[4];
};

// Of words that count as known; of words that differ in their case alone the most frequent.
class KnownWords {
 public:
  KnownWords(const WordTable& table, std::int64_t count, bool ignores_case)
      : table_(table), count_(count), ignores_case_(ignores_case) {
    if (!ignores_case) return;
    for (std::int64_t row = 0; row < count; ++row) by_capitals_.emplace(upper_case(table.word(row)), row);
  }
  std::int64_t find(std::string_view word) const {  // -1: unknown
    if (ignores_case_) {
      const auto found = by_capitals_.find(upper_case(word));
      return found == by_capitals_.end() ? -1 : found->second;
    }
    const auto row = table_.find(word);
    return row && *row < count_ ? *row : -1;
  }
  // The same word but for its case.
  bool are_equal(std::int64_t left, std::int64_t right) const {
    return left == right || (ignores_case_ && upper_case(table_.word(left)) == upper_case(table_.word(right)));
  }

 private:
  const WordTable& table_;
  std::int64_t count_;
  bool ignores_case_;
  std::unordered_map<std::string, std::int64_t> by_capitals_;
};

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
    if (end > begin) words.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::vector<Question> read_questions(const std::filesystem::path& path, const KnownWords& known,
                                     std::vector<AnalogySection>& sections) {
  std::vector<Question> questions;
  InputFile source = InputFile::open(path);
  std::string_view line;
  for (std::int64_t number = 1; source.read_line(line); ++number) {
    if (line.starts_with(':')) {
      line.remove_prefix(1);
      const std::vector<std::string_view> name = words_of(line);
      sections.push_back(
          {name.empty() ? "" : std::string(line.substr(static_cast<std::size_t>(name[0].data() - line.data()))), 0, 0,
           0});
      continue;
    }
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty()) continue;
    if (sections.empty()) source.fail(fmt::format("line {}: a question before the first section (\": name\")", number));
    if (words.size() != 4) {
      source.fail(fmt::format("line {}: {} words; a question has four, \"a b c d\": a is to b as c is to d", number,
                              words.size()));
    }
    Question question{sections.size() - 1, {}};
    for (std::size_t i = 0; i < 4; ++i) question.rows[i] = known.find(words[i]);
    const bool is_known = std::find(question.rows, question.rows + 4, -1) == question.rows + 4;
    ++(is_known ? sections.back().asked : sections.back().unknown);
    if (is_known) questions.push_back(question);
  }
  if (sections.empty()) source.fail("holds no questions");
  return questions;
}

}  // namespace

std::vector<float> sum_of_rows(const WordTable& table, std::span<const std::int64_t> plus,
                               std::span<const std::int64_t> minus, Summands summands) {
  std::vector<double> sum(static_cast<std::size_t>(table.width()));
  for (const std::int64_t row : plus) add(sum, table.row(row), 1, summands);
  for (const std::int64_t row : minus) add(sum, table.row(row), -1, summands);
  std::vector<float> result(sum.size());
  std::transform(sum.begin(), sum.end(), result.begin(), [](double value) { return static_cast<float>(value); });
  return result;
}

std::vector<NearRow> most_similar(const NeighborSearch& search, std::span<const std::int64_t> plus,
                                  std::span<const std::int64_t> minus, std::int64_t count, Summands summands) {
  std::vector<std::int64_t> excluded(plus.begin(), plus.end());
  excluded.insert(excluded.end(), minus.begin(), minus.end());
  const std::vector<float> sum = sum_of_rows(search.table(), plus, minus, summands);
  return search.find(sum, count, {&excluded, 1}).front();
}

std::vector<AnalogySection> answer_analogies(const WordTable& table, const std::filesystem::path& questions,
                                             const AnalogyOptions& options, ThreadPool& pool) {
  const std::int64_t known_rows = std::min(options.most_frequent, table.size());
  const KnownWords known(table, known_rows, options.ignores_case);
  std::vector<AnalogySection> sections;
  const std::vector<Question> asked = read_questions(questions, known, sections);
  const NeighborSearch search(table, Closeness::cosine, pool, known_rows);
  constexpr std::size_t kAtOnce = 4096;
  constexpr std::int64_t kAnswers = 5;  // gensim's: past those that are an input in another case
  for (std::size_t first = 0; first < asked.size(); first += kAtOnce) {
    const std::size_t some = std::min(kAtOnce, asked.size() - first);
    std::vector<float> sums;
    std::vector<std::vector<std::int64_t>> excluded;
    for (std::size_t i = 0; i < some; ++i) {
      const std::int64_t* rows = asked[first + i].rows;
      const std::vector<float> sum = sum_of_rows(table, std::span(rows + 1, 2), std::span(rows, 1), Summands::unit);
      sums.insert(sums.end(), sum.begin(), sum.end());
      excluded.emplace_back(rows, rows + 3);
    }
    const auto found = search.find(sums, kAnswers, excluded);
    for (std::size_t i = 0; i < some; ++i) {
      const Question& question = asked[first + i];
      const auto answer = std::find_if(found[i].begin(), found[i].end(), [&](const NearRow& each) {
        return std::none_of(question.rows, question.rows + 3,
                            [&](std::int64_t input) { return known.are_equal(input, each.row); });
      });
      if (answer != found[i].end() && known.are_equal(answer->row, question.rows[3]))
        ++sections[question.section].correct;
    }
  }
  return sections;
}

AnalogySection total_of(const std::vector<AnalogySection>& sections) {
  AnalogySection total{"all", 0, 0, 0};
  for (const AnalogySection& section : sections) {
    total.correct += section.correct;
    total.asked += section.asked;
    total.unknown += section.unknown;
  }
  return total;
}

}  // namespace jari
