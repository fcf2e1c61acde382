#pragma once
// All subcommands. Each lies in the file of its name.

#include "tools/command.hpp"

namespace jari {

CommandPtr run_command();
CommandPtr check_command();
CommandPtr plan_command();
CommandPtr config_command();
CommandPtr components_command();
CommandPtr schema_command();
CommandPtr compare_command();
CommandPtr neighbors_command();
CommandPtr analogy_command();
CommandPtr similarity_command();
CommandPtr project_command();
CommandPtr retrieve_command();
CommandPtr export_command();
CommandPtr verify_command();
CommandPtr repair_command();
CommandPtr diff_command();
CommandPtr plot_command();
CommandPtr ls_command();
CommandPtr graph_command();
CommandPtr new_command();
CommandPtr doctor_command();
CommandPtr tokens_command();
CommandPtr generate_command();

// In the order in which `jari --help` lists them.
inline std::vector<CommandPtr> all_commands() {
  std::vector<CommandPtr> commands;
  commands.push_back(run_command());
  commands.push_back(check_command());
  commands.push_back(plan_command());
  commands.push_back(config_command());
  commands.push_back(components_command());
  commands.push_back(schema_command());
  commands.push_back(compare_command());
  commands.push_back(neighbors_command());
  commands.push_back(analogy_command());
  commands.push_back(similarity_command());
  commands.push_back(project_command());
  commands.push_back(retrieve_command());
  commands.push_back(export_command());
  commands.push_back(verify_command());
  commands.push_back(repair_command());
  commands.push_back(diff_command());
  commands.push_back(plot_command());
  commands.push_back(ls_command());
  commands.push_back(graph_command());
  commands.push_back(new_command());
  commands.push_back(doctor_command());
  commands.push_back(tokens_command());
  commands.push_back(generate_command());
  return commands;
}

// The whole program: parses the command line, runs a subcommand, turns errors into text on stderr and an exit status:
// 0 done, 2 the spec or the command line is wrong, 3 some trial failed, 130 or 143 interrupted by SIGINT or SIGTERM.
int run_program(int argc, const char* const* argv);

}  // namespace jari
