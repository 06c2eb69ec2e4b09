#include "cli/setting.h"

namespace asmevo::cli {
namespace {

/// No real GPU can be used yet, so auto is the simulated device of the object's own target.
std::string part_of(const std::string& device) { return device == "auto" || device == "simulated" ? "" : device; }

} // namespace

Result<std::unique_ptr<device::Device>> make_device(const isa::Target& target, const std::string& device) {
  return device::make_simulated(target, part_of(device));
}

Result<Setting> open_setting(const SettingOptions& options) {
  AE_TRY(Input input, open_input(options.file));
  return open_setting(std::move(input), options);
}

Result<Setting> open_setting(Input input, const SettingOptions& options) {
  AE_TRY(launch::Launch launch, launch::read_launch(options.launch));
  std::string name = options.kernel.empty() ? launch.kernel : options.kernel;
  AE_TRY(const object::Kernel* kernel, object::choose_kernel(*input.object, name));
  launch.kernel = kernel->name;
  for (launch::Case& c : launch.cases) c.kernel = kernel->name;
  AE_CHECK(launch::check_launch(launch, *input.object, *kernel));
  AE_TRY(std::unique_ptr<device::Device> device, make_device(input.codec.target(), options.device));
  Setting setting{
      .input = std::move(input), .kernel = kernel, .launch = std::move(launch), .device = std::move(device)};
  AE_TRY(setting.loaded, setting.device->load(setting.input.object));
  return setting;
}

} // namespace asmevo::cli
