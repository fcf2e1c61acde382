// Batches of token ids.

#include <fmt/format.h>

#include <algorithm>

#include "framework/base/philox.hpp"
#include "framework/ops/word_windows.hpp"
#include "tests/ops/reference.hpp"

namespace jari::test {

namespace {

RandomStream stream_of_case(std::uint64_t stream) {
  const auto word = [](std::int32_t value) { return static_cast<std::uint32_t>(value); };
  return {(std::uint64_t{word(kSeedHigh)} << 32) | word(kSeedLow), stream, word(kStep)};
}

OpCase ids_case(const Shape& shape, std::int64_t count, std::int64_t first) {
  constexpr std::uint64_t kStream = 0x0123456789abcdef;
  return {.name = fmt::format("{} of {} from draw {} on", shape.to_string(), count, first),
          .build =
              [=](Graph& graph, const std::vector<Value>&) {
                return std::vector<Value>{
                    random_ids(graph, {.stream = kStream, .shape = shape, .count = count, .first = first})};
              },
          .reference =
              [=](const Arrays&) {
                const RandomStream stream = stream_of_case(kStream);
                Array out;
                for (std::int64_t i = first; i < first + shape.size(); ++i)
                  out.push_back(
                      uniform_below(stream.bits(static_cast<std::uint64_t>(i)), static_cast<std::uint32_t>(count)));
                return Arrays{out};
              },
          .differentiable = false};
}

// Draws for those of `asked` that are not below 0, from ids all alike or by an alias table.
OpCase negatives_case(const Shape& asked, std::int64_t each, bool alias) {
  constexpr std::int64_t kCount = 9;
  std::vector<Operand> operands = {integer(asked, -3, 5)};
  if (alias) {
    operands.push_back(integer({kCount}, -2147483648.0, 2147483647.0));
    operands.push_back(integer({kCount}, 0, kCount));
  }
  return {.name = fmt::format("{} for each of {}{}", each, asked.to_string(), alias ? ", by an alias table" : ""),
          .operands = operands,
          .build =
              [=](Graph& graph, const std::vector<Value>& x) {
                IdDraws draws{.stream = 77, .shape = asked, .count = kCount, .asked = x[0]};
                draws.shape.push_back(each);
                if (alias) {
                  draws.limits = x[1];
                  draws.others = x[2];
                }
                return std::vector<Value>{random_ids(graph, draws)};
              },
          .reference =
              [=](const Arrays& x) {
                const RandomStream stream = stream_of_case(77);
                const auto word = [&](std::size_t at) {
                  return stream.block(static_cast<std::uint32_t>(at / 4)).word[at % 4];
                };
                Array out;
                for (std::size_t i = 0; i < x[0].size() * static_cast<std::size_t>(each); ++i) {
                  if (x[0][i / static_cast<std::size_t>(each)] < 0) {
                    out.push_back(-1);
                  } else if (!alias) {
                    out.push_back(uniform_below(word(i), kCount));
                  } else {
                    const std::size_t cell = uniform_below(word(2 * i), kCount);
                    const auto limit = static_cast<std::uint32_t>(static_cast<std::int32_t>(x[1][cell]));
                    out.push_back(word(2 * i + 1) < limit ? static_cast<double>(cell) : x[2][cell]);
                  }
                }
                return Arrays{out};
              },
          .differentiable = false};
}

// Places from -2 on: none is below 0.
OpCase take_case(const Shape& shape, std::int64_t taken) {
  const std::int64_t width = shape[-1];
  return {.name = fmt::format("{} of {}", taken, shape.to_string()),
          .operands = {integer(shape, 0, 50), integer({taken}, -2, static_cast<double>(width))},
          .build = [](Graph&, const std::vector<Value>& x) { return std::vector<Value>{take_ids(x[0], x[1])}; },
          .reference =
              [=](const Arrays& x) {
                Array out;
                for (std::size_t row = 0; row < x[0].size(); row += static_cast<std::size_t>(width))
                  for (const double place : x[1])
                    out.push_back(place < 0 ? -1 : x[0][row + static_cast<std::size_t>(place)]);
                return Arrays{out};
              },
          .differentiable = false};
}

// Begins reach behind the end, and skips over whole windows.
OpCase windows_case(std::int64_t text, std::int64_t end, std::int64_t windows, std::int64_t length) {
  return {.name = fmt::format("{} windows of {} in {} of {}", windows, length, end, text),
          .operands = {integer({text}, 0, 1000), integer({windows}, 0, static_cast<double>(end + 1)),
                       integer({windows}, 0, static_cast<double>(length + 1))},
          .build =
              [=](Graph&, const std::vector<Value>& x) {
                const TextWindows found = text_windows(x[0], x[1], x[2], length, end);
                return std::vector<Value>{found.tokens, found.targets};
              },
          .reference =
              [=](const Arrays& x) {
                Array tokens, targets;
                for (std::size_t window = 0; window < x[1].size(); ++window) {
                  for (std::int64_t i = 0; i < length; ++i) {
                    const auto at = static_cast<std::int64_t>(x[1][window]) + i;
                    tokens.push_back(at < end ? x[0][static_cast<std::size_t>(at)] : 0);
                    const bool is_asked = at + 1 < end && i >= static_cast<std::int64_t>(x[2][window]);
                    targets.push_back(is_asked ? x[0][static_cast<std::size_t>(at + 1)] : -1);
                  }
                }
                return Arrays{tokens, targets};
              },
          .differentiable = false};
}

// Words with neighbors, as framework/ops/word_windows.hpp tells it.
class PlainWindows {
 public:
  PlainWindows(Array words, std::vector<std::int64_t> starts, std::vector<double> chances,
               WordWindowsAttributes options)
      : words_(std::move(words)), starts_(std::move(starts)), chances_(std::move(chances)), options_(options) {}

  Arrays rows() const {
    Array centers, contexts;
    for (std::int64_t row = 0; row < options_.batch; ++row) {
      auto [center, neighbors] = options_.passes ? passed(row) : drawn(row);
      if (neighbors.empty()) center = -1;
      neighbors.resize(static_cast<std::size_t>(options_.width), -1);
      centers.push_back(center);
      contexts.insert(contexts.end(), neighbors.begin(), neighbors.end());
    }
    return {centers, contexts};
  }

 private:
  struct Row {
    double center = -1;
    Array neighbors;
  };

  std::int64_t size() const { return static_cast<std::int64_t>(words_.size()); }
  double word(std::int64_t place) const { return words_[static_cast<std::size_t>(place)]; }
  bool stays(std::int64_t place, std::uint32_t bits) const {
    return chances_.empty() || uniform_f32(bits) < chances_[static_cast<std::size_t>(word(place))];
  }
  std::int64_t reach(std::uint32_t bits) const {
    return options_.dynamic ? 1 + uniform_below(bits, static_cast<std::uint32_t>(options_.window)) : options_.window;
  }
  bool together(std::int64_t one, std::int64_t other) const {
    if (other < 0 || other >= size()) return false;
    const auto line = [&](std::int64_t place) { return std::upper_bound(starts_.begin(), starts_.end(), place); };
    return options_.across_lines || line(one) == line(other);
  }

  Row passed(std::int64_t row) const {
    const std::int64_t at = kStep * options_.batch + row, place = at % size();
    RandomStream random = stream_of_case(options_.stream + 1);
    random.step = static_cast<std::uint32_t>(at / size());
    const auto block = [&](std::int64_t of) { return random.block(static_cast<std::uint32_t>(of)); };
    Row found;
    if (!stays(place, block(place).word[0])) return found;
    found.center = word(place);
    Array before, after;
    const auto most = static_cast<std::size_t>(reach(block(place).word[1]));
    for (std::int64_t i = place - 1; together(place, i) && before.size() < most; --i)
      if (stays(i, block(i).word[0])) before.insert(before.begin(), word(i));
    for (std::int64_t i = place + 1; together(place, i) && after.size() < most; ++i)
      if (stays(i, block(i).word[0])) after.push_back(word(i));
    found.neighbors = before;
    found.neighbors.insert(found.neighbors.end(), after.begin(), after.end());
    return found;
  }

  Row drawn(std::int64_t row) const {
    const RandomStream random = stream_of_case(options_.stream);
    const std::int64_t margin = options_.across_lines ? options_.window : 0;
    for (std::int64_t attempt = 0; attempt < 16; ++attempt) {
      const auto at = static_cast<std::uint32_t>(2 * (row * 16 + attempt));
      const PhiloxBlock block = random.block(at), drops = random.block(at + 1);
      const std::int64_t place = margin + uniform_below(block.word[0], static_cast<std::uint32_t>(size() - 2 * margin));
      const std::int64_t most = reach(block.word[1]);
      Row found{word(place), {}};
      if (options_.width == 1) {
        const std::int64_t side = uniform_below(block.word[2], static_cast<std::uint32_t>(2 * most));
        const std::int64_t other = place + (side < most ? -1 - side : side - most + 1);
        if (together(place, other) && stays(place, drops.word[0]) && stays(other, drops.word[1]))
          found.neighbors.push_back(word(other));
      } else if (stays(place, block.word[2])) {
        for (std::int64_t other = place - most; other <= place + most; ++other)
          if (other != place && together(place, other)) found.neighbors.push_back(word(other));
      }
      if (!found.neighbors.empty()) return found;
    }
    return {};
  }

  Array words_;
  std::vector<std::int64_t> starts_;
  std::vector<double> chances_;
  WordWindowsAttributes options_;
};

// Lines of 1 to 9 words; id i stays with chance (i + 1) / 7 where words are dropped.
OpCase word_windows_case(const std::string& name, std::int64_t words, bool drops, WordWindowsAttributes options) {
  constexpr std::int64_t kIds = 7;
  std::vector<std::int64_t> starts = {0};
  while (starts.back() < words) {
    const auto line = static_cast<std::int64_t>(starts.size());
    starts.push_back(std::min(words, starts.back() + 1 + line * 7 % 9));
  }
  std::vector<double> chances;
  for (std::int64_t id = 0; drops && id < kIds; ++id) chances.push_back(static_cast<float>(id + 1) / kIds);
  options.stream = 991;
  return {.name = name,
          .operands = {integer({words}, 0, kIds)},
          .build =
              [=](Graph& graph, const std::vector<Value>& x) {
                const Value lines = graph.constant_i32({static_cast<std::int64_t>(starts.size())}, starts);
                const Value stay = drops ? graph.constant_of({DType::f32, {kIds}}, chances) : Value();
                const WordWindows found = word_windows(x[0], lines, stay, options);
                return std::vector<Value>{found.centers, found.contexts};
              },
          .reference = [=](const Arrays& x) { return PlainWindows(x[0], starts, chances, options).rows(); },
          .differentiable = false};
}

Value ids(Graph& graph, const std::string& name, Shape shape) {
  return graph.input(name, {DType::i32, std::move(shape)}, /*per_trial=*/false);
}

}  // namespace

OpCases cases_random_ids() {
  return {{ids_case({}, 7, 0), ids_case({5, 7}, 50, 0), ids_case({5, 7}, 50, 35), ids_case({3}, 1, 2),
           ids_case({1}, 1 << 30, 3), ids_case({70001}, 31, 70001), negatives_case({5, 3}, 2, false),
           negatives_case({5, 3}, 5, true), negatives_case({301, 10}, 5, true)},
          {{"no ids to draw from", [](Graph& graph) { random_ids(graph, {.shape = {3}}); },
            "random_ids: draws from 1 to 2^30 ids, not 0"},
           {"what is asked for of another shape",
            [](Graph& graph) {
              random_ids(graph, {.shape = {3, 5}, .count = 4, .asked = ids(graph, "asked", {2})});
            },
            "random_ids: the first axes of [3, 5] must be those of what is asked for, i32[2]"},
           {"an alias table of other ids",
            [](Graph& graph) {
              const Value table = ids(graph, "table", {3});
              random_ids(graph, {.shape = {3}, .count = 4, .limits = table, .others = table});
            },
            "random_ids: the limits must be i32[4], not i32[3]"}}};
}

OpCases cases_take_ids() {
  return {{take_case({5, 7}, 7), take_case({7}, 3), take_case({2, 3, 5}, 9), take_case({3001, 33}, 33),
           take_case({1, 1}, 1)},
          {{"places of two axes",
            [](Graph& graph) {
              take_ids(ids(graph, "ids", {3, 4}), ids(graph, "places", {2, 2}));
            },
            "take_ids: the places must be i32[n], not i32[2, 2]"},
           {"real numbers", [](Graph& graph) { take_ids(graph.parameter("x", {3}), ids(graph, "places", {2})); },
            "take_ids: the ids must be i32, not f32[3]"}}};
}

OpCases cases_text_windows() {
  return {{windows_case(100, 100, 5, 7), windows_case(100, 60, 33, 9), windows_case(3, 3, 4, 5),
           windows_case(5, 0, 2, 3), windows_case(20011, 20000, 700, 129)},
          {{"an end behind the text",
            [](Graph& graph) {
              text_windows(ids(graph, "text", {9}), ids(graph, "begins", {2}), ids(graph, "skips", {2}), 3, 10);
            },
            "text_windows: its end, 10, is outside the text i32[9]"},
           {"a skip too few",
            [](Graph& graph) {
              text_windows(ids(graph, "text", {9}), ids(graph, "begins", {2}), ids(graph, "skips", {1}), 3, 9);
            },
            "text_windows: the skips must be i32[2], not i32[1]"}}};
}

OpCases cases_word_windows() {
  return {
      {word_windows_case("a neighbor each", 90, false, {.batch = 50, .window = 3}),
       word_windows_case("a neighbor each, words dropped", 90, true, {.batch = 300, .window = 4, .dynamic = true}),
       word_windows_case("a neighbor each, across lines", 40, true, {.batch = 77, .window = 5, .across_lines = true}),
       word_windows_case("all neighbors", 90, true, {.batch = 131, .window = 3, .width = 6, .dynamic = true}),
       word_windows_case("a pass", 90, false, {.batch = 40, .window = 2, .width = 4, .passes = true}),
       word_windows_case("a pass, words dropped", 500, true,
                         {.batch = 333, .window = 5, .width = 10, .passes = true, .dynamic = true}),
       word_windows_case("passes in one batch, across lines", 40, true,
                         {.batch = 100, .window = 3, .width = 6, .passes = true, .across_lines = true})},
      {{"a pass with a neighbor each",
        [](Graph& graph) {
          word_windows(ids(graph, "words", {50}), ids(graph, "starts", {3}), {},
                       {.batch = 4, .window = 3, .width = 1, .passes = true});
        },
        "word_windows: rows of 1 do not go with windows of 3"},
       {"too few words",
        [](Graph& graph) {
          word_windows(ids(graph, "words", {6}), ids(graph, "starts", {3}), {}, {.batch = 4, .window = 3, .width = 1});
        },
        "word_windows: the words i32[6] are too few for windows of 3, or have no line"}}};
}

}  // namespace jari::test
