// KEY=VALUE of the command line, and the small readers of single values below it. Input: overrides, one a line.

#include <sstream>

#include "framework/base/edit_distance.hpp"
#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/spec/compose.hpp"
#include "framework/spec/interpolate.hpp"
#include "framework/spec/scalar.hpp"
#include "framework/spec/yaml_reader.hpp"
#include "tests/fuzz/expect.hpp"

namespace jari::fuzz {
namespace {

constexpr const char* kSpec = R"(model: {type: probe, width: 8, position: sin}
train: {steps: 60, batch: 4, optimizer: {type: adam, groups: [{match: a, lr: 0.1}, {match: b}]}}
)";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line) && lines.size() < 20;) lines.push_back(line);
  return lines;
}

void check_scalar(const std::string& text) {
  const std::optional<double> number = parse_number(text);
  if (number) expect(parse_number(format_number(*number)) == number, "a number's text reads as that number: " + text);
  const std::optional<std::int64_t> integer = parse_integer(text);
  if (integer) {
    expect(parse_integer(std::to_string(*integer)) == integer, "an integer's text reads as that integer: " + text);
    expect(number.has_value(), "an integer is a number: " + text);
  }
  const bool is_text = is_plain_text(text);
  expect(!is_text || !(number || parse_boolean(text)), "a text that needs no quotes is no number: " + text);
  if (const auto digits = without_digit_separators(text)) expect(parse_number(*digits).has_value(), "digits: " + text);
}

void check_text(const std::string& text) {
  const bool is_valid = !first_invalid_utf8(text);
  expect(count_code_points(text) <= static_cast<int>(text.size()), "a code point takes a byte or more");
  expect(display_width(text) <= 2 * count_code_points(text), "a code point takes two columns or fewer");
  const auto near = closest(text, {"train.steps", "model.width", "자리"});
  expect(!near || *near != text || !is_valid, "the nearest name is another one");
}

void check_tree(const SpecNode& root) {
  Diagnostics diagnostics;
  const SpecNode again = read_yaml_text(to_yaml(root), "again.yaml", diagnostics);
  expect(diagnostics.empty(), "a tree's text can be read:\n" + diagnostics.render() + to_yaml(root));
  expect(same_value(root, again), "a tree's text reads as that tree:\n" + to_yaml(root));
}

}  // namespace
}  // namespace jari::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jari;
  using namespace jari::fuzz;
  const std::vector<std::string> overrides = lines_of({reinterpret_cast<const char*>(data), size});
  for (const std::string& text : overrides) {
    check_scalar(text);
    check_text(text);
  }
  Diagnostics diagnostics;
  SpecNode root = read_yaml_text(kSpec, "spec.yaml", diagnostics);
  set_overrides(root, overrides, diagnostics);
  interpolate(root, diagnostics);
  if (diagnostics.empty()) check_tree(root);
  expect(!first_invalid_utf8(diagnostics.render()), "errors are UTF-8");
  return 0;
}
