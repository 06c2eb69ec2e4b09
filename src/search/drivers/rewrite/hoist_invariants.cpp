// What a loop computes anew each time though it never changes.
//
// In a loop of one block, a vector instruction whose sources nothing in the loop writes gives the same in every
// iteration. It moves in front of the loop, into a register that nothing else uses, and what read its result reads that
// one. In front of the loop at least the lanes are active that the loop runs with: inside, EXEC only ever loses lanes
// that it had on entry. Lanes that the loop has lost get a value as well, which nobody looks at.
#include "search/drivers/rewrite/exec_regions.h"
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/rules.h"

#include <algorithm>

namespace asmevo::search::rewrite {

namespace {

/// Takes lanes out of EXEC: `s_andn2_b64 exec, exec, x` or `s_and_b64 exec, exec, x`.
bool only_loses_lanes(const Facts& facts, size_t item) {
  const InstructionText text = parse_instruction(facts.program.items[item].text);
  return (text.mnemonic == "s_andn2_b64" || text.mnemonic == "s_and_b64") && text.operands.size() == 3 &&
         text.operands[0] == "exec" && text.operands[1] == "exec";
}

/// Whether every lane that is active in the block was active when the loop was entered.
bool only_entered_lanes(const Facts& facts, const analysis::Block& block) {
  std::vector<size_t> losing;
  for (size_t item = block.first; item < block.last; ++item)
    if (facts.is_instruction(item) && writes(facts.instruction(item), exec) && only_loses_lanes(facts, item))
      losing.push_back(item);
  return ExecRegions::find(facts, block, losing).has_value();
}

/// Vector arithmetic lane by lane, with one whole VGPR result, that depends on nothing but its operands.
bool can_move(const isa::Instruction& i) {
  const isa::Traits& t = i.traits;
  if (!t.valu || t.mfma || t.side_effects || t.relative || i.suffix != isa::Suffix::none) return false;
  if (i.defs.size() != 1 || i.explicit_defs != 1 || i.defs[0].file != isa::File::vgpr) return false;
  if (isa::name_of(i).find("lane") != std::string_view::npos) return false;
  return std::ranges::none_of(i.uses, [&](const isa::RegisterRange& use) { return use.overlaps(i.defs[0]); });
}

class Hoist {
public:
  /// `wanted`: liveness by the readers that count.
  Hoist(const Facts& facts, const analysis::Liveness& wanted, const analysis::Block& block)
      : facts_(facts), wanted_(wanted), block_(block) {
    for (size_t item = block.first; item < block.last; ++item) {
      busy_ |= facts.live_before(item) | facts.live_after(item);
      if (!facts.is_instruction(item)) continue;
      busy_ |= analysis::set_of(facts.instruction(item).defs) | analysis::set_of(facts.instruction(item).uses);
    }
  }

  /// Lines for the front of the loop, and the edits of the loop. False where nothing moves.
  bool run() {
    for (size_t item = block_.first; item < block_.last; ++item)
      if (facts_.is_instruction(item)) look_at(item);
    return !lines_.empty();
  }

  const std::string& lines() const { return lines_; }
  size_t count() const { return moved_.size(); }
  std::vector<recover::Edit> edits() const {
    std::vector<recover::Edit> edits;
    for (size_t item = block_.first; item < block_.last; ++item) {
      if (!facts_.is_instruction(item)) continue;
      if (std::ranges::find(moved_, item) != moved_.end()) {
        edits.push_back({item, item + 1, ""});
        continue;
      }
      const std::string text = text_of(item);
      if (text != facts_.program.items[item].text) edits.push_back({item, item + 1, text + "\n"});
    }
    return edits;
  }

private:
  struct Renaming {
    isa::RegisterRange from, to;
    size_t first = 0, last = 0; // items that read it: (first, last]
  };

  void look_at(size_t item) {
    const isa::Instruction& i = facts_.instruction(item);
    if (!can_move(i) || !unchanging(item)) return;
    const isa::RegisterRange& result = i.defs[0];
    // Nothing may want what the register held before, and nothing behind the loop what it holds now.
    if (!dead(result, wanted_.before[block_.first - facts_.function.first]) ||
        !dead(result, wanted_.after[block_.last - 1 - facts_.function.first]))
      return;
    size_t end = item + 1;
    while (end < block_.last && !(facts_.is_instruction(end) && writes(facts_.instruction(end), result))) ++end;
    const size_t last = std::min(end, block_.last - 1);
    for (size_t k = item + 1; k <= last; ++k)
      if (facts_.is_instruction(k) && !renames_all(k, result)) return;
    const auto to = free_register(result.count);
    if (!to) return;
    InstructionText text = parse_instruction(text_of(item));
    text.operands[0] = register_text(*to);
    lines_ += write_instruction(text) + "\n";
    renamings_.push_back({result, *to, item, last});
    moved_.push_back(item);
  }

  /// Whether no source of the item changes in the loop, but for what has moved already.
  bool unchanging(size_t item) const {
    return std::ranges::all_of(facts_.instruction(item).uses, [&](const isa::RegisterRange& use) {
      if (use.overlaps(exec)) return true; // lane by lane: see above
      const bool moved = std::ranges::any_of(
          renamings_, [&](const Renaming& r) { return item > r.first && item <= r.last && r.from == use; });
      return moved || !written_between(facts_, use, block_.first, block_.last);
    });
  }

  /// Whether what the instruction reads of `range` are operands that name just that.
  bool renames_all(size_t item, const isa::RegisterRange& range) const {
    const isa::Instruction& i = facts_.instruction(item);
    if (!reads(i, range)) return true;
    if (i.traits.relative || i.suffix == isa::Suffix::dpp) return false;
    if (std::ranges::any_of(i.defs, [&](const isa::RegisterRange& d) { return d.overlaps(range); })) return false;
    const InstructionText text = parse_instruction(facts_.program.items[item].text);
    const auto read = std::ranges::count_if(i.uses, [&](const auto& use) { return use.overlaps(range); });
    const auto named = std::ranges::count_if(
        text.operands, [&](const std::string& o) { return operand_registers(o) == std::optional(range); });
    return read == named;
  }

  std::string text_of(size_t item) const {
    InstructionText text = parse_instruction(facts_.program.items[item].text);
    bool changed = false;
    for (const Renaming& r : renamings_)
      if (item > r.first && item <= r.last && reads(facts_.instruction(item), r.from))
        for (std::string& operand : text.operands) {
          if (operand_registers(operand) != std::optional(r.from)) continue;
          operand = renamed(operand, r.from, r.to);
          changed = true;
        }
    return changed ? write_instruction(text) : facts_.program.items[item].text;
  }

  static bool dead(const isa::RegisterRange& range, const analysis::RegisterSet& live) {
    return (analysis::set_of({range}) & live).none();
  }

  std::optional<isa::RegisterRange> free_register(uint16_t count) {
    for (uint16_t v = 0; v + count <= facts_.vgpr_budget; v = uint16_t(v + count)) {
      const isa::RegisterRange range{isa::File::vgpr, v, count};
      if (!dead(range, busy_)) continue;
      busy_ |= analysis::set_of({range});
      return range;
    }
    return std::nullopt;
  }

  const Facts& facts_;
  const analysis::Liveness& wanted_;
  const analysis::Block& block_;
  analysis::RegisterSet busy_;
  std::vector<Renaming> renamings_;
  std::vector<size_t> moved_;
  std::string lines_;
};

} // namespace

std::vector<Idea> hoist_invariants(const Facts& facts) {
  const analysis::Liveness wanted =
      analysis::liveness(facts.program, facts.function, facts.graph, analysis::Readers::wanted);
  std::vector<Idea> ideas;
  for (uint32_t number = 0; number < facts.graph.blocks.size(); ++number) {
    const analysis::Block& block = facts.graph.blocks[number];
    const auto before = entered_from(facts, number);
    if (!before || !only_entered_lanes(facts, block)) continue;
    Hoist hoist(facts, wanted, block);
    if (!hoist.run()) continue;
    Idea idea{.edits = {{block.first, block.first, hoist.lines()}},
              .blocks = {*before},
              .rationale = fmt::format("{} instructions that give the same in every iteration, once", hoist.count()),
              .promise = facts.heat_of(block.first, block.last)};
    std::ranges::move(hoist.edits(), std::back_inserter(idea.edits));
    ideas.push_back(std::move(idea));
  }
  return ideas;
}

} // namespace asmevo::search::rewrite
