#pragma once
// journal.jsonl: what happened in a run, as it happens. Append-only, one record a line: a JSON object whose last member
// is the XXH3-64 checksum of the line without it, and which counts its place in the file (`sequence`, from 0). A
// process killed at any moment leaves at most one torn line at the end, which the reader drops and names.
//
//   {"kind":"metrics","sequence":7,"step":500,"values":{"train/loss":0.25},"checksum":"..."}
//   {"kind":"start","sequence":0,"step":0,"details":{"device":"cpu"},"checksum":"..."}
//
// Numbers round-trip bit for bit; those that JSON lacks are the strings "nan", "inf", "-inf".

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/store/metric_series.hpp"

namespace jari {

enum class JournalKind { start, resume, state, finish, failure, metrics };

using MetricValues = std::vector<std::pair<std::string, double>>;
using JournalDetails = std::vector<std::pair<std::string, std::string>>;

struct JournalRecord {
  JournalKind kind = JournalKind::state;
  std::int64_t sequence = 0;
  std::int64_t step = 0;
  MetricValues values;     // of kind metrics
  JournalDetails details;  // of the other kinds

  bool operator==(const JournalRecord&) const = default;
};

struct JournalContents {
  std::vector<JournalRecord> records;  // all up to the first line that is torn or damaged
  std::int64_t dropped_lines = 0;
  std::string dropped;  // "" or which line is bad, why, and how many lines were dropped: for the log
};

// A journal that does not exist is empty. StoreError if it can not be read.
JournalContents read_journal(const std::filesystem::path& path);

// What a glance at a run needs of a journal of any length.
struct JournalEnds {
  std::optional<JournalRecord> first;  // nothing if it is damaged
  std::vector<JournalRecord> last;     // the whole records among the last bytes, in order
};

// Reads `bytes` at either end, more where one line is longer. StoreError if the file can not be read.
JournalEnds read_journal_ends(const std::filesystem::path& path, std::size_t bytes = 16384);

// For a run that resumes from a checkpoint at `step`: drops all metric rows after it (and damaged lines), so that the
// metrics become those of a run that was never disturbed. Events stay. Rewrites the file atomically, and only if
// something is to be dropped. Returns what is left.
JournalContents rewind_journal(const std::filesystem::path& path, std::int64_t step);

// The metric rows, by metric, in order of first appearance.
std::vector<MetricSeries> metric_series(const std::vector<JournalRecord>& records);

class JournalWriter {
 public:
  // Opens for appending and goes on with the sequence. A torn tail is cut off first; `dropped()` tells of it.
  explicit JournalWriter(std::filesystem::path path);
  ~JournalWriter();
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  // Each line is handed to the system at once: it survives the death of the process. After a StoreError the file holds
  // no part of the line.
  void event(JournalKind kind, std::int64_t step, JournalDetails details = {});
  void metrics(std::int64_t step, MetricValues values);
  void sync();  // survives a power cut too: call it before a checkpoint is written

  const std::string& dropped() const { return dropped_; }
  std::int64_t records() const { return next_sequence_; }  // in the file

 private:
  void append(JournalRecord record);

  std::filesystem::path path_;
  std::string dropped_;
  int descriptor_ = -1;
  std::int64_t next_sequence_ = 0;
};

}  // namespace jari
