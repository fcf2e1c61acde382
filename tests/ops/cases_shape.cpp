// Ops that move elements without changing them.

#include <algorithm>

#include "tests/ops/reference.hpp"

namespace jari::test {

namespace {

// A case whose result, in the given shape, takes each element from where `source` says: a position in the operand, or
// -1 for a zero.
OpCase moving(std::string name, Shape operand, Shape result, std::function<Value(Value)> builder,
              std::function<std::int64_t(const std::vector<std::int64_t>& index)> source) {
  OpCase of;
  of.name = std::move(name);
  of.operands = {real(operand)};
  of.build = [builder](Graph&, const std::vector<Value>& x) { return std::vector<Value>{builder(x[0])}; };
  of.reference = [result, source](const Arrays& x) {
    Array out;
    for (std::int64_t i = 0; i < result.size(); ++i) {
      const std::int64_t from = source(index_of(result, i));
      out.push_back(from < 0 ? 0 : x[0][static_cast<std::size_t>(from)]);
    }
    return Arrays{out};
  };
  of.differentiable = operand.size() < 1000;
  return of;
}

OpCase permuting(std::string name, Shape operand, std::vector<int> order) {
  Shape result;
  for (const int axis : order) result.push_back(operand[axis]);
  return moving(
      std::move(name), operand, result, [order](Value x) { return permute(x, order); },
      [operand, order](const std::vector<std::int64_t>& index) {
        std::vector<std::int64_t> from(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) from[static_cast<std::size_t>(order[i])] = index[i];
        return static_cast<std::int64_t>(position_of(operand, from));
      });
}

OpCase slicing(std::string name, Shape operand, int axis, std::int64_t begin, std::int64_t end, std::int64_t stride) {
  const int front = axis < 0 ? axis + operand.rank() : axis;
  Shape result = operand;
  result[front] = (end - begin + stride - 1) / stride;
  return moving(
      std::move(name), operand, result, [=](Value x) { return slice(x, axis, begin, end, stride); },
      [=](std::vector<std::int64_t> index) {
        std::int64_t& along = index[static_cast<std::size_t>(front)];
        along = begin + along * stride;
        return static_cast<std::int64_t>(position_of(operand, index));
      });
}

OpCase padding(std::string name, Shape operand, int axis, std::int64_t before, std::int64_t after) {
  Shape result = operand;
  result[axis] += before + after;
  return moving(
      std::move(name), operand, result, [=](Value x) { return pad(x, axis, before, after); },
      [=](std::vector<std::int64_t> index) {
        std::int64_t& along = index[static_cast<std::size_t>(axis)];
        along -= before;
        if (along < 0 || along >= operand[axis]) return std::int64_t{-1};
        return static_cast<std::int64_t>(position_of(operand, index));
      });
}

OpCase broadcasting(std::string name, Shape operand, Shape result) {
  OpCase of = moving(
      std::move(name), operand, result, [result](Value x) { return broadcast_to(x, result); }, nullptr);
  of.reference = [=](const Arrays& x) {
    Array out;
    for (std::int64_t i = 0; i < result.size(); ++i) out.push_back(broadcast_element(x[0], operand, result, i));
    return Arrays{out};
  };
  of.differentiable = result.size() < 1000;
  return of;
}

OpCase concatenating(std::string name, std::vector<Shape> parts, int axis) {
  OpCase of;
  of.name = std::move(name);
  for (const Shape& part : parts) of.operands.push_back(real(part));
  of.build = [axis](Graph&, const std::vector<Value>& x) { return std::vector<Value>{concat(x, axis)}; };
  of.reference = [parts, axis](const Arrays& x) {
    const int front = axis < 0 ? axis + parts[0].rank() : axis;
    Shape result = parts[0];
    result[front] = 0;
    for (const Shape& part : parts) result[front] += part[front];
    Array out;
    for (std::int64_t i = 0; i < result.size(); ++i) {
      std::vector<std::int64_t> index = index_of(result, i);
      std::int64_t& along = index[static_cast<std::size_t>(front)];
      std::size_t part = 0;
      for (; along >= parts[part][front]; ++part) along -= parts[part][front];
      out.push_back(x[part][position_of(parts[part], index)]);
    }
    return Arrays{out};
  };
  of.differentiable = parts[0].size() < 1000;
  return of;
}

}  // namespace

OpCases cases_reshape() {
  const auto same = [](Shape shape) {
    return [shape](const std::vector<std::int64_t>& index) {
      return static_cast<std::int64_t>(position_of(shape, index));
    };
  };
  return {{moving(
               "a matrix to a vector", {3, 7}, {21}, [](Value x) { return reshape(x, {21}); }, same({21})),
           moving(
               "one element to a scalar", {1, 1}, {}, [](Value x) { return reshape(x, {}); }, same({})),
           moving(
               "several blocks", {700, 101}, {101, 700},
               [](Value x) {
                 return reshape(x, {101, 700});
               },
               same({101, 700}))},
          {{"another number of elements",
            [](Graph& graph) {
              reshape(graph.parameter("a", {2, 3}), {4});
            },
            "reshape: [2, 3] has 6 elements, [4] has 4"},
           {"a negative size",
            [](Graph& graph) {
              reshape(graph.parameter("a", {2, 3}), {-2, -3});
            },
            "reshape: negative size in shape [-2, -3]"}}};
}

OpCases cases_permute() {
  OpCases all{{permuting("a matrix", {3, 7}, {1, 0}), permuting("heads before positions", {2, 5, 3, 4}, {0, 2, 1, 3}),
               permuting("the last two of four axes", {2, 3, 5, 7}, {0, 1, 3, 2}),
               permuting("the first axis to the end", {2, 3, 5}, {1, 2, 0}),
               permuting("the last axis to the front", {2, 3, 5}, {2, 0, 1}),
               permuting("all axes turned around", {2, 3, 5}, {2, 1, 0}),
               permuting("axes of size 1", {1, 3, 1, 5}, {3, 0, 2, 1}),
               permuting("several blocks of tiles", {3, 150, 170}, {0, 2, 1}),
               permuting("several blocks of stretches", {20, 30, 4, 33}, {0, 2, 1, 3}),
               moving(
                   "transposed", {2, 3, 5}, {2, 5, 3}, [](Value x) { return transpose(x); },
                   [](const std::vector<std::int64_t>& i) { return i[0] * 15 + i[2] * 5 + i[1]; })},
              {}};
  OpCase integers = permuting("booleans", {3, 7}, {1, 0});
  integers.operands = {boolean({3, 7})};
  integers.differentiable = false;
  all.cases.push_back(integers);
  all.errors = {{"an axis twice",
                 [](Graph& graph) {
                   permute(graph.parameter("a", {2, 3}), {0, 0});
                 },
                 "permute: the order [0, 0] does not name each axis of [2, 3] once"},
                {"a vector transposed", [](Graph& graph) { transpose(graph.parameter("a", {2})); },
                 "transpose: needs two axes, [2] has 1"}};
  return all;
}

OpCases cases_slice() {
  return {{slicing("the front", {5, 3}, 0, 0, 2, 1), slicing("the middle of the last axis", {3, 7}, -1, 2, 5, 1),
           slicing("every second", {3, 7}, 1, 0, 7, 2), slicing("every second from 1", {3, 8, 2}, 1, 1, 8, 2),
           slicing("every third, ending early", {11, 2}, 0, 1, 6, 3), slicing("one element", {4, 3}, 1, 2, 3, 1),
           slicing("several blocks", {3, 200, 150}, 2, 1, 150, 2)},
          {{"an end behind the axis",
            [](Graph& graph) {
              const Graph::Scope scope(graph, "model");
              slice(graph.parameter("a", {2, 3}), 1, 1, 5);
            },
            "slice: elements 1 to 5 with stride 1 of axis 1 of [2, 3], which has 3\n  at model"},
           {"an axis that is not there",
            [](Graph& graph) {
              const Graph::Scope scope(graph, "model");
              slice(graph.parameter("a", {2, 3}), 2, 0, 1);
            },
            "slice: axis 2 of [2, 3], which has 2 axes\n  at model"}}};
}

OpCases cases_pad() {
  return {{padding("before", {3, 7}, 0, 2, 0), padding("after", {3, 7}, 1, 0, 3), padding("both", {2, 3, 5}, 1, 1, 2),
           padding("several blocks", {300, 250}, 1, 3, 5)},
          {{"a negative number", [](Graph& graph) { pad(graph.parameter("a", {3}), 0, -1, 1); },
            "pad: -1 before and 1 after: neither may be negative"}}};
}

OpCases cases_concat() {
  return {{concatenating("rows", {{2, 3}, {1, 3}, {4, 3}}, 0), concatenating("columns", {{3, 2}, {3, 5}}, -1),
           concatenating("a middle axis", {{2, 1, 3}, {2, 4, 3}}, 1),
           concatenating("several blocks", {{300, 120}, {300, 131}}, 1)},
          {{"parts that differ elsewhere",
            [](Graph& graph) {
              concat({graph.parameter("a", {2, 3}), graph.parameter("b", {3, 4})}, 0);
            },
            "concat: part 1 is f32[3, 4], part 0 f32[2, 3]: they may differ in the size of axis 0 only"}}};
}

OpCases cases_broadcast_to() {
  return {{broadcasting("a scalar", {}, {3, 7}), broadcasting("a row", {7}, {3, 7}),
           broadcasting("a column", {3, 1}, {3, 7}), broadcasting("a middle axis", {2, 1, 3}, {4, 2, 5, 3}),
           broadcasting("several blocks", {1, 251}, {300, 251})},
          {{"a size that does not fit",
            [](Graph& graph) {
              broadcast_to(graph.parameter("a", {3}), {3, 4});
            },
            "broadcast_to: [3] does not broadcast to [3, 4]"},
           {"a smaller shape",
            [](Graph& graph) {
              broadcast_to(graph.parameter("a", {2, 3}), {3});
            },
            "broadcast_to: [2, 3] does not broadcast to [3]"}}};
}

OpCases cases_iota() {
  OpCases all;
  all.cases.push_back(
      {.name = "five",
       .build = [](Graph& graph, const std::vector<Value>&) { return std::vector<Value>{iota(graph, 5)}; },
       .reference =
           [](const Arrays&) {
             return Arrays{{0, 1, 2, 3, 4}};
           },
       .differentiable = false});
  all.errors.push_back(
      {"a negative count", [](Graph& graph) { iota(graph, -1); }, "iota: negative size in shape [-1]"});
  return all;
}

}  // namespace jari::test
