#include "prove/comparison.h"

#include <algorithm>

namespace asmevo::prove {

using analysis::RegisterSet;

namespace {

Proof unknown(std::string reason) { return {.outcome = Outcome::unknown, .reason = std::move(reason)}; }

const Exit* exit_to(const Outcomes& outcomes, const std::string& target) {
  const auto place = std::ranges::find(outcomes.exits, target, &Exit::target);
  return place == outcomes.exits.end() ? nullptr : &*place;
}

} // namespace

Comparison::Comparison(const Version& original, const Version& candidate, const Correspondence& correspondence,
                       const Region& region, const Policy& policy, const Waves& waves, Effort& left)
    : versions_{&original, &candidate}, correspondence_(correspondence), region_(region), policy_(policy),
      waves_(waves), left_(left) {
  shared_.terms.allow(left.terms, left.steps);
  shared_.target = original.program.target;
  shared_.registers = original.liveness.registers;
  shared_.floats = policy.floats;
  if (original.kernarg == candidate.kernarg) shared_.kernarg = original.kernarg;
  shared_.lane = shared_.terms.symbol(32, "lane", false);
  enter();
}

Comparison::~Comparison() {
  left_.steps -= std::min(left_.steps, shared_.terms.steps());
  if (equality_) left_.unanswered -= std::min(left_.unanswered, equality_->unanswered());
}

RegisterSet Comparison::live_at(size_t side, size_t item) const {
  const RegisterSet live = versions_[side]->live_at(item);
  return waves_.any_lanes ? live | versions_[side]->seen_in_idle_lanes(item) : live;
}

Result<std::array<Outcomes, 2>> Comparison::execute(bool window) {
  std::array<Outcomes, 2> outcomes;
  for (size_t side = 0; side < 2; ++side) {
    Facts facts = versions_[side]->facts(waves_.full_exec);
    facts.window = window;
    AE_TRY(outcomes[side], run_region(shared_, versions_[side]->program, region_.first[side], region_.last[side], side,
                                      correspondence_, facts, entry_[side], memories_));
    shared_.original_loads = std::move(shared_.loads_so_far);
    shared_.loads_so_far.clear();
  }
  return outcomes;
}

Proof Comparison::run() {
  const auto outcomes = execute(false);
  if (!outcomes) return unknown(outcomes.error().message);
  equality_.emplace(shared_.terms, shared_.lane, policy_.solver_limit, left_);
  Proof proof = compare((*outcomes)[0], (*outcomes)[1]);
  if (!proof.holds() && too_large()) proof.reason = "the code is too large to be proved";
  proof.questions = equality_->questions();
  return proof;
}

Trial Comparison::try_runs(unsigned attempts) {
  const bool own_accumulators = shared_.registers.first_of({isa::File::agpr, 0, 1}) == analysis::agpr_unit;
  const Windows windows{{&versions_[0]->program, &versions_[1]->program},
                        region_,
                        &correspondence_,
                        [this](const std::string& exit) { return live_behind(exit); },
                        &entry_[0]};
  auto original = spell(windows, 0), candidate = spell(windows, 1);
  if (!own_accumulators || !original || !candidate || !execute(true)) return {};
  const std::array<Spelled, 2> spelled = {*std::move(original), *std::move(candidate)};
  Trial trial;
  for (unsigned attempt = 0; attempt < attempts; ++attempt) {
    if (too_large()) break;
    World world(shared_.terms, shared_.lane, 0x1234567 + attempt * 7919);
    const Trial one = compare_runs(shared_, windows, spelled, world);
    trial.ran |= one.ran;
    if (one.difference) return one;
  }
  return trial;
}

void seek_counterexample(const Version& original, const Version& candidate, const Correspondence& correspondence,
                         const Region& region, const Policy& policy, Effort& left, Proof& proof) {
  constexpr unsigned attempts = 6;
  const Region part = differing_part(original.program, candidate.program, region, correspondence);
  for (const Region& window : {region, part}) {
    Comparison comparison(original, candidate, correspondence, window, policy, {.any_lanes = false, .full_exec = true},
                          left);
    const auto difference = comparison.try_runs(attempts).difference;
    if (!difference) continue;
    proof.outcome = Outcome::refuted;
    proof.reason = *difference;
    return;
  }
}

void Comparison::enter() {
  Terms& terms = shared_.terms;
  // What only one version reads from here on may hold anything in the other. What neither reads has no effect.
  const RegisterSet apart = live_at(0, region_.first[0]) ^ live_at(1, region_.first[1]);
  for (size_t unit = 0; unit < analysis::register_bits; ++unit) {
    const uint8_t width = unit == analysis::scc_unit ? 1 : 32;
    const std::string name = analysis::register_name(unit);
    const bool uniform = !analysis::is_vector_unit(unit);
    entry_[0].push_back(terms.symbol(width, name, uniform));
    entry_[1].push_back(apart.test(unit) ? terms.symbol(width, name + "'", uniform) : entry_[0].back());
  }
  memories_ = {terms.symbol(0, "global memory", true), terms.symbol(0, "LDS", true),
               terms.symbol(0, "scratch memory", true)};
}

/// Registers that both versions read behind a way out of the region, as replay.h names it.
RegisterSet Comparison::live_behind(const std::string& exit) const {
  if (exit == "end") return {};
  if (exit == "window") return live_at(0, region_.last[0]) & live_at(1, region_.last[1]);
  RegisterSet live = ~RegisterSet();
  for (size_t side = 0; side < 2; ++side)
    for (const auto& [label, number] : correspondence_.number[side])
      if (fmt::format("#{}", number) == exit) live &= live_at(side, versions_[side]->labels.at(label));
  return live;
}

Proof Comparison::compare(const Outcomes& original, const Outcomes& candidate) {
  std::vector<std::string> targets;
  for (const Exit& exit : original.exits) targets.push_back(exit.target);
  for (const Exit& exit : candidate.exits)
    if (!exit_to(original, exit.target)) targets.push_back(exit.target);
  for (const std::string& target : targets)
    if (auto difference = differs(target, exit_to(original, target), exit_to(candidate, target)))
      return unknown(*difference);
  const Id always = shared_.terms.bit(true);
  const std::tuple<std::string_view, Id, Id> memories[] = {
      {"global memory", original.memories.global, candidate.memories.global},
      {"LDS", original.memories.lds, candidate.memories.lds},
      {"scratch memory", original.memories.scratch, candidate.memories.scratch}};
  for (const auto& [name, first, second] : memories)
    if (!equal(first, second, always))
      return unknown(fmt::format("the accesses that change {} may differ, or happen in another order: {}", name,
                                 first_difference(first, second)));
  for (const Read& read : candidate.reads)
    if (!allowed(read, original.reads)) return unknown("reads memory that the original may not read, and could fault");
  return {.outcome = Outcome::proved};
}

/// Where two sequences of accesses begin to differ.
std::string Comparison::first_difference(Id a, Id b) {
  const Terms& terms = shared_.terms;
  const auto earlier = [&]() -> std::optional<std::pair<Id, Id>> {
    const auto first = terms.arguments(a), second = terms.arguments(b);
    for (size_t k = 0; k < std::min(first.size(), second.size()); ++k)
      if (terms[first[k]].width == 0 && terms[second[k]].width == 0 &&
          !equal(first[k], second[k], shared_.terms.bit(true)))
        return std::pair(first[k], second[k]);
    return std::nullopt;
  };
  while (const auto before = earlier()) std::tie(a, b) = *before;
  return fmt::format("{} instead of {}", terms.spelled(b), terms.spelled(a));
}

std::optional<std::string> Comparison::differs(const std::string& target, const Exit* a, const Exit* b) {
  Terms& terms = shared_.terms;
  const std::string place = describe(target);
  const Id never = terms.bit(false);
  const Id first = a ? a->condition : never, second = b ? b->condition : never;
  if (!equal(first, second, terms.bit(true))) return fmt::format("the condition for going to {} may differ", place);
  if (!a || !b || target == "end") return std::nullopt;
  RegisterSet live = ~RegisterSet();
  if (target.starts_with('#'))
    live = live_at(0, a->item) & live_at(1, b->item);
  else if (!equal(a->destination, b->destination, first))
    return "the address jumped to may differ";
  for (size_t unit = 0; unit < analysis::register_bits; ++unit) {
    if (!live.test(unit) || a->registers[unit] == b->registers[unit]) continue;
    if (!equal(a->registers[unit], b->registers[unit], first))
      return fmt::format("{} may differ at {}: {} instead of {}", analysis::register_name(unit), place,
                         terms.spelled(b->registers[unit]), terms.spelled(a->registers[unit]));
  }
  return std::nullopt;
}

std::string Comparison::describe(const std::string& target) const {
  if (!target.starts_with('#')) return target == "end" ? "the end" : "the return address";
  for (const auto& [label, number] : correspondence_.number[0])
    if (fmt::format("#{}", number) == target) return label;
  return target;
}

/// Whether the original reads the same place wherever the candidate does.
bool Comparison::allowed(const Read& read, const std::vector<Read>& original) const {
  return std::ranges::any_of(original, [&](const Read& other) {
    return other.place == read.place && shared_.terms.implies(read.guard, other.guard);
  });
}

} // namespace asmevo::prove
