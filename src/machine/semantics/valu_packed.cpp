// Packed float arithmetic (two halves in a row, two words in two rows), mixed-precision fma, and dot products of
// floats.
//
// Packed sources arrive with op_sel and neg applied. The mix instructions read their modifiers themselves: op_sel_hi
// says that a source is a half, op_sel which; neg_hi means abs.
#include "machine/semantics/float_operations.h"

namespace asmevo::machine::ASMEVO_ISA {

namespace {

using enum Format;

/// Both halves of every source, and both of the result.
struct PackedHalves {
  template <class Function, class... References>
  AE_LANES static void with(Wave& w, const Op& op, Function f, References... source) {
    f(IntoHalves{row(w, op.dst)}, std::array{Host<Binary16>(w, source, 0)...},
      std::array{Host<Binary16>(w, source, 16)...});
  }
};
template <unsigned N> struct PackedHalvesInOrder : PackedHalves {
  template <class Function> AE_LANES static void apply(Wave& w, const Op& op, Function f) {
    [&]<size_t... K>(std::index_sequence<K...>)
        __attribute__((always_inline)) { with(w, op, f, op.src[K]...); }(std::make_index_sequence<N>{});
  }
};
struct PackedHalvesAccumulating : PackedHalves {
  template <class Function> AE_LANES static void apply(Wave& w, const Op& op, Function f) {
    with(w, op, f, op.src[0], op.src[1], op.dst);
  }
};
template <class Op_, unsigned N> void pk_f16(Wave& w, const Op& op) {
  FloatExecutor<Op_, Binary16, N>::template run<PackedHalvesInOrder<N>>(w, op);
}
void pk_fmac_f16(Wave& w, const Op& op) { FloatExecutor<FmaHalf, Binary16, 3>::run<PackedHalvesAccumulating>(w, op); }

/// Both rows of every source, and both of the result.
template <unsigned N> struct PackedSingles {
  template <class Function> AE_LANES static void apply(Wave& w, const Op& op, Function f) {
    [&]<size_t... K>(std::index_sequence<K...>) __attribute__((always_inline)) {
      f(IntoPair{row(w, op.dst)}, std::array{Host<Binary32>(row(w, op.src[K])[0])...},
        std::array{Host<Binary32>(row(w, op.src[K])[1])...});
    }(std::make_index_sequence<N>{});
  }
};
template <class Op_, unsigned N> void pk_f32(Wave& w, const Op& op) {
  FloatExecutor<Op_, Binary32, N>::template run<PackedSingles<N>>(w, op);
}
// Each result dword takes the one that op_sel picked of its own source.
void pk_mov_b32(Wave& w, const Op& op) {
  const Row &a = *row(w, op.src[0]), &b = *row(w, op.src[1]);
  Row* d = row(w, op.dst);
  each_lane64(w, d[0], d[1], [&](unsigned i) { return uint64_t{b.lane[i]} << 32 | a.lane[i]; });
}

/// A source of a mix instruction as f32.
AE_LANES void mixed_source(Wave& w, const Op& op, unsigned k, Row& out) {
  const Modifiers m = op.modifiers;
  const uint32_t* lane = row(w, op.src[k])->lane;
  const uint32_t keep = m.neg_hi() >> k & 1 ? 0x7fffffffu : ~0u, flip = m.neg() >> k & 1 ? 0x80000000u : 0u;
  if (m.op_sel_hi() >> k & 1) {
    const uint32_t shift = m.op_sel() >> k & 1 ? 16 : 0;
    const bool flush = environment<Binary16>(w).flush_inputs;
    widen_row(lane, out, shift);
    if (flush) flush_widened(out);
    AE_EACH_LANE out.lane[i] = (out.lane[i] & keep) ^ flip;
  } else {
    AE_EACH_LANE out.lane[i] = (lane[i] & keep) ^ flip;
  }
}
/// Clamp of an f32 row to [0, 1], a NaN to 0 where DX10_CLAMP says so.
AE_LANES void clamp_row(const Wave& w, Row& r) {
  const bool dx10 = w.mode & mode::dx10_clamp;
  AE_EACH_LANE r.lane[i] = numeric::clamp_unit<Binary32>(r.lane[i], dx10);
}
AE_LANES void mixed_fma(Wave& w, const Op& op, Results<Binary32>& results) {
  Row sources[3];
  for (unsigned k = 0; k < 3; ++k) mixed_source(w, op, k, sources[k]);
  FloatExecutor<Fma, Binary32, 3>::compute(
      w, {Host<Binary32>(sources[0]), Host<Binary32>(sources[1]), Host<Binary32>(sources[2])}, results);
  if (op.modifiers.clamp()) clamp_row(w, results.row);
}
void fma_mix_f32(Wave& w, const Op& op) {
  Results<Binary32> results;
  mixed_fma(w, op, results);
  results.write(w, op.dst);
}
/// The result as a half into the lower or upper half of the destination.
template <bool High> void fma_mix_f16(Wave& w, const Op& op) {
  Results<Binary32> results;
  mixed_fma(w, op, results);
  const Environment e = environment<Binary16>(w);
  Row& d = *row(w, op.dst);
  const bool usual = e.round == Round::nearest_even;
  Row halves;
  if (usual) {
    narrow_row(results.row.lane, halves);
    if (e.flush_outputs) flush_halves(halves);
  } else {
    each_set_lane(w, all_lanes,
                  [&](unsigned i) { halves.lane[i] = numeric::convert<Binary16, Binary32>(results.row.lane[i], e); });
  }
  each_lane(w, d, [&](unsigned i) {
    return High ? (d.lane[i] & 0xffffu) | halves.lane[i] << 16 : (d.lane[i] & 0xffff0000u) | halves.lane[i];
  });
}

/// f32 += the products of two halves, low ones first, each added with one rounding. The hardware's order and
/// intermediate precision are unpublished. Flush: gfx90a reads subnormal halves as zero and makes zero of subnormal
/// results, whatever MODE says (its documented deviation).
template <class F, bool Flush> AE_LANES float widened(uint32_t half) {
  if (Flush && !(half & F::infinity)) half &= F::sign;
  if constexpr (std::is_same_v<F, Binary16>)
    return widen_half(half);
  else
    return std::bit_cast<float>(half << 16);
}
template <class F, bool Flush> AE_LANES void dot2(Wave& w, const Op& op, RowRef accumulator) {
  const uint32_t *a = row(w, op.src[0])->lane, *b = row(w, op.src[1])->lane, *c = row(w, accumulator)->lane;
  each_lane(w, *row(w, op.dst), [&](unsigned i) {
    // Products of halves and of bfloats are exact in float, up to overflow.
    const auto product = [&](unsigned at, float sum) {
      return __builtin_fmaf(widened<F, Flush>(a[i] >> at & 0xffffu), widened<F, Flush>(b[i] >> at & 0xffffu), sum);
    };
    const float sum = product(16, product(0, std::bit_cast<float>(Flush ? flush32(c[i]) : c[i])));
    return Flush ? flush32(std::bit_cast<uint32_t>(sum)) : std::bit_cast<uint32_t>(sum);
  });
}
template <class F, bool Flush = false> void dot2_f32(Wave& w, const Op& op) { dot2<F, Flush>(w, op, op.src[2]); }
template <class F, bool Flush = false> void dot2c_f32(Wave& w, const Op& op) { dot2<F, Flush>(w, op, op.dst); }
constexpr TargetMask but_gfx90a = on_all & TargetMask(~on_gfx90a);

constexpr InstructionRow mix(std::string_view name, Handler handler) {
  return valu(name, {.dst = b32, .src = {b32, b32, b32}, .raw = true}, handler);
}

constexpr std::array rows = {
    valu("v_pk_add_f16", {pf16, {pf16, pf16}}, &pk_f16<Add, 2>),
    valu("v_pk_mul_f16", {pf16, {pf16, pf16}}, &pk_f16<Multiply, 2>),
    valu("v_pk_min_f16", {pf16, {pf16, pf16}}, &pk_f16<Minimum, 2>),
    valu("v_pk_max_f16", {pf16, {pf16, pf16}}, &pk_f16<Maximum, 2>),
    valu("v_pk_fma_f16", {pf16, {pf16, pf16, pf16}}, &pk_f16<FmaHalf, 3>),
    valu("v_pk_fmac_f16", {pf16, {pf16, pf16}}, &pk_fmac_f16),
    valu("v_pk_minimum3_f16", {pf16, {pf16, pf16, pf16}}, &pk_f16<ExtremeOrNan3<false>, 3>, Support::exact, on_gfx950),
    valu("v_pk_maximum3_f16", {pf16, {pf16, pf16, pf16}}, &pk_f16<ExtremeOrNan3<true>, 3>, Support::exact, on_gfx950),
    valu("v_pk_fma_f32", {pf32, {pf32, pf32, pf32}}, &pk_f32<Fma, 3>, Support::exact, from_gfx90a),
    valu("v_pk_mul_f32", {pf32, {pf32, pf32}}, &pk_f32<Multiply, 2>, Support::exact, from_gfx90a),
    valu("v_pk_add_f32", {pf32, {pf32, pf32}}, &pk_f32<Add, 2>, Support::exact, from_gfx90a),
    valu("v_pk_mov_b32", {p32, {p32, p32}}, &pk_mov_b32, Support::exact, from_gfx90a),
    mix("v_fma_mix_f32", &fma_mix_f32),
    mix("v_fma_mixlo_f16", &fma_mix_f16<false>),
    mix("v_fma_mixhi_f16", &fma_mix_f16<true>),
    mix("v_mad_mix_f32", &fma_mix_f32),
    mix("v_mad_mixlo_f16", &fma_mix_f16<false>),
    mix("v_mad_mixhi_f16", &fma_mix_f16<true>),
    valu("v_dot2_f32_f16", {f32, {pf16, pf16, f32}}, &dot2_f32<Binary16>, Support::approximate, but_gfx90a),
    valu("v_dot2_f32_f16", {f32, {pf16, pf16, f32}}, &dot2_f32<Binary16, true>, Support::approximate, on_gfx90a),
    valu("v_dot2_f32_bf16", {f32, {pf16, pf16, f32}}, &dot2_f32<Bfloat16>, Support::approximate, on_gfx950),
    valu("v_dot2c_f32_f16", {f32, {b32, b32}}, &dot2c_f32<Binary16>, Support::approximate, from_gfx908& but_gfx90a),
    valu("v_dot2c_f32_f16", {f32, {b32, b32}}, &dot2c_f32<Binary16, true>, Support::approximate, on_gfx90a),
    valu("v_dot2c_f32_bf16", {f32, {b32, b32}}, &dot2c_f32<Bfloat16>, Support::approximate, on_gfx950),
};

} // namespace

std::span<const InstructionRow> valu_packed() { return rows; }

} // namespace asmevo::machine::ASMEVO_ISA
