#pragma once
// Devices live in a module that the program loads where there is a driver. The rest neither links nor needs CUDA.

#include <memory>
#include <string>

#include "framework/backend/device.hpp"

namespace jari {

// What the module's one entry, `extern "C" const DeviceModule* jari_device_module()`, returns.
struct DeviceModule {
  const char* abi;       // device_module_abi() of the program that it was built with
  int (*count_cards)();  // throws DeviceError
  std::shared_ptr<Device> (*open_card)(int index);
};
inline constexpr const char* kDeviceModuleSymbol = "jari_device_module";
inline constexpr const char* kDeviceModuleFile = "libjari_cuda.so";

const char* device_module_abi();

// The cards of this machine. Found once, at the first call; thread-safe.
class Cards {
 public:
  static const Cards& get();

  int count() const { return count_; }
  // Where there is none: what was looked for and what was found, as one line.
  const std::string& reason() const { return reason_; }
  // The same card gives the same Device. DeviceError where it can not be used.
  std::shared_ptr<Device> open(int index) const;

  // As get(), of the module in that file.
  explicit Cards(const std::string& module_file);
  // Of a module that is loaded. DeviceError where it is another jari's, or knows no card.
  Cards(const DeviceModule& module, const std::string& module_file);

 private:
  void load(const std::string& module_file);
  void take(const DeviceModule& module, const std::string& module_file);

  const DeviceModule* module_ = nullptr;
  int count_ = 0;
  std::string reason_;
};

// Where the module is looked for: $JARI_CUDA_MODULE, or beside the program, or in the library folder of an
// installation.
std::string device_module_file();

}  // namespace jari
