// Rows of tables by ids, and back.

#include "tests/ops/reference.hpp"

namespace jari::test {

namespace {

std::int64_t width_of(const Shape& shape, int leading) { return shape.last(shape.rank() - leading).size(); }

OpCase gathering(std::string name, Shape table, Shape ids) {
  OpCase of;
  of.name = std::move(name);
  of.operands = {real(table), integer(ids, 0, double(table[0]))};
  of.build = [](Graph&, const std::vector<Value>& x) { return std::vector<Value>{gather(x[0], x[1])}; };
  of.reference = [table](const Arrays& x) {
    const std::int64_t width = width_of(table, 1);
    Array out;
    for (const double id : x[1]) {
      for (std::int64_t j = 0; j < width; ++j)
        out.push_back(x[0][static_cast<std::size_t>(static_cast<std::int64_t>(id) * width + j)]);
    }
    return Arrays{out};
  };
  of.differentiable = table.size() < 500;
  return of;
}

OpCase scattering(std::string name, Shape updates, Shape ids, std::int64_t rows) {
  OpCase of;
  of.name = std::move(name);
  of.operands = {real(updates), integer(ids, 0, double(rows))};
  of.build = [rows](Graph&, const std::vector<Value>& x) { return std::vector<Value>{scatter_add(x[0], x[1], rows)}; };
  of.reference = [=](const Arrays& x) {
    const auto width = static_cast<std::size_t>(width_of(updates, ids.rank()));
    Array out(static_cast<std::size_t>(rows) * width);
    for (std::size_t i = 0; i < x[1].size(); ++i) {
      for (std::size_t j = 0; j < width; ++j) out[static_cast<std::size_t>(x[1][i]) * width + j] += x[0][i * width + j];
    }
    return Arrays{out};
  };
  of.differentiable = updates.size() < 500;
  of.tolerance_f32 = updates.size() < 500 ? 1e-6 : 1e-4;
  of.tolerance_f64 = 1e-12;
  return of;
}

}  // namespace

OpCases cases_gather() {
  OpCases all{{gathering("rows by a matrix of ids", {5, 3}, {2, 4}), gathering("one row", {5, 3}, {}),
               gathering("elements of a vector", {7}, {3, 2}), gathering("planes", {4, 2, 3}, {5}),
               gathering("several blocks", {50, 128}, {32, 20})},
              {{"real ids",
                [](Graph& graph) {
                  const Graph::Scope scope(graph, "model");
                  gather(graph.parameter("a", {2, 3}), graph.parameter("b", {2}));
                },
                "gather: the ids must be i32, not f32[2]\n  at model"},
               {"a scalar table", [](Graph& graph) { gather(graph.parameter("a", {}), graph.constant_i32({}, {0})); },
                "gather: the table f32[] has no rows"}}};
  all.cases.push_back({.name = "an id below 0 stands for none, one too large for the last row",
                       .operands = {real({3, 2})},
                       .build =
                           [](Graph& graph, const std::vector<Value>& x) {
                             return std::vector<Value>{gather(x[0], graph.constant_i32({2}, {-7, 3}))};
                           },
                       .reference =
                           [](const Arrays& x) {
                             return Arrays{{0, 0, x[0][4], x[0][5]}};
                           }});
  return all;
}

OpCases cases_scatter_add() {
  return {{scattering("rows by a matrix of ids", {2, 4, 3}, {2, 4}, 5), scattering("one row", {3}, {}, 5),
           scattering("elements into a vector", {3, 2}, {3, 2}, 4), scattering("planes", {5, 2, 3}, {5}, 4),
           scattering("several strips of columns", {40, 20, 128}, {40, 20}, 50),
           scattering("several tiles of ids", {3000, 5}, {3000}, 11), scattering("many rows", {900, 33}, {900}, 400),
           scattering("strips of unequal width", {90, 101}, {90}, 7)},
          {{"ids of another shape",
            [](Graph& graph) {
              scatter_add(graph.parameter("a", {2, 3}), graph.input("ids", {DType::i32, {3}}, false), 4);
            },
            "scatter_add: the first axes of the updates [2, 3] must be those of the ids [3]"},
           {"no rows",
            [](Graph& graph) {
              scatter_add(graph.parameter("a", {3}), graph.input("ids", {DType::i32, {3}}, false), 0);
            },
            "scatter_add: 0 rows: needs one at least"}}};
}

}  // namespace jari::test
