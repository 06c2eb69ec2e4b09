// mutation_score [-count=N] [-seed=N] KERNEL...: spoils corpus/KERNEL.hsaco in N ways and puts each before the gate.
//
// Prints a row of the table in docs/verification.md for each kernel, and every mutant that passed the tests. Such a
// mutant is either proved equal by the prover, or listed in survivors.txt with the reason why no input can tell it from
// the original. Anything else is a hole in the gate: exit status 1. So is a listed survivor that no longer survives.
#include "gate/pipeline.h"
#include "mutants.h"
#include "support/file.h"

#include <algorithm>
#include <cstdio>
#include <fmt/ranges.h>
#include <map>

using namespace asmevo;

namespace {

struct Options {
  size_t count = 36;
  uint64_t seed = 1;
  bool verbose = false;
  std::vector<std::string> kernels;
};

/// How a mutant ended. The first ones are refusals by the stage that saw it.
enum class End : uint8_t { unbuilt, static_gate, divergence, fault, guard, strict, proved, listed, survived };
constexpr size_t ends = size_t(End::survived) + 1;

struct Judged {
  End end = End::survived;
  std::string evidence;
};

class Subject {
public:
  static Result<std::unique_ptr<Subject>> open(const std::string& name) {
    const std::string base = std::string(ASMEVO_SOURCE_DIR "/corpus/") + name;
    auto subject = std::make_unique<Subject>();
    AE_TRY(Bytes bytes, read_file(base + ".hsaco"));
    AE_TRY(object::CodeObject object, object::read_code_object(std::move(bytes), name));
    auto shared = std::make_shared<const object::CodeObject>(std::move(object));
    AE_TRY(launch::Launch launch, launch::read_launch(base + ".json"));
    subject->timed_ = launch.cases.front();
    auto size = [](const launch::Case& c) { return uint64_t{c.workgroups[0]} * c.workgroups[1] * c.workgroups[2]; };
    std::ranges::stable_sort(launch.cases, {}, size); // what fails, fails early
    AE_TRY(isa::Target target, isa::target_from_elf(shared->e_flags, shared->abi_version, name));
    AE_TRY(isa::Codec codec, isa::Codec::create(target));
    subject->codec_.emplace(std::move(codec));
    AE_TRY(subject->original_, gate::examine(shared, launch.kernel, *subject->codec_));
    AE_TRY(subject->device_, device::make_simulated(target, ""));
    AE_TRY(device::Loaded loaded, subject->device_->load(shared));
    AE_TRY(auto reference, oracle::Reference::create(*subject->device_, loaded, launch, oracle::default_policy()));
    subject->reference_.emplace(std::move(reference));
    subject->bench_ = {.original = &subject->original_,
                       .codec = &*subject->codec_,
                       .device = subject->device_.get(),
                       .reference = &*subject->reference_};
    return subject;
  }

  Result<std::vector<mutation::Mutant>> mutants(size_t count, uint64_t seed) const {
    AE_TRY(const recover::Function* function, gate::function_of(original_.program, original_.kernel));
    const object::Kernel* kernel = original_.object->kernel(original_.kernel);
    return mutation::mutants({&original_.program, function, kernel, &timed_}, count, seed);
  }

  Judged judge(const mutation::Mutant& mutant, uint64_t seed) {
    auto built = gate::build(gate::Edited{&original_.program, mutant.edits}, bench_);
    if (!built) return refused(built.error(), End::unbuilt);
    if (built->object->bytes == original_.object->bytes) return {End::unbuilt, "the same object"};
    if (auto checked = gate::check(*built, bench_); !checked) return refused(checked.error(), End::static_gate);
    auto verified = gate::establish_equivalence(*built, {.seed = seed}, bench_);
    if (!verified) return refused(verified.error(), End::divergence);
    auto strong = gate::strengthen(std::move(*verified), *built, bench_);
    if (!strong) return refused(strong.error(), End::strict);
    return {strong->receipt().equivalence == gate::Equivalence::proved ? End::proved : End::survived,
            strong->strength()};
  }

private:
  static Judged refused(const gate::Halt& halt, End end) {
    const auto* verdict = std::get_if<gate::Verdict>(&halt);
    if (!verdict)
      return {End::survived, std::holds_alternative<Error>(halt) ? std::get<Error>(halt).message : "stopped"};
    if (verdict->outcome == gate::Outcome::runtime_fault && end == End::divergence) end = End::fault;
    if (verdict->outcome == gate::Outcome::guard_corruption) end = End::guard;
    return {end, verdict->evidence};
  }

  launch::Case timed_;
  std::optional<isa::Codec> codec_;
  gate::Original original_;
  std::unique_ptr<device::Device> device_;
  std::optional<oracle::Reference> reference_;
  gate::Bench bench_;
};

/// "kernel | kind | name | reason" a line; # begins a comment.
using Survivors = std::map<std::string, std::string>;

std::string key_of(const std::string& kernel, const mutation::Mutant& m) {
  return fmt::format("{} | {} | {}", kernel, m.kind, m.name);
}

Result<Survivors> read_survivors() {
  const std::string path = ASMEVO_SOURCE_DIR "/tests/mutation/survivors.txt";
  AE_TRY(std::string text, read_text_file(path));
  Survivors survivors;
  for (size_t begin = 0, line = 1; begin < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string entry = text.substr(begin, end - begin);
    begin = end + 1;
    if (entry.empty() || entry.starts_with('#')) continue;
    const size_t bar = entry.rfind(" | ");
    if (bar == std::string::npos)
      return fail("{}:{}: a kernel, kind, name and reason between bars are needed", path, line);
    survivors.emplace(entry.substr(0, bar), entry.substr(bar + 3));
  }
  return survivors;
}

/// The number of holes: survivors that nothing explains, explanations that explain nothing.
Result<size_t> run_kernel(const std::string& kernel, const Options& options, const Survivors& survivors) {
  AE_TRY(auto subject, Subject::open(kernel));
  AE_TRY(auto mutants, subject->mutants(options.count * 2, options.seed)); // some do not assemble
  std::array<size_t, ends> counts{};
  size_t judged = 0, holes = 0;
  for (const auto& mutant : mutants) {
    if (judged == options.count) break;
    Judged j = subject->judge(mutant, options.seed);
    const std::string key = key_of(kernel, mutant);
    auto listed = survivors.find(key);
    if (j.end == End::survived && listed != survivors.end()) j.end = End::listed;
    if (listed != survivors.end() && j.end != End::listed && ++holes)
      fmt::print("HOLE {}: listed as a survivor, but it is refused or proved\n", key);
    if (j.end == End::survived && ++holes) fmt::print("HOLE {}\n  {}\n", key, j.evidence);
    if (j.end == End::proved) fmt::print("proved equal: {}\n", key);
    if (options.verbose) fmt::print("  {} {}: {}\n", size_t(j.end), key, j.evidence.substr(0, 200));
    judged += j.end != End::unbuilt;
    ++counts[size_t(j.end)];
    std::fflush(stdout);
  }
  auto of = [&](End e) { return counts[size_t(e)]; };
  const size_t equal = of(End::proved) + of(End::listed), refused = judged - equal - of(End::survived);
  fmt::print("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.0f} % |\n", kernel, judged, of(End::static_gate),
             of(End::divergence), of(End::fault), of(End::guard), of(End::strict), of(End::proved), of(End::listed),
             judged == equal ? 0.0 : 100.0 * double(refused) / double(judged - equal));
  if (judged < options.count) fmt::print("only {} mutants of {}\n", judged, kernel);
  return holes;
}

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    char* end = nullptr;
    if (argument == "-v")
      options.verbose = true;
    else if (argument.starts_with("-count="))
      options.count = std::strtoull(argv[i] + 7, &end, 10);
    else if (argument.starts_with("-seed="))
      options.seed = std::strtoull(argv[i] + 6, &end, 10);
    else if (argument.starts_with('-'))
      return std::nullopt;
    else
      options.kernels.emplace_back(argument);
    if (end && *end) return std::nullopt;
  }
  return options.kernels.empty() ? std::nullopt : std::optional(options);
}

} // namespace

int main(int argc, char** argv) {
  const auto options = parse(argc, argv);
  if (!options) {
    fmt::print(stderr, "usage: mutation_score [-count=N] [-seed=N] [-v] KERNEL...   (names of corpus/)\n");
    return 2;
  }
  auto survivors = read_survivors();
  size_t holes = 0;
  for (const std::string& kernel : options->kernels) {
    auto found = survivors ? run_kernel(kernel, *options, *survivors) : std::unexpected(survivors.error());
    if (!found) {
      fmt::print(stderr, "{}\n", found.error().message);
      return 2;
    }
    holes += *found;
  }
  return holes ? 1 : 0;
}
