// optimize: the main job. K0 in, K' out, everything that happened in a run directory.
//
// The run directory is made before the first costly step, so that an interruption at any moment leaves something that
// --resume can continue. OUT is written at the end only; until then the best version is in the run.
#include "cli/interrupt.h"
#include "cli/options.h"
#include "gate/pipeline.h"
#include "report/json.h"
#include "report/text.h"
#include "search/controller.h"
#include "search/drivers.h"
#include "support/hash.h"
#include "support/status_line.h"

#include <filesystem>
#include <fmt/ranges.h>

namespace asmevo::cli {
namespace {

struct Options : Common {
  SettingOptions setting;
  std::string output, run_directory, resume, budget;
  search::DriverOptions driver;
  uint64_t seed = 0, proof_limit = gate::Settings{}.proof_limit;
  unsigned workers = 1;
  bool force = false;
};

constexpr std::string_view default_budget = "200";

/// A run that is about to go on, new or old.
struct Job {
  search::Lineage lineage;
  Setting setting;
  gate::Original original;
  oracle::Policy policy;
  bool created = false; // by this process: nothing is lost when it is taken away again
};

std::string absolute(const std::string& path) {
  std::error_code error;
  auto full = std::filesystem::absolute(path, error);
  return error ? path : full.string();
}

std::string run_directory_of(const Options& options) {
  return options.run_directory.empty() ? options.output + ".asmevo" : options.run_directory;
}

Result<void> check_usage(const Options& options) {
  if (options.workers != 1) return fail("--workers {}: one worker so far", options.workers);
  if (!options.resume.empty()) {
    if (!options.setting.file.empty() || !options.setting.launch.empty() || !options.output.empty())
      return fail("--resume {}: the run knows its input, launch and output; leave FILE, --launch and -o out",
                  options.resume);
    return {};
  }
  if (options.setting.file.empty()) return fail("optimize: FILE is required (see asmevo optimize --help)");
  if (options.setting.launch.empty()) return fail("optimize: --launch is required (see asmevo optimize --help)");
  if (options.output.empty()) return fail("optimize: -o OUT is required (see asmevo optimize --help)");
  return check_writable(options.output);
}

Result<Job> start(const Options& options) {
  std::string directory = run_directory_of(options);
  if (search::Lineage::exists(directory)) {
    if (!options.force)
      return fail("{}: holds an earlier run; continue it with --resume {}, or start over with --force", directory,
                  directory);
  }
  AE_TRY(search::Budget budget, search::parse_budget(options.budget.empty() ? default_budget : options.budget));
  AE_CHECK(search::make_driver(options.driver));
  AE_TRY(Setting setting, open_setting(options.setting));
  AE_TRY(gate::Original original, gate::examine(setting.input.object, setting.kernel->name, setting.input.codec));
  oracle::Policy policy = oracle::default_policy();
  gate::Settings defaults;
  search::RunInfo info{.original_path = absolute(options.setting.file),
                       .original_hash = original.hash,
                       .kernel = original.kernel,
                       .launch_path = absolute(options.setting.launch),
                       .launch_hash = setting.launch.hash,
                       .policy_hash = policy.hash(),
                       .driver = options.driver.name,
                       .driver_input = options.driver.input.empty() ? "" : absolute(options.driver.input),
                       .device_part = options.setting.device,
                       .output_path = absolute(options.output),
                       .seed = options.seed,
                       .budget_evaluations = budget.evaluations,
                       .budget_seconds = budget.seconds,
                       .epsilon = defaults.rule.epsilon,
                       .k = defaults.rule.k,
                       .floor = defaults.rule.floor,
                       .faster = defaults.rule.faster,
                       .draws = defaults.draws,
                       .proof_limit = options.proof_limit};
  if (options.force) AE_CHECK(search::Lineage::remove(directory));
  search::Version root{.artifact = original.hash, .listing = recover::print_listing(original.program, false)};
  AE_TRY(search::Lineage lineage, search::Lineage::create(directory, info, root, setting.input.object->bytes));
  return Job{std::move(lineage), std::move(setting), std::move(original), std::move(policy), true};
}

/// Everything comes from the run; what it was made from must still be the same.
Result<Job> resume(const Options& options) {
  AE_TRY(search::Lineage lineage, search::Lineage::resume(options.resume));
  const search::RunInfo& info = lineage.info();
  AE_CHECK(check_writable(info.output_path));
  if (!options.budget.empty()) {
    AE_TRY(search::Budget budget, search::parse_budget(options.budget));
    AE_CHECK(lineage.extend(budget.evaluations, budget.seconds));
  }
  AE_TRY(Bytes bytes, lineage.artifact(info.original_hash));
  AE_TRY(Input input, open_input(std::move(bytes), info.original_path));
  SettingOptions where{info.original_path, info.launch_path, info.kernel, info.device_part};
  AE_TRY(Setting setting, open_setting(std::move(input), where));
  if (setting.launch.hash != info.launch_hash)
    return fail("{}: is not the launch that {} was started with", info.launch_path, options.resume);
  oracle::Policy policy = oracle::default_policy();
  if (policy.hash() != info.policy_hash)
    return fail("{}: was started with another comparison policy (by another version of asmevo)", options.resume);
  AE_TRY(gate::Original original, gate::examine(setting.input.object, info.kernel, setting.input.codec));
  return Job{std::move(lineage), std::move(setting), std::move(original), std::move(policy), false};
}

gate::Settings settings_of(const search::RunInfo& info) {
  return {.rule = {info.epsilon, info.k, info.floor, info.faster},
          .draws = info.draws,
          .seed = info.seed,
          .proof_limit = info.proof_limit};
}

void tell_facts(StatusLine& status, const Job& job, const oracle::Reference& reference) {
  const std::string& path = job.original.object->path;
  status.print(
      fmt::format("{}: kernel {}: round trip exact but for {} fields that the linker decides (asmevo roundtrip "
                  "lists them)",
                  path, job.original.kernel, job.original.masked.size()));
  for (const analysis::Finding& finding : job.original.findings)
    status.print(fmt::format("{}: fact about the original: {} {}", path, finding.rule, finding.message));
  if (job.original.lacking) status.print(fmt::format("{}: fact about the original: {}", path, *job.original.lacking));
  for (const std::string& note : reference.notes()) status.print(fmt::format("{}: note: {}", path, note));
}

ExitStatus tell_interrupted(StatusLine& status, const search::Lineage& lineage) {
  status.finish();
  fmt::print(stderr, "interrupted; nothing is lost: asmevo optimize --resume {}\n", lineage.directory());
  return interrupted;
}

std::optional<gate::Verdict> verdict_of(const std::vector<search::Attempt>& attempts, const search::Version& version) {
  for (const search::Attempt& attempt : attempts)
    if (attempt.version == version.id) return attempt.verdict;
  return std::nullopt;
}

/// T(K0) from the evaluations, or timed now where none got as far.
Result<double> original_seconds(Job& job, gate::Bench& bench) {
  if (!bench.original_estimate) {
    AE_TRY(bench.original_estimate, bench.device->time(job.setting.loaded, job.setting.launch.cases.front(),
                                                       {.draws = bench.settings.draws, .seed = bench.settings.seed}));
  }
  return bench.original_estimate->median;
}

nlohmann::json document_of(const report::FinalReport& final, const Job& job,
                           const std::vector<search::Version>& versions, const oracle::Reference& reference) {
  nlohmann::json tree = nlohmann::json::array();
  for (const search::Version& version : versions) tree.push_back(report::to_json(version));
  nlohmann::json document = {{"run", report::to_json(final.info)},
                             {"directory", final.directory},
                             {"device", final.device},
                             {"ending", search::ending_name(final.summary.ending)},
                             {"evaluations", final.summary.snapshot.evaluations},
                             {"elapsed_seconds", final.summary.snapshot.elapsed_seconds},
                             {"verdicts", report::counts_to_json(final.summary.snapshot.counts)},
                             {"improved", final.best.has_value()},
                             {"speedup", final.summary.best.speedup},
                             {"original_seconds", final.original_seconds},
                             {"best", report::to_json(final.summary.best)},
                             {"versions", std::move(tree)},
                             {"fidelity", report::to_json(final.fidelity)},
                             {"notes", reference.notes()},
                             {"masked", job.original.masked},
                             {"output", final.info.output_path}};
  if (final.best) document["best"]["verdict"] = report::to_json(*final.best);
  return document;
}

Result<ExitStatus> conclude(const Options& options, Job& job, gate::Bench& bench, const search::Summary& summary) {
  AE_TRY(Bytes best, job.lineage.artifact(summary.best.artifact));
  AE_CHECK(write_file(job.lineage.info().output_path, best));
  AE_TRY(std::vector<search::Attempt> attempts, job.lineage.attempts());
  AE_TRY(std::vector<search::Version> versions, job.lineage.versions());
  AE_TRY(double seconds, original_seconds(job, bench));
  report::FinalReport final{.info = job.lineage.info(),
                            .summary = summary,
                            .best = verdict_of(attempts, summary.best),
                            .original_seconds = seconds,
                            .device = bench.device->description(),
                            .fidelity = bench.reference->fidelity(),
                            .directory = job.lineage.directory()};
  return answer(options, report::final_table(final), document_of(final, job, versions, *bench.reference));
}

Result<ExitStatus> search_from(const Options& options, Job& job, const volatile bool* stop) {
  StatusLine status(stderr);
  gate::Settings settings = settings_of(job.lineage.info());
  auto reference = oracle::Reference::create(*job.setting.device, job.setting.loaded, job.setting.launch, job.policy,
                                             {.seed = settings.seed, .stop = stop});
  if (*stop) return tell_interrupted(status, job.lineage);
  if (!reference) return std::unexpected(reference.error());
  tell_facts(status, job, *reference);
  gate::Bench bench{.original = &job.original,
                    .codec = &job.setting.input.codec,
                    .device = job.setting.device.get(),
                    .reference = &*reference,
                    .settings = settings,
                    .stop = stop};
  AE_TRY(std::unique_ptr<search::Driver> driver,
         search::make_driver({job.lineage.info().driver, job.lineage.info().driver_input}));
  search::Controller controller(bench, *driver, job.lineage);
  controller.on_progress([&](const search::Snapshot& snapshot) {
    status.show(report::progress_line(snapshot));
    if (snapshot.last && snapshot.last->verdict.outcome == gate::Outcome::accepted)
      status.print(report::accepted_line(*snapshot.last));
  });
  AE_TRY(search::Summary summary, controller.run());
  status.finish();
  if (summary.driver_changed)
    fmt::print(stderr, "{}: the driver proposes other edits than when this run was recorded; it went on from there\n",
               job.lineage.directory());
  if (summary.ending == search::Ending::interrupted) return tell_interrupted(status, job.lineage);
  return conclude(options, job, bench, summary);
}

Result<ExitStatus> run(const Options& options) {
  AE_CHECK(check_usage(options));
  const volatile bool* stop = stop_on_signal();
  AE_TRY(Job job, options.resume.empty() ? start(options) : resume(options));
  Result<ExitStatus> status = search_from(options, job, stop);
  if (status || !job.created) return status;
  auto attempts = job.lineage.attempts();
  // An input that cannot be optimised leaves no run behind.
  if (attempts && attempts->empty()) AE_CHECK(search::Lineage::discard(std::move(job.lineage)));
  return status;
}

void declare_options(CLI::App& app, Options& options) {
  app.add_option("FILE", options.setting.file, "code object to optimise (.hsaco, .co)")->type_name("");
  app.add_option("--launch", options.setting.launch, "launch file: what the kernel is run on")->type_name("PATH");
  output_option(app, options.output, "where the faster code object goes");
  kernel_option(app, options.setting.kernel);
  device_option(app, options.setting.device);
  std::vector<std::string> names;
  for (const search::DriverEntry& entry : search::all_drivers())
    names.push_back(fmt::format("{} ({})", entry.name, entry.summary));
  app.add_option("--driver", options.driver.name, fmt::format("who proposes: {}", fmt::join(names, ", ")))
      ->type_name("NAME");
  app.add_option("--proposals", options.driver.input, "for --driver replay: recorded proposals, JSON lines")
      ->type_name("PATH");
  app.add_option("--budget", options.budget,
                 "evaluations (200), a time (90s, 10m, 2h) or both (200,10m); 200 without it")
      ->type_name("N|TIME");
  app.add_option("--seed", options.seed, "of all random choices")->type_name("N");
  app.add_option("--prove-limit", options.proof_limit,
                 "of one question to the solver when an accepted version is proved (200); 0: nothing is proved")
      ->type_name("MS")
      ->check(CLI::Range(0, 600'000));
  app.add_option("--workers", options.workers, "evaluations at once (1 so far)")->type_name("N");
  app.add_option("--run", options.run_directory, "where the run is stored; OUT.asmevo without it")->type_name("DIR");
  app.add_option("--resume", options.resume, "continue the run in DIR; takes a new --budget")->type_name("DIR");
  app.add_flag("--force", options.force, "start over where an earlier run is stored");
}

} // namespace

const Verb optimize_verb = {
    "optimize", "search for a faster code object that behaves like the original",
    "  asmevo optimize softmax.hsaco --launch softmax.launch.json -o faster.hsaco\n"
    "  asmevo optimize softmax.hsaco --launch softmax.launch.json -o faster.hsaco --budget 500,10m --seed 7\n"
    "  asmevo optimize --resume faster.hsaco.asmevo\n",
    [](CLI::App& app) { return declare<Options>(app, declare_options, run); }};

} // namespace asmevo::cli
