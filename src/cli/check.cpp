// check: what is wrong with the waits, hazards and resources of a code object.
#include "cli/options.h"
#include "gate/original.h"

namespace asmevo::cli {
namespace {

struct Options : Common {
  std::string file, kernel;
};

struct Found {
  std::string kernel, rule, message;
};

std::string address_of(const recover::Program& program, size_t item) {
  if (item >= program.items.size() || program.items[item].origin < 0) return ".text";
  const object::Section* text = program.origin->section(".text");
  uint64_t base = text ? text->address : 0;
  return fmt::format(".text+0x{:x}", uint64_t(program.items[item].origin) - base);
}

Result<std::vector<Found>> findings_of(const recover::Program& program, const recover::Function& function) {
  std::vector<Found> found;
  AE_TRY(isa::Resources needed, recover::scan_resources(program, function));
  if (auto lacking = gate::lacking_resources(needed, program.declared[size_t(function.kernel)]))
    found.push_back({function.name, "R001", *lacking});
  for (const analysis::Finding& finding : gate::static_findings(program, function))
    found.push_back(
        {function.name, finding.rule, fmt::format("{}: {}", address_of(program, finding.item), finding.message)});
  return found;
}

Result<ExitStatus> run(const Options& options) {
  AE_TRY(Input input, open_input(options.file));
  if (!options.kernel.empty()) AE_CHECK(object::choose_kernel(*input.object, options.kernel));
  AE_TRY(recover::Program program, recover::recover(input.object, input.codec));
  std::string text;
  nlohmann::json findings = nlohmann::json::array();
  size_t kernels = 0;
  for (const recover::Function& function : program.functions) {
    if (function.kernel < 0 || (!options.kernel.empty() && function.name != options.kernel)) continue;
    ++kernels;
    AE_TRY(std::vector<Found> found, findings_of(program, function));
    for (const Found& f : found) {
      text += fmt::format("{}: {} {}\n", options.file, f.rule, f.message);
      findings.push_back({{"kernel", f.kernel}, {"rule", f.rule}, {"message", f.message}});
    }
  }
  ExitStatus status = findings.empty() ? positive : negative;
  if (findings.empty())
    text = fmt::format("{}: {} kernel{}, no findings\n", options.file, kernels, kernels == 1 ? "" : "s");
  return answer(options, text, {{"file", options.file}, {"kernels", kernels}, {"findings", std::move(findings)}},
                status);
}

} // namespace

const Verb check_verb = {"check", "look for missing waits, hazards and undeclared registers",
                         "  asmevo check faster.hsaco\n  asmevo check faster.hsaco --json\n", [](CLI::App& app) {
                           return declare<Options>(
                               app,
                               [](CLI::App& a, Options& o) {
                                 file_option(a, o.file);
                                 kernel_option(a, o.kernel);
                               },
                               run);
                         }};

} // namespace asmevo::cli
