#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "framework/base/quantity.hpp"
#include "framework/base/table.hpp"
#include "framework/base/text.hpp"
#include "framework/sweep/plan.hpp"

namespace jari {
namespace {

constexpr std::size_t kMostRows = 40;  // of a table, without `all`

std::string counted(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// "7", or "5 to 9".
template <class Number>
std::string range_text(Number least, Number most) {
  return least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
}

std::string short_duration(double seconds) {
  return seconds < 9.95 ? fmt::format("{:.2g}s", seconds) : duration_text(seconds);
}

std::string state_text(const PlannedTrial& trial) {
  switch (trial.progress) {
    case TrialProgress::done:
      return trial.status == "finished" ? "done" : fmt::format("done ({})", trial.status);
    case TrialProgress::interrupted:
      return trial.step == 0 ? "interrupted at the start" : fmt::format("interrupted at step {}", trial.step);
    case TrialProgress::failed:
      return trial.step == 0 ? "failed" : fmt::format("failed, goes on from step {}", trial.step);
    case TrialProgress::fresh:
      break;
  }
  return "new";
}

// Number of the group of each trial.
std::vector<std::size_t> group_numbers(const Sweep& sweep) {
  std::vector<std::size_t> numbers(sweep.trials.size());
  for (std::size_t group = 0; group < sweep.groups.size(); ++group) {
    for (const std::size_t trial : sweep.groups[group].trials) numbers[trial] = group;
  }
  return numbers;
}

// The paths that vary, the seed last where there are several, with their values in order of appearance.
struct Varying {
  std::string path;
  std::vector<std::string> values;
};

std::vector<Varying> varying_of(const Sweep& sweep) {
  std::vector<Varying> result;
  for (const std::string& path : sweep.axes) result.push_back({path, {}});
  result.push_back({"seed", {}});
  std::map<std::string, std::map<std::string, bool>> seen;
  for (const Trial& trial : sweep.trials) {
    for (const auto& [path, value] : trial.varying) {
      if (!seen[path].emplace(value, true).second) continue;
      std::ranges::find(result, path, &Varying::path)->values.push_back(value);
    }
  }
  if (result.back().values.size() == 1 && result.size() > 1) result.pop_back();
  return result;
}

std::string values_text(const std::vector<std::string>& values) {
  constexpr std::size_t kMostNamed = 8;
  if (values.size() <= kMostNamed) return joined(values);
  return fmt::format("{}, {}, ... {}", values[0], values[1], values.back());
}

std::string head(const Sweep& sweep) {
  std::string text = fmt::format("{}: {} in {}", sweep.experiment, counted(sweep.trials.size(), "trial"),
                                 counted(sweep.groups.size(), "fused group"));
  if (sweep.declared > sweep.trials.size()) {
    text += fmt::format("; {} more are equal to others", sweep.declared - sweep.trials.size());
  }
  if (sweep.excluded > 0) text += fmt::format("; {} excluded", sweep.excluded);
  return text + "\n";
}

std::string axes_table(const Sweep& sweep) {
  TextTable table({{"varies"}, {"values", Align::right}, {""}});
  for (const Varying& each : varying_of(sweep)) {
    table.add_row({each.path, fmt::format("{}", each.values.size()), values_text(each.values)});
  }
  return table.text();
}

std::string groups_table(const Sweep& sweep, const SweepPlan& plan, bool all) {
  TextTable table({{"group", Align::right},
                   {"trials", Align::right},
                   {"to run", Align::right},
                   {"parameters", Align::right},
                   {"state memory", Align::right},
                   {"step memory", Align::right},
                   {"steps", Align::right},
                   {"time", Align::right},
                   {"first trial"}});
  const std::size_t shown = all ? plan.groups.size() : std::min(plan.groups.size(), kMostRows);
  for (std::size_t i = 0; i < shown; ++i) {
    const PlannedGroup& group = plan.groups[i];
    table.add_row({fmt::format("{}", i), fmt::format("{}", group.trials), fmt::format("{}", group.missing),
                   fmt::format("{}", group.parameters), bytes_text(static_cast<double>(group.state_bytes)),
                   bytes_text(static_cast<double>(group.step_bytes)), fmt::format("{}", group.steps),
                   group.time ? short_duration(group.time->seconds_a_trial) : "-",
                   sweep.trials[sweep.groups[i].trials.front()].label});
  }
  std::string text = table.text();
  if (shown < plan.groups.size()) text += fmt::format("... and {} more (--all)\n", plan.groups.size() - shown);
  return text + (plan.cards.empty()
                     ? "state memory: of a trial; step memory: of a core; time: of a trial, all cores at work\n"
                     : "state and step memory: of a trial; time: of a trial, all cards at work\n");
}

std::string trials_table(const Sweep& sweep, const SweepPlan& plan) {
  TextTable table({{"trial"}, {"group", Align::right}, {"state"}});
  const std::vector<std::size_t> groups = group_numbers(sweep);
  for (std::size_t i = 0; i < sweep.trials.size(); ++i) {
    table.add_row({sweep.trials[i].folder, fmt::format("{}", groups[i]), state_text(plan.trials[i])});
  }
  return table.text();
}

bool all_alike(const SweepPlan& plan) { return plan.count(plan.trials.front().progress) == plan.trials.size(); }

// How many trials are how far, by the values of each axis.
std::string summary_table(const Sweep& sweep, const SweepPlan& plan) {
  constexpr std::size_t kMostValues = 20;
  TextTable table({{"axis"},
                   {"value"},
                   {"trials", Align::right},
                   {"done", Align::right},
                   {"interrupted", Align::right},
                   {"failed", Align::right},
                   {"new", Align::right}});
  const auto add = [&](const std::string& path, const std::string& value, const auto& belongs) {
    std::map<TrialProgress, std::size_t> counts;
    std::size_t total = 0;
    for (std::size_t i = 0; i < sweep.trials.size(); ++i) {
      if (!belongs(sweep.trials[i])) continue;
      ++counts[plan.trials[i].progress];
      ++total;
    }
    const auto cell = [&](TrialProgress progress) { return fmt::format("{}", counts[progress]); };
    table.add_row({path, value, fmt::format("{}", total), cell(TrialProgress::done), cell(TrialProgress::interrupted),
                   cell(TrialProgress::failed), cell(TrialProgress::fresh)});
  };
  for (const Varying& axis : varying_of(sweep)) {
    if (axis.values.size() > kMostValues || axis.path == "seed") {
      add(axis.path, fmt::format("({} values)", axis.values.size()), [&](const Trial& trial) {
        return std::ranges::find(trial.varying, axis.path, &VaryingKeys::value_type::first) != trial.varying.end();
      });
      continue;
    }
    for (const std::string& value : axis.values) {
      add(axis.path, value, [&](const Trial& trial) {
        return std::ranges::find(trial.varying, std::pair(axis.path, value)) != trial.varying.end();
      });
    }
  }
  return table.text();
}

std::string counts_text(const SweepPlan& plan) {
  std::vector<std::string> parts;
  const std::pair<TrialProgress, const char*> kinds[] = {{TrialProgress::done, "done"},
                                                         {TrialProgress::interrupted, "interrupted"},
                                                         {TrialProgress::failed, "failed"},
                                                         {TrialProgress::fresh, "new"}};
  for (const auto& [progress, name] : kinds) {
    if (const std::size_t count = plan.count(progress)) parts.push_back(fmt::format("{} {}", count, name));
  }
  return joined(parts);
}

// How the time was found out.
std::string time_source(const SweepPlan& plan) {
  std::size_t runs = 0, timed = 0;
  for (const PlannedGroup& group : plan.groups) {
    if (group.missing == 0 || !group.time) continue;
    runs += group.time->finished_runs;
    timed += group.time->finished_runs == 0;
  }
  const std::string from_runs = fmt::format("from {} of the same groups", counted(runs, "finished run"));
  const std::string from_steps = fmt::format("from a few steps of {}, run now", counted(timed, "group"));
  return timed == 0 ? from_runs : runs == 0 ? from_steps : from_runs + " and " + from_steps;
}

std::string totals(const SweepPlan& plan) {
  std::int64_t least = plan.groups.front().parameters, most = least, steps = 0;
  for (const PlannedGroup& group : plan.groups) {
    least = std::min(least, group.parameters);
    most = std::max(most, group.parameters);
    steps += group.missing_steps;
  }
  std::string text = fmt::format("parameters  {} a trial\n", range_text(least, most));
  text += fmt::format("trials      {}: {}\n", plan.trials.size(), counts_text(plan));
  if (plan.missing() == 0) return text + "to run      nothing\n";
  text += fmt::format("to run      {}, {} steps\n", counted(plan.missing(), "trial"), steps);
  if (const auto seconds = plan.seconds()) {
    text += fmt::format(
        "time        about {} on {}, without analyses ({})\n", duration_text(*seconds),
        plan.cards.empty() ? counted(static_cast<std::size_t>(plan.cores), "core") : counted(plan.cards.size(), "card"),
        time_source(plan));
  }
  if (!plan.cards.empty()) {
    const PlannedGroup& largest = *std::ranges::max_element(plan.groups, {}, &PlannedGroup::card_bytes);
    text += fmt::format("cards       {}: up to {} at once on one, in {}\n", fmt::join(plan.cards, ", "),
                        counted(largest.at_once, "trial"), bytes_text(static_cast<double>(largest.card_bytes)));
  }
  text += fmt::format("memory      about {} for states and activations\n", bytes_text(plan.memory_bytes()));
  text += fmt::format("disk        about {} at the end, up to {} while it runs (all trials)\n",
                      bytes_text(plan.disk.at_end), bytes_text(plan.disk.while_training));
  return text;
}

std::string csv_field(const std::string& field) {
  if (field.find_first_of(",\"\n") == std::string::npos) return field;
  std::string text = "\"";
  for (const char c : field) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}

const char* progress_name(TrialProgress progress) {
  switch (progress) {
    case TrialProgress::done:
      return "done";
    case TrialProgress::interrupted:
      return "interrupted";
    case TrialProgress::failed:
      return "failed";
    case TrialProgress::fresh:
      break;
  }
  return "new";
}

}  // namespace

std::string plan_text(const Sweep& sweep, const SweepPlan& plan, bool all) {
  std::string text = head(sweep) + "\n";
  if (sweep.trials.size() > 1) text += axes_table(sweep) + "\n";
  text += groups_table(sweep, plan, all) + "\n";
  if (all || sweep.trials.size() <= kMostRows) {
    text += trials_table(sweep, plan) + "\n";
  } else if (!all_alike(plan)) {
    text += summary_table(sweep, plan) + "\n";
  }
  return text + totals(plan);
}

std::string plan_csv(const Sweep& sweep, const SweepPlan& plan) {
  std::vector<std::string> paths = sweep.axes;
  paths.emplace_back("seed");
  std::vector<std::string> cells{"folder", "group"};
  cells.insert(cells.end(), paths.begin(), paths.end());
  for (const char* name : {"state", "step", "steps", "parameters", "state_bytes", "seconds"}) cells.emplace_back(name);
  std::string text;
  const auto end_row = [&] {
    for (std::string& cell : cells) cell = csv_field(cell);
    text += joined(cells, ",") + "\n";
    cells.clear();
  };
  end_row();
  const std::vector<std::size_t> groups = group_numbers(sweep);
  for (std::size_t i = 0; i < sweep.trials.size(); ++i) {
    const Trial& trial = sweep.trials[i];
    const PlannedTrial& planned = plan.trials[i];
    const PlannedGroup& group = plan.groups[groups[i]];
    cells = {trial.folder, fmt::format("{}", groups[i])};
    for (const std::string& path : paths) {
      const auto found = std::ranges::find(trial.varying, path, &VaryingKeys::value_type::first);
      cells.push_back(found == trial.varying.end() ? "" : found->second);
    }
    cells.emplace_back(progress_name(planned.progress));
    for (const std::int64_t number : {planned.step, group.steps, group.parameters}) {
      cells.push_back(fmt::format("{}", number));
    }
    cells.push_back(fmt::format("{}", group.state_bytes));
    cells.push_back(group.time ? fmt::format("{:.4g}", group.time->seconds_a_trial) : "");
    end_row();
  }
  return text;
}

}  // namespace jari
