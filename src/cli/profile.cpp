// profile: where the time of a kernel goes, instruction by instruction: simulated, or as a profiler measured it.
#include "report/profile.h"
#include "cli/options.h"
#include "profile/import.h"
#include "profile/trace_events.h"
#include "recover/descriptor.h"
#include "recover/recover.h"
#include "report/json.h"
#include "report/text.h"

namespace asmevo::cli {
namespace {

using report::json;

// Slices of a trace: some 40 MB of JSON, which viewers open in seconds.
constexpr size_t trace_slices = 200'000;

struct Options : Common {
  SettingOptions setting;
  std::string trace, import;
  unsigned draws = 16;
  uint64_t seed = 0;
  size_t windows = 5;
  bool power_limited = false;
};

uint32_t items_of(const launch::Case& c) { return c.workgroup_size[0] * c.workgroup_size[1] * c.workgroup_size[2]; }

/// The same code with the occupancy of the next step.
Result<std::optional<report::TimedStep>> time_step(const Setting& setting, const launch::Case& c,
                                                   const isa::Resources& resources, device::TimeOptions timing) {
  std::optional<profile::WhatIf> step =
      profile::next_step(resources, setting.input.codec.target().processor, items_of(c), c.dynamic_lds);
  if (!step) return std::nullopt;
  timing.attribution = false;
  timing.timeline = 0;
  timing.resources = step->resources;
  AE_TRY(const timing::Estimate estimate, setting.device->time(setting.loaded, c, timing));
  return report::TimedStep{std::move(*step), estimate.median};
}

Result<void> write_trace(const std::string& path, const timing::Estimate& estimate,
                         const report::Disassembly& disassembly, const std::string& title) {
  return write_text_file(
      path, profile::trace_events(estimate.timeline, {.title = title,
                                                      .text = [&](uint32_t i) { return disassembly.text(i); },
                                                      .address = [&](uint32_t i) { return disassembly.address(i); }}));
}

Result<ExitStatus> simulate(const Options& options) {
  if (!options.trace.empty()) AE_CHECK(check_writable(options.trace));
  AE_TRY(const Setting setting, open_setting(options.setting));
  const launch::Case& c = setting.launch.cases.front();
  const device::TimeOptions timing{.draws = options.draws,
                                   .seed = options.seed,
                                   .attribution = true,
                                   .timeline = options.trace.empty() ? 0 : trace_slices,
                                   .power_limited = options.power_limited};
  AE_TRY(const timing::Estimate estimate, setting.device->time(setting.loaded, c, timing));

  const machine::Image& image = *setting.loaded.image;
  const auto program = recover::recover(setting.input.object, setting.input.codec);
  const report::Disassembly disassembly(image, setting.input.codec, program ? &*program : nullptr);
  const std::string device = setting.device->description() + (options.power_limited ? ", power-limited clock" : "");
  profile::Profile profile = profile::from_estimate(estimate, image.instructions(), device);
  profile.kernel = setting.kernel->name;
  const std::string title = fmt::format("kernel {}, case {}, {}", setting.kernel->name, c.name, device);
  if (!options.trace.empty()) {
    AE_CHECK(write_trace(options.trace, estimate, disassembly, title));
    if (estimate.timeline.size() == trace_slices)
      profile.notes.push_back(fmt::format("{} holds the first {} slices; the rest of the kernel is not in it",
                                          options.trace, report::grouped(trace_slices)));
  }

  const isa::Target& target = setting.input.codec.target();
  const isa::Resources resources = recover::declared_resources(setting.kernel->descriptor, target);
  AE_TRY(auto step, time_step(setting, c, resources, timing));
  const report::ProfileView view{.profile = profile,
                                 .code = image.instructions(),
                                 .disassembly = disassembly,
                                 .windows = options.windows,
                                 .step = std::move(step),
                                 .spare = profile::spare(resources, target.processor, items_of(c), c.dynamic_lds)};
  json document = report::to_json(view);
  document.update({{"file", options.setting.file}, {"kernel", profile.kernel}, {"case", c.name}, {"device", device}});
  return answer(options,
                fmt::format("{}\n{}: {} (cv {:.2f} % over {} draws)\n", title, options.setting.file,
                            report::duration(estimate.median), estimate.cv * 100, estimate.seconds.size()) +
                    report::text_of(view),
                document);
}

Result<ExitStatus> show_import(const Options& options) {
  AE_TRY(const Input input, open_input(options.setting.file));
  const object::Kernel* kernel = nullptr;
  if (!options.setting.kernel.empty()) {
    AE_TRY(kernel, object::choose_kernel(*input.object, options.setting.kernel));
  }
  AE_TRY(const machine::Image image, machine::Image::create(input.object, input.codec));
  const profile::Subject subject{
      .object = *input.object, .code = image.instructions(), .codec = input.codec, .kernel = kernel};
  AE_TRY(const profile::Profile profile, profile::import_profile(options.import, subject));
  const auto program = recover::recover(input.object, input.codec);
  const report::Disassembly disassembly(image, input.codec, program ? &*program : nullptr);
  const report::ProfileView view{
      .profile = profile, .code = image.instructions(), .disassembly = disassembly, .windows = options.windows};
  json document = report::to_json(view);
  document.update({{"file", options.setting.file}, {"kernel", profile.kernel}, {"imported", options.import}});
  return answer(options,
                fmt::format("{}: {}, {}\n", options.setting.file, profile.source, options.import) +
                    report::text_of(view),
                document);
}

Result<ExitStatus> run(const Options& options) {
  if (options.import.empty() == options.setting.launch.empty())
    return fail("profile: either --launch, to simulate it, or --import, to read what a profiler wrote");
  if (!options.import.empty() && !options.trace.empty())
    return fail("profile: --trace shows simulated waves, and needs --launch");
  return options.import.empty() ? simulate(options) : show_import(options);
}

} // namespace

const Verb profile_verb = {
    "profile", "where the time of a kernel goes: hot windows, stalls, bounds, occupancy",
    "  asmevo profile softmax.hsaco --launch softmax.launch.json\n"
    "  asmevo profile softmax.hsaco --launch softmax.launch.json --trace waves.json   # for ui.perfetto.dev\n"
    "  asmevo profile softmax.hsaco --import ui_output_agent_1_dispatch_3/\n"
    "  asmevo profile softmax.hsaco --import 4711_pc_sampling_stochastic.csv --kernel softmax\n",
    [](CLI::App& app) {
      return declare<Options>(
          app,
          [](CLI::App& a, Options& o) {
            file_option(a, o.setting.file);
            a.add_option("--launch", o.setting.launch, "launch file: simulate its first case")->type_name("PATH");
            a.add_option("--import", o.import,
                         "what a profiler wrote: PC samples or counters of rocprofv3 (CSV, JSON, rocpd), a folder or "
                         "code.json of rocprof-compute-viewer, a CSV of rocprof-compute")
                ->type_name("PATH");
            kernel_option(a, o.setting.kernel);
            device_option(a, o.setting.device);
            a.add_option("--windows", o.windows, "how many hot windows the text shows")
                ->type_name("N")
                ->capture_default_str();
            a.add_option("--trace", o.trace, "write what waves of one compute unit do as a trace for Perfetto")
                ->type_name("PATH");
            a.add_option("--draws", o.draws, "draws over the model's uncertain parameters")
                ->check(CLI::Range(1u, 10000u))
                ->type_name("N")
                ->capture_default_str();
            a.add_option("--seed", o.seed, "of the draws")->type_name("N");
            power_option(a, o.power_limited);
          },
          run);
    }};

} // namespace asmevo::cli
