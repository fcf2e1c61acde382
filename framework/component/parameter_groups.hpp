#pragma once
// Parameter groups of an optimizer: `groups: [{match: "model/position/*", lr: 0.1}]` gives the parameters whose path
// matches their own values of some of the optimizer's keys. The first group that matches counts.

#include <optional>
#include <string>
#include <vector>

#include "framework/component/optimizer.hpp"
#include "framework/spec/fields.hpp"

namespace jari {

// `*` stands for any text, slashes included, `?` for any one character; everything else for itself.
bool matches(const std::string& pattern, const std::string& path);

// Parameters of an optimizer with groups. `Settings` has
//   the optimizer's keys and their defaults, `fields(f)`;
//   `Settings::Group` with the same keys as std::optional, `fields(f)`, and
//   `Settings with(const Group&) const`: the values of a group's parameters.
template <class Settings>
struct GroupedParameters {
  struct Group {
    std::string match;
    typename Settings::Group settings;
    template <class F>
    void fields(F& f) {
      f("match", match, "pattern on parameter paths: * is any text, ? any one character", required);
      settings.fields(f);
    }
  };

  Settings settings;
  std::vector<Group> groups;

  template <class F>
  void fields(F& f) {
    settings.fields(f);
    f("groups", groups, "other values for the parameters whose path matches; the first match counts");
  }

  Settings of(const std::string& path) const {
    for (const Group& group : groups)
      if (matches(group.match, path)) return settings.with(group.settings);
    return settings;
  }

  std::vector<ComponentError> check_groups(const std::vector<std::string>& paths) const;
};

// An error for each pattern that is the first match of none of the paths.
std::vector<ComponentError> check_patterns(const std::vector<std::string>& patterns,
                                           const std::vector<std::string>& paths);

template <class Settings>
std::vector<ComponentError> GroupedParameters<Settings>::check_groups(const std::vector<std::string>& paths) const {
  std::vector<std::string> patterns;
  for (const Group& group : groups) patterns.push_back(group.match);
  return check_patterns(patterns, paths);
}

// The rate of one step: the group's own, times the schedule's factor.
inline Value learning_rate_of(const UpdateContext& context, const PerTrial<double>& lr) {
  return context.build.per_trial(lr) * context.schedule_factor;
}

// State of the optimizer for one parameter: "<name>/<parameter path>", zeros at first.
Value optimizer_state(const UpdateContext& context, const std::string& name, Value parameter);

}  // namespace jari
