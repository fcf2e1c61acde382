#include "framework/component/parameter_groups.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace jari {

bool matches(const std::string& pattern, const std::string& path) {
  std::size_t p = 0, s = 0;
  std::size_t star = std::string::npos, resume = 0;  // last `*`, and where the text that it swallows ends
  while (s < path.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = s;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == path[s])) {
      ++p;
      ++s;
    } else if (star != std::string::npos) {
      p = star + 1;
      s = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::vector<ComponentError> check_patterns(const std::vector<std::string>& patterns,
                                           const std::vector<std::string>& paths) {
  std::vector<std::string> uses(patterns.size());   // first path that a pattern takes
  std::vector<std::string> loses(patterns.size());  // first path that it matches after another pattern
  for (const std::string& path : paths) {
    bool taken = false;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      if (!matches(patterns[i], path)) continue;
      std::string& first = taken ? loses[i] : uses[i];
      if (first.empty()) first = path;
      taken = true;
    }
  }
  std::vector<ComponentError> errors;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (!uses[i].empty()) continue;
    const std::string field = fmt::format("groups.{}.match", i);
    if (loses[i].empty())
      errors.push_back({field, fmt::format("no parameter matches '{}'", patterns[i]),
                        fmt::format("parameters: {}", fmt::join(paths, ", "))});
    else
      errors.push_back({field,
                        fmt::format("'{}' has no effect: earlier groups match all of its parameters", patterns[i]),
                        fmt::format("move it up; it matches {}", loses[i])});
  }
  return errors;
}

Value optimizer_state(const UpdateContext& context, const std::string& name, Value parameter) {
  const ParameterDeclaration* declaration = context.build.declarations.find(context.parameter_path);
  std::vector<std::string> axes = declaration != nullptr
                                      ? declaration->axes
                                      : std::vector<std::string>(static_cast<std::size_t>(parameter.shape().rank()));
  return context.build.parameter(name + "/" + context.parameter_path, parameter.shape(), zeros(), std::move(axes));
}

}  // namespace jari
