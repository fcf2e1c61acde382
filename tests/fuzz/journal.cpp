// The journal's reader: the bytes as they are, and as records with the right checksums.

#include "framework/store/journal.hpp"

#include <algorithm>

#include "tests/fuzz/expect.hpp"
#include "tests/fuzz/sealed_file.hpp"

namespace jari::fuzz {
namespace {

JournalContents check_reading(const std::filesystem::path& path) {
  JournalContents contents = read_journal(path);
  expect((contents.dropped_lines == 0) == contents.dropped.empty(), "what is dropped is told");
  std::size_t values = 0, in_series = 0;
  for (const JournalRecord& record : contents.records) values += record.values.size();
  for (const MetricSeries& series : metric_series(contents.records)) in_series += series.values.size();
  expect(values == in_series, "every metric row is in a series");
  const JournalEnds ends = read_journal_ends(path, 256);
  expect(!ends.first || (!contents.records.empty() && ends.first->step == contents.records.front().step),
         "the first record is the first");
  return contents;
}

// What is kept is written as the reader will find it, so that a second reading drops nothing.
void check_going_on(const std::filesystem::path& path) {
  const JournalContents rewound = rewind_journal(path, 100);
  {
    JournalWriter writer(path);
    writer.event(JournalKind::resume, 100, {{"device", "cpu"}});
  }
  const JournalContents again = read_journal(path);
  expect(again.dropped_lines == 0, "a rewound journal is whole: " + again.dropped);
  expect(again.records.size() == rewound.records.size() + 1, "a rewound journal can be gone on with");
  const auto is_late = [](const JournalRecord& record) {
    return record.kind == JournalKind::metrics && record.step > 100;
  };
  expect(std::none_of(again.records.begin(), again.records.end(), is_late), "later rows are gone");
}

}  // namespace
}  // namespace jari::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jari::fuzz;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_reading(write_scratch("journal.jsonl", bytes));
  const std::filesystem::path path = write_scratch("journal.jsonl", with_line_checksums(bytes));
  if (!check_reading(path).records.empty()) check_going_on(path);
  return 0;
}
