#pragma once
// The subcommands: each adds itself to the command line; its file holds what it does.

#include <CLI/CLI.hpp>

namespace jari {

// Sets what the chosen subcommand is to do; `status` becomes the program's exit status.
void add_run_command(CLI::App& app, int& status);
void add_check_command(CLI::App& app, int& status);
void add_config_command(CLI::App& app, int& status);
void add_components_command(CLI::App& app, int& status);
void add_schema_command(CLI::App& app, int& status);
void add_compare_command(CLI::App& app, int& status);

// The whole program: parses the command line, runs a subcommand, turns errors into text on stderr and an exit status:
// 0 done, 2 the spec or the command line is wrong, 3 some trial failed.
int run_program(int argc, const char* const* argv);

}  // namespace jari
