#include "framework/store/summary_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/store/example_run.hpp"
#include "tests/support/files.hpp"

namespace jari {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::nanoseconds kAtOnce{0};

class Summaries : public testing::Test {
 protected:
  Summaries() {
    for (const char* name : {"first", "second"}) {
      fs::create_directory(folder_.path() / name);
      write_run_file(file(name), test::example_run());
    }
  }
  fs::path file(const std::string& name) const { return folder_.path() / name / "run.h5"; }
  FileIdentity identity(const std::string& name) const { return *identify_file(file(name)); }
  void fill() const {
    SummaryCache cache(folder_.path(), kAtOnce);
    for (const char* name : {"first", "second"})
      cache.put(std::string(name) + "/run.h5", identity(name), read_run_summary(file(name)));
    cache.save();
  }
  bool finds(const std::string& name) const {
    return SummaryCache(folder_.path()).find(name + "/run.h5", identity(name)).has_value();
  }

  test::TemporaryFolder folder_;
  fs::path cache_ = folder_.path() / kSummariesFile;
};

TEST_F(Summaries, GiveBackWhatWasRead) {
  fill();
  const SummaryCache cache(folder_.path());
  const auto found = cache.find("second/run.h5", identity("second"));
  ASSERT_TRUE(found);
  const RunSummary summary = read_run_summary(file("second"));
  EXPECT_EQ(found->path, summary.path);
  EXPECT_EQ(found->attributes, summary.attributes);
  EXPECT_EQ(found->spec_resolved, summary.spec_resolved);
  EXPECT_EQ(found->metrics, summary.metrics);
  EXPECT_EQ(found->numbers, summary.numbers);
}

TEST_F(Summaries, AreOnlyOfTheVeryFile) {
  fill();
  RunRecord other = test::example_run();
  other.metrics[0].values.back() = 0.125;  // of the same size
  write_run_file(file("first"), other);
  EXPECT_FALSE(finds("first"));
  EXPECT_TRUE(finds("second"));

  const FileIdentity same = identity("second");
  const SummaryCache cache(folder_.path());
  for (auto member : {&FileIdentity::device, &FileIdentity::inode, &FileIdentity::size}) {
    FileIdentity changed = same;
    changed.*member += 1;
    EXPECT_FALSE(cache.find("second/run.h5", changed));
  }
  for (auto member : {&FileIdentity::modified, &FileIdentity::changed}) {
    FileIdentity changed = same;
    changed.*member += 1;
    EXPECT_FALSE(cache.find("second/run.h5", changed));
  }
}

TEST_F(Summaries, AreNotKeptOfFilesThatChangedAMomentAgo) {
  SummaryCache cache(folder_.path(), std::chrono::hours(1));
  cache.put("first/run.h5", identity("first"), read_run_summary(file("first")));
  cache.save();
  EXPECT_FALSE(fs::exists(cache_));
}

TEST_F(Summaries, MayBeDamagedAnywhere) {
  fill();
  const std::string whole = test::read_text(cache_);
  const std::string expected = read_run_summary(file("first")).spec_resolved;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 4);
    std::ofstream(cache_, std::ios::binary) << bytes;
    const SummaryCache cache(folder_.path());
    int found = 0;
    for (const char* name : {"first", "second"}) {
      const auto summary = cache.find(std::string(name) + "/run.h5", identity(name));
      found += summary ? 1 : 0;
      if (summary) {
        EXPECT_EQ(summary->spec_resolved, expected);
      }
    }
    EXPECT_LT(found, 2) << "byte " << i;
  }
}

TEST_F(Summaries, MayBeCutShort) {
  fill();
  const std::string whole = test::read_text(cache_);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(cache_, std::ios::binary) << whole.substr(0, size);
    EXPECT_FALSE(finds("first") && finds("second")) << size << " bytes";
  }
}

TEST_F(Summaries, OfAnotherVersionAreMadeAgain) {
  fill();
  std::string bytes = test::read_text(cache_);
  bytes.replace(bytes.find(" 1 "), 3, " 2 ");
  std::ofstream(cache_, std::ios::binary) << bytes;
  EXPECT_FALSE(finds("first"));
  fill();
  EXPECT_TRUE(finds("first"));
}

TEST_F(Summaries, ForgetFilesThatAreGone) {
  fill();
  fs::remove_all(folder_.path() / "first");
  SummaryCache cache(folder_.path(), kAtOnce);
  cache.put("second/run.h5", identity("second"), read_run_summary(file("second")));
  cache.save();
  EXPECT_EQ(test::read_text(cache_).find("first/run.h5"), std::string::npos);
  EXPECT_TRUE(finds("second"));
}

TEST_F(Summaries, AreDoneWithoutWhereTheyCanNotBeWritten) {
  fs::create_directory(cache_);  // in the way, for root too
  fill();
  EXPECT_FALSE(finds("first"));
  EXPECT_TRUE(fs::is_directory(cache_));
}

}  // namespace
}  // namespace jari
