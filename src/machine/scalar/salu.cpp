// Scalar ALU: SOP1, SOP2, SOPC and the arithmetic of SOPK. One row an instruction.
//
// Each meaning is a function of the source values; `scc` comes in as it is and goes out as the instruction sets it.
// Source: CDNA3 ISA manual, "Scalar ALU operations"; Vega ISA manual for what CDNA3 dropped.
#include "machine/registry.h"

#include <array>
#include <bit>

namespace asmevo::machine::scalar {

namespace {

template <class T> T read(const Wave& w, ScalarRef ref) {
  if constexpr (sizeof(T) == 8)
    return T(scalar64(w, ref));
  else
    return T(scalar32(w, ref));
}

template <class T> void write(Wave& w, uint32_t number, T value) {
  if constexpr (sizeof(T) == 8)
    w.write64(number, uint64_t(value));
  else
    w.sgpr[number] = uint32_t(value);
}

// What a meaning looks like decides widths: D f(A a, B b, uint32_t& scc).
template <class> struct Meaning;
template <class F, class D, class A, class B> struct Meaning<D (F::*)(A, B, uint32_t&) const> {
  static void run(Wave& w, const Op& op) {
    uint32_t scc = w.scc;
    const D value = F{}(read<A>(w, op.ssrc[0]), read<B>(w, op.ssrc[1]), scc);
    write(w, op.sdst, value);
    w.scc = scc;
  }
  static constexpr uint8_t wide = (sizeof(A) == 8 ? 1 : 0) | (sizeof(B) == 8 ? 2 : 0) |
                                  (std::is_same_v<A, int64_t> ? 16 : 0) | (std::is_same_v<B, int64_t> ? 32 : 0);
};
template <class F, class D, class A> struct Meaning<D (F::*)(A, uint32_t&) const> {
  static void run(Wave& w, const Op& op) {
    uint32_t scc = w.scc;
    const D value = F{}(read<A>(w, op.ssrc[0]), scc);
    write(w, op.sdst, value);
    w.scc = scc;
  }
  static constexpr uint8_t wide = (sizeof(A) == 8 ? 1 : 0) | (std::is_same_v<A, int64_t> ? 16 : 0);
};
// Compares set SCC only.
template <class F, class A, class B> struct Meaning<bool (F::*)(A, B) const> {
  static void run(Wave& w, const Op& op) { w.scc = F{}(read<A>(w, op.ssrc[0]), read<B>(w, op.ssrc[1])); }
  static constexpr uint8_t wide = (sizeof(A) == 8 ? 1 : 0) | (sizeof(B) == 8 ? 2 : 0);
};

template <class F> constexpr InstructionRow salu_row(std::string_view mnemonic, F, TargetMask targets = on_all) {
  using M = Meaning<decltype(&F::operator())>;
  return {mnemonic, Shape::salu, {}, &M::run, Support::exact, targets, 0, M::wide};
}

// Compare with the immediate: the destination field names the source.
template <class T, class F> void run_cmpk(Wave& w, const Op& op) {
  const T immediate = std::is_signed_v<T> ? T(op.imm) : T(op.imm & 0xffff);
  w.scc = F{}(T(w.sgpr[op.sdst]), immediate);
}
template <class T, class F> constexpr InstructionRow cmpk(std::string_view mnemonic, F) {
  return {mnemonic, Shape::salu, {}, &run_cmpk<T, F>};
}

// D = f(EXEC and source); EXEC is saved in the destination. SCC: the new EXEC is not 0.
template <class F> void run_saveexec(Wave& w, const Op& op) {
  const uint64_t source = scalar64(w, op.ssrc[0]), exec = w.exec(), value = F{}(source, exec);
  w.write64(op.sdst, exec);
  w.set_exec(value);
  w.scc = value != 0;
}
template <class F> constexpr InstructionRow saveexec(std::string_view mnemonic, F) {
  return {mnemonic, Shape::salu, {}, &run_saveexec<F>, Support::exact, on_all, 0, 1};
}
// The result goes to EXEC and the destination.
template <class F> void run_wrexec(Wave& w, const Op& op) {
  const uint64_t value = F{}(scalar64(w, op.ssrc[0]), w.exec());
  w.set_exec(value);
  w.write64(op.sdst, value);
  w.scc = value != 0;
}
template <class F> constexpr InstructionRow wrexec(std::string_view mnemonic, F) {
  return {mnemonic, Shape::salu, {}, &run_wrexec<F>, Support::exact, on_all, 0, 1};
}

template <class T> T set(T value, uint32_t& scc) {
  scc = value != 0;
  return value;
}

template <class T> T field_mask(uint32_t width) { return width >= sizeof(T) * 8 ? T(~T{0}) : T((T{1} << width) - 1); }

// Source 1 of s_bfe: offset in the low bits, width in 22:16.
template <class T> T extract(T value, uint32_t control) {
  const uint32_t bits = sizeof(T) * 8, offset = control & (bits - 1), width = control >> 16 & 0x7f;
  if (width == 0) return 0;
  const T moved = T(value >> offset);
  if constexpr (std::is_signed_v<T>) {
    if (width >= bits - offset) return moved;
    return T(T(std::make_unsigned_t<T>(moved) << (bits - width)) >> (bits - width));
  }
  return moved & field_mask<T>(width);
}

uint32_t wqm(uint32_t v) {
  uint32_t any = v | v >> 1;
  any = (any | any >> 2) & 0x11111111;
  return any * 15;
}
uint32_t quads(uint32_t v) {
  uint32_t result = 0;
  for (unsigned i = 0; i < 8; ++i) result |= uint32_t((v >> (4 * i) & 15) != 0) << i;
  return result;
}
uint64_t replicate_bits(uint32_t v) {
  uint64_t result = 0;
  for (unsigned i = 0; i < 32; ++i) result |= uint64_t{v >> i & 1} * 3 << (2 * i);
  return result;
}
template <class T> T reverse_bits(T v) {
  T result = 0;
  for (unsigned i = 0; i < sizeof(T) * 8; ++i) result = T(result | T(v >> i & 1) << (sizeof(T) * 8 - 1 - i));
  return result;
}
// Leading bits equal to the sign; -1 where all are.
template <class T> uint32_t sign_run(T v) {
  const auto changes = std::make_unsigned_t<T>(v < 0 ? ~v : v);
  return changes == 0 ? ~0u : uint32_t(std::countl_zero(changes));
}

void movk(Wave& w, const Op& op) { w.sgpr[op.sdst] = uint32_t(op.imm); }
void cmovk(Wave& w, const Op& op) {
  if (w.scc) w.sgpr[op.sdst] = uint32_t(op.imm);
}
void addk(Wave& w, const Op& op) {
  int32_t sum;
  w.scc = __builtin_add_overflow(int32_t(w.sgpr[op.sdst]), op.imm, &sum);
  w.sgpr[op.sdst] = uint32_t(sum);
}
void mulk(Wave& w, const Op& op) { w.sgpr[op.sdst] *= uint32_t(op.imm); }

void cmov_b32(Wave& w, const Op& op) {
  if (w.scc) w.sgpr[op.sdst] = scalar32(w, op.ssrc[0]);
}
void cmov_b64(Wave& w, const Op& op) {
  if (w.scc) w.write64(op.sdst, scalar64(w, op.ssrc[0]));
}
template <bool value> void bitset_b32(Wave& w, const Op& op) {
  const uint32_t bit = 1u << (scalar32(w, op.ssrc[0]) & 31);
  w.sgpr[op.sdst] = value ? w.sgpr[op.sdst] | bit : w.sgpr[op.sdst] & ~bit;
}
template <bool value> void bitset_b64(Wave& w, const Op& op) {
  const uint64_t bit = uint64_t{1} << (scalar32(w, op.ssrc[0]) & 63), old = w.read64(op.sdst);
  w.write64(op.sdst, value ? old | bit : old & ~bit);
}

// Relative moves: M0 is added to the register number, which must stay among the general registers.
uint32_t relative(const Wave& w, uint32_t number, uint32_t width) {
  const uint32_t at = number + w.m0();
  return at + width <= 102 ? at : 0;
}
void movrels_b32(Wave& w, const Op& op) { w.sgpr[op.sdst] = w.sgpr[relative(w, op.ssrc[0].index(), 1)]; }
void movrels_b64(Wave& w, const Op& op) { w.write64(op.sdst, w.read64(relative(w, op.ssrc[0].index(), 2))); }
void movreld_b32(Wave& w, const Op& op) {
  const uint32_t at = op.sdst + w.m0();
  if (at < 102) w.sgpr[at] = scalar32(w, op.ssrc[0]);
}
void movreld_b64(Wave& w, const Op& op) {
  const uint32_t at = op.sdst + w.m0();
  if (at + 1 < 102) w.write64(at, scalar64(w, op.ssrc[0]));
}

constexpr InstructionRow plain(std::string_view mnemonic, Handler handler, uint8_t wide = 0) {
  return {mnemonic, Shape::salu, {}, handler, Support::exact, on_all, 0, wide};
}

using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

constexpr std::array sop2 = {
    salu_row("s_add_u32", [](u32 a, u32 b, u32& scc) { return scc = u64{a} + b > 0xffffffff, a + b; }),
    salu_row("s_sub_u32", [](u32 a, u32 b, u32& scc) { return scc = b > a, a - b; }),
    salu_row("s_add_i32",
             [](i32 a, i32 b, u32& scc) {
               i32 r;
               return scc = __builtin_add_overflow(a, b, &r), r;
             }),
    salu_row("s_sub_i32",
             [](i32 a, i32 b, u32& scc) {
               i32 r;
               return scc = __builtin_sub_overflow(a, b, &r), r;
             }),
    salu_row("s_addc_u32",
             [](u32 a, u32 b, u32& scc) {
               u64 r = u64{a} + b + scc;
               return scc = r > 0xffffffff, u32(r);
             }),
    salu_row("s_subb_u32",
             [](u32 a, u32 b, u32& scc) {
               u64 r = u64{a} - b - scc;
               return scc = r >> 32 & 1, u32(r);
             }),
    salu_row("s_min_i32", [](i32 a, i32 b, u32& scc) { return scc = a < b, scc ? a : b; }),
    salu_row("s_min_u32", [](u32 a, u32 b, u32& scc) { return scc = a < b, scc ? a : b; }),
    // Equal sources set SCC from CDNA3 on; the manuals of CDNA1 and CDNA2 have ">".
    salu_row(
        "s_max_i32", [](i32 a, i32 b, u32& scc) { return scc = a > b, scc ? a : b; }, before_gfx942),
    salu_row(
        "s_max_u32", [](u32 a, u32 b, u32& scc) { return scc = a > b, scc ? a : b; }, before_gfx942),
    salu_row(
        "s_max_i32", [](i32 a, i32 b, u32& scc) { return scc = a >= b, scc ? a : b; }, from_gfx942),
    salu_row(
        "s_max_u32", [](u32 a, u32 b, u32& scc) { return scc = a >= b, scc ? a : b; }, from_gfx942),
    salu_row("s_cselect_b32", [](u32 a, u32 b, u32& scc) { return scc ? a : b; }),
    salu_row("s_cselect_b64", [](u64 a, u64 b, u32& scc) { return scc ? a : b; }),
    salu_row("s_and_b32", [](u32 a, u32 b, u32& scc) { return set(a & b, scc); }),
    salu_row("s_and_b64", [](u64 a, u64 b, u32& scc) { return set(a & b, scc); }),
    salu_row("s_or_b32", [](u32 a, u32 b, u32& scc) { return set(a | b, scc); }),
    salu_row("s_or_b64", [](u64 a, u64 b, u32& scc) { return set(a | b, scc); }),
    salu_row("s_xor_b32", [](u32 a, u32 b, u32& scc) { return set(a ^ b, scc); }),
    salu_row("s_xor_b64", [](u64 a, u64 b, u32& scc) { return set(a ^ b, scc); }),
    salu_row("s_andn2_b32", [](u32 a, u32 b, u32& scc) { return set(a & ~b, scc); }),
    salu_row("s_andn2_b64", [](u64 a, u64 b, u32& scc) { return set(a & ~b, scc); }),
    salu_row("s_orn2_b32", [](u32 a, u32 b, u32& scc) { return set(a | ~b, scc); }),
    salu_row("s_orn2_b64", [](u64 a, u64 b, u32& scc) { return set(a | ~b, scc); }),
    salu_row("s_nand_b32", [](u32 a, u32 b, u32& scc) { return set(~(a & b), scc); }),
    salu_row("s_nand_b64", [](u64 a, u64 b, u32& scc) { return set(~(a & b), scc); }),
    salu_row("s_nor_b32", [](u32 a, u32 b, u32& scc) { return set(~(a | b), scc); }),
    salu_row("s_nor_b64", [](u64 a, u64 b, u32& scc) { return set(~(a | b), scc); }),
    salu_row("s_xnor_b32", [](u32 a, u32 b, u32& scc) { return set(~(a ^ b), scc); }),
    salu_row("s_xnor_b64", [](u64 a, u64 b, u32& scc) { return set(~(a ^ b), scc); }),
    salu_row("s_lshl_b32", [](u32 a, u32 b, u32& scc) { return set(a << (b & 31), scc); }),
    salu_row("s_lshl_b64", [](u64 a, u32 b, u32& scc) { return set(a << (b & 63), scc); }),
    salu_row("s_lshr_b32", [](u32 a, u32 b, u32& scc) { return set(a >> (b & 31), scc); }),
    salu_row("s_lshr_b64", [](u64 a, u32 b, u32& scc) { return set(a >> (b & 63), scc); }),
    salu_row("s_ashr_i32", [](i32 a, u32 b, u32& scc) { return set(a >> (b & 31), scc); }),
    salu_row("s_ashr_i64", [](i64 a, u32 b, u32& scc) { return set(a >> (b & 63), scc); }),
    salu_row("s_bfm_b32", [](u32 a, u32 b, u32&) { return ((1u << (a & 31)) - 1) << (b & 31); }),
    salu_row("s_bfm_b64", [](u32 a, u32 b, u32&) { return ((u64{1} << (a & 63)) - 1) << (b & 63); }),
    salu_row("s_mul_i32", [](u32 a, u32 b, u32&) { return a * b; }),
    salu_row("s_mul_hi_u32", [](u32 a, u32 b, u32&) { return u32(u64{a} * b >> 32); }),
    salu_row("s_mul_hi_i32", [](i32 a, i32 b, u32&) { return u32(i64{a} * b >> 32); }),
    salu_row("s_bfe_u32", [](u32 a, u32 b, u32& scc) { return set(extract(a, b), scc); }),
    salu_row("s_bfe_i32", [](i32 a, u32 b, u32& scc) { return set(extract(a, b), scc); }),
    salu_row("s_bfe_u64", [](u64 a, u32 b, u32& scc) { return set(extract(a, b), scc); }),
    salu_row("s_bfe_i64", [](i64 a, u32 b, u32& scc) { return set(extract(a, b), scc); }),
    salu_row("s_absdiff_i32",
             [](i32 a, i32 b, u32& scc) {
               const i32 d = i32(u32(a) - u32(b));
               return set(d < 0 ? 0u - u32(d) : u32(d), scc);
             }),
    salu_row("s_lshl1_add_u32",
             [](u32 a, u32 b, u32& scc) {
               u64 r = (u64{a} << 1) + b;
               return scc = r >> 32 != 0, u32(r);
             }),
    salu_row("s_lshl2_add_u32",
             [](u32 a, u32 b, u32& scc) {
               u64 r = (u64{a} << 2) + b;
               return scc = r >> 32 != 0, u32(r);
             }),
    salu_row("s_lshl3_add_u32",
             [](u32 a, u32 b, u32& scc) {
               u64 r = (u64{a} << 3) + b;
               return scc = r >> 32 != 0, u32(r);
             }),
    salu_row("s_lshl4_add_u32",
             [](u32 a, u32 b, u32& scc) {
               u64 r = (u64{a} << 4) + b;
               return scc = r >> 32 != 0, u32(r);
             }),
    salu_row("s_pack_ll_b32_b16", [](u32 a, u32 b, u32&) { return (a & 0xffff) | b << 16; }),
    salu_row("s_pack_lh_b32_b16", [](u32 a, u32 b, u32&) { return (a & 0xffff) | (b & 0xffff0000); }),
    salu_row("s_pack_hh_b32_b16", [](u32 a, u32 b, u32&) { return a >> 16 | (b & 0xffff0000); }),
};

constexpr std::array sop1 = {
    salu_row("s_mov_b32", [](u32 a, u32&) { return a; }),
    salu_row("s_mov_b64", [](u64 a, u32&) { return a; }),
    plain("s_cmov_b32", &cmov_b32),
    plain("s_cmov_b64", &cmov_b64, 1),
    salu_row("s_not_b32", [](u32 a, u32& scc) { return set(~a, scc); }),
    salu_row("s_not_b64", [](u64 a, u32& scc) { return set(~a, scc); }),
    salu_row("s_wqm_b32", [](u32 a, u32& scc) { return set(wqm(a), scc); }),
    salu_row("s_wqm_b64", [](u64 a, u32& scc) { return set(u64{wqm(u32(a >> 32))} << 32 | wqm(u32(a)), scc); }),
    salu_row("s_brev_b32", [](u32 a, u32&) { return reverse_bits(a); }),
    salu_row("s_brev_b64", [](u64 a, u32&) { return reverse_bits(a); }),
    salu_row("s_bcnt0_i32_b32", [](u32 a, u32& scc) { return set(u32(std::popcount(~a)), scc); }),
    salu_row("s_bcnt0_i32_b64", [](u64 a, u32& scc) { return set(u32(std::popcount(~a)), scc); }),
    salu_row("s_bcnt1_i32_b32", [](u32 a, u32& scc) { return set(u32(std::popcount(a)), scc); }),
    salu_row("s_bcnt1_i32_b64", [](u64 a, u32& scc) { return set(u32(std::popcount(a)), scc); }),
    salu_row("s_ff0_i32_b32", [](u32 a, u32&) { return ~a ? u32(std::countr_one(a)) : ~0u; }),
    salu_row("s_ff0_i32_b64", [](u64 a, u32&) { return ~a ? u32(std::countr_one(a)) : ~0u; }),
    salu_row("s_ff1_i32_b32", [](u32 a, u32&) { return a ? u32(std::countr_zero(a)) : ~0u; }),
    salu_row("s_ff1_i32_b64", [](u64 a, u32&) { return a ? u32(std::countr_zero(a)) : ~0u; }),
    salu_row("s_flbit_i32_b32", [](u32 a, u32&) { return a ? u32(std::countl_zero(a)) : ~0u; }),
    salu_row("s_flbit_i32_b64", [](u64 a, u32&) { return a ? u32(std::countl_zero(a)) : ~0u; }),
    salu_row("s_flbit_i32", [](i32 a, u32&) { return sign_run(a); }),
    salu_row("s_flbit_i32_i64", [](i64 a, u32&) { return sign_run(a); }),
    salu_row("s_sext_i32_i8", [](u32 a, u32&) { return i32(int8_t(a)); }),
    salu_row("s_sext_i32_i16", [](u32 a, u32&) { return i32(int16_t(a)); }),
    plain("s_bitset0_b32", &bitset_b32<false>),
    plain("s_bitset0_b64", &bitset_b64<false>),
    plain("s_bitset1_b32", &bitset_b32<true>),
    plain("s_bitset1_b64", &bitset_b64<true>),
    salu_row("s_quadmask_b32", [](u32 a, u32& scc) { return set(quads(a), scc); }),
    salu_row("s_quadmask_b64", [](u64 a, u32& scc) { return set(u64{quads(u32(a)) | quads(u32(a >> 32)) << 8}, scc); }),
    salu_row("s_abs_i32", [](i32 a, u32& scc) { return set(a < 0 ? 0u - u32(a) : u32(a), scc); }),
    salu_row("s_bitreplicate_b64_b32", [](u32 a, u32&) { return replicate_bits(a); }),
    plain("s_movrels_b32", &movrels_b32),
    plain("s_movrels_b64", &movrels_b64, 1),
    plain("s_movreld_b32", &movreld_b32),
    plain("s_movreld_b64", &movreld_b64, 1),
    saveexec("s_and_saveexec_b64", [](u64 s, u64 exec) { return s & exec; }),
    saveexec("s_or_saveexec_b64", [](u64 s, u64 exec) { return s | exec; }),
    saveexec("s_xor_saveexec_b64", [](u64 s, u64 exec) { return s ^ exec; }),
    saveexec("s_andn2_saveexec_b64", [](u64 s, u64 exec) { return s & ~exec; }),
    saveexec("s_orn2_saveexec_b64", [](u64 s, u64 exec) { return s | ~exec; }),
    saveexec("s_nand_saveexec_b64", [](u64 s, u64 exec) { return ~(s & exec); }),
    saveexec("s_nor_saveexec_b64", [](u64 s, u64 exec) { return ~(s | exec); }),
    saveexec("s_xnor_saveexec_b64", [](u64 s, u64 exec) { return ~(s ^ exec); }),
    saveexec("s_andn1_saveexec_b64", [](u64 s, u64 exec) { return ~s & exec; }),
    saveexec("s_orn1_saveexec_b64", [](u64 s, u64 exec) { return ~s | exec; }),
    wrexec("s_andn1_wrexec_b64", [](u64 s, u64 exec) { return ~s & exec; }),
    wrexec("s_andn2_wrexec_b64", [](u64 s, u64 exec) { return s & ~exec; }),
};

constexpr std::array sopc = {
    salu_row("s_cmp_eq_i32", [](i32 a, i32 b) { return a == b; }),
    salu_row("s_cmp_lg_i32", [](i32 a, i32 b) { return a != b; }),
    salu_row("s_cmp_gt_i32", [](i32 a, i32 b) { return a > b; }),
    salu_row("s_cmp_ge_i32", [](i32 a, i32 b) { return a >= b; }),
    salu_row("s_cmp_lt_i32", [](i32 a, i32 b) { return a < b; }),
    salu_row("s_cmp_le_i32", [](i32 a, i32 b) { return a <= b; }),
    salu_row("s_cmp_eq_u32", [](u32 a, u32 b) { return a == b; }),
    salu_row("s_cmp_lg_u32", [](u32 a, u32 b) { return a != b; }),
    salu_row("s_cmp_gt_u32", [](u32 a, u32 b) { return a > b; }),
    salu_row("s_cmp_ge_u32", [](u32 a, u32 b) { return a >= b; }),
    salu_row("s_cmp_lt_u32", [](u32 a, u32 b) { return a < b; }),
    salu_row("s_cmp_le_u32", [](u32 a, u32 b) { return a <= b; }),
    salu_row("s_cmp_eq_u64", [](u64 a, u64 b) { return a == b; }),
    salu_row("s_cmp_lg_u64", [](u64 a, u64 b) { return a != b; }),
    salu_row("s_bitcmp0_b32", [](u32 a, u32 b) { return !(a >> (b & 31) & 1); }),
    salu_row("s_bitcmp1_b32", [](u32 a, u32 b) { return bool(a >> (b & 31) & 1); }),
    salu_row("s_bitcmp0_b64", [](u64 a, u32 b) { return !(a >> (b & 63) & 1); }),
    salu_row("s_bitcmp1_b64", [](u64 a, u32 b) { return bool(a >> (b & 63) & 1); }),
};

constexpr std::array sopk = {
    plain("s_movk_i32", &movk),
    plain("s_cmovk_i32", &cmovk),
    plain("s_addk_i32", &addk),
    plain("s_mulk_i32", &mulk),
    cmpk<i32>("s_cmpk_eq_i32", [](i32 a, i32 b) { return a == b; }),
    cmpk<i32>("s_cmpk_lg_i32", [](i32 a, i32 b) { return a != b; }),
    cmpk<i32>("s_cmpk_gt_i32", [](i32 a, i32 b) { return a > b; }),
    cmpk<i32>("s_cmpk_ge_i32", [](i32 a, i32 b) { return a >= b; }),
    cmpk<i32>("s_cmpk_lt_i32", [](i32 a, i32 b) { return a < b; }),
    cmpk<i32>("s_cmpk_le_i32", [](i32 a, i32 b) { return a <= b; }),
    cmpk<u32>("s_cmpk_eq_u32", [](u32 a, u32 b) { return a == b; }),
    cmpk<u32>("s_cmpk_lg_u32", [](u32 a, u32 b) { return a != b; }),
    cmpk<u32>("s_cmpk_gt_u32", [](u32 a, u32 b) { return a > b; }),
    cmpk<u32>("s_cmpk_ge_u32", [](u32 a, u32 b) { return a >= b; }),
    cmpk<u32>("s_cmpk_lt_u32", [](u32 a, u32 b) { return a < b; }),
    cmpk<u32>("s_cmpk_le_u32", [](u32 a, u32 b) { return a <= b; }),
};

template <size_t... sizes> constexpr auto join(const std::array<InstructionRow, sizes>&... parts) {
  std::array<InstructionRow, (sizes + ...)> all{};
  size_t at = 0;
  (([&] {
     for (const InstructionRow& row : parts) all[at++] = row;
   }()),
   ...);
  return all;
}

constexpr auto table = join(sop2, sop1, sopc, sopk);

} // namespace

std::span<const InstructionRow> salu() { return table; }

} // namespace asmevo::machine::scalar
