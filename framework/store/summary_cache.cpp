#include "framework/store/summary_cache.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>

#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/version.hpp"
#include "framework/store/atomic_file.hpp"

namespace jari {
namespace {

// Raise it when RunSummary changes, or how one is made. Then entries: the size of a record (8 bytes), the record, its
// XXH3-64. Numbers are the machine's own: the file never leaves it.
constexpr int kVersion = 1;

std::string header() { return fmt::format("jari-summaries {} {}\n", kVersion, version()); }

class Writer {
 public:
  template <class T>
  void number(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view value) {
    number<std::uint64_t>(value.size());
    bytes_.append(value);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Past the end all reads give nothing, and `failed()` tells.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  T number() {
    T value{};
    const std::string_view part = take(sizeof value);
    if (!failed_) std::memcpy(&value, part.data(), sizeof value);
    return value;
  }
  std::string_view text() { return take(number<std::uint64_t>()); }
  std::string_view take(std::uint64_t size) {
    if (failed_ || size > bytes_.size()) {
      failed_ = true;
      return {};
    }
    const std::string_view part = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return part;
  }
  bool failed() const { return failed_; }
  bool at_end() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool failed_ = false;
};

void write_identity(Writer& writer, const FileIdentity& identity) {
  writer.number(identity.device);
  writer.number(identity.inode);
  writer.number(identity.size);
  writer.number(identity.modified);
  writer.number(identity.changed);
}

FileIdentity read_identity(Reader& reader) {
  FileIdentity identity;
  identity.device = reader.number<std::uint64_t>();
  identity.inode = reader.number<std::uint64_t>();
  identity.size = reader.number<std::uint64_t>();
  identity.modified = reader.number<std::int64_t>();
  identity.changed = reader.number<std::int64_t>();
  return identity;
}

// `Attributes` is RunAttributes, to write or to read into.
template <class Attributes>
auto texts_of(Attributes& a) {
  return std::array{&a.experiment,   &a.trial, &a.label,   &a.status, &a.message,
                    &a.jari_version, &a.git,   &a.created, &a.device};
}

void write_summary(Writer& writer, const RunSummary& summary) {
  const RunAttributes& a = summary.attributes;
  for (const std::string* text : texts_of(a)) writer.text(*text);
  writer.number(a.index);
  writer.number(a.seed);
  writer.number(a.threads);
  writer.text(summary.spec_resolved);
  writer.number<std::uint64_t>(summary.metrics.size());
  for (const MetricSummary& metric : summary.metrics) {
    writer.text(metric.name);
    writer.number(metric.last);
    writer.number(metric.best);
    writer.number(metric.worst);
    writer.number(metric.best_step);
  }
  writer.number<std::uint64_t>(summary.numbers.size());
  for (const auto& [name, value] : summary.numbers) {
    writer.text(name);
    writer.number(value);
  }
}

RunSummary read_summary(Reader& reader) {
  RunSummary summary;
  RunAttributes& a = summary.attributes;
  for (std::string* text : texts_of(a)) *text = reader.text();
  a.index = reader.number<std::int64_t>();
  a.seed = reader.number<std::uint64_t>();
  a.threads = reader.number<std::int64_t>();
  summary.spec_resolved = reader.text();
  for (auto left = reader.number<std::uint64_t>(); left > 0 && !reader.failed(); --left) {
    MetricSummary& metric = summary.metrics.emplace_back();
    metric.name = reader.text();
    metric.last = reader.number<double>();
    metric.best = reader.number<double>();
    metric.worst = reader.number<double>();
    metric.best_step = reader.number<std::int64_t>();
  }
  for (auto left = reader.number<std::uint64_t>(); left > 0 && !reader.failed(); --left) {
    std::string name(reader.text());
    summary.numbers.emplace_back(std::move(name), reader.number<double>());
  }
  return summary;
}

std::int64_t nanoseconds(const timespec& time) { return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

std::string read_if_there(const std::filesystem::path& path) {
  if (!identify_file(path)) return "";  // a stream takes a folder for a file
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return "";
  std::string bytes(static_cast<std::size_t>(std::max<std::streamoff>(file.tellg(), 0)), '\0');
  file.seekg(0);
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return "";
  return bytes;
}

void append_entry(std::string& bytes, std::string_view record) {
  Writer size, checksum;
  size.number<std::uint64_t>(record.size());
  checksum.number(hash64(record));
  bytes += size.take();
  bytes += record;
  bytes += checksum.take();
}

}  // namespace

std::optional<FileIdentity> identify_file(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
                      nanoseconds(status.st_mtim), nanoseconds(status.st_ctim)};
}

SummaryCache::SummaryCache(std::filesystem::path folder, std::chrono::nanoseconds settling)
    : folder_(std::move(folder)), settling_(settling), bytes_(read_if_there(folder_ / kSummariesFile)) {
  if (!bytes_.starts_with(header())) return;
  Reader file(std::string_view(bytes_).substr(header().size()));
  while (!file.at_end()) {
    const std::string_view record = file.text();
    const auto checksum = file.number<std::uint64_t>();
    if (file.failed()) return;
    if (checksum != hash64(record)) continue;
    Reader reader(record);
    const std::string name(reader.text());
    if (!reader.failed()) entries_.insert_or_assign(name, record);
  }
}

std::optional<RunSummary> SummaryCache::find(const std::string& name, const FileIdentity& identity) const {
  const auto entry = entries_.find(name);
  if (entry == entries_.end()) return std::nullopt;
  Reader reader(entry->second);
  reader.text();
  if (read_identity(reader) != identity) return std::nullopt;
  RunSummary summary = read_summary(reader);
  if (reader.failed() || !reader.at_end()) return std::nullopt;
  summary.path = folder_ / name;
  return summary;
}

void SummaryCache::put(const std::string& name, const FileIdentity& identity, const RunSummary& summary) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  if (now - std::chrono::nanoseconds(std::max(identity.modified, identity.changed)) < settling_) return;
  Writer writer;
  writer.text(name);
  write_identity(writer, identity);
  write_summary(writer, summary);
  added_.insert_or_assign(name, writer.take());
}

void SummaryCache::save() const {
  if (added_.empty()) return;
  std::string bytes = header();
  for (const auto& [name, record] : entries_) {
    if (added_.contains(name)) continue;
    Reader reader(record);
    reader.text();
    if (read_identity(reader) == identify_file(folder_ / name)) append_entry(bytes, record);
  }
  for (const auto& [name, record] : added_) append_entry(bytes, record);
  try {
    write_file_atomically(folder_ / kSummariesFile, bytes);
  } catch (const StoreError&) {
    // A read-only folder, a full disk: the next comparison reads the run files again.
  }
}

}  // namespace jari
