#include "framework/base/stream_hash.hpp"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

namespace jari {

struct StreamHash::State {
  XXH3_state_t value;
};

StreamHash::StreamHash() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->value); }
StreamHash::~StreamHash() = default;

void StreamHash::update(std::string_view bytes) { XXH3_128bits_update(&state_->value, bytes.data(), bytes.size()); }

std::string StreamHash::hex() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(&state_->value);
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace jari
