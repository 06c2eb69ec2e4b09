#include "prove/version.h"

#include <algorithm>

namespace asmevo::prove {

using analysis::RegisterSet;

Version::Version(const Program& p, const recover::Function& f)
    : program(p), function(f), graph(analysis::control_flow(p, f)), liveness(analysis::liveness(p, f, graph)),
      full(analysis::full_exec(p, f, graph)), stores(p, f, graph), kernarg(analysis::kernarg_pointer(p, f)) {
  for (size_t i = f.first; i < f.last && kernarg; ++i) {
    if (!analysis::is_instruction(p.items[i])) continue;
    if (analysis::is_call(p.items[i].instruction)) kernarg.reset(); // a callee may write any register
    for (const isa::RegisterRange& def : p.items[i].instruction.defs)
      if (kernarg && def.overlaps({isa::File::sgpr, *kernarg, 2})) kernarg.reset();
  }
  for (size_t i = f.first; i < f.last; ++i)
    if (p.items[i].kind == recover::ItemKind::label) labels.emplace(p.items[i].text, i);
  follow_idle_lanes();
}

void Version::follow_addresses(analysis::AliasPolicy policy) {
  if (!addresses_) addresses_ = std::make_unique<analysis::Addresses>(program, function, graph, policy);
}

std::optional<std::string> Version::obscurity() {
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

void Version::follow_idle_lanes() {
  const auto looks = [&](size_t i) {
    return analysis::is_instruction(program.items[i]) && prove::looks_at_all_lanes(program.items[i].instruction);
  };
  bool any = false;
  for (size_t i = function.first; i < function.last; ++i) any |= looks(i);
  if (!any) return;
  RegisterSet vectors;
  for (size_t unit = 0; unit < analysis::register_bits; ++unit) vectors.set(unit, analysis::is_vector_unit(unit));
  idle_.resize(function.last - function.first);
  std::vector<RegisterSet> entry(graph.blocks.size());
  const auto walk = [&](const analysis::Block& block) {
    RegisterSet seen = block.unknown ? vectors : RegisterSet();
    for (uint32_t s : block.successors) seen |= entry[s];
    for (size_t i = block.last; i-- > block.first;) {
      const recover::Item& item = program.items[i];
      if (analysis::is_instruction(item) && analysis::is_call(item.instruction)) seen = vectors;
      if (looks(i)) {
        if (item.instruction.traits.mfma) seen &= ~liveness.registers.set_of(item.instruction.defs);
        seen |= liveness.registers.set_of(item.instruction.uses) & vectors;
      }
      idle_[i - function.first] = seen;
    }
    return seen;
  };
  std::vector<uint32_t> order = analysis::reverse_postorder(graph);
  std::ranges::reverse(order);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b : order) {
      const RegisterSet seen = walk(graph.blocks[b]);
      changed |= seen != entry[b];
      entry[b] = seen;
    }
  }
}

RegisterSet Version::seen_in_idle_lanes(size_t item) const {
  if (idle_.empty()) return {};
  return item < function.last && !indirect ? idle_[item - function.first] : ~RegisterSet();
}

} // namespace asmevo::prove
