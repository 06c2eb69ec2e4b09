// Branches that all lanes take together.
//
// Code that thinks in vectors compares per lane, narrows EXEC to the lanes in which the condition holds, and branches
// where there are none, also when both sides are the same in all lanes. Such a condition is one of the wave: a scalar
// compare and a scalar branch do, and EXEC stays as it is.
//
//     v_cmp; s_and_saveexec_b64 saved, c; s_cbranch_execz L; ...; L: s_or_b64 exec, exec, saved
//     v_cmp; s_and_b64 vcc, exec, vcc; s_cbranch_vccz L
//     and diamonds
//
// become s_cmp; s_cbranch_scc0 L. The compare must be one that the scalar unit has: of 32-bit integers. Where no lane
// is active, nobody enters either way, so some lane has to be known to be. What is in a vector register is taken from
// there by v_readfirstlane_b32.
#include "analysis/diamonds.h"
#include "analysis/exec.h"
#include "analysis/register_values.h"
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/rules.h"
#include "search/drivers/rewrite/scalar_registers.h"

#include <algorithm>
#include <set>

namespace asmevo::search::rewrite {

namespace {

constexpr isa::RegisterRange vcc{isa::File::sgpr, isa::vcc_lo, 2};

struct Compare {
  std::string_view vector, scalar;
};
constexpr std::array compares = {
    Compare{"v_cmp_eq_i32", "s_cmp_eq_i32"}, Compare{"v_cmp_ne_i32", "s_cmp_lg_i32"},
    Compare{"v_cmp_gt_i32", "s_cmp_gt_i32"}, Compare{"v_cmp_ge_i32", "s_cmp_ge_i32"},
    Compare{"v_cmp_lt_i32", "s_cmp_lt_i32"}, Compare{"v_cmp_le_i32", "s_cmp_le_i32"},
    Compare{"v_cmp_eq_u32", "s_cmp_eq_u32"}, Compare{"v_cmp_ne_u32", "s_cmp_lg_u32"},
    Compare{"v_cmp_gt_u32", "s_cmp_gt_u32"}, Compare{"v_cmp_ge_u32", "s_cmp_ge_u32"},
    Compare{"v_cmp_lt_u32", "s_cmp_lt_u32"}, Compare{"v_cmp_le_u32", "s_cmp_le_u32"},
};

/// Compares whose vector operands are the same in all active lanes.
std::set<size_t> uniform_compares(const Facts& facts) {
  const auto is_candidate = [](const isa::Instruction& i) {
    return i.suffix == isa::Suffix::none &&
           std::ranges::find(compares, isa::name_of(i), &Compare::vector) != compares.end();
  };
  std::set<size_t> found;
  for (size_t item = facts.function.first; item < facts.function.last; ++item)
    if (facts.is_instruction(item) && !facts.program.items[item].raw && is_candidate(facts.instruction(item)))
      found.insert(item);
  if (found.empty()) return found;
  analysis::RegisterValues values(facts.program, facts.function, facts.graph);
  if (!values.known()) return {};
  std::set<size_t> uniform;
  values.each([&](size_t item, const analysis::RegisterState& state) {
    if (!found.contains(item)) return;
    bool same = true;
    for (const isa::RegisterRange& use : facts.instruction(item).uses)
      if (use.file != isa::File::sgpr)
        values.registers().each(std::span(&use, 1),
                                [&](size_t unit) { same &= values.forms().is_uniform(values.active(state, unit)); });
    if (same) uniform.insert(item);
  });
  return uniform;
}

class Branches {
public:
  explicit Branches(const Facts& facts)
      : facts_(facts), uniform_(uniform_compares(facts)),
        full_(uniform_.empty() ? std::vector<bool>()
                               : analysis::full_exec(facts.program, facts.function, facts.graph)) {}

  std::vector<Idea> run() {
    if (uniform_.empty()) return {};
    for (const analysis::Diamond& diamond : analysis::diamonds(facts_.program, facts_.function)) two_ways(diamond);
    for (size_t item = facts_.function.first; item < facts_.function.last; ++item) {
      if (!facts_.is_instruction(item)) continue;
      const std::string_view name = isa::name_of(facts_.instruction(item));
      if (name == "s_and_saveexec_b64") one_way(item);
      if (name == "s_and_b64") masked_branch(item);
    }
    return std::move(ideas_);
  }

private:
  std::optional<size_t> next(size_t item) const {
    return analysis::next_instruction(facts_.program, facts_.function, item);
  }
  InstructionText text(size_t item) const { return parse_instruction(facts_.program.items[item].text); }
  std::string_view name(size_t item) const { return isa::name_of(facts_.instruction(item)); }
  bool is_dead_after(size_t item, const isa::RegisterRange& range) const {
    return (facts_.liveness.registers.set_of(std::span(&range, 1)) & facts_.live_after(item)).none();
  }
  bool is_free_after(size_t item) const { return !facts_.live_after(item)[analysis::scc_unit]; }

  /// The scalar compare in the place of `item`, which takes the lanes that `mask` selects; sets SCC.
  std::optional<std::string> compare(size_t item, const std::string& mask) {
    if (!full_[item - facts_.function.first]) return std::nullopt;
    const analysis::Block& block = facts_.graph.blocks[facts_.graph.block_of[item - facts_.function.first]];
    const auto range = operand_registers(mask);
    const auto made = range ? definition_of(facts_, block, item, *range) : std::nullopt;
    if (!made || !uniform_.contains(*made) || facts_.instruction(*made).defs[0] != *range) return std::nullopt;
    if (written_between(facts_, exec, *made, item)) return std::nullopt;
    const auto row = std::ranges::find(compares, name(*made), &Compare::vector);
    InstructionText compare = text(*made);
    if (compare.operands.size() != 3 || !compare.modifiers.empty()) return std::nullopt;
    std::string lines;
    const std::vector<isa::RegisterRange> free = unused_sgprs(facts_, taken_ + 2);
    for (std::string* operand : {&compare.operands[1], &compare.operands[2]}) {
      const auto source = operand_registers(*operand);
      if (!source) continue;
      if (source->count != 1 || written_between(facts_, *source, *made + 1, item)) return std::nullopt;
      if (source->file == isa::File::sgpr) continue;
      if (source->file != isa::File::vgpr || taken_ >= free.size()) return std::nullopt;
      const std::string scalar = register_text(free[taken_++]);
      lines += fmt::format("v_readfirstlane_b32 {}, {}\n", scalar, *operand);
      *operand = scalar;
    }
    return lines + fmt::format("{} {}, {}\n", row->scalar, compare.operands[1], compare.operands[2]);
  }

  void add(std::vector<recover::Edit> edits, std::string_view what) {
    std::ranges::sort(edits, {}, &recover::Edit::first);
    const double heat = facts_.heat_of(edits.front().first, edits.back().last);
    ideas_.push_back({.edits = std::move(edits), .blocks = {}, .rationale = std::string(what), .promise = heat});
  }

  void one_way(size_t head) {
    const InstructionText save = text(head);
    const auto branch = next(head + 1);
    if (!branch || save.operands.size() != 2) return;
    const bool skips = name(*branch) == "s_cbranch_execz";
    if (!skips && name(*branch) != "s_cbranch_execnz") return;
    const auto target = analysis::target_of(facts_.program, facts_.function, *branch);
    const auto join = target ? next(skips ? *target : *branch + 1) : std::nullopt;
    const auto saved = operand_registers(save.operands[0]);
    if (!join || !saved || !restores(*join, *saved) || !is_free_after(*branch)) return;
    const auto compared = compare(head, save.operands[1]);
    if (!compared) return;
    // The mask is kept for whoever gives it back: here or, where the code behind the region is there twice, elsewhere.
    const std::string text = fmt::format("s_mov_b64 {}, exec\n{}", save.operands[0], *compared);
    add({{head, head + 1, text}, {*branch, *branch + 1, branch_text(*branch, skips)}},
        "a branch of the wave for lanes");
  }

  bool restores(size_t item, const isa::RegisterRange& saved) const {
    if (name(item) != "s_or_b64") return false;
    const InstructionText t = text(item);
    if (t.operands.size() != 3 || t.operands[0] != "exec") return false;
    for (const size_t k : {1u, 2u})
      if (t.operands[k] == "exec" && operand_registers(t.operands[3 - k]) == saved) return true;
    return false;
  }

  std::string branch_text(size_t branch, bool when_none) const {
    return fmt::format("s_cbranch_scc{} {}\n", when_none ? 0 : 1, facts_.program.items[branch].target);
  }

  void masked_branch(size_t item) {
    const InstructionText t = text(item);
    const auto branch = next(item + 1);
    if (!branch || t.operands != std::vector<std::string>{"vcc", "exec", "vcc"}) return;
    const bool when_none = name(*branch) == "s_cbranch_vccz";
    if (!when_none && name(*branch) != "s_cbranch_vccnz") return;
    if (!is_dead_after(*branch, vcc) || !is_free_after(*branch)) return;
    const auto compared = compare(item, "vcc");
    if (!compared) return;
    add({{item, item + 1, *compared}, {*branch, *branch + 1, branch_text(*branch, when_none)}},
        "a scalar compare for a branch");
  }

  /// Arms behind each other, in place.
  void two_ways(const analysis::Diamond& d) {
    if (!d.both.empty() || d.joins.size() != 1 || d.first.empty() || d.second.empty()) return;
    if (!analysis::is_closed(facts_.program, facts_.function, facts_.graph, d)) return;
    const size_t join = d.joins[0];
    if (!lies_in_order(d)) return;
    std::vector<recover::Edit> edits;
    std::vector<size_t> between; // of the frame, behind the first arm
    for (const size_t item : d.frame) {
      if (!is_dead_after_diamond(join, item)) return;
      if (item > d.first.back()) between.push_back(item);
      edits.push_back({item, item + 1, ""});
    }
    std::ranges::sort(between);
    if (between.empty() || between.back() > d.second.front() || !is_dead_after_diamond(join, d.head)) return;
    const auto compared = compare(d.head, text(d.head).operands.at(1));
    if (!compared) return;
    const std::string other = fmt::format(".Lother_way_{}", d.head), end = fmt::format(".Lways_meet_{}", d.head);
    for (recover::Edit& edit : edits)
      if (edit.first == between.front()) edit.text = fmt::format("s_branch {}\n{}:\n", end, other);
    edits.push_back({d.head, d.head + 1, fmt::format("{}s_cbranch_scc0 {}\n", *compared, other)});
    edits.push_back({join, join + 1, end + ":\n"});
    add(std::move(edits), "one of two ways for the wave");
  }

  /// One arm behind the other, with nothing of somebody else's in between.
  bool lies_in_order(const analysis::Diamond& d) const {
    std::set<size_t> own(d.frame.begin(), d.frame.end());
    own.insert(d.first.begin(), d.first.end());
    own.insert(d.second.begin(), d.second.end());
    for (size_t item = d.head + 1; item < d.joins[0]; ++item) {
      const bool known = own.erase(item) != 0 || facts_.program.items[item].kind == recover::ItemKind::label;
      if (known || (facts_.is_instruction(item) && facts_.instruction(item).traits.waitcnt)) continue;
      if (!facts_.is_instruction(item) || name(item) != "s_nop") return false;
    }
    return own.empty() && d.first.back() < d.second.front() && std::ranges::is_sorted(d.first) &&
           std::ranges::is_sorted(d.second);
  }

  /// Masks that an instruction of the frame writes.
  bool is_dead_after_diamond(size_t join, size_t item) const {
    return std::ranges::all_of(facts_.instruction(item).defs, [&](const isa::RegisterRange& def) {
      return def.overlaps(exec) || is_dead_after(join, def);
    });
  }

  const Facts& facts_;
  std::set<size_t> uniform_;
  std::vector<bool> full_; // by item - function.first
  size_t taken_ = 0;       // scalar registers
  std::vector<Idea> ideas_;
};

} // namespace

std::vector<Idea> uniform_branches(const Facts& facts) {
  if (facts.function.kernel < 0) return {};
  return Branches(facts).run();
}

} // namespace asmevo::search::rewrite
