// The checks that every op goes through; see op_case.hpp.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <memory>

#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/philox.hpp"
#include "framework/ops/differentiate.hpp"
#include "framework/program/program.hpp"
#include "tests/ops/op_case.hpp"

namespace jari::test {
namespace {

struct OpEntry {
  const Op* op;
  OpCases (*cases)();
};

void PrintTo(const OpEntry& entry, std::ostream* out) { *out << entry.op->name; }  // NOLINT: the name is GoogleTest's

const std::vector<OpEntry>& entries() {
  static const std::vector<OpEntry> all = {
#define JARI_OP(name) {&op_##name, cases_##name},
#include "framework/ops/ops.def"
#undef JARI_OP
  };
  return all;
}

// A case as a graph, with what is asked of it.
struct Built {
  std::unique_ptr<Graph> graph;
  std::vector<Value> operands, outputs;
};

std::string operand_name(std::size_t i) { return fmt::format("operand{}", i); }

Built build(const OpCase& of, DType dtype) {
  Built built;
  built.graph = std::make_unique<Graph>(dtype);
  for (std::size_t i = 0; i < of.operands.size(); ++i) {
    const Operand& operand = of.operands[i];
    if (operand.kind == Operand::real) {
      built.operands.push_back(built.graph->parameter(operand_name(i), operand.shape));
    } else {
      const DType type = operand.kind == Operand::integer ? DType::i32 : DType::boolean;
      built.operands.push_back(built.graph->input(operand_name(i), {type, operand.shape}, false));
    }
  }
  built.outputs = of.build(*built.graph, built.operands);
  return built;
}

// Elements in [low, high) that f32 holds exactly, so that both precisions start from the same numbers.
Array draw(const std::string& stream, const Operand& operand, int trial) {
  const RandomStream random{static_cast<std::uint64_t>(trial), hash64(stream), 0};
  Array elements(static_cast<std::size_t>(operand.shape.size()));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const double x = operand.low + (operand.high - operand.low) * static_cast<double>(uniform_f32(random.bits(i)));
    elements[i] = operand.kind == Operand::real ? static_cast<double>(static_cast<float>(x)) : std::floor(x);
  }
  return elements;
}

struct Trial {
  Arrays operands;
  int seed = 0;  // added to kSeedLow
};

// Trials differ in their real operands and their random seed.
Trial make_trial(const OpCase& of, int index) {
  Trial trial{{}, index};
  for (std::size_t i = 0; i < of.operands.size(); ++i) {
    const int key = of.operands[i].kind == Operand::real ? index : 0;
    trial.operands.push_back(draw(of.name + operand_name(i), of.operands[i], key));
  }
  return trial;
}

// The elements of `values` by trial, all trials in one program.
std::vector<Arrays> run_on(const std::shared_ptr<Device>& device, const Built& built, const std::vector<Value>& values,
                           const std::vector<Trial>& trials, int threads = 1) {
  std::vector<std::pair<std::string, Value>> outputs;
  for (std::size_t i = 0; i < values.size(); ++i) outputs.emplace_back(fmt::format("value{}", i), values[i]);
  const Program program(*built.graph, outputs, device);
  State state(*built.graph, static_cast<int>(trials.size()));
  std::vector<int> indices;
  for (std::size_t t = 0; t < trials.size(); ++t) {
    indices.push_back(static_cast<int>(t));
    for (std::size_t i = 0; i < built.operands.size(); ++i) {
      if (const State::Entry* entry = state.find(operand_name(i)))
        state.write(static_cast<int>(t), *entry, trials[t].operands[i]);
    }
  }
  std::vector<Arrays> results(trials.size());
  Program::Hooks hooks;
  hooks.feed = [&](int trial, std::int64_t, const Tensors& inputs) {
    const Trial& of = trials[static_cast<std::size_t>(trial)];
    for (std::size_t i = 0; i < built.operands.size(); ++i) {
      if (inputs.has(operand_name(i))) write_tensor(inputs, operand_name(i), of.operands[i]);
    }
    if (inputs.has("random/seed")) write_tensor(inputs, "random/seed", {double(kSeedLow + of.seed), double(kSeedHigh)});
    if (inputs.has("random/step")) write_tensor(inputs, "random/step", {double(kStep)});
  };
  hooks.fetch = [&](int trial, std::int64_t, const Tensors& found) {
    for (const auto& [name, ignored] : outputs)
      results[static_cast<std::size_t>(trial)].push_back(read_tensor(found, name));
    return true;
  };
  ThreadPool pool(threads);
  program.run(state, indices, kStep, kStep + 1, hooks, pool);
  return results;
}

std::vector<Arrays> run(const Built& built, const std::vector<Value>& values, const std::vector<Trial>& trials,
                        int threads = 1) {
  return run_on(device_under_test(), built, values, trials, threads);
}

void expect_near(const Array& found, const Array& expected, double tolerance, const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  int reported = 0;
  for (std::size_t i = 0; i < found.size() && reported < 3; ++i) {
    if (found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i]))) continue;
    if (std::abs(found[i] - expected[i]) <= tolerance * (1 + std::abs(expected[i]))) continue;
    ADD_FAILURE() << fmt::format("{}, element {}: expected {}, found {}", what, i, expected[i], found[i]);
    ++reported;
  }
}

void expect_equal_bits(const Arrays& found, const Arrays& expected, const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t k = 0; k < found.size(); ++k) {
    ASSERT_EQ(found[k].size(), expected[k].size()) << what;
    for (std::size_t i = 0; i < found[k].size(); ++i) {
      if (std::memcmp(&found[k][i], &expected[k][i], sizeof(double)) != 0) {
        ADD_FAILURE() << fmt::format("{}: value {}, element {}: expected {}, found {}", what, k, i, expected[k][i],
                                     found[k][i]);
        break;
      }
    }
  }
}

// A thread of a device adds up more numbers one after the other than a lane of a vector of the host.
double tolerance_f32(const OpCase& of) { return (device_under_test() ? 4 : 1) * of.tolerance_f32; }

// A scalar that depends on every element of every real output, each in its own way.
Value weighted_sum(const Built& built, const std::string& stream) {
  Value loss = built.graph->constant(0);
  for (const Value& output : built.outputs) {
    if (!is_real(output.dtype())) continue;
    const Array weights = draw(stream + "weights", real(output.shape(), 0.5, 1.5), 0);
    loss = loss + sum_all(output * built.graph->constant_of(output.type(), weights));
  }
  return loss;
}

std::vector<std::size_t> real_operands(const OpCase& of) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < of.operands.size(); ++i) {
    if (of.operands[i].kind == Operand::real) indices.push_back(i);
  }
  return indices;
}

std::vector<Value> gradients_of(const Built& built, const OpCase& of, Value loss) {
  std::vector<Value> parameters;
  for (const std::size_t i : real_operands(of)) parameters.push_back(built.operands[i]);
  return differentiate(*built.graph, loss, parameters);
}

// Outputs, and gradients where the case has them.
std::vector<Value> everything(const Built& built, const OpCase& of) {
  std::vector<Value> values = built.outputs;
  if (of.differentiable) {
    for (const Value& gradient : gradients_of(built, of, weighted_sum(built, of.name))) values.push_back(gradient);
  }
  return values;
}

class EveryOp : public testing::TestWithParam<OpEntry> {
 protected:
  const Op& op() const { return *GetParam().op; }
  const OpCases cases_ = GetParam().cases();
};

TEST_P(EveryOp, HasCasesThatUseIt) {
  EXPECT_FALSE(cases_.cases.empty());
  for (const OpCase& of : cases_.cases) {
    SCOPED_TRACE(of.name);
    const Built built = build(of, DType::f32);
    everything(built, of);
    bool used = false;
    for (int i = 0; i < built.graph->size(); ++i) used = used || built.graph->node(i).op == &op();
    EXPECT_TRUE(used);
  }
}

TEST_P(EveryOp, AgreesWithItsReference) {
  for (const OpCase& of : cases_.cases) {
    if (!of.reference) continue;
    SCOPED_TRACE(of.name);
    const Trial trial = make_trial(of, 0);
    const Arrays expected = of.reference(trial.operands);
    for (const DType dtype : {DType::f64, DType::f32}) {
      const Built built = build(of, dtype);
      const Arrays found = run(built, built.outputs, {trial})[0];
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i)
        expect_near(found[i], expected[i], dtype == DType::f64 ? of.tolerance_f64 : tolerance_f32(of),
                    fmt::format("output {} in {}", i, name_of(dtype)));
    }
  }
}

// All displaced operands are trials of one program.
TEST_P(EveryOp, HasTheGradientOfFiniteDifferences) {
  constexpr double kDisplacement = 1e-5;
  for (const OpCase& of : cases_.cases) {
    if (!of.differentiable) continue;
    SCOPED_TRACE(of.name);
    const Built built = build(of, DType::f64);
    const Value loss = weighted_sum(built, of.name);
    const std::vector<Value> gradients = gradients_of(built, of, loss);
    const Trial base = make_trial(of, 0);
    std::vector<Trial> displaced;
    for (const std::size_t i : real_operands(of)) {
      for (std::size_t j = 0; j < base.operands[i].size(); ++j) {
        for (const double sign : {1.0, -1.0}) {
          displaced.push_back(base);
          displaced.back().operands[i][j] += sign * kDisplacement;
        }
      }
    }
    const std::vector<Arrays> losses = run(built, {loss}, displaced);
    const Arrays found = run(built, gradients, {base})[0];
    const Built single = build(of, DType::f32);
    const Arrays found_f32 = run(single, gradients_of(single, of, weighted_sum(single, of.name)), {base})[0];
    std::size_t next = 0;
    for (std::size_t k = 0; k < found.size(); ++k) {
      Array expected(found[k].size());
      for (double& slope : expected) {
        slope = (losses[next][0][0] - losses[next + 1][0][0]) / (2 * kDisplacement);
        next += 2;
      }
      expect_near(found[k], expected, of.tolerance_gradient, fmt::format("gradient of real operand {}", k));
      expect_near(found_f32[k], found[k], 50 * of.tolerance_f32, fmt::format("f32 gradient of real operand {}", k));
    }
  }
}

TEST_P(EveryOp, GivesEqualBitsAtAnyNumberOfThreads) {
  for (const OpCase& of : cases_.cases) {
    SCOPED_TRACE(of.name);
    const Built built = build(of, DType::f32);
    const std::vector<Value> values = everything(built, of);
    const Trial trial = make_trial(of, 0);
    const Arrays expected = run(built, values, {trial})[0];
    for (const int threads : {1, 2, 3})
      expect_equal_bits(run(built, values, {trial}, threads)[0], expected, fmt::format("{} threads", threads));
  }
}

TEST_P(EveryOp, GivesEqualBitsToTrialsTogetherAndAlone) {
  for (const OpCase& of : cases_.cases) {
    SCOPED_TRACE(of.name);
    const Built built = build(of, DType::f32);
    const std::vector<Value> values = everything(built, of);
    std::vector<Trial> trials;
    for (int i = 0; i < 3; ++i) trials.push_back(make_trial(of, i));
    const std::vector<Arrays> together = run(built, values, trials, 2);
    for (std::size_t i = 0; i < trials.size(); ++i)
      expect_equal_bits(together[i], run(built, values, {trials[i]})[0], fmt::format("trial {}", i));
  }
}

#ifdef JARI_DEVICE_UNDER_TEST  // another one than the host

// As expect_near measures it.
double largest_error(const Array& found, const Array& expected) {
  double largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isfinite(expected[i]))
      largest = std::max(largest, std::abs(found[i] - expected[i]) / (1 + std::abs(expected[i])));
  }
  return largest;
}

// Sums are taken in other orders, and elementary functions differ in their last digits: in f64 by next to nothing, in
// f32 by some times what the host itself is off at most: a thread adds up what a vector does in many lanes.
TEST_P(EveryOp, EqualsTheHost) {
  for (const OpCase& of : cases_.cases) {
    SCOPED_TRACE(of.name);
    const std::vector<Trial> trials = {make_trial(of, 0), make_trial(of, 1)};
    const Built exact = build(of, DType::f64), single = build(of, DType::f32);
    const std::vector<Value> exact_values = everything(exact, of), single_values = everything(single, of);
    const std::vector<Arrays> expected = run_on(nullptr, exact, exact_values, trials);
    const std::vector<Arrays> found = run(exact, exact_values, trials);
    const std::vector<Arrays> expected_f32 = run_on(nullptr, single, single_values, trials);
    const std::vector<Arrays> found_f32 = run(single, single_values, trials);
    for (std::size_t t = 0; t < trials.size(); ++t) {
      for (std::size_t i = 0; i < exact_values.size(); ++i) {
        const std::string what = fmt::format("trial {}, value {}", t, i);
        expect_near(found[t][i], expected[t][i], 10 * of.tolerance_f64, "f64, " + what);
        const double host = largest_error(expected_f32[t][i], expected[t][i]);
        expect_near(found_f32[t][i], expected[t][i], 8 * host + 10 * of.tolerance_f32, "f32, " + what);
      }
    }
  }
}

#endif

class CompositeOp : public EveryOp {};

TEST_P(CompositeOp, EqualsItsBody) {
  for (const OpCase& of : cases_.cases) {
    SCOPED_TRACE(of.name);
    const Built built = build(of, DType::f64);
    everything(built, of);
    std::vector<Value> kernel, body;
    const int size = built.graph->size();
    for (int i = 0; i < size; ++i) {
      const Node& node = built.graph->node(i);
      if (node.op != &op()) continue;
      for (const Value& value : op().body(*built.graph, node.inputs, node.attributes)) {
        kernel.emplace_back(built.graph.get(), i, static_cast<int>(kernel.size()));
        body.push_back(value);
        EXPECT_EQ(value.type(), kernel.back().type());
      }
      break;
    }
    const Trial trial = make_trial(of, 0);
    const Arrays found = run(built, kernel, {trial})[0], expected = run(built, body, {trial})[0];
    for (std::size_t i = 0; i < found.size(); ++i)
      expect_near(found[i], expected[i], 10 * of.tolerance_f64, fmt::format("output {}", i));
  }
}

TEST_P(EveryOp, TellsWhatDoesNotFit) {
  for (const ErrorCase& of : cases_.errors) {
    SCOPED_TRACE(of.name);
    Graph graph;
    try {
      of.build(graph);
      ADD_FAILURE() << "no error, expected: " << of.message;
    } catch (const ShapeError& error) {
      EXPECT_EQ(std::string(error.what()), of.message);
    }
  }
}

std::vector<OpEntry> composite_entries() {
  std::vector<OpEntry> found;
  std::copy_if(entries().begin(), entries().end(), std::back_inserter(found),
               [](const OpEntry& entry) { return entry.op->body != nullptr; });
  return found;
}

std::string name_of_entry(const testing::TestParamInfo<OpEntry>& entry) { return entry.param.op->name; }

INSTANTIATE_TEST_SUITE_P(Ops, EveryOp, testing::ValuesIn(entries()), name_of_entry);
INSTANTIATE_TEST_SUITE_P(Ops, CompositeOp, testing::ValuesIn(composite_entries()), name_of_entry);

}  // namespace
}  // namespace jari::test
