// The equivalence stage: from the oracle's judgement to a receipt.
#include "gate/pipeline.h"

#include <map>

namespace asmevo::gate {
namespace {

const std::map<oracle::Finding, Outcome> outcomes = {
    {oracle::Finding::divergence, Outcome::divergence},
    {oracle::Finding::runtime_fault, Outcome::runtime_fault},
    {oracle::Finding::guard_corruption, Outcome::guard_corruption},
    {oracle::Finding::read_only_damage, Outcome::guard_corruption},
};

/// Where two results differ the prover can often say in which lines, and for which registers: it looks for a state of a
/// region in which both versions differ when they run, and asks no solver.
std::string counterexample(const Built& built, const Bench& bench) {
  const prove::Proof proof = prove::prove(bench.original->program, built.program,
                                          {.solver_limit = std::chrono::milliseconds(0)}, bench.original->kernel);
  if (proof.outcome != prove::Outcome::refuted) return {};
  const recover::Item& top = built.program.items[proof.region.first[1]];
  const std::string place = top.kind == recover::ItemKind::label ? top.text : "the beginning";
  return fmt::format("\nthe code from {} on, run by itself: {}", place, proof.reason);
}

std::unexpected<Halt> rejected(const oracle::Judgement& judgement, const Built& built, const Bench& bench) {
  std::string evidence = judgement.evidence;
  if (judgement.finding == oracle::Finding::divergence) evidence += counterexample(built, bench);
  return std::unexpected<Halt>(
      Verdict{.outcome = outcomes.at(judgement.finding), .evidence = bounded_evidence(std::move(evidence))});
}

} // namespace

/// The only maker of Verified.
class EquivalenceStage {
public:
  static Stage<Verified> run(const Built& built, oracle::Options options, Bench& bench) {
    auto loaded = bench.device->load(built.object);
    if (!loaded)
      return std::unexpected<Halt>(
          Verdict{.outcome = Outcome::runtime_fault, .evidence = bounded_evidence(loaded.error().message)});
    options.stop = bench.stop;
    auto judgement = oracle::verify(*bench.device, *bench.reference, *loaded, options);
    // Told to stop while K0 ran, there is no judgement either.
    bool stopped = judgement ? judgement->finding == oracle::Finding::stopped : bench.stop && *bench.stop;
    if (stopped) return std::unexpected<Halt>(Interrupted{});
    if (!judgement) return std::unexpected<Halt>(judgement.error());
    if (judgement->finding != oracle::Finding::equivalent) return rejected(*judgement, built, bench);
    if (judgement->original != bench.original->hash || judgement->candidate != built.hash)
      return std::unexpected<Halt>(Error{"candidate: the oracle judged another object than the one that was built"});
    return Verified(*std::move(loaded), Receipt{.original = judgement->original,
                                                .candidate = judgement->candidate,
                                                .cases = judgement->cases,
                                                .policy = judgement->policy,
                                                .equivalence = Equivalence::tested,
                                                .case_count = judgement->case_count});
  }

  static Stage<Verified> strengthen(Verified verified, const Built& built, Bench& bench) {
    auto strict =
        run_strict(*bench.device, *bench.reference, verified.loaded_, *bench.codec, bench.examination, bench.stop);
    if (!strict) return std::unexpected<Halt>(strict.error());
    if (!*strict) return std::unexpected<Halt>(Interrupted{});
    if (!(*strict)->fault.empty())
      return std::unexpected<Halt>(
          Verdict{.outcome = Outcome::runtime_fault, .evidence = bounded_evidence("strict mode: " + (*strict)->fault)});
    if ((*strict)->clean())
      verified.receipt_.equivalence = Equivalence::tested_strict_clean;
    else
      verified.strength_ = fmt::format("not strict clean: {}\n", (*strict)->gap);
    if (bench.settings.proof_limit == 0) return verified;
    bench.examination.proofs.solver_limit = std::chrono::milliseconds(bench.settings.proof_limit);
    const ProofResult proof = examine_proof(bench.original->program, built.program, bench.original->kernel,
                                            bench.reference->launch(), bench.examination);
    if (proof.holds) verified.receipt_.equivalence = Equivalence::proved;
    verified.strength_ += proof_line(proof);
    return verified;
  }
};

Stage<Verified> establish_equivalence(const Built& built, oracle::Options options, Bench& bench) {
  return EquivalenceStage::run(built, options, bench);
}

Stage<Verified> strengthen(Verified verified, const Built& built, Bench& bench) {
  return EquivalenceStage::strengthen(std::move(verified), built, bench);
}

} // namespace asmevo::gate
