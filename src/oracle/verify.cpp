// A candidate against the reference: cheap cases first, every case as given before any case in other ways, and the
// first thing that is wrong ends it.
#include "oracle/divergence.h"
#include "oracle/reference.h"

#include "support/hash.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tbb/parallel_for.h>

namespace asmevo::oracle {

namespace {

constexpr size_t evidence_limit = 4096;
constexpr size_t named_writers = 2;                   // of each buffer
constexpr uint64_t watched_instructions = 20'000'000; // of a run that is worth another one to learn who stored what

constexpr std::string_view names[] = {"equivalent",       "divergence",       "runtime_fault",
                                      "guard_corruption", "read_only_damage", "stopped"};

/// Hash of what is run: the launch's content, the seed and the ways. Receipts name it.
std::string cases_hash(const launch::Launch& launch, const Options& options) {
  std::string text = fmt::format("{}\nseed {} looks {}, an earlier launch in a way of its own\n", launch.hash,
                                 options.seed, int(options.looks));
  for (const Way& way : candidate_ways())
    text += fmt::format("{} {} {} {} {} {} {} {}\n", way.other_input, way.poison, way.undefined, way.placement,
                        int(way.schedule), way.preload, way.after_earlier, way.crowded);
  return sha256_hex(text);
}

std::string policy_hash(const Reference::Impl& reference) {
  std::string text = reference.policy.hash() + "\n";
  for (const CaseFacts& facts : reference.facts) {
    text += fmt::format("{} {} {} {} {} {}\n", facts.any_schedule, facts.late_loads, facts.any_placement,
                        facts.any_undefined, facts.any_firmware, facts.any_crowd);
    for (auto& [name, t] : facts.tolerance)
      text += fmt::format("{} {:a} {:a} {:a} {:a}\n", name, t.absolute, t.relative, t.scaled, t.cosine);
  }
  return sha256_hex(text);
}

class Judge {
public:
  Judge(device::Device& device, Reference::Impl& reference, const device::Loaded& candidate, const Options& options)
      : device_(device), reference_(reference), candidate_(candidate), options_(options) {
    judgement_.original = reference.original_hash;
    judgement_.candidate = sha256_hex(candidate.object->bytes);
    judgement_.cases = cases_hash(reference.launch, options);
  }

  /// One case in the first way, before run(), which then leaves it out. What is wrong with it is said by run().
  Result<void> run_early(size_t index) {
    if (failed_) return {};
    AE_TRY(bool passed, run_case(index, candidate_ways().front()));
    failed_ = !passed;
    early_.insert(index);
    return {};
  }

  Result<Judgement> run() {
    judgement_.policy = policy_hash(reference_);
    if (failed_) return std::move(judgement_);
    std::vector<size_t> order(reference_.launch.cases.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t i) { return reference_.facts[i].instructions; });
    const auto ways = candidate_ways();
    std::vector<Task> tasks;
    for (size_t index : order)
      if (!early_.contains(index) && reference_.asks(index, 0, options_)) tasks.push_back({index, &ways.front()});
    AE_TRY(bool passed, run_tasks(tasks));
    if (!passed) return std::move(judgement_);
    // The other ways of a case one after the other: they share its input.
    tasks.clear();
    for (size_t index : order) {
      AE_TRY(const Way* of_earlier, way_of_earlier(index));
      for (size_t k = 1; k < ways.size(); ++k)
        if (reference_.asks(index, k, options_) && &ways[k] != of_earlier)
          tasks.push_back({index, &ways[k], ways[k].after_earlier ? of_earlier : nullptr});
    }
    AE_TRY(passed, run_tasks(tasks));
    if (!passed) return std::move(judgement_);
    judgement_.finding = Finding::equivalent;
    judgement_.case_count = unsigned(order.size());
    judgement_.evidence =
        fmt::format("{} cases in {} runs on {}", order.size(), judgement_.runs, device_.description());
    return std::move(judgement_);
  }

private:
  struct Task {
    size_t index;
    const Way* way;
    const Way* earlier = nullptr; // the way of the launch before
  };

  /// Each in order, until one does not pass. The simulated machine runs a few small ones at the same time, as one
  /// leaves most of a computer idle; what is said of them is what would have been said of one after the other.
  Result<bool> run_tasks(std::span<const Task> tasks) {
    constexpr size_t most_at_once = 4;
    constexpr uint64_t few = 1'000'000, little = uint64_t{16} << 20; // instructions, bytes: some milliseconds
    const auto is_small = [&](const Task& task) {
      uint64_t bytes = 0;
      for (const launch::Buffer& buffer : reference_.launch.cases[task.index].buffers) bytes += buffer.bytes();
      return candidate_.image && reference_.facts[task.index].instructions < few && bytes < little;
    };
    while (!tasks.empty()) {
      size_t count = 1;
      while (count < std::min(most_at_once, tasks.size()) && is_small(tasks[0]) && is_small(tasks[count])) ++count;
      std::vector<Judge> judges(count, Judge(*this, Judgement()));
      std::vector<Result<bool>> passed(count, false);
      tbb::parallel_for(size_t{0}, count, [&](size_t k) {
        passed[k] = judges[k].run_case(tasks[k].index, *tasks[k].way, tasks[k].earlier);
      });
      for (size_t k = 0; k < count; ++k) {
        if (!passed[k]) return std::unexpected(passed[k].error());
        take_over(std::move(judges[k].judgement_));
        if (!*passed[k]) return false;
      }
      tasks = tasks.subspan(count);
    }
    return true;
  }

  /// One that judges a part.
  Judge(const Judge& whole, Judgement part)
      : device_(whole.device_), reference_(whole.reference_), candidate_(whole.candidate_), options_(whole.options_),
        judgement_(std::move(part)) {}

  void take_over(Judgement part) {
    judgement_.finding = part.finding;
    judgement_.evidence = std::move(part.evidence);
    judgement_.runs += part.runs;
    for (const auto& [name, ulps] : part.ulps) judgement_.ulps[name].add(ulps);
  }

  /// Other turns of a heavy case are asked with the inputs for which K0's results are there.
  Options options_for_way(size_t index, const Way& way) const {
    Options options = options_;
    if (options.looks == Looks::second && reference_.facts[index].heavy && !way.other_input)
      options.seed = reference_.seed;
    return options;
  }

  /// K0 on a case in a way, and what the candidate is asked there.
  struct Question {
    Way way;
    launch::Case c;
    std::shared_ptr<const OriginalRun> original;
    std::string place;
    uint64_t seed = 0, budget = 0;
  };

  /// Nothing where K0 itself cannot be asked this.
  Result<std::optional<Question>> ask(size_t index, const Way& wanted) {
    const launch::Case& given = reference_.launch.cases[index];
    const Options options = options_for_way(index, wanted);
    const Way way = reference_.allowed(index, wanted);
    if (wanted.only_schedule() && !way.only_schedule()) return std::nullopt;
    AE_TRY(auto original, reference_.run(device_, index, way, options));
    const std::string name = &wanted == &candidate_ways()[0] ? "" : fmt::format(" ({})", wanted.name);
    const uint64_t budget = reference_.policy.budget(original->instructions);
    return Question{.way = way,
                    .c = case_for(given, way, options.seed),
                    .original = std::move(original),
                    .place = fmt::format("case \"{}\"{}", given.name, name),
                    .seed = options.seed,
                    .budget = budget};
  }

  /// The way that can be asked of the launch before another one: where K0 leaves no poison, which is another one there,
  /// and does not care what memory and registers held. Null where there is none.
  Result<const Way*> way_of_earlier(size_t index) {
    const auto ways = candidate_ways();
    const auto asked = [&](const Way& way) { return reference_.asks(index, size_t(&way - ways.data()), options_); };
    const auto of_earlier = std::ranges::find_if(ways, [&](const Way& w) { return w.only_execution() && asked(w); });
    const bool any_later = std::ranges::any_of(ways, [&](const Way& w) { return w.after_earlier && asked(w); });
    if (!reference_.facts[index].steady || of_earlier == ways.end() || !any_later) return nullptr;
    AE_TRY(const auto question, ask(index, *of_earlier));
    if (!question) return nullptr;
    const auto poisoned = [](const auto& result) { return !result.second.ignored.empty(); };
    return std::ranges::any_of(question->original->results, poisoned) ? nullptr : &*of_earlier;
  }

  /// `earlier` is a way that is asked of the launch before.
  Result<bool> run_case(size_t index, const Way& wanted, const Way* earlier = nullptr) {
    AE_TRY(const auto question, ask(index, wanted));
    if (!question) return true;
    device::LaunchOptions launch_options = options_for(reference_.launch.cases[index], question->way, question->seed);
    launch_options.run.stop = options_.stop;
    launch_options.run.instruction_budget = question->budget;
    std::optional<Question> before;
    bool went_well = true;
    if (earlier) {
      AE_TRY(before, ask(index, *earlier));
      before->place = fmt::format("case \"{}\" ({}; in the memory of the launch with {})",
                                  reference_.launch.cases[index].name, earlier->name, wanted.name);
      launch_options.earlier = {{.c = before->c, .preload = before->way.preload, .schedule = before->way.schedule}};
      launch_options.on_earlier = [&](const auto& outcome) { return went_well = passes(index, *before, outcome); };
    }
    AE_TRY(device::Outcome outcome, device_.launch(candidate_, question->c, launch_options));
    if (!went_well) return run_alone(index, *earlier);
    if (passes(index, *question, outcome)) return true;
    launch_options.on_earlier = nullptr;
    if (judgement_.finding == Finding::divergence && outcome.instructions <= watched_instructions)
      AE_CHECK(name_writers(question->c, std::move(launch_options)));
    return false;
  }

  /// What went wrong before another launch, by itself, where it can be seen who wrote what. It may go well there: then
  /// what was seen first stands.
  Result<bool> run_alone(size_t index, const Way& wanted) {
    Judgement seen = judgement_;
    AE_TRY(const bool passed, run_case(index, wanted));
    if (passed) judgement_ = std::move(seen);
    return false;
  }

  bool passes(size_t index, const Question& question, const device::Outcome& outcome) {
    ++judgement_.runs;
    place_ = question.place;
    budget_ = question.budget;
    wrong_.clear();
    return judge(outcome, *question.original, reference_.facts[index]);
  }

  /// Once more, with an eye on the elements that the evidence shows first.
  Result<void> name_writers(const launch::Case& c, device::LaunchOptions launch_options) {
    if (wrong_.empty() || !device_.simulated()) return {};
    for (const auto& [buffer, index] : wrong_) {
      const uint64_t byte = launch::is_packed(buffer->dtype) ? index / 2 : index * launch::size_of(buffer->dtype);
      launch_options.watched.push_back({buffer->name, byte});
    }
    AE_TRY(device::Outcome outcome, device_.launch(candidate_, c, launch_options));
    for (size_t k = 0; k < outcome.writers.size(); ++k) {
      const auto& [buffer, index] = wrong_[k];
      const std::string element =
          fmt::format("  `{}`[{}]", buffer->name, fmt::join(index_in(buffer->shape, index), ","));
      const auto& writer = outcome.writers[k];
      add_evidence(
          writer
              ? fmt::format("{} was stored last by workgroup {}, wave {}, lane {} at {:#x} of the object ({})\n",
                            element, writer->workgroup, writer->wave, writer->lane, writer->address, writer->mnemonic)
              : fmt::format("{} was not stored to\n", element));
    }
    return {};
  }

  bool judge(const device::Outcome& outcome, const OriginalRun& original, const CaseFacts& facts) {
    if (outcome.status == machine::Status::stopped) return reject(Finding::stopped, "stopped");
    if (!outcome.read_only_damage.empty())
      return reject(Finding::read_only_damage, fmt::format("{}", fmt::join(outcome.read_only_damage, "\n")));
    if (!outcome.guard_damage.empty())
      return reject(Finding::guard_corruption, fmt::format("{}", fmt::join(outcome.guard_damage, "\n")));
    if (outcome.status != machine::Status::completed)
      return reject(Finding::runtime_fault, fmt::format("{}\n  (K0 needs {} instructions)",
                                                        fault_text(outcome, budget_), original.instructions));
    std::string text;
    for (const auto& [name, expected] : original.results) {
      auto got = outcome.buffers.find(name);
      if (got == outcome.buffers.end() || got->second.size() != expected.bytes.size())
        return reject(Finding::runtime_fault, fmt::format("the device did not return `{}`", name));
      Comparison comparison = compare(expected, got->second, facts.tolerance.at(name));
      if (launch::is_floating(expected.buffer->dtype)) judgement_.ulps[name].add(comparison.ulps);
      if (comparison.passed()) continue;
      text += describe(expected, got->second, comparison, facts.tolerance.at(name));
      for (const Mismatch& m : std::span(comparison.first).first(std::min(named_writers, comparison.first.size())))
        wrong_.emplace_back(expected.buffer, m.index);
    }
    return text.empty() || reject(Finding::divergence, text);
  }

  bool reject(Finding finding, std::string_view text) {
    judgement_.finding = finding;
    judgement_.evidence = fmt::format("{}: ", place_);
    add_evidence(text);
    return false;
  }

  void add_evidence(std::string_view text) {
    judgement_.evidence += text;
    if (judgement_.evidence.size() > evidence_limit)
      judgement_.evidence = judgement_.evidence.substr(0, evidence_limit - 4) + "...\n";
  }

  device::Device& device_;
  Reference::Impl& reference_;
  const device::Loaded& candidate_;
  const Options& options_;
  Judgement judgement_;
  std::string place_;
  uint64_t budget_ = 0;
  bool failed_ = false;
  std::set<size_t> early_;
  std::vector<std::pair<const launch::Buffer*, uint64_t>> wrong_; // elements of the last run that differ, the first few
};

} // namespace

std::string_view finding_name(Finding finding) { return names[size_t(finding)]; }

Result<Judgement> verify(device::Device& device, Reference& reference, const device::Loaded& candidate,
                         const Options& options) {
  auto judgement = Judge(device, reference.impl(), candidate, options).run();
  reference.impl().forget(options.seed);
  return judgement;
}

Result<Trial> Reference::verify_once(device::Device& device, device::Loaded original, launch::Launch launch,
                                     Policy policy, const device::Loaded& candidate, const Options& options) {
  auto impl = std::make_unique<Impl>(std::move(original), std::move(launch), std::move(policy));
  impl->keeps_followers = false;
  Judge judge(device, *impl, candidate, options);
  AE_CHECK(examine(device, *impl, options, [&](size_t index) -> Result<void> {
    if (impl->facts[index].leader == index) return {};
    AE_CHECK(judge.run_early(index));
    impl->drop(index);
    return {};
  }));
  AE_TRY(Judgement judgement, judge.run());
  return Trial{Reference(std::move(impl)), std::move(judgement)};
}

} // namespace asmevo::oracle
