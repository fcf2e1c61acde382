// Name the token at a fixed signed distance: target i is token i + offset.

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct NeighborParameters {
  CopyTaskParameters tokens;
  std::int64_t offset = 1;
  template <class F>
  void fields(F& f) {
    tokens.fields(f);
    f("offset", offset, "distance of the neighbor, to the right where positive; not 0", between(-1000000, 1000000),
      unit("tokens"));
  }
  void check(FieldChecks& checks) const {
    if (offset == 0)
      checks.error("offset", "0 asks for the token itself, which needs no position",
                   "1 is the right neighbor, -1 the left one");
  }
};

class Neighbor final : public CopyTask {
 public:
  explicit Neighbor(const NeighborParameters& parameters)
      : CopyTask(parameters.tokens.vocabulary), offset_(parameters.offset) {}

  std::string refuse_length(std::int64_t length) const override {
    const std::int64_t distance = offset_ < 0 ? -offset_ : offset_;
    if (length > distance) return "";
    return "task/neighbor: with offset " + std::to_string(offset_) + " no token of a sequence of length " +
           std::to_string(length) + " has a neighbor; use a length of at least " + std::to_string(distance + 1);
  }

 private:
  std::int64_t source(std::int64_t position, std::int64_t length) const override {
    const std::int64_t place = position + offset_;
    return place < length ? place : -1;
  }

  std::int64_t offset_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Task, jari::Neighbor, jari::NeighborParameters>(
      "neighbor", "name the token at a fixed signed distance, in random sequences");
}
