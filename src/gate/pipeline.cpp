#include "gate/pipeline.h"

#include "analysis/repair.h"
#include "gate/edits.h"
#include "support/hash.h"

#include <future>

namespace asmevo::gate {
namespace {

std::unexpected<Halt> reject(Outcome outcome, std::string evidence) {
  return std::unexpected<Halt>(Verdict{.outcome = outcome, .evidence = bounded_evidence(std::move(evidence))});
}

std::unexpected<Halt> reject_assembly(const isa::AssemblyError& error) {
  return reject(Outcome::assembly_failure, fmt::format("{}:{}: {}", error.line, error.column, error.message));
}

std::unexpected<Halt> give_up(Error error) { return std::unexpected<Halt>(std::move(error)); }

template <class... Visitors> struct Overloaded : Visitors... {
  using Visitors::operator()...;
};

std::string text_of(const Candidate& candidate) {
  return std::visit(
      Overloaded{[](const Edited& c) { return (c.auto_waits ? "auto " : "") + normalised_text(*c.program, c.edits); },
                 [](const Listing& c) { return normalised_text(c.text); }},
      candidate);
}

recover::Program with_waits(const Edited& edited, recover::Program program, const Bench& bench) {
  for (size_t f = 0; f < program.functions.size(); ++f) {
    if (program.functions[f].name != bench.original->kernel) continue;
    auto touched = analysis::touched_blocks(*edited.program, edited.edits, program, f);
    program = analysis::renewed(std::move(program), f, touched, *bench.codec);
  }
  return program;
}

std::expected<Bytes, isa::AssemblyError> assemble(const Edited& edited, const Bench& bench) {
  auto program = recover::apply(*edited.program, edited.edits, *bench.codec);
  if (!program) return std::unexpected(program.error());
  if (edited.auto_waits) program = with_waits(edited, *std::move(program), bench);
  if (auto bytes = recover::build(*program, *bench.codec)) return bytes;
  // The same over the whole listing, in which the message can name a line.
  return recover::build(recover::print_listing(*program, false), *bench.original->object, *bench.codec);
}

std::expected<Bytes, isa::AssemblyError> assemble(const Candidate& candidate, const Bench& bench) {
  return std::visit(
      Overloaded{[&](const Edited& c) { return assemble(c, bench); },
                 [&](const Listing& c) { return recover::build(c.text, *bench.original->object, *bench.codec); }},
      candidate);
}

bool stopped(const Bench& bench) { return bench.stop && *bench.stop; }

void enter(const Bench& bench, std::string_view stage) {
  if (bench.on_stage) bench.on_stage(stage);
}

uint64_t mix(uint64_t a, uint64_t b) { // splitmix64 over both
  uint64_t x = a + 0x9e3779b97f4a7c15 * (b + 1);
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

/// Number 0 is K0 itself.
Verdict duplicate_of(int64_t number, std::string_view what) {
  return {.outcome = Outcome::duplicate, .evidence = fmt::format("same {} as evaluation {}", what, number)};
}

/// With inputs that no earlier evaluation has seen, those with special values several times.
Stage<Verified> verify_anew(const Built& built, int64_t number, Bench& bench) {
  constexpr uint64_t more_special_inputs = 4;
  const uint64_t seed = mix(bench.settings.seed, uint64_t(number));
  auto verified = establish_equivalence(built, {.seed = seed, .looks = oracle::Looks::second}, bench);
  for (uint64_t k = 1; verified && k <= more_special_inputs && !stopped(bench); ++k) {
    auto special = establish_equivalence(built, {.seed = mix(seed, k), .looks = oracle::Looks::special}, bench);
    if (!special) return special;
  }
  return verified;
}

/// Runs the stages one after the other and leaves in `evaluation` what is known when one halts.
Stage<Verdict> run_stages(const Candidate& candidate, double parent_speedup, int64_t number, const Known& known,
                          Bench& bench, Evaluation& evaluation) {
  evaluation.text_hash = sha256_hex(text_of(candidate));
  if (auto number_of = known.text(evaluation.text_hash)) return duplicate_of(*number_of, "text");
  enter(bench, "build");
  auto built = build(candidate, bench);
  if (!built) return std::unexpected(std::move(built.error()));
  evaluation.artifact_hash = built->hash;
  if (auto number_of = known.artifact(built->hash)) return duplicate_of(*number_of, "object");
  enter(bench, "static");
  if (auto checked = check(*built, bench); !checked) return std::unexpected(std::move(checked.error()));
  if (stopped(bench)) return std::unexpected<Halt>(Interrupted{});
  enter(bench, "equivalence");
  auto verified = establish_equivalence(*built, {.seed = bench.settings.seed, .looks = oracle::Looks::first}, bench);
  if (!verified) return std::unexpected(std::move(verified.error()));
  if (stopped(bench)) return std::unexpected<Halt>(Interrupted{});
  enter(bench, "timing");
  auto timing = time(*verified, bench);
  if (!timing) return std::unexpected(std::move(timing.error()));
  Verdict verdict{.outcome = judge(bench.settings.rule, *timing, parent_speedup),
                  .timing = *timing,
                  .receipt = verified->receipt()};
  double needed = required_speedup(bench.settings.rule, parent_speedup, timing->cv);
  verdict.evidence = fmt::format(
      "speedup {:.4f}x (cv {:.2f} %), needed {:.4f}x; faster than K0 in {:.0f} % of the draws, needed {:.0f} %",
      timing->speedup, timing->cv * 100, needed, timing->faster * 100, bench.settings.rule.faster * 100);
  if (verdict.outcome != Outcome::accepted) return verdict;
  enter(bench, "second equivalence");
  // Strict mode has one thread, and the prover too: the tests, which have more, need not wait for them.
  auto strength = std::async(std::launch::async, [&] { return strengthen(*std::move(verified), *built, bench); });
  auto again = verify_anew(*built, number, bench);
  enter(bench, "strength");
  auto strengthened = strength.get();
  if (!again) return std::unexpected(std::move(again.error()));
  if (stopped(bench)) return std::unexpected<Halt>(Interrupted{});
  if (!strengthened) return std::unexpected(std::move(strengthened.error()));
  verdict.receipt = again->receipt();
  verdict.receipt->equivalence = strengthened->receipt().equivalence;
  if (!strengthened->strength().empty())
    verdict.evidence = bounded_evidence(verdict.evidence + "\n" + strengthened->strength());
  evaluation.built = *std::move(built);
  return verdict;
}

} // namespace

Stage<Built> build(const Candidate& candidate, const Bench& bench) {
  if (const auto* edited = std::get_if<Edited>(&candidate)) {
    auto function = function_of(*edited->program, bench.original->kernel);
    if (!function) return give_up(function.error());
    if (auto fault = fault_of_edits(**function, edited->edits)) return reject(Outcome::static_inconsistency, *fault);
  }
  auto bytes = assemble(candidate, bench);
  if (!bytes) return reject_assembly(bytes.error());
  Built built;
  built.hash = sha256_hex(*bytes);
  auto object = object::read_code_object(*std::move(bytes), "candidate");
  if (!object) return reject(Outcome::static_inconsistency, object.error().message);
  built.object = std::make_shared<object::CodeObject>(*std::move(object));
  auto program = recover::recover(built.object, *bench.codec);
  if (!program) return reject(Outcome::static_inconsistency, program.error().message);
  built.program = *std::move(program);
  return built;
}

Stage<Timing> time(const Verified& verified, Bench& bench) {
  const launch::Case& timed = bench.reference->launch().cases.front();
  device::TimeOptions options{.draws = bench.settings.draws, .seed = bench.settings.seed};
  if (!bench.original_estimate || !bench.device->simulated()) {
    auto original = bench.device->time(bench.reference->original(), timed, options);
    if (!original) return give_up(original.error());
    bench.original_estimate = *std::move(original);
  }
  auto candidate = bench.device->time(verified.loaded(), timed, options);
  if (!candidate) return reject(Outcome::runtime_fault, candidate.error().message);
  auto timing = compare(*bench.original_estimate, *candidate, bench.device->description());
  if (!timing) return give_up(timing.error());
  return *timing;
}

Result<std::optional<Evaluation>> evaluate(const Candidate& candidate, double parent_speedup, int64_t number,
                                           const Known& known, Bench& bench) {
  Evaluation evaluation;
  auto verdict = run_stages(candidate, parent_speedup, number, known, bench, evaluation);
  if (verdict) {
    evaluation.verdict = *std::move(verdict);
    return evaluation;
  }
  if (std::holds_alternative<Interrupted>(verdict.error())) return std::nullopt;
  if (auto* error = std::get_if<Error>(&verdict.error())) return std::unexpected(std::move(*error));
  evaluation.verdict = std::get<Verdict>(std::move(verdict.error()));
  return evaluation;
}

void recognise(Evaluation& evaluation, const Known& known) {
  std::optional<Verdict> verdict;
  if (auto number = known.text(evaluation.text_hash)) {
    verdict = duplicate_of(*number, "text");
    evaluation.artifact_hash.clear();
  } else if (auto number = known.artifact(evaluation.artifact_hash)) {
    verdict = duplicate_of(*number, "object");
  }
  if (!verdict) return;
  evaluation.verdict = *std::move(verdict);
  evaluation.built.reset();
}

} // namespace asmevo::gate
