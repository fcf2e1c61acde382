#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <string_view>

#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"
#include "framework/program/device_copy.hpp"
#include "framework/program/program.hpp"

namespace jari {
namespace {

constexpr std::size_t kAlignment = 64;

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

void State::AlignedDelete::operator()(std::byte* memory) const {
  ::operator delete[](memory, std::align_val_t{kAlignment});
}

State::State(const Graph& graph, int trials) : trials_(trials) {
  for (const Value& parameter : graph.parameters()) {
    const TensorType& type = parameter.type();
    entries_.push_back({graph.node(parameter.node()).path, type, stride_});
    stride_ += aligned(type.bytes());
  }
  const std::size_t bytes = std::max<std::size_t>(stride_ * static_cast<std::size_t>(trials), kAlignment);
  data_.bytes.reset(new (std::align_val_t{kAlignment}) std::byte[bytes]);
  std::memset(data_.data(), 0, bytes);
}

State::~State() = default;
State::State(State&&) noexcept = default;
State& State::operator=(State&&) noexcept = default;

std::byte* State::data(int trial) {
  if (device_copy_) device_copy_->bring_to_host(trial, /*to_change=*/true);
  return data_.data() + static_cast<std::size_t>(trial) * stride_;
}

const std::byte* State::data(int trial) const {
  if (device_copy_) device_copy_->bring_to_host(trial, /*to_change=*/false);
  return data_.data() + static_cast<std::size_t>(trial) * stride_;
}

std::byte* State::on_device(const std::shared_ptr<Device>& device, int first, int count) {
  {
    static std::mutex mutex;  // different trials may come here at one time
    const std::lock_guard lock(mutex);
    if (!device_copy_) device_copy_ = std::make_unique<DeviceCopy>(device, data_.data(), trials_, stride_);
  }
  return device_copy_->bring_to_device(*device, first, count);
}

void State::changed_on_device(int trial) { device_copy_->changed(trial); }

const State::Entry* State::find(const std::string& name) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

std::vector<double> State::read(int trial, const Entry& entry) const {
  const std::byte* source = data(trial) + entry.offset;
  const auto count = static_cast<std::size_t>(entry.type.shape.size());
  std::vector<double> values(count);
  const auto copy = [&]<class T>() {
    const auto* numbers = reinterpret_cast<const T*>(source);
    std::copy(numbers, numbers + count, values.begin());
  };
  switch (entry.type.dtype) {
    case DType::f32:
      copy.template operator()<float>();
      break;
    case DType::f64:
      copy.template operator()<double>();
      break;
    case DType::i32:
      copy.template operator()<std::int32_t>();
      break;
    case DType::boolean:
      copy.template operator()<std::uint8_t>();
      break;
  }
  return values;
}

void State::write(int trial, const Entry& entry, std::span<const double> values) {
  JARI_ASSERT(values.size() == static_cast<std::size_t>(entry.type.shape.size()), entry.name);
  const auto copy = [&]<class T>() {
    std::transform(values.begin(), values.end(), tensor<T>(trial, entry).begin(),
                   [](double value) { return static_cast<T>(value); });
  };
  switch (entry.type.dtype) {
    case DType::f32:
      return copy.template operator()<float>();
    case DType::f64:
      return copy.template operator()<double>();
    case DType::i32:
      return copy.template operator()<std::int32_t>();
    case DType::boolean:
      return copy.template operator()<std::uint8_t>();
  }
}

std::string State::digest(int trial) const {
  std::string text;
  for (const Entry& entry : entries_) {
    const std::string_view bytes(reinterpret_cast<const char*>(data(trial) + entry.offset), entry.type.bytes());
    text += fmt::format("{} {} {:016x}\n", entry.name, entry.type.to_string(), hash64(bytes));
  }
  return fmt::format("{:016x}", hash64(text));
}

}  // namespace jari
