// time: how long a kernel takes, and whether another one is faster.
//
// A wrong kernel's time says nothing, so K1 is verified before it is timed, unless it holds a receipt already.
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/receipts.h"
#include "gate/commit.h"
#include "report/json.h"
#include "report/text.h"

namespace asmevo::cli {
namespace {

struct Options : Common {
  SettingOptions setting; // of K0
  std::string candidate;
  unsigned draws = 16;
  uint64_t seed = 0;
  bool sensitivity = false, power_limited = false;
};

std::string estimate_text(const std::string& file, const timing::Estimate& estimate) {
  return fmt::format("{}: {} (cv {:.2f} % over {} draws), bound by {}, {} waves a SIMD\n", file,
                     report::duration(estimate.median), estimate.cv * 100, estimate.seconds.size(), estimate.bound,
                     estimate.occupancy.waves_per_simd);
}

/// K1, and why it may be timed or why not.
struct Rival {
  device::Loaded loaded;
  std::string receipt; // in words; empty where it is not equivalent
  std::string fault;
  bool stopped = false;
};

Result<Rival> admit(Setting& setting, const Options& options) {
  AE_TRY(Input candidate, open_input(options.candidate));
  auto loaded = setting.device->load(candidate.object); // where it cannot be, the verification says why
  const std::string name = loaded ? receipt_name(setting, *loaded) : "";
  if (auto kept = kept_receipt(name)) return Rival{*std::move(loaded), *kept + ", verified before", {}};
  AE_TRY(Verification v, verify_file(setting, options.candidate, options.seed, stop_on_signal()));
  if (v.judgement.finding == oracle::Finding::stopped) return Rival{.stopped = true};
  if (!v.holds()) return Rival{.fault = v.difference ? *v.difference : v.judgement.evidence};
  keep_receipt(name, v);
  return Rival{std::move(v.loaded), v.judgement.evidence, {}};
}

Result<ExitStatus> run(const Options& options) {
  AE_TRY(Setting setting, open_setting(options.setting));
  const launch::Case& timed = setting.launch.cases.front();
  device::TimeOptions timing{.draws = options.draws,
                             .seed = options.seed,
                             .sensitivity = options.sensitivity,
                             .power_limited = options.power_limited};
  std::string device = setting.device->description();
  if (options.power_limited) device += ", power-limited clock";
  std::optional<Rival> rival;
  if (!options.candidate.empty()) {
    AE_TRY(rival, admit(setting, options));
    if (rival->stopped) return interrupted;
    if (!rival->fault.empty())
      return answer(options,
                    fmt::format("{}: not timed, since it does not behave like {}: {}\n", options.candidate,
                                options.setting.file, rival->fault),
                    {{"device", device}, {"equivalent", false}, {"evidence", rival->fault}}, negative);
  }
  AE_TRY(timing::Estimate original, setting.device->time(setting.loaded, timed, timing));
  std::string text = fmt::format("kernel {}, case {}, {}\n", setting.kernel->name, timed.name, device) +
                     estimate_text(options.setting.file, original);
  nlohmann::json document = {{"device", device},
                             {"kernel", setting.kernel->name},
                             {"case", timed.name},
                             {"original", report::to_json(original)}};
  if (rival) {
    AE_TRY(timing::Estimate candidate, setting.device->time(rival->loaded, timed, timing));
    AE_TRY(gate::Timing compared, gate::compare(original, candidate, device));
    text += estimate_text(options.candidate, candidate) +
            fmt::format("speedup {}\nequivalent: {}\n", report::speedup_line(compared), rival->receipt);
    document["candidate"] = report::to_json(candidate);
    document["comparison"] = report::to_json(compared);
    document["equivalent"] = true;
    document["receipt"] = rival->receipt;
    if (options.sensitivity) {
      const timing::Sensitivity s = timing::sensitivity(original, candidate, gate::CommitRule{}.epsilon);
      text += report::sensitivity_text(s, true);
      document["sensitivity"] = report::to_json(s);
    }
  } else if (options.sensitivity) {
    const timing::Sensitivity s = timing::sensitivity(original);
    text += report::sensitivity_text(s, false);
    document["sensitivity"] = report::to_json(s);
  }
  return answer(options, text, document);
}

} // namespace

const Verb time_verb = {
    "time", "time a kernel on the first case of a launch, or compare two",
    "  asmevo time softmax.hsaco --launch softmax.launch.json\n"
    "  asmevo time softmax.hsaco faster.hsaco --launch softmax.launch.json\n"
    "  asmevo time softmax.hsaco faster.hsaco --launch softmax.launch.json --sensitivity\n",
    [](CLI::App& app) {
      return declare<Options>(
          app,
          [](CLI::App& a, Options& o) {
            file_option(a, o.setting.file, "K0", "the original code object");
            a.add_option("K1", o.candidate, "a code object to compare with it; verified first")->type_name("");
            launch_options(a, o.setting);
            a.add_option("--draws", o.draws, "draws over the model's uncertain parameters")
                ->check(CLI::Range(1u, 10000u))
                ->type_name("N")
                ->capture_default_str();
            a.add_option("--seed", o.seed, "of the draws and of the inputs")->type_name("N");
            power_option(a, o.power_limited);
            a.add_flag("--sensitivity", o.sensitivity,
                       "which uncertain parameters of the model the verdict (or the time) depends on");
          },
          run);
    }};

} // namespace asmevo::cli
