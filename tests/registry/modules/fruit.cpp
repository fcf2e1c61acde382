// A loadable module for the tests of the loader.
#include "framework/registry/plugin.hpp"
#include "framework/registry/registry.hpp"

namespace {

struct Fruit {
  static constexpr const char* kFamily = "fruit";
  virtual ~Fruit() = default;
};
struct Apple final : Fruit {};

}  // namespace

JARI_PLUGIN(registry) { registry.add<Fruit, Apple>("apple", "red or green"); }
