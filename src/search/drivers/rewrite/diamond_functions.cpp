#include "search/drivers/rewrite/diamond_functions.h"

#include "analysis/diamonds.h"
#include "search/drivers/rewrite/exec_skips.h"

#include <algorithm>
#include <set>

namespace asmevo::search::rewrite {

namespace {

using analysis::Diamond;

constexpr uint32_t log2e_high = 0x3fb8aa3b, log2e_low = 0x32a5705f;
constexpr uint32_t largest = 0x42b17218, least = 0xc2ce8ed0, infinity = 0x7f800000;
constexpr size_t longest_copy = 64;

/// Where the code of a diamond stands, and that nothing else leads into it.
class Ground {
public:
  Ground(const Facts& facts, const Diamond& diamond) : facts_(facts), head_(diamond.head) {
    for (const auto* items : {&diamond.first, &diamond.both, &diamond.second, &diamond.frame, &diamond.joins})
      gone_.insert(items->begin(), items->end());
    gone_.insert(head_);
  }

  /// The join that stands behind the head, with nothing in between that is not of the diamond.
  std::optional<size_t> join(const Diamond& diamond) const {
    std::optional<size_t> found;
    for (size_t item = head_ + 1; item < facts_.function.last && (goes(item) || is_nothing(item)); ++item)
      if (std::ranges::find(diamond.joins, item) != diamond.joins.end()) found = item;
    return found;
  }

  /// The same for `text` in the place of the diamond; nothing where something would be lost.
  std::optional<std::vector<recover::Edit>> edits(const Diamond& diamond, size_t join, std::string text) {
    for (const size_t other : diamond.joins)
      if (other != join && !remove_copy(join, other)) return std::nullopt;
    take_jumps();
    std::vector<recover::Edit> edits;
    for (size_t item = facts_.function.first; item < facts_.function.last; ++item) {
      if (!goes(item)) continue;
      size_t last = item + 1; // of the stretch
      for (size_t at = last; at < facts_.function.last && (goes(at) || is_nothing(at)); ++at)
        if (goes(at)) last = at + 1;
      size_t first = item;
      while (first > facts_.function.first && item != head_ && is_label(first - 1)) --first;
      if (item == head_ && last != join + 1) return std::nullopt;
      if ((item != head_ && is_fallen_into(first)) || !is_private(first, last)) return std::nullopt;
      edits.push_back({first, last, item == head_ ? std::move(text) : ""});
      item = last;
    }
    return edits;
  }

private:
  bool goes(size_t item) const { return gone_.contains(item); }
  bool is_label(size_t item) const { return facts_.program.items[item].kind == recover::ItemKind::label; }
  bool is_nothing(size_t item) const {
    if (is_label(item)) return true;
    return facts_.is_instruction(item) &&
           (facts_.instruction(item).traits.waitcnt || isa::name_of(facts_.instruction(item)) == "s_nop");
  }
  std::optional<size_t> next(size_t item) const {
    return analysis::next_instruction(facts_.program, facts_.function, item);
  }
  std::optional<size_t> taken(size_t branch) const {
    const auto target = analysis::target_of(facts_.program, facts_.function, branch);
    return target ? next(*target) : std::nullopt;
  }

  /// What stands behind one join is a copy of what stands behind the other, and goes.
  bool remove_copy(size_t join, size_t copy) {
    auto a = next(join + 1), b = next(copy + 1);
    for (size_t steps = 0; steps < longest_copy; ++steps) {
      if (!a || !b) return false;
      if (a == b) return true;
      gone_.insert(*b);
      const isa::Instruction &x = facts_.instruction(*a), &y = facts_.instruction(*b);
      if (x.traits.branch) return x.traits.conditional && y.traits.conditional && same_ways(*a, *b);
      if (facts_.program.items[*a].text != facts_.program.items[*b].text) return false;
      if (x.traits.terminator) return true;
      a = next(*a + 1);
      b = next(*b + 1);
    }
    return false;
  }

  bool same_ways(size_t a, size_t b) const {
    const auto taken_a = taken(a), taken_b = taken(b), on_a = next(a + 1), on_b = next(b + 1);
    if (!taken_a || !taken_b || !on_a || !on_b) return false;
    const std::string_view x = isa::name_of(facts_.instruction(a)), y = isa::name_of(facts_.instruction(b));
    if (x == y) return taken_a == taken_b && on_a == on_b;
    return opposite(x) == y && taken_a == on_b && on_a == taken_b;
  }

  static std::string_view opposite(std::string_view branch) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 3> pairs = {
        std::pair{"s_cbranch_execz", "s_cbranch_execnz"},
        {"s_cbranch_vccz", "s_cbranch_vccnz"},
        {"s_cbranch_scc0", "s_cbranch_scc1"}};
    for (const auto& [a, b] : pairs) {
      if (branch == a) return b;
      if (branch == b) return a;
    }
    return {};
  }

  /// A jump behind something that goes is reached from there alone.
  void take_jumps() {
    std::vector<size_t> jumps;
    for (const size_t item : gone_)
      for (size_t at = item + 1; at < facts_.function.last; ++at) {
        if (is_nothing(at) && !is_label(at)) continue;
        if (facts_.is_instruction(at) && isa::name_of(facts_.instruction(at)) == "s_branch") jumps.push_back(at);
        break;
      }
    gone_.insert(jumps.begin(), jumps.end());
  }

  bool is_fallen_into(size_t item) const {
    while (item-- > facts_.function.first) {
      if (!facts_.is_instruction(item)) continue;
      return !facts_.instruction(item).traits.terminator && !goes(item);
    }
    return true;
  }

  /// Nothing that stays leads to a label in the stretch.
  bool is_private(size_t first, size_t last) const {
    for (size_t label = first; label < last; ++label) {
      if (!is_label(label)) continue;
      const std::string& name = facts_.program.items[label].text;
      if (is_anchored(facts_.program, name)) return false;
      for (size_t item = 0; item < facts_.program.items.size(); ++item)
        if (facts_.program.items[item].target == name && !goes(item)) return false;
    }
    return true;
  }

  const Facts& facts_;
  size_t head_;
  std::set<size_t> gone_;
};

/// The registers that a diamond leaves, if they are one vector register.
std::optional<isa::RegisterRange> only_result(const Facts& facts, const Diamond& diamond, size_t join) {
  analysis::RegisterSet written;
  for (const auto* items : {&diamond.first, &diamond.both, &diamond.second, &diamond.frame})
    for (const size_t item : *items) written |= facts.liveness.registers.set_of(facts.instruction(item).defs);
  for (const size_t item : {diamond.head, join})
    written |= facts.liveness.registers.set_of(facts.instruction(item).defs);
  written &= ~facts.liveness.registers.set_of(std::span(&exec, 1));
  const analysis::RegisterSet left = written & facts.live_after(join);
  if (left.count() != 1) return std::nullopt;
  const auto unit = uint16_t(left._Find_first());
  if (unit < analysis::vgpr_unit || unit >= analysis::agpr_unit) return std::nullopt;
  return isa::RegisterRange{isa::File::vgpr, uint16_t(unit - analysis::vgpr_unit), 1};
}

class Replacing {
public:
  Replacing(const Facts& facts, const DiamondRule& rule) : facts_(facts), rule_(rule) {}

  std::vector<Idea> run() {
    for (const Diamond& diamond : analysis::diamonds(facts_.program, facts_.function)) replace(diamond);
    return std::move(ideas_);
  }

private:
  void replace(const Diamond& diamond) {
    const Ground ground(facts_, diamond);
    const auto join = ground.join(diamond);
    if (!join || !computes_only(diamond)) return;
    const auto result = only_result(facts_, diamond, *join);
    if (!result) return;
    auto place = recognised(diamond, *result);
    if (!place) return;
    place->free = free_registers(*join, *place);
    if (place->free.size() < rule_.free) return;
    for (unsigned variant = 0; variant < rule_.forms.size(); ++variant) {
      auto edits = Ground(facts_, diamond).edits(diamond, *join, rule_.forms[variant].write(*place));
      if (!edits) return;
      double heat = 0;
      for (const recover::Edit& edit : *edits) heat += facts_.heat_of(edit.first, edit.last);
      ideas_.push_back({.edits = *std::move(edits),
                        .blocks = {},
                        .rationale = std::string(rule_.forms[variant].what),
                        .promise = heat,
                        .variant = variant});
    }
  }

  bool computes_only(const Diamond& diamond) const {
    for (const auto* items : {&diamond.first, &diamond.both, &diamond.second})
      for (const size_t item : *items)
        if (!analysis::only_computes(facts_.instruction(item))) return false;
    return true;
  }

  std::optional<DiamondPlace> recognised(const Diamond& diamond, const isa::RegisterRange& result) {
    const analysis::Block& block = facts_.graph.blocks[facts_.graph.block_of[diamond.head - facts_.function.first]];
    if (!reaching_) reaching_.emplace(facts_.program, facts_.function, facts_.graph);
    Terms terms;
    Tracked before(facts_, terms, *reaching_, block.first);
    for (size_t item = block.first; item < diamond.head; ++item)
      if (facts_.is_instruction(item)) before.follow(item);
    const std::string mask = parse_instruction(facts_.program.items[diamond.head].text).operands.at(1);
    const auto pair = operand_registers(mask);
    if (!pair) return std::nullopt;
    const TermId condition = before.holds(*pair);
    Tracked first = before, second = before;
    for (const auto* items : {&diamond.first, &diamond.both})
      for (const size_t item : *items) first.follow(item);
    // What the first arm leaves in scalar registers is there for the second only where it was not skipped.
    for (const size_t item : diamond.first)
      for (const isa::RegisterRange& def : facts_.instruction(item).defs)
        if (def.file != isa::File::vgpr && def.file != isa::File::agpr) second.forget(def);
    for (const auto* items : {&diamond.both, &diamond.second})
      for (const size_t item : *items) second.follow(item);
    const TermId value = terms.choice(condition, first.holds(result), second.holds(result));
    const auto argument = rule_.argument(terms, value);
    if (!argument) return std::nullopt;
    for (uint16_t v = 0; v < facts_.vgprs_used; ++v) {
      const isa::RegisterRange range{isa::File::vgpr, v, 1};
      if (!facts_.live_after(diamond.head)[analysis::bit_of(isa::File::vgpr, v)]) continue;
      const TermId held = before.holds(range);
      if (held == *argument || held == terms.magnitude(*argument) || held == terms.negative(*argument))
        return DiamondPlace{.processor = facts_.program.target.processor,
                            .result = register_text(result),
                            .argument = register_text(range),
                            .condition = mask,
                            .condition_is_opposite = terms.is(condition, Op::opposite),
                            .free = {}};
    }
    return std::nullopt;
  }

  std::vector<std::string> free_registers(size_t join, const DiamondPlace& place) const {
    const std::array read = {*operand_registers(place.argument), *operand_registers(place.result)};
    std::vector<std::string> free;
    if (place.argument != place.result) free.push_back(place.result);
    for (const uint16_t v : free_vgprs(facts_, join, read)) free.push_back(fmt::format("v{}", v));
    return free;
  }

  const Facts& facts_;
  const DiamondRule& rule_;
  std::optional<analysis::Reaching> reaching_; // asked for when there is something to ask
  std::vector<Idea> ideas_;
};

} // namespace

std::vector<Idea> replace_diamonds(const Facts& facts, const DiamondRule& rule) { return Replacing(facts, rule).run(); }

std::vector<TermId> exponentials(Terms& terms, TermId x) {
  const TermId high = terms.constant(log2e_high), scaled = terms.product(x, high);
  const TermId nearest = terms.of(Op::nearest, scaled);
  const TermId rest = terms.fused(x, terms.constant(log2e_low), terms.fused(x, high, terms.negative(scaled)));
  std::vector<TermId> found = {terms.of(Op::power_of_two, scaled)};
  for (const TermId fraction : {terms.difference(scaled, nearest), terms.fused(x, high, terms.negative(nearest))}) {
    const TermId power =
        terms.of(Op::scaled, terms.of(Op::power_of_two, terms.sum(fraction, rest)), terms.of(Op::integer, nearest));
    const TermId above = terms.choice(terms.less(x, terms.constant(least)), terms.constant(0), power);
    found.push_back(terms.choice(terms.less(terms.constant(largest), x), terms.constant(infinity), above));
  }
  return found;
}

TermId polynomial(Terms& terms, TermId x, std::span<const uint32_t> coefficients) {
  TermId sum = terms.constant(coefficients[0]);
  for (const uint32_t c : coefficients.subspan(1)) sum = terms.fused(x, sum, terms.constant(c));
  return sum;
}

std::string horner_step(isa::Processor processor, const std::string& to, const std::string& x, uint32_t c) {
  const std::string_view name = processor >= isa::Processor::gfx942 ? "v_fmaak_f32" : "v_madak_f32";
  return fmt::format("{0} {1}, {2}, {1}, {3:#x}\n", name, to, x, c);
}

} // namespace asmevo::search::rewrite
