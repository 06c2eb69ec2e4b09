// What most verbs begin with: a code object, its codec, a launch, a device.
#pragma once

#include "device/device.h"
#include "isa/codec.h"
#include "launch/launch.h"
#include "object/code_object.h"

#include <memory>
#include <string>

namespace asmevo::cli {

/// A code object with what its target needs.
struct Input {
  std::shared_ptr<const object::CodeObject> object;
  isa::Codec codec;
};
/// Errors: cannot be read, no code object, a target that is not CDNA.
Result<Input> open_input(const std::string& path);
Result<Input> open_input(Bytes bytes, const std::string& path);

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

} // namespace asmevo::cli
