// launch: a launch file from nothing but a code object.
//
// Probing runs on empty memory, so what it found is tried once more on real data before anybody is told to use it.
#include "cli/interrupt.h"
#include "cli/options.h"
#include "launch/infer.h"

namespace asmevo::cli {
namespace {

struct Options : Common {
  std::string file, kernel, output, device = "auto";
};

struct Trial {
  std::string name;
  uint64_t instructions = 0;
  std::string trouble; // empty where the case runs
};

std::string trouble_of(const device::Outcome& outcome) {
  if (!outcome.guard_damage.empty()) return outcome.guard_damage.front();
  if (!outcome.read_only_damage.empty()) return outcome.read_only_damage.front();
  if (outcome.status == machine::Status::completed) return {};
  return outcome.fault ? outcome.fault->message : "does not finish";
}

Result<std::vector<Trial>> try_cases(const Options& options, const Input& input, const launch::Launch& launch) {
  AE_TRY(auto device, device::make_simulated(input.codec.target(), options.device == "auto" ? "" : options.device));
  AE_TRY(device::Loaded loaded, device->load(input.object));
  device::LaunchOptions launching;
  launching.run.stop = stop_on_signal();
  std::vector<Trial> trials;
  for (const launch::Case& c : launch.cases) {
    AE_TRY(device::Outcome outcome, device->launch(loaded, c, launching));
    trials.push_back({c.name, outcome.instructions, trouble_of(outcome)});
  }
  return trials;
}

Result<ExitStatus> run(const Options& options) {
  if (!options.output.empty()) AE_CHECK(check_writable(options.output));
  AE_TRY(Input input, open_input(options.file));
  AE_TRY(const object::Kernel* kernel, object::choose_kernel(*input.object, options.kernel));
  AE_TRY(machine::Image image, machine::Image::create(input.object, input.codec));
  AE_TRY(launch::Inference inference, launch::infer_launch(image, *kernel, stop_on_signal()));
  AE_TRY(launch::Launch launch,
         launch::parse_launch(inference.text, options.output.empty() ? options.file : options.output));
  AE_CHECK(launch::check_launch(launch, *input.object, *kernel));
  AE_TRY(std::vector<Trial> trials, try_cases(options, input, launch));

  std::string text = fmt::format("kernel {}, confidence {}; assumed:\n", kernel->name, inference.confidence);
  for (const std::string& assumption : inference.assumptions) text += fmt::format("  {}\n", assumption);
  nlohmann::json cases = nlohmann::json::array();
  bool works = true;
  for (const Trial& t : trials) {
    works &= t.trouble.empty();
    text += t.trouble.empty() ? fmt::format("case {}: runs, {} wave-instructions\n", t.name, t.instructions)
                              : fmt::format("case {}: {}\n", t.name, t.trouble);
    cases.push_back({{"name", t.name}, {"instructions", t.instructions}, {"trouble", t.trouble}});
  }
  if (options.output.empty())
    text += inference.text;
  else
    AE_CHECK(write_text_file(options.output, inference.text));
  return answer(options, text,
                {{"file", options.file},
                 {"kernel", kernel->name},
                 {"confidence", inference.confidence},
                 {"assumptions", inference.assumptions},
                 {"cases", std::move(cases)},
                 {"launch", nlohmann::json::parse(inference.text)}},
                works ? positive : negative);
}

} // namespace

const Verb launch_verb = {"launch", "infer a launch file by probing the kernel on the simulated machine",
                          "  asmevo launch softmax.hsaco -o softmax.launch.json\n", [](CLI::App& app) {
                            return declare<Options>(
                                app,
                                [](CLI::App& a, Options& o) {
                                  file_option(a, o.file);
                                  kernel_option(a, o.kernel);
                                  output_option(a, o.output, "write the launch file here instead of to stdout");
                                  device_option(a, o.device);
                                },
                                run);
                          }};

} // namespace asmevo::cli
