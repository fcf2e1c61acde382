#include "framework/train/dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "framework/base/edit_distance.hpp"
#include "framework/base/error.hpp"
#include "framework/component/parameter_groups.hpp"
#include "framework/store/hdf5_file.hpp"

namespace jari {
namespace {

template <class Stored, class T>
std::vector<Stored> copy_of(const TensorView& view) {
  const T* data = static_cast<const T*>(view.data);
  return std::vector<Stored>(data, data + view.type->shape.size());
}

RecordArray::Values values_of(const TensorView& view) {
  switch (view.type->dtype) {
    case DType::f32:
      return copy_of<float, float>(view);
    case DType::f64:
      return copy_of<double, double>(view);
    case DType::i32:
      return copy_of<std::int32_t, std::int32_t>(view);
    case DType::boolean:
      return copy_of<std::int32_t, std::uint8_t>(view);
  }
  return {};
}

}  // namespace

DumpRequest parse_dump_request(const std::string& text) {
  const std::size_t at = text.rfind('@');
  DumpRequest request;
  if (at != std::string::npos) {
    request.pattern = text.substr(0, at);
    const char* begin = text.data() + at + 1;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(begin, end, request.step);
    if (error == std::errc() && stop == end && request.step >= 1 && !request.pattern.empty()) return request;
  }
  throw SpecError(
      fmt::format("error: --dump {}: expected PATH@STEP with a step from 1 on, e.g. 'model/attention/*@100'\n", text));
}

void check_dump_requests(const std::vector<DumpRequest>& requests, const std::vector<const Program*>& programs) {
  std::vector<std::string> paths;
  for (const Program* program : programs) {
    for (std::string& path : program->observable_paths()) paths.push_back(std::move(path));
  }
  for (const DumpRequest& request : requests) {
    if (std::any_of(paths.begin(), paths.end(),
                    [&](const std::string& path) { return matches(request.pattern, path); }))
      continue;
    const std::optional<std::string> nearest = closest(request.pattern, paths);
    throw SpecError(
        fmt::format("error: --dump {}@{}: no node or parameter of the train program has this path{}; "
                    "`jari graph SPEC` lists them\n",
                    request.pattern, request.step, nearest ? fmt::format(" (did you mean '{}'?)", *nearest) : ""));
  }
}

bool Dump::wanted(const std::string& path, std::int64_t step) const {
  return std::any_of(requests_.begin(), requests_.end(), [&](const DumpRequest& request) {
    return request.step == step + 1 && matches(request.pattern, path);
  });
}

void Dump::take(int trial, std::int64_t step, std::string name, const TensorView& view) {
  Taken& taken = taken_[static_cast<std::size_t>(trial)];
  taken.arrays[step + 1].push_back({std::move(name), view.type->shape.sizes(), values_of(view), {}});
}

void Dump::before(int trial, std::int64_t step, const NodeView& node) {
  for (const TensorView& input : node.inputs) {
    if (*input.leaf == '\0' || !wanted(input.leaf, step)) continue;
    const std::string name = std::string(input.leaf) + "/value";
    // Later in the step the optimizer may have written over it: the first reader sees what the step began with.
    if (taken_[static_cast<std::size_t>(trial)].names[step + 1].insert(name).second) take(trial, step, name, input);
  }
}

void Dump::after(int trial, std::int64_t step, const NodeView& node) {
  if (!wanted(node.path, step)) return;
  for (const TensorView& output : node.outputs) {
    const std::string base = node.path + "/" + node.op;
    std::string name = base;
    auto& names = taken_[static_cast<std::size_t>(trial)].names[step + 1];
    for (int number = 2; !names.insert(name).second; ++number) name = fmt::format("{}.{}", base, number);
    take(trial, step, name, output);
  }
}

void Dump::write(int trial) {
  Taken& taken = taken_[static_cast<std::size_t>(trial)];
  for (const auto& [step, arrays] : taken.arrays) {
    Hdf5File file = Hdf5File::create(folders_[static_cast<std::size_t>(trial)] / fmt::format("dump-step-{}.h5", step));
    for (const RecordArray& array : arrays) {
      std::visit([&](const auto& values) { file.write(array.name, array.shape, values); }, array.values);
    }
    file.save();
  }
  taken.arrays.clear();
}

}  // namespace jari
