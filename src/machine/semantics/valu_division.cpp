// The instructions of precise division: v_div_scale, v_div_fmas, v_div_fixup (numeric/division.h), and v_trig_preop.
//
// Nearly every division meets ordinary operands, for which scale and fixup only pass a value through, and of the others
// most are NaNs. Such lanes are done in vector code, the rest one by one.
#include "machine/numeric/division.h"
#include "machine/semantics/float_operations.h"

namespace asmevo::machine::ASMEVO_ISA {

namespace {

using enum Format;

/// Exponent fields between which v_div_scale changes nothing, and v_div_fixup only sets the sign.
template <class F> struct Ordinary {
  using Limits = numeric::DivisionLimits<F>;
  template <class Bits> AE_LANES static int32_t exponent(Bits x) {
    return int32_t(x >> F::fraction_bits) & F::exponent_mask;
  }
  template <class Bits> AE_LANES static bool for_scale(Bits denominator, Bits numerator) {
    const int32_t d = exponent(denominator), n = exponent(numerator), q = n - d;
    // The reciprocal and the quotient must be normal with a margin for the significands, or the denominator no number.
    const bool normal =
        (d >= 1) & (d <= 2 * F::bias - 2) & (n < F::exponent_mask) & (q < Limits::large_quotient) & (q > 2 - F::bias);
    return (n > Limits::tiny_numerator) & (normal | (d == F::exponent_mask));
  }
  template <class Bits> AE_LANES static bool for_fixup(Bits denominator, Bits numerator) {
    const int32_t d = exponent(denominator), n = exponent(numerator);
    return (d >= 1) & (d < F::exponent_mask) & (n >= 1) & (n < F::exponent_mask) & (n - d >= Limits::underflow);
  }
};

template <class F> void div_scale(Wave& w, const Op& op) {
  const Host<F> s0(w, op.src[0]), denominator(w, op.src[1]), numerator(w, op.src[2]);
  Results<F> results;
  Row odd;
  AE_EACH_LANE {
    results.set(i, s0.bits(i));
    odd.lane[i] = Ordinary<F>::for_scale(denominator.bits(i), numerator.bits(i)) ? 0u : ~0u;
  }
  uint64_t post_scale = 0;
  const Environment e = environment<F>(w);
  each_set_lane(w, pack_mask(odd), [&](unsigned i) {
    const auto scaled = numeric::div_scale<F>(s0.bits(i), denominator.bits(i), numerator.bits(i), e);
    results.set(i, scaled.value);
    post_scale |= uint64_t{scaled.post_scale} << i;
  });
  results.write(w, op.dst);
  w.write64(op.sdst, post_scale);
}

template <class F> void div_fmas(Wave& w, const Op& op) {
  const std::array<Host<F>, 3> source = {Host<F>(w, op.src[0]), Host<F>(w, op.src[1]), Host<F>(w, op.src[2])};
  Results<F> results;
  FloatExecutor<Fma, F, 3>::compute(w, source, results);
  const Environment e = environment<F>(w);
  each_set_lane(w, w.vcc(), [&](unsigned i) {
    results.set(i, numeric::div_fmas<F>(source[0].bits(i), source[1].bits(i), source[2].bits(i), true, e));
  });
  results.write(w, op.dst);
}

template <class F, bool KeepsUpperHalf = false> void div_fixup(Wave& w, const Op& op) {
  const Host<F> quotient(w, op.src[0]), denominator(w, op.src[1]), numerator(w, op.src[2]);
  const Environment e = environment<F>(w);
  Results<F> results;
  const auto exactly = [&](unsigned i) {
    results.set(i, numeric::div_fixup<F>(typename F::Bits(quotient.bits(i)), typename F::Bits(denominator.bits(i)),
                                         typename F::Bits(numerator.bits(i)), e));
  };
  if constexpr (F::width == 16) {
    each_set_lane(w, all_lanes, exactly);
  } else {
    Row odd;
    AE_EACH_LANE {
      const auto q = quotient.bits(i), d = denominator.bits(i), n = numerator.bits(i);
      const auto result = (q & ~F::sign) | ((d ^ n) & F::sign);
      const bool nan_d = (d & ~F::sign) > F::infinity, nan_n = (n & ~F::sign) > F::infinity;
      results.set(i, nan_n ? n | F::quiet_bit : nan_d ? d | F::quiet_bit : result);
      const bool ordinary = Ordinary<F>::for_fixup(d, n) & ((q & ~F::sign) <= F::infinity);
      odd.lane[i] = ordinary | nan_d | nan_n ? 0u : ~0u;
    }
    each_set_lane(w, pack_mask(odd), exactly);
  }
  if constexpr (KeepsUpperHalf)
    results.write_lower(w, op.dst);
  else
    results.write(w, op.dst);
}

// The fraction bits of 2/pi, most significant first: 1201 of them, in words.
constexpr uint32_t two_over_pi[] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab,
};

/// 53 bits of 2/pi, chosen by the exponent of the argument and a segment number, for reduction of huge angles.
constexpr uint64_t trig_preop(uint64_t x, uint32_t segment) {
  const int exponent = numeric::biased_exponent<Binary64>(x);
  int shift = int(segment & 31) * 53;
  if (exponent > 1077) shift += exponent - 1077;
  uint64_t window = 0; // the bits of weight 2^-(shift+1) .. 2^-(shift+53)
  for (int k = 0; k < 53; ++k) {
    const int position = shift + k;
    const uint64_t bit = position < 1201 ? two_over_pi[position / 32] >> (31 - position % 32) & 1 : 0;
    window = window << 1 | bit;
  }
  const int scale = -53 - shift + (exponent >= 1968 ? 128 : 0);
  return numeric::round_to<Binary64>(false, window, scale, Round::nearest_even);
}

void trig_preop_f64(Wave& w, const Op& op) {
  const Host<Binary64> a(w, op.src[0]);
  const uint32_t* segment = row(w, op.src[1])->lane;
  Results<Binary64> results;
  each_set_lane(w, all_lanes, [&](unsigned i) { results.set(i, trig_preop(a.bits(i), segment[i])); });
  results.write(w, op.dst);
}

constexpr std::array rows = {
    valu("v_div_scale_f32", {.dst = f32, .src = {f32, f32, f32}, .carry_out = true}, &div_scale<Binary32>),
    valu("v_div_scale_f64", {.dst = f64, .src = {f64, f64, f64}, .carry_out = true}, &div_scale<Binary64>),
    valu("v_div_fmas_f32", {f32, {f32, f32, f32}}, &div_fmas<Binary32>),
    valu("v_div_fmas_f64", {f64, {f64, f64, f64}}, &div_fmas<Binary64>),
    valu("v_div_fixup_f32", {f32, {f32, f32, f32}}, &div_fixup<Binary32>),
    valu("v_div_fixup_f64", {f64, {f64, f64, f64}}, &div_fixup<Binary64>),
    valu("v_div_fixup_f16", {f16, {f16, f16, f16}}, &div_fixup<Binary16, true>),
    valu("v_div_fixup_legacy_f16", {f16, {f16, f16, f16}}, &div_fixup<Binary16>),
    valu("v_trig_preop_f64", {f64, {f64, b32}}, &trig_preop_f64),
};

} // namespace

std::span<const InstructionRow> valu_division() { return rows; }

} // namespace asmevo::machine::ASMEVO_ISA
