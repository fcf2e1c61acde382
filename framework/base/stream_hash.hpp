#pragma once
// XXH3-128 of bytes that come in parts. Equals hash128_hex of all of them.

#include <memory>
#include <string>
#include <string_view>

namespace jari {

class StreamHash {
 public:
  StreamHash();
  ~StreamHash();
  StreamHash(const StreamHash&) = delete;
  StreamHash& operator=(const StreamHash&) = delete;

  void update(std::string_view bytes);
  std::string hex() const;  // 32 lower-case hexadecimal digits

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace jari
