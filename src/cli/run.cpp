// run: what a kernel computes.
#include "cli/execution.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "device/capture_case.h"
#include "launch/npy.h"
#include "report/json.h"
#include "report/text.h"
#include "support/hash.h"

#include <filesystem>

namespace asmevo::cli {
namespace {

using report::json;

struct Options : Common {
  SettingOptions setting;
  ExecutionOptions execution;
  std::string dump, capture;
};

constexpr std::string_view status_names[] = {"completed", "fault", "over its budget", "deadlock", "stopped"};

constexpr size_t shown_elements = 8;

std::vector<double> first_elements(const launch::Buffer& buffer, std::span<const uint8_t> content) {
  std::vector<double> values;
  for (uint64_t i = 0; i < std::min<uint64_t>(buffer.elements(), shown_elements); ++i)
    values.push_back(launch::value_of(buffer.dtype, launch::load_element(buffer.dtype, content.data(), i)));
  return values;
}

std::string shape_text(const std::vector<uint64_t>& shape) {
  std::string out;
  for (uint64_t extent : shape) out += fmt::format("{}{}", out.empty() ? "" : "x", extent);
  return out;
}

/// JSON has no NaN and no infinity.
json number(double value) { return std::isfinite(value) ? json(value) : json(fmt::format("{}", value)); }

struct BufferView {
  std::string text;
  json document;
};

BufferView view(const launch::Buffer& buffer, std::span<const uint8_t> content) {
  BufferView v;
  json values = json::array();
  for (double value : first_elements(buffer, content)) {
    v.text += fmt::format(" {:.6g}", value);
    values.push_back(number(value));
  }
  v.text = fmt::format("  {} {} {}:{}{}\n", buffer.name, launch::name_of(buffer.dtype), shape_text(buffer.shape),
                       v.text, buffer.elements() > values.size() ? " ..." : "");
  v.document = {{"name", buffer.name},
                {"dtype", launch::name_of(buffer.dtype)},
                {"shape", buffer.shape},
                {"sha256", sha256_hex(content)},
                {"first", std::move(values)}};
  return v;
}

Result<void> write_buffers(const std::string& directory, const launch::Case& c, const device::Outcome& outcome) {
  std::filesystem::path folder = std::filesystem::path(directory) / (c.name.empty() ? "case" : c.name);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail("{}: cannot create: {}", folder.string(), error.message());
  for (const auto& [name, content] : outcome.buffers) {
    const launch::Buffer& buffer = *c.buffer(name);
    AE_CHECK(write_file((folder / (name + ".npy")).string(), launch::format_npy(buffer.dtype, buffer.shape, content)));
  }
  return {};
}

/// The case as a capture directory, which replays anywhere.
Result<void> write_capture(const std::string& directory, const Setting& setting, const launch::Case& c) {
  std::string folder = setting.launch.cases.size() == 1 ? directory : directory + "/" + c.name;
  AE_TRY(launch::Capture capture, device::capture_case(*setting.input.object, c, setting.device->description()));
  return launch::write_capture(folder, capture);
}

std::string fault_text(const machine::Fault& fault) {
  std::string where = fmt::format("workgroup {}, wave {}", fault.workgroup, fault.wave);
  if (fault.lane >= 0) where += fmt::format(", lane {}", fault.lane);
  if (fault.data_address) where += fmt::format(", address {:#x}", fault.data_address);
  return fmt::format(" at {:#x} ({}): {}", fault.address, where, fault.message);
}

/// What went wrong in one case, a line each.
std::string faults_of(const device::Outcome& outcome) {
  std::string out;
  if (outcome.status != machine::Status::completed)
    out +=
        fmt::format("  {}{}\n", status_names[size_t(outcome.status)], outcome.fault ? fault_text(*outcome.fault) : "");
  for (const std::string& damage : outcome.guard_damage) out += fmt::format("  {}\n", damage);
  for (const std::string& damage : outcome.read_only_damage) out += fmt::format("  {}\n", damage);
  return out;
}

Result<ExitStatus> run(const Options& options) {
  AE_TRY(Setting setting, open_setting(options.setting));
  AE_TRY(std::unique_ptr<Execution> execution, Execution::create(options.execution, setting, options.json));
  device::LaunchOptions launching;
  launching.run.stop = stop_on_signal();
  std::string text = fmt::format("{}: kernel {} on the {}\n", options.setting.file, setting.kernel->name,
                                 setting.device->description());
  json cases = json::array();
  ExitStatus status = positive;
  size_t findings = 0;
  for (const launch::Case& c : setting.launch.cases) {
    execution->prepare(launching.run);
    AE_TRY(device::Outcome outcome, setting.device->launch(setting.loaded, c, launching));
    if (outcome.status == machine::Status::stopped) return interrupted;
    std::string faults = faults_of(outcome);
    if (!faults.empty()) status = negative;
    text += fmt::format("case {}: {} wave-instructions, {}\n{}", c.name, report::grouped(outcome.instructions),
                        report::fidelity_line(outcome.fidelity), faults);
    json buffers = json::array();
    for (const launch::Buffer& buffer : c.buffers) {
      auto content = outcome.buffers.find(buffer.name);
      if (!launch::is_result(buffer.role) || content == outcome.buffers.end()) continue;
      BufferView v = view(buffer, content->second);
      text += v.text;
      buffers.push_back(std::move(v.document));
    }
    cases.push_back({{"name", c.name},
                     {"status", status_names[size_t(outcome.status)]},
                     {"instructions", outcome.instructions},
                     {"fidelity", report::to_json(outcome.fidelity)},
                     {"guard_damage", outcome.guard_damage},
                     {"read_only_damage", outcome.read_only_damage},
                     {"buffers", std::move(buffers)}});
    text += execution->collect(outcome, cases.back());
    findings += outcome.strict.findings.size();
    if (outcome.fault) cases.back()["fault"] = report::to_json(*outcome.fault);
    if (!options.dump.empty()) AE_CHECK(write_buffers(options.dump, c, outcome));
    if (!options.capture.empty()) AE_CHECK(write_capture(options.capture, setting, c));
  }
  if (options.execution.strict)
    text += fmt::format("{} findings in strict mode\n", findings ? report::grouped(findings) : "no");
  if (findings) status = negative;
  return answer(options, text,
                {{"file", options.setting.file},
                 {"kernel", setting.kernel->name},
                 {"device", setting.device->description()},
                 {"cases", std::move(cases)}},
                status);
}

} // namespace

const Verb run_verb = {
    "run", "execute a kernel on every case of a launch and show its outputs",
    "  asmevo run softmax.hsaco --launch softmax.launch.json\n"
    "  asmevo run softmax.hsaco --launch softmax.launch.json --dump outputs/\n"
    "  asmevo run softmax.hsaco --launch softmax.launch.json --strict\n"
    "  asmevo run softmax.hsaco --launch softmax.launch.json --trace-pc 0x1900:0x1a00 --trace-wave 0.0\n",
    [](CLI::App& app) {
      return declare<Options>(
          app,
          [](CLI::App& a, Options& o) {
            file_option(a, o.setting.file);
            launch_options(a, o.setting);
            execution_options(a, o.execution);
            a.add_option("--dump", o.dump, "write final buffers as NumPy arrays here, a folder a case")
                ->type_name("DIR");
            a.add_option("--capture", o.capture,
                         "write what each case finds in memory as a capture directory, which can be used as a launch")
                ->type_name("DIR");
          },
          run);
    }};

} // namespace asmevo::cli
