#include "framework/backend/device_module.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>

#include "framework/base/error.hpp"

namespace jari {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDriver = "libcuda.so.1";

}  // namespace

const char* device_module_abi() { return JARI_DEVICE_ABI; }

std::string device_module_file() {
  if (const char* given = std::getenv("JARI_CUDA_MODULE"); given != nullptr && *given != '\0') return given;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  const fs::path places[] = {program / kDeviceModuleFile, program / "../framework" / kDeviceModuleFile,
                             program / "../lib/jari" / kDeviceModuleFile};
  for (const fs::path& place : places) {
    if (fs::is_regular_file(place, error)) return place.lexically_normal().string();
  }
  return places[0].string();
}

Cards::Cards(const std::string& module_file) {
  // Without a driver there is nothing that the module could do, and its libraries are large.
  void* const driver = dlopen(kDriver, RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) {
    reason_ = fmt::format("no NVIDIA driver ({} is not on this machine)", kDriver);
    return;
  }
  try {
    load(module_file);
  } catch (const DeviceError& error) {
    reason_ = error.what();
  }
}

void Cards::load(const std::string& module_file) {
  if (!fs::is_regular_file(module_file)) {
    throw DeviceError(fmt::format("there is a driver, but no {} at '{}': this jari was built without the CUDA Toolkit",
                                  kDeviceModuleFile, module_file));
  }
  void* const loaded = dlopen(fs::absolute(module_file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) throw DeviceError(fmt::format("can not load '{}': {}", module_file, dlerror()));
  using Entry = const DeviceModule* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(loaded, kDeviceModuleSymbol));
  if (entry == nullptr) {
    throw DeviceError(
        fmt::format("'{}' is no module of jari: it has no symbol '{}'", module_file, kDeviceModuleSymbol));
  }
  take(*entry(), module_file);
}

Cards::Cards(const DeviceModule& module, const std::string& module_file) { take(module, module_file); }

void Cards::take(const DeviceModule& module, const std::string& module_file) {
  if (std::string(module.abi) != device_module_abi()) {
    throw DeviceError(fmt::format("'{}' was built for another jari (module {}, program {}): build both again",
                                  module_file, module.abi, device_module_abi()));
  }
  count_ = module.count_cards();
  if (count_ == 0) throw DeviceError("the driver knows no card");
  module_ = &module;
}

const Cards& Cards::get() {
  static const Cards cards(device_module_file());
  return cards;
}

std::shared_ptr<Device> Cards::open(int index) const {
  if (index < 0 || index >= count_) {
    throw DeviceError(count_ == 0 ? fmt::format("no card: {}", reason_)
                                  : fmt::format("no card {}: there are {}, counted from 0", index, count_));
  }
  static std::mutex mutex;
  static std::map<std::pair<const DeviceModule*, int>, std::shared_ptr<Device>> opened;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Device>& device = opened[{module_, index}];
  if (!device) device = module_->open_card(index);
  return device;
}

}  // namespace jari
