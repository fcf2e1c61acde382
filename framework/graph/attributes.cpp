#include "framework/graph/attributes.hpp"

#include <fmt/format.h>

#include <string_view>

#include "framework/base/hash.hpp"

namespace jari::attributes_detail {

namespace {

// More elements than this are of no use to a reader, but must still tell two vectors apart.
constexpr std::size_t kLongestPrinted = 16;

}  // namespace

std::string text(bool value) { return value ? "true" : "false"; }
std::string text(int value) { return fmt::to_string(value); }
std::string text(std::int64_t value) { return fmt::to_string(value); }
std::string text(std::uint64_t value) { return fmt::to_string(value); }
std::string text(double value) { return fmt::format("{}", value); }
std::string text(DType value) { return name_of(value); }
std::string text(const Shape& value) { return value.to_string(); }
std::string text(const std::string& value) { return fmt::format("\"{}\"", value); }
std::string text(const std::vector<int>& value) { return fmt::format("[{}]", fmt::join(value, ", ")); }
std::string text(const std::vector<std::int64_t>& value) { return fmt::format("[{}]", fmt::join(value, ", ")); }

std::string text(const std::vector<double>& value) {
  if (value.size() <= kLongestPrinted) return fmt::format("[{}]", fmt::join(value, ", "));
  const std::string_view bytes(reinterpret_cast<const char*>(value.data()), value.size() * sizeof(double));
  return fmt::format("[{} values, hash {}]", value.size(), hash128_hex(bytes));
}

}  // namespace jari::attributes_detail
