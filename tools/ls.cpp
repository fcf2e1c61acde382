// jari ls [RUNS...]: experiments and their trials at a glance.

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "framework/base/table.hpp"
#include "framework/report/listing.hpp"
#include "tools/commands.hpp"

namespace jari {
namespace {

using Json = nlohmann::ordered_json;
using Experiments = std::vector<ListedExperiment>;

std::time_t seconds_of(std::filesystem::file_time_type time) {
  return std::chrono::system_clock::to_time_t(std::chrono::file_clock::to_sys(time));
}

std::string local_time(std::filesystem::file_time_type time) {
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(seconds_of(time)));
}

std::string utc_time(std::filesystem::file_time_type time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(seconds_of(time)));
}

std::string size_text(std::uintmax_t bytes) {
  const auto size = static_cast<double>(bytes);
  if (size < 1e6) return fmt::format("{:.0f} kB", size / 1e3);
  return size < 1e9 ? fmt::format("{:.1f} MB", size / 1e6) : fmt::format("{:.1f} GB", size / 1e9);
}

// What is left: declared, and not even begun.
std::size_t waiting(const ListedExperiment& experiment) {
  const std::size_t declared = experiment.declared.value_or(0);
  return declared > experiment.trials.size() ? declared - experiment.trials.size() : 0;
}

constexpr const char* kUndone[] = {"training", "interrupted", "failed", "diverged", "damaged"};

// "2 interrupted, 1 failed, 3 waiting", or "".
std::string undone_text(const ListedExperiment& experiment) {
  std::vector<std::string> parts;
  for (const char* status : kUndone) {
    if (const std::size_t count = experiment.count(status)) parts.push_back(fmt::format("{} {}", count, status));
  }
  if (const std::size_t count = waiting(experiment)) parts.push_back(fmt::format("{} waiting", count));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::size_t total(const ListedExperiment& experiment) { return experiment.trials.size() + waiting(experiment); }

void print_experiments(const Experiments& experiments) {
  TextTable table({{"experiment"}, {"done", Align::right}, {"not done"}, {"last write"}, {"size", Align::right}});
  for (const ListedExperiment& experiment : experiments) {
    table.add_row({experiment.name, fmt::format("{}/{}", experiment.done(), total(experiment)), undone_text(experiment),
                   local_time(experiment.last_write), size_text(experiment.bytes)});
  }
  fmt::print("{}", table.text());
}

std::string steps_text(const ListedTrial& trial) {
  return trial.steps ? fmt::format("{}/{}", trial.step, *trial.steps) : fmt::format("{}", trial.step);
}

void print_trials(const ListedExperiment& experiment) {
  TextTable table(
      {{"trial"}, {"status"}, {"steps", Align::right}, {"seconds", Align::right}, {"metric"}, {"value", Align::right}});
  for (const ListedTrial& trial : experiment.trials) {
    table.add_row({trial.label, trial.status, steps_text(trial),
                   trial.seconds ? fmt::format("{:.1f}", *trial.seconds) : "-", trial.metric,
                   trial.metric.empty() ? "" : fmt::format("{:.5g}", trial.value)});
  }
  fmt::print("{}", table.text());
  const std::string undone = undone_text(experiment);
  fmt::print("{}: {} of {} trials done{}{}; last write {}, {}\n", experiment.name, experiment.done(), total(experiment),
             undone.empty() ? "" : ", ", undone, local_time(experiment.last_write), size_text(experiment.bytes));
  for (const ListedTrial& trial : experiment.trials) {
    if (!trial.message.empty()) fmt::print(stderr, "{}: {}\n", trial.label, trial.message);
  }
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

void print_csv(const Experiments& experiments) {
  fmt::print("experiment,trial,status,step,steps,seconds,metric,value,last_write,bytes,folder\n");
  for (const ListedExperiment& experiment : experiments) {
    for (const ListedTrial& trial : experiment.trials) {
      fmt::print("{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(experiment.name), csv_field(trial.label), trial.status,
                 trial.step, trial.steps ? fmt::format("{}", *trial.steps) : "",
                 trial.seconds ? fmt::format("{}", *trial.seconds) : "", csv_field(trial.metric),
                 trial.metric.empty() ? "" : fmt::format("{}", trial.value), utc_time(trial.last_write), trial.bytes,
                 csv_field(trial.folder.string()));
    }
  }
}

Json json_of(const ListedTrial& trial) {
  Json json = {{"label", trial.label}, {"status", trial.status}, {"step", trial.step}};
  if (trial.steps) json["steps"] = *trial.steps;
  if (trial.seconds) json["seconds"] = *trial.seconds;
  if (!trial.metric.empty()) json["metric"] = {{"name", trial.metric}, {"value", trial.value}};
  if (!trial.message.empty()) json["message"] = trial.message;
  json["last_write"] = utc_time(trial.last_write);
  json["bytes"] = trial.bytes;
  json["folder"] = trial.folder.string();
  return json;
}

Json json_of(const ListedExperiment& experiment) {
  Json json = {{"experiment", experiment.name}, {"folder", experiment.folder.string()}};
  if (experiment.declared) json["declared"] = *experiment.declared;
  json["done"] = experiment.done();
  for (const char* status : kUndone) json[status] = experiment.count(status);
  json["last_write"] = utc_time(experiment.last_write);
  json["bytes"] = experiment.bytes;
  json["trials"] = Json::array();
  for (const ListedTrial& trial : experiment.trials) json["trials"].push_back(json_of(trial));
  return json;
}

class LsCommand final : public Command {
 public:
  const char* name() const override { return "ls"; }
  const char* summary() const override { return "experiments at a glance, or the trials of one"; }
  void options(CommandOptions& options) override;
  int run() override;

 private:
  std::vector<std::string> runs_;
  std::string format_ = "text";
  std::string metric_;
};

void LsCommand::options(CommandOptions& options) {
  options.arguments("runs", runs_, "folders of experiments, or folders that hold some; without any, runs",
                    /*is_needed=*/false);
  options.option("--metric", metric_,
                 "metric to show; without it what the last test is told by (accuracy, or perplexity), or the loss");
  options.choice("--format", format_, {"text", "csv", "json"}, "csv and json list all trials");
}

int LsCommand::run() {
  if (runs_.empty()) runs_.push_back("runs");
  std::vector<std::filesystem::path> folders;
  for (const std::string& path : runs_) {
    for (std::filesystem::path& folder : find_experiments(path)) folders.push_back(std::move(folder));
  }
  const bool is_one = folders.size() == 1 && runs_.size() == 1 && folders.front() == runs_.front();
  const ListOptions options{metric_, is_one || format_ != "text"};
  Experiments experiments;
  for (const std::filesystem::path& folder : folders) experiments.push_back(list_experiment(folder, options));
  if (format_ == "json") {
    Json json = Json::array();
    for (const ListedExperiment& experiment : experiments) json.push_back(json_of(experiment));
    fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
  } else if (format_ == "csv") {
    print_csv(experiments);
  } else if (experiments.empty()) {
    fmt::print(stderr, "no experiments in {}\n", fmt::join(runs_, ", "));
  } else if (is_one) {
    print_trials(experiments.front());
  } else {
    print_experiments(experiments);
  }
  return 0;
}

}  // namespace

CommandPtr ls_command() { return std::make_unique<LsCommand>(); }

}  // namespace jari
