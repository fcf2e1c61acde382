#include "framework/registry/plugin_loader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "framework/base/error.hpp"
#include "framework/registry/registry.hpp"
#include "tests/support/files.hpp"

namespace jari {

const char* build_id() { return "jari-test-build"; }

namespace {

using testing::HasSubstr;

std::string refusal(const std::string& path) {
  Registry registry;
  try {
    load_plugin(path, registry);
  } catch (const PluginError& error) {
    return error.what();
  }
  return "";
}

TEST(PluginLoader, AddsTheComponentsOfAModule) {
  Registry registry;
  load_plugin(JARI_GOOD_MODULE, registry);
  const RegistryEntry* entry = registry.find("fruit", "apple");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->source, JARI_GOOD_MODULE);
  EXPECT_THAT(refusal(JARI_GOOD_MODULE), "");  // once more, into another registry
  try {
    load_plugin(JARI_GOOD_MODULE, registry);
    FAIL();
  } catch (const PluginError& error) {
    EXPECT_THAT(error.what(), HasSubstr("fruit 'apple' is registered twice"));
  }
}

TEST(PluginLoader, RefusesAModuleOfAnotherBuildWithBothIds) {
  EXPECT_THAT(refusal(JARI_OTHER_MODULE), HasSubstr("module: jari-other-build\n  jari:   jari-test-build\n"));
}

TEST(PluginLoader, RefusesWhatIsNoModule) {
  EXPECT_THAT(refusal("./no_such.so"), HasSubstr("'./no_such.so': there is no such file"));
  EXPECT_THAT(refusal(JARI_EMPTY_MODULE), HasSubstr("it has no symbol 'jari_plugin'"));
  test::TemporaryFolder folder;
  const std::string path = (folder.path() / "text.so").string();
  std::ofstream(path) << "not an object";
  EXPECT_THAT(refusal(path), HasSubstr("can not load the module '" + path + "'"));
}

}  // namespace
}  // namespace jari
