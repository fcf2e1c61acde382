// Name the token that mirrors this one: target i is token length - 1 - i.

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

class Mirror final : public CopyTask {
 public:
  explicit Mirror(const CopyTaskParameters& parameters) : CopyTask(parameters.vocabulary) {}

 private:
  std::int64_t source(std::int64_t position, std::int64_t length) const override { return length - 1 - position; }
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Task, jari::Mirror, jari::CopyTaskParameters>(
      "mirror", "name the token at the mirrored place, in random sequences");
}
