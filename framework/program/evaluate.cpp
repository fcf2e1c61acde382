#include <algorithm>

#include "framework/base/error.hpp"
#include "framework/program/program.hpp"

namespace jari {
namespace {

template <class T>
void copy_to(const std::vector<double>& values, std::span<T> target, const std::string& name) {
  JARI_ASSERT(values.size() == target.size(), "wrong number of elements for input " + name);
  std::transform(values.begin(), values.end(), target.begin(), [](double value) { return static_cast<T>(value); });
}

template <class T>
std::vector<double> copy_from(std::span<const T> source) {
  return {source.begin(), source.end()};
}

}  // namespace

void write_tensor(const Tensors& tensors, const std::string& name, const std::vector<double>& values) {
  switch (tensors.type(name).dtype) {
    case DType::f32:
      return copy_to(values, tensors.get<float>(name), name);
    case DType::f64:
      return copy_to(values, tensors.get<double>(name), name);
    case DType::i32:
      return copy_to(values, tensors.get<std::int32_t>(name), name);
    case DType::boolean:
      return copy_to(values, tensors.get<std::uint8_t>(name), name);
  }
}

std::vector<double> read_tensor(const Tensors& tensors, const std::string& name) {
  switch (tensors.type(name).dtype) {
    case DType::f32:
      return copy_from<float>(tensors.get<float>(name));
    case DType::f64:
      return copy_from<double>(tensors.get<double>(name));
    case DType::i32:
      return copy_from<std::int32_t>(tensors.get<std::int32_t>(name));
    case DType::boolean:
      return copy_from<std::uint8_t>(tensors.get<std::uint8_t>(name));
  }
  return {};
}

std::vector<double> evaluate(const Graph& graph, Value value, const NamedValues& inputs, State* state, int threads) {
  const Program program(graph, {{"value", value}});
  std::unique_ptr<State> own;
  if (state == nullptr) {
    own = std::make_unique<State>(graph, 1);
    state = own.get();
  }
  ThreadPool pool(threads);
  std::vector<double> result;
  Program::Hooks hooks;
  hooks.feed = [&](int, std::int64_t, const Tensors& tensors) {
    for (const auto& [name, values] : inputs) {
      if (tensors.has(name)) write_tensor(tensors, name, values);
    }
  };
  hooks.fetch = [&](int, std::int64_t, const Tensors& tensors) {
    result = read_tensor(tensors, "value");
    return true;
  };
  const int trials[] = {0};
  program.run(*state, trials, 0, 1, hooks, pool);
  return result;
}

}  // namespace jari
