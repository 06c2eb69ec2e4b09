#include "prove/prove.h"

#include "analysis/exec.h"
#include "analysis/liveness.h"
#include "analysis/memory.h"
#include "prove/equality.h"
#include "prove/region.h"
#include "prove/replay.h"
#include "recover/recover.h"

#include <algorithm>

namespace asmevo::prove {
namespace {

using analysis::RegisterSet;
using recover::Function;
using recover::Program;

/// What is known of one of the two functions as a whole.
struct Version {
  const Program& program;
  const Function& function;
  analysis::Graph graph;
  analysis::Liveness liveness;
  std::vector<bool> full;
  analysis::BarrierStores stores;
  std::optional<uint16_t> kernarg; // pair that nothing writes
  bool indirect = false;           // some registers are named by M0, so any may be read

  Version(const Program& p, const Function& f)
      : program(p), function(f), graph(analysis::control_flow(p, f)), liveness(analysis::liveness(p, f, graph)),
        full(analysis::full_exec(p, f, graph)), stores(p, f, graph), kernarg(analysis::kernarg_pointer(p, f)) {
    for (size_t i = f.first; i < f.last && kernarg; ++i) {
      if (!analysis::is_instruction(p.items[i])) continue;
      for (const isa::RegisterRange& def : p.items[i].instruction.defs)
        if (kernarg && def.overlaps({isa::File::sgpr, *kernarg, 2})) kernarg.reset();
    }
  }

  /// Why the register lists of this function say too little, if they do. Indexing that ends in the block where it
  /// begins is followed.
  std::optional<std::string> obscurity() {
    for (const analysis::Block& block : graph.blocks) {
      bool indexing = false;
      for (size_t i = block.first; i < block.last; ++i) {
        if (!analysis::is_instruction(program.items[i])) continue;
        const isa::Instruction& instruction = program.items[i].instruction;
        indirect |= instruction.traits.relative;
        switch (naming_effect(instruction)) {
        case Naming::unknown:
          return fmt::format("{} changes which registers instructions name", name_of(instruction));
        case Naming::by_index:
          indexing = indirect = true;
          break;
        case Naming::as_written:
          indexing = false;
          break;
        case Naming::none:
          break;
        }
      }
      if (indexing) return "registers are indexed by M0 from one block into another";
    }
    return std::nullopt;
  }
  Facts facts(bool full_waves) const { return {stores, full_waves ? &full : nullptr, function.first}; }
  /// What lanes hold that were never active can matter.
  bool looks_at_all_lanes() const {
    for (size_t i = function.first; i < function.last; ++i)
      if (analysis::is_instruction(program.items[i]) && prove::looks_at_all_lanes(program.items[i].instruction))
        return true;
    return false;
  }
  RegisterSet live_at(size_t item) const {
    return item < function.last && !indirect ? liveness.before[item - function.first] : ~RegisterSet();
  }
};

class Comparison {
public:
  Comparison(const Version& original, const Version& candidate, const Correspondence& correspondence,
             const Region& region, const Policy& policy, bool full_waves)
      : versions_{&original, &candidate}, correspondence_(correspondence), region_(region), policy_(policy),
        full_waves_(full_waves) {
    shared_.target = original.program.target;
    shared_.registers = original.liveness.registers;
    shared_.floats = policy.floats;
    if (original.kernarg == candidate.kernarg) shared_.kernarg = original.kernarg;
    shared_.lane = shared_.terms.symbol(32, "lane", false);
    enter();
  }

  Proof run() {
    std::optional<Outcomes> outcomes[2];
    for (size_t side = 0; side < 2; ++side) {
      auto result = run_region(shared_, versions_[side]->program, region_.first[side], region_.last[side], side,
                               correspondence_, versions_[side]->facts(full_waves_), entry_[side], memories_);
      if (!result) return unknown(result.error().message);
      outcomes[side] = *std::move(result);
      shared_.original_loads = std::move(shared_.loads_so_far);
      shared_.loads_so_far.clear();
    }
    equality_.emplace(shared_.terms, shared_.lane, policy_.solver_limit);
    Proof proof = compare(*outcomes[0], *outcomes[1]);
    proof.questions = equality_->questions();
    return proof;
  }

  /// Looks for a state in which the two really differ.
  void seek_counterexample(Proof& proof) {
    constexpr unsigned attempts = 6;
    const Windows windows{{&versions_[0]->program, &versions_[1]->program}, region_, live_behind(), &entry_[0]};
    const bool own_accumulators = shared_.registers.first_of({isa::File::agpr, 0, 1}) == analysis::agpr_unit;
    if (!own_accumulators || !can_be_run(windows) || !same_ends()) return;
    for (unsigned attempt = 0; attempt < attempts; ++attempt) {
      World world(shared_.terms, shared_.lane, 0x1234567 + attempt * 7919);
      const auto difference = confirmed_difference(shared_, windows, world);
      if (!difference) continue;
      proof.outcome = Outcome::refuted;
      proof.reason = *difference;
      return;
    }
  }

private:
  Proof unknown(std::string reason) const { return {.outcome = Outcome::unknown, .reason = std::move(reason)}; }

  void enter() {
    Terms& terms = shared_.terms;
    // What only one version reads from here on may hold anything in the other. What neither reads has no effect.
    const RegisterSet apart = versions_[0]->live_at(region_.first[0]) ^ versions_[1]->live_at(region_.first[1]);
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

  /// Registers that both versions read behind the windows: before a last branch that both have, or where control goes
  /// on.
  RegisterSet live_behind() const {
    RegisterSet live = ~RegisterSet();
    for (size_t side = 0; side < 2; ++side) {
      const Program& program = versions_[side]->program;
      const size_t first = region_.first[side], last = region_.last[side];
      const size_t executed = executed_items(program, first, last).size();
      size_t end = last, instructions = 0;
      for (size_t i = first; i < last; ++i)
        if (analysis::is_instruction(program.items[i]) && instructions++ == executed) end = i;
      live &= versions_[side]->live_at(end);
    }
    return live;
  }

  /// Whether both versions end in the same instruction, or neither in one that leaves.
  bool same_ends() const {
    const isa::Instruction* last[2] = {nullptr, nullptr};
    std::string target[2];
    for (size_t side = 0; side < 2; ++side)
      for (size_t i = region_.first[side]; i < region_.last[side]; ++i) {
        const recover::Item& item = versions_[side]->program.items[i];
        if (!analysis::is_instruction(item)) continue;
        last[side] = &item.instruction;
        target[side] = item.target;
      }
    const auto leaves = [](const isa::Instruction* i) { return i && (i->traits.branch || i->traits.terminator); };
    if (!leaves(last[0]) && !leaves(last[1])) return true;
    return leaves(last[0]) && leaves(last[1]) && last[0]->mnemonic == last[1]->mnemonic && target[0] == target[1];
  }

  static const Exit* exit_to(const Outcomes& outcomes, const std::string& target) {
    const auto place = std::ranges::find(outcomes.exits, target, &Exit::target);
    return place == outcomes.exits.end() ? nullptr : &*place;
  }

  bool equal(Id a, Id b, Id condition) { return equality_->compare(a, b, condition) == Answer::equal; }

  Proof compare(const Outcomes& original, const Outcomes& candidate) {
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
      if (!allowed(read, original.reads))
        return unknown("reads memory that the original may not read, and could fault");
    return {.outcome = Outcome::proved};
  }

  /// Where two sequences of accesses begin to differ.
  std::string first_difference(Id a, Id b) {
    const Terms& terms = shared_.terms;
    const auto previous = [&](Id memory) -> Id {
      for (Id argument : terms.arguments(memory))
        if (terms[argument].width == 0) return argument;
      return memory;
    };
    for (;;) {
      const Id earlier_a = previous(a), earlier_b = previous(b);
      if (earlier_a == a || earlier_b == b || equal(earlier_a, earlier_b, shared_.terms.bit(true))) break;
      a = earlier_a;
      b = earlier_b;
    }
    return fmt::format("{} instead of {}", terms.spelled(b), terms.spelled(a));
  }

  std::optional<std::string> differs(const std::string& target, const Exit* a, const Exit* b) {
    Terms& terms = shared_.terms;
    const std::string place = describe(target);
    const Id never = terms.bit(false);
    const Id first = a ? a->condition : never, second = b ? b->condition : never;
    if (!equal(first, second, terms.bit(true))) return fmt::format("the condition for going to {} may differ", place);
    if (!a || !b || target == "end") return std::nullopt;
    RegisterSet live = ~RegisterSet();
    if (target.starts_with('#'))
      live = versions_[0]->live_at(a->item) & versions_[1]->live_at(b->item);
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

  std::string describe(const std::string& target) const {
    if (!target.starts_with('#')) return target == "end" ? "the end" : "the return address";
    for (const auto& [label, number] : correspondence_.number[0])
      if (fmt::format("#{}", number) == target) return label;
    return target;
  }

  /// Whether the original reads the same place wherever the candidate does.
  bool allowed(const Read& read, const std::vector<Read>& original) const {
    return std::ranges::any_of(original, [&](const Read& other) {
      return other.place == read.place && shared_.terms.implies(read.guard, other.guard);
    });
  }

  const Version* versions_[2];
  const Correspondence& correspondence_;
  const Region& region_;
  const Policy& policy_;
  bool full_waves_;
  Shared shared_;
  Registers entry_[2];
  Memories memories_;
  std::optional<Equality> equality_;
};

Proof prove_with(const Version& original, const Version& candidate, const Correspondence& correspondence,
                 const Policy& policy) {
  // Registers that are dead in active lanes may hold anything in lanes that never were active.
  Proof total{.outcome = Outcome::proved,
              .full_waves = original.looks_at_all_lanes() || candidate.looks_at_all_lanes()};
  for (const Region& region : correspondence.regions) {
    if (same_items(original.program, candidate.program, region, correspondence)) continue;
    ++total.regions;
    Comparison any(original, candidate, correspondence, region, policy, false);
    Proof proof = any.run();
    total.questions += proof.questions;
    if (proof.holds()) continue;
    // Where EXEC is the mask that the wave began with, it is all ones for a wave that began with all lanes.
    Comparison full(original, candidate, correspondence, region, policy, true);
    proof = full.run();
    total.questions += proof.questions;
    if (proof.holds()) {
      total.full_waves = true;
      continue;
    }
    full.seek_counterexample(proof);
    proof.function = original.function.name;
    proof.region = region;
    proof.regions = total.regions;
    proof.questions = total.questions;
    return proof;
  }
  return total;
}

Proof prove_function(const Program& a, const Function& f, const Program& b, const Function& g, const Policy& policy) {
  const std::vector<Correspondence> ways = correspondences(a, f, b, g);
  for (const Correspondence& way : ways)
    if (std::ranges::all_of(way.regions, [&](const Region& r) { return same_items(a, b, r, way); }))
      return {.outcome = Outcome::proved};
  Version original(a, f), candidate(b, g);
  Proof best;
  const auto give_up = [&](std::string reason) {
    return Proof{.outcome = Outcome::unknown, .reason = std::move(reason), .function = f.name};
  };
  for (Version* version : {&original, &candidate})
    if (auto reason = version->obscurity()) return give_up(*reason);
  const isa::RegisterRange accumulator{isa::File::agpr, 0, 1};
  if (original.liveness.registers.first_of(accumulator) != candidate.liveness.registers.first_of(accumulator))
    return give_up("the two versions share registers between VGPRs and AGPRs differently");
  for (const Correspondence& way : ways) {
    Proof proof = prove_with(original, candidate, way, policy);
    if (proof.holds()) return proof;
    if (best.reason.empty()) best = std::move(proof);
  }
  return best;
}

} // namespace

namespace {

/// Items of no function: data between them.
std::vector<std::string> remainder(const Program& program) {
  std::vector<bool> inside(program.items.size());
  for (const Function& f : program.functions)
    for (size_t i = f.first; i < f.last; ++i) inside[i] = true;
  std::vector<std::string> texts;
  for (size_t i = 0; i < program.items.size(); ++i)
    if (!inside[i] && program.items[i].kind != recover::ItemKind::label) texts.push_back(program.items[i].text);
  return texts;
}

/// A section of data that the two objects do not share; kernel descriptors are judged as part of the ABI.
std::optional<std::string> data_difference(const object::CodeObject& a, const object::CodeObject& b) {
  for (const object::Section& section : a.sections) {
    if (!section.name.starts_with(".rodata") && !section.name.starts_with(".data") && !section.name.starts_with(".bss"))
      continue;
    const object::Section* other = b.section(section.name);
    if (!other || other->size != section.size) return fmt::format("section {} has another size", section.name);
    const auto first = a.data(section), second = b.data(*other);
    std::vector<bool> described(section.size);
    for (const object::Kernel& kernel : a.kernels)
      for (uint64_t k = 0; k < 64; ++k)
        if (kernel.descriptor_address + k - section.address < section.size)
          described[kernel.descriptor_address + k - section.address] = true;
    for (size_t k = 0; k < first.size(); ++k)
      if (!described[k] && (k >= second.size() || first[k] != second[k]))
        return fmt::format("section {} differs at +{:#x}", section.name, k);
  }
  return std::nullopt;
}

/// What is no code and yet part of what the programs do.
std::optional<std::string> difference_around(const Program& original, const Program& candidate) {
  if (remainder(original) != remainder(candidate)) return "data or code outside of functions differs";
  if (!original.origin || !candidate.origin || original.origin == candidate.origin) return std::nullopt;
  if (auto difference = recover::abi_difference(*original.origin, *candidate.origin)) return difference;
  return data_difference(*original.origin, *candidate.origin);
}

} // namespace

std::string_view outcome_name(Outcome outcome) {
  constexpr std::string_view names[] = {"proved", "refuted", "unknown"};
  return names[size_t(outcome)];
}

Proof prove(const Program& original, const Program& candidate, const Policy& policy, std::string_view kernel) {
  if (original.target != candidate.target) return {.outcome = Outcome::unknown, .reason = "the targets differ"};
  if (original.functions.size() != candidate.functions.size())
    return {.outcome = Outcome::unknown, .reason = "the functions differ"};
  if (auto difference = difference_around(original, candidate))
    return {.outcome = Outcome::unknown, .reason = *std::move(difference)};
  Proof total{.outcome = Outcome::proved};
  for (const Function& f : original.functions) {
    if (!kernel.empty() && f.kernel >= 0 && f.name != kernel) continue;
    const auto g = std::ranges::find(candidate.functions, f.name, &Function::name);
    if (g == candidate.functions.end())
      return {.outcome = Outcome::unknown, .reason = "the candidate lacks it", .function = f.name};
    Proof proof = prove_function(original, f, candidate, *g, policy);
    total.regions += proof.regions;
    total.questions += proof.questions;
    total.full_waves |= proof.full_waves;
    if (proof.holds()) continue;
    proof.regions = total.regions;
    proof.questions = total.questions;
    return proof;
  }
  return total;
}

} // namespace asmevo::prove
