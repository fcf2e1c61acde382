#include "framework/store/journal.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <bit>
#include <cmath>
#include <csignal>
#include <fstream>
#include <limits>

#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"

namespace jari {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Journal : public testing::Test {
 protected:
  void write_text(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
  std::string text() const { return test::read_text(path_); }

  // Five lines: a start, and rows at steps 10, 20, 30, 40.
  void write_five() const {
    JournalWriter writer(path_);
    writer.event(JournalKind::start, 0, {{"device", "cpu"}});
    for (int step = 10; step <= 40; step += 10) writer.metrics(step, {{"train/loss", 1.0 / step}});
  }

  test::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "journal.jsonl";
};

TEST_F(Journal, ThatDoesNotExistIsEmpty) {
  const JournalContents contents = read_journal(path_);
  EXPECT_THAT(contents.records, IsEmpty());
  EXPECT_EQ(contents.dropped, "");
}

TEST_F(Journal, EndsAreReadWithoutWhatIsBetween) {
  write_five();
  const JournalEnds all = read_journal_ends(path_);
  ASSERT_TRUE(all.first);
  EXPECT_EQ(all.first->kind, JournalKind::start);
  EXPECT_THAT(all.last, SizeIs(5));
  // 300 bytes hold two whole lines of about a hundred, and a part of another.
  const JournalEnds ends = read_journal_ends(path_, 300);
  ASSERT_TRUE(ends.first);
  EXPECT_EQ(*ends.first, *all.first);
  ASSERT_THAT(ends.last, SizeIs(2));
  EXPECT_EQ(ends.last[0], all.last[3]);
  EXPECT_EQ(ends.last[1].step, 40);
  // Where a line is longer than what is read, more is read.
  EXPECT_THAT(read_journal_ends(path_, 10).last, testing::Not(IsEmpty()));
}

TEST_F(Journal, EndsLeaveOutWhatIsTornOrDamaged) {
  write_five();
  std::string damaged = text();
  damaged[5] ^= 1;
  write_text(damaged + "{\"kind\":\"metrics\",\"seq");
  const JournalEnds ends = read_journal_ends(path_);
  EXPECT_FALSE(ends.first);
  ASSERT_THAT(ends.last, SizeIs(4));
  EXPECT_EQ(ends.last.back().step, 40);
  write_text("");
  EXPECT_THAT(read_journal_ends(path_).last, IsEmpty());
  std::filesystem::remove(path_);
  EXPECT_THAT(test::error_of<StoreError>([&] { read_journal_ends(path_); }), HasSubstr("can not read"));
}

TEST_F(Journal, HasOneChecksummedJsonObjectALine) {
  {
    JournalWriter writer(path_);
    writer.event(JournalKind::start, 0, {{"device", "cpu"}, {"text", "a \"b\"\n자리"}});
    writer.metrics(500, {{"train/loss", 0.25}});
  }
  const std::string first =
      R"({"kind":"start","sequence":0,"step":0,"details":{"device":"cpu","text":"a \"b\"\n자리"}})";
  const std::string second = R"({"kind":"metrics","sequence":1,"step":500,"values":{"train/loss":0.25}})";
  const auto with_checksum = [](const std::string& line) {
    return fmt::format("{},\"checksum\":\"{:016x}\"}}\n", line.substr(0, line.size() - 1), hash64(line));
  };
  EXPECT_EQ(text(), with_checksum(first) + with_checksum(second));
}

TEST_F(Journal, GivesBackWhatWasWritten) {
  {
    JournalWriter writer(path_);
    writer.event(JournalKind::start, 0, {{"device", "cpu"}});
    writer.metrics(1, {{"train/loss", 2.5}, {"evaluate/trained/accuracy", 0.125}});
    writer.event(JournalKind::failure, 1, {{"error", "out of memory"}});
  }
  const JournalContents contents = read_journal(path_);
  ASSERT_THAT(contents.records, SizeIs(3));
  EXPECT_EQ(contents.records[0], (JournalRecord{JournalKind::start, 0, 0, {}, {{"device", "cpu"}}}));
  EXPECT_EQ(
      contents.records[1],
      (JournalRecord{JournalKind::metrics, 1, 1, {{"train/loss", 2.5}, {"evaluate/trained/accuracy", 0.125}}, {}}));
  EXPECT_EQ(contents.records[2], (JournalRecord{JournalKind::failure, 2, 1, {}, {{"error", "out of memory"}}}));
  EXPECT_EQ(contents.dropped, "");
}

TEST_F(Journal, KeepsEveryBitOfANumber) {
  using Limits = std::numeric_limits<double>;
  MetricValues values;
  const double special[] = {0.0,
                            -0.0,
                            0.1,
                            1.0 / 3,
                            Limits::max(),
                            Limits::min(),
                            Limits::denorm_min(),
                            Limits::infinity(),
                            -Limits::infinity(),
                            5e22,
                            123456789012345680.0};
  for (const double value : special) values.emplace_back(fmt::format("m{}", values.size()), value);
  std::uint64_t bits = 1;
  while (values.size() < 3000) {  // doubles from all over the range
    bits = hash64(std::to_string(bits));
    if (const auto value = std::bit_cast<double>(bits); !std::isnan(value))
      values.emplace_back(fmt::format("m{}", values.size()), value);
  }
  JournalWriter(path_).metrics(1, values);
  const JournalContents contents = read_journal(path_);
  ASSERT_THAT(contents.records, SizeIs(1));
  ASSERT_THAT(contents.records[0].values, SizeIs(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(std::bit_cast<std::uint64_t>(contents.records[0].values[i].second),
              std::bit_cast<std::uint64_t>(values[i].second));
}

TEST_F(Journal, WritesNumbersThatJsonLacksAsStrings) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  JournalWriter(path_).metrics(1, {{"a", std::nan("")}, {"b", infinity}, {"c", -infinity}});
  EXPECT_THAT(text(), HasSubstr(R"("values":{"a":"nan","b":"inf","c":"-inf"})"));
  const MetricValues values = read_journal(path_).records.at(0).values;
  EXPECT_TRUE(std::isnan(values[0].second));
  EXPECT_EQ(values[1].second, infinity);
  EXPECT_EQ(values[2].second, -infinity);
}

TEST_F(Journal, TakesTextsThatAreNotUtf8) {
  JournalWriter(path_).event(JournalKind::failure, 0, {{"error", "caf\xe9"}});
  EXPECT_EQ(read_journal(path_).records.at(0).details.at(0).second, "caf\xef\xbf\xbd");
}

TEST_F(Journal, CutAtAnyByteLosesOnlyTheTornLine) {
  write_five();
  const std::string whole = text();
  const auto records = read_journal(path_).records;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_text(whole.substr(0, size));
    const JournalContents contents = read_journal(path_);
    const auto lines = static_cast<std::size_t>(std::count(whole.begin(), whole.begin() + std::ptrdiff_t(size), '\n'));
    ASSERT_THAT(contents.records, SizeIs(lines)) << size;
    EXPECT_TRUE(std::equal(contents.records.begin(), contents.records.end(), records.begin())) << size;
    const bool is_torn = size > 0 && whole[size - 1] != '\n';
    EXPECT_EQ(contents.dropped_lines, is_torn ? 1 : 0) << size;
    const std::string place = fmt::format("{}:{}", path_.string(), lines + 1);
    EXPECT_EQ(contents.dropped, is_torn ? place + ": line dropped: it is torn: it has no line end" : "") << size;
  }
}

TEST_F(Journal, NoticesAFlippedBitInAnyByte) {
  write_five();
  const std::string whole = text();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string flipped = whole;
    flipped[i] = static_cast<char>(flipped[i] ^ (1 << (i % 8)));
    write_text(flipped);
    const JournalContents contents = read_journal(path_);
    const auto lines = static_cast<std::size_t>(std::count(whole.begin(), whole.begin() + std::ptrdiff_t(i), '\n'));
    ASSERT_THAT(contents.records, SizeIs(lines)) << "byte " << i;
    ASSERT_THAT(contents.dropped, HasSubstr(fmt::format(":{}: line dropped: ", lines + 1)));
  }
}

TEST_F(Journal, NamesADamagedLineInTheMiddleAndDropsAllAfterIt) {
  write_five();
  std::string damaged = text();
  damaged.replace(damaged.find("\"step\":20"), 9, "\"step\":21");
  write_text(damaged);
  const JournalContents contents = read_journal(path_);
  EXPECT_THAT(contents.records, SizeIs(2));
  EXPECT_EQ(contents.dropped_lines, 3);
  EXPECT_EQ(contents.dropped,
            path_.string() + ":3: line dropped: its checksum does not match; 2 lines after it are dropped too");
}

TEST_F(Journal, NoticesALineThatIsMissing) {
  write_five();
  std::string damaged = text();
  const std::size_t second = damaged.find('\n') + 1;
  damaged.erase(second, damaged.find('\n', second) + 1 - second);
  write_text(damaged);
  EXPECT_THAT(read_journal(path_).dropped, HasSubstr(":2: line dropped: its sequence number is 2, expected 1"));
}

TEST_F(Journal, GoesOnAfterATornLine) {
  write_five();
  const std::string whole = text();
  write_text(whole.substr(0, whole.size() - 5));
  {
    JournalWriter writer(path_);
    EXPECT_THAT(writer.dropped(), HasSubstr(":5: line dropped: it is torn"));
    writer.metrics(40, {{"train/loss", 1.0 / 40}});
  }
  EXPECT_EQ(text(), whole);
}

TEST_F(Journal, RewoundAndWrittenAgainIsThatOfAnUndisturbedRun) {
  write_five();
  const std::string whole = text();
  const JournalContents left = rewind_journal(path_, 20);
  EXPECT_THAT(left.records, SizeIs(3));
  {
    JournalWriter writer(path_);
    for (int step = 30; step <= 40; step += 10) writer.metrics(step, {{"train/loss", 1.0 / step}});
  }
  EXPECT_EQ(text(), whole);
}

TEST_F(Journal, RewoundKeepsItsEvents) {
  write_five();
  JournalWriter(path_).event(JournalKind::failure, 40, {});
  EXPECT_THAT(rewind_journal(path_, 0).records,
              ElementsAre(testing::Field(&JournalRecord::kind, JournalKind::start),
                          testing::Field(&JournalRecord::kind, JournalKind::failure)));
  EXPECT_EQ(read_journal(path_).dropped, "");
}

TEST_F(Journal, RewoundToItsEndStaysUntouched) {
  write_five();
  const auto before = std::filesystem::last_write_time(path_);
  std::filesystem::last_write_time(path_, before - std::chrono::hours(1));
  rewind_journal(path_, 40);
  EXPECT_EQ(std::filesystem::last_write_time(path_), before - std::chrono::hours(1));
}

TEST_F(Journal, GivesItsRowsByMetric) {
  {
    JournalWriter writer(path_);
    writer.event(JournalKind::start, 0);
    writer.metrics(1, {{"train/loss", 3}});
    writer.metrics(2, {{"train/loss", 2}, {"evaluate/a/accuracy", 0.5}});
  }
  EXPECT_THAT(metric_series(read_journal(path_).records),
              ElementsAre(MetricSeries{"train/loss", {1, 2}, {3, 2}}, MetricSeries{"evaluate/a/accuracy", {2}, {0.5}}));
}

TEST_F(Journal, SaysWhyItCanNotBeWritten) {
  std::ofstream(folder_.path() / "file") << "x";
  const auto path = folder_.path() / "file" / "journal.jsonl";
  EXPECT_EQ(test::error_of<StoreError>([&] { JournalWriter writer(path); }),
            path.string() +
                ": can not write: Not a directory; a part of the path is a file where a folder should be: "
                "correct the path");
}

TEST_F(Journal, HoldsNoPartOfALineThatDidNotFit) {
  // In a child process, because the limit on file sizes is a process's own.
  const auto write_until_full = [this] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    JournalWriter writer(path_);
    try {
      for (int step = 1;; ++step) writer.metrics(step, {{"train/loss", 0.5}});
    } catch (const StoreError& error) {
      const bool is_clear =
          std::string(error.what()).find("can not write: File too large; raise the limit") != std::string::npos;
      std::_Exit(is_clear ? 0 : 1);
    }
  };
  EXPECT_EXIT(write_until_full(), testing::ExitedWithCode(0), "");
  const JournalContents contents = read_journal(path_);
  EXPECT_GT(contents.records.size(), 5U);
  EXPECT_EQ(contents.dropped, "");
}

TEST_F(Journal, SyncsToTheDisk) {
  JournalWriter writer(path_);
  writer.metrics(1, {{"train/loss", 1}});
  writer.sync();
  EXPECT_THAT(read_journal(path_).records, SizeIs(1));
}

}  // namespace
}  // namespace jari
