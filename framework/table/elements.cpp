// Numbers as npy and safetensors files store them.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "framework/table/formats.hpp"

namespace jari {
namespace {

float from_f16(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1F;
  const int fraction = bits & 0x3FF;
  float magnitude = 0;
  if (exponent == 0x1F) {
    magnitude = std::bit_cast<float>(0x7F800000u | (static_cast<std::uint32_t>(fraction) << 13));
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    magnitude = std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

template <class Bits>
Bits bits_at(const char* bytes, bool is_big_endian) {
  char own[sizeof(Bits)];
  std::memcpy(own, bytes, sizeof own);
  if (is_big_endian != (std::endian::native == std::endian::big)) std::reverse(own, own + sizeof own);
  return std::bit_cast<Bits>(own);
}

template <class Real>
Real value_at(const char* bytes, ElementType type) {
  switch (type.kind) {
    case ElementType::Kind::f16:
      return from_f16(bits_at<std::uint16_t>(bytes, type.is_big_endian));
    case ElementType::Kind::bf16:
      return std::bit_cast<float>(std::uint32_t{bits_at<std::uint16_t>(bytes, type.is_big_endian)} << 16);
    case ElementType::Kind::f32:
      return bits_at<float>(bytes, type.is_big_endian);
    case ElementType::Kind::f64:
      return static_cast<Real>(bits_at<double>(bytes, type.is_big_endian));
  }
  return 0;
}

template <class Real>
void read_numbers(InputFile& source, ElementType type, std::span<Real> values) {
  constexpr std::size_t kBlock = 1 << 14;
  std::vector<char> bytes(std::min(kBlock, values.size()) * type.size());
  for (std::size_t begin = 0; begin < values.size(); begin += kBlock) {
    const std::span<Real> part = values.subspan(begin, std::min(kBlock, values.size() - begin));
    source.read(bytes.data(), part.size() * type.size(), "the values");
    for (std::size_t i = 0; i < part.size(); ++i) part[i] = value_at<Real>(bytes.data() + i * type.size(), type);
  }
}

}  // namespace

void read_values(InputFile& source, ElementType type, std::span<float> values) {
  const bool is_own = type.kind == ElementType::Kind::f32 && !type.is_big_endian;
  if (is_own) return source.read(reinterpret_cast<char*>(values.data()), values.size_bytes(), "the values");
  read_numbers(source, type, values);
}

void read_values(InputFile& source, ElementType type, std::span<double> values) { read_numbers(source, type, values); }

RowMatrix read_matrix(InputFile& source, ElementType type, std::int64_t rows, std::int64_t width, bool by_columns) {
  const std::uint64_t most = source.most_left() / type.size();
  if (width < 1 || rows < 0 ||
      (rows > 0 && static_cast<std::uint64_t>(width) > most / static_cast<std::uint64_t>(rows))) {
    source.fail(fmt::format("promises an array of {} x {} numbers, which its {} bytes can not hold", rows, width,
                            source.is_packed() ? "packed" : std::to_string(source.most_left())));
  }
  RowMatrix matrix(rows, width);
  if (!by_columns) {
    read_values(source, type, matrix.values());
    return matrix;
  }
  std::vector<float> column(static_cast<std::size_t>(rows));
  for (std::int64_t j = 0; j < width; ++j) {
    read_values(source, type, column);
    for (std::int64_t row = 0; row < rows; ++row)
      matrix.row(row)[static_cast<std::size_t>(j)] = column[static_cast<std::size_t>(row)];
  }
  return matrix;
}

}  // namespace jari
