// suite: the same kernels, budgets and gates for several drivers; and every version that they found tried once more.
//
// Each search is a process of its own with a run of its own in the output folder. What is there already is not done
// again, and an interrupted suite goes on when the same command is given.
#include "cli/children.h"
#include "cli/interrupt.h"
#include "report/curves.h"
#include "search/budget.h"
#include "search/lineage.h"
#include "support/file.h"
#include "support/status_line.h"

#include <filesystem>
#include <random>
#include <thread>

namespace asmevo::cli {
namespace {

namespace fs = std::filesystem;

struct Options : Common {
  std::string action, folder, output, budget = "200", device = "auto", shapes;
  std::vector<std::string> drivers = {"rewrite", "mcmc", "random"}, kernels;
  uint64_t seed = 0;
  unsigned jobs = 1;
};

/// A code object with its launch file: same folder, same stem.
struct Kernel {
  std::string name, object, launch;
};

Result<std::vector<Kernel>> find_kernels(const Options& options) {
  std::error_code error;
  std::vector<Kernel> kernels;
  for (fs::directory_iterator at(options.folder, error), end; !error && at != end; at.increment(error)) {
    const fs::path path = at->path();
    if (path.extension() != ".hsaco" && path.extension() != ".co") continue;
    const fs::path launch = fs::path(path).replace_extension(".json");
    const std::string name = path.stem().string();
    const bool wanted = options.kernels.empty() || std::ranges::find(options.kernels, name) != options.kernels.end();
    if (wanted && fs::exists(launch)) kernels.push_back({name, path.string(), launch.string()});
  }
  if (error) return fail("{}: cannot read: {}", options.folder, error.message());
  std::ranges::sort(kernels, {}, &Kernel::name);
  for (const std::string& name : options.kernels)
    if (std::ranges::find(kernels, name, &Kernel::name) == kernels.end())
      return fail("{}: holds no {}.hsaco with a {}.json beside it", options.folder, name, name);
  if (kernels.empty()) return fail("{}: holds no code object X.hsaco with a launch file X.json", options.folder);
  return kernels;
}

/// One kernel searched by one driver. `driver` is "rewrite", or "replay:FOLDER" for FOLDER/KERNEL.jsonl.
struct Search {
  Kernel kernel;
  std::string driver;
  fs::path stem; // in the output folder; .hsaco and .asmevo are what the search makes

  std::string best() const { return stem.string() + ".hsaco"; }
  std::string run() const { return stem.string() + ".asmevo"; }
};

std::string file_name_of(std::string driver) {
  std::ranges::replace(driver, '/', '_');
  return driver;
}

std::vector<Search> searches_of(const std::vector<Kernel>& kernels, const Options& options) {
  std::vector<Search> searches;
  for (const Kernel& kernel : kernels)
    for (const std::string& driver : options.drivers)
      searches.push_back({kernel, driver, fs::path(options.output) / (kernel.name + "." + file_name_of(driver))});
  return searches;
}

bool is_finished(const Search& search) {
  if (!search::Lineage::exists(search.run()) || !fs::exists(search.best())) return false;
  const auto lineage = search::Lineage::read(search.run());
  const auto status = lineage ? lineage->status() : Result<search::RunStatus>(std::unexpected(lineage.error()));
  return status && !status->ending.empty();
}

/// A suite compares searches of one budget and one seed; a folder may hold others.
Result<void> check_same(const std::vector<Search>& searches, const Options& options) {
  AE_TRY(const search::Budget budget, search::parse_budget(options.budget));
  for (const Search& search : searches) {
    if (!search::Lineage::exists(search.run())) continue;
    AE_TRY(search::Lineage lineage, search::Lineage::read(search.run()));
    const search::RunInfo& info = lineage.info();
    if (info.budget_evaluations != budget.evaluations || info.budget_seconds != budget.seconds)
      return fail("{}: was begun with another --budget; give the same, or another folder to -o", search.run());
    if (info.seed != options.seed)
      return fail("{}: was begun with --seed {}; give the same, or another folder to -o", search.run(), info.seed);
  }
  return {};
}

std::vector<std::string> arguments_of(const Search& search, const Options& options) {
  const std::string workers = fmt::format("{}", std::max(1u, std::thread::hardware_concurrency() / options.jobs));
  if (search::Lineage::exists(search.run()))
    return {"optimize", "--resume", search.run(), "--workers", workers, "--json"};
  std::vector<std::string> arguments = {"optimize", search.kernel.object, "--launch",  search.kernel.launch,
                                        "-o",       search.best(),        "--run",     search.run(),
                                        "--budget", options.budget,       "--seed",    fmt::format("{}", options.seed),
                                        "--device", options.device,       "--workers", workers,
                                        "--json"};
  const size_t colon = search.driver.find(':');
  arguments.insert(arguments.end(), {"--driver", search.driver.substr(0, colon)});
  if (colon != search.driver.npos)
    arguments.insert(
        arguments.end(),
        {"--proposals", (fs::path(search.driver.substr(colon + 1)) / (search.kernel.name + ".jsonl")).string()});
  return arguments;
}

/// "valu, 1.31x away": what bounds the best version. Empty where it cannot be said.
std::string bound_of(const Search& search, const Options& options, const volatile bool* stop) {
  const auto child = run_child(
      {"profile", search.best(), "--launch", search.kernel.launch, "--device", options.device, "--json"}, stop);
  const auto document = nlohmann::json::parse(child ? child->output : "", nullptr, false);
  if (!document.is_object() || !document.contains("speed")) return {};
  const nlohmann::json& speed = document["speed"];
  double nearest = 0;
  std::string resource;
  for (const nlohmann::json& load : speed.value("loads", nlohmann::json::array()))
    if (const double share = load.value("share", 0.0); share > nearest) {
      nearest = share;
      resource = load.value("resource", "");
    }
  std::string text = speed.value("bound", "");
  if (nearest > 0) text += fmt::format("; busiest: {}, {:.0f} %", resource, nearest * 100);
  return text;
}

Result<report::Curve> curve_of(const Search& search) {
  report::Curve curve{.kernel = search.kernel.name, .driver = search.driver};
  AE_TRY(search::Lineage lineage, search::Lineage::read(search.run()));
  AE_TRY(std::vector<search::Attempt> attempts, lineage.attempts());
  AE_TRY(search::RunStatus status, lineage.status());
  curve.seconds = status.elapsed_seconds;
  double best = 1;
  for (const search::Attempt& attempt : attempts) {
    if (attempt.verdict.outcome == gate::Outcome::accepted && attempt.verdict.timing) {
      const gate::Timing& timing = *attempt.verdict.timing;
      ++curve.accepted;
      if (timing.speedup > best) {
        best = timing.speedup;
        curve.low = timing.low;
        curve.high = timing.high;
      }
    }
    curve.best.push_back(best);
  }
  return curve;
}

std::vector<report::Curve> curves_of(const std::vector<Search>& searches, const std::vector<std::string>& failures,
                                     const Options& options, const volatile bool* stop) {
  std::vector<report::Curve> curves;
  for (size_t k = 0; k < searches.size(); ++k) {
    report::Curve curve{.kernel = searches[k].kernel.name, .driver = searches[k].driver, .failure = failures[k]};
    if (failures[k].empty()) {
      auto read = curve_of(searches[k]);
      if (read)
        curve = *std::move(read);
      else
        curve.failure = read.error().message;
      if (searches[k].driver == options.drivers.front()) curve.bound = bound_of(searches[k], options, stop);
    }
    curves.push_back(std::move(curve));
  }
  return curves;
}

Result<ExitStatus> compare(const Options& options) {
  if (options.output.empty()) return fail("suite compare: -o FOLDER is required (see asmevo suite --help)");
  AE_TRY(std::vector<Kernel> kernels, find_kernels(options));
  std::error_code error;
  fs::create_directories(options.output, error);
  if (error) return fail("{}: cannot make the folder: {}", options.output, error.message());
  const volatile bool* stop = stop_on_signal();
  const std::vector<Search> searches = searches_of(kernels, options);
  AE_CHECK(check_same(searches, options));
  std::vector<std::string> failures(searches.size());
  std::vector<size_t> open;
  std::vector<std::vector<std::string>> lists;
  for (size_t k = 0; k < searches.size(); ++k)
    if (!is_finished(searches[k])) {
      open.push_back(k);
      lists.push_back(arguments_of(searches[k], options));
    }
  StatusLine status(stderr);
  size_t done = searches.size() - open.size();
  status.show(fmt::format("{}/{} searches", done, searches.size()));
  AE_CHECK(run_children(lists, options.jobs, stop, [&](size_t index, ChildEnd end) {
    const Search& search = searches[open[index]];
    if (end.status != positive && end.status != interrupted)
      failures[open[index]] = end.last_line.empty() ? fmt::format("exit status {}", end.status) : end.last_line;
    status.show(
        fmt::format("{}/{} searches; last: {} by {}", ++done, searches.size(), search.kernel.name, search.driver));
  }));
  status.finish();
  if (*stop) {
    fmt::print(stderr, "interrupted; the same command goes on\n");
    return interrupted;
  }
  const std::vector<report::Curve> curves = curves_of(searches, failures, options, stop);
  const fs::path folder = options.output;
  AE_CHECK(write_text_file(
      (folder / "suite.svg").string(),
      report::comparison_plot(curves, fmt::format("geometric mean over {} kernels, simulated", kernels.size()))));
  nlohmann::json document = report::to_json(curves);
  AE_CHECK(write_text_file((folder / "suite.json").string(), document.dump(1) + "\n"));
  const bool failed = std::ranges::any_of(failures, [](const std::string& f) { return !f.empty(); });
  return answer(options, report::comparison_table(curves) + fmt::format("plot: {}\n", (folder / "suite.svg").string()),
                document, failed ? negative : positive);
}

// --- audit

struct Suspect {
  std::string run;
  int64_t version = 0;
  std::string original, launch, shapes, file; // `shapes`: a launch file with other shapes, where there is one
};

Result<std::vector<Suspect>> suspects_of(const Options& options, const fs::path& folder) {
  std::vector<std::string> runs;
  std::error_code error;
  for (fs::directory_iterator at(options.folder, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".asmevo") runs.push_back(at->path().string());
  if (error) return fail("{}: cannot read: {}", options.folder, error.message());
  std::ranges::sort(runs);
  std::vector<Suspect> suspects;
  for (const std::string& run : runs) {
    AE_TRY(search::Lineage lineage, search::Lineage::read(run));
    AE_TRY(std::vector<search::Version> versions, lineage.versions());
    const search::RunInfo& info = lineage.info();
    for (const search::Version& version : versions) {
      if (version.parent < 0) continue;
      AE_TRY(Bytes bytes, lineage.artifact(version.artifact));
      const std::string file = (folder / (version.artifact + ".hsaco")).string();
      AE_CHECK(write_file(file, bytes));
      const fs::path other = fs::path(options.shapes) / fs::path(info.launch_path).filename();
      suspects.push_back({run, version.id, info.original_path, info.launch_path,
                          !options.shapes.empty() && fs::exists(other) ? other.string() : "", file});
    }
  }
  if (suspects.empty()) return fail("{}: holds no run with an accepted version", options.folder);
  return suspects;
}

/// How often each rule of `asmevo check` found something. Nothing where it did not say.
std::optional<std::map<std::string, size_t>> findings_of(const std::string& output) {
  const auto document = nlohmann::json::parse(output, nullptr, false);
  if (!document.is_object() || !document.contains("findings")) return std::nullopt;
  std::map<std::string, size_t> counts;
  for (const nlohmann::json& finding : document["findings"]) ++counts[finding.value("rule", "")];
  return counts;
}

/// What `check` finds in a version and not in the original; empty where there is nothing.
std::string more_findings(const std::string& original, const std::string& version) {
  const auto before = findings_of(original), after = findings_of(version);
  if (!before || !after) return "asmevo check gave no findings to compare";
  std::string text;
  for (const auto& [rule, count] : *after)
    if (const auto found = before->find(rule); found == before->end() || found->second < count)
      text += fmt::format("{}{} {} times", text.empty() ? "new findings: " : ", ", rule, count);
  return text;
}

Result<ExitStatus> audit(const Options& options) {
  const volatile bool* stop = stop_on_signal();
  std::string name = (fs::temp_directory_path() / "asmevo-audit-XXXXXX").string();
  if (!mkdtemp(name.data())) return fail("{}: cannot make a folder there", name);
  const std::shared_ptr<void> folder(nullptr, [&](void*) {
    std::error_code error;
    fs::remove_all(name, error);
  });
  AE_TRY(std::vector<Suspect> suspects, suspects_of(options, name));
  // Of each version: verified on its launch, verified on other shapes, linted with the launch; and the original linted.
  enum Question : size_t { tested, other_shapes, linted, original_linted, questions };
  std::vector<std::vector<std::string>> lists;
  std::random_device random;
  for (const Suspect& s : suspects) {
    const std::string seed = fmt::format("{}", random());
    lists.push_back({"verify", s.original, s.file, "--launch", s.launch, "--seed", seed, "--json"});
    lists.push_back(s.shapes.empty() ? std::vector<std::string>{"--version"}
                                     : std::vector<std::string>{"verify", s.original, s.file, "--launch", s.shapes,
                                                                "--seed", seed, "--json"});
    lists.push_back({"check", s.file, "--launch", s.launch, "--json"});
    lists.push_back({"check", s.original, "--launch", s.launch, "--json"});
  }
  std::vector<ChildEnd> ends(lists.size());
  StatusLine status(stderr);
  size_t done = 0;
  AE_CHECK(run_children(lists, options.jobs, stop, [&](size_t index, ChildEnd end) {
    ends[index] = std::move(end);
    status.show(fmt::format("{}/{} questions about {} versions", ++done, lists.size(), suspects.size()));
  }));
  status.finish();
  if (*stop) return interrupted;
  std::string text;
  nlohmann::json rows = nlohmann::json::array();
  size_t held = 0;
  for (size_t k = 0; k < suspects.size(); ++k) {
    const Suspect& s = suspects[k];
    const ChildEnd* end = &ends[k * questions];
    std::string fault = more_findings(end[original_linted].output, end[linted].output);
    if (end[other_shapes].status != positive) fault = "not equivalent on other shapes: " + end[other_shapes].output;
    if (end[tested].status != positive) fault = "not equivalent: " + end[tested].output + end[tested].last_line;
    const auto verdict = nlohmann::json::parse(end[tested].output, nullptr, false);
    const std::string strength = verdict.is_object() ? verdict.value("equivalence", "") : "";
    held += fault.empty();
    text += fmt::format("{} version {}: {}\n", s.run, s.version, fault.empty() ? strength : fault);
    rows.push_back({{"run", s.run},
                    {"version", s.version},
                    {"equivalence", strength},
                    {"fault", fault},
                    {"other_shapes", !s.shapes.empty()}});
  }
  text += fmt::format("{} of {} accepted versions hold\n", held, suspects.size());
  return answer(options, text, {{"versions", std::move(rows)}, {"held", held}, {"of", suspects.size()}},
                held == suspects.size() ? positive : negative);
}

Result<ExitStatus> run(const Options& options) {
  return options.action == "compare" ? compare(options) : audit(options);
}

void declare_options(CLI::App& app, Options& options) {
  app.add_option("ACTION", options.action, "compare: search with each driver; audit: verify every version found anew")
      ->required()
      ->check(CLI::IsMember({"compare", "audit"}))
      ->type_name("");
  app.add_option("FOLDER", options.folder,
                 "compare: code objects X.hsaco with launch files X.json; audit: what compare wrote")
      ->required()
      ->check(CLI::ExistingDirectory)
      ->type_name("");
  app.add_option("-o,--output", options.output, "folder for runs, best versions, suite.svg and suite.json")
      ->type_name("PATH");
  app.add_option("--drivers", options.drivers,
                 "rewrite,mcmc,random without it; replay:DIR replays DIR/KERNEL.jsonl. The first is compared with the "
                 "others")
      ->delimiter(',')
      ->type_name("NAMES");
  app.add_option("--kernels", options.kernels, "only these, by the names of their files")
      ->delimiter(',')
      ->type_name("NAMES");
  app.add_option("--budget", options.budget, "of each search: evaluations, a time or both (200)")->type_name("N|TIME");
  app.add_option("--seed", options.seed, "of every search")->type_name("N");
  app.add_option("--device", options.device, "auto, simulated, or a part to simulate (MI300X, MI210, ...)")
      ->type_name("NAME");
  app.add_option("--jobs", options.jobs, "searches at once (1)")->check(CLI::Range(1u, 256u))->type_name("N");
  app.add_option("--shapes", options.shapes, "for audit: folder of launch files of the same names with other shapes")
      ->type_name("DIR");
}

} // namespace

const Verb suite_verb = {"suite", "compare drivers on a folder of kernels; verify anew what they found",
                         "  asmevo suite compare corpus -o runs\n"
                         "  asmevo suite compare corpus -o runs --drivers rewrite,mcmc --budget 100 --jobs 2\n"
                         "  asmevo suite audit runs --jobs 2\n",
                         [](CLI::App& app) { return declare<Options>(app, declare_options, run); }};

} // namespace asmevo::cli
