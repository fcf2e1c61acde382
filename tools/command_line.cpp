// From the command line to a subcommand. The only file that includes CLI11, which is slow to compile.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/base/version.hpp"
#include "tools/commands.hpp"

namespace jari {
namespace {

class CliOptions final : public CommandOptions {
 public:
  explicit CliOptions(CLI::App& app) : app_(app) {}

  void argument(const char* name, std::string& value, const char* help, bool is_needed) override {
    app_.add_option(name, value, help)->required(is_needed);
  }
  void arguments(const char* name, std::vector<std::string>& values, const char* help, bool is_needed) override {
    app_.add_option(name, values, help)->required(is_needed);
  }
  void flag(const char* name, bool& value, const char* help) override { app_.add_flag(name, value, help); }
  void option(const char* name, std::string& value, const char* help) override { add_named(name, value, help); }
  void option(const char* name, std::int64_t& value, const char* help) override { add_named(name, value, help); }
  void option(const char* name, std::optional<std::int64_t>& value, const char* help) override {
    app_.add_option(name, value, help);
  }
  void option(const char* name, std::optional<double>& value, const char* help) override {
    app_.add_option(name, value, help);
  }
  void list(const char* name, std::vector<std::string>& values, const char* help) override {
    app_.add_option(name, values, help)->delimiter(',')->take_all()->allow_extra_args(false);
  }
  void repeated(const char* name, std::vector<std::string>& values, const char* help) override {
    app_.add_option(name, values, help)->take_all()->allow_extra_args(false);
  }
  void choice(const char* name, std::string& value, const std::vector<std::string>& choices,
              const char* help) override {
    add_named(name, value, help)->check(CLI::IsMember(choices));
  }
  void exclude(const char* name, const char* other) override {
    app_.get_option(name)->excludes(app_.get_option(other));
  }

 private:
  template <class T>
  CLI::Option* add_named(const char* name, T& value, const char* help) {
    return app_.add_option(name, value, help)->capture_default_str();
  }

  CLI::App& app_;
};

void add(CLI::App& app, Command& command, int& status) {
  CLI::App& subcommand = *app.add_subcommand(command.name(), command.summary());
  CliOptions options(subcommand);
  command.options(options);
  subcommand.callback([&command, &status] { status = command.run(); });
}

// An error may quote a file; its control characters must not reach the terminal.
std::string shown(std::string_view message) {
  std::string text;
  for (std::size_t begin = 0; begin <= message.size();) {
    const std::size_t end = std::min(message.find('\n', begin), message.size());
    text += (begin > 0 ? "\n" : "") + printable(message.substr(begin, end - begin));
    begin = end + 1;
  }
  return text;
}

}  // namespace

int run_program(int argc, const char* const* argv) {
  CLI::App app("jari: declarative training for embeddings and positional schemes", "jari");
  app.set_version_flag("--version", std::string("jari ") + version());
  app.require_subcommand(1);
  const std::vector<CommandPtr> commands = all_commands();
  int status = 0;
  for (const CommandPtr& command : commands) add(app, *command, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const SpecError& error) {
    // Diagnostics of a spec are whole lines; a mistake on the command line is a sentence.
    const std::string_view text = error.what();
    fmt::print(stderr, "{}{}{}", text.ends_with('\n') ? "" : "error: ", text, text.ends_with('\n') ? "" : "\n");
    return 2;
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n", shown(error.what()));
    return 2;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "error: not enough memory for what was asked; choose smaller sizes, or a larger machine\n");
    return 3;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", shown(error.what()));
    return 3;
  }
  return status;
}

}  // namespace jari
