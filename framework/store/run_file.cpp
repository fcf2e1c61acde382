#include "framework/store/run_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/store/hdf5_file.hpp"

namespace jari {
namespace {

constexpr const char* kFormat = "jari-run";

// -- attributes of the root

void write_attributes(Hdf5File& file, const RunAttributes& attributes) {
  file.set_attribute("", "format", std::string(kFormat));
  file.set_attribute("", "version", std::int64_t{kRunFileVersion});
  file.set_attribute("", "experiment", attributes.experiment);
  file.set_attribute("", "trial", attributes.trial);
  file.set_attribute("", "label", attributes.label);
  file.set_attribute("", "index", attributes.index);
  file.set_attribute("", "seed", attributes.seed);
  file.set_attribute("", "status", attributes.status);
  if (!attributes.message.empty()) file.set_attribute("", "message", attributes.message);
  file.set_attribute("", "jari_version", attributes.jari_version);
  file.set_attribute("", "git", attributes.git);
  file.set_attribute("", "created", attributes.created);
  file.set_attribute("", "device", attributes.device);
  file.set_attribute("", "threads", attributes.threads);
}

RunAttributes read_attributes(const Hdf5File& file) {
  RunAttributes attributes;
  attributes.experiment = file.text_attribute("", "experiment");
  attributes.trial = file.text_attribute("", "trial");
  attributes.label = file.text_attribute("", "label");
  attributes.index = file.integer_attribute("", "index");
  attributes.seed = static_cast<std::uint64_t>(file.integer_attribute("", "seed"));
  attributes.status = file.text_attribute("", "status");
  if (file.attribute("", "message")) attributes.message = file.text_attribute("", "message");
  attributes.jari_version = file.text_attribute("", "jari_version");
  attributes.git = file.text_attribute("", "git");
  attributes.created = file.text_attribute("", "created");
  attributes.device = file.text_attribute("", "device");
  attributes.threads = file.integer_attribute("", "threads");
  return attributes;
}

Hdf5File open_run(const std::filesystem::path& path) {
  Hdf5File file = Hdf5File::open(path);
  const auto format = file.attribute("", "format");
  if (!format || *format != Hdf5Attribute(std::string(kFormat)))
    throw StoreError(
        fmt::format("{}: is an HDF5 file, but no run of jari (its attribute 'format' is not '{}'); correct "
                    "the path",
                    path.string(), kFormat));
  const std::int64_t version = file.integer_attribute("", "version");
  if (version > kRunFileVersion)
    throw StoreError(
        fmt::format("{}: run file version {} is newer than this jari, which reads up to {}; use the jari "
                    "that wrote it ({}), or a newer one",
                    path.string(), version, kRunFileVersion, file.text_attribute("", "jari_version")));
  return file;
}

// -- named arrays

void write_array(Hdf5File& file, const std::string& group, const RecordArray& array) {
  const std::string path = group + "/" + array.name;
  if (!array.axes.empty() && array.axes.size() != array.shape.size())
    throw StoreError(fmt::format("{}: /{}: {} axes are named, but it has {}; name each axis once", file.path().string(),
                                 path, array.axes.size(), array.shape.size()));
  std::visit([&](const auto& values) { file.write(path, array.shape, values); }, array.values);
  if (!array.axes.empty()) file.set_attribute(path, "axes", array.axes);
}

template <class T>
void read_into(const Hdf5File& file, const std::string& path, RecordArray& array) {
  auto stored = file.read<T>(path);
  array.shape = std::move(stored.shape);
  array.values = std::move(stored.values);
}

RecordArray read_array(const Hdf5File& file, const std::string& group, const std::string& name) {
  const std::string path = group + "/" + name;
  RecordArray array;
  array.name = name;
  switch (file.element(path)) {
    case Hdf5Element::f32:
      read_into<float>(file, path, array);
      break;
    case Hdf5Element::f64:
      read_into<double>(file, path, array);
      break;
    case Hdf5Element::u8:
    case Hdf5Element::i32:
      read_into<std::int32_t>(file, path, array);
      break;
    case Hdf5Element::i64:
      read_into<std::int64_t>(file, path, array);
      break;
    case Hdf5Element::string:
      read_into<std::string>(file, path, array);
      break;
  }
  const auto axes = file.attribute(path, "axes");
  if (axes && std::holds_alternative<std::vector<std::string>>(*axes))
    array.axes = std::get<std::vector<std::string>>(*axes);
  return array;
}

std::vector<RecordArray> read_arrays(const Hdf5File& file, const std::string& group) {
  std::vector<RecordArray> arrays;
  for (const std::string& name : file.arrays_below(group)) arrays.push_back(read_array(file, group, name));
  return arrays;
}

// -- metrics: the group <name>/{step,value}

constexpr std::string_view kValueEnding = "/value";

std::vector<std::string> metric_names(const Hdf5File& file) {
  std::vector<std::string> names;
  for (std::string path : file.arrays_below("metrics")) {
    if (!path.ends_with(kValueEnding)) continue;
    path.resize(path.size() - kValueEnding.size());
    names.push_back(std::move(path));
  }
  return names;
}

void write_metric(Hdf5File& file, const MetricSeries& series) {
  const std::string group = "metrics/" + series.name;
  const Hdf5Shape shape{static_cast<std::int64_t>(series.steps.size())};
  file.write(group + "/step", shape, series.steps);
  file.write(group + "/value", shape, series.values);
}

// Each value has its step, in lists.
void require_series(const Hdf5File& file, const MetricSeries& series) {
  if (series.steps.size() == series.values.size()) return;
  throw StoreError(
      fmt::format("{}: /metrics/{}: {} steps, but {} values; remove the file and run again, or rebuild it "
                  "with 'jari repair'",
                  file.path().string(), series.name, series.steps.size(), series.values.size()));
}

MetricSeries read_metric(const Hdf5File& file, const std::string& name) {
  const std::string group = "metrics/" + name;
  auto steps = file.read<std::int64_t>(group + "/step");
  auto values = file.read<double>(group + "/value");
  if (steps.shape.size() > 1) steps.values.clear();  // a table has no steps
  if (values.shape.size() > 1) values.values.clear();
  MetricSeries series{name, std::move(steps.values), std::move(values.values)};
  require_series(file, series);
  return series;
}

std::vector<MetricSeries> read_metrics(const Hdf5File& file) {
  std::vector<MetricSeries> metrics;
  for (const std::string& name : metric_names(file)) metrics.push_back(read_metric(file, name));
  return metrics;
}

// The same as of read_metrics(), in one walk over the file.
std::vector<MetricSummary> summarize_metrics(const Hdf5File& file) {
  const auto arrays = file.numbers_below("metrics", 1);
  std::vector<MetricSummary> summaries;
  for (const auto& [path, values] : arrays) {
    if (!path.ends_with(kValueEnding) || values.empty()) continue;
    MetricSeries series{path.substr(0, path.size() - kValueEnding.size()), {}, values};
    const auto steps = std::ranges::find(arrays, series.name + "/step",
                                         [](const auto& each) -> const std::string& { return each.first; });
    if (steps != arrays.end()) series.steps.assign(steps->second.begin(), steps->second.end());
    require_series(file, series);
    summaries.push_back(summarize(series));
  }
  return summaries;
}

// -- analyses: arrays, and numbers as arrays without axes

void write_analysis(Hdf5File& file, const RecordAnalysis& analysis) {
  const std::string group = "analyses/" + analysis.name;
  file.make_group(group);
  for (const RecordArray& array : analysis.arrays) write_array(file, group, array);
  for (const auto& [name, value] : analysis.numbers) file.write(group + "/" + name, {}, std::vector<double>{value});
  if (!analysis.skipped.empty()) file.set_attribute(group, "skipped", analysis.skipped);
}

std::string reason_to_skip(const Hdf5File& file, const std::string& analysis) {
  const std::string group = "analyses/" + analysis;
  return file.attribute(group, "skipped") ? file.text_attribute(group, "skipped") : "";
}

bool is_number(const Hdf5File& file, const std::string& path) {
  return file.shape(path).empty() && file.element(path) == Hdf5Element::f64;
}

RecordAnalysis read_analysis(const Hdf5File& file, const std::string& name) {
  const std::string group = "analyses/" + name;
  RecordAnalysis analysis;
  analysis.name = name;
  for (const std::string& child : file.arrays_below(group)) {
    const std::string path = group + "/" + child;
    if (is_number(file, path))
      analysis.numbers.emplace_back(child, file.read<double>(path).values.front());
    else
      analysis.arrays.push_back(read_array(file, group, child));
  }
  analysis.skipped = reason_to_skip(file, name);
  return analysis;
}

// -- environment: attributes of the group

void write_environment(Hdf5File& file, const RunRecord& record) {
  file.make_group("environment");
  for (const auto& [name, text] : record.environment) file.set_attribute("environment", name, text);
  for (const auto& [name, number] : record.environment_numbers) file.set_attribute("environment", name, number);
}

void read_environment(const Hdf5File& file, RunRecord& record) {
  if (!file.is_group("environment")) return;
  for (const std::string& name : file.attribute_names("environment")) {
    const auto value = file.attribute("environment", name);
    if (const auto* text = std::get_if<std::string>(&*value))
      record.environment.emplace_back(name, *text);
    else
      record.environment_numbers.emplace_back(name, file.number_attribute("environment", name));
  }
}

// -- digests: /digests/{step,digest}

void write_digests(Hdf5File& file, const std::vector<std::pair<std::int64_t, std::string>>& digests) {
  if (digests.empty()) return;
  std::vector<std::int64_t> steps;
  std::vector<std::string> texts;
  for (const auto& [step, digest] : digests) {
    steps.push_back(step);
    texts.push_back(digest);
  }
  const Hdf5Shape shape{static_cast<std::int64_t>(steps.size())};
  file.write("digests/step", shape, steps);
  file.write("digests/digest", shape, texts);
}

std::vector<std::pair<std::int64_t, std::string>> read_digests(const Hdf5File& file) {
  std::vector<std::pair<std::int64_t, std::string>> digests;
  if (!file.is_group("digests")) return digests;
  const auto steps = file.read<std::int64_t>("digests/step").values;
  auto texts = file.read<std::string>("digests/digest").values;
  for (std::size_t i = 0; i < std::min(steps.size(), texts.size()); ++i)
    digests.emplace_back(steps[i], std::move(texts[i]));
  return digests;
}

}  // namespace

RunReader::RunReader(const std::filesystem::path& path) : file_(std::make_unique<Hdf5File>(open_run(path))) {}
RunReader::RunReader(RunReader&&) noexcept = default;
RunReader::~RunReader() = default;

std::optional<MetricSeries> RunReader::metric(const std::string& name) const {
  if (!file_->exists("metrics/" + name + "/value")) return std::nullopt;
  return read_metric(*file_, name);
}

std::vector<std::string> RunReader::analyses() const { return file_->children("analyses"); }

std::string RunReader::skipped(const std::string& analysis) const { return reason_to_skip(*file_, analysis); }

std::vector<std::string> RunReader::arrays(const std::string& group) const { return file_->arrays_below(group); }

std::optional<RecordArray> RunReader::array(const std::string& path) const {
  const std::size_t slash = path.find('/');
  if (slash == std::string::npos || !file_->exists(path) || file_->is_group(path)) return std::nullopt;
  return read_array(*file_, path.substr(0, slash), path.substr(slash + 1));
}

void write_run_file(const std::filesystem::path& path, const RunRecord& record) {
  Hdf5File file = Hdf5File::create(path);
  write_attributes(file, record.attributes);
  file.write_text("spec/resolved", record.spec_resolved);
  file.write_text("spec/source", record.spec_source);
  file.write_text("spec/overrides", record.spec_overrides);
  for (const char* group : {"metrics", "evaluate", "weights", "analyses"}) file.make_group(group);
  for (const MetricSeries& series : record.metrics) write_metric(file, series);
  for (const RecordArray& array : record.evaluate) write_array(file, "evaluate", array);
  for (const RecordArray& array : record.weights) write_array(file, "weights", array);
  write_digests(file, record.digests);
  if (!record.vocabulary_tokens.empty()) {
    const Hdf5Shape shape{static_cast<std::int64_t>(record.vocabulary_tokens.size())};
    std::vector<std::string> tokens;  // pieces of bytes are not always UTF-8
    for (const std::string& token : record.vocabulary_tokens) tokens.push_back(as_utf8(token));
    file.write("vocabulary/token", shape, tokens);
    file.write("vocabulary/count", shape, record.vocabulary_counts);
    if (!record.tokenizer_model.empty()) file.write_text("vocabulary/tokenizer", record.tokenizer_model);
  }
  for (const RecordAnalysis& analysis : record.analyses) write_analysis(file, analysis);
  write_environment(file, record);
  file.save();
}

RunRecord read_run_file(const std::filesystem::path& path) {
  const Hdf5File file = open_run(path);
  RunRecord record;
  record.attributes = read_attributes(file);
  record.spec_resolved = file.read_text("spec/resolved");
  record.spec_source = file.read_text("spec/source");
  record.spec_overrides = file.read_text("spec/overrides");
  record.metrics = read_metrics(file);
  record.evaluate = read_arrays(file, "evaluate");
  record.weights = read_arrays(file, "weights");
  record.digests = read_digests(file);
  if (file.is_group("vocabulary")) {
    record.vocabulary_tokens = file.read<std::string>("vocabulary/token").values;
    for (std::string& token : record.vocabulary_tokens) token = bytes_of_utf8(token);
    record.vocabulary_counts = file.read<std::int64_t>("vocabulary/count").values;
    if (file.exists("vocabulary/tokenizer")) record.tokenizer_model = file.read_text("vocabulary/tokenizer");
  }
  for (const std::string& name : file.children("analyses")) record.analyses.push_back(read_analysis(file, name));
  read_environment(file, record);
  return record;
}

RunSummary read_run_summary(const std::filesystem::path& path) {
  const Hdf5File file = open_run(path);
  RunSummary summary;
  summary.path = path;
  summary.attributes = read_attributes(file);
  summary.spec_resolved = file.read_text("spec/resolved");
  summary.metrics = summarize_metrics(file);
  for (const auto& [name, value] : file.numbers_below("analyses", 0))
    if (value.size() == 1) summary.numbers.emplace_back("analyses/" + name, value.front());
  return summary;
}

RunOutline read_run_outline(const std::filesystem::path& path) {
  const Hdf5File file = open_run(path);
  RunOutline outline;
  outline.attributes = read_attributes(file);
  if (file.is_group("environment") && file.attribute("environment", "seconds_train"))
    outline.seconds_train = file.number_attribute("environment", "seconds_train");
  return outline;
}

std::optional<double> RunSummary::find(const std::string& name, MetricValue value) const {
  const auto metric = std::ranges::find(metrics, name, &MetricSummary::name);
  if (metric != metrics.end()) return value == MetricValue::best ? metric->best : metric->last;
  const auto number =
      std::ranges::find(numbers, name, [](const auto& each) -> const std::string& { return each.first; });
  if (number == numbers.end()) return std::nullopt;
  return number->second;
}

}  // namespace jari
