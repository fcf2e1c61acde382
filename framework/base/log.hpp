#pragma once
// A run's own log, a text file for people: what happened when. Behind it is spdlog, which stays out of this header.

#include <filesystem>
#include <memory>
#include <string>

namespace jari {

class Log {
 public:
  Log() = default;  // says nothing
  // Appends to the file. A file that can not be written is no reason to stop: the log says nothing then.
  explicit Log(const std::filesystem::path& path);

  void info(const std::string& message) const;
  void warn(const std::string& message) const;

 private:
  struct Sink;
  std::shared_ptr<Sink> sink_;
};

}  // namespace jari
