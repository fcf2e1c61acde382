// A graph in Graphviz's language.

#include <fmt/format.h>

#include <map>

#include "framework/graph/needed.hpp"
#include "framework/graph/print.hpp"

namespace jari {
namespace {

// A quoted string of the language. A backslash would begin one of its own escapes.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

// Lines of a label, centered.
std::string label(const std::vector<std::string>& lines) {
  std::string result;
  for (const std::string& line : lines) {
    const std::string text = quoted(line);
    result += text.substr(1, text.size() - 2) + "\\n";
  }
  return '"' + result.substr(0, result.size() - 2) + '"';
}

// A scope of paths: "model/attention" holds the nodes "model/attention/..." and other scopes.
struct Cluster {
  std::map<std::string, Cluster> clusters;
  std::vector<int> nodes;
};

// The path of an op or a constant is its scope; that of a leaf ends in a name of its own.
Cluster& cluster_of(Cluster& top, const Node& node) {
  const bool has_name = node.kind != NodeKind::op && node.kind != NodeKind::constant;
  const std::string path = has_name || node.path.empty() ? node.path : node.path + "/";
  Cluster* cluster = &top;
  std::size_t begin = 0;
  for (std::size_t slash; (slash = path.find('/', begin)) != std::string::npos; begin = slash + 1)
    cluster = &cluster->clusters[path.substr(begin, slash - begin)];
  return *cluster;
}

class DotWriter {
 public:
  explicit DotWriter(const Graph& graph) : graph_(graph), needed_(needed_nodes(graph)) {}

  std::string write(const std::string& title) {
    line(0, fmt::format("digraph {} {{", quoted(title)));
    line(1, fmt::format("graph [label={}, labelloc=t, fontname=\"sans-serif\", rankdir=TB]", quoted(title)));
    line(1, "node [shape=box, fontname=\"sans-serif\", fontsize=10]");
    line(1, "edge [fontname=\"sans-serif\", fontsize=9]");
    Cluster top;
    for (int i = 0; i < graph_.size(); ++i) {
      if (is_needed(i)) cluster_of(top, graph_.node(i)).nodes.push_back(i);
    }
    write_cluster(top, 1);
    for (int i = 0; i < graph_.size(); ++i) {
      if (!is_needed(i)) continue;
      for (const Value& input : graph_.node(i).inputs) write_edge(input, fmt::format("n{}", i), "");
    }
    write_results();
    line(0, "}");
    return std::move(text_);
  }

 private:
  void line(int depth, const std::string& text) {
    text_ += std::string(static_cast<std::size_t>(2 * depth), ' ') + text + '\n';
  }

  void write_cluster(const Cluster& cluster, int depth) {
    for (const int node : cluster.nodes) write_node(node, depth);
    for (const auto& [name, below] : cluster.clusters) {
      line(depth, fmt::format("subgraph cluster_{} {{", clusters_++));
      line(depth + 1, fmt::format("label={}; color=gray60", quoted(name)));
      write_cluster(below, depth + 1);
      line(depth, "}");
    }
  }

  static const char* fill_color(NodeKind kind) {
    switch (kind) {
      case NodeKind::parameter:
        return "lightblue";
      case NodeKind::constant:
        return "gray90";
      case NodeKind::input:
      case NodeKind::resident:
        return "lightyellow";
      case NodeKind::op:
        break;
    }
    return "white";
  }

  void write_node(int index, int depth) {
    const Node& node = graph_.node(index);
    std::vector<std::string> lines;
    if (node.kind == NodeKind::op) {
      lines.emplace_back(node.op->name);
    } else {
      lines.push_back(node.kind == NodeKind::constant ? "constant" : node.path.substr(node.path.rfind('/') + 1));
    }
    for (const TensorType& type : node.outputs) lines.push_back(type.to_string());
    line(depth, fmt::format("n{} [label={}, tooltip={}, style=\"filled{}\", fillcolor={}]", index, label(lines),
                            quoted(node.path), node.per_trial ? "" : ",dashed", fill_color(node.kind)));
  }

  void write_edge(Value from, const std::string& to, const std::string& more) {
    std::string attributes = more;
    if (from.output() != 0) attributes += fmt::format("{}taillabel=\"{}\"", more.empty() ? "" : ", ", from.output());
    line(1, fmt::format("n{} -> {}{}", from.node(), to, attributes.empty() ? "" : fmt::format(" [{}]", attributes)));
  }

  void write_results() {
    int count = 0;
    for (const auto& [name, value] : graph_.outputs()) {
      line(1, fmt::format("o{} [label={}, shape=ellipse, style=filled, fillcolor=palegreen]", count, quoted(name)));
      write_edge(value, fmt::format("o{}", count++), "");
    }
    // Back to the parameter: what the step leaves there. It must not pull the picture into a circle.
    for (const auto& [parameter, value] : graph_.updates())
      write_edge(value, fmt::format("n{}", parameter.node()), "style=dotted, color=blue, constraint=false");
  }

  bool is_needed(int node) const { return needed_[static_cast<std::size_t>(node)]; }

  const Graph& graph_;
  std::vector<bool> needed_;
  std::string text_;
  int clusters_ = 0;
};

}  // namespace

std::string graph_dot(const Graph& graph, const std::string& title) { return DotWriter(graph).write(title); }

}  // namespace jari
