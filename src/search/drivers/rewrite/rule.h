// What a rewrite rule is: a function that looks at a program and names edits that might make it faster.
//
// Rules look for one pattern each and leave the rest to `complete`: edits are applied, what they made dead is removed,
// waits and hazard nops of the touched blocks are inserted anew, and the difference to the original becomes the
// proposal. A rule therefore never writes s_waitcnt or s_nop.
#pragma once

#include "analysis/cfg.h"
#include "analysis/liveness.h"
#include "search/driver.h"
#include "search/drivers/rewrite/operand.h"

#include <span>

namespace asmevo::search::rewrite {

/// Cache lines of a memory instruction, as modelled, and how many of them the next access to them found in a cache.
struct LinesOf {
  double asked = 0, reused = 0;
};

/// A program with the analyses that rules share.
struct Facts {
  const recover::Program& program;
  const recover::Function& function;
  const isa::Codec& codec;
  analysis::Graph graph;
  analysis::Liveness liveness;
  std::vector<double> heat;         // by item - function.first: modelled cycles spent there; zeros without an estimate
  double lds_conflicts = 0;         // modelled cycles lost to bank conflicts, in the unit of heat
  std::vector<double> conflicts_of; // the same by item
  std::vector<LinesOf> lines_of;    // by item: what became of the cache lines that it asked for
  bool allow_float_rewrites = false;
  uint32_t vgprs_used = 0;  // by any instruction of the function
  uint32_t vgpr_budget = 0; // VGPRs that may be used without losing a wave of occupancy
  double least_gain = 0;    // State::least_gain
  // Of this very program; null where it was not timed.
  const timing::Estimate* estimate = nullptr;
  const machine::Image* image = nullptr;

  const isa::Instruction& instruction(size_t item) const { return program.items[item].instruction; }
  bool is_instruction(size_t item) const { return program.items[item].kind == recover::ItemKind::instruction; }
  const analysis::RegisterSet& live_before(size_t item) const { return liveness.before[item - function.first]; }
  const analysis::RegisterSet& live_after(size_t item) const { return liveness.after[item - function.first]; }
  double heat_of(size_t first, size_t last) const;
  /// The index of an item's instruction in `image`; nothing without one.
  std::optional<uint32_t> in_image(size_t item) const;
};

Facts gather(const State& state);

/// One idea of a rule: sorted edits that do not overlap, and how much it hopes to win (heat of what it touches).
struct Idea {
  std::vector<recover::Edit> edits;
  std::vector<uint32_t> blocks; // of Facts::graph: cleaned up and given new waits besides those that the edits touch
  std::string rationale;
  double promise = 0;
  unsigned variant = 0; // ideas of one rule for the same place, the one that is liked best first
};

struct Rule {
  std::string_view name;
  Direction direction;
  bool changes_floats; // results may differ in rounding: only where the launch's policy has a tolerance
  std::vector<Idea> (*find)(const Facts&);
  bool separable = true; // ideas whose edits do not overlap may be carried out together
  unsigned variants = 1; // that its ideas come in
  bool bundled = true;   // also in bundles; not what needs the program timed as it is
};

std::span<const Rule> all_rules();

/// The same for a program that was made from that of `facts`; what both have is as hot as it was.
Facts gather_after(const Facts& facts, const recover::Program& program);

/// VGPRs that text put in the place of `item` may write: they hold nothing that is live after it, are not among `read`
/// (the registers that the text reads), and do not cost a wave of occupancy. Lowest first.
std::vector<uint16_t> free_vgprs(const Facts& facts, size_t item, std::span<const isa::RegisterRange> read);

/// Applies the edits of an idea, removes what became dead, re-inserts waits and nops, and returns the edits that lead
/// from the original program to the result. Nothing where the text does not assemble or nothing changed.
std::optional<std::vector<recover::Edit>> complete(const Facts& facts, const Idea& idea);

/// The edits that turn `before` into `after`: minimal differing spans of items.
std::vector<recover::Edit> difference(const recover::Program& before, const recover::Program& after);

} // namespace asmevo::search::rewrite
