// Loops of a few iterations as straight code.
//
// `for (i = lane; i < 1024; i += 256)` in a workgroup of 256 runs four times in every lane, and a compiler that does
// not know the workgroup's size makes a loop of it. What metadata says of the work-item's number gives the range in
// which the count begins; where all of that range takes the same number of iterations, no lane ever leaves before the
// others, EXEC is behind the loop what it was before it, and nothing is left to test. What the loop stood in the way
// of, and what it lies in, becomes one block, which other rules can schedule and pipeline.
#include "analysis/register_values.h"
#include "recover/recover.h"
#include "search/drivers/rewrite/apart.h"
#include "search/drivers/rewrite/copies.h"
#include "search/drivers/rewrite/counted_loop.h"
#include "search/drivers/rewrite/exec_skips.h"
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/rules.h"
#include "search/drivers/rewrite/schedule.h"

#include <algorithm>
#include <array>

namespace asmevo::search::rewrite {

namespace {

constexpr uint64_t most_iterations = 8;
constexpr size_t longest = 200; // instructions
constexpr int64_t wrap = int64_t{1} << 32;

struct Numbers {
  int64_t low, high;
};

/// All numbers of a range as a test of 32 bits sees them; nothing where they wrap on the way.
std::optional<Numbers> seen(Numbers numbers, bool is_signed) {
  const int64_t lowest = is_signed ? -wrap / 2 : 0;
  int64_t around = (numbers.low - lowest) % wrap;
  if (around < 0) around += wrap;
  const Numbers moved{lowest + around, lowest + around + (numbers.high - numbers.low)};
  return moved.high < lowest + wrap ? std::optional(moved) : std::nullopt;
}

bool holds(std::string_view test, int64_t limit, int64_t count) {
  const std::string_view kind = test.substr(0, 2);
  if (kind == "lt") return limit < count;
  if (kind == "le") return limit <= count;
  return kind == "gt" ? limit > count : limit >= count;
}

/// How often the loop runs in every lane that enters it, where the count begins in `start`.
std::optional<uint64_t> iterations_of(const LaneTest& test, Numbers start, int64_t limit) {
  const bool is_signed = test.over.ends_with("i32");
  const auto bound = seen({limit, limit}, is_signed);
  if (!bound || start.high - start.low >= wrap) return std::nullopt;
  for (uint64_t k = 1; k <= most_iterations; ++k) {
    const int64_t by = test.step * int64_t(test.before_step ? k - 1 : k);
    const auto tested = seen({start.low + by, start.high + by}, is_signed);
    if (!tested) return std::nullopt;
    const bool low = holds(test.over, bound->low, tested->low), high = holds(test.over, bound->low, tested->high);
    if (low != high) return std::nullopt;
    if (low) return k;
  }
  return std::nullopt;
}

/// Where a register's value on entry to a loop can be read: an item and the register that holds it there.
struct Place {
  size_t item;
  isa::RegisterRange range;
};
std::optional<Place> place_of(const Facts& facts, const analysis::Block& before, const isa::RegisterRange& range) {
  Place place{before.last - 1, range};
  const auto at = definition_of(facts, before, before.last, range);
  if (at) {
    const InstructionText text = parse_instruction(facts.program.items[*at].text);
    const auto source = base_mnemonic(text.mnemonic) == "v_mov_b32" ? operand_registers(text.operands[1])
                                                                    : std::optional<isa::RegisterRange>();
    if (source && source->file == isa::File::vgpr && text.modifiers.empty())
      place = {*at, *source};
    else if (*at == place.item)
      return std::nullopt;
  }
  return written_between(facts, exec, place.item, before.last) ? std::nullopt : std::optional(place);
}

std::optional<Numbers> numbers_at(analysis::RegisterValues& values, const Place& place) {
  std::optional<Numbers> found;
  values.each([&](size_t item, const analysis::RegisterState& state) {
    if (item != place.item) return;
    const auto form = values.active(state, analysis::bit_of(place.range.file, place.range.first));
    const auto range = values.forms().interval(values.forms()[form], 32);
    if (range && range->low > -wrap && range->high < wrap) found = Numbers{int64_t(range->low), int64_t(range->high)};
  });
  return found;
}

/// What stands around a loop that may become straight code.
struct Around {
  const analysis::Block* before = nullptr;
  size_t restore = 0; // s_or_b64 exec, exec, done
};

std::optional<size_t> first_work(const Facts& facts, const analysis::Block& block) {
  for (size_t item = block.first; item < block.last; ++item)
    if (facts.is_instruction(item) && !facts.instruction(item).traits.waitcnt) return item;
  return std::nullopt;
}

/// The loop is entered from one block, with no lane done, and left for one that gives all lanes back.
std::optional<Around> around(const Facts& facts, const Rounds& loop) {
  const auto& blocks = facts.graph.blocks;
  const auto number = uint32_t(loop.block - blocks.data());
  if (number == 0 || number + 1 >= blocks.size() ||
      std::ranges::find(facts.graph.entries, number) != facts.graph.entries.end())
    return std::nullopt;
  const analysis::Block &before = blocks[number - 1], &behind = blocks[number + 1];
  if (loop.block->predecessors.size() != 2 || before.successors != std::vector{number} ||
      before.last != loop.block->first || behind.predecessors != std::vector{number} ||
      behind.first != loop.block->last ||
      std::ranges::find(loop.block->predecessors, number - 1) == loop.block->predecessors.end())
    return std::nullopt;
  if (!facts.is_instruction(before.last - 1) || facts.instruction(before.last - 1).traits.branch) return std::nullopt;
  const auto restore = first_work(facts, behind);
  if (!restore) return std::nullopt;
  const InstructionText gives = parse_instruction(facts.program.items[*restore].text);
  const std::string& done = loop.lanes->done;
  if (gives.mnemonic != "s_or_b64" || gives.operands != std::vector<std::string>{"exec", "exec", done})
    return std::nullopt;
  const auto none = definition_of(facts, before, before.last, *operand_registers(done));
  if (!none) return std::nullopt;
  const InstructionText clears = parse_instruction(facts.program.items[*none].text);
  if (clears.mnemonic != "s_mov_b64" || clears.operands != std::vector<std::string>{done, "0"}) return std::nullopt;
  return Around{&before, *restore};
}

bool is_named_besides(const Facts& facts, const std::string& label, size_t branch) {
  for (size_t item = 0; item < facts.program.items.size(); ++item)
    if (item != branch && facts.program.items[item].target == label) return true;
  return is_anchored(facts.program, label);
}

/// Vector registers and memory only, in all lanes that the loop runs with.
bool can_be_copied(const Facts& facts, const Rounds& loop) {
  for (size_t item = loop.block->first; item < loop.block->last; ++item) {
    if (!facts.is_instruction(item) || std::ranges::find(loop.left_out, item) != loop.left_out.end()) continue;
    const isa::Instruction& i = facts.instruction(item);
    if (i.traits.waitcnt || isa::name_of(i) == "s_nop") continue;
    if (i.traits.branch || i.traits.side_effects || i.traits.relative) return false;
    if (std::ranges::any_of(i.defs, [](const isa::RegisterRange& d) { return d.file != isa::File::vgpr; }))
      return false;
  }
  return true;
}

/// The limit of the test as a number.
std::optional<int64_t> limit_of(analysis::RegisterValues& values, const Facts& facts, const Rounds& loop) {
  if (const auto constant = constant_of(loop.lanes->limit)) return constant;
  std::optional<int64_t> limit;
  const auto range = operand_registers(loop.lanes->limit);
  values.each([&](size_t item, const analysis::RegisterState& state) {
    if (!range || item != *first_work(facts, *loop.block)) return;
    const auto form = values.scalar(state, analysis::bit_of(range->file, range->first));
    if (const auto value = values.forms().constant_of(form)) limit = int64_t(*value);
  });
  return limit;
}

std::optional<Idea> straight(const Facts& facts, const Rounds& loop, const Around& frame, uint64_t times) {
  const auto regions = ExecRegions::find(facts, *loop.block, loop.left_out);
  if (!regions || !regions->all().empty()) return std::nullopt;
  const bool is_power = (times & (times - 1)) == 0;
  const std::vector<Stepper> addresses =
      is_power && times > 1 ? steppers(facts, *loop.block, times) : std::vector<Stepper>();
  Copies copies(facts, *loop.block, loop.left_out, *regions, addresses);
  std::string text;
  for (const Stepper& stepper : addresses) text += stepper.start();
  for (uint64_t k = 0; k < times; ++k) text += copies.next(k + 1 == times);
  for (const Stepper& stepper : addresses) text += stepper.step(times);
  if (!loop.counting.empty())
    text += fmt::format("v_add_u32_e32 v{0}, {1:#x}, v{0}\n", loop.lanes->counter,
                        uint32_t(loop.lanes->step * int64_t(times)));
  // The last test finds all lanes done.
  text += fmt::format("s_mov_b64 {}, exec\ns_mov_b64 {}, exec\n", loop.lanes->condition, loop.lanes->done);
  const std::array edits = {recover::Edit{loop.block->first, loop.block->last, std::move(text)},
                            recover::Edit{frame.restore, frame.restore + 1, ""}};
  const auto program = recover::apply(facts.program, edits, facts.codec);
  if (!program) return std::nullopt;
  const recover::Function& function = program->functions[function_index(facts)];
  const Facts after = gather({.program = &*program, .function = &function, .codec = &facts.codec});
  auto ordered = std::make_optional(*program);
  for (const analysis::Block& block : after.graph.blocks)
    if (block.first <= loop.block->first && loop.block->first < block.last)
      if (auto changed = recover::apply(*program, scheduled(after, block, Order::loads_first), facts.codec))
        ordered = *std::move(changed);
  return Idea{.edits = difference(facts.program, *ordered),
              .blocks = {uint32_t(frame.before - facts.graph.blocks.data())},
              .rationale = fmt::format("all {} iterations of {} as straight code", times, loop.label),
              .promise = 1.4 * facts.heat_of(loop.block->first, loop.block->last)};
}

} // namespace

std::vector<Idea> whole_loops(const Facts& facts) {
  std::vector<Idea> ideas;
  std::optional<analysis::RegisterValues> values;
  for (const Rounds& loop : lane_rounds(facts, 2)) {
    const auto frame = around(facts, loop);
    if (!frame || !can_be_copied(facts, loop) || is_named_besides(facts, loop.label, loop.block->last - 1)) continue;
    if (!values) values.emplace(facts.program, facts.function, facts.graph);
    if (!values->known()) break;
    const auto place = place_of(facts, *frame->before, {isa::File::vgpr, loop.lanes->counter, 1});
    const auto start = place ? numbers_at(*values, *place) : std::nullopt;
    const auto limit = limit_of(*values, facts, loop);
    const auto times = start && limit ? iterations_of(*loop.lanes, *start, *limit) : std::nullopt;
    if (!times || *times * (loop.block->last - loop.block->first) > longest) continue;
    if (auto idea = straight(facts, loop, *frame, *times)) ideas.push_back(*std::move(idea));
  }
  return ideas;
}

} // namespace asmevo::search::rewrite
