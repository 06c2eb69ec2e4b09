#include "analysis/exec.h"

#include "analysis/diamonds.h"

#include <optional>
#include <unordered_map>

namespace asmevo::analysis {
namespace {

using isa::Instruction;

constexpr size_t scalars = 128, most_diamonds = 256;

/// Scalar registers whose low half (even or odd, as the mask's first register) begins a full 64-bit mask; behind them,
/// diamonds that were entered with a full one.
using Masks = std::bitset<scalars + most_diamonds>;

constexpr uint32_t minus_one = 193; // operand encoding of the inline constant -1

/// The first explicit scalar register written, as the base of a 64-bit mask.
std::optional<uint16_t> destination(const Instruction& i) {
  for (size_t d = 0; d < i.explicit_defs && d < i.defs.size(); ++d)
    if (i.defs[d].file == isa::File::sgpr && i.defs[d].count == 2) return i.defs[d].first;
  return std::nullopt;
}

bool reads_full(const Instruction& i, const Masks& full, uint8_t source) {
  return source == minus_one || (source < scalars && full.test(source) && i.encoding != isa::Encoding::unknown);
}

bool source_is_full(const Instruction& i, const Masks& full, std::string_view name) {
  const auto first = static_cast<uint8_t>(i.words[0] & 0xff), second = static_cast<uint8_t>(i.words[0] >> 8 & 0xff);
  if (i.encoding == isa::Encoding::sop1) return name == "s_mov_b64" && reads_full(i, full, first);
  if (i.encoding != isa::Encoding::sop2) return false;
  const bool a = reads_full(i, full, first), b = reads_full(i, full, second);
  if (name == "s_or_b64") return a || b;
  return name == "s_and_b64" && a && b;
}

void transfer(const Instruction& i, Masks& full) {
  if (i.defs.empty()) return;
  const std::string_view name = i.traits.salu ? name_of(i) : std::string_view();
  const bool result = i.traits.salu && source_is_full(i, full, name);
  // s_..._saveexec_b64 copies EXEC to its destination before it changes EXEC.
  const bool saves = i.traits.salu && name.ends_with("_saveexec_b64");
  const bool saved = saves && full.test(isa::exec_lo);
  const bool widens = saves && name.starts_with("s_or_saveexec") &&
                      (saved || reads_full(i, full, static_cast<uint8_t>(i.words[0] & 0xff)));
  for (const isa::RegisterRange& def : i.defs) {
    if (def.file != isa::File::sgpr) continue;
    for (uint32_t r = def.first; r < uint32_t{def.first} + def.count && r < scalars; ++r) {
      full.reset(r);
      if (r > 0) full.reset(r - 1);
    }
  }
  const auto target = destination(i);
  if (!target || *target >= scalars) return;
  if (saves) {
    full.set(*target, saved);
    full.set(isa::exec_lo, widens);
  } else if (result) {
    full.set(*target);
  }
}

/// Where a diamond ends, EXEC is what it was where it began.
class Joins {
public:
  Joins(const recover::Program& program, const recover::Function& function, const Graph& graph) {
    size_t number = scalars;
    for (const Diamond& diamond : diamonds(program, function)) {
      if (number == scalars + most_diamonds) break;
      if (!is_closed(program, function, graph, diamond)) continue;
      heads_[diamond.head] = number;
      for (const size_t join : diamond.joins) joins_[join] = number;
      ++number;
    }
  }

  void transfer(size_t item, const Instruction& i, Masks& full) const {
    const auto head = heads_.find(item), join = joins_.find(item);
    if (head != heads_.end()) full.set(head->second, full.test(isa::exec_lo));
    asmevo::analysis::transfer(i, full);
    if (join != joins_.end() && full.test(join->second)) full.set(isa::exec_lo);
  }

private:
  std::unordered_map<size_t, size_t> heads_, joins_; // to the place in Masks
};

} // namespace

std::vector<bool> full_exec(const recover::Program& program, const recover::Function& function, const Graph& graph) {
  const Joins joins(program, function, graph);
  std::vector<Masks> entry(graph.blocks.size(), ~Masks());
  for (uint32_t b : graph.entries) {
    entry[b].reset();
    entry[b].set(isa::exec_lo);
  }
  const auto walk = [&](const Block& block, Masks full, auto&& visit) {
    for (size_t i = block.first; i < block.last; ++i) {
      visit(i, full);
      if (!is_instruction(program.items[i])) continue;
      const Instruction& instruction = program.items[i].instruction;
      if (is_call(instruction))
        full.reset(); // a callee restores EXEC, but its caller's SGPRs only by convention
      else
        joins.transfer(i, instruction, full);
    }
    return full;
  };
  const std::vector<uint32_t> order = reverse_postorder(graph);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b : order) {
      const Masks out = walk(graph.blocks[b], entry[b], [](size_t, const Masks&) {});
      for (uint32_t s : graph.blocks[b].successors) {
        const Masks joined = entry[s] & out;
        changed |= joined != entry[s];
        entry[s] = joined;
      }
    }
  }
  std::vector<bool> result(function.last - function.first);
  for (uint32_t b = 0; b < graph.blocks.size(); ++b)
    walk(graph.blocks[b], entry[b],
         [&](size_t i, const Masks& full) { result[i - function.first] = full.test(isa::exec_lo); });
  return result;
}

} // namespace asmevo::analysis
