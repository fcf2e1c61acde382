#include "framework/table/retrieval.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "framework/base/text.hpp"
#include "framework/table/formats.hpp"
#include "framework/table/input_file.hpp"
#include "framework/table/letter_case.hpp"

namespace jari {
namespace {

bool is_space(char32_t c) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return c == '\t' || c == '\n' || c == '\r' || category == UTF8PROC_CATEGORY_ZS;
}

bool is_punctuation(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::vector<std::string> words_of_text(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  std::size_t kept = 0;  // bytes of the word up to its last character that is no punctuation
  const auto end_word = [&] {
    word.resize(kept);
    if (!word.empty()) words.push_back(word);
    word.clear();
    kept = 0;
  };
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t begin = offset;
    const char32_t c = next_code_point(text, offset);
    if (is_space(c)) {
      end_word();
      continue;
    }
    const bool strips = is_punctuation(c);
    if (strips && word.empty()) continue;
    word += text.substr(begin, offset - begin);
    if (!strips) kept = word.size();
  }
  end_word();
  return words;
}

MeanVector mean_vector(const WordTable& table, const std::vector<std::string>& words) {
  MeanVector mean;
  mean.values.resize(static_cast<std::size_t>(table.width()));
  for (const std::string& word : words) {
    auto row = table.find(word);
    if (!row) row = table.find(lower_case(word));
    if (!row) {
      mean.unknown.push_back(word);
      continue;
    }
    mean.rows.push_back(*row);
    const std::span<const float> values = table.row(*row);
    for (std::size_t i = 0; i < values.size(); ++i) mean.values[i] += static_cast<double>(values[i]);
  }
  for (double& value : mean.values) value /= std::max(1.0, static_cast<double>(mean.rows.size()));
  return mean;
}

std::vector<Document> read_documents(const std::filesystem::path& path) {
  InputFile source = InputFile::open(path);
  std::vector<Document> documents;
  std::string_view line;
  while (source.read_line(line)) {
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    const std::size_t tab = line.find('\t');
    documents.push_back(
        {escaped_utf8(line.substr(0, tab)), escaped_utf8(tab == std::string_view::npos ? line : line.substr(tab + 1))});
  }
  if (documents.empty()) source.fail("holds no documents (a line each: title, a tab, the text)");
  return documents;
}

std::vector<Hit> retrieve(const MeanVector& question, const std::vector<MeanVector>& documents) {
  const auto dot = [](const MeanVector& left, const MeanVector& right) {
    return std::inner_product(left.values.begin(), left.values.end(), right.values.begin(), 0.0);
  };
  const double question_squares = dot(question, question);
  std::vector<Hit> hits;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const double norms = std::sqrt(question_squares * dot(documents[i], documents[i]));
    hits.push_back({i, norms > 0 ? dot(question, documents[i]) / norms : 0});
  }
  std::stable_sort(hits.begin(), hits.end(),
                   [](const Hit& left, const Hit& right) { return left.cosine > right.cosine; });
  return hits;
}

}  // namespace jari
