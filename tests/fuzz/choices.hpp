#pragma once
// Decisions taken from a fuzzer's bytes, first to last. When they are used up, every decision is the first choice, so a
// target that puts the ordinary case first makes a good file of an empty input.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace jari::fuzz {

class Choices {
 public:
  Choices(const std::uint8_t* data, std::size_t size) : bytes_(reinterpret_cast<const char*>(data), size) {}

  bool empty() const { return bytes_.empty(); }

  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const auto result = static_cast<std::uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return result;
  }
  int below(int count) { return byte() % count; }

  // Any 64 bits: small numbers and the ends of the range as often as others.
  std::int64_t number() {
    switch (below(4)) {
      case 0:
        return byte();
      case 1:
        return -std::int64_t{byte()};
      case 2:
        return INT64_MAX - byte();
      default:
        return bits<std::int64_t>();
    }
  }
  double real() { return below(2) == 0 ? byte() : bits<double>(); }

  // At most 15 bytes of any value.
  std::string text() {
    const std::size_t length = std::min<std::size_t>(byte() % 16, bytes_.size());
    std::string result(bytes_.substr(0, length));
    bytes_.remove_prefix(length);
    return result;
  }

 private:
  template <class T>
  T bits() {
    char raw[sizeof(T)];
    for (char& each : raw) each = static_cast<char>(byte());
    T result;
    std::memcpy(&result, raw, sizeof(T));
    return result;
  }

  std::string_view bytes_;
};

}  // namespace jari::fuzz
