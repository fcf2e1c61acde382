// Name the last token, at every position.

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

class LastToken final : public CopyTask {
 public:
  explicit LastToken(const CopyTaskParameters& parameters) : CopyTask(parameters.vocabulary) {}

 private:
  std::int64_t source(std::int64_t, std::int64_t length) const override { return length - 1; }
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Task, jari::LastToken, jari::CopyTaskParameters>(
      "last_token", "name the last token at every position, in random sequences");
}
