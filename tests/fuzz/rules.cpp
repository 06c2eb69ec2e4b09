// Differential fuzzing of the rules of `rewrite`.
//
//   fuzz_rules -count=500 -targets=gfx908,gfx90a,gfx942,gfx950 -csmith=100 -jobs=2 -seed=1
//
// The gates refuse what a wrong rule makes of a kernel, if a test input shows it; a rule has to be right by itself.
// Here each rule that may not change results is carried out on random programs, compiled at -O0 to -O3, and so are
// bundles of all rules; what each leaves is built and run beside the original, its loads as late as its waits let them
// be, and every value that a work-item leaves behind must agree. Work-items read and write in places of their own, and
// so results that differ are a rule's fault, or the clean-up's behind it. A mismatch prints what repeats it
// (-seed=N -count=1 -level=L -targets=T; -keep=DIR keeps source, code object and the listing of what is wrong there).
//
// The compiler leaves waits out (docs/testing.md, "Many volatile FLAT loads"), and a rule that changes one block keeps
// what is wrong in the others. So rules get each program with the waits put in that the static gate misses, which is
// run with late loads too: where it then gives other results, the static gate and the machine disagree about waits.
#include "analysis/repair.h"
#include "options.h"
#include "recover/recover.h"
#include "run.h"
#include "search/drivers/rewrite/bundle.h"
#include "support/file.h"

#include <algorithm>
#include <map>
#include <mutex>

using namespace asmevo;
using namespace asmevo::fuzz;
using namespace asmevo::search::rewrite;

namespace {

constexpr std::string_view tool = "fuzz_rules";
constexpr size_t ideas_of_a_rule = 3, bundles_of_a_program = 3;
constexpr size_t most_instructions = 3000;  // of a kernel: rules look at larger ones for minutes
constexpr uint64_t most_executed = 200'000; // wave-instructions

struct Count {
  uint64_t agreed = 0, different = 0, faults = 0, unbuilt = 0;
};

class Tally {
public:
  void add(const std::string& rule, uint64_t Count::* what) {
    std::lock_guard lock(mutex_);
    ++(counts_[rule].*what);
  }
  /// False where something is wrong.
  bool print() const {
    bool clean = true;
    for (const auto& [rule, count] : counts_) {
      say(fmt::format("{:26} {:6} agreed, {} different, {} faults, {} not built", rule, count.agreed, count.different,
                      count.faults, count.unbuilt));
      clean &= count.different == 0 && count.faults == 0 && count.unbuilt == 0;
    }
    return clean;
  }

private:
  std::mutex mutex_;
  std::map<std::string, Count> counts_;
};

/// One kernel and what the rules make of it.
class Trial {
public:
  Trial(const recover::Program& program, const recover::Function& function, const isa::Codec& codec,
        const std::vector<uint32_t>& input, std::string repeat, std::string folder, Tally& tally)
      : program_(program), function_(function), codec_(codec), input_(input), repeat_(std::move(repeat)),
        folder_(std::move(folder)), tally_(tally),
        facts_(gather({.program = &program, .function = &function, .codec = &codec})) {}

  /// `object` is what the compiler has made of the program.
  Result<void> run(const std::shared_ptr<const object::CodeObject>& object) {
    AE_TRY(const machine::Image image, machine::Image::create(object, codec_));
    const object::Kernel& kernel = object->kernels[size_t(function_.kernel)];
    const auto original = run_kernel(image, kernel, input_, most_executed, machine::Schedule::round_robin);
    if (!original) return {}; // it takes long, or does not end
    want_ = original->results;
    judge("no rule", "no wait is missing", {});
    for (const Rule& rule : all_rules())
      if (!rule.changes_floats) try_rule(rule);
    KnownSteps known;
    Workshop workshop(facts_, known);
    const std::vector<Bundle> bundles = all_bundles(false);
    for (size_t k = 0; k < std::min(bundles.size(), bundles_of_a_program); ++k)
      if (const auto bundled = carry_out(workshop, bundles[k]))
        judge("several rules", bundled->rationale, bundled->edits);
    return {};
  }

private:
  void try_rule(const Rule& rule) {
    const std::vector<Idea> ideas = rule.find(facts_);
    for (size_t k = 0; k < std::min(ideas.size(), ideas_of_a_rule); ++k)
      if (const auto edits = complete(facts_, ideas[k])) judge(std::string(rule.name), ideas[k].rationale, *edits);
  }

  void judge(const std::string& rule, const std::string& rationale, const std::vector<recover::Edit>& edits) {
    auto changed = recover::apply(program_, edits, codec_);
    if (!changed) return tell(rule, rationale, &Count::unbuilt, changed.error().message, nullptr);
    const auto got = run_built(*changed);
    if (!got) return tell(rule, rationale, &Count::faults, got.error().message, &*changed);
    const auto [expected, found] = std::ranges::mismatch(want_, got->results);
    if (expected == want_.end()) return tally_.add(rule, &Count::agreed);
    const size_t at = size_t(expected - want_.begin());
    tell(rule, rationale, &Count::different,
         fmt::format("work-item {}, value {}: {:#x} instead of {:#x}", at % items, at / items, *found, *expected),
         &*changed);
  }

  Result<KernelRun> run_built(const recover::Program& changed) const {
    auto bytes = recover::build(changed, codec_);
    if (!bytes) return fail("{}", bytes.error().message);
    AE_TRY(auto object, object::read_code_object(*std::move(bytes), "candidate"));
    auto shared = std::make_shared<const object::CodeObject>(std::move(object));
    AE_TRY(const machine::Image image, machine::Image::create(shared, codec_));
    return run_kernel(image, shared->kernels[size_t(function_.kernel)], input_, 4 * most_executed,
                      machine::Schedule::late_loads);
  }

  void tell(const std::string& rule, const std::string& rationale, uint64_t Count::* what, std::string_view message,
            const recover::Program* changed) {
    tally_.add(rule, what);
    say(fmt::format("WRONG {}: {} ({}): {}", repeat_, rule, rationale, message));
    if (!changed) return;
    const std::string name = fmt::format("{}/{}.{}.{}.s", folder_, function_.name, rule, wrong_++);
    if (const auto written = write_text_file(name, recover::print_listing(*changed, false)); !written)
      say(written.error().message);
  }

  const recover::Program& program_;
  const recover::Function& function_;
  const isa::Codec& codec_;
  const std::vector<uint32_t>& input_;
  std::string repeat_, folder_;
  Tally& tally_;
  Facts facts_;
  std::vector<uint64_t> want_;
  int wrong_ = 0;
};

using SharedObject = std::shared_ptr<const object::CodeObject>;

/// The object itself where no wait is missing.
Result<SharedObject> with_all_waits(const SharedObject& object, const isa::Codec& codec) {
  AE_TRY(recover::Program program, recover::recover(object, codec));
  bool complete = true;
  for (size_t f = 0; f < program.functions.size(); ++f) {
    if (analysis::missing_waits(program, program.functions[f]).empty()) continue;
    program = analysis::repaired(program, f, {}, codec);
    complete = false;
  }
  if (complete) return object;
  auto bytes = recover::build(program, codec);
  if (!bytes) return fail("{}", bytes.error().message);
  AE_TRY(auto whole, object::read_code_object(*std::move(bytes), "the program with all waits"));
  return std::make_shared<const object::CodeObject>(std::move(whole));
}

Result<void> run_target(const Batch& batch, const std::string& folder, isa::Processor target, unsigned level,
                        Tally& tally) {
  AE_TRY(const std::string path, compile_for_device(folder, target, level));
  AE_TRY(Bytes bytes, read_file(path));
  AE_TRY(auto object, object::read_code_object(std::move(bytes), path));
  AE_TRY(const isa::Target decoded, isa::target_from_elf(object.e_flags, object.abi_version, path));
  AE_TRY(const isa::Codec codec, isa::Codec::create(decoded));
  const auto compiled = std::make_shared<const object::CodeObject>(std::move(object));
  AE_TRY(const SharedObject shared, with_all_waits(compiled, codec));
  AE_TRY(const recover::Program program, recover::recover(shared, codec));
  for (const recover::Function& function : program.functions) {
    if (function.kernel < 0 || function.last - function.first > most_instructions) continue;
    AE_TRY(const uint64_t k, parse_number(tool, std::string_view(function.name).substr(1), path, batch.count));
    const std::vector<uint32_t> input = input_of(batch, unsigned(k));
    AE_CHECK(Trial(program, function, codec, input, repeat_with(batch, unsigned(k), target, level), folder, tally)
                 .run(compiled));
  }
  return {};
}

} // namespace

int main(int argc, char** argv) {
  const auto options = parse_options(tool, argc, argv);
  if (!options) {
    fmt::print(stderr, "{}\n", options.error().message);
    return 2;
  }
  Tally tally;
  const bool whole = for_each_batch(
      tool, *options, [&](const Batch& batch, unsigned number, const std::string& folder) -> Result<void> {
        AE_CHECK(write_source(batch, folder));
        for (const isa::Processor target : options->targets)
          AE_CHECK(run_target(batch, folder, target, level_of(*options, number, target), tally));
        return {};
      });
  return tally.print() && whole ? 0 : 1;
}
