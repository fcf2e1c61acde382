#include "framework/base/edit_distance.hpp"

#include <algorithm>
#include <cctype>

namespace jari {

int edit_distance(std::string_view left, std::string_view right) {
  const std::size_t columns = right.size() + 1;
  std::vector<int> before(columns), above(columns), row(columns);
  for (std::size_t j = 0; j < columns; ++j) above[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= left.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j < columns; ++j) {
      const int substitution = above[j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[columns - 1];
}

namespace {

std::string folded(std::string_view name) {
  std::string result(name);
  for (char& c : result) c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

}  // namespace

std::optional<std::string> closest(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongestName = 64;  // longer texts are no misspelled names
  if (name.empty() || name.size() > kLongestName) return std::nullopt;
  const std::string wanted = folded(name);
  const int limit = std::max(1, static_cast<int>(name.size()) / 3);
  const std::string* best = nullptr;
  int best_distance = limit + 1;
  for (const std::string& candidate : candidates) {
    if (candidate == name || candidate.size() > kLongestName) continue;
    const int distance = edit_distance(wanted, folded(candidate));
    // A name of one letter is one edit away from every other one.
    if (distance >= best_distance || distance >= static_cast<int>(std::max(name.size(), candidate.size()))) continue;
    best = &candidate;
    best_distance = distance;
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

}  // namespace jari
