#include "framework/registry/registry.hpp"

#include <gtest/gtest.h>

#include "framework/base/error.hpp"
#include "framework/registry/reference.hpp"
#include "framework/spec/yaml_reader.hpp"
#include "tests/spec/recipe.hpp"

namespace jari::test {
namespace {

TEST(Registry, NamesBothSourcesWhenANameIsTaken) {
  Registry registry = recipe_registry();
  registry.set_source("./libmine.so");
  try {
    registry.add<Optimizer, Adam, AdamParameters>("adam", "another");
    FAIL();
  } catch (const PluginError& error) {
    EXPECT_STREQ(error.what(), "optimizer 'adam' is registered twice: built in and ./libmine.so. Rename one of them.");
  }
}

TEST(Registry, ListsFamiliesAndNamesInOrder) {
  const Registry registry = recipe_registry();
  EXPECT_EQ(registry.families(), (std::vector<std::string>{"model", "optimizer", "position"}));
  EXPECT_EQ(registry.names("position"), (std::vector<std::string>{"alibi", "learned", "none", "sin"}));
  EXPECT_TRUE(registry.names("stemmer").empty());
  EXPECT_EQ(registry.find("position", "adam"), nullptr);
}

struct Slots {
  std::optional<Slot<Position>> perhaps;
  std::vector<Slot<Position>> several{Slot<Position>("sin")};
  SpecMap<Slot<Optimizer>> named;
  template <class F>
  void fields(F& f) {
    f("perhaps", perhaps, "one or none");
    f("several", several, "some");
    f("named", named, "by name");
  }
};

Slots bind_slots(const std::string& text, SpecNode& resolved) {
  Diagnostics diagnostics;
  const SpecNode root = read_yaml_text(text, "a.yaml", diagnostics);
  const Registry registry = recipe_registry();
  Binder binder(&registry, diagnostics);
  Slots slots;
  binder.bind(root, "", slots, resolved);
  EXPECT_TRUE(diagnostics.empty()) << diagnostics.render();
  return slots;
}

TEST(Registry, BindsOptionalListedAndNamedSlots) {
  SpecNode resolved;
  const Slots slots =
      bind_slots("perhaps: none\nseveral: [sin, {type: alibi}]\nnamed: {a: {type: adam, lr: 1}}\n", resolved);
  EXPECT_EQ(slots.perhaps->type(), "none");
  EXPECT_NE(dynamic_cast<const Alibi*>(&*slots.several.at(1)), nullptr);
  EXPECT_EQ(dynamic_cast<const Adam&>(*slots.named.at(0).second).parameters.lr.spec_path(), "named.a.lr");
  EXPECT_EQ(to_flow_yaml(slots.several.at(1).resolved()), "{type: alibi, slope_scale: 1, sides: both}");
}

TEST(Registry, MakesTheComponentsOfDefaults) {
  SpecNode resolved;
  const Slots slots = bind_slots("named: {}\n", resolved);
  EXPECT_FALSE(slots.perhaps.has_value());
  ASSERT_EQ(slots.several.size(), 1u);
  EXPECT_TRUE(slots.several[0]);
  EXPECT_EQ(to_flow_yaml(resolved), "{several: [{type: sin}], named: {}}");
}

struct Picky final : Position {
  Picky() { throw ShapeError("refuses to be made"); }
};

TEST(Registry, ReportsWhatAConstructorThrowsAtTheBlock) {
  Registry registry;
  registry.add<Position, Picky>("picky", "never there");
  Diagnostics diagnostics;
  const SpecNode root = read_yaml_text("perhaps: {type: picky}\nseveral: []\n", "a.yaml", diagnostics);
  Binder binder(&registry, diagnostics);
  Slots slots;
  SpecNode resolved;
  binder.bind(root, "", slots, resolved);
  EXPECT_EQ(diagnostics.render(),
            "a.yaml:1:17: error: perhaps: refuses to be made\n"
            "    1 | perhaps: {type: picky}\n"
            "      |                 ^^^^^\n"
            "1 error; nothing was started.\n");
}

TEST(Reference, PageHasEveryKey) {
  const Registry registry = recipe_registry();
  EXPECT_EQ(component_page(*registry.find("position", "alibi")), R"(## position `alibi`

linear distance bias per head

| key | type | range | default | what |
| --- | --- | --- | --- | --- |
| `slope_scale` | number | > 0 | `1` | multiplies the slope of every head; trials that differ in it still train fused |
| `sides` | both \| left \| right |  | `both` | which distances are penalised |

```yaml
position:
  type: alibi
  slope_scale: 1
  sides: both
```
)");
}

TEST(Reference, TextIsAligned) {
  const Registry registry = recipe_registry();
  EXPECT_EQ(component_text(*registry.find("optimizer", "adam")), R"(optimizer/adam: Adam (Kingma, Ba 2015)

  lr              number           > 0           0.001         learning rate; trials that differ in it still train fused
  betas           list of numbers  >= 0 and < 1  [0.9, 0.999]  decay of the moments
  groups          list of blocks                 []            parameters with values of their own
  groups[].match  text                           required      pattern of parameter paths
  groups[].lr     number           > 0           none          learning rate of these

Example:

optimizer:
  type: adam
  lr: 0.001
  betas: [0.9, 0.999]
  groups: []
)");
}

TEST(Reference, ExampleBlocksBindWhereNoKeyIsRequired) {
  const Registry registry = recipe_registry();
  for (const char* name : {"alibi", "none", "sin", "learned"}) {
    Diagnostics diagnostics;
    std::string text = example_block(*registry.find("position", name));
    text.replace(0, std::string("position").size(), "perhaps");
    const SpecNode root = read_yaml_text(text, "a.yaml", diagnostics);
    Binder binder(&registry, diagnostics);
    Slots slots;
    SpecNode resolved;
    binder.bind(root, "", slots, resolved);
    EXPECT_TRUE(diagnostics.empty()) << diagnostics.render();
  }
}

}  // namespace
}  // namespace jari::test
