#include "framework/registry/schema.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/spec/recipe.hpp"

namespace jari::test {
namespace {

nlohmann::ordered_json recipe_schema() { return schema_of(describe_fields<Recipe>(), recipe_registry(), "recipe"); }

TEST(Schema, AllowsOnlyTheFieldsOfEachBlock) {
  const auto schema = recipe_schema();
  EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(schema["additionalProperties"], false);
  EXPECT_EQ(schema["properties"].size(), 9u);  // the fields and `extends`
  const auto& train = schema["properties"]["train"];
  EXPECT_EQ(train["additionalProperties"], false);
  EXPECT_EQ(train["required"], nlohmann::ordered_json::array({"steps"}));
  EXPECT_EQ(train["properties"]["batch"]["default"], 32);
  EXPECT_EQ(train["properties"]["batch"]["description"], "sequences a step (sequences)");
}

TEST(Schema, HasTheRangesOfNumbers) {
  const auto train = recipe_schema()["properties"]["train"]["properties"];
  EXPECT_EQ(train["steps"]["anyOf"][0], (nlohmann::ordered_json{{"type", "integer"}, {"minimum", 1}}));
  EXPECT_EQ(train["dropout"]["anyOf"][0],
            (nlohmann::ordered_json{{"type", "number"}, {"minimum", 0}, {"exclusiveMaximum", 1}}));
  EXPECT_EQ(train["clip_norm"]["anyOf"][0], (nlohmann::ordered_json{{"type", "number"}, {"exclusiveMinimum", 0}}));
}

TEST(Schema, ListsComponentsAsBlocksAndByName) {
  const auto forms = recipe_schema()["$defs"]["position"]["oneOf"];
  ASSERT_EQ(forms.size(), 5u);
  EXPECT_EQ(forms[0]["properties"]["type"]["const"], "alibi");
  EXPECT_EQ(forms[1]["required"], nlohmann::ordered_json::array({"type", "max_length"}));
  EXPECT_EQ(forms[4]["enum"], nlohmann::ordered_json::array({"alibi", "none", "sin"}));  // learned needs a key
}

}  // namespace
}  // namespace jari::test
