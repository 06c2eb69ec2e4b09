// Copies of what is there already.
//
// Compilers that keep sums in accumulation registers fetch them into vector registers at the top of a block and put
// them back a little later, sixty-four of them, for an instruction in between that was optimised away. A copy whose
// destination holds the source's value changes nothing, in whatever lanes: it goes, and so does, as dead code, the copy
// that fetched it.
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/rules.h"

#include <algorithm>
#include <array>

namespace asmevo::search::rewrite {

namespace {

/// Destination and source of a move of one register between vector and accumulation registers.
struct Move {
  size_t to, from; // units
};
std::optional<Move> move_at(const Facts& facts, size_t item) {
  constexpr std::array<std::string_view, 4> names = {"v_mov_b32", "v_accvgpr_read_b32", "v_accvgpr_write_b32",
                                                     "v_accvgpr_mov_b32"};
  const isa::Instruction& i = facts.instruction(item);
  if (i.suffix != isa::Suffix::none || std::ranges::find(names, isa::name_of(i)) == names.end()) return std::nullopt;
  const InstructionText text = parse_instruction(facts.program.items[item].text);
  if (text.operands.size() != 2 || !text.modifiers.empty()) return std::nullopt;
  const auto to = operand_registers(text.operands[0]), from = operand_registers(text.operands[1]);
  if (!to || !from || to->count != 1 || from->count != 1 || from->file == isa::File::sgpr ||
      register_text(*from) != text.operands[1])
    return std::nullopt;
  const analysis::RegisterMap& registers = facts.liveness.registers;
  return Move{registers.first_of(*to), registers.first_of(*from)};
}

bool numbers_by_index(const isa::Instruction& i) {
  return i.traits.relative || isa::name_of(i).starts_with("s_set_gpr_idx");
}

/// What each register holds, by number; equal numbers are equal values in the lanes that are active.
class Held {
public:
  Held() {
    for (uint64_t& value : values_) value = ++last_;
  }
  bool same(const Move& move) const { return values_[move.to] == values_[move.from]; }
  void copy(const Move& move) { values_[move.to] = values_[move.from]; }
  void write(size_t unit) { values_[unit] = ++last_; }

private:
  std::array<uint64_t, analysis::register_bits> values_{};
  uint64_t last_ = 0;
};

std::vector<recover::Edit> copies_back_of(const Facts& facts, const analysis::Block& block) {
  std::vector<recover::Edit> edits;
  Held held;
  for (size_t item = block.first; item < block.last; ++item) {
    if (!facts.is_instruction(item)) continue;
    const isa::Instruction& i = facts.instruction(item);
    if (writes(i, exec) || analysis::is_call(i)) held = {};
    const auto move = move_at(facts, item);
    if (move && held.same(*move))
      edits.push_back({item, item + 1, ""});
    else if (move)
      held.copy(*move);
    else
      facts.liveness.registers.each(i.defs, [&](size_t unit) { held.write(unit); });
  }
  return edits;
}

} // namespace

std::vector<Idea> copies_back(const Facts& facts) {
  for (size_t item = facts.function.first; item < facts.function.last; ++item)
    if (facts.is_instruction(item) && numbers_by_index(facts.instruction(item))) return {};
  std::vector<Idea> ideas;
  for (const analysis::Block& block : facts.graph.blocks) {
    std::vector<recover::Edit> edits = copies_back_of(facts, block);
    if (edits.empty()) continue;
    double promise = 0;
    for (const recover::Edit& edit : edits) promise += 2 * facts.heat_of(edit.first, edit.last);
    std::string rationale = fmt::format("{} copies of what is there already", edits.size());
    ideas.push_back({std::move(edits), {}, std::move(rationale), promise});
  }
  return ideas;
}

} // namespace asmevo::search::rewrite
