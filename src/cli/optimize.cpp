// optimize: the main job. K0 in, K' out, everything that happened in a run directory.
//
// The run directory is made before the first costly step, so that an interruption at any moment leaves something that
// --resume can continue. OUT is written at the end only; until then the best version is in the run.
#include "cli/crew.h"
#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/options.h"
#include "cli/outside.h"
#include "report/json.h"
#include "report/text.h"
#include "search/controller.h"
#include "support/status_line.h"

#include <fmt/ranges.h>
#include <thread>

namespace asmevo::cli {
namespace {

struct Options : Common, JobOptions {
  std::string resume;
  unsigned workers = std::max(1u, std::thread::hardware_concurrency());
  agent::OutsideSettings outside; // for drivers that ask someone outside
};

Result<void> check_usage(const Options& options) {
  AE_CHECK(check_outside(options.outside, options.resume.empty() ? options.driver.name : ""));
  if (options.team > 1 && agent::asks_outside(options.driver.name))
    return fail("--team {}: driver {} asks someone outside and is one worker", options.team, options.driver.name);
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

Result<Job> begin(Options options) {
  if (!options.driver.input.empty()) options.driver.input = absolute_path(options.driver.input);
  if (agent::asks_outside(options.driver.name)) options.driver.input = agent::to_input(options.outside);
  AE_CHECK(agent::make_driver(options.driver, ""));
  return start_job(options);
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
  nlohmann::json document = document_of(final, job, versions, *bench.reference);
  AE_TRY(const std::optional<Spent> spent, spent_by(job.lineage.directory()));
  if (spent) {
    fmt::print(stderr, "spent: {}\n", spent->line);
    document["spent"] = spent->document;
  }
  return answer(options, report::final_table(final), document);
}

/// One for each worker; copies of the first share what they work out about a version.
Result<std::vector<std::unique_ptr<search::Driver>>> drivers_of_team(const search::DriverOptions& wanted,
                                                                     const Job& job) {
  std::vector<std::unique_ptr<search::Driver>> drivers;
  for (int64_t k = 0; k < job.lineage.info().team; ++k) {
    auto copy = drivers.empty() ? nullptr : drivers.front()->clone();
    if (!copy) {
      AE_TRY(copy, agent::make_driver(wanted, job.lineage.directory()));
    }
    drivers.push_back(std::move(copy));
  }
  return drivers;
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
  search::DriverOptions wanted{job.lineage.info().driver, job.lineage.info().driver_input};
  if (agent::asks_outside(wanted.name)) {
    AE_TRY(wanted.input, renewed_input(wanted.input, options.outside));
  }
  AE_TRY(const auto drivers, drivers_of_team(wanted, job));
  const std::unique_ptr<search::Driver>& driver = drivers.front();
  if (const auto notice = driver->notice()) fmt::print(stderr, "{}\n", *notice);
  AE_TRY(const auto benches, thread_benches(job, bench, options.workers > 1 ? options.workers : 0));
  search::Controller controller(bench, *driver, job.lineage);
  for (const auto& made : benches) controller.add_bench(made->bench);
  for (size_t k = 1; k < drivers.size(); ++k) controller.add_driver(*drivers[k]);
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
  if (summary.ending == search::Ending::driver_stopped) {
    if (summary.snapshot.evaluations == 0) return fail("{}", driver->trouble().value_or(""));
    fmt::print(stderr, "{}\nthe best version so far follows; to go on: asmevo optimize --resume {}\n",
               driver->trouble().value_or(""), job.lineage.directory());
  }
  return conclude(options, job, bench, summary);
}

Result<ExitStatus> run(const Options& options) {
  AE_CHECK(check_usage(options));
  const volatile bool* stop = stop_on_signal();
  AE_TRY(Job job, options.resume.empty() ? begin(options) : resume_job(options.resume, options.budget));
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
  for (const auto& [name, summary] : agent::all_drivers()) names.push_back(fmt::format("{} ({})", name, summary));
  app.add_option("--driver", options.driver.name, fmt::format("who proposes: {}", fmt::join(names, ", ")))
      ->type_name("NAME");
  app.add_option("--proposals", options.driver.input, "for --driver replay: recorded proposals, JSON lines")
      ->type_name("PATH");
  outside_options(app, options.outside);
  app.add_option("--budget", options.budget,
                 "evaluations (200), a time (90s, 10m, 2h) or both (200,10m); 200 without it")
      ->type_name("N|TIME");
  app.add_option("--seed", options.seed, "of all random choices")->type_name("N");
  app.add_option("--prove-limit", options.proof_limit,
                 "of one question to the solver when an accepted version is proved (200); 0: nothing is proved")
      ->type_name("MS")
      ->check(CLI::Range(0, 600'000));
  app.add_option("--workers", options.workers,
                 "candidates evaluated at once, all cores without it; changes how long a run takes and nothing else")
      ->type_name("N")
      ->check(CLI::Range(1u, 1024u));
  app.add_option("--team", options.team, "workers of the search, each with a direction and a version of its own (1)")
      ->type_name("N")
      ->check(CLI::Range(1, 64));
  app.add_option("--run", options.run_directory, "where the run is stored; OUT.asmevo without it")->type_name("DIR");
  app.add_option("--resume", options.resume, "continue the run in DIR; takes a new --budget")->type_name("DIR");
  app.add_flag("--force", options.force, "start over where an earlier run is stored");
}

} // namespace

const Verb optimize_verb = {
    "optimize", "search for a faster code object that behaves like the original",
    "  asmevo optimize softmax.hsaco --launch softmax.launch.json -o faster.hsaco\n"
    "  asmevo optimize softmax.hsaco --launch softmax.launch.json -o faster.hsaco --budget 500,10m --seed 7\n"
    "  asmevo optimize softmax.hsaco --launch softmax.launch.json -o faster.hsaco --driver exec --exec-mode prompt -- "
    "claude -p\n"
    "  asmevo optimize softmax.hsaco --launch softmax.launch.json -o faster.hsaco --driver llm --provider anthropic "
    "--model NAME --token-budget 1000000\n"
    "  asmevo optimize --resume faster.hsaco.asmevo\n",
    [](CLI::App& app) { return declare<Options>(app, declare_options, run); }};

} // namespace asmevo::cli
