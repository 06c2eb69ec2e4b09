// Options that several verbs have, with the same words in each.
#pragma once

#include "cli/setting.h"
#include "cli/verb.h"

namespace asmevo::cli {

inline void file_option(CLI::App& app, std::string& file, const char* name = "FILE",
                        const char* help = "code object (.hsaco, .co)") {
  app.add_option(name, file, help)->required()->type_name("");
}

inline void kernel_option(CLI::App& app, std::string& kernel) {
  app.add_option("--kernel", kernel, "the kernel, where the object has several")->type_name("NAME");
}

inline void output_option(CLI::App& app, std::string& output, const char* help) {
  app.add_option("-o,--output", output, help)->type_name("PATH");
}

inline void device_option(CLI::App& app, std::string& device) {
  app.add_option("--device", device, "auto, simulated, or a part to simulate (MI300X, MI210, ...)")->type_name("NAME");
}

inline void power_option(CLI::App& app, bool& power_limited) {
  app.add_flag("--power-limited", power_limited,
               "at the shader clock that sustained matrix work leaves of the power, not the peak clock");
}

inline void launch_options(CLI::App& app, SettingOptions& setting) {
  app.add_option("--launch", setting.launch, "launch file: what the kernel is run on")->required()->type_name("PATH");
  kernel_option(app, setting.kernel);
  device_option(app, setting.device);
}

} // namespace asmevo::cli
