#include "analysis/divergence.h"

#include "analysis/memory.h"
#include "analysis/reaching.h"
#include "isa/fields.h"

#include <algorithm>
#include <unordered_map>

namespace asmevo::analysis {
namespace {

using isa::Encoding;
using isa::Instruction;
namespace fields = isa::fields;

constexpr size_t exec_unit = isa::exec_lo;
constexpr uint32_t most_lane_number = 63;

bool is_exec(const isa::RegisterRange& range) { return range.overlaps({isa::File::sgpr, isa::exec_lo, 2}); }
bool writes_exec(const Instruction& i) { return std::ranges::any_of(i.defs, is_exec); }

/// The work-item ids of a kernel at its start: one packed VGPR, or on gfx908 and before up to three.
/// Source: LLVM AMDGPUUsage, "Initial Kernel Execution State".
RegisterSet work_item_ids(const recover::Program& program, const recover::Function& function) {
  RegisterSet ids;
  if (function.kernel < 0) return ids;
  ids.set(vgpr_unit);
  const bool packed = program.target.unified_registers();
  if (packed || !program.origin || static_cast<size_t>(function.kernel) >= program.origin->kernels.size()) return ids;
  constexpr unsigned enable_vgpr_workitem_id = 11; // compute_pgm_rsrc2, two bits: how many beyond x
  const uint32_t more = program.origin->kernels[function.kernel].descriptor.compute_pgm_rsrc2();
  for (uint32_t n = 1; n <= (more >> enable_vgpr_workitem_id & 3) && n < 3; ++n) ids.set(vgpr_unit + n);
  return ids;
}

/// How an instruction's result follows from its operands, where it is not simply "as different as they are".
enum class Flow : uint8_t { plain, masks, fields_of, reads_lane, writes_lane, joins_exec, moves, saves_exec };

struct FlowRow {
  std::string_view name;
  Flow flow;
};
constexpr std::array flows = {
    FlowRow{"v_and_b32", Flow::masks},
    FlowRow{"s_and_b32", Flow::masks},
    FlowRow{"v_bfe_u32", Flow::fields_of},
    FlowRow{"v_readlane_b32", Flow::reads_lane},
    FlowRow{"v_writelane_b32", Flow::writes_lane},
    FlowRow{"s_or_b64", Flow::joins_exec},
    FlowRow{"s_mov_b64", Flow::moves},
    FlowRow{"s_mov_b32", Flow::moves},
};

class Waves {
public:
  Waves(const recover::Program& program, const recover::Function& function, const Graph& graph)
      : program_(program), graph_(graph), registers_(program, function) {
    for (size_t i = function.first; i < function.last; ++i) {
      if (!is_instruction(program.items[i])) continue;
      const Instruction& instruction = program.items[i].instruction;
      if (flow_of(instruction) == Flow::writes_lane)
        registers_.each(instruction.defs, [&](size_t unit) { spilled_to_.set(unit); });
    }
    entry_ = work_item_ids(program, function);
  }

  std::vector<bool> branches() {
    std::vector<RegisterSet> differing(graph_.blocks.size());
    for (uint32_t b : graph_.entries) differing[b] = entry_;
    const std::vector<uint32_t> order = reverse_postorder(graph_);
    std::vector<bool> pending(graph_.blocks.size(), true), result(graph_.blocks.size());
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t b : order) {
        if (!pending[b]) continue;
        pending[b] = false;
        const RegisterSet out = through(graph_.blocks[b], differing[b]);
        result[b] = decides(graph_.blocks[b], out);
        for (uint32_t s : graph_.blocks[b].successors) {
          const RegisterSet joined = differing[s] | out;
          if (joined == differing[s]) continue;
          differing[s] = joined;
          pending[s] = changed = true;
        }
      }
    }
    return result;
  }

private:
  Flow flow_of(const Instruction& i) {
    const auto known = flows_.find(i.mnemonic);
    if (known != flows_.end()) return known->second;
    const std::string_view name = name_of(i);
    const auto row = std::ranges::find(flows, name, &FlowRow::name);
    Flow flow = row == flows.end() ? Flow::plain : row->flow;
    if (name.ends_with("_saveexec_b64")) flow = Flow::saves_exec;
    return flows_[i.mnemonic] = flow;
  }

  RegisterSet through(const Block& block, RegisterSet differing) {
    for (size_t i = block.first; i < block.last; ++i)
      if (is_instruction(program_.items[i])) pass(program_.items[i].instruction, differing);
    return differing;
  }

  /// Whether the branch at the end of `block` depends on something that differs.
  bool decides(const Block& block, const RegisterSet& differing) const {
    const recover::Item& end = program_.items[block.last - 1];
    if (!is_instruction(end) || !end.instruction.traits.conditional || is_call(end.instruction)) return false;
    const std::string_view name = name_of(end.instruction);
    if (name.starts_with("s_cbranch_scc")) return differing.test(scc_unit);
    if (name.starts_with("s_cbranch_vcc")) return differing.test(isa::vcc_lo) || differing.test(isa::vcc_hi);
    return name.starts_with("s_cbranch_exec") && differing.test(exec_unit);
  }

  bool any(std::span<const isa::RegisterRange> ranges, const RegisterSet& differing, bool exec_too = true) const {
    bool found = false;
    for (const isa::RegisterRange& range : ranges)
      if (exec_too || !is_exec(range))
        registers_.each(std::span(&range, 1), [&](size_t unit) { found |= differing.test(unit); });
    return found;
  }

  /// The explicit sources, and of the implicit ones all but EXEC: that a vector instruction runs in some lanes only
  /// does not make its result another in each wave. A mask restricted to the active lanes is the same mask.
  bool operands_differ(const Instruction& i, const RegisterSet& differing) const {
    return any(i.uses, differing, i.traits.salu && i.encoding != Encoding::sop2);
  }

  bool loaded_differs(const Instruction& i, const RegisterSet& differing) const {
    const MemoryAccess access = memory_access(i);
    if (access.space == Space::scratch) return false;
    return any(access.base, differing);
  }

  static uint32_t constant_of(const Instruction& i, uint16_t operand) {
    return operand < 256 ? constant_operand(i, static_cast<uint8_t>(operand)).value_or(~0u) : ~0u;
  }

  /// x & 63 and the like: a number within the wave.
  static bool leaves_lane_number(const Instruction& i, Flow flow) {
    if (i.suffix != isa::Suffix::none) return false;
    if (flow == Flow::fields_of) {
      const fields::Vop3a f = fields::vop3a(i.words);
      return constant_of(i, f.src1) == 0 && constant_of(i, f.src2) <= 6;
    }
    if (i.encoding == Encoding::sop2) {
      const fields::Sop2 f = fields::sop2(i.words);
      return std::min(constant_of(i, f.ssrc0), constant_of(i, f.ssrc1)) <= most_lane_number;
    }
    if (i.encoding == Encoding::vop2) return constant_of(i, fields::vop2(i.words).src0) <= most_lane_number;
    const fields::Vop3a f = fields::vop3a(i.words);
    return std::min(constant_of(i, f.src0), constant_of(i, f.src1)) <= most_lane_number;
  }

  bool result_differs(const Instruction& i, Flow flow, const RegisterSet& differing) const {
    if (i.traits.smem || i.traits.vmem || i.traits.lds) return loaded_differs(i, differing);
    if ((flow == Flow::masks || flow == Flow::fields_of) && leaves_lane_number(i, flow)) return false;
    if (flow == Flow::reads_lane && any(i.uses, spilled_to_, false)) return false;
    if (flow == Flow::moves) return any(i.uses, differing);
    return operands_differ(i, differing);
  }

  void pass(const Instruction& i, RegisterSet& differing) {
    if (is_call(i)) {
      const bool exec = differing.test(exec_unit); // a callee gives it back
      differing.reset();
      set_exec(differing, exec);
      return;
    }
    if (i.defs.empty()) return;
    const Flow flow = flow_of(i);
    if (flow == Flow::writes_lane) return;
    const bool exec_before = differing.test(exec_unit), result = result_differs(i, flow, differing);
    registers_.each(i.defs, [&](size_t unit) { differing.set(unit, result); });
    if (flow == Flow::saves_exec) return after_saving(i, exec_before, result, differing);
    if (!writes_exec(i)) return;
    // Joining lanes again is how EXEC gets back to what it was before a branch.
    const bool moved = flow == Flow::moves, joined = flow == Flow::joins_exec;
    set_exec(differing, !joined && (result || (!moved && exec_before)));
  }

  /// s_..._saveexec_b64: the old EXEC goes to the destination.
  void after_saving(const Instruction& i, bool exec_before, bool mask, RegisterSet& differing) const {
    const bool joins = name_of(i).starts_with("s_or_saveexec");
    for (const isa::RegisterRange& def : i.defs)
      if (def.file == isa::File::sgpr && !is_exec(def))
        registers_.each(std::span(&def, 1), [&](size_t unit) { differing.set(unit, exec_before); });
    set_exec(differing, !joins && (mask || exec_before));
    differing.set(scc_unit, differing.test(exec_unit));
  }

  static void set_exec(RegisterSet& differing, bool differs) {
    differing.set(isa::exec_lo, differs);
    differing.set(isa::exec_hi, differs);
  }

  const recover::Program& program_;
  const Graph& graph_;
  RegisterMap registers_;
  RegisterSet entry_, spilled_to_;
  std::unordered_map<uint16_t, Flow> flows_;
};

} // namespace

std::vector<bool> diverging_branches(const recover::Program& program, const recover::Function& function,
                                     const Graph& graph) {
  return Waves(program, function, graph).branches();
}

} // namespace asmevo::analysis
