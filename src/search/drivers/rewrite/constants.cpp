// Numbers that are known when the code is read.
//
// Compilers leave few of them, but other rules make more: a loop that was unrolled, an address that was split. What is
// moved into a register and then computed with is computed here, what adds nothing is a copy, and where an instruction
// can name the number itself it does, if that makes it no longer or leaves the register to nobody. Vector registers are
// known for the lanes that EXEC has, so no longer than EXEC stays.
#include "search/drivers/rewrite/counted_loop.h"
#include "search/drivers/rewrite/known_values.h"
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/rules.h"

#include <algorithm>
#include <array>
#include <map>

namespace asmevo::search::rewrite {

namespace {

/// Integer arithmetic by what it does with the operands as the scalar form has them.
struct Operation {
  std::string_view vector, scalar;
  bool turned; // the vector form has the operands the other way round
  uint32_t (*compute)(uint32_t, uint32_t);
  std::optional<uint32_t> left_neutral, right_neutral; // leave the other operand as it is
};
constexpr std::optional<uint32_t> none, zero = 0, one = 1, ones = 0xffffffff;

constexpr auto operations = std::to_array<Operation>({
    {"v_add_u32", "s_add_u32", false, [](uint32_t a, uint32_t b) { return a + b; }, zero, zero},
    {"", "s_add_i32", false, [](uint32_t a, uint32_t b) { return a + b; }, zero, zero},
    {"v_sub_u32", "s_sub_u32", false, [](uint32_t a, uint32_t b) { return a - b; }, none, zero},
    {"v_subrev_u32", "s_sub_i32", true, [](uint32_t a, uint32_t b) { return a - b; }, none, zero},
    {"v_mul_lo_u32", "s_mul_i32", false, [](uint32_t a, uint32_t b) { return a * b; }, one, one},
    {"v_mul_u32_u24", "", false, [](uint32_t a, uint32_t b) { return (a & 0xffffff) * (b & 0xffffff); }, none, none},
    {"v_and_b32", "s_and_b32", false, [](uint32_t a, uint32_t b) { return a & b; }, ones, ones},
    {"v_or_b32", "s_or_b32", false, [](uint32_t a, uint32_t b) { return a | b; }, zero, zero},
    {"v_xor_b32", "s_xor_b32", false, [](uint32_t a, uint32_t b) { return a ^ b; }, zero, zero},
    {"v_lshlrev_b32", "s_lshl_b32", true, [](uint32_t a, uint32_t b) { return a << (b & 31); }, none, zero},
    {"v_lshrrev_b32", "s_lshr_b32", true, [](uint32_t a, uint32_t b) { return a >> (b & 31); }, none, zero},
    {"v_ashrrev_i32", "s_ashr_i32", true, [](uint32_t a, uint32_t b) { return uint32_t(int32_t(a) >> (b & 31)); }, none,
     zero},
    {"v_max_u32", "s_max_u32", false, [](uint32_t a, uint32_t b) { return std::max(a, b); }, zero, zero},
    {"v_min_u32", "s_min_u32", false, [](uint32_t a, uint32_t b) { return std::min(a, b); }, ones, ones},
});

/// Two-operand vector arithmetic whose operands may change places, by the name of what it is then.
struct Turn {
  std::string_view name, turned;
};
constexpr auto turns = std::to_array<Turn>({
    {"v_add_f32", "v_add_f32"},         {"v_mul_f32", "v_mul_f32"},         {"v_max_f32", "v_max_f32"},
    {"v_min_f32", "v_min_f32"},         {"v_sub_f32", "v_subrev_f32"},      {"v_subrev_f32", "v_sub_f32"},
    {"v_add_u32", "v_add_u32"},         {"v_sub_u32", "v_subrev_u32"},      {"v_subrev_u32", "v_sub_u32"},
    {"v_and_b32", "v_and_b32"},         {"v_or_b32", "v_or_b32"},           {"v_xor_b32", "v_xor_b32"},
    {"v_max_u32", "v_max_u32"},         {"v_min_u32", "v_min_u32"},         {"v_max_i32", "v_max_i32"},
    {"v_min_i32", "v_min_i32"},         {"v_mul_u32_u24", "v_mul_u32_u24"}, {"v_fmac_f32", "v_fmac_f32"},
    {"v_mul_i32_i24", "v_mul_i32_i24"},
});

/// A constant in an operand of 32 bits, by its bits.
std::optional<uint32_t> written_number(std::string_view operand) {
  if (const auto integer = constant_of(operand)) return uint32_t(*integer);
  const bool negative = operand.starts_with('-');
  if (negative) operand.remove_prefix(1);
  using Float = std::pair<std::string_view, uint32_t>;
  constexpr auto floats =
      std::to_array<Float>({{"0.5", 0x3f000000}, {"1.0", 0x3f800000}, {"2.0", 0x40000000}, {"4.0", 0x40800000}});
  const auto at = std::ranges::find(floats, operand, &Float::first);
  return at == floats.end() ? std::nullopt : std::optional(at->second | (negative ? 0x80000000u : 0u));
}

/// Whether an operand of 32 bits can hold the number without a word of its own.
bool is_inline(uint32_t n) {
  constexpr auto floats =
      std::to_array<uint32_t>({0x3f000000, 0x3f800000, 0x40000000, 0x40800000, 0x3e22f983}); // 0.5, 1, 2, 4, 1/(2 pi)
  const auto number = int32_t(n);
  if (number >= -16 && number <= 64) return true;
  return std::ranges::find(floats, n) != floats.end() ||
         (n >> 31 && n != 0xbe22f983 && std::ranges::find(floats, n & 0x7fffffff) != floats.end());
}

std::string number_text(uint32_t n) {
  return is_inline(n) && (n <= 64 || n >= 0xfffffff0) ? fmt::format("{}", int32_t(n)) : fmt::format("{:#x}", n);
}

/// Instructions all of whose single registers are operands of 32 bits that a constant may stand for.
bool takes_constants(const isa::Instruction& i) {
  const std::string_view name = isa::name_of(i);
  constexpr std::array ends = {"_b32", "_u32", "_i32", "_f32", "_u24"}, others = {"64", "16", "div_", "s_set", "s_get"};
  if (!(i.traits.valu || i.traits.salu) || i.traits.mfma || i.traits.side_effects || i.traits.relative ||
      i.traits.branch || i.suffix != isa::Suffix::none || crosses_lanes(i) || i.encoding == isa::Encoding::vop3p ||
      i.encoding == isa::Encoding::vop3p_mai)
    return false;
  return std::ranges::any_of(ends, [&](std::string_view end) { return name.ends_with(end); }) &&
         std::ranges::none_of(others, [&](std::string_view part) { return name.find(part) != name.npos; });
}

class Propagation {
public:
  Propagation(const Facts& facts, const analysis::Block& block) : facts_(facts), block_(block) {}

  std::vector<recover::Edit> run() {
    std::vector<recover::Edit> edits;
    for (size_t item = block_.first; item < block_.last; ++item) {
      if (!facts_.is_instruction(item)) continue;
      const isa::Instruction& i = facts_.instruction(item);
      InstructionText text = parse_instruction(facts_.program.items[item].text);
      if (!facts_.program.items[item].raw && takes_constants(i)) {
        InstructionText changed = simplified(item, i, text);
        if (write_instruction(changed) != write_instruction(text)) {
          text = std::move(changed);
          const bool copies_itself = text.operands.size() == 2 && text.operands[0] == text.operands[1];
          edits.push_back({item, item + 1, copies_itself ? "" : write_instruction(text) + "\n"});
        }
      }
      learn(i, text);
    }
    return edits;
  }

private:
  using Register = std::pair<isa::File, uint16_t>;

  std::optional<isa::RegisterRange> known_register(const std::string& operand) const {
    const auto range = operand_registers(operand);
    if (!range || range->count != 1 || register_text(*range) != operand) return std::nullopt;
    return known_.contains({range->file, range->first}) ? range : std::nullopt;
  }
  std::optional<uint32_t> number(const std::string& operand) const {
    if (const auto written = written_number(operand)) return written;
    const auto range = known_register(operand);
    return range ? std::optional(known_.at({range->file, range->first})) : std::nullopt;
  }

  void learn(const isa::Instruction& i, const InstructionText& text) {
    for (const isa::RegisterRange& def : i.defs)
      for (uint16_t r = def.first; r < def.first + def.count; ++r) known_.erase({def.file, r});
    if (writes(i, exec)) std::erase_if(known_, [](const auto& entry) { return entry.first.first == isa::File::vgpr; });
    if (text.operands.size() != 2 || !text.modifiers.empty() || i.defs.empty() || i.suffix != isa::Suffix::none ||
        i.traits.relative)
      return;
    const std::string_view name = base_mnemonic(text.mnemonic);
    const auto to = operand_registers(text.operands[0]);
    const auto value = written_number(text.operands[1]);
    if (!to || !value || to->count != 1 || to->overlaps(exec) || *to != i.defs[0]) return;
    if (name == "v_mov_b32" || name == "s_mov_b32") known_[{to->file, to->first}] = *value;
    if (name == "s_movk_i32") known_[{to->file, to->first}] = uint32_t(int32_t(int16_t(*value)));
  }

  InstructionText simplified(size_t item, const isa::Instruction& i, const InstructionText& text) const {
    if (!text.modifiers.empty()) return text;
    if (const auto computed = folded(item, i, text)) return *computed;
    return with_constants(item, i, text);
  }

  /// A move in the place of arithmetic.
  std::optional<InstructionText> folded(size_t item, const isa::Instruction& i, const InstructionText& text) const {
    const std::string_view name = isa::name_of(i);
    const bool vector = i.traits.valu;
    const auto operation = std::ranges::find(operations, name, vector ? &Operation::vector : &Operation::scalar);
    if (operation == operations.end() || text.operands.size() != 3) return std::nullopt;
    if (writes(i, {isa::File::scc, 0, 1}) && facts_.live_after(item)[analysis::scc_unit]) return std::nullopt;
    std::string left = text.operands[1], right = text.operands[2];
    if (vector && operation->turned) std::swap(left, right);
    const auto a = number(left), b = number(right);
    std::string result;
    if (a && b)
      result = number_text(operation->compute(*a, *b));
    else if (a && a == operation->left_neutral)
      result = right;
    else if (b && b == operation->right_neutral)
      result = left;
    else
      return std::nullopt;
    return InstructionText{vector ? "v_mov_b32_e32" : "s_mov_b32", {text.operands[0], result}, ""};
  }

  InstructionText with_constants(size_t item, const isa::Instruction& i, InstructionText text) const {
    for (size_t k = i.explicit_defs; k < text.operands.size(); ++k) {
      const auto range = known_register(text.operands[k]);
      if (!range) continue;
      const uint32_t value = known_.at({range->file, range->first});
      const bool unneeded = is_last_read(item, *range);
      const bool only_moves = text.operands.size() == 2 && base_mnemonic(text.mnemonic).ends_with("_mov_b32");
      if ((!is_inline(value) || only_moves) && (!unneeded || i.has_literal)) continue;
      for (const InstructionText& attempt : ways(i, text, k, number_text(value), unneeded && is_inline(value)))
        if (facts_.codec.assemble(write_instruction(attempt) + "\n")) {
          text = attempt;
          break;
        }
    }
    return text;
  }

  /// The instruction with a constant in an operand, the best first.
  static std::vector<InstructionText> ways(const isa::Instruction& i, const InstructionText& text, size_t operand,
                                           const std::string& constant, bool may_grow) {
    InstructionText in_place = text;
    in_place.operands[operand] = constant;
    std::vector<InstructionText> all = {in_place};
    if (i.encoding != isa::Encoding::vop2 || text.operands.size() != 3 || operand != 2) return all;
    if (const auto turn = std::ranges::find(turns, isa::name_of(i), &Turn::name); turn != turns.end()) {
      InstructionText turned = in_place;
      turned.mnemonic = std::string(turn->turned) + "_e32";
      std::swap(turned.operands[1], turned.operands[2]);
      all.push_back(std::move(turned));
    }
    if (may_grow && text.mnemonic.ends_with("_e32")) {
      in_place.mnemonic.replace(in_place.mnemonic.size() - 4, 4, "_e64");
      all.push_back(std::move(in_place));
    }
    return all;
  }

  /// Whether the register is read by this instruction alone since it was written, and by nobody later.
  bool is_last_read(size_t item, const isa::RegisterRange& range) const {
    const bool overwritten =
        std::ranges::find(facts_.instruction(item).defs, range) != facts_.instruction(item).defs.end();
    if (!overwritten && facts_.live_after(item)[analysis::bit_of(range.file, range.first)]) return false;
    const auto at = definition_of(facts_, block_, item, range);
    return at && !read_between(facts_, range, *at + 1, item);
  }

  const Facts& facts_;
  const analysis::Block& block_;
  std::map<Register, uint32_t> known_;
};

} // namespace

std::vector<Idea> constants(const Facts& facts) {
  std::vector<Idea> ideas;
  for (const analysis::Block& block : facts.graph.blocks) {
    if (indexes_registers(facts, block)) continue;
    std::vector<recover::Edit> edits = Propagation(facts, block).run();
    if (edits.empty()) continue;
    const size_t count = edits.size();
    double promise = 0; // of one instruction in many
    for (const recover::Edit& edit : edits) promise += facts.heat_of(edit.first, edit.last);
    ideas.push_back({.edits = std::move(edits),
                     .blocks = {},
                     .rationale = fmt::format("{} instructions that know a number", count),
                     .promise = promise});
  }
  return ideas;
}

} // namespace asmevo::search::rewrite
