#include "gate/strength.h"

#include "oracle/way.h"

#include <algorithm>

namespace asmevo::gate {
namespace {

std::string_view mnemonic_at(const machine::Image& image, int64_t index) {
  if (index < 0 || size_t(index) >= image.instructions().size()) return "-";
  return name_of(image.instructions()[size_t(index)]);
}

std::string key_of(const machine::Finding& f, const machine::Image& image) {
  return fmt::format("{}|{}|{}", machine::name_of(f.kind), mnemonic_at(image, f.instruction),
                     mnemonic_at(image, f.cause));
}

std::string place(const machine::Image& image, const isa::Codec& codec, int64_t index) {
  if (index < 0 || size_t(index) >= image.instructions().size()) return "code outside .text";
  const isa::Instruction& i = image.instructions()[size_t(index)];
  return fmt::format("{:#x} `{}`", i.address, codec.print(i));
}

std::string text_of(const machine::Finding& f, const machine::Image& image, const isa::Codec& codec) {
  std::string text = fmt::format("{}: {} {}", machine::name_of(f.kind), place(image, codec, f.instruction), f.message);
  if (f.cause >= 0) text += fmt::format("; the other is {}", place(image, codec, f.cause));
  return text;
}

/// Nothing where `stop` was set.
Result<std::optional<StrictRun>> watch(device::Device& device, oracle::Reference& reference,
                                       const device::Loaded& loaded, const isa::Codec& codec,
                                       const volatile bool* stop) {
  StrictRun run;
  const oracle::Way& way = oracle::candidate_ways().front();
  for (size_t k = 0; k < reference.launch().cases.size(); ++k) {
    if (!reference.leads(k)) {
      run.gap = "of large cases that differ in their inputs only the first was watched";
      continue;
    }
    const launch::Case& c = reference.launch().cases[k];
    device::LaunchOptions options = oracle::options_for(c, way, 0);
    options.run.strict = true;
    options.run.stop = stop;
    options.run.instruction_budget = strict_limit;
    options.run.wall_budget = std::chrono::hours(1); // a budget of instructions ends in the same place always
    AE_TRY(const device::Outcome outcome, device.launch(loaded, oracle::case_for(c, way, 0), options));
    if (outcome.status == machine::Status::stopped || (stop && *stop)) return std::nullopt;
    if (outcome.status == machine::Status::budget)
      run.unended = fmt::format("case \"{}\" executes more than {} instructions", c.name, strict_limit);
    else if (outcome.status != machine::Status::completed)
      run.unended = fmt::format("case \"{}\": {}", c.name, outcome.fault ? outcome.fault->message : "deadlock");
    for (const std::string& gap : outcome.strict.gaps) run.gap = gap;
    StrictCounts counts;
    for (const machine::Finding& f : outcome.strict.findings) {
      const std::string key = key_of(f, *loaded.image);
      ++counts[key];
      run.findings.emplace_back(key, fmt::format("case \"{}\": {}", c.name, text_of(f, *loaded.image, codec)));
    }
    for (const auto& [key, count] : counts) run.counts[key] = std::max(run.counts[key], count);
    if (!run.unended.empty()) return run;
  }
  return run;
}

bool full_waves(const launch::Launch& launch) {
  return std::ranges::all_of(launch.cases, [](const launch::Case& c) {
    uint64_t size = 1;
    bool whole = true;
    for (size_t d = 0; d < 3; ++d) {
      size *= c.workgroup_size[d];
      whole &= c.work_items[d] == 0 || c.work_items[d] % c.workgroup_size[d] == 0;
    }
    return whole && size % 64 == 0;
  });
}

} // namespace

Result<std::optional<StrictResult>> run_strict(device::Device& device, oracle::Reference& reference,
                                               const device::Loaded& candidate, const isa::Codec& codec,
                                               Examination& examination, const volatile bool* stop) {
  if (!device.simulated() || !candidate.image)
    return StrictResult{.gap = "only the simulated device watches its instructions"};
  AE_TRY(const std::optional<StrictRun> run, watch(device, reference, candidate, codec, stop));
  if (!run) return std::nullopt;
  StrictResult result{.fault = run->unended, .gap = run->gap};
  if (run->findings.empty() && run->unended.empty()) return result;
  if (!examination.original) { // only now does it matter what K0 does
    AE_TRY(examination.original, watch(device, reference, reference.original(), codec, stop));
    if (!examination.original) return std::nullopt;
  }
  const StrictRun& original = *examination.original;
  if (!original.unended.empty()) return StrictResult{.gap = "K0: " + original.unended};
  for (const auto& [key, count] : run->counts) {
    const auto known = original.counts.find(key);
    if (count <= (known == original.counts.end() ? 0 : known->second)) continue;
    for (const auto& [other, text] : run->findings)
      if (other == key) result.fault += (result.fault.empty() ? "" : "\n") + text;
  }
  return result;
}

ProofResult examine_proof(const recover::Program& original, const recover::Program& candidate,
                          const std::string& kernel, const launch::Launch& launch, Examination& examination) {
  const prove::Proof proof = prove::prove(original, candidate, examination.proofs, kernel, &examination.cache);
  if (proof.outcome == prove::Outcome::refuted) return {false, "", proof.reason};
  if (!proof.holds()) return {false, proof.reason, ""};
  if (proof.full_waves && !full_waves(launch))
    return {false, "shown only for waves that begin with all 64 lanes active, and the launch has others", ""};
  if (proof.regions == 0) return {true, "the code is the same", ""};
  return {true,
          fmt::format("{} region{} differ{} and compute{} the same for all inputs{}", proof.regions,
                      proof.regions == 1 ? "" : "s", proof.regions == 1 ? "s" : "", proof.regions == 1 ? "s" : "",
                      proof.full_waves ? ", where workgroups are multiples of 64" : ""),
          ""};
}

std::string proof_line(const ProofResult& proof) {
  if (proof.holds) return "proved: " + proof.text;
  if (proof.counterexample.empty()) return "not proved: " + proof.text;
  return fmt::format("not proved: {}; the tests bring no wave into such a state", proof.counterexample);
}

} // namespace asmevo::gate
