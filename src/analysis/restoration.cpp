#include "analysis/restoration.h"

#include "analysis/reaching.h"
#include "isa/fields.h"

#include <algorithm>

namespace asmevo::analysis {
namespace {

using isa::Instruction;
namespace fields = isa::fields;

enum class Mask : uint8_t { unreached, entry, ones, part, unknown };

bool full(Mask m) { return m == Mask::entry || m == Mask::ones; }

/// What two masks make of each other. `unreached` is no operand.
Mask both(Mask a, Mask b) {
  if (a == Mask::part || b == Mask::part) return Mask::part;
  if (!full(a) || !full(b)) return Mask::unknown;
  return a == Mask::ones ? b : a;
}
Mask either(Mask a, Mask b) {
  if (a == Mask::ones || b == Mask::ones) return Mask::ones;
  return a == Mask::entry || b == Mask::entry ? Mask::entry : Mask::unknown;
}
Mask without(Mask a, Mask b) { return b == Mask::part && a != Mask::unknown ? Mask::part : Mask::unknown; }
Mask differing(Mask a, Mask b) {
  return (a == Mask::entry && b == Mask::part) || (a == Mask::part && b == Mask::entry) ? Mask::part : Mask::unknown;
}
Mask without_first(Mask a, Mask b) { return without(b, a); }

struct OperationRow {
  std::string_view name; // "s_" in front and "_b64", "_saveexec_b64" or "_wrexec_b64" behind
  Mask (*result)(Mask, Mask);
};
constexpr std::array operations = {
    OperationRow{"and", both},      OperationRow{"or", either},           OperationRow{"andn2", without},
    OperationRow{"xor", differing}, OperationRow{"andn1", without_first},
};

constexpr size_t scalars = 128;
constexpr uint8_t minus_one = 193;       // operand encoding of the inline constant -1
using Masks = std::array<Mask, scalars>; // by the mask's first register

/// EXEC that is kept on one path and narrowed on another is narrowed. Of a saved mask that is no statement: it may only
/// be looked at on the path where it was saved.
Mask joined(Mask a, Mask b, bool exec) {
  if (a == b || b == Mask::unreached) return a;
  if (a == Mask::unreached) return b;
  const bool worse = exec && a != Mask::unknown && b != Mask::unknown;
  return !worse ? Mask::unknown : a == Mask::entry ? b : a;
}

class Following {
public:
  explicit Following(Masks& masks) : masks_(masks) {}

  void pass(const Instruction& i) {
    if (is_call(i)) {
      for (size_t r = 0; r < isa::exec_lo; ++r) masks_[r] = Mask::unknown; // EXEC comes back as it was
      return;
    }
    if (i.defs.empty()) return;
    const std::string_view name = name_of(i);
    const Mask before = masks_[isa::exec_lo], result = i.traits.salu ? computed(i, name) : compared(i, name);
    for (const isa::RegisterRange& def : i.defs) forget(def);
    const auto target = destination(i);
    if (name.ends_with("_saveexec_b64")) {
      if (target) masks_[*target] = before;
      masks_[isa::exec_lo] = result;
    } else if (name.ends_with("_wrexec_b64")) {
      if (target) masks_[*target] = result;
      masks_[isa::exec_lo] = result;
    } else if (name.starts_with("v_cmpx")) {
      masks_[isa::exec_lo] = Mask::part;
    } else if (target) {
      masks_[*target] = result;
    }
  }

private:
  static std::optional<uint16_t> destination(const Instruction& i) {
    for (size_t d = 0; d < i.explicit_defs && d < i.defs.size(); ++d)
      if (i.defs[d].file == isa::File::sgpr && i.defs[d].count == 2 && i.defs[d].first < scalars)
        return i.defs[d].first;
    if (!i.traits.salu) // a compare that always writes VCC
      for (const isa::RegisterRange& def : i.defs)
        if (def == isa::RegisterRange{isa::File::sgpr, isa::vcc_lo, 2}) return isa::vcc_lo;
    return std::nullopt;
  }

  void forget(const isa::RegisterRange& def) {
    if (def.file != isa::File::sgpr) return;
    for (size_t r = def.first; r < size_t{def.first} + def.count && r < scalars; ++r) {
      masks_[r] = Mask::unknown;
      if (r > 0) masks_[r - 1] = Mask::unknown;
    }
  }

  Mask source(const Instruction& i, uint8_t operand) const {
    if (operand < scalars) return masks_[operand];
    const auto value = constant_operand(i, operand);
    if (!value) return Mask::unknown;
    return operand == minus_one ? Mask::ones : Mask::part;
  }

  /// Compares say something about the active lanes.
  static Mask compared(const Instruction& i, std::string_view name) {
    return i.traits.valu && name.starts_with("v_cmp") ? Mask::part : Mask::unknown;
  }

  Mask computed(const Instruction& i, std::string_view name) const {
    if (i.encoding == isa::Encoding::sop1 && name == "s_mov_b64") return source(i, fields::sop1(i.words).ssrc0);
    for (const OperationRow& row : operations) {
      if (name.size() < row.name.size() + 2 || name.substr(2, row.name.size()) != row.name) continue;
      const std::string_view rest = name.substr(row.name.size() + 2);
      if (rest == "_b64" && i.encoding == isa::Encoding::sop2)
        return row.result(source(i, fields::sop2(i.words).ssrc0), source(i, fields::sop2(i.words).ssrc1));
      if ((rest == "_saveexec_b64" || rest == "_wrexec_b64") && i.encoding == isa::Encoding::sop1)
        return row.result(source(i, fields::sop1(i.words).ssrc0), masks_[isa::exec_lo]);
    }
    return Mask::unknown;
  }

  Masks& masks_;
};

} // namespace

std::vector<Finding> verify_restored_exec(const recover::Program& program, const recover::Function& function,
                                          const Graph& graph) {
  const auto touches_exec = [&](const recover::Item& item) {
    return is_instruction(item) && std::ranges::any_of(item.instruction.defs, [](const isa::RegisterRange& def) {
             return def.overlaps({isa::File::sgpr, isa::exec_lo, 2});
           });
  };
  const auto first = program.items.begin() + static_cast<std::ptrdiff_t>(function.first),
             last = program.items.begin() + static_cast<std::ptrdiff_t>(function.last);
  if (function.kernel >= 0 || !std::any_of(first, last, touches_exec)) return {};

  Masks nothing, start;
  nothing.fill(Mask::unreached);
  start.fill(Mask::unknown);
  start[isa::exec_lo] = Mask::entry;
  std::vector<Masks> entry(graph.blocks.size(), nothing);
  for (uint32_t b : graph.entries) entry[b] = start;
  std::vector<uint32_t> narrowed(graph.blocks.size(), 0); // by block: the last item that wrote EXEC, on some path in
  const auto walk = [&](const Block& block, Masks masks, uint32_t& writer) {
    Following following(masks);
    for (size_t i = block.first; i < block.last; ++i) {
      if (!is_instruction(program.items[i])) continue;
      following.pass(program.items[i].instruction);
      if (touches_exec(program.items[i])) writer = static_cast<uint32_t>(i);
    }
    return masks;
  };
  const std::vector<uint32_t> order = reverse_postorder(graph);
  const std::vector<bool> reached = reachable(graph);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b : order) {
      if (!reached[b] || entry[b][isa::exec_lo] == Mask::unreached) continue;
      uint32_t writer = narrowed[b];
      const Masks out = walk(graph.blocks[b], entry[b], writer);
      for (uint32_t s : graph.blocks[b].successors) {
        Masks next = entry[s];
        for (size_t r = 0; r < scalars; ++r) next[r] = joined(next[r], out[r], r == isa::exec_lo);
        if (next == entry[s]) continue;
        if (next[isa::exec_lo] != entry[s][isa::exec_lo]) narrowed[s] = writer;
        entry[s] = next;
        changed = true;
      }
    }
  }
  std::vector<Finding> findings;
  for (uint32_t b = 0; b < graph.blocks.size(); ++b) {
    if (!reached[b] || !graph.blocks[b].returns) continue;
    uint32_t writer = narrowed[b];
    const Mask at_return = walk(graph.blocks[b], entry[b], writer)[isa::exec_lo];
    if (at_return != Mask::part && at_return != Mask::ones) continue;
    const size_t item = graph.blocks[b].last - 1;
    findings.push_back({"R013", item, writer,
                        fmt::format("{} returns with {} lanes than the caller had: {} changed EXEC, and it is not "
                                    "written back on every path",
                                    place_of(program.items[item]), at_return == Mask::ones ? "more" : "fewer",
                                    place_of(program.items[writer]))});
  }
  return findings;
}

} // namespace asmevo::analysis
