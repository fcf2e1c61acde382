#include "framework/store/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"
#include "framework/store/atomic_file.hpp"
#include "framework/store/system_calls.hpp"

namespace jari {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::pair<JournalKind, std::string_view> kKindNames[] = {
    {JournalKind::start, "start"},   {JournalKind::resume, "resume"},   {JournalKind::state, "state"},
    {JournalKind::finish, "finish"}, {JournalKind::failure, "failure"}, {JournalKind::metrics, "metrics"}};

std::string_view kind_name(JournalKind kind) {
  for (const auto& [value, name] : kKindNames)
    if (value == kind) return name;
  JARI_ASSERT(false, "a journal kind without a name");
}

std::optional<JournalKind> kind_named(std::string_view text) {
  for (const auto& [value, name] : kKindNames)
    if (name == text) return value;
  return std::nullopt;
}

Json encode_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

// The library itself would turn 1e300 or true into some integer.
std::int64_t decode_integer(const Json& json) {
  const bool fits = json.is_number_integer() && !(json.is_number_unsigned() &&
                                                  json.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max());
  if (!fits) throw StoreError(json.dump() + " is no 64-bit integer");
  return json.get<std::int64_t>();
}

double decode_number(const Json& json) {
  if (json.is_number()) return json.get<double>();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto& text = json.get_ref<const std::string&>();
  if (text == "inf") return infinity;
  if (text == "-inf") return -infinity;
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  throw StoreError("'" + text + "' is no number");
}

// The checksum stands last and has a fixed length, so that the line without it is simply the line's beginning.
constexpr std::string_view kChecksumKey = ",\"checksum\":\"";
constexpr std::size_t kSuffixLength = kChecksumKey.size() + 16 + 2;  // 16 digits, a quote, a brace

std::string checksum_suffix(std::string_view line_without) {
  return fmt::format("{}{:016x}\"}}", kChecksumKey, hash64(line_without));
}

std::string encode(const JournalRecord& record) {
  Json json{{"kind", kind_name(record.kind)}, {"sequence", record.sequence}, {"step", record.step}};
  if (record.kind == JournalKind::metrics) {
    Json& values = json["values"] = Json::object();
    for (const auto& [name, value] : record.values) values[name] = encode_number(value);
  } else {
    Json& details = json["details"] = Json::object();
    for (const auto& [name, text] : record.details) details[name] = text;
  }
  // Bytes that are no UTF-8 (say, of a file name in an error's text) must not keep the record from being written.
  std::string line = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  const std::string suffix = checksum_suffix(line);
  line.pop_back();
  return line + suffix;
}

// The record of a line, or the reason why it is none.
std::variant<JournalRecord, std::string> decode(std::string_view line) {
  if (line.size() <= kSuffixLength) return "it is too short to be a record";
  const std::string without = std::string(line.substr(0, line.size() - kSuffixLength)) + "}";
  if (line.substr(line.size() - kSuffixLength) != checksum_suffix(without)) return "its checksum does not match";
  try {
    const Json json = Json::parse(without);
    JournalRecord record;
    const auto kind = kind_named(json.at("kind").get_ref<const std::string&>());
    if (!kind) return fmt::format("its kind '{}' is unknown", json.at("kind").get<std::string>());
    record.kind = *kind;
    record.sequence = decode_integer(json.at("sequence"));
    record.step = decode_integer(json.at("step"));
    if (json.contains("values"))
      for (const auto& [name, value] : json["values"].items()) record.values.emplace_back(name, decode_number(value));
    if (json.contains("details"))
      for (const auto& [name, text] : json["details"].items())
        record.details.emplace_back(name, text.get<std::string>());
    return record;
  } catch (const std::exception& error) {
    return fmt::format("it is no record ({})", error.what());
  }
}

// The same, of the record that stands at this place in the file.
std::variant<JournalRecord, std::string> decode(std::string_view line, std::int64_t expected_sequence) {
  auto decoded = decode(line);
  const auto* record = std::get_if<JournalRecord>(&decoded);
  if (record != nullptr && record->sequence != expected_sequence)
    return fmt::format("its sequence number is {}, expected {}", record->sequence, expected_sequence);
  return decoded;
}

// Those of the lines that are whole; what is torn or damaged is left out.
std::vector<JournalRecord> whole_records(std::string_view text) {
  std::vector<JournalRecord> records;
  for (std::size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
    auto decoded = decode(text.substr(0, end));
    if (auto* record = std::get_if<JournalRecord>(&decoded)) records.push_back(std::move(*record));
  }
  return records;
}

void rewrite(const std::filesystem::path& path, std::vector<JournalRecord>& records) {
  std::string text;
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i].sequence = static_cast<std::int64_t>(i);
    text += encode(records[i]) + "\n";
  }
  write_file_atomically(path, text);
}

}  // namespace

JournalContents read_journal(const std::filesystem::path& path) {
  JournalContents contents;
  std::error_code status;
  if (!std::filesystem::exists(path, status) && !status) return contents;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, status)) throw_system_error(path, "read", file ? EISDIR : errno);
  std::ostringstream buffer;
  buffer << file.rdbuf();
  const std::string text = std::move(buffer).str();

  std::size_t begin = 0;
  for (std::int64_t number = 1; begin < text.size(); ++number) {
    const std::size_t end = text.find('\n', begin);
    std::string reason = "it is torn: it has no line end";
    if (end != std::string::npos) {
      auto decoded = decode(std::string_view(text).substr(begin, end - begin), number - 1);
      if (auto* record = std::get_if<JournalRecord>(&decoded)) {
        contents.records.push_back(std::move(*record));
        begin = end + 1;
        continue;
      }
      reason = std::get<std::string>(decoded);
    }
    for (std::size_t i = begin; i < text.size(); i = std::min(text.size(), text.find('\n', i)) + 1)
      ++contents.dropped_lines;
    contents.dropped = fmt::format("{}:{}: line dropped: {}", path.string(), number, reason);
    if (contents.dropped_lines > 1)
      contents.dropped += fmt::format("; {} lines after it are dropped too", contents.dropped_lines - 1);
    break;
  }
  return contents;
}

JournalEnds read_journal_ends(const std::filesystem::path& path, std::size_t bytes) {
  JournalEnds ends;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw_system_error(path, "read", errno);
  const auto size = static_cast<std::size_t>(file.tellg());
  const auto read = [&](std::size_t begin, std::size_t count) {
    std::string text(count, '\0');
    file.seekg(static_cast<std::streamoff>(begin));
    file.read(text.data(), static_cast<std::streamsize>(count));
    return text;
  };
  std::size_t window = std::min(size, bytes);
  for (;; window = std::min(size, 4 * window)) {  // until the last line is in it
    const std::string text = read(size - window, window);
    ends.last = whole_records(std::string_view(text).substr(window < size ? text.find('\n') + 1 : 0));
    if (!ends.last.empty() || window == size) break;
  }
  std::string text = read(0, window);
  while (window < size && text.find('\n') == std::string::npos) text = read(0, window = std::min(size, 4 * window));
  auto first = decode(std::string_view(text).substr(0, text.find('\n')), 0);
  if (auto* record = std::get_if<JournalRecord>(&first)) ends.first = std::move(*record);
  return ends;
}

JournalContents rewind_journal(const std::filesystem::path& path, std::int64_t step) {
  JournalContents contents = read_journal(path);
  const auto removed = std::erase_if(contents.records, [step](const JournalRecord& record) {
    return record.kind == JournalKind::metrics && record.step > step;
  });
  if (removed > 0 || contents.dropped_lines > 0) rewrite(path, contents.records);
  return contents;
}

std::vector<MetricSeries> metric_series(const std::vector<JournalRecord>& records) {
  std::vector<MetricSeries> series;
  std::unordered_map<std::string, std::size_t> index;
  for (const JournalRecord& record : records) {
    for (const auto& [name, value] : record.values) {
      const auto [place, is_new] = index.try_emplace(name, series.size());
      if (is_new) series.push_back({name, {}, {}});
      series[place->second].steps.push_back(record.step);
      series[place->second].values.push_back(value);
    }
  }
  return series;
}

JournalWriter::JournalWriter(std::filesystem::path path) : path_(std::move(path)) {
  JournalContents contents = read_journal(path_);
  dropped_ = contents.dropped;
  if (contents.dropped_lines > 0) rewrite(path_, contents.records);
  next_sequence_ = static_cast<std::int64_t>(contents.records.size());
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw_system_error(path_, "write", errno);
}

JournalWriter::~JournalWriter() { ::close(descriptor_); }

void JournalWriter::event(JournalKind kind, std::int64_t step, JournalDetails details) {
  JARI_ASSERT(kind != JournalKind::metrics, "metric rows are written with metrics()");
  append({kind, 0, step, {}, std::move(details)});
}

void JournalWriter::metrics(std::int64_t step, MetricValues values) {
  append({JournalKind::metrics, 0, step, std::move(values), {}});
}

void JournalWriter::append(JournalRecord record) {
  record.sequence = next_sequence_;
  struct stat before {};
  if (::fstat(descriptor_, &before) != 0) throw_system_error(path_, "write", errno);
  if (const int error = write_all(descriptor_, encode(record) + "\n"); error != 0) {
    // Half a line would be glued to the next one. If even this fails, the reader drops the torn line.
    [[maybe_unused]] const int ignored = ::ftruncate(descriptor_, before.st_size);
    throw_system_error(path_, "write", error);
  }
  ++next_sequence_;
}

void JournalWriter::sync() {
  if (::fdatasync(descriptor_) != 0) throw_system_error(path_, "write", errno);
}

}  // namespace jari
