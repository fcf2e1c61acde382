// jari graph: the text, Graphviz's own opinion of the picture, the plan.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "framework/graph/print.hpp"
#include "framework/store/atomic_file.hpp"
#include "tests/support/files.hpp"
#include "tests/support/specs.hpp"
#include "tests/tools/run_jari.hpp"

namespace jari {
namespace {

using test::Output;
using test::run_jari;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class GraphCommand : public ::testing::Test {
 protected:
  GraphCommand() {
    write_file_atomically(
        spec_, std::string(test::kSmallSpec) + "sweep: {grid: {model.position: [sin, {type: rel, max_length: 12}]}}\n");
  }
  Output graph(std::vector<std::string> more) const {
    std::vector<std::string> arguments = {"graph", spec_.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_jari(arguments);
  }

  test::TemporaryFolder folder_;
  std::filesystem::path spec_ = folder_.path() / "spec.yaml";
};

TEST_F(GraphCommand, ShowsEachNodeWithItsPathAndSpecLine) {
  const Output output = graph({});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.out, ContainsRegex("%2 +batch +i32.4, 6. +each +random_ids.%0, %1. "));
  EXPECT_THAT(output.out, ContainsRegex("model/embedding +f32.7, 8. +each +[^ ]*spec.yaml:3 +parameter\n"));
  EXPECT_THAT(output.out, ContainsRegex("optimizer[^ ]* +3 x f32.7, 8. +each +[^ ]*spec.yaml:8 +adam_update.%"));
  EXPECT_THAT(output.out, HasSubstr("\noutput loss = %"));
  EXPECT_THAT(output.out, HasSubstr("\nupdate model/embedding = %"));
  EXPECT_THAT(output.out,
              ContainsRegex("[0-9]+ nodes, [0-9]+ unused: [0-9]+ ops \\(.*matmul.*\\), [0-9]+ parameters, "));
}

TEST_F(GraphCommand, ShowsAnEvaluationAndAnotherTrial) {
  EXPECT_THAT(graph({"--program", "evaluate/longer"}).out, HasSubstr("output predictions = %"));
  EXPECT_THAT(graph({"--program", "evaluate/longer"}).out, HasSubstr("i32[10, 12]"));
  const Output unknown = graph({"--program", "evaluate/longr"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_EQ(unknown.err,
            "error: --program 'evaluate/longr': no such program (did you mean 'evaluate/longer'?); known: train, "
            "evaluate/same, evaluate/longer\n");
  EXPECT_THAT(graph({}).out, Not(HasSubstr("model/position/table")));
  EXPECT_THAT(graph({"--trial", "1"}).out, HasSubstr("model/position/table"));
  EXPECT_EQ(graph({"--trial", "2"}).err, "error: --trial 2: the spec declares trials 0 to 1\n");
}

TEST_F(GraphCommand, ShowsThePlan) {
  const Output output = graph({"--planned"});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.out, ContainsRegex("[0-9]+ kernel calls; [0-9.]+ MB for a step: "));
  EXPECT_EQ(graph({"--planned", "--dot"}).status, 2);
}

TEST_F(GraphCommand, SaysThatASpecWithoutTrainingHasNoGraph) {
  write_file_atomically(spec_,
                        "experiment: e\nanalyses: {p: {type: position_property, length: 8, width: 4, gaps: [1]}}\n");
  const Output output = run_jari({"graph", spec_.string()});
  EXPECT_EQ(output.status, 2);
  EXPECT_EQ(output.err, "error: the spec trains nothing, so there is no graph\n");
}

// The SVG that Graphviz makes of a text, or why it made none.
std::string drawn(const std::string& dot, const std::filesystem::path& folder) {
  write_file_atomically(folder / "graph.dot", dot);
  const std::string in = (folder / "graph.dot").string(), out = (folder / "graph.svg").string();
  const int status = std::system(("dot -Tsvg " + in + " -o " + out + " 2> " + out + ".err").c_str());
  const std::string errors = test::read_text(out + ".err");
  return status == 0 && errors.empty() ? test::read_text(out) : "dot failed: " + errors;
}

bool has_graphviz() { return std::system("dot -V 2>/dev/null") == 0; }

TEST_F(GraphCommand, IsDrawnByGraphviz) {
  if (!has_graphviz()) GTEST_SKIP() << "no graphviz";
  const Output output = graph({"--dot"});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.err, HasSubstr(" nodes, "));
  const std::string svg = drawn(output.out, folder_.path());
  EXPECT_THAT(svg, HasSubstr("<svg"));
  EXPECT_THAT(svg, HasSubstr(">embedding</text>"));
  EXPECT_THAT(svg, HasSubstr(">optimizer</text>"));
}

TEST(GraphDot, NamesMayHoldAnything) {
  const std::string name = "a \"b\" \\n <c> {d|e} 자리\\";
  Graph graph;
  Value input;
  {
    const Graph::Scope scope(graph, name);
    input = graph.input(graph.path(name), {DType::f32, {2}}, true);
  }
  graph.output(name, input);
  const std::string dot = graph_dot(graph, name);
  EXPECT_THAT(dot, StartsWith(R"(digraph "a \"b\" \\n <c> {d|e} 자리\\" {)"));
  if (!has_graphviz()) GTEST_SKIP() << "no graphviz";
  const test::TemporaryFolder folder;
  EXPECT_THAT(drawn(dot, folder.path()), HasSubstr("a &quot;b&quot; \\n &lt;c&gt; {d|e} 자리\\"));
}

}  // namespace
}  // namespace jari
