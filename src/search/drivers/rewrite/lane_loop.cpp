// Loops in which each lane counts for itself (see counted_loop.h).
#include "search/drivers/rewrite/counted_loop.h"

#include "analysis/loops.h"
#include "search/drivers/rewrite/exec_regions.h"
#include "search/drivers/rewrite/local.h"

#include <algorithm>
#include <array>

namespace asmevo::search::rewrite {

namespace {

constexpr isa::RegisterRange vcc{isa::File::sgpr, isa::vcc_lo, 2};

struct LaneLoop {
  const analysis::Block* block = nullptr;
  size_t compare = 0, collect = 0, leave = 0; // v_cmp, s_or, s_andn2
  std::vector<size_t> step_items;             // v_add, or v_add to another register and v_mov back
  uint16_t counter = 0;                       // VGPR
  bool before_step = false;                   // the test is of the count as it was when the iteration began
  int64_t step = 0;
  std::string limit;        // operand: an SGPR that the loop does not change, or a constant
  bool limit_first = false; // of the compare's operands
  bool counts_only = false; // nothing else in the loop reads the counter
  std::string_view over;    // the test for being done, "le_i32", as the compare has it
};

std::optional<size_t> only_definition(const Facts& facts, const analysis::Block& block,
                                      const isa::RegisterRange& range) {
  const auto last = definition_of(facts, block, block.last, range);
  return last && !written_between(facts, range, block.first, *last) ? last : std::nullopt;
}

bool read_besides(const Facts& facts, const analysis::Block& block, const isa::RegisterRange& range,
                  const std::vector<size_t>& items) {
  for (size_t item = block.first; item < block.last; ++item)
    if (facts.is_instruction(item) && std::ranges::find(items, item) == items.end() &&
        reads(facts.instruction(item), range))
      return true;
  return false;
}

/// Finds s_andn2_b64 exec, exec, done; done, which is s_or_b64 of a condition; and the compare that gives that.
bool read_mask(const Facts& facts, LaneLoop& loop) {
  const analysis::Block& block = *loop.block;
  const auto leave = definition_of(facts, block, block.last, exec);
  if (!leave || !ExecRegions::find(facts, block, std::array{*leave})) return false;
  loop.leave = *leave;
  for (size_t item = *leave + 1; item + 1 < block.last; ++item)
    if (facts.is_instruction(item) && !facts.instruction(item).traits.waitcnt) return false;
  const InstructionText out = parse_instruction(facts.program.items[*leave].text);
  if (out.mnemonic != "s_andn2_b64" || out.operands.size() != 3 || out.operands[1] != "exec") return false;
  const auto done = operand_registers(out.operands[2]);
  const auto collect = done && done->file == isa::File::sgpr ? only_definition(facts, block, *done) : std::nullopt;
  if (!collect) return false;
  loop.collect = *collect;
  const InstructionText both = parse_instruction(facts.program.items[*collect].text);
  if (both.mnemonic != "s_or_b64" || both.operands.size() != 3) return false;
  const bool second = both.operands[2] == both.operands[0];
  if (!second && both.operands[1] != both.operands[0]) return false;
  const auto condition = operand_registers(both.operands[second ? 1 : 2]);
  const auto compare = condition ? definition_of(facts, block, *collect, *condition) : std::nullopt;
  if (!compare || condition->overlaps(*done) || read_besides(facts, block, *done, {*collect, *leave})) return false;
  loop.compare = *compare;
  return !read_between(facts, *condition, *compare + 1, *collect);
}

/// What the counter of `loop` grows by each iteration, as an operand.
std::optional<std::string> read_step(const Facts& facts, LaneLoop& loop, const std::string& count) {
  const analysis::Block& block = *loop.block;
  const isa::RegisterRange counter{isa::File::vgpr, loop.counter, 1};
  const auto written = only_definition(facts, block, counter);
  if (!written) return std::nullopt;
  loop.before_step = *written > loop.compare;
  size_t adds = *written;
  const InstructionText last = parse_instruction(facts.program.items[*written].text);
  std::string sum = count;
  loop.step_items = {*written};
  if (base_mnemonic(last.mnemonic) == "v_mov_b32" && last.operands.size() == 2 && last.modifiers.empty()) {
    const auto other = operand_registers(last.operands[1]);
    const auto at =
        other && other->file == isa::File::vgpr ? definition_of(facts, block, *written, *other) : std::nullopt;
    if (!at) return std::nullopt;
    adds = *at;
    sum = last.operands[1];
    loop.step_items = {adds, *written};
    // Left out with the count, where nobody else wants the sum.
    bool wanted = read_between(facts, *other, adds + 1, *written);
    for (size_t item = *written + 1; item < block.last && !wanted; ++item) {
      if (!facts.is_instruction(item)) continue;
      wanted = reads(facts.instruction(item), *other);
    }
    for (const uint32_t next : block.successors)
      wanted |= facts.live_before(facts.graph.blocks[next].first)[analysis::bit_of(isa::File::vgpr, other->first)];
    loop.counts_only = !wanted;
  } else {
    loop.counts_only = true;
  }
  const InstructionText add = parse_instruction(facts.program.items[adds].text);
  if (base_mnemonic(add.mnemonic) != "v_add_u32" || add.operands.size() != 3 || add.operands[0] != sum ||
      !add.modifiers.empty() || (add.operands[1] != count && add.operands[2] != count))
    return std::nullopt;
  std::vector<size_t> counting = loop.step_items;
  counting.push_back(loop.compare);
  loop.counts_only &= !read_besides(facts, block, counter, counting);
  return add.operands[add.operands[2] == count ? 1 : 2];
}

bool read_count(const Facts& facts, LaneLoop& loop) {
  const analysis::Block& block = *loop.block;
  const InstructionText test = parse_instruction(facts.program.items[loop.compare].text);
  constexpr std::array<std::string_view, 8> types = {"lt_i32", "le_i32", "gt_i32", "ge_i32",
                                                     "lt_u32", "le_u32", "gt_u32", "ge_u32"};
  std::string_view name = base_mnemonic(test.mnemonic);
  if (!name.starts_with("v_cmp_") || test.operands.size() != 3) return false;
  name.remove_prefix(6);
  const auto type = std::ranges::find(types, name);
  if (type == types.end()) return false;
  loop.over = *type;
  const auto is_vgpr = [](std::string_view operand) {
    const auto range = operand_registers(operand);
    return range && range->file == isa::File::vgpr;
  };
  loop.limit_first = is_vgpr(test.operands[2]);
  const std::string& count = test.operands[loop.limit_first ? 2 : 1];
  loop.limit = test.operands[loop.limit_first ? 1 : 2];
  if (!is_vgpr(count) || is_vgpr(loop.limit)) return false;
  const isa::RegisterRange counter = *operand_registers(count);
  loop.counter = counter.first;
  if (!constant_of(loop.limit)) {
    const auto limit = operand_registers(loop.limit);
    if (!limit || limit->file != isa::File::sgpr || limit->count != 1) return false;
    if (written_between(facts, *limit, block.first, block.last)) return false;
  }
  const auto regions = ExecRegions::find(facts, block, std::array{loop.leave});
  const auto amount = read_step(facts, loop, count);
  const auto by = amount ? constant_of(*amount) : std::nullopt;
  if (!by || *by == 0) return false;
  for (const size_t item : loop.step_items)
    if (regions->region_of(item) != no_region) return false;
  if (regions->region_of(loop.compare) != no_region) return false;
  loop.step = *by;
  // The count must run towards the test.
  const bool over_above = (loop.over[0] == 'l') == loop.limit_first;
  return over_above == (loop.step > 0);
}

std::optional<LaneLoop> lane_loop(const Facts& facts, const analysis::Loop& natural) {
  if (natural.blocks.size() != 1) return std::nullopt;
  LaneLoop loop{.block = &facts.graph.blocks[natural.header]};
  if (label_of(facts, *loop.block).empty() ||
      isa::name_of(facts.instruction(loop.block->last - 1)) != "s_cbranch_execnz")
    return std::nullopt;
  if (!read_mask(facts, loop) || !read_count(facts, loop)) return std::nullopt;
  return loop;
}

bool is_live_behind(const Facts& facts, const LaneLoop& loop, size_t unit) {
  return std::ranges::any_of(loop.block->successors,
                             [&](uint32_t next) { return facts.live_before(facts.graph.blocks[next].first)[unit]; });
}

/// Where the new tests put what they find: VCC, or a pair of its own where somebody needs VCC.
struct TestMask {
  bool is_vcc = false;
  isa::RegisterRange pair;

  std::string compare(std::string_view test, std::string_view bound, std::string_view value) const {
    return fmt::format("v_cmp_{}_e{} {}, {}, {}\n", test, is_vcc ? 32 : 64, is_vcc ? "vcc" : register_text(pair), bound,
                       value);
  }
  std::string branch(bool where_any, const std::string& label) const {
    if (is_vcc) return fmt::format("s_cbranch_{} {}\n", where_any ? "vccnz" : "vccz", label);
    return fmt::format("s_cmp_{}_u64 {}, 0\ns_cbranch_scc1 {}\n", where_any ? "lg" : "eq", register_text(pair), label);
  }
};

std::optional<TestMask> test_mask(const Facts& facts, const LaneLoop& loop) {
  const bool vcc_is_free = !is_live_behind(facts, loop, analysis::bit_of(isa::File::sgpr, isa::vcc_lo)) &&
                           !is_live_behind(facts, loop, analysis::bit_of(isa::File::sgpr, isa::vcc_hi));
  if (vcc_is_free) return TestMask{.is_vcc = true, .pair = vcc};
  if (facts.live_before(loop.block->first)[analysis::scc_unit] || is_live_behind(facts, loop, analysis::scc_unit))
    return std::nullopt;
  const auto pair = free_pair(facts, *loop.block);
  return pair ? std::optional(TestMask{.pair = *pair}) : std::nullopt;
}

/// The limit that the count must not have passed for `times` iterations to come: lines that compute it, with a branch
/// to `rest` where it cannot be, and its operand.
struct Bound {
  std::string lines, operand;
};
std::optional<Bound> bound_of(const Facts& facts, const LaneLoop& loop, uint64_t times, const std::string& rest,
                              bool literals) {
  const int64_t ahead = loop.step * int64_t(times - 2);
  const bool is_signed = loop.over.ends_with("i32");
  if (ahead < -0x7fffffff || ahead > 0x7fffffff) return std::nullopt;
  const auto temporary = free_register(facts, *loop.block, isa::File::sgpr);
  if (const auto limit = constant_of(loop.limit)) {
    const int64_t value = is_signed ? *limit : int64_t(uint32_t(*limit)), bound = value - ahead;
    const bool fits = is_signed ? bound == int32_t(bound) : bound >= 0 && bound <= 0xffffffff;
    if (!fits) return std::nullopt;
    const std::string value_text = fmt::format("{:#x}", uint32_t(bound));
    if (literals) return Bound{"", value_text};
    if (!temporary) return std::nullopt;
    return Bound{fmt::format("s_mov_b32 s{}, {}\n", *temporary, value_text), fmt::format("s{}", *temporary)};
  }
  if (!temporary) return std::nullopt;
  const std::string t = fmt::format("s{}", *temporary);
  if (ahead == 0) return Bound{"", loop.limit};
  return Bound{fmt::format("s_{}_{} {}, {}, {}\ns_cbranch_scc1 {}\n", ahead > 0 ? "sub" : "add",
                           is_signed ? "i32" : "u32", t, loop.limit, ahead > 0 ? ahead : -ahead, rest),
               t};
}

std::optional<Rounds> rounds_of(const Facts& facts, const LaneLoop& loop, uint64_t times) {
  Rounds rounds{.block = loop.block, .label = label_of(facts, *loop.block)};
  const RoundLabels labels(rounds.label, times);
  const auto mask = test_mask(facts, loop);
  const auto next = free_register(facts, *loop.block, isa::File::vgpr);
  if (!mask || !next) return std::nullopt;
  const auto bound = bound_of(facts, loop, times, labels.rest, mask->is_vcc);
  if (!bound) return std::nullopt;
  rounds.left_out = {loop.compare, loop.collect, loop.leave, loop.block->last - 1};
  const std::string count = fmt::format("v{}", loop.counter);
  if (loop.counts_only) {
    rounds.left_out.insert(rounds.left_out.end(), loop.step_items.begin(), loop.step_items.end());
    rounds.counting = loop.step_items;
    rounds.step = fmt::format("v_add_u32_e32 {0}, {1:#x}, {0}\n", count, uint32_t(loop.step * int64_t(times)));
  }
  // VOPC takes a scalar or a constant in its first place only, so where it stood second the test is turned round.
  constexpr std::array turned = {std::pair{'l', 'g'}, std::pair{'g', 'l'}};
  std::string over(loop.over);
  if (!loop.limit_first) over[0] = turned[over[0] == 'l' ? 0 : 1].second;
  const InstructionText both = parse_instruction(facts.program.items[loop.collect].text),
                        compare = parse_instruction(facts.program.items[loop.compare].text);
  rounds.lanes =
      LaneTest{both.operands[0], compare.operands[0], loop.counter, loop.before_step, loop.step, loop.limit, over};
  const std::string tested = fmt::format("v{}", *next),
                    earlier = fmt::format("v_add_u32_e32 {}, {:#x}, {}\n", tested, uint32_t(-loop.step), count),
                    advance = fmt::format("v_add_u32_e32 {}, {:#x}, {}\n", tested, uint32_t(loop.step), count);
  const auto check = [&](const std::string& value) { return mask->compare(over, bound->operand, value); };
  rounds.first_test = bound->lines + (loop.before_step ? "" : advance) + check(loop.before_step ? count : tested) +
                      mask->branch(true, labels.rest);
  // Behind a round two values are tested: what the iteration that just ended asks about may have arrived, and the next
  // one may have wrapped.
  const std::string farther =
      fmt::format("v_{}_{} {}, {}, {}\n", loop.step > 0 ? "max" : "min", loop.over.substr(3), tested, tested, count);
  rounds.test = (loop.before_step ? earlier : advance) + farther + check(tested) + mask->branch(false, labels.many);
  if (loop.before_step) {
    InstructionText test = parse_instruction(facts.program.items[loop.compare].text);
    test.operands[loop.limit_first ? 2 : 1] = tested;
    rounds.last_test = earlier + write_instruction(test) + "\n";
  } else {
    rounds.last_test = facts.program.items[loop.compare].text + "\n";
  }
  for (const size_t item : {loop.collect, loop.leave}) rounds.last_test += facts.program.items[item].text + "\n";
  rounds.last_test += fmt::format("s_cbranch_execz {}\n", labels.end);
  rounds.back = "s_cbranch_execnz";
  return rounds;
}

} // namespace

std::vector<Rounds> lane_rounds(const Facts& facts, uint64_t times) {
  std::vector<Rounds> found;
  for (const analysis::Loop& natural : analysis::loops(facts.program, facts.function, facts.graph))
    if (const auto loop = lane_loop(facts, natural))
      if (auto rounds = rounds_of(facts, *loop, times)) found.push_back(*std::move(rounds));
  return found;
}

} // namespace asmevo::search::rewrite
