#include "framework/table/similarity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "framework/base/hash.hpp"
#include "framework/base/philox.hpp"
#include "framework/table/formats.hpp"
#include "framework/table/input_file.hpp"
#include "framework/table/letter_case.hpp"

namespace jari {
namespace {

double dot(std::span<const double> left, std::span<const double> right) {
  return std::inner_product(left.begin(), left.end(), right.begin(), 0.0);
}

double cosine_of(std::span<const double> left, std::span<const double> right) {
  const double norms = std::sqrt(dot(left, left) * dot(right, right));
  return norms > 0 ? dot(left, right) / norms : 0;
}

std::vector<double> difference(const WordTable& table, Direction direction) {
  const std::span<const float> from = table.row(direction.from), to = table.row(direction.to);
  std::vector<double> result(from.size());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<double>(to[i]) - static_cast<double>(from[i]);
  return result;
}

// 1 for the smallest; equal values have the mean of their ranks.
std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> result(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double rank = static_cast<double>(begin + end + 1) / 2;
    for (std::size_t i = begin; i < end; ++i) result[order[i]] = rank;
    begin = end;
  }
  return result;
}

struct Pair {
  std::string left, right;
  double score = 0;
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '"')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '"')) text.remove_suffix(1);
  return text;
}

std::optional<Pair> parse_pair(std::string_view line) {
  const char separator = line.find('\t') == std::string_view::npos ? ',' : '\t';
  std::vector<std::string_view> cells;
  for (std::size_t begin = 0;;) {
    const std::size_t end = line.find(separator, begin);
    cells.push_back(trimmed(line.substr(begin, end - begin)));
    if (end == std::string_view::npos) break;
    begin = end + 1;
  }
  if (cells.size() < 3) return std::nullopt;
  Pair pair{std::string(cells[0]), std::string(cells[1]), 0};
  const auto [end, error] = std::from_chars(cells[2].data(), cells[2].data() + cells[2].size(), pair.score);
  if (error != std::errc() || end != cells[2].data() + cells[2].size()) return std::nullopt;
  return pair;
}

std::vector<Pair> read_pairs(const std::filesystem::path& path) {
  InputFile source = InputFile::open(path);
  std::vector<Pair> pairs;
  std::string_view line;
  for (std::int64_t number = 1; source.read_line(line); ++number) {
    if (trimmed(line).empty() || line.starts_with('#')) continue;
    std::optional<Pair> pair = parse_pair(line);
    if (!pair && number == 1) continue;  // a header
    if (!pair) {
      source.fail(fmt::format("line {}: '{}' is no pair of words and a number, separated by commas or tabs", number,
                              escaped_utf8(line.substr(0, 60))));
    }
    pairs.push_back(std::move(*pair));
  }
  if (pairs.empty()) source.fail("holds no pairs of words");
  return pairs;
}

// Of the words that count as known; ignoring the case, the most frequent of words that are then equal.
std::unordered_map<std::string, std::int64_t> known_words(const WordTable& table, const PairsOptions& options) {
  std::unordered_map<std::string, std::int64_t> known;
  for (std::int64_t row = 0; row < std::min(options.most_frequent, table.size()); ++row) {
    const std::string_view word = table.word(row);
    known.emplace(options.ignores_case ? upper_case(word) : std::string(word), row);
  }
  return known;
}

}  // namespace

double cosine(std::span<const float> left, std::span<const float> right) {
  const std::vector<double> a(left.begin(), left.end()), b(right.begin(), right.end());
  return cosine_of(a, b);
}

std::vector<double> cosine_matrix(std::span<const double> rows, std::size_t count) {
  const std::size_t width = count > 0 ? rows.size() / count : 0;
  std::vector<double> cosines;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < count; ++k)
      cosines.push_back(cosine_of(rows.subspan(i * width, width), rows.subspan(k * width, width)));
  return cosines;
}

double distance(std::span<const float> left, std::span<const float> right) {
  double squares = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const double difference = static_cast<double>(left[i]) - static_cast<double>(right[i]);
    squares += difference * difference;
  }
  return std::sqrt(squares);
}

double cosine_of_directions(const WordTable& table, Direction left, Direction right) {
  return cosine_of(difference(table, left), difference(table, right));
}

ChanceCosines chance_cosines(const WordTable& table, std::int64_t rows, std::int64_t pairs, std::uint64_t seed) {
  const auto count = static_cast<std::uint32_t>(std::min(rows, table.size()));
  const RandomStream random{seed, hash64("chance_cosines"), 0};
  std::vector<double> cosines;
  for (std::int64_t i = 0; i < pairs; ++i) {
    std::int64_t drawn[4];
    for (std::uint64_t k = 0; k < 4; ++k)
      drawn[k] = uniform_below(random.bits(4 * static_cast<std::uint64_t>(i) + k), count);
    cosines.push_back(cosine_of_directions(table, {drawn[0], drawn[1]}, {drawn[2], drawn[3]}));
  }
  ChanceCosines result{pairs, 0, 0, 0};
  for (const double value : cosines) result.mean += value / static_cast<double>(pairs);
  for (const double value : cosines) result.sd += (value - result.mean) * (value - result.mean);
  result.sd = pairs > 1 ? std::sqrt(result.sd / static_cast<double>(pairs - 1)) : 0;
  std::transform(cosines.begin(), cosines.end(), cosines.begin(), [](double value) { return std::abs(value); });
  std::sort(cosines.begin(), cosines.end());
  if (pairs > 0) result.high = cosines[static_cast<std::size_t>(pairs - 1) * 95 / 100];
  return result;
}

double pearson(std::span<const double> left, std::span<const double> right) {
  const auto count = static_cast<double>(left.size());
  const double left_mean = std::accumulate(left.begin(), left.end(), 0.0) / count;
  const double right_mean = std::accumulate(right.begin(), right.end(), 0.0) / count;
  double products = 0, left_squares = 0, right_squares = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const double a = left[i] - left_mean, b = right[i] - right_mean;
    products += a * b;
    left_squares += a * a;
    right_squares += b * b;
  }
  return products / std::sqrt(left_squares * right_squares);
}

double spearman(std::span<const double> left, std::span<const double> right) {
  return pearson(ranks(left), ranks(right));
}

PairsAgreement judge_pairs(const WordTable& table, const std::filesystem::path& path, const PairsOptions& options) {
  const auto known = known_words(table, options);
  PairsAgreement result;
  std::vector<double> judged, found;
  for (const Pair& pair : read_pairs(path)) {
    const auto left = known.find(options.ignores_case ? upper_case(pair.left) : pair.left);
    const auto right = known.find(options.ignores_case ? upper_case(pair.right) : pair.right);
    if (left == known.end() || right == known.end()) {
      result.unknown.push_back(pair.left + ", " + pair.right);
      continue;
    }
    judged.push_back(pair.score);
    found.push_back(cosine(table.row(left->second), table.row(right->second)));
  }
  result.pairs = static_cast<std::int64_t>(judged.size());
  result.spearman = spearman(judged, found);
  result.pearson = pearson(judged, found);
  return result;
}

}  // namespace jari
