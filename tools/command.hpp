#pragma once
// A subcommand: its name, what it takes, what it does. A file of tools/ defines one; tools/commands.hpp lists them all.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace jari {

// What a command takes. Values are written into the variables given here, whose first values are the defaults. Hides
// the library that parses the command line, which is slow to compile.
class CommandOptions {
 public:
  virtual ~CommandOptions() = default;
  // By place. The lists take what is left.
  virtual void argument(const char* name, std::string& value, const char* help, bool is_needed = true) = 0;
  virtual void arguments(const char* name, std::vector<std::string>& values, const char* help,
                         bool is_needed = true) = 0;
  // By name: "--runs", or "-o,--output".
  virtual void flag(const char* name, bool& value, const char* help) = 0;
  virtual void option(const char* name, std::string& value, const char* help) = 0;
  virtual void option(const char* name, std::int64_t& value, const char* help) = 0;
  // Of which the command wants to know whether they are given.
  virtual void option(const char* name, std::optional<std::int64_t>& value, const char* help) = 0;
  virtual void option(const char* name, std::optional<double>& value, const char* help) = 0;
  // Several values: the option again, or commas.
  virtual void list(const char* name, std::vector<std::string>& values, const char* help) = 0;
  // Several values, which may hold commas: the option again.
  virtual void repeated(const char* name, std::vector<std::string>& values, const char* help) = 0;
  virtual void choice(const char* name, std::string& value, const std::vector<std::string>& choices,
                      const char* help) = 0;
  // The two exclude each other.
  virtual void exclude(const char* name, const char* other) = 0;
};

class Command {
 public:
  virtual ~Command() = default;
  virtual const char* name() const = 0;
  virtual const char* summary() const = 0;
  virtual void options(CommandOptions& options) = 0;
  // Gives the program's exit status. Throws jari::Error for what the user can mend.
  virtual int run() = 0;
};

using CommandPtr = std::unique_ptr<Command>;

}  // namespace jari
