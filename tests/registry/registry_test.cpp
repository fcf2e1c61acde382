#include "framework/registry/registry.hpp"

#include <gtest/gtest.h>

#include "framework/base/error.hpp"

namespace jari {
namespace {

struct Shape {
  static constexpr const char* kFamily = "shape";
  virtual ~Shape() = default;
  virtual double area() const = 0;
};

struct Color {
  static constexpr const char* kFamily = "color";
  virtual ~Color() = default;
};

struct Red final : Color {};

struct SquareParameters {
  PerTrial<double> side = 1.0;
  Slot<Color> color{"red"};
  template <class F>
  void fields(F& f) {
    f("side", side, "length of a side", more_than(0), unit("m"));
    f("color", color, "what it is painted in");
  }
};

class Square final : public Shape {
 public:
  explicit Square(const SquareParameters& parameters) : parameters_(parameters) {}
  double area() const override { return parameters_.side.example() * parameters_.side.example(); }

 private:
  SquareParameters parameters_;
};

TEST(Registry, NamesTheSourceOfBothWhenANameIsTaken) {
  Registry registry;
  registry.add<Shape, Square, SquareParameters>("square", "four equal sides");
  registry.set_source("./libmine.so");
  try {
    registry.add<Shape, Square, SquareParameters>("square", "another");
    FAIL();
  } catch (const PluginError& error) {
    EXPECT_STREQ(error.what(), "shape 'square' is registered twice: built in and ./libmine.so. Rename one of them.");
  }
}

}  // namespace
}  // namespace jari
