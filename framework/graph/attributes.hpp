#pragma once
// An op's attributes: one small struct an op, kept type-erased in the node. The struct lists its members once, in
// `template <class F> void fields(F& f) { f("axis", axis); ... }`; printing and comparing come from that list.

#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/graph/tensor_type.hpp"

namespace jari {

namespace attributes_detail {

std::string text(bool value);
std::string text(int value);
std::string text(std::int64_t value);
std::string text(std::uint64_t value);
std::string text(double value);  // shortest text that reads back as the same number
std::string text(DType value);
std::string text(const Shape& value);
std::string text(const std::string& value);
std::string text(const std::vector<int>& value);
std::string text(const std::vector<std::int64_t>& value);
std::string text(const std::vector<double>& value);  // long vectors by their hash

struct Printer {
  std::string out;
  template <class T>
  void operator()(const char* name, const T& value) {
    if (!out.empty()) out += ", ";
    out += std::string(name) + "=" + text(value);
  }
};

}  // namespace attributes_detail

class Attributes {
 public:
  Attributes() = default;

  template <class T, class = std::enable_if_t<!std::is_same_v<std::decay_t<T>, Attributes>>>
  Attributes(T value)  // NOLINT: implicit on purpose, nodes are built from plain structs
      : data_(std::make_shared<T>(std::move(value))), type_(&typeid(T)) {
    attributes_detail::Printer printer;
    // `fields` serves readers and writers alike, so it is not const.
    const_cast<T*>(static_cast<const T*>(data_.get()))->fields(printer);
    text_ = std::move(printer.out);
  }

  template <class T>
  const T& as() const {
    JARI_ASSERT(type_ != nullptr && *type_ == typeid(T), "attributes of another op");
    return *static_cast<const T*>(data_.get());
  }

  // "axis=1, keep=true": equal texts mean equal attributes.
  const std::string& to_string() const { return text_; }

 private:
  std::shared_ptr<const void> data_;
  const std::type_info* type_ = nullptr;
  std::string text_;
};

}  // namespace jari
