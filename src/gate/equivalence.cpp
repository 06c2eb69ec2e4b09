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

std::unexpected<Halt> rejected(const oracle::Judgement& judgement) {
  return std::unexpected<Halt>(
      Verdict{.outcome = outcomes.at(judgement.finding), .evidence = bounded_evidence(judgement.evidence)});
}

} // namespace

/// The only maker of Verified.
class EquivalenceStage {
public:
  static Stage<Verified> run(const Built& built, uint64_t seed, Bench& bench) {
    auto loaded = bench.device->load(built.object);
    if (!loaded)
      return std::unexpected<Halt>(
          Verdict{.outcome = Outcome::runtime_fault, .evidence = bounded_evidence(loaded.error().message)});
    oracle::Options options{.seed = seed, .stop = bench.stop};
    auto judgement = oracle::verify(*bench.device, *bench.reference, *loaded, options);
    // Told to stop while K0 ran, there is no judgement either.
    bool stopped = judgement ? judgement->finding == oracle::Finding::stopped : bench.stop && *bench.stop;
    if (stopped) return std::unexpected<Halt>(Interrupted{});
    if (!judgement) return std::unexpected<Halt>(judgement.error());
    if (judgement->finding != oracle::Finding::equivalent) return rejected(*judgement);
    if (judgement->original != bench.original->hash || judgement->candidate != built.hash)
      return std::unexpected<Halt>(Error{"candidate: the oracle judged another object than the one that was built"});
    return Verified(*std::move(loaded), Receipt{.original = judgement->original,
                                                .candidate = judgement->candidate,
                                                .cases = judgement->cases,
                                                .policy = judgement->policy,
                                                .equivalence = Equivalence::tested,
                                                .case_count = judgement->case_count});
  }
};

Stage<Verified> establish_equivalence(const Built& built, uint64_t seed, Bench& bench) {
  return EquivalenceStage::run(built, seed, bench);
}

} // namespace asmevo::gate
