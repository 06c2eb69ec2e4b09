// verify: does K1 behave like K0?
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/receipts.h"
#include "report/json.h"
#include "report/text.h"

#include <random>

namespace asmevo::cli {
namespace {

struct Options : Common {
  SettingOptions setting; // of K0
  std::string candidate;
  std::optional<uint64_t> seed;
  uint64_t proof_limit = 1000;
};

std::string_view heading_of(const Verification& v) {
  if (v.difference) return "not a drop-in replacement";
  return v.holds() ? "equivalent" : oracle::finding_name(v.judgement.finding);
}

std::string text_of(const Options& options, const Verification& v) {
  std::string out = fmt::format("{}: {} (seed {})\n", options.candidate, heading_of(v), v.seed);
  for (const std::string& note : v.notes) out += fmt::format("  note: {}\n", note);
  if (v.difference) return out + fmt::format("  {}\n", *v.difference);
  const oracle::Judgement& judgement = v.judgement;
  if (!v.holds()) return out + fmt::format("  {}\n", judgement.evidence);
  for (const auto& [buffer, histogram] : judgement.ulps)
    if (!histogram.all_equal()) out += fmt::format("  `{}`: {}\n", buffer, oracle::describe(histogram));
  const gate::Receipt receipt{.equivalence = v.equivalence, .case_count = judgement.case_count};
  std::string_view rest = v.strength;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    const std::string_view line = rest.substr(0, end);
    out += fmt::format("  {}{}", line, line.ends_with('\n') ? "" : "\n");
    rest.remove_prefix(end);
  }
  return out + fmt::format("  {}; {} runs on the {}\n", report::equivalence_line(receipt), judgement.runs, v.device) +
         fmt::format("  {}\n", report::fidelity_line(v.fidelity));
}

Result<ExitStatus> run(const Options& options) {
  AE_TRY(Setting setting, open_setting(options.setting));
  uint64_t seed = options.seed ? *options.seed : std::random_device{}();
  AE_TRY(Verification v, verify_file(setting, options.candidate, seed, stop_on_signal(), options.proof_limit));
  if (v.judgement.finding == oracle::Finding::stopped) return interrupted;
  if (v.holds()) keep_receipt(receipt_name(setting, v.loaded), v);
  nlohmann::json document = report::to_json(v.judgement);
  document["equivalent"] = v.holds();
  if (v.holds()) {
    document["equivalence"] = gate::equivalence_name(v.equivalence);
    document["strength"] = v.strength;
  }
  document["seed"] = v.seed;
  document["device"] = v.device;
  document["notes"] = v.notes;
  document["fidelity"] = report::to_json(v.fidelity);
  if (v.difference) document["abi_difference"] = *v.difference;
  return answer(options, text_of(options, v), document, v.holds() ? positive : negative);
}

} // namespace

const Verb verify_verb = {
    "verify", "test whether a code object behaves like the original on every case of a launch",
    "  asmevo verify softmax.hsaco faster.hsaco --launch softmax.launch.json\n"
    "  asmevo verify softmax.hsaco faster.hsaco --launch softmax.launch.json --seed 7 --json\n",
    [](CLI::App& app) {
      return declare<Options>(
          app,
          [](CLI::App& a, Options& o) {
            file_option(a, o.setting.file, "K0", "the original code object");
            file_option(a, o.candidate, "K1", "the code object to verify");
            launch_options(a, o.setting);
            a.add_option("--seed", o.seed, "of inputs, poison and schedules; a new one each time without it")
                ->type_name("N");
            a.add_option("--prove-limit", o.proof_limit, "of one question to the solver (1000); 0: nothing is proved")
                ->type_name("MS")
                ->check(CLI::Range(0, 600'000));
          },
          run);
    }};

} // namespace asmevo::cli
