#include "framework/report/gnuplot.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "framework/base/error.hpp"
#include "framework/store/atomic_file.hpp"

namespace jari {
namespace {

namespace fs = std::filesystem;

constexpr const char* kScript = "script.gp";
constexpr const char* kErrors = "errors.txt";
constexpr int kCommandNotFound = 127;

// A folder of its own for one run, removed at the end.
class Workplace {
 public:
  Workplace() {
    std::string name = (fs::temp_directory_path() / "jari-plot-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw StoreError(
          fmt::format("{}: can not make a temporary folder: {}; set TMPDIR to a folder that can be written", name,
                      std::strerror(errno)));
    path_ = name;
  }
  ~Workplace() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

[[noreturn]] void fail_missing() {
  throw Error(
      "gnuplot, which draws the pictures, is not installed; as root, type: apt-get install --no-install-recommends "
      "gnuplot-nox fonts-nanum; or write its script with -o FILE.gp, to draw elsewhere");
}

// Its exit status. Everything that it prints goes to kErrors in `folder`.
int run_gnuplot(const fs::path& folder) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const std::string errors = (folder / kErrors).string();
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, errors.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  std::string program = "gnuplot", defaults = "-d", script = kScript;  // -d: without ~/.gnuplot
  char* arguments[] = {program.data(), defaults.data(), script.data(), nullptr};
  pid_t process = 0;
  const int error = ::posix_spawnp(&process, "gnuplot", &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) fail_missing();
  if (error != 0) throw Error(fmt::format("gnuplot can not be started: {}", std::strerror(error)));
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == kCommandNotFound) fail_missing();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::string draw_with_gnuplot(const std::string& script) {
  const Workplace workplace;
  write_file_atomically(workplace.path() / kScript, script);
  const int status = run_gnuplot(workplace.path());
  const std::string complaints = read_bytes(workplace.path() / kErrors);
  std::string bytes = read_bytes(workplace.path() / kDrawnFile);
  if (status != 0 || bytes.empty())
    throw Error(
        fmt::format("gnuplot ended with status {} and said:\n{}\nwrite the script with -o FILE.gp to see what it was "
                    "given",
                    status, complaints));
  return bytes;
}

}  // namespace jari
