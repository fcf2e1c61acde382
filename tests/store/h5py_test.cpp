// Our files are read by h5py, and we read what h5py writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "framework/base/error.hpp"
#include "framework/store/hdf5_file.hpp"
#include "tests/store/example_run.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"

namespace jari {
namespace {

using testing::ElementsAre;

// Debian's Python, which has Debian's h5py.
constexpr const char* kPython = "/usr/bin/python3";

struct Output {
  int status;
  std::string text;
};

Output run_shell(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::string text;
  char buffer[4096];
  while (const std::size_t size = std::fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, size);
  return {pclose(pipe), text};
}

class H5py : public testing::Test {
 protected:
  void SetUp() override {
    if (run_shell(std::string(kPython) + " -c 'import h5py'").status != 0)
      GTEST_SKIP() << kPython << " has no h5py (Debian: python3-h5py)";
  }
  Output run_script(const std::string& script) const {
    const auto path = folder_.path() / "script.py";
    std::ofstream(path) << script;
    return run_shell("PYTHONIOENCODING=utf-8 " + std::string(kPython) + " " + path.string() + " " + file_.string());
  }

  test::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "run.h5";
};

TEST_F(H5py, ReadsARunFileWithTheScriptOfTheManual) {
  const std::string manual = test::read_text(test::source_path("docs/run_file_format.md"));
  const std::string fence = "```python\n";
  const std::size_t begin = manual.find(fence) + fence.size();
  const std::string script = manual.substr(begin, manual.find("```", begin) - begin);
  write_run_file(file_, test::example_run());
  const Output output = run_script(script);
  EXPECT_EQ(output.text,
            "extrapolate position=rel,seed=42 seed 42 finished\n"
            "loss at step 500 is 0.25\n"
            "metrics: evaluate/empty evaluate/extrapolated/accuracy train/loss\n"
            "weights embedding/token (2, 3) float32 ['token', 'width']\n"
            "weights scale () float64 []\n"
            "accuracy at position 0: 1.0\n"
            "dot product at gap 1: 0.5\n"
            "first word: 물리학 12\n"
            "experiment: extrapolate\n"
            "hdf5 1.10.8\n");
  EXPECT_EQ(output.status, 0);
}

TEST_F(H5py, SeesOurTypesAsItsOwn) {
  {
    Hdf5File file = Hdf5File::create(file_);
    file.set_attribute("", "flag", true);
    file.set_attribute("", "shape", std::vector<std::int64_t>{3, 4});
    file.write("b", {}, std::vector<double>{0.1});
    file.write("a", {2, 2}, std::vector<std::int32_t>{1, 2, 3, 4});
    file.save();
  }
  const Output output = run_script(R"(
import sys, h5py
with h5py.File(sys.argv[1], "r") as f:
    print(sorted(f), repr(f.attrs["flag"]), f.attrs["shape"].tolist(), f["b"][()], f["a"][:].tolist(), f["a"].dtype)
)");
  EXPECT_EQ(output.text, "['a', 'b'] True [3, 4] 0.1 [[1, 2], [3, 4]] int32\n");
}

TEST_F(H5py, WritesWhatWeRead) {
  const Output output = run_script(R"(
import sys, h5py, numpy as np
with h5py.File(sys.argv[1], "w") as f:
    f["f32"] = np.array([[1.5, -2]], dtype="f4")
    f["big_endian"] = np.array([0.1, 2], dtype=">f8")
    f["i16"] = np.array([-3, 4], dtype="i2")
    f["u32"] = np.array([4000000000], dtype="u4")
    f["flags"] = np.array([True, False])
    f["texts"] = ["물리학", "the"]
    f["fixed"] = np.array([b"ab", b"c"])
    f["scalar"] = 7
    f.create_dataset("packed", data=np.arange(1000.0), chunks=(100,), compression="gzip")
    f["z/y"] = 1.0
    f["empty"] = h5py.Empty("f8")
    a = f["f32"].attrs
    a["text"], a["flag"], a["integer"], a["number"], a["axes"] = "자리", np.bool_(True), 5, 0.5, ["row", "column"]
    a["bytes"] = np.bytes_("ascii")
)");
  ASSERT_EQ(output.status, 0) << output.text;
  const Hdf5File file = Hdf5File::open(file_);
  EXPECT_THAT(file.read<float>("f32").values, ElementsAre(1.5F, -2.0F));
  EXPECT_THAT(file.read<float>("f32").shape, ElementsAre(1, 2));
  EXPECT_THAT(file.read<double>("big_endian").values, ElementsAre(0.1, 2));
  EXPECT_THAT(file.read<std::int32_t>("i16").values, ElementsAre(-3, 4));
  EXPECT_THAT(file.read<std::int64_t>("u32").values, ElementsAre(4000000000));
  EXPECT_THAT(file.read<std::uint8_t>("flags").values, ElementsAre(1, 0));
  EXPECT_THAT(file.read<std::string>("texts").values, ElementsAre("물리학", "the"));
  EXPECT_THAT(file.read<std::string>("fixed").values, ElementsAre("ab", "c"));
  EXPECT_THAT(file.read<double>("scalar").values, ElementsAre(7));
  EXPECT_EQ(file.read<double>("packed").values.back(), 999.0);
  EXPECT_THAT(file.read<double>("empty").values, testing::IsEmpty());
  EXPECT_THAT(file.arrays_below("z"), ElementsAre("y"));
  EXPECT_EQ(file.text_attribute("f32", "text"), "자리");
  EXPECT_EQ(file.text_attribute("f32", "bytes"), "ascii");
  EXPECT_EQ(file.attribute("f32", "flag"), Hdf5Attribute(true));
  EXPECT_EQ(file.integer_attribute("f32", "integer"), 5);
  EXPECT_EQ(file.number_attribute("f32", "number"), 0.5);
  EXPECT_EQ(file.attribute("f32", "axes"), Hdf5Attribute(std::vector<std::string>{"row", "column"}));
}

TEST_F(H5py, MayClaimMoreThanItsFileHolds) {
  const Output output = run_script(R"(
import sys, h5py
with h5py.File(sys.argv[1], "w") as f:
    f.create_dataset("huge", shape=(2**40,), dtype="f8", chunks=(1024,))
    f.create_dataset("overflow", shape=(2**40, 2**40), dtype="f4", chunks=(32, 32))
    f.create_dataset("text", shape=(2**36,), dtype=h5py.string_dtype(), chunks=(32,))
    f.create_dataset("modest", shape=(1000,), dtype="f4", fillvalue=2.5, chunks=(10,))
)");
  ASSERT_EQ(output.status, 0) << output.text;
  const Hdf5File file = Hdf5File::open(file_);
  EXPECT_THAT(test::error_of<StoreError>([&] { file.read<double>("huge"); }),
              testing::HasSubstr(
                  "/huge: can not read the array: it claims to hold 1099511627776 values, more than a file of "));
  EXPECT_THAT(test::error_of<StoreError>([&] { file.read<float>("overflow"); }),
              testing::HasSubstr("it claims to hold"));
  EXPECT_THAT(test::error_of<StoreError>([&] { file.read<std::string>("text"); }),
              testing::HasSubstr("it claims to hold"));
  EXPECT_THAT(file.read<float>("modest").values, testing::Each(2.5F));
}

}  // namespace
}  // namespace jari
