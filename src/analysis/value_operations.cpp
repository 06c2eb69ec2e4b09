// What instructions compute, on forms: integer arithmetic that addresses are made of, moves, and lane masks.
//
// One row an instruction. What has no row computes something unknown, which needs none.
#include "analysis/value_step.h"
#include "isa/fields.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace asmevo::analysis {
namespace {

namespace fields = isa::fields;
using Operation = void (*)(Step&);

std::optional<uint32_t> number(Step& s, unsigned n) {
  const auto value = s.forms.constant_of(s.word(n));
  return value ? std::optional(static_cast<uint32_t>(*value)) : std::nullopt;
}

FormId immediate(Step& s) {
  return s.forms.constant(static_cast<uint32_t>(int32_t{fields::sopk(s.instruction.words).simm16}));
}

/// A function of words that has no form but always gives the same for the same.
FormId opaque(Step& s, std::initializer_list<FormId> of, uint64_t most = 0xffffffff) {
  return s.forms.function(s.instruction.mnemonic, std::vector(of), most);
}

FormId shift_left(Step& s, FormId value, FormId by) {
  if (const auto amount = s.forms.constant_of(by)) return s.forms.scale(value, 1u << (*amount & 31));
  return opaque(s, {value, by});
}

FormId shift_right(Step& s, FormId value, FormId by) {
  if (const auto amount = s.forms.constant_of(by)) return s.forms.shift_right(value, *amount & 31);
  return opaque(s, {value, by});
}

FormId shift_arithmetic(Step& s, FormId value, FormId by) {
  const auto amount = s.forms.constant_of(by);
  if (amount && (*amount & 31) == 31) return s.forms.sign(value);
  // Of a number that is not negative both shifts are one.
  if (amount && s.forms.sign(value) == s.forms.constant(0)) return s.forms.shift_right(value, *amount & 31);
  return opaque(s, {value, by});
}

FormId conjunction(Step& s, FormId a, FormId b) {
  if (const auto mask = s.forms.constant_of(b)) return s.forms.conjunction(a, static_cast<uint32_t>(*mask));
  if (const auto mask = s.forms.constant_of(a)) return s.forms.conjunction(b, static_cast<uint32_t>(*mask));
  return opaque(s, {std::min(a, b), std::max(a, b)});
}

FormId bit_field(Step& s, FormId value, unsigned from, unsigned width) {
  if (width == 0) return s.forms.constant(0);
  const FormId shifted = s.forms.shift_right(value, from);
  return width + from >= 32 ? shifted : s.forms.conjunction(shifted, (1u << width) - 1);
}

/// The low 24 bits, which are the number itself where it has no more.
FormId low24(Step& s, FormId value) { return s.forms.conjunction(value, 0xffffff); }

FormId product24(Step& s) { return s.forms.multiply(low24(s, s.word(0)), low24(s, s.word(1))); }

void move(Step& s) { s.write(s.destination(), s.word(0)); }

void move_pair(Step& s) {
  if (const auto mask = s.mask(0)) {
    s.write_mask(s.destination(), *mask);
    return;
  }
  s.write_pair(s.pair(0));
}

void move_accumulator(Step& s) {
  const isa::Instruction& i = s.instruction;
  if (i.explicit_uses == 0 || i.uses.empty()) return;
  const isa::RegisterRange& from = i.uses[0];
  if (from.file == isa::File::vgpr || from.file == isa::File::agpr)
    s.write(s.destination(), s.register_word(s.unit_of(from)));
}

// ---- sums and their carries ----

/// The register that holds carries: behind the destination, or SCC.
std::optional<size_t> carry_out(Step& s) { return s.vector ? s.defined(1) : std::optional(scc_unit); }

void write_carry(Step& s, FormId a, FormId b, bool borrow) {
  if (const auto unit = carry_out(s)) s.write_carry(*unit, s.forms.carry(a, b, borrow));
}

void add_low(Step& s, FormId a, FormId b) {
  s.write(s.destination(), s.forms.add(a, b));
  write_carry(s, a, b, false);
}
void subtract_low(Step& s, FormId a, FormId b) {
  s.write(s.destination(), s.forms.subtract(a, b));
  write_carry(s, a, b, true);
}

/// The upper half of a sum of pairs: `a` and `b` are upper halves, the carry tells the lower ones.
void combine_high(Step& s, FormId a, FormId b, bool borrow) {
  const auto flag = s.carry_in();
  if (!flag) return;
  const Symbol& symbol = s.forms.name(*flag);
  if (symbol.kind != (borrow ? SymbolKind::borrow : SymbolKind::carry)) return;
  // Which lower half belongs to which upper one does not matter to the sum; where the code mixes the order of its
  // operands, one way makes pairs of what is none.
  FormId x = s.forms.pair(symbol.of[0], a), y = s.forms.pair(symbol.of[1], b);
  if (!borrow && (s.forms.is_split(x) || s.forms.is_split(y))) {
    const FormId crossed_x = s.forms.pair(symbol.of[1], a), crossed_y = s.forms.pair(symbol.of[0], b);
    if (!s.forms.is_split(crossed_x) && !s.forms.is_split(crossed_y)) x = crossed_x, y = crossed_y;
  }
  s.write(s.destination(), s.forms.upper(borrow ? s.forms.subtract64(x, y) : s.forms.add64(x, y)));
}

// ---- masks ----

using Combine = MaskId (LaneMasks::*)(uint32_t, MaskId, MaskId);

void combine_masks(Step& s, Combine combine) {
  const auto a = s.mask(0), b = s.mask(1);
  if (a && b) s.write_mask(s.destination(), (s.masks.*combine)(s.item, *a, *b));
}

void and_pair(Step& s) {
  const auto a = s.mask(0), b = s.mask(1);
  if (a && b) return combine_masks(s, &LaneMasks::intersect);
  // Whatever the other is, the result lies within this one.
  if (a || b) s.write_mask(s.destination(), s.masks.made(s.item, a ? *a : *b));
}

void and_not_pair(Step& s) {
  const auto a = s.mask(0), b = s.mask(1);
  if (a && b) return combine_masks(s, &LaneMasks::remove);
  if (a) s.write_mask(s.destination(), s.masks.made(s.item, *a));
}

/// s_..._saveexec_b64: the destination gets EXEC, and EXEC the combination of the source with it.
void save_exec(Step& s) {
  const auto source = s.mask(0);
  const MaskId exec = s.before.exec;
  const auto part = [&](MaskId of) { return s.masks.made(s.item, of); };
  s.write_mask(s.destination(), exec);
  MaskId result = part(LaneMasks::all);
  if (s.name == "s_and_saveexec_b64") result = source ? s.masks.intersect(s.item, exec, *source) : part(exec);
  if (s.name == "s_or_saveexec_b64" && source) result = s.masks.join(s.item, exec, *source);
  if (s.name == "s_xor_saveexec_b64" && source) result = s.masks.exchange(s.item, exec, *source);
  if (s.name == "s_andn2_saveexec_b64" && source) result = s.masks.remove(s.item, *source, exec);
  if (s.name == "s_andn1_saveexec_b64") result = source ? s.masks.remove(s.item, exec, *source) : part(exec);
  s.write_mask(isa::exec_lo, result);
}

/// Compares write the lanes that are active and where the condition holds; v_cmpx to EXEC too.
void compare(Step& s) {
  const MaskId holds = s.masks.made(s.item, s.before.exec);
  for (const isa::RegisterRange& def : s.instruction.defs)
    if (def.file == isa::File::sgpr && def.count == 2) s.write_mask(def.first, holds);
}

/// v_mbcnt counts the bits of a mask below the lane, in either half of the wave, and adds them to what was counted.
void lane_number(Step& s) {
  if (number(s, 0) != 0xffffffffu) return;
  const auto counted = [&](std::string_view half) {
    return s.forms.symbol({SymbolKind::function, isa::mnemonic_id(half), 0, {}}, {32, false, 0});
  };
  const FormId low = counted("v_mbcnt_lo_u32_b32");
  if (s.name == "v_mbcnt_hi_u32_b32" && s.word(1) == low)
    return s.write(s.destination(), s.forms.symbol({SymbolKind::lane, 0, 0, {}}, {63, false, 0}));
  s.write(s.destination(), s.forms.add(counted(s.name), s.word(1)));
}

// ---- scalar loads ----

void scalar_load(Step& s) {
  const fields::Smem smem = fields::smem(s.instruction.words);
  if (!smem.imm || smem.soffset_en || s.instruction.defs.empty()) return;
  const FormId low = s.register_word(smem.sbase), high = s.register_word(smem.sbase + 1u);
  const Form& address = s.forms[s.forms.pair(low, high)];
  if (address.terms.size() != 1 || address.terms[0].factor != 1) return;
  if (s.forms.name(address.terms[0].symbol).kind != SymbolKind::kernarg_segment) return;
  const uint64_t at = address.constant + static_cast<uint64_t>(int64_t{smem.offset});
  if (at % 4 != 0 || at > 0xffff) return;
  for (unsigned n = 0; n < s.instruction.defs[0].count; ++n)
    s.write(s.destination(n), s.kernarg(static_cast<uint32_t>(at) + 4 * n));
}

struct Row {
  std::string_view name;
  Operation run;
};

constexpr auto add = [](Step& s) { s.write(s.destination(), s.forms.add(s.word(0), s.word(1))); };
constexpr auto subtract = [](Step& s) { s.write(s.destination(), s.forms.subtract(s.word(0), s.word(1))); };
constexpr auto subtract_reversed = [](Step& s) { s.write(s.destination(), s.forms.subtract(s.word(1), s.word(0))); };
constexpr auto add_carry = [](Step& s) { add_low(s, s.word(0), s.word(1)); };
constexpr auto subtract_borrow = [](Step& s) { subtract_low(s, s.word(0), s.word(1)); };
constexpr auto subtract_reversed_borrow = [](Step& s) { subtract_low(s, s.word(1), s.word(0)); };
constexpr auto add_with_carry = [](Step& s) { combine_high(s, s.word(0), s.word(1), false); };
constexpr auto subtract_with_borrow = [](Step& s) { combine_high(s, s.word(0), s.word(1), true); };
constexpr auto subtract_reversed_with_borrow = [](Step& s) { combine_high(s, s.word(1), s.word(0), true); };
constexpr auto multiply = [](Step& s) { s.write(s.destination(), s.forms.multiply(s.word(0), s.word(1))); };
constexpr auto multiply_high = [](Step& s) {
  s.write(s.destination(), s.forms.upper(s.forms.multiply64(s.word(0), s.word(1), s.name.ends_with("_i32"))));
};
constexpr auto multiply_add_wide = [](Step& s) {
  s.write_pair(s.forms.add64(s.forms.multiply64(s.word(0), s.word(1), s.name.ends_with("_i32")), s.pair(2)));
};
constexpr auto multiply24 = [](Step& s) { s.write(s.destination(), product24(s)); };
constexpr auto multiply_add24 = [](Step& s) { s.write(s.destination(), s.forms.add(product24(s), s.word(2))); };
constexpr auto add3 = [](Step& s) {
  s.write(s.destination(), s.forms.add(s.forms.add(s.word(0), s.word(1)), s.word(2)));
};
constexpr auto shifted = [](Step& s) { s.write(s.destination(), shift_left(s, s.word(0), s.word(1))); };
constexpr auto shifted_reversed = [](Step& s) { s.write(s.destination(), shift_left(s, s.word(1), s.word(0))); };
constexpr auto shifted_down = [](Step& s) { s.write(s.destination(), shift_right(s, s.word(0), s.word(1))); };
constexpr auto shifted_down_reversed = [](Step& s) { s.write(s.destination(), shift_right(s, s.word(1), s.word(0))); };
constexpr auto shifted_signed = [](Step& s) { s.write(s.destination(), shift_arithmetic(s, s.word(0), s.word(1))); };
constexpr auto shifted_signed_reversed = [](Step& s) {
  s.write(s.destination(), shift_arithmetic(s, s.word(1), s.word(0)));
};
constexpr auto shift_add = [](Step& s) {
  s.write(s.destination(), s.forms.add(shift_left(s, s.word(0), s.word(1)), s.word(2)));
};
constexpr auto add_shift = [](Step& s) {
  s.write(s.destination(), shift_left(s, s.forms.add(s.word(0), s.word(1)), s.word(2)));
};
constexpr auto shift_or = [](Step& s) {
  s.write(s.destination(), s.forms.disjunction(shift_left(s, s.word(0), s.word(1)), s.word(2)));
};
constexpr auto bits_and = [](Step& s) { s.write(s.destination(), conjunction(s, s.word(0), s.word(1))); };
constexpr auto bits_or = [](Step& s) { s.write(s.destination(), s.forms.disjunction(s.word(0), s.word(1))); };
constexpr auto bits_xor = [](Step& s) { s.write(s.destination(), s.forms.exclusive(s.word(0), s.word(1))); };
constexpr auto and_or = [](Step& s) {
  s.write(s.destination(), s.forms.disjunction(conjunction(s, s.word(0), s.word(1)), s.word(2)));
};
constexpr auto or3 = [](Step& s) {
  s.write(s.destination(), s.forms.disjunction(s.forms.disjunction(s.word(0), s.word(1)), s.word(2)));
};
constexpr auto xor_add = [](Step& s) {
  s.write(s.destination(), s.forms.add(s.forms.exclusive(s.word(0), s.word(1)), s.word(2)));
};
constexpr auto pure2 = [](Step& s) { s.write(s.destination(), opaque(s, {s.word(0), s.word(1)})); };
constexpr auto pure3 = [](Step& s) { s.write(s.destination(), opaque(s, {s.word(0), s.word(1), s.word(2)})); };
constexpr auto pure1 = [](Step& s) { s.write(s.destination(), opaque(s, {s.word(0)})); };

void vector_field(Step& s) {
  const auto from = number(s, 1), width = number(s, 2);
  if (from && width) s.write(s.destination(), bit_field(s, s.word(0), *from & 31, *width & 31));
}

void scalar_field(Step& s) {
  if (const auto control = number(s, 1))
    s.write(s.destination(), bit_field(s, s.word(0), *control & 31, std::min(*control >> 16 & 127, 32u)));
}

void shift_pair(Step& s, unsigned value, unsigned by) {
  if (const auto amount = number(s, by)) s.write_pair(s.forms.scale64(s.pair(value), uint64_t{1} << (*amount & 63)));
}

void shift_add_pair(Step& s) {
  if (const auto amount = number(s, 1); amount && *amount <= 4)
    s.write_pair(s.forms.add64(s.forms.scale64(s.pair(0), uint64_t{1} << *amount), s.pair(2)));
}

void scalar_shift_add(Step& s) { // s_lshlN_add_u32
  const auto by = static_cast<uint32_t>(s.name[6] - '0');
  s.write(s.destination(), s.forms.add(s.forms.scale(s.word(0), 1u << by), s.word(1)));
}

void first_lane(Step& s) {
  const FormId form = s.word(0);
  s.write_uniform(form, s.some_lane_is_active() ? LaneMasks::all : s.before.exec);
}

constexpr Row rows[] = {
    {"v_mov_b32", move},
    {"s_mov_b32", move},
    {"s_movk_i32", [](Step& s) { s.write(s.destination(), immediate(s)); }},
    {"s_mov_b64", move_pair},
    {"v_mov_b64", [](Step& s) { s.write_pair(s.pair(0)); }},
    {"v_accvgpr_read_b32", move_accumulator},
    {"v_accvgpr_write_b32", move_accumulator},
    {"v_accvgpr_mov_b32", move_accumulator},
    {"v_readfirstlane_b32", first_lane},
    {"v_mbcnt_lo_u32_b32", lane_number},
    {"v_mbcnt_hi_u32_b32", lane_number},
    {"s_getpc_b64", [](Step& s) { s.write_pair(s.program_counter()); }},

    {"v_add_u32", add},
    {"v_sub_u32", subtract},
    {"v_subrev_u32", subtract_reversed},
    {"v_add_i32", add},
    {"v_sub_i32", subtract},
    {"s_add_i32", add},
    {"s_sub_i32", subtract},
    {"s_addk_i32", [](Step& s) { s.write(s.destination(), s.forms.add(s.word(0), immediate(s))); }},
    {"s_mulk_i32", [](Step& s) { s.write(s.destination(), s.forms.multiply(s.word(0), immediate(s))); }},
    {"v_add3_u32", add3},
    {"v_xad_u32", xor_add},
    {"v_add_co_u32", add_carry},
    {"v_sub_co_u32", subtract_borrow},
    {"v_subrev_co_u32", subtract_reversed_borrow},
    {"v_addc_co_u32", add_with_carry},
    {"v_subb_co_u32", subtract_with_borrow},
    {"v_subbrev_co_u32", subtract_reversed_with_borrow},
    {"s_add_u32", add_carry},
    {"s_sub_u32", subtract_borrow},
    {"s_addc_u32", add_with_carry},
    {"s_subb_u32", subtract_with_borrow},

    {"v_mul_lo_u32", multiply},
    {"v_mul_lo_i32", multiply},
    {"s_mul_i32", multiply},
    {"v_mul_hi_u32", multiply_high},
    {"v_mul_hi_i32", multiply_high},
    {"s_mul_hi_u32", multiply_high},
    {"s_mul_hi_i32", multiply_high},
    {"v_mad_u64_u32", multiply_add_wide},
    {"v_mad_i64_i32", multiply_add_wide},
    {"v_mul_u32_u24", multiply24},
    {"v_mad_u32_u24", multiply_add24},

    {"v_lshlrev_b32", shifted_reversed},
    {"s_lshl_b32", shifted},
    {"v_lshrrev_b32", shifted_down_reversed},
    {"s_lshr_b32", shifted_down},
    {"v_ashrrev_i32", shifted_signed_reversed},
    {"s_ashr_i32", shifted_signed},
    {"v_lshlrev_b64", [](Step& s) { shift_pair(s, 1, 0); }},
    {"s_lshl_b64", [](Step& s) { shift_pair(s, 0, 1); }},
    {"v_lshl_add_u64", shift_add_pair},
    {"v_lshl_add_u32", shift_add},
    {"v_add_lshl_u32", add_shift},
    {"v_lshl_or_b32", shift_or},
    {"s_lshl1_add_u32", scalar_shift_add},
    {"s_lshl2_add_u32", scalar_shift_add},
    {"s_lshl3_add_u32", scalar_shift_add},
    {"s_lshl4_add_u32", scalar_shift_add},

    {"v_and_b32", bits_and},
    {"s_and_b32", bits_and},
    {"v_or_b32", bits_or},
    {"s_or_b32", bits_or},
    {"v_xor_b32", bits_xor},
    {"s_xor_b32", bits_xor},
    {"v_and_or_b32", and_or},
    {"v_or3_b32", or3},
    {"v_bfe_u32", vector_field},
    {"s_bfe_u32", scalar_field},
    {"v_not_b32", pure1},
    {"s_not_b32", pure1},
    {"v_bfrev_b32", pure1},
    {"s_brev_b32", pure1},
    {"v_min_u32", pure2},
    {"v_max_u32", pure2},
    {"v_min_i32", pure2},
    {"v_max_i32", pure2},
    {"s_min_u32", pure2},
    {"s_max_u32", pure2},
    {"s_min_i32", pure2},
    {"s_max_i32", pure2},
    {"v_bfi_b32", pure3},
    {"v_alignbit_b32", pure3},
    {"v_perm_b32", pure3},
    {"v_bfe_i32", pure3},

    {"s_and_b64", and_pair},
    {"s_andn2_b64", and_not_pair},
    {"s_or_b64", [](Step& s) { combine_masks(s, &LaneMasks::join); }},
    {"s_xor_b64", [](Step& s) { combine_masks(s, &LaneMasks::exchange); }},
    {"s_and_saveexec_b64", save_exec},
    {"s_or_saveexec_b64", save_exec},
    {"s_xor_saveexec_b64", save_exec},
    {"s_andn1_saveexec_b64", save_exec},
    {"s_andn2_saveexec_b64", save_exec},

    {"s_load_dword", scalar_load},
    {"s_load_dwordx2", scalar_load},
    {"s_load_dwordx4", scalar_load},
    {"s_load_dwordx8", scalar_load},
    {"s_load_dwordx16", scalar_load},
};

const std::unordered_map<uint16_t, Operation>& operations() {
  static const auto table = [] {
    std::unordered_map<uint16_t, Operation> by_mnemonic;
    for (const Row& row : rows) by_mnemonic.emplace(isa::mnemonic_id(row.name), row.run);
    return by_mnemonic;
  }();
  return table;
}

} // namespace

void evaluate(Step& step) {
  if (step.failed() || step.instruction.defs.empty()) return;
  if (step.vector && step.name.starts_with("v_cmp")) return compare(step);
  const auto found = operations().find(step.instruction.mnemonic);
  if (found != operations().end()) found->second(step);
}

} // namespace asmevo::analysis
