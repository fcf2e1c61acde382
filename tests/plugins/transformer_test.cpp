// model/gpt and model/encoder: against PyTorch's GPT-2, and what holds for every variant and positional scheme.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "framework/component/transformer_checkpoint.hpp"
#include "framework/ops/differentiate.hpp"
#include "tests/plugins/components.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"
#include "tests/support/golden.hpp"

namespace jari {
namespace {

using test::bound;
using test::Bound;
using test::error_of;
using test::expect_near;
using test::flat;
using test::TemporaryFolder;
using ::testing::HasSubstr;
using Json = nlohmann::json;

const Json& gpt2() {
  static const Json json = test::golden("gpt2");
  return json;
}

std::vector<std::int64_t> shape_of(const Json& nested) {
  std::vector<std::int64_t> shape;
  for (const Json* level = &nested; level->is_array(); level = &level->front())
    shape.push_back(static_cast<std::int64_t>(level->size()));
  return shape;
}

// A safetensors file of f64, as Hugging Face writes them.
std::filesystem::path write_checkpoint(const TemporaryFolder& folder, const Json& tensors,
                                       const std::string& prefix = "") {
  Json header;
  std::string bytes;
  for (const auto& [name, values] : tensors.items()) {
    const std::vector<double> numbers = flat(values);
    const std::size_t begin = bytes.size();
    bytes.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
    header[prefix + name] = {{"dtype", "F64"}, {"shape", shape_of(values)}, {"data_offsets", {begin, bytes.size()}}};
  }
  const std::string text = header.dump();
  const std::filesystem::path path = folder.path() / "model.safetensors";
  std::ofstream file(path, std::ios::binary);
  const std::uint64_t length = text.size();
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file << text << bytes;
  return path;
}

// A model in a graph of its own.
class Built {
 public:
  enum Output { kLogits, kFirstAttention };

  Built(const std::string& block, std::int64_t vocabulary, std::int64_t batch, std::int64_t length,
        bool training = false, Output output = kLogits)
      : model_(bound<Model>(block)),
        context_{graph_, declarations_, vocabulary, length, length, training},
        tokens_(graph_.input("tokens", {DType::i32, {batch, length}}, true)) {
    const Graph::Scope scope(graph_, "model");
    logits_ = output == kLogits ? sequence_model().logits(context_, tokens_)
                                : sequence_model().hidden_states(context_, tokens_).at(1).rows;
  }

  Graph& graph() { return graph_; }
  const BuildContext& context() const { return context_; }
  const Declarations& declarations() const { return declarations_; }
  const SequenceModel& sequence_model() const { return dynamic_cast<const SequenceModel&>(*model_); }
  Value tokens() const { return tokens_; }
  Value logits() const { return logits_; }

  // First values as they are declared, or, without `declared`, N(0, 0.4^2) for all.
  State state(bool declared = false) const {
    State state(graph_, 1);
    for (const State::Entry& entry : state.entries()) {
      std::vector<double> values(static_cast<std::size_t>(entry.type.shape.size()));
      const ParameterDeclaration* declaration = declarations_.find(entry.name);
      if (declared && declaration != nullptr) {
        declaration->init->fill({3, entry.name, entry.type.shape, nullptr}, values);
      } else if (declaration != nullptr) {
        fill_normal({3, entry.name, entry.type.shape, nullptr}, 0, 0.4, values);
      }
      state.write(0, entry, values);
    }
    return state;
  }

  NamedValues inputs(const std::vector<double>& tokens) const {
    NamedValues values = test::per_trial_values(graph_, {model_.resolved});
    values.emplace_back("tokens", tokens);
    return values;
  }

 private:
  Bound<Model> model_;
  Graph graph_{DType::f64};
  Declarations declarations_;
  BuildContext context_;
  Value tokens_, logits_;
};

// As a table with larger rows, since the output has a table of its own here.
TEST(Gpt, TokenRowsAreScaledBeforePositionsAreAdded) {
  const std::string block = "{type: gpt, blocks: 1, heads: 2, width: 8, tied: false, position: sin";
  Built plain(block + "}", 11, 1, 4), scaled(block + ", embedding_scale: 2.5}", 11, 1, 4);
  State state = plain.state(), scaled_state = scaled.state();
  const State::Entry& table = *state.find("model/embedding");
  std::vector<double> rows = state.read(0, table);
  for (double& number : rows) number *= 2.5;
  const std::vector<double> tokens = {1, 7, 7, 3};
  const std::vector<double> found = evaluate(scaled.graph(), scaled.logits(), scaled.inputs(tokens), &scaled_state);
  EXPECT_NE(found, evaluate(plain.graph(), plain.logits(), plain.inputs(tokens), &state));
  state.write(0, table, rows);
  expect_near(found, evaluate(plain.graph(), plain.logits(), plain.inputs(tokens), &state), 1e-13, "logits");
}

std::string gpt2_block(const std::filesystem::path& checkpoint, const std::string& more = "") {
  return "{type: gpt, blocks: 2, heads: 2, width: 8, position: {type: learned, max_length: 6}, checkpoint: " +
         checkpoint.string() + more + "}";
}

void expect_equal_to_pytorch(const std::string& prefix) {
  const TemporaryFolder folder;
  Built model(gpt2_block(write_checkpoint(folder, gpt2().at("parameters"), prefix)), 11, 2, 5);
  State state = model.state(/*declared=*/true);
  const std::vector<double> tokens = flat(gpt2().at("tokens"));
  const NamedValues inputs = model.inputs(tokens);
  expect_near(evaluate(model.graph(), model.logits(), inputs, &state), flat(gpt2().at("logits")), 1e-12, "logits");
  std::vector<std::int64_t> targets;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    targets.push_back(i % 5 == 4 ? -1 : static_cast<std::int64_t>(tokens[i + 1]));
  const Value loss = cross_entropy(model.logits(), model.graph().constant_i32({2, 5}, targets));
  expect_near(evaluate(model.graph(), loss, inputs, &state), {gpt2().at("loss").get<double>()}, 1e-13, "loss");
  const std::vector<Value> parameters = model.graph().parameters();
  const std::vector<Value> gradients = differentiate(model.graph(), loss, parameters);
  ASSERT_EQ(parameters.size(), gpt2().at("parameters").size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string path = model.graph().node(parameters[i].node()).path;
    const std::string name = gpt2_name(path.substr(std::string("model/").size()));
    expect_near(evaluate(model.graph(), gradients[i], inputs, &state), flat(gpt2().at("gradients").at(name)), 1e-12,
                name);
  }
}

TEST(Gpt, TakesAGpt2CheckpointAndEqualsPyTorch) { expect_equal_to_pytorch(""); }
TEST(Gpt, TakesTheNamesWithThePrefixToo) { expect_equal_to_pytorch("transformer."); }

TEST(Gpt, SaysWhatOfACheckpointDoesNotFit) {
  const TemporaryFolder folder;
  const std::filesystem::path path = write_checkpoint(folder, gpt2().at("parameters"));
  const auto error = [&](const std::string& block, std::int64_t vocabulary = 11) {
    return error_of<ShapeError>([&] { Built(block, vocabulary, 2, 5); });
  };
  EXPECT_THAT(error(gpt2_block(path), 12),
              HasSubstr(path.string() + ": the tensor 'wte.weight' is [11, 8], and the model's 'embedding' is [12, 8]; "
                                        "give the model the checkpoint's width, heads, blocks, vocabulary and "
                                        "max_length"));
  EXPECT_THAT(error(gpt2_block(path, ", activation: swiglu")),
              HasSubstr("GPT-2 has no parameter for 'block0/mlp/gate_weight'; choose what GPT-2 has"));
  Json less = gpt2().at("parameters");
  less.erase("h.1.ln_2.bias");
  EXPECT_THAT(error(gpt2_block(write_checkpoint(folder, less))),
              HasSubstr("there is no tensor 'h.1.ln_2.bias'; it holds 27 tensors, such as h.0.attn.c_attn.bias F64"));
}

TEST(Gpt, TheReferenceModelHas1140608Parameters) {
  Built model("{type: gpt, position: {type: learned, max_length: 128}}", 2585, 1, 128);
  std::int64_t count = 0;
  for (const ParameterDeclaration& declaration : model.declarations().all()) count += declaration.shape.size();
  EXPECT_EQ(count, 1'140'608);
  EXPECT_EQ(model.declarations().find("model/embedding")->shape.size(), 330'880);
  EXPECT_EQ(model.declarations().find("model/position/table")->shape.size(), 16'384);
}

const std::string kSmall = "blocks: 2, heads: 2, width: 8, mlp_ratio: 2";

class EveryVariant : public testing::TestWithParam<std::string> {};

// Every eleventh number of every parameter.
TEST_P(EveryVariant, HasTheGradientsThatFiniteDifferencesGive) {
  Built model("{" + GetParam() + ", " + kSmall + "}", 7, 2, 5);
  State state = model.state();
  const NamedValues inputs = model.inputs({1, 2, 3, 4, 5, 6, 0, 1, 1, 3});
  const Value loss =
      cross_entropy(model.logits(), model.graph().constant_i32({2, 5}, {2, 3, 4, 5, -1, 0, 1, 1, 3, -1}));
  const std::vector<Value> parameters = model.graph().parameters();
  const std::vector<Value> gradients = differentiate(model.graph(), loss, parameters);
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const std::string path = model.graph().node(parameters[p].node()).path;
    const std::vector<double> gradient = evaluate(model.graph(), gradients[p], inputs, &state);
    std::span<double> values = state.tensor<double>(0, *state.find(path));
    for (std::size_t i = 0; i < values.size(); i += 11) {
      constexpr double kStep = 1e-5;
      const double kept = values[i];
      values[i] = kept + kStep;
      const double above = evaluate(model.graph(), loss, inputs, &state)[0];
      values[i] = kept - kStep;
      const double below = evaluate(model.graph(), loss, inputs, &state)[0];
      values[i] = kept;
      EXPECT_NEAR(gradient[i], (above - below) / (2 * kStep), 1e-7) << path << "[" << i << "]";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Transformer, EveryVariant,
                         testing::Values("type: gpt, position: sin", "type: encoder, position: sin",
                                         "type: gpt, position: rope, norm: rms, activation: swiglu, bias: false",
                                         "type: gpt, position: t5, norm_place: after, activation: gelu_exact",
                                         "type: gpt, position: none, tied: false, bias: false",
                                         "type: encoder, position: {type: rel, max_length: 5}, norm: rms, "
                                         "norm_place: after, tied: false"));

// A number of the last token's logits depends on the first token, and, where the model sees both ways only, the other
// way round.
TEST(Transformer, OnlyAnEncoderSeesWhatComesAfter) {
  for (const bool causal : {true, false}) {
    Built model(std::string("{type: ") + (causal ? "gpt" : "encoder") + ", position: sin, " + kSmall + "}", 7, 1, 5);
    State state = model.state();
    const auto logits = [&](std::vector<double> tokens) {
      return evaluate(model.graph(), model.logits(), model.inputs(tokens), &state);
    };
    const std::vector<double> all = logits({1, 2, 3, 4, 5}), last = logits({1, 2, 3, 4, 6}),
                              first = logits({0, 2, 3, 4, 5});
    const auto row_of = [](const std::vector<double>& values, std::ptrdiff_t row) {
      return std::vector<double>(values.begin() + row * 7, values.begin() + row * 7 + 7);
    };
    EXPECT_EQ(row_of(all, 0) == row_of(last, 0), causal);
    EXPECT_NE(row_of(all, 4), row_of(first, 4));
  }
}

class Decoding : public testing::TestWithParam<std::string> {};

// Token by token with kept keys and values, against all at once: for every registered scheme.
TEST_P(Decoding, GivesTheLogitsOfTheWholeSequence) {
  constexpr std::int64_t kLength = 6, kVocabulary = 7;
  const std::string block =
      "{type: gpt, " + kSmall + ", position: " + test::example_block("position", GetParam()) + "}";
  Built whole(block, kVocabulary, 1, kLength);
  State trained = whole.state();
  const std::vector<double> tokens = {3, 1, 4, 1, 5, 6};
  const std::vector<double> expected = evaluate(whole.graph(), whole.logits(), whole.inputs(tokens), &trained);

  Graph graph(DType::f64);
  Declarations declarations;
  const BuildContext context{graph, declarations, kVocabulary, kLength, kLength};
  {
    const Graph::Scope scope(graph, "model");
    const Value token = graph.input("token", {DType::i32, {1}}, true),
                place = graph.input("place", {DType::i32, {1}}, true);
    graph.output("logits", whole.sequence_model().next_logits(context, token, place));
  }
  State state(graph, 1);
  for (const State::Entry& entry : trained.entries()) {
    ASSERT_NE(state.find(entry.name), nullptr) << entry.name;
    state.write(0, *state.find(entry.name), trained.read(0, entry));
  }
  std::vector<double> found;
  Program::Hooks hooks;
  hooks.feed = [&](int, std::int64_t step, const Tensors& inputs) {
    for (const auto& [name, values] : whole.inputs(tokens))
      if (inputs.has(name)) write_tensor(inputs, name, values);
    write_tensor(inputs, "token", {tokens[static_cast<std::size_t>(step)]});
    write_tensor(inputs, "place", {static_cast<double>(step)});
  };
  hooks.fetch = [&](int, std::int64_t, const Tensors& outputs) {
    const std::vector<double> row = read_tensor(outputs, "logits");
    found.insert(found.end(), row.begin(), row.end());
    return true;
  };
  const int trial = 0;
  ThreadPool pool(1);
  Program(graph).run(state, {&trial, 1}, 0, kLength, hooks, pool);
  expect_near(found, expected, 1e-12, "logits");
}

INSTANTIATE_TEST_SUITE_P(Registry, Decoding, testing::ValuesIn(test::builtin_components().names("position")),
                         [](const auto& scheme) { return scheme.param; });

TEST(Transformer, HiddenStatesEndWithWhatTheLogitsAreMadeOf) {
  Built model("{type: gpt, position: sin, norm_place: after, " + kSmall + "}", 7, 1, 5);
  std::vector<HiddenState> states;
  {
    const Graph::Scope scope(model.graph(), "model");
    states = model.sequence_model().hidden_states(model.context(), model.tokens());
  }
  std::vector<std::string> places;
  for (const HiddenState& state : states) places.push_back(state.place);
  EXPECT_THAT(places, ::testing::ElementsAre("embedding", "block0/attention", "block0", "block1/attention", "block1"));
  State state = model.state();
  const NamedValues inputs = model.inputs({1, 2, 3, 4, 5});
  const Value logits = matmul(states.back().rows, model.graph().find_parameter("model/embedding"), false, true);
  expect_near(evaluate(model.graph(), logits, inputs, &state), evaluate(model.graph(), model.logits(), inputs, &state),
              1e-13, "logits");
}

TEST(Transformer, DropsInTrainingAlone) {
  const std::string block = "{type: gpt, position: sin, dropout: 0.2, " + kSmall + "}";
  const auto drops = [](Built& built) {
    int count = 0;
    for (int i = 0; i < built.graph().size(); ++i) count += built.graph().node(i).op == &op_dropout ? 1 : 0;
    return count;
  };
  Built trained(block, 7, 1, 5, /*training=*/true), tested(block, 7, 1, 5);
  EXPECT_EQ(drops(trained), 5);  // the embedding, and two a block
  EXPECT_EQ(drops(tested), 0);
}

TEST(Transformer, DropsProbabilitiesInTraining) {
  const std::string block = "{type: gpt, position: alibi, blocks: 1, heads: 2, width: 8";
  const std::vector<double> tokens = {1, 6, 2, 2, 5};
  // The stream after the first block's attention.
  const auto attended = [&](const std::string& more, bool training, double seed) {
    Built built(block + more + "}", 7, 1, 5, training, Built::kFirstAttention);
    State state = built.state();
    NamedValues inputs = built.inputs(tokens);
    inputs.emplace_back(kRandomSeed, std::vector<double>{seed, 0});
    inputs.emplace_back(kRandomStep, std::vector<double>{3});
    return evaluate(built.graph(), built.logits(), inputs, &state);
  };
  const std::vector<double> plain = attended("", true, 1);
  expect_near(attended(", attention_dropout: 0", true, 1), plain, 1e-13, "a rate of 0");
  expect_near(attended(", attention_dropout: 0.3", false, 1), plain, 1e-13, "a test");
  EXPECT_NE(attended(", attention_dropout: 0.3", true, 1), attended(", attention_dropout: 0.3", true, 2));
  // The sum over the values is linear in the probabilities, so the mean over many draws is what is not dropped.
  constexpr int kDraws = 1500;
  std::vector<double> sum(plain.size()), squares(plain.size());
  for (int seed = 0; seed < kDraws; ++seed) {
    const std::vector<double> found = attended(", attention_dropout: 0.3", true, seed);
    for (std::size_t i = 0; i < found.size(); ++i) {
      sum[i] += found[i];
      squares[i] += found[i] * found[i];
    }
  }
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const double mean = sum[i] / kDraws, variance = squares[i] / kDraws - mean * mean;
    EXPECT_NEAR(mean, plain[i], 1e-12 + 5 * std::sqrt(std::max(0.0, variance) / kDraws)) << i;
  }
}

TEST(Transformer, RefusesSizesThatDoNotGoTogether) {
  const auto error = [](const std::string& keys) {
    return error_of<SpecError>([&] { bound<Model>("{type: gpt, position: sin, " + keys + "}"); });
  };
  EXPECT_THAT(error("width: 10, heads: 4"), HasSubstr("4 heads do not divide the width 10"));
  EXPECT_THAT(error("width: 8, mlp_ratio: 1.3"), HasSubstr("1.3 times the width 8 is 10.4, not a whole number"));
  EXPECT_THAT(error("checkpoint: no_such.safetensors"), HasSubstr("no_such.safetensors"));
}

}  // namespace
}  // namespace jari
