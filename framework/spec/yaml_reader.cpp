#include "framework/spec/yaml_reader.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <unordered_map>

#include "framework/base/edit_distance.hpp"
#include "framework/base/text.hpp"
#include "framework/spec/scalar.hpp"
#include "framework/spec/source_place.hpp"

namespace jari {
namespace {

constexpr std::size_t kMostBytes = 4u << 20;
constexpr std::size_t kMostNodes = 100'000;  // aliases of aliases grow without end

struct Stop {};  // after an error that leaves nothing to go on with

class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(SourceFilePtr file, Diagnostics& diagnostics) : file_(std::move(file)), diagnostics_(diagnostics) {}

  SpecNode take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ == 1) return;
    error(span(mark), "a spec is one YAML document, and a second one starts here", "remove the '---'");
    throw Stop{};
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    SpecNode node;
    node.span = span(mark);
    const std::string_view line = line_of(file_, mark.line + 1);
    const std::string_view rest = line.substr(std::min(static_cast<std::size_t>(mark.column), line.size()));
    const bool written = rest.substr(0, 1) == "~" || rest.substr(0, 4) == "null";
    if (written && rest[0] == 'n') node.span.length = 4;
    if (in_value_position() && !written) node.span = stack_.back().key_span;
    add(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end()) {
      error(span(mark), "an alias can not stand inside of its own anchor", "");
      throw Stop{};
    }
    nodes_ += known->second.size;
    check_size(span(mark));
    if (stack_.size() + known->second.depth > kDeepestSpec) too_deep(span(mark));
    add(known->second.node, 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    const std::string_view line = line_of(file_, mark.line + 1);
    const std::size_t byte = after_properties(line, static_cast<std::size_t>(mark.column));
    SpecNode node =
        SpecNode::scalar(text, tag != "?", span_at(file_, mark.line + 1, byte, scalar_extent(line, byte, text)));
    const bool has_quote = byte < line.size() && (line[byte] == '"' || line[byte] == '\'');
    if (has_quote && !is_closed(file_, mark.line + 1, byte)) {
      error(span_at(file_, mark.line + 1, byte), "a text in quotes does not end", "a closing quote is missing");
      throw Stop{};
    }
    node.refused = !check_tag(tag, mark, "");
    if (!node.quoted && !in_key_position()) check_traps(node);
    add(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    check_tag(tag, mark, "!grid");
    SpecNode node = SpecNode::sequence({}, collection_span(mark, style));
    node.grid = tag == "!grid";
    begin(std::move(node), anchor);
  }
  void OnSequenceEnd() override { end(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    check_tag(tag, mark, "!replace");
    SpecNode node = SpecNode::mapping(collection_span(mark, style));
    node.replace = tag == "!replace";
    begin(std::move(node), anchor);
  }
  void OnMapEnd() override { end(); }

 private:
  struct Open {
    SpecNode node;
    YAML::anchor_t anchor = 0;
    bool has_key = false;
    bool drop = false;  // the value of a key that was refused
    std::string key;
    SourceSpan key_span;
    std::map<std::string, int> lines;  // of the keys so far
    std::size_t first_node = 0;
    std::size_t depth = 1;  // of what is in it
  };
  struct Anchored {
    SpecNode node;
    std::size_t size = 1, depth = 0;
  };

  SourceSpan span(const YAML::Mark& mark) const {
    return span_at(file_, mark.line + 1, static_cast<std::size_t>(std::max(0, mark.column)));
  }
  // A block belongs to its key.
  SourceSpan collection_span(const YAML::Mark& mark, YAML::EmitterStyle::value style) const {
    const bool has_own_mark = style == YAML::EmitterStyle::Flow || !in_value_position();
    if (!has_own_mark) return stack_.back().key_span;
    const std::string_view line = line_of(file_, mark.line + 1);
    return span_at(file_, mark.line + 1, after_properties(line, static_cast<std::size_t>(mark.column)));
  }
  bool in_key_position() const { return !stack_.empty() && stack_.back().node.is_mapping() && !stack_.back().has_key; }
  bool in_value_position() const { return !stack_.empty() && stack_.back().node.is_mapping() && stack_.back().has_key; }

  void error(SourceSpan where, std::string message, std::string hint) {
    diagnostics_.error(std::move(where), "", std::move(message), std::move(hint));
  }
  void check_size(const SourceSpan& where) {
    if (nodes_ <= kMostNodes) return;
    error(where, fmt::format("more than {} values, with aliases expanded", kMostNodes), "");
    throw Stop{};
  }
  void too_deep(const SourceSpan& where) {
    error(where, fmt::format("nested more than {} deep", kDeepestSpec), "");
    throw Stop{};
  }
  // `fitting`: the tag that this kind of node may have, or "".
  bool check_tag(const std::string& tag, const YAML::Mark& mark, std::string_view fitting) {
    if (tag.empty() || tag == "?" || tag == "!" || tag == fitting) return true;
    const std::string_view line = line_of(file_, mark.line + 1);
    const auto byte = std::min(static_cast<std::size_t>(mark.column), line.size());
    const std::string_view written = line.substr(byte, line.find_first_of(" ,]}", byte) - byte);
    const SourceSpan where = span_at(file_, mark.line + 1, byte, written.size());
    if (tag == "!replace") {
      error(where, "!replace stands before a mapping only", "lists and values replace the parent's anyhow");
    } else if (tag == "!grid") {
      error(where, "!grid stands before a list only", "write for example !grid [0.5, 1, 2]");
    } else {
      error(where, fmt::format("unknown tag '{}'", written.empty() ? tag : std::string(written)),
            "the tags are !replace and !grid");
    }
    return false;
  }
  void check_traps(SpecNode& node) {
    const std::size_t errors_before = diagnostics_.size();
    if (is_boolean_trap(node.text)) {
      error(node.span,
            fmt::format("'{}' without quotes is true or false to some readers and a text to others", node.text),
            fmt::format("write true, false, or '{}' in quotes", node.text));
    } else if (is_octal_trap(node.text)) {
      error(node.span, fmt::format("'{}' is octal or hexadecimal to some readers and decimal to others", node.text),
            "write a decimal number without leading zeros, or a text in quotes");
    } else if (is_not_finite(node.text)) {
      error(node.span, fmt::format("{} is not a finite number", node.text), "");
    }
    node.refused = node.refused || diagnostics_.size() != errors_before;
  }

  void begin(SpecNode node, YAML::anchor_t anchor) {
    if (in_key_position()) bad_key(node.span);
    if (stack_.size() >= kDeepestSpec) too_deep(node.span);
    Open open;
    open.node = std::move(node);
    open.anchor = anchor;
    open.first_node = nodes_;
    stack_.push_back(std::move(open));
  }
  void end() {
    Open open = std::move(stack_.back());
    stack_.pop_back();
    if (!stack_.empty()) stack_.back().depth = std::max(stack_.back().depth, open.depth + 1);
    if (open.anchor != 0) anchors_[open.anchor] = {open.node, nodes_ - open.first_node + 1, open.depth};
    add(std::move(open.node), 0);
  }
  [[noreturn]] void bad_key(const SourceSpan& where) {
    error(where, "a key must be a name", "or is a ',', a ']' or a '}' missing?");
    throw Stop{};
  }

  void add(SpecNode node, YAML::anchor_t anchor) {
    ++nodes_;
    check_size(node.span);
    if (anchor != 0) anchors_[anchor] = {node, 1, 0};
    if (stack_.empty()) {
      root_ = std::move(node);
    } else if (stack_.back().node.is_sequence()) {
      stack_.back().node.items.push_back(std::move(node));
    } else if (!stack_.back().has_key) {
      begin_entry(node);
    } else {
      Open& open = stack_.back();
      if (!open.drop) open.node.entries.push_back({std::move(open.key), std::move(open.key_span), std::move(node)});
      open.has_key = false;
    }
  }
  void begin_entry(const SpecNode& key) {
    if (!key.is_scalar()) bad_key(key.span);
    Open& open = stack_.back();
    open.has_key = true;
    open.key = key.text;
    open.key_span = key.span;
    const auto [first, is_new] = open.lines.try_emplace(key.text, key.span.line);
    const bool merge = key.text == "<<" && !key.quoted;
    open.drop = merge || !is_new;
    if (merge) {
      error(key.span, "merge keys ('<<') are not read",
            "repeat the keys, or put the common part in a file and name it in 'extends'");
    } else if (!is_new) {
      error(key.span, fmt::format("duplicate key '{}'", key.text),
            fmt::format("it is first in line {}", first->second));
    }
  }

  SourceFilePtr file_;
  Diagnostics& diagnostics_;
  SpecNode root_;
  std::vector<Open> stack_;
  std::unordered_map<YAML::anchor_t, Anchored> anchors_;
  std::size_t nodes_ = 0;
  int documents_ = 0;
};

std::string syntax_hint(const std::string& message, std::string_view line) {
  if (line.find("${") != std::string_view::npos)
    return "inside of {...} and [...] an interpolation needs quotes: \"${...}\"";
  namespace text = YAML::ErrorMsg;
  if (message == text::END_OF_MAP || message == text::END_OF_SEQ) return "check the indentation";
  if (message == text::END_OF_MAP_FLOW) return "a ',' or a '}' is missing, or a text needs quotes";
  if (message == text::END_OF_SEQ_FLOW) return "a ',' or a ']' is missing, or a text needs quotes";
  if (message == text::MAP_VALUE) return "a text with ': ' in it needs quotes";
  if (message == text::EOF_IN_SCALAR) return "a closing quote is missing";
  if (message == text::UNKNOWN_ANCHOR)
    return "an alias comes after its anchor; a text that starts with '*' needs quotes";
  return "";
}

SpecNode parse(const std::string& text, const SourceFilePtr& file, Diagnostics& diagnostics) {
  std::istringstream stream(text);
  TreeBuilder builder(file, diagnostics);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop&) {
    return {};
  } catch (const YAML::Exception& exception) {
    const int last = static_cast<int>(file->lines.size());
    const int line = std::clamp(exception.mark.line + 1, 1, std::max(1, last));
    const bool at_end = exception.mark.line + 1 > last;
    const std::size_t byte =
        at_end ? line_of(file, line).size() : static_cast<std::size_t>(std::max(0, exception.mark.column));
    diagnostics.error(span_at(file, line, byte), "", fmt::format("YAML syntax: {}", exception.msg),
                      syntax_hint(exception.msg, line_of(file, line)));
    return {};
  }
  return builder.take_root();
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(std::move(line));
  return lines;
}

// Bytes that no spec should hold, before yaml-cpp gets to see them. Returns whether there are none.
bool check_bytes(const std::string& text, const SourceFilePtr& file, Diagnostics& diagnostics) {
  if (const auto offset = first_invalid_utf8(text)) {
    const auto line =
        static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(*offset), '\n'));
    const std::size_t start = *offset == 0 ? std::string::npos : text.rfind('\n', *offset - 1);
    const std::size_t byte = start == std::string::npos ? *offset : *offset - start - 1;
    diagnostics.error(span_at(file, line + 1, byte), "",
                      fmt::format("byte {} of the file (0x{:02x}) is not UTF-8", *offset,
                                  static_cast<unsigned>(static_cast<unsigned char>(text[*offset]))),
                      "save the file as UTF-8");
    return false;
  }
  bool good = true;
  for (std::size_t i = 0; i < file->lines.size(); ++i) {
    const std::string& line = file->lines[i];
    const std::size_t first = line.find_first_not_of(" \t");
    const std::size_t tab = line.substr(0, first).find('\t');
    if (first != std::string::npos && line[first] != '#' && tab != std::string::npos) {
      diagnostics.error(span_at(file, static_cast<int>(i) + 1, tab), "", "a tab in the indentation", "use spaces");
      good = false;
    }
    for (std::size_t at = 0; at < line.size(); ++at) {
      const auto byte = static_cast<unsigned char>(line[at]);
      if ((byte >= 0x20 || byte == '\t') && byte != 0x7F) continue;
      diagnostics.error(span_at(file, static_cast<int>(i) + 1, at), "",
                        fmt::format("a control character (0x{:02x})", static_cast<unsigned>(byte)), "remove it");
      good = false;
    }
  }
  return good;
}

std::string with_plain_line_ends(std::string text) {
  if (text.compare(0, 3, "\xEF\xBB\xBF") == 0) text.erase(0, 3);
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    result += text[i];
  }
  return result;
}

std::string why_unreadable(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return "there is no such file";
  if (std::filesystem::is_directory(status)) return "it is a folder, and a spec is a file";
  return "it can not be read";
}

std::string near_files(const std::filesystem::path& path) {
  std::vector<std::string> names;
  std::error_code error;
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".yaml" || extension == ".yml") names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  const auto near = closest(path.filename().string(), names);
  return near ? fmt::format("did you mean '{}'?", (path.parent_path() / *near).string()) : "";
}

}  // namespace

SpecNode read_yaml_text(const std::string& text, const std::string& name, Diagnostics& diagnostics) {
  const std::string content = with_plain_line_ends(text);
  const SourceFilePtr file = std::make_shared<const SourceFile>(SourceFile{name, split_lines(content)});
  if (!check_bytes(content, file, diagnostics)) return {};
  const std::size_t errors_before = diagnostics.size();
  SpecNode root = parse(content, file, diagnostics);
  if (diagnostics.size() != errors_before || root.is_mapping()) return root;
  SourceSpan whole;
  whole.file = file;
  if (root.is_null()) {
    diagnostics.error(whole, "", "the spec is empty: expected a mapping of keys", "");
  } else {
    diagnostics.error(root.span, "", fmt::format("expected a mapping of keys, found {}", describe_value(root)), "");
  }
  return {};
}

SpecNode read_yaml(const std::string& path, Diagnostics& diagnostics, const SourceSpan& from) {
  std::ifstream stream(path, std::ios::binary);
  std::string text;
  const bool is_file = stream && !std::filesystem::is_directory(path);
  if (is_file) {
    text.resize(kMostBytes + 1);
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
  }
  if (!is_file || stream.bad()) {
    diagnostics.error(from, "", fmt::format("can not read '{}': {}", path, why_unreadable(path)), near_files(path));
    return {};
  }
  if (text.size() > kMostBytes) {
    diagnostics.error(from, "", fmt::format("'{}' has more than {} MB: this is no spec", path, kMostBytes >> 20), "");
    return {};
  }
  return read_yaml_text(text, path, diagnostics);
}

SpecNode read_yaml_value(const std::shared_ptr<const SourceFile>& file, std::size_t offset, Diagnostics& diagnostics) {
  const std::string& line = file->lines.front();
  if (!check_bytes(line, file, diagnostics)) return {};
  // Spaces instead of the key, so that marks are those of the whole line.
  return parse(std::string(offset, ' ') + line.substr(offset), file, diagnostics);
}

}  // namespace jari
