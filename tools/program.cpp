#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "framework/base/error.hpp"
#include "framework/base/version.hpp"
#include "tools/commands.hpp"

namespace jari {

int run_program(int argc, const char* const* argv) {
  CLI::App app("jari: declarative training for embeddings and positional schemes", "jari");
  app.set_version_flag("--version", std::string("jari ") + version());
  app.require_subcommand(1);
  int status = 0;
  add_run_command(app, status);
  add_check_command(app, status);
  add_config_command(app, status);
  add_components_command(app, status);
  add_schema_command(app, status);
  add_compare_command(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const SpecError& error) {
    fmt::print(stderr, "{}", error.what());
    return 2;
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 3;
  }
  return status;
}

}  // namespace jari
