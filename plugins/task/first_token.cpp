// Name the first token, at every position.

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

class FirstToken final : public CopyTask {
 public:
  explicit FirstToken(const CopyTaskParameters& parameters) : CopyTask(parameters.vocabulary) {}

 private:
  std::int64_t source(std::int64_t, std::int64_t) const override { return 0; }
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Task, jari::FirstToken, jari::CopyTaskParameters>(
      "first_token", "name the first token at every position, in random sequences");
}
