#include "cli/verification.h"

#include "recover/recover.h"

namespace asmevo::cli {
namespace {

Result<void> ask_strict_mode(Setting& setting, oracle::Reference& reference, gate::Examination& examination,
                             const volatile bool* stop, Verification& v) {
  AE_TRY(auto strict, gate::run_strict(*setting.device, reference, v.loaded, setting.input.codec, examination, stop));
  if (!strict) {
    v.judgement.finding = oracle::Finding::stopped;
  } else if (!strict->fault.empty()) {
    v.judgement.finding = oracle::Finding::runtime_fault;
    v.judgement.evidence = gate::bounded_evidence("strict mode: " + strict->fault);
  } else if (strict->clean()) {
    v.equivalence = gate::Equivalence::tested_strict_clean;
  } else {
    v.strength = fmt::format("not strict clean: {}\n", strict->gap);
  }
  return {};
}

/// Objects that cannot be recovered can still be tested.
void ask_prover(const Setting& setting, gate::Examination& examination, Verification& v) {
  const auto original = recover::recover(setting.input.object, setting.input.codec);
  const auto candidate = recover::recover(v.loaded.object, setting.input.codec);
  if (!original || !candidate) {
    v.strength += "not proved: " + (original ? candidate : original).error().message;
    return;
  }
  const gate::ProofResult proof =
      gate::examine_proof(*original, *candidate, setting.kernel->name, setting.launch, examination);
  if (proof.holds) v.equivalence = gate::Equivalence::proved;
  v.strength += gate::proof_line(proof);
}

} // namespace

Result<Verification> verify_file(Setting& setting, const std::string& path, uint64_t seed, const volatile bool* stop,
                                 std::optional<uint64_t> proof_limit) {
  AE_TRY(Input candidate, open_input(path));
  Verification v{.device = setting.device->description(), .seed = seed};
  v.difference = recover::abi_difference(*setting.input.object, *candidate.object);
  if (v.difference) return v;
  AE_TRY(v.loaded, setting.device->load(candidate.object));
  oracle::Options options{.seed = seed, .stop = stop};
  AE_TRY(oracle::Trial trial, oracle::Reference::verify_once(*setting.device, setting.loaded, setting.launch,
                                                             oracle::default_policy(), v.loaded, options));
  oracle::Reference& reference = trial.reference;
  v.judgement = std::move(trial.judgement);
  v.notes = reference.notes();
  v.fidelity = reference.fidelity();
  if (!proof_limit || !v.holds()) return v;
  gate::Examination examination{.proofs = {.solver_limit = std::chrono::milliseconds(*proof_limit)}};
  AE_CHECK(ask_strict_mode(setting, reference, examination, stop, v));
  if (v.holds() && *proof_limit > 0) ask_prover(setting, examination, v);
  return v;
}

} // namespace asmevo::cli
