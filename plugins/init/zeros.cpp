// All zeros.

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

class Zeros final : public Init {
 public:
  void fill(const InitContext&, std::span<double> out) const override {
    for (double& value : out) value = 0;
  }
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) { registry.add<jari::Init, jari::Zeros>("zeros", "all zeros"); }
