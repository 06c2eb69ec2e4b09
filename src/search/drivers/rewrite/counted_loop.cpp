#include "search/drivers/rewrite/counted_loop.h"

#include "analysis/loops.h"
#include "search/drivers/rewrite/local.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace asmevo::search::rewrite {

namespace {

/// Counter against limit: the loop goes on.
enum class While : uint8_t { differs, below, not_above, above, not_below };

struct CountedLoop {
  const analysis::Block* block = nullptr;
  size_t step_item = 0, compare = 0; // where the counter changes and is tested; the branch is the last instruction
  uint16_t counter = 0;              // SGPR
  int64_t step = 0;
  std::string limit;        // operand: a register that the loop does not change, or a constant
  bool counts_only = false; // nothing else in the loop reads the counter
  bool on_one = false;      // branches back where SCC is 1
  While goes_on = While::differs;
  bool is_signed = false;
};

std::optional<uint16_t> scalar_of(std::string_view operand) {
  const auto range = operand_registers(operand);
  if (!range || range->file != isa::File::sgpr || range->count != 1 || range->first >= isa::ttmp0) return std::nullopt;
  return range->first;
}

/// What an instruction adds to its own destination.
struct Step {
  uint16_t counter;
  int64_t by;
};
std::optional<Step> step_of(const InstructionText& text) {
  const std::string_view name = text.mnemonic;
  if (name == "s_addk_i32" && text.operands.size() == 2) {
    const auto counter = scalar_of(text.operands[0]);
    const auto by = constant_of(text.operands[1]);
    if (counter && by) return Step{*counter, int16_t(*by)};
    return std::nullopt;
  }
  const bool adds = name == "s_add_i32" || name == "s_add_u32", subtracts = name == "s_sub_i32" || name == "s_sub_u32";
  if (!(adds || subtracts) || text.operands.size() != 3 || text.operands[0] != text.operands[1]) return std::nullopt;
  const auto counter = scalar_of(text.operands[0]);
  const auto by = constant_of(text.operands[2]);
  if (!counter || !by) return std::nullopt;
  return Step{*counter, adds ? *by : -*by};
}

/// Tests by mnemonic without its type: what holds between the operands when SCC is 1.
struct Test {
  std::string_view name;
  While holds, fails;
};
constexpr std::array tests = {
    Test{"lg", While::differs, While::differs}, Test{"lt", While::below, While::not_below},
    Test{"le", While::not_above, While::above}, Test{"gt", While::above, While::not_above},
    Test{"ge", While::not_below, While::below},
};

While swapped(While w) {
  constexpr std::array other = {While::differs, While::above, While::not_below, While::below, While::not_above};
  return other[size_t(w)];
}

/// The compare of `loop` read as a condition for going on; false where it is none that can be foretold.
bool read_test(CountedLoop& loop, const InstructionText& compare) {
  std::string_view name = compare.mnemonic;
  for (const std::string_view prefix : {"s_cmpk_", "s_cmp_"})
    if (name.starts_with(prefix)) {
      name.remove_prefix(prefix.size());
      break;
    }
  if (name.size() != 6 || compare.operands.size() != 2 || !(name.ends_with("_i32") || name.ends_with("_u32")))
    return false;
  loop.is_signed = name[3] == 'i';
  const std::string_view kind = name.substr(0, 2);
  const bool first = scalar_of(compare.operands[0]) == loop.counter;
  if (!first && scalar_of(compare.operands[1]) != loop.counter) return false;
  loop.limit = compare.operands[first ? 1 : 0];
  if (kind == "eq") { // going on where they are equal is no loop
    loop.goes_on = While::differs;
    return !loop.on_one;
  }
  const auto* test = std::ranges::find(tests, kind, &Test::name);
  if (test == tests.end() || (kind == "lg" && !loop.on_one)) return false;
  loop.goes_on = loop.on_one ? test->holds : test->fails;
  if (!first) loop.goes_on = swapped(loop.goes_on);
  const bool up = loop.goes_on == While::below || loop.goes_on == While::not_above;
  return loop.goes_on == While::differs || up == (loop.step > 0);
}

bool limit_stays(const Facts& facts, const CountedLoop& loop) {
  if (constant_of(loop.limit)) return true;
  const auto limit = scalar_of(loop.limit);
  if (!limit || *limit == loop.counter) return false;
  return !written_between(facts, {isa::File::sgpr, *limit, 1}, loop.block->first, loop.block->last);
}

std::optional<CountedLoop> counted(const Facts& facts, const analysis::Loop& natural) {
  if (natural.blocks.size() != 1) return std::nullopt;
  CountedLoop loop{.block = &facts.graph.blocks[natural.header]};
  const analysis::Block& block = *loop.block;
  if (label_of(facts, block).empty()) return std::nullopt;
  const std::string_view branch = isa::name_of(facts.instruction(block.last - 1));
  loop.on_one = branch == "s_cbranch_scc1";
  if (!loop.on_one && branch != "s_cbranch_scc0") return std::nullopt;

  constexpr isa::RegisterRange scc{isa::File::scc, 0, 1};
  const auto compare = definition_of(facts, block, block.last - 1, scc);
  if (!compare || facts.live_before(block.first)[analysis::scc_unit]) return std::nullopt;
  loop.compare = *compare;
  const InstructionText test = parse_instruction(facts.program.items[*compare].text);
  for (const std::string& operand : test.operands) {
    const auto counter = scalar_of(operand);
    const auto at = counter ? definition_of(facts, block, *compare, {isa::File::sgpr, *counter, 1}) : std::nullopt;
    const auto step = at ? step_of(parse_instruction(facts.program.items[*at].text)) : std::nullopt;
    if (!step || step->counter != *counter || step->by == 0) continue;
    const isa::RegisterRange range{isa::File::sgpr, *counter, 1};
    if (written_between(facts, range, block.first, *at) || written_between(facts, range, *at + 1, block.last)) continue;
    loop.counter = *counter;
    loop.step = step->by;
    loop.step_item = *at;
    loop.counts_only = !read_between(facts, range, block.first, *at) &&
                       !read_between(facts, range, *at + 1, *compare) &&
                       !read_between(facts, range, *compare + 1, block.last);
    if (read_test(loop, test) && limit_stays(facts, loop)) return loop;
  }
  return std::nullopt;
}

/// Lines that set SCC where at least `count` iterations will come, this one included; `temporary` is an SGPR.
std::string enough(const CountedLoop& loop, uint64_t count, uint16_t temporary) {
  const uint64_t step_size = uint64_t(loop.step < 0 ? -loop.step : loop.step);
  const std::string i = fmt::format("s{}", loop.counter), t = fmt::format("s{}", temporary);
  const bool up = loop.step > 0;
  const std::string &from = up ? loop.limit : i, &to = up ? i : loop.limit; // what is left is from - to
  if (loop.goes_on == While::differs) {
    if (to == "0") return fmt::format("s_cmp_ge_u32 {}, {}\n", from, count * step_size);
    return fmt::format("s_sub_u32 {0}, {1}, {2}\ns_cmp_ge_u32 {0}, {3}\n", t, from, to, count * step_size);
  }
  // The distance, or 0 where the counter is past the limit already.
  std::string text =
      fmt::format("s_{}_{} {}, {}, {}\n", up ? "max" : "min", loop.is_signed ? "i32" : "u32", t, loop.limit, i);
  text += up ? fmt::format("s_sub_u32 {0}, {0}, {1}\n", t, i) : fmt::format("s_sub_u32 {0}, {1}, {0}\n", t, i);
  const bool equal = loop.goes_on == While::not_above || loop.goes_on == While::not_below;
  return text + fmt::format("s_cmp_{}_u32 {}, {}\n", equal ? "ge" : "gt", t, (count - 1) * step_size);
}

std::optional<Rounds> rounds_of(const Facts& facts, const CountedLoop& loop, uint64_t times) {
  const auto temporary = free_register(facts, *loop.block, isa::File::sgpr);
  if (!temporary) return std::nullopt;
  Rounds rounds{.block = loop.block, .label = label_of(facts, *loop.block)};
  const RoundLabels labels(rounds.label, times);
  rounds.left_out = {loop.compare, loop.block->last - 1};
  if (loop.counts_only) {
    rounds.left_out.push_back(loop.step_item);
    rounds.counting = {loop.step_item};
    rounds.step = fmt::format("s_add_i32 s{0}, s{0}, {1}\n", loop.counter, loop.step * int64_t(times));
  }
  const std::string check = enough(loop, times, *temporary);
  rounds.first_test = fmt::format("{}s_cbranch_scc0 {}\n", check, labels.rest);
  rounds.test = fmt::format("{}s_cbranch_scc1 {}\n", check, labels.many);
  rounds.last_test =
      fmt::format("{}\ns_cbranch_scc{} {}\n", facts.program.items[loop.compare].text, loop.on_one ? 0 : 1, labels.end);
  rounds.back = loop.on_one ? "s_cbranch_scc1" : "s_cbranch_scc0";
  return rounds;
}

} // namespace

std::optional<int64_t> constant_of(std::string_view operand) {
  const bool negative = operand.starts_with('-');
  if (negative) operand.remove_prefix(1);
  const int base = operand.starts_with("0x") ? 16 : 10;
  if (base == 16) operand.remove_prefix(2);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(operand.data(), operand.data() + operand.size(), value, base);
  if (error != std::errc{} || end != operand.data() + operand.size() || value > 0xffffffff) return std::nullopt;
  return negative ? -value : int64_t(int32_t(uint32_t(value)));
}

bool is_free(const Facts& facts, const analysis::Block& block, const isa::RegisterRange& range) {
  if (written_between(facts, range, block.first, block.last) || read_between(facts, range, block.first, block.last))
    return false;
  for (uint16_t r = range.first; r < range.first + range.count; ++r)
    for (size_t item = block.first; item < block.last; ++item)
      if (facts.live_before(item)[analysis::bit_of(range.file, r)] ||
          facts.live_after(item)[analysis::bit_of(range.file, r)])
        return false;
  return true;
}

std::optional<uint16_t> free_register(const Facts& facts, const analysis::Block& block, isa::File file) {
  const uint32_t end = file == isa::File::sgpr ? isa::flat_scratch_lo : facts.vgpr_budget;
  for (uint16_t r = 0; r < end; ++r)
    if (is_free(facts, block, {file, r, 1})) return r;
  return std::nullopt;
}

std::optional<isa::RegisterRange> free_pair(const Facts& facts, const analysis::Block& block) {
  const auto single = free_register(facts, block, isa::File::sgpr);
  if (!single) return std::nullopt;
  for (uint16_t r = uint16_t((*single + 2) & ~1u); r + 2 <= isa::flat_scratch_lo; r = uint16_t(r + 2))
    if (const isa::RegisterRange pair{isa::File::sgpr, r, 2}; is_free(facts, block, pair)) return pair;
  return std::nullopt;
}

std::string label_of(const Facts& facts, const analysis::Block& block) {
  if (!facts.is_instruction(block.last - 1)) return {};
  for (size_t item = block.first; item < block.last && !facts.is_instruction(item); ++item)
    if (facts.program.items[item].kind == recover::ItemKind::label &&
        facts.program.items[item].text == facts.program.items[block.last - 1].target)
      return facts.program.items[item].text;
  return {};
}

std::vector<Rounds> scalar_rounds(const Facts& facts, uint64_t times) {
  std::vector<Rounds> found;
  for (const analysis::Loop& natural : analysis::loops(facts.program, facts.function, facts.graph)) {
    const auto loop = counted(facts, natural);
    auto rounds = loop ? rounds_of(facts, *loop, times) : std::nullopt;
    if (!rounds) continue;
    rounds->iterations = natural.iterations;
    found.push_back(*std::move(rounds));
  }
  return found;
}

} // namespace asmevo::search::rewrite
