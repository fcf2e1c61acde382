#pragma once
// The subcommands: what each is given and what does it, one file each. tools/command_line.cpp reads the command line.

#include <cstdint>
#include <string>
#include <vector>

namespace jari {

struct SpecArguments {
  std::string path;
  std::vector<std::string> overrides;  // KEY=VALUE
};

struct RunArguments {
  SpecArguments spec;
  std::string runs = "runs";
  bool force = false;
  bool no_rewrite = false;
  bool quiet = false;
};

struct ConfigArguments {
  SpecArguments spec;
  bool minimal = false;
  std::string why;
  std::int64_t trial = 0;
};

struct ComponentsArguments {
  std::string name;  // "", FAMILY or FAMILY/NAME
  std::vector<std::string> plugins;
  std::string write_reference;  // folder, or ""
};

struct CompareArguments {
  std::vector<std::string> runs;
  std::vector<std::string> by, metrics;
  std::string format = "text";
};

// Each returns the program's exit status and throws jari::Error for what the user can mend.
int run_command(const RunArguments& arguments);
int check_command(const SpecArguments& arguments);
int config_command(const ConfigArguments& arguments);
int components_command(const ComponentsArguments& arguments);
int schema_command(const std::vector<std::string>& plugins);
int compare_command(const CompareArguments& arguments);

// The whole program: parses the command line, runs a subcommand, turns errors into text on stderr and an exit status:
// 0 done, 2 the spec or the command line is wrong, 3 some trial failed, 130 or 143 interrupted by SIGINT or SIGTERM.
int run_program(int argc, const char* const* argv);

}  // namespace jari
