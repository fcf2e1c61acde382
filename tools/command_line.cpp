// The command line: which subcommands and options there are. The only file that includes CLI11, which is slow to
// compile.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "framework/base/error.hpp"
#include "framework/base/version.hpp"
#include "tools/commands.hpp"

namespace jari {
namespace {

// What the command line says. One of the commands' parts is used.
struct Parsed {
  RunArguments run;
  SpecArguments check;
  ConfigArguments config;
  ComponentsArguments components;
  std::vector<std::string> schema_plugins;
  CompareArguments compare;
  int status = 0;
};

void add_spec(CLI::App& command, SpecArguments& spec) {
  command.add_option("spec", spec.path, "the YAML spec")->required();
  command.add_option("overrides", spec.overrides, "KEY=VALUE, as strict as the file");
}

void add_run(CLI::App& app, Parsed& parsed) {
  CLI::App& command = *app.add_subcommand("run", "train what is missing of a spec, then show the table");
  RunArguments& run = parsed.run;
  add_spec(command, run.spec);
  command.add_option("--runs", run.runs, "folder that the experiment's folder goes into")->capture_default_str();
  command.add_flag("--force", run.force, "train finished trials again");
  command.add_flag("--no-rewrite", run.no_rewrite, "compute the graphs as they were written");
  command.add_flag("--quiet", run.quiet, "no progress");
  command.callback([&parsed] { parsed.status = run_command(parsed.run); });
}

void add_check(CLI::App& app, Parsed& parsed) {
  CLI::App& command = *app.add_subcommand("check", "find all mistakes of a spec without training");
  add_spec(command, parsed.check);
  command.callback([&parsed] { parsed.status = check_command(parsed.check); });
}

void add_config(CLI::App& app, Parsed& parsed) {
  CLI::App& command = *app.add_subcommand("config", "show a trial's resolved spec, or where a value came from");
  ConfigArguments& config = parsed.config;
  add_spec(command, config.spec);
  CLI::Option* minimal = command.add_flag("--minimal", config.minimal, "only the keys that were given");
  command
      .add_flag_callback(
          "--full", [] {}, "all keys, with defaults: what is shown anyway")
      ->excludes(minimal);
  command.add_option("--why", config.why, "a key's path: its value and where that came from");
  command.add_option("--trial", config.trial, "which trial of a sweep, from 0")->capture_default_str();
  command.callback([&parsed] { parsed.status = config_command(parsed.config); });
}

void add_components(CLI::App& app, Parsed& parsed) {
  CLI::App& command = *app.add_subcommand("components", "list what a spec can name, or show one with its keys");
  ComponentsArguments& components = parsed.components;
  command.add_option("component", components.name, "FAMILY or FAMILY/NAME");
  command.add_option("--plugin", components.plugins, "a loadable module whose components count too");
  command.add_option("--write-reference", components.write_reference, "write a page a family into this folder");
  command.callback([&parsed] { parsed.status = components_command(parsed.components); });
}

void add_schema(CLI::App& app, Parsed& parsed) {
  CLI::App& command = *app.add_subcommand("schema", "JSON Schema of a spec, from the components that are there");
  command.add_option("--plugin", parsed.schema_plugins, "a loadable module whose components count too");
  command.callback([&parsed] { parsed.status = schema_command(parsed.schema_plugins); });
}

void add_compare(CLI::App& app, Parsed& parsed) {
  CLI::App& command = *app.add_subcommand("compare", "mean, interval and n of each metric by the keys that vary");
  CompareArguments& compare = parsed.compare;
  command.add_option("runs", compare.runs, "run files, or folders that hold some")->required();
  command.add_option("--by", compare.by, "key to compare by; the others are pooled")->delimiter(',');
  command.add_option("--metric", compare.metrics, "metric to show")->delimiter(',');
  command.add_option("--format", compare.format, "text or csv")
      ->check(CLI::IsMember({"text", "csv"}))
      ->capture_default_str();
  command.callback([&parsed] { parsed.status = compare_command(parsed.compare); });
}

}  // namespace

int run_program(int argc, const char* const* argv) {
  CLI::App app("jari: declarative training for embeddings and positional schemes", "jari");
  app.set_version_flag("--version", std::string("jari ") + version());
  app.require_subcommand(1);
  Parsed parsed;
  add_run(app, parsed);
  add_check(app, parsed);
  add_config(app, parsed);
  add_components(app, parsed);
  add_schema(app, parsed);
  add_compare(app, parsed);
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
  return parsed.status;
}

}  // namespace jari
