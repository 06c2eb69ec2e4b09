#include "prove/scalar.h"

#include "machine/semantics/valu_integer.h"

#include <map>

namespace asmevo::prove {
namespace {

using Form = ScalarMeaning::Form;

template <class T> constexpr uint8_t width_of() { return std::is_same_v<T, Long> ? 64 : 32; }

template <class V> Bit nonzero(V value) { return !equal(value, constant(value, 0u)); }
template <class V> V set(V value, Bit& scc) {
  scc = nonzero(value);
  return value;
}

// A meaning is D f(A, [B,] Bit& scc); a compare is Bit f(A, B).
template <class> struct Call;
template <class F, class D, class A, class B> struct Call<D (F::*)(A, B, Bit&) const> {
  static Id run(Terms& terms, std::span<const Id> sources, Id& scc) {
    Bit flag{&terms, scc};
    const D result = F{}(A{&terms, sources[0]}, B{&terms, sources[1]}, flag);
    scc = flag.id;
    return result.id;
  }
  static constexpr ScalarMeaning row() { return {Form::value, width_of<D>(), {width_of<A>(), width_of<B>()}}; }
};
template <class F, class D, class A> struct Call<D (F::*)(A, Bit&) const> {
  static Id run(Terms& terms, std::span<const Id> sources, Id& scc) {
    Bit flag{&terms, scc};
    const D result = F{}(A{&terms, sources[0]}, flag);
    scc = flag.id;
    return result.id;
  }
  static constexpr ScalarMeaning row() { return {Form::value, width_of<D>(), {width_of<A>(), 0}}; }
};
template <class F, class A, class B> struct Call<Bit (F::*)(A, B) const> {
  static Id run(Terms& terms, std::span<const Id> sources, Id& scc) {
    scc = F{}(A{&terms, sources[0]}, B{&terms, sources[1]}).id;
    return scc;
  }
  static constexpr ScalarMeaning row() { return {Form::compare, 0, {width_of<A>(), width_of<B>()}}; }
};

struct Row {
  std::string_view mnemonic;
  ScalarMeaning meaning;
};

template <class F> Row row(std::string_view mnemonic, F, Form form = Form::compare, bool reads_destination = false) {
  using C = Call<decltype(&F::operator())>;
  ScalarMeaning meaning = C::row();
  if (meaning.form == Form::value && form != Form::compare) meaning.form = form;
  meaning.reads_destination = reads_destination;
  meaning.run = &C::run;
  return {mnemonic, meaning};
}
template <class F> Row old_row(std::string_view mnemonic, F f) { return row(mnemonic, f, Form::value, true); }

Word extract(Word value, Word control, bool is_signed) {
  const Word offset = control & 31u, width = shr(control, 16u) & 0x7fu, all = constant(value, ~0u);
  const Bit empty = equal(width, constant(width, 0u)), full = below(constant(width, 31u), width);
  if (!is_signed) {
    const Word kept = select(full, all, shl(constant(value, 1u), width & 31u) - 1u);
    return select(empty, constant(value, 0u), shr(value, offset) & kept);
  }
  const Word moved = sar(value, offset), spare = (constant(width, 32u) - width) & 31u;
  const Bit whole = !below(width, constant(width, 32u) - offset);
  return select(empty, constant(value, 0u), select(whole, moved, sar(shl(moved, spare), spare)));
}

template <unsigned Shift> Word shift_add(Word a, Word b, Bit& scc) {
  const Long sum = shl(zero_extend(a), Shift) + zero_extend(b);
  scc = nonzero(high(sum));
  return low(sum);
}

template <bool Set, class V> V with_bit(V old, Word which) {
  constexpr uint32_t last = std::is_same_v<V, Long> ? 63 : 31;
  const V bit = shl(constant(old, 1u), which & last);
  return Set ? old | bit : old & ~bit;
}

const std::vector<Row>& rows() {
  using B = Bit;
  static const std::vector<Row> table = {
      row("s_mov_b32", [](Word a, B&) { return a; }),
      row("s_mov_b64", [](Long a, B&) { return a; }),
      row("s_movk_i32", [](Word a, B&) { return a; }),
      row("s_not_b32", [](Word a, B& scc) { return set(~a, scc); }),
      row("s_not_b64", [](Long a, B& scc) { return set(~a, scc); }),
      row("s_brev_b32", [](Word a, B&) { return reverse_bits(a); }),
      row("s_bcnt1_i32_b32", [](Word a, B& scc) { return set(count_ones(a), scc); }),
      row("s_bcnt1_i32_b64", [](Long a, B& scc) { return set(count_ones(low(a)) + count_ones(high(a)), scc); }),
      row("s_bcnt0_i32_b32", [](Word a, B& scc) { return set(count_ones(~a), scc); }),
      row("s_ff1_i32_b32", [](Word a, B&) { return select(nonzero(a), trailing_zeros(a), constant(a, ~0u)); }),
      row("s_flbit_i32_b32", [](Word a, B&) { return select(nonzero(a), leading_zeros(a), constant(a, ~0u)); }),
      row("s_sext_i32_i8", [](Word a, B&) { return machine::meaning::signed_low<8>(a); }),
      row("s_sext_i32_i16", [](Word a, B&) { return machine::meaning::signed_low<16>(a); }),
      row("s_abs_i32",
          [](Word a, B& scc) { return set(select(less(a, constant(a, 0u)), constant(a, 0u) - a, a), scc); }),
      row(
          "s_and_saveexec_b64", [](Long s, Long exec, B&) { return s & exec; }, Form::saves_exec),
      row(
          "s_or_saveexec_b64", [](Long s, Long exec, B&) { return s | exec; }, Form::saves_exec),
      row(
          "s_xor_saveexec_b64", [](Long s, Long exec, B&) { return s ^ exec; }, Form::saves_exec),
      row(
          "s_andn2_saveexec_b64", [](Long s, Long exec, B&) { return s & ~exec; }, Form::saves_exec),
      row(
          "s_orn2_saveexec_b64", [](Long s, Long exec, B&) { return s | ~exec; }, Form::saves_exec),
      row(
          "s_nand_saveexec_b64", [](Long s, Long exec, B&) { return ~(s & exec); }, Form::saves_exec),
      row(
          "s_nor_saveexec_b64", [](Long s, Long exec, B&) { return ~(s | exec); }, Form::saves_exec),
      row(
          "s_xnor_saveexec_b64", [](Long s, Long exec, B&) { return ~(s ^ exec); }, Form::saves_exec),
      row(
          "s_andn1_saveexec_b64", [](Long s, Long exec, B&) { return ~s & exec; }, Form::saves_exec),
      row(
          "s_orn1_saveexec_b64", [](Long s, Long exec, B&) { return ~s | exec; }, Form::saves_exec),
      row(
          "s_andn1_wrexec_b64", [](Long s, Long exec, B&) { return ~s & exec; }, Form::writes_exec),
      row(
          "s_andn2_wrexec_b64", [](Long s, Long exec, B&) { return s & ~exec; }, Form::writes_exec),
      old_row("s_cmov_b32", [](Word old, Word a, B& scc) { return select(scc, a, old); }),
      old_row("s_cmov_b64", [](Long old, Long a, B& scc) { return select(scc, a, old); }),
      old_row("s_cmovk_i32", [](Word old, Word a, B& scc) { return select(scc, a, old); }),
      old_row("s_bitset0_b32", [](Word old, Word a, B&) { return with_bit<false>(old, a); }),
      old_row("s_bitset1_b32", [](Word old, Word a, B&) { return with_bit<true>(old, a); }),
      old_row("s_bitset0_b64", [](Long old, Word a, B&) { return with_bit<false>(old, a); }),
      old_row("s_bitset1_b64", [](Long old, Word a, B&) { return with_bit<true>(old, a); }),
      old_row("s_addk_i32",
              [](Word a, Word b, B& scc) {
                const Word sum = a + b;
                scc = less((a ^ sum) & (b ^ sum), constant(a, 0u));
                return sum;
              }),
      old_row("s_mulk_i32", [](Word a, Word b, B&) { return a * b; }),
      row("s_add_u32",
          [](Word a, Word b, B& scc) {
            const Word sum = a + b;
            scc = below(sum, a);
            return sum;
          }),
      row("s_sub_u32",
          [](Word a, Word b, B& scc) {
            scc = below(a, b);
            return a - b;
          }),
      row("s_add_i32",
          [](Word a, Word b, B& scc) {
            const Word sum = a + b;
            scc = less((a ^ sum) & (b ^ sum), constant(a, 0u));
            return sum;
          }),
      row("s_sub_i32",
          [](Word a, Word b, B& scc) {
            const Word difference = a - b;
            scc = less((a ^ b) & (a ^ difference), constant(a, 0u));
            return difference;
          }),
      row("s_addc_u32",
          [](Word a, Word b, B& scc) {
            const auto sum = machine::meaning::add_carry(a, b, scc);
            scc = sum.carry;
            return sum.value;
          }),
      row("s_subb_u32",
          [](Word a, Word b, B& scc) {
            const auto difference = machine::meaning::sub_borrow(a, b, scc);
            scc = difference.carry;
            return difference.value;
          }),
      row("s_min_i32", [](Word a, Word b, B& scc) { return select(scc = less(a, b), a, b); }),
      row("s_min_u32", [](Word a, Word b, B& scc) { return select(scc = below(a, b), a, b); }),
      row("s_max_i32", [](Word a, Word b, B& scc) { return select(scc = !less(a, b), a, b); }),
      row("s_max_u32", [](Word a, Word b, B& scc) { return select(scc = !below(a, b), a, b); }),
      row("s_cselect_b32", [](Word a, Word b, B& scc) { return select(scc, a, b); }),
      row("s_cselect_b64", [](Long a, Long b, B& scc) { return select(scc, a, b); }),
      row("s_and_b32", [](Word a, Word b, B& scc) { return set(a & b, scc); }),
      row("s_and_b64", [](Long a, Long b, B& scc) { return set(a & b, scc); }),
      row("s_or_b32", [](Word a, Word b, B& scc) { return set(a | b, scc); }),
      row("s_or_b64", [](Long a, Long b, B& scc) { return set(a | b, scc); }),
      row("s_xor_b32", [](Word a, Word b, B& scc) { return set(a ^ b, scc); }),
      row("s_xor_b64", [](Long a, Long b, B& scc) { return set(a ^ b, scc); }),
      row("s_andn2_b32", [](Word a, Word b, B& scc) { return set(a & ~b, scc); }),
      row("s_andn2_b64", [](Long a, Long b, B& scc) { return set(a & ~b, scc); }),
      row("s_orn2_b32", [](Word a, Word b, B& scc) { return set(a | ~b, scc); }),
      row("s_orn2_b64", [](Long a, Long b, B& scc) { return set(a | ~b, scc); }),
      row("s_nand_b32", [](Word a, Word b, B& scc) { return set(~(a & b), scc); }),
      row("s_nand_b64", [](Long a, Long b, B& scc) { return set(~(a & b), scc); }),
      row("s_nor_b32", [](Word a, Word b, B& scc) { return set(~(a | b), scc); }),
      row("s_nor_b64", [](Long a, Long b, B& scc) { return set(~(a | b), scc); }),
      row("s_xnor_b32", [](Word a, Word b, B& scc) { return set(~(a ^ b), scc); }),
      row("s_xnor_b64", [](Long a, Long b, B& scc) { return set(~(a ^ b), scc); }),
      row("s_lshl_b32", [](Word a, Word b, B& scc) { return set(shl(a, b & 31u), scc); }),
      row("s_lshl_b64", [](Long a, Word b, B& scc) { return set(shl(a, b & 63u), scc); }),
      row("s_lshr_b32", [](Word a, Word b, B& scc) { return set(shr(a, b & 31u), scc); }),
      row("s_lshr_b64", [](Long a, Word b, B& scc) { return set(shr(a, b & 63u), scc); }),
      row("s_ashr_i32", [](Word a, Word b, B& scc) { return set(sar(a, b & 31u), scc); }),
      row("s_ashr_i64", [](Long a, Word b, B& scc) { return set(sar(a, b & 63u), scc); }),
      row("s_bfm_b32", [](Word a, Word b, B&) { return shl(shl(constant(a, 1u), a & 31u) - 1u, b & 31u); }),
      row("s_bfm_b64",
          [](Word a, Word b, B&) { return shl(shl(zero_extend(constant(a, 1u)), a & 63u) - 1u, b & 63u); }),
      row("s_mul_i32", [](Word a, Word b, B&) { return a * b; }),
      row("s_mul_hi_u32", [](Word a, Word b, B&) { return high(zero_extend(a) * zero_extend(b)); }),
      row("s_mul_hi_i32", [](Word a, Word b, B&) { return high(sign_extend(a) * sign_extend(b)); }),
      row("s_bfe_u32", [](Word a, Word b, B& scc) { return set(extract(a, b, false), scc); }),
      row("s_bfe_i32", [](Word a, Word b, B& scc) { return set(extract(a, b, true), scc); }),
      row("s_absdiff_i32",
          [](Word a, Word b, B& scc) {
            const Word d = a - b;
            return set(select(less(d, constant(d, 0u)), constant(d, 0u) - d, d), scc);
          }),
      row("s_lshl1_add_u32", [](Word a, Word b, B& scc) { return shift_add<1>(a, b, scc); }),
      row("s_lshl2_add_u32", [](Word a, Word b, B& scc) { return shift_add<2>(a, b, scc); }),
      row("s_lshl3_add_u32", [](Word a, Word b, B& scc) { return shift_add<3>(a, b, scc); }),
      row("s_lshl4_add_u32", [](Word a, Word b, B& scc) { return shift_add<4>(a, b, scc); }),
      row("s_pack_ll_b32_b16", [](Word a, Word b, B&) { return (a & 0xffffu) | shl(b, 16u); }),
      row("s_pack_lh_b32_b16", [](Word a, Word b, B&) { return (a & 0xffffu) | (b & 0xffff0000u); }),
      row("s_pack_hh_b32_b16", [](Word a, Word b, B&) { return shr(a, 16u) | (b & 0xffff0000u); }),
      row("s_cmp_eq_i32", [](Word a, Word b) { return equal(a, b); }),
      row("s_cmp_lg_i32", [](Word a, Word b) { return !equal(a, b); }),
      row("s_cmp_gt_i32", [](Word a, Word b) { return less(b, a); }),
      row("s_cmp_ge_i32", [](Word a, Word b) { return !less(a, b); }),
      row("s_cmp_lt_i32", [](Word a, Word b) { return less(a, b); }),
      row("s_cmp_le_i32", [](Word a, Word b) { return !less(b, a); }),
      row("s_cmp_eq_u32", [](Word a, Word b) { return equal(a, b); }),
      row("s_cmp_lg_u32", [](Word a, Word b) { return !equal(a, b); }),
      row("s_cmp_gt_u32", [](Word a, Word b) { return below(b, a); }),
      row("s_cmp_ge_u32", [](Word a, Word b) { return !below(a, b); }),
      row("s_cmp_lt_u32", [](Word a, Word b) { return below(a, b); }),
      row("s_cmp_le_u32", [](Word a, Word b) { return !below(b, a); }),
      row("s_cmp_eq_u64", [](Long a, Long b) { return equal(a, b); }),
      row("s_cmp_lg_u64", [](Long a, Long b) { return !equal(a, b); }),
      row("s_bitcmp0_b32", [](Word a, Word b) { return equal(shr(a, b & 31u) & 1u, constant(a, 0u)); }),
      row("s_bitcmp1_b32", [](Word a, Word b) { return !equal(shr(a, b & 31u) & 1u, constant(a, 0u)); }),
      row("s_bitcmp0_b64", [](Long a, Word b) { return equal(shr(a, b & 63u) & 1u, constant(a, 0u)); }),
      row("s_bitcmp1_b64", [](Long a, Word b) { return !equal(shr(a, b & 63u) & 1u, constant(a, 0u)); }),
      row("s_cmpk_eq_i32", [](Word a, Word b) { return equal(a, b); }),
      row("s_cmpk_lg_i32", [](Word a, Word b) { return !equal(a, b); }),
      row("s_cmpk_gt_i32", [](Word a, Word b) { return less(b, a); }),
      row("s_cmpk_ge_i32", [](Word a, Word b) { return !less(a, b); }),
      row("s_cmpk_lt_i32", [](Word a, Word b) { return less(a, b); }),
      row("s_cmpk_le_i32", [](Word a, Word b) { return !less(b, a); }),
      row("s_cmpk_eq_u32", [](Word a, Word b) { return equal(a, b & 0xffffu); }),
      row("s_cmpk_lg_u32", [](Word a, Word b) { return !equal(a, b & 0xffffu); }),
      row("s_cmpk_gt_u32", [](Word a, Word b) { return below(b & 0xffffu, a); }),
      row("s_cmpk_ge_u32", [](Word a, Word b) { return !below(a, b & 0xffffu); }),
      row("s_cmpk_lt_u32", [](Word a, Word b) { return below(a, b & 0xffffu); }),
      row("s_cmpk_le_u32", [](Word a, Word b) { return !below(b & 0xffffu, a); }),
  };
  return table;
}

} // namespace

const ScalarMeaning* scalar_meaning(std::string_view mnemonic) {
  static const std::map<std::string_view, ScalarMeaning> by_name = [] {
    std::map<std::string_view, ScalarMeaning> result;
    for (const Row& r : rows()) result[r.mnemonic] = r.meaning;
    return result;
  }();
  const auto found = by_name.find(mnemonic);
  return found == by_name.end() ? nullptr : &found->second;
}

} // namespace asmevo::prove
