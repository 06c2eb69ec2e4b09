// launch: a launch file for a kernel nobody described.
//
// What inference proposes is judged before anybody is told to use it: each case runs, and the oracle must find the
// object equivalent to itself on it. A tail shape that fails is left out and named; where the main case fails nothing
// is written.
#include "cli/interrupt.h"
#include "cli/launch_trial.h"
#include "cli/options.h"
#include "launch/infer.h"
#include "report/text.h"

namespace asmevo::cli {
namespace {

struct Options : Common {
  std::string file, kernel, output, device = "auto";
};

constexpr uint64_t few_values = 4; // fewer distinct results show little of a kernel

struct Proposal {
  nlohmann::ordered_json launch;
  LaunchTrial trial;
  bool works = false;
  std::string text() const { return launch.dump(2) + "\n"; }
};

/// The launch without the cases that no candidate can be judged on.
Result<Proposal> propose(const Options& options, const Input& input, const object::Kernel& kernel,
                         const launch::Inference& inference) {
  AE_TRY(launch::Launch launch,
         launch::parse_launch(inference.text, options.output.empty() ? options.file : options.output));
  AE_CHECK(launch::check_launch(launch, *input.object, kernel));
  AE_TRY(auto device, device::make_simulated(input.codec.target(), options.device == "auto" ? "" : options.device));
  Proposal p{.launch = nlohmann::ordered_json::parse(inference.text)};
  AE_TRY(p.trial, try_launch(input, *device, launch, stop_on_signal()));
  p.works = p.trial.cases[0].trouble.empty();
  for (size_t i = p.trial.cases.size(); i-- > 1;)
    if (!p.trial.cases[i].trouble.empty()) p.launch["cases"].erase(i);
  return p;
}

std::string text_of(const CaseTrial& c) {
  if (!c.trouble.empty()) return fmt::format("case {}: {}\n", c.name, c.trouble);
  return fmt::format("case {}: verified, {} wave-instructions, {} results{}\n", c.name, report::grouped(c.instructions),
                     report::grouped(c.results),
                     c.varied < few_values ? fmt::format(" with {} distinct values: it shows little", c.varied) : "");
}

Result<ExitStatus> run(const Options& options) {
  if (!options.output.empty()) AE_CHECK(check_writable(options.output));
  AE_TRY(Input input, open_input(options.file));
  AE_TRY(const object::Kernel* kernel, object::choose_kernel(*input.object, options.kernel));
  AE_TRY(machine::Image image, machine::Image::create(input.object, input.codec));
  AE_TRY(launch::Inference inference, launch::infer_launch(image, *kernel, stop_on_signal()));
  AE_TRY(Proposal proposal, propose(options, input, *kernel, inference));

  std::string text = fmt::format("kernel {}, confidence {}; assumed:\n", kernel->name, inference.confidence);
  for (const std::string& assumption : inference.assumptions) text += fmt::format("  {}\n", assumption);
  nlohmann::json cases = nlohmann::json::array();
  for (const CaseTrial& c : proposal.trial.cases) {
    text += text_of(c);
    cases.push_back({{"name", c.name},
                     {"instructions", c.instructions},
                     {"results", c.results},
                     {"distinct", c.varied},
                     {"trouble", c.trouble}});
  }
  if (proposal.trial.blocks)
    text += fmt::format("{} of {} basic blocks are executed\n", proposal.trial.covered, proposal.trial.blocks);
  if (!proposal.works)
    text += "no launch is written: no candidate could be judged on its main case\n";
  else if (options.output.empty())
    text += proposal.text();
  else
    AE_CHECK(write_text_file(options.output, proposal.text()));
  return answer(options, text,
                {{"file", options.file},
                 {"kernel", kernel->name},
                 {"confidence", inference.confidence},
                 {"assumptions", inference.assumptions},
                 {"cases", std::move(cases)},
                 {"blocks", proposal.trial.blocks},
                 {"covered", proposal.trial.covered},
                 {"launch", nlohmann::json(proposal.launch)}},
                proposal.works ? positive : negative);
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
