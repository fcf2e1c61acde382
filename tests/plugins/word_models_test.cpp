// Skip-gram and continuous bag of words: against PyTorch in double precision (tests/golden/skip_gram.json), and against
// each other.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "framework/ops/differentiate.hpp"
#include "tests/plugins/components.hpp"
#include "tests/support/files.hpp"

namespace jari {
namespace {

using test::bound;
using Json = nlohmann::json;

std::vector<double> flat(const Json& rows) {
  std::vector<double> out;
  for (const Json& row : rows) {
    for (const Json& number : row) out.push_back(number.get<double>());
  }
  return out;
}

// A model with its tables set, and what it makes of given and asked words.
struct WordCase {
  WordCase(const std::string& model_name, std::int64_t vocabulary, std::int64_t width)
      : model(bound<Model>("{type: " + model_name + ", width: " + std::to_string(width) + "}")),
        context{graph, declarations, vocabulary} {}

  Value loss(const std::vector<std::int64_t>& given, std::int64_t given_each, const std::vector<std::int64_t>& asked,
             const std::vector<std::int64_t>& negatives) {
    const auto& words = dynamic_cast<const WordModel&>(*model);
    const auto batch = static_cast<std::int64_t>(asked.size());
    const Graph::Scope scope(graph, "model");
    const Value hidden = words.hidden(context, graph.constant_i32({batch, given_each}, given));
    const auto count = static_cast<std::int64_t>(negatives.size()) / batch;
    return negative_sampling(hidden, words.output_table(context), graph.constant_i32({batch, 1}, asked),
                             graph.constant_i32({batch, count}, negatives), 1)
        .loss;
  }

  std::vector<double> read(Value value) { return evaluate(graph, value, {}, state.get()); }

  void set(const std::vector<double>& embedding, const std::vector<double>& output) {
    state = std::make_unique<State>(graph, 1);
    state->write(0, *state->find("model/embedding"), embedding);
    state->write(0, *state->find("model/output"), output);
  }

  test::Bound<Model> model;
  Graph graph{DType::f64};
  Declarations declarations;
  BuildContext context;
  std::unique_ptr<State> state;
};

void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-14) << i;
}

TEST(SkipGram, HasTheLossAndGradientsOfPyTorch) {
  const Json golden = Json::parse(test::read_text(test::source_path("tests/golden/skip_gram.json")));
  WordCase words("skip_gram", golden.at("vocabulary"), golden.at("width"));
  std::vector<std::int64_t> negatives;
  for (const Json& row : golden.at("negatives")) {
    for (const Json& id : row) negatives.push_back(id);
  }
  const Value loss = words.loss(golden.at("centers"), 1, golden.at("contexts"), negatives);
  const std::vector<Value> tables = {words.graph.find_parameter("model/embedding"),
                                     words.graph.find_parameter("model/output")};
  const std::vector<Value> gradients = differentiate(words.graph, loss, tables);
  words.set(flat(golden.at("input_table")), flat(golden.at("output_table")));
  EXPECT_NEAR(words.read(loss)[0], golden.at("loss").get<double>(), 1e-14);
  expect_near(words.read(gradients[0]), flat(golden.at("input_gradient")));
  expect_near(words.read(gradients[1]), flat(golden.at("output_gradient")));
}

TEST(Cbow, TakesTheMeanOfTheWordsThatAreThere) {
  const std::vector<double> embedding = {1, 2, 3, 5, -4, 8}, output = {0.5, -1, 2, 0.25, 1, 1};
  WordCase one("skip_gram", 3, 2), some("cbow", 3, 2);
  const Value expected = one.loss({1}, 1, {2}, {0});
  // Rows 0 and 2 have the mean (-1.5, 5); a third place is empty. The same row three times is that row.
  const Value mean = some.loss({1, -1, 1}, 3, {2}, {0});
  one.set(embedding, output);
  some.set(embedding, output);
  EXPECT_NEAR(some.read(mean)[0], one.read(expected)[0], 1e-15);

  WordCase pair("cbow", 3, 2);
  const Value loss = pair.loss({0, 2, -1, -1}, 4, {1}, {0});
  const Value gradient = differentiate(pair.graph, loss, {pair.graph.find_parameter("model/embedding")})[0];
  pair.set(embedding, output);
  const double right = -1.5 * 2 + 5 * 0.25, wrong = -1.5 * 0.5 + 5 * -1.0;
  EXPECT_NEAR(pair.read(loss)[0], std::log1p(std::exp(-right)) + std::log1p(std::exp(wrong)), 1e-15);
  const double slope0 = (-2 / (1 + std::exp(right)) + 0.5 / (1 + std::exp(-wrong))) / 2;
  EXPECT_NEAR(pair.read(gradient)[0], slope0, 1e-15);
  EXPECT_EQ(pair.read(gradient)[2], 0) << "a word that is not given";
  EXPECT_NEAR(pair.read(gradient)[4], slope0, 1e-15);
}

TEST(Cbow, OfNoWordsHasNoVector) {
  WordCase words("cbow", 3, 2);
  const Value loss = words.loss({-1, -1}, 2, {-1}, {-1});
  words.set({1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(words.read(loss)[0], 0);
}

}  // namespace
}  // namespace jari
