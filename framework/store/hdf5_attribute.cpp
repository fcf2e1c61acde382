// Attributes of an Hdf5File's objects.
#include <fmt/format.h>
#include <hdf5.h>

#include <functional>
#include <type_traits>

#include "framework/store/hdf5_file.hpp"
#include "framework/store/hdf5_internal.hpp"

namespace jari {
namespace {

using hdf5::Handle;

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;  // Clang 16 does not find it by itself

// h5py's type for bool: an enum of int8.
Handle bool_type() {
  Handle type(H5Tenum_create(H5T_NATIVE_INT8), H5Tclose);
  std::int8_t value = 0;
  H5Tenum_insert(type.id(), "FALSE", &value);
  value = 1;
  H5Tenum_insert(type.id(), "TRUE", &value);
  return type;
}

Handle open_object(const std::filesystem::path& path, hid_t file, const std::string& object) {
  Handle handle(H5Oopen(file, object.c_str(), H5P_DEFAULT), H5Oclose);
  if (!handle) hdf5::fail(path, object, "open the object");
  return handle;
}

}  // namespace

void Hdf5File::set_attribute(const std::string& object, const std::string& name, const Hdf5Attribute& value) {
  const auto lock = hdf5::lock_library();
  const std::string full = hdf5::absolute(object);
  const Handle owner = open_object(path(), state_->file.id(), full);
  const auto put = [&](const Handle& type, const Hdf5Shape& shape, const void* data) {
    const Handle space = hdf5::simple_space(shape);
    const Handle attribute(H5Acreate2(owner.id(), name.c_str(), type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT),
                           H5Aclose);
    if (!attribute || H5Awrite(attribute.id(), type.id(), data) < 0)
      hdf5::fail(path(), full, "write the attribute '" + name + "'");
  };
  const auto copy_of = [](hid_t type) { return Handle(H5Tcopy(type), H5Tclose); };
  const auto put_texts = [&](std::span<const std::string> texts, const Hdf5Shape& shape) {
    put(hdf5::utf8_type(), shape, hdf5::c_strings(path(), full, texts).data());
  };
  std::visit(
      Overloaded{
          [&](bool flag) {
            const std::int8_t byte = flag ? 1 : 0;
            put(bool_type(), {}, &byte);
          },
          [&](std::int64_t number) { put(copy_of(H5T_NATIVE_INT64), {}, &number); },
          [&](std::uint64_t number) { put(copy_of(H5T_NATIVE_UINT64), {}, &number); },
          [&](double number) { put(copy_of(H5T_NATIVE_DOUBLE), {}, &number); },
          [&](const std::string& text) {
            put_texts({&text, 1}, {});
          },
          [&](const std::vector<std::string>& texts) { put_texts(texts, {static_cast<std::int64_t>(texts.size())}); },
          [&](const std::vector<std::int64_t>& numbers) {
            put(copy_of(H5T_NATIVE_INT64), {static_cast<std::int64_t>(numbers.size())}, numbers.data());
          },
      },
      value);
}

std::optional<Hdf5Attribute> Hdf5File::attribute(const std::string& object, const std::string& name) const {
  const auto lock = hdf5::lock_library();
  const std::string full = hdf5::absolute(object);
  const Handle owner = open_object(path(), state_->file.id(), full);
  if (H5Aexists(owner.id(), name.c_str()) <= 0) return std::nullopt;
  const std::string action = "read the attribute '" + name + "'";
  const Handle handle(H5Aopen(owner.id(), name.c_str(), H5P_DEFAULT), H5Aclose);
  if (!handle) hdf5::fail(path(), full, action);
  const Handle type(H5Aget_type(handle.id()), H5Tclose), space(H5Aget_space(handle.id()), H5Sclose);
  const auto count = static_cast<std::size_t>(std::max<hssize_t>(H5Sget_simple_extent_npoints(space.id()), 0));
  const bool is_list = H5Sget_simple_extent_type(space.id()) != H5S_SCALAR;
  const auto get = [&](hid_t memory_type, void* data) {
    if (count > 0 && H5Aread(handle.id(), memory_type, data) < 0) hdf5::fail(path(), full, action);
  };
  const auto number = [&](auto zero, hid_t memory_type) {
    get(memory_type, &zero);
    return Hdf5Attribute(zero);
  };
  const H5T_class_t kind = H5Tget_class(type.id());
  if (kind == H5T_STRING) {
    bool failed = false;
    auto texts = hdf5::read_strings(
        type.id(), space.id(), count, [&](hid_t t, void* data) { return H5Aread(handle.id(), t, data); }, failed);
    if (failed) hdf5::fail(path(), full, action);
    if (is_list) return texts;
    return std::move(texts.front());
  }
  if (kind == H5T_INTEGER && is_list) {
    std::vector<std::int64_t> numbers(count);
    get(H5T_NATIVE_INT64, numbers.data());
    return numbers;
  }
  if (!is_list && kind == H5T_INTEGER && H5Tget_sign(type.id()) == H5T_SGN_NONE)
    return number(std::uint64_t{0}, H5T_NATIVE_UINT64);
  if (!is_list && kind == H5T_INTEGER) return number(std::int64_t{0}, H5T_NATIVE_INT64);
  if (!is_list && kind == H5T_FLOAT) return number(0.0, H5T_NATIVE_DOUBLE);
  if (!is_list && kind == H5T_ENUM) {
    std::int8_t byte = 0;
    get(bool_type().id(), &byte);
    return byte != 0;
  }
  hdf5::fail_because(path(), full, action, "its type is none that jari writes");
}

std::vector<std::string> Hdf5File::attribute_names(const std::string& object) const {
  const auto lock = hdf5::lock_library();
  const std::string full = hdf5::absolute(object);
  const Handle owner = open_object(path(), state_->file.id(), full);
  std::vector<std::string> names;
  const auto add = [](hid_t, const char* name, const H5A_info_t*, void* all) -> herr_t {
    static_cast<std::vector<std::string>*>(all)->emplace_back(name);
    return 0;
  };
  // Other programs' objects do not track the order.
  if (H5Aiterate2(owner.id(), H5_INDEX_CRT_ORDER, H5_ITER_INC, nullptr, add, &names) >= 0) return names;
  names.clear();
  if (H5Aiterate2(owner.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names) < 0)
    hdf5::fail(path(), full, "list the attributes");
  return names;
}

namespace {

template <class... Types>
const Hdf5Attribute& required_attribute(const Hdf5File& file, const std::string& object, const std::string& name,
                                        const std::optional<Hdf5Attribute>& value, const char* expected) {
  const std::string action = "read the attribute '" + name + "'";
  if (!value) hdf5::fail_because(file.path(), hdf5::absolute(object), action, "it is missing");
  if (!(std::holds_alternative<Types>(*value) || ...))
    hdf5::fail_because(file.path(), hdf5::absolute(object), action, fmt::format("expected {}", expected));
  return *value;
}

}  // namespace

std::string Hdf5File::text_attribute(const std::string& object, const std::string& name) const {
  const auto value = attribute(object, name);
  return std::get<std::string>(required_attribute<std::string>(*this, object, name, value, "a text"));
}

std::int64_t Hdf5File::integer_attribute(const std::string& object, const std::string& name) const {
  const auto value = attribute(object, name);
  const auto& found = required_attribute<std::int64_t, std::uint64_t>(*this, object, name, value, "a whole number");
  if (const auto* number = std::get_if<std::uint64_t>(&found)) return static_cast<std::int64_t>(*number);
  return std::get<std::int64_t>(found);
}

double Hdf5File::number_attribute(const std::string& object, const std::string& name) const {
  const auto value = attribute(object, name);
  const auto& found = required_attribute<double, std::int64_t, std::uint64_t>(*this, object, name, value, "a number");
  if (const auto* number = std::get_if<std::int64_t>(&found)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<std::uint64_t>(&found)) return static_cast<double>(*number);
  return std::get<double>(found);
}

}  // namespace jari
