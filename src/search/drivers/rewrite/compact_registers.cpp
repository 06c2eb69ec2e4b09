// Fewer vector registers, where that lets another wave run.
//
// A kernel that needs a few registers more than an occupancy step allows runs with a wave less than it could. Compilers
// stop packing where they think a step out of reach, and edits leave holes. Here every value is given a register anew:
// a value is all points at which a register is live that control flow leads through (so all definitions and uses that
// reach each other), what an instruction names as one tuple moves as one, and two values share a register where they
// are not live at the same point. A write under a partial EXEC kills nothing, so lanes that are switched off are
// covered: for liveness they still hold their value.
//
// Registers that the dispatcher fills stay where they are, and so do kernels that call, jump through tables or index
// registers by M0: there it is not in the text which register is meant. So do those that switch on all lanes, also such
// as were off when the kernel began: for liveness a write under the mask of the beginning reaches every lane.
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/points.h"
#include "search/drivers/rewrite/register_steps.h"
#include "search/drivers/rewrite/rules.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace asmevo::search::rewrite {

namespace {

constexpr uint32_t most_points = 1u << 23; // registers times places: what is looked at in a moment

/// Sets of numbers that grow together.
class Unions {
public:
  explicit Unions(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0u); }
  uint32_t find(uint32_t a) {
    while (parent_[a] != a) a = parent_[a] = parent_[parent_[a]];
    return a;
  }
  void join(uint32_t a, uint32_t b) { parent_[find(a)] = find(b); }

private:
  std::vector<uint32_t> parent_;
};

/// Values that keep their distances: those that instructions name together.
struct Group {
  std::map<uint16_t, Points> registers;  // where each is taken
  bool fixed = false, paired = false;    // paired: begins at an even register if it did
  size_t weight = 0, begin = ~size_t{0}; // points, and the first of them
  uint16_t low() const { return registers.begin()->first; }
  uint16_t high() const { return registers.rbegin()->first; }
};

class Values {
public:
  Values(const Facts& facts, uint32_t initial)
      : facts_(facts), items_(facts.function.last - facts.function.first), points_(2 * items_),
        webs_(points_ * facts.vgprs_used), together_(points_ * facts.vgprs_used), initial_(initial) {}

  /// Nothing where a register is meant that the text does not name.
  bool find() {
    for (const analysis::Block& block : facts_.graph.blocks)
      if (!follow(block)) return false;
    group();
    return true;
  }

  const std::vector<Group>& groups() const { return groups_; }

  /// The group that a register of an instruction's text belongs to.
  size_t group_of(size_t item, uint16_t vgpr, bool written) {
    return index_.at(together_.find(node(point(item) + (written ? 1 : 0), vgpr)));
  }

private:
  size_t point(size_t item) const { return 2 * (item - facts_.function.first); }
  uint32_t node(size_t point, uint16_t vgpr) { return webs_.find(uint32_t(point * facts_.vgprs_used + vgpr)); }
  void join(size_t a, size_t b, uint16_t vgpr) {
    webs_.join(uint32_t(a * facts_.vgprs_used + vgpr), uint32_t(b * facts_.vgprs_used + vgpr));
  }
  static size_t bit(uint16_t vgpr) { return analysis::bit_of(isa::File::vgpr, vgpr); }

  bool follow(const analysis::Block& block) {
    if (block.unknown || block.returns || block.falls_off || block.first == block.last) return false;
    for (size_t item = block.first; item < block.last; ++item) {
      if (facts_.is_instruction(item) && !is_plain(item)) return false;
      for (uint16_t v = 0; v < facts_.vgprs_used; ++v) {
        const bool after = facts_.live_after(item)[bit(v)];
        if (after && facts_.live_before(item)[bit(v)]) join(point(item), point(item) + 1, v);
        if (after && item + 1 < block.last && facts_.live_before(item + 1)[bit(v)])
          join(point(item) + 1, point(item + 1), v);
      }
    }
    for (const uint32_t successor : block.successors)
      for (uint16_t v = 0; v < facts_.vgprs_used; ++v) {
        const size_t next = facts_.graph.blocks[successor].first;
        if (facts_.live_before(next)[bit(v)] && facts_.live_after(block.last - 1)[bit(v)])
          join(point(block.last - 1) + 1, point(next), v);
      }
    return true;
  }

  bool is_plain(size_t item) const {
    const isa::Instruction& i = facts_.instruction(item);
    if (analysis::is_call(i) || i.traits.relative || i.traits.indirect || isa::name_of(i).starts_with("s_set_gpr_idx"))
      return false;
    if (i.encoding == isa::Encoding::unknown) return false;
    const InstructionText text = parse_instruction(facts_.program.items[item].text);
    if (writes(i, exec) && std::ranges::find(text.operands, "-1") != text.operands.end()) return false;
    std::vector<isa::RegisterRange> named;
    for (size_t o = 0; o < text.operands.size(); ++o) {
      const auto range = operand_registers(text.operands[o]);
      if (!range || range->file != isa::File::vgpr) continue;
      const auto& listed = o < i.explicit_defs ? i.defs : i.uses;
      if (std::ranges::find(listed, *range) == listed.end()) return false;
      named.push_back(*range);
    }
    for (const auto* ranges : {&i.defs, &i.uses})
      for (const isa::RegisterRange& range : *ranges)
        if (range.file == isa::File::vgpr && std::ranges::find(named, range) == named.end()) return false;
    return named.empty() || !facts_.program.items[item].raw;
  }

  /// Whether the result may lie where an operand lay that is read for the last time.
  static bool may_overwrite_operands(const isa::Instruction& i) {
    return i.traits.valu && !i.traits.mfma && i.suffix == isa::Suffix::none && i.explicit_defs == 1 &&
           i.defs[0].count == 1 && std::ranges::all_of(i.uses, [](const auto& use) { return use.count <= 2; });
  }

  template <class Visit> void each_tuple(Visit&& visit) {
    for (size_t item = facts_.function.first; item < facts_.function.last; ++item) {
      if (!facts_.is_instruction(item)) continue;
      const isa::Instruction& i = facts_.instruction(item);
      for (const isa::RegisterRange& use : i.uses)
        if (use.file == isa::File::vgpr) visit(item, use, false);
      for (const isa::RegisterRange& def : i.defs)
        if (def.file == isa::File::vgpr) visit(item, def, true);
    }
  }

  void tie() {
    each_tuple([&](size_t item, const isa::RegisterRange& range, bool written) {
      const size_t at = point(item) + (written ? 1 : 0);
      for (uint16_t v = range.first; v < range.first + range.count; ++v) {
        together_.join(node(at, v), node(at, range.first));
        // One operand may be both.
        if (written && reads(facts_.instruction(item), {isa::File::vgpr, v, 1}))
          together_.join(node(at - 1, v), node(at, v));
      }
    });
  }

  Group& take(size_t at, uint16_t vgpr) {
    const auto [where, added] = index_.try_emplace(together_.find(node(at, vgpr)), groups_.size());
    if (added) groups_.emplace_back();
    Group& group = groups_[where->second];
    Points& points = group.registers[vgpr];
    if (points.empty()) points = points_of_items(items_);
    set_point(points, at);
    group.begin = std::min(group.begin, at);
    ++group.weight;
    return group;
  }

  void group() {
    tie();
    for (size_t item = facts_.function.first; item < facts_.function.last; ++item)
      for (uint16_t v = 0; v < facts_.vgprs_used; ++v) {
        if (facts_.live_before(item)[bit(v)]) take(point(item), v);
        if (facts_.live_after(item)[bit(v)]) take(point(item) + 1, v);
      }
    each_tuple([&](size_t item, const isa::RegisterRange& range, bool written) {
      const size_t at = point(item) + (written ? 1 : 0);
      for (uint16_t v = range.first; v < range.first + range.count; ++v) {
        Group& group = take(at, v);
        group.paired |= range.count > 1;
        if (!written || may_overwrite_operands(facts_.instruction(item))) continue;
        set_point(group.registers[v], at - 1);
      }
    });
    for (const uint32_t entry : facts_.graph.entries)
      for (uint16_t v = 0; v < std::min(initial_, facts_.vgprs_used); ++v) {
        const size_t first = facts_.graph.blocks[entry].first;
        if (facts_.live_before(first)[bit(v)]) take(point(first), v).fixed = true;
      }
  }

  const Facts& facts_;
  size_t items_, points_;
  Unions webs_, together_; // points of one register; of registers that go together
  uint32_t initial_;
  std::vector<Group> groups_;
  std::map<uint32_t, size_t> index_; // of groups, by what represents them
};

/// Where each group goes: what is added to its registers. Nothing where they do not fit below `limit`.
std::optional<std::vector<int>> placed(const std::vector<Group>& groups, const std::vector<size_t>& order,
                                       uint32_t limit, bool even_pairs, const std::vector<bool>& stays) {
  std::vector<Points> taken(limit);
  std::vector<int> moves(groups.size(), 0);
  const auto fits = [&](const Group& group, int by) {
    return std::ranges::all_of(group.registers, [&](const auto& entry) {
      const Points& there = taken[size_t(entry.first + by)];
      return there.empty() || !meet(entry.second, there);
    });
  };
  const auto put = [&](size_t g, int by) {
    moves[g] = by;
    for (const auto& [vgpr, points] : groups[g].registers) {
      Points& there = taken[size_t(vgpr + by)];
      there.resize(points.size());
      join(there, points);
    }
  };
  for (size_t g = 0; g < groups.size(); ++g)
    if (stays[g]) {
      if (groups[g].high() >= limit) return std::nullopt;
      put(g, 0);
    }
  for (const size_t g : order) {
    if (stays[g]) continue;
    const Group& group = groups[g];
    bool found = false;
    for (int by = -int(group.low()); group.high() + by < int(limit) && !found; ++by) {
      if (even_pairs && group.paired && by % 2 != 0) continue;
      if ((found = fits(group, by))) put(g, by);
    }
    if (!found) return std::nullopt;
  }
  return moves;
}

/// Three attempts: only what lies too high moves; everything, the widest first; everything, in program order.
std::optional<std::vector<int>> placed(const std::vector<Group>& groups, uint32_t limit, bool even_pairs) {
  std::vector<size_t> by_width(groups.size()), by_begin(groups.size());
  std::iota(by_width.begin(), by_width.end(), size_t{0});
  by_begin = by_width;
  std::ranges::stable_sort(by_width, [&](size_t a, size_t b) {
    const auto key = [&](const Group& g) { return std::pair(g.high() - g.low(), g.weight); };
    return key(groups[a]) > key(groups[b]);
  });
  std::ranges::stable_sort(by_begin, {}, [&](size_t g) { return groups[g].begin; });
  std::vector<bool> low, fixed;
  for (const Group& group : groups) {
    low.push_back(group.fixed || group.high() < limit);
    fixed.push_back(group.fixed);
  }
  if (auto moves = placed(groups, by_width, limit, even_pairs, low)) return moves;
  if (auto moves = placed(groups, by_width, limit, even_pairs, fixed)) return moves;
  return placed(groups, by_begin, limit, even_pairs, fixed);
}

std::optional<std::string> moved(const Facts& facts, size_t item, Values& values, const std::vector<int>& moves) {
  const isa::Instruction& i = facts.instruction(item);
  InstructionText text = parse_instruction(facts.program.items[item].text);
  bool changed = false;
  for (size_t o = 0; o < text.operands.size(); ++o) {
    const auto range = operand_registers(text.operands[o]);
    if (!range || range->file != isa::File::vgpr) continue;
    const int by = moves[values.group_of(item, range->first, o < i.explicit_defs)];
    if (by == 0) continue;
    const isa::RegisterRange to{isa::File::vgpr, uint16_t(range->first + by), range->count};
    text.operands[o] = renamed(text.operands[o], *range, to);
    changed = true;
  }
  return changed ? std::optional(write_instruction(text) + "\n") : std::nullopt;
}

} // namespace

std::vector<Idea> compact_registers(const Facts& facts) {
  const auto steps = RegisterSteps::of(facts);
  const uint32_t used = facts.vgprs_used;
  if (!steps || !steps->declared_exactly() || used == 0 || used > 256) return {};
  const auto limit = steps->next_below(used);
  if (!limit || 2 * (facts.function.last - facts.function.first) * used > most_points) return {};
  if (facts.liveness.registers.first_of({isa::File::agpr, 0, 1}) != analysis::agpr_unit) return {};
  Values values(facts, steps->initial());
  if (!values.find()) return {};
  const auto moves = placed(values.groups(), *limit, facts.program.target.unified_registers());
  if (!moves) return {};
  Idea idea;
  for (size_t item = facts.function.first; item < facts.function.last; ++item)
    if (facts.is_instruction(item))
      if (auto text = moved(facts, item, values, *moves)) idea.edits.push_back({item, item + 1, std::move(*text)});
  if (idea.edits.empty()) return {};
  // Registers that hold something else now may still be waited for anywhere.
  idea.blocks.resize(facts.graph.blocks.size());
  std::iota(idea.blocks.begin(), idea.blocks.end(), 0u);
  idea.rationale = fmt::format("{} vector registers instead of {}: {} waves instead of {}", *limit, used,
                               steps->waves(*limit, steps->agprs()), steps->waves(used, steps->agprs()));
  idea.promise = facts.heat_of(facts.function.first, facts.function.last);
  std::vector<Idea> ideas;
  ideas.push_back(std::move(idea));
  return ideas;
}

} // namespace asmevo::search::rewrite
