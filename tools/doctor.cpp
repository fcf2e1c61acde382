// jari doctor: whether this machine has what jari needs, and what to do where it has not.

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/version.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "framework/backend/cpu_features.hpp"
#include "framework/backend/device_module.hpp"
#include "framework/backend/kernel.hpp"
#include "framework/base/error.hpp"
#include "framework/base/version.hpp"
#include "framework/store/hdf5_file.hpp"
#include "framework/sweep/launcher.hpp"
#include "tools/commands.hpp"
#include "tools/self_test.hpp"
#include "tools/session.hpp"

namespace jari {
namespace {

namespace fs = std::filesystem;

enum class State { good, note, problem };  // a note: something is missing that not everybody needs

struct Finding {
  State state = State::good;
  std::string what, text, advice;
};

Finding versions() {
  return {State::good, "jari", fmt::format("{} (build {}), compiled by {}", version(), build_id(), JARI_COMPILER), ""};
}

Finding libraries() {
  return {State::good, "libraries",
          fmt::format("HDF5 {}, yaml-cpp {}, fmt {}.{}.{}, spdlog {}.{}.{}", hdf5_version(), JARI_YAML_CPP_VERSION,
                      FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100, SPDLOG_VER_MAJOR,
                      SPDLOG_VER_MINOR, SPDLOG_VER_PATCH),
          ""};
}

// The value of a line "key : value" of a file under /proc, or "".
std::string proc_value(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

Finding processor() {
  return {State::good, "CPU",
          fmt::format("{}; {} uses {}", cpu_description(), cpu_backend_version(), cpu_backend_instructions()), ""};
}

Finding cores() {
  const int usable = usable_cores();
  const long all = sysconf(_SC_NPROCESSORS_ONLN);
  return {State::good, "cores",
          usable < all ? fmt::format("{} of {} may be used by this process", usable, all) : fmt::format("{}", usable),
          ""};
}

double gigabytes(const std::string& kilobytes) { return std::strtod(kilobytes.c_str(), nullptr) / 1e6 * 1.024; }

Finding memory() {
  const double total = gigabytes(proc_value("/proc/meminfo", "MemTotal"));
  const double available = gigabytes(proc_value("/proc/meminfo", "MemAvailable"));
  constexpr double kLittle = 0.5;
  Finding finding{State::good, "memory", fmt::format("{:.1f} GB, {:.1f} GB of it free to use", total, available), ""};
  if (available < kLittle) {
    finding.state = State::problem;
    finding.advice = "end other programs, or give this machine or container more memory";
  }
  return finding;
}

Finding graphics_cards() {
  const Cards& cards = Cards::get();
  if (cards.count() == 0) return {State::note, "CUDA", cards.reason(), "trials are trained on the CPU"};
  std::vector<std::string> texts;
  for (int card = 0; card < cards.count(); ++card) {
    const DeviceInfo info = cards.open(card)->info();
    texts.push_back(fmt::format("{}, {:.1f} GB, {:.1f} GB of it free ({})", info.name,
                                static_cast<double>(info.memory) / 1e9, static_cast<double>(info.free) / 1e9,
                                info.libraries));
  }
  return {State::good, "CUDA", fmt::format("{}", fmt::join(texts, "; ")), ""};
}

Finding plotting() {
  const char* const path = std::getenv("PATH");
  std::string folders = path == nullptr ? "" : path;
  for (std::size_t begin = 0; begin < folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const fs::path program = fs::path(folders.substr(begin, end - begin)) / "gnuplot";
    if (::access(program.c_str(), X_OK) == 0) return {State::good, "gnuplot", program.string(), ""};
    begin = end + 1;
  }
  return {State::note, "gnuplot", "not found in the PATH", "`jari plot` needs it: apt-get install gnuplot-nox"};
}

// The folder itself, or the one that it would be made in.
fs::path existing_part(const fs::path& folder) {
  fs::path path = fs::absolute(folder);
  while (!fs::exists(path) && path.has_relative_path()) path = path.parent_path();
  return path;
}

// A folder of its own within `parent`, removed at the end.
class Scratch {
 public:
  explicit Scratch(const fs::path& parent) {
    std::string pattern = (parent / ".jari-doctor-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      error_ = std::strerror(errno);
    else
      path_ = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const fs::path& path() const { return path_; }
  const std::string& error() const { return error_; }  // "" if it is there

 private:
  fs::path path_;
  std::string error_;
};

Finding runs_folder(const fs::path& runs, const fs::path& parent, const Scratch& scratch) {
  Finding finding{State::good, "runs folder", "", ""};
  if (!scratch.error().empty()) {
    return {State::problem, "runs folder", fmt::format("{}: can not be written: {}", parent.string(), scratch.error()),
            "choose a folder that you may write to with --runs, or change its permissions"};
  }
  struct statvfs status {};
  double free = 0;
  if (::statvfs(parent.c_str(), &status) == 0)
    free = static_cast<double>(status.f_bavail) * static_cast<double>(status.f_frsize) / 1e9;
  finding.text = fmt::format("{}{}, {:.1f} GB free", runs.string(), fs::exists(runs) ? "" : " (not yet there)", free);
  constexpr double kLittle = 0.1;
  if (free < kLittle) {
    finding.state = State::problem;
    finding.advice = "free some space, or choose another place with --runs";
  }
  return finding;
}

// Two `jari run` of one sweep are kept apart by flock, which some network file systems do not have.
Finding locking(const Scratch& scratch) {
  const std::string path = (scratch.path() / "lock").string();
  const int first = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const int second = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  const bool is_locked = first >= 0 && ::flock(first, LOCK_EX | LOCK_NB) == 0;
  const bool keeps_out = is_locked && second >= 0 && ::flock(second, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (second >= 0) ::close(second);
  if (first >= 0) ::close(first);
  if (keeps_out) return {State::good, "locks", "flock keeps a second process out", ""};
  return {State::problem, "locks", "flock does not work on the file system of the runs folder",
          "put the runs on a local file system (--runs), or never start one sweep twice at a time"};
}

Finding finding_of(const char* what, const SelfTest& test) {
  return {test.passed ? State::good : State::problem, what, test.text,
          test.passed ? "" : "this is a defect of jari or of this machine: build again, run ./test.sh, report it"};
}

class DoctorCommand final : public Command {
 public:
  const char* name() const override { return "doctor"; }
  const char* summary() const override { return "look whether this machine has what jari needs"; }
  void options(CommandOptions& options) override {
    options.option("--runs", runs_, "folder that the runs would go into");
  }
  int run() override;

 private:
  std::string runs_ = "runs";
};

int DoctorCommand::run() {
  std::vector<Finding> findings{versions(), libraries(), processor(), cores(), memory(), graphics_cards(), plotting()};
  const fs::path parent = existing_part(runs_);
  {
    const Scratch beside(parent);
    findings.push_back(runs_folder(runs_, parent, beside));
    if (beside.error().empty()) findings.push_back(locking(beside));
  }
  const Scratch scratch(fs::temp_directory_path());
  if (scratch.error().empty()) {
    findings.push_back(finding_of("training", test_training(scratch.path())));
  } else {
    findings.push_back({State::problem, "training", "not tried: no temporary folder: " + scratch.error(),
                        "set TMPDIR to a folder that you may write to"});
  }
  findings.push_back(finding_of("gradients", test_gradient()));

  int problems = 0;
  for (const Finding& finding : findings) {
    constexpr const char* kMarks[] = {"ok", "note", "PROBLEM"};
    fmt::print("{:<8}{:<12} {}\n", kMarks[static_cast<int>(finding.state)], finding.what, finding.text);
    if (!finding.advice.empty()) fmt::print("{:<21}{}\n", "", finding.advice);
    problems += finding.state == State::problem ? 1 : 0;
  }
  fmt::print("{}\n", problems == 0   ? "all that jari needs is there"
                     : problems == 1 ? "1 problem"
                                     : fmt::format("{} problems", problems));
  return problems == 0 ? 0 : 3;
}

}  // namespace

CommandPtr doctor_command() { return std::make_unique<DoctorCommand>(); }

}  // namespace jari
