#include "framework/base/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>

namespace jari {

struct Log::Sink {
  spdlog::logger logger;
};

Log::Log(const std::filesystem::path& path) {
  try {
    auto file = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path.string());
    file->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
    sink_ = std::make_shared<Sink>(Sink{spdlog::logger("run", std::move(file))});
    sink_->logger.flush_on(spdlog::level::info);
  } catch (const spdlog::spdlog_ex&) {
    sink_.reset();
  }
}

void Log::info(const std::string& message) const {
  if (sink_) sink_->logger.info(message);
}

void Log::warn(const std::string& message) const {
  if (sink_) sink_->logger.warn(message);
}

}  // namespace jari
