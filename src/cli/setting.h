// What verbs that execute begin with: a kernel, a launch that fits it, a device.
#pragma once

#include "cli/inputs.h"
#include "device/device.h"
#include "launch/launch.h"

namespace asmevo::cli {

/// A kernel of an object on a device, with a launch that fits it.
struct Setting {
  Input input;
  const object::Kernel* kernel = nullptr;
  launch::Launch launch;
  std::unique_ptr<device::Device> device;
  device::Loaded loaded;
};

struct SettingOptions {
  std::string file, launch, kernel, device = "auto";
};
/// Errors: those of open_input; no such kernel, or several and none named; a launch that does not fit; no such device.
Result<Setting> open_setting(const SettingOptions& options);
/// The same for an object that is in memory; `options.file` is for messages.
Result<Setting> open_setting(Input input, const SettingOptions& options);

/// `device` is what --device takes. Errors: no such device.
Result<std::unique_ptr<device::Device>> make_device(const isa::Target& target, const std::string& device);

} // namespace asmevo::cli
