// The instructions of precise division: v_div_scale, v_div_fmas, v_div_fixup (numeric/division.h), and v_trig_preop.
//
// Nearly every division meets ordinary operands, for which scale and fixup only pass a value through. What is not
// ordinary is done in vectors too where MODE rounds to nearest: rows of a softmax over wide ranges have little else.
#include "machine/numeric/division.h"
#include "machine/semantics/float_operations.h"
#include "machine/semantics/vector_words.h"

namespace asmevo::machine::ASMEVO_ISA {

namespace {

using enum Format;

/// Exponent fields between which v_div_scale changes nothing.
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
};

/// Sources and results of one width, a vector at a time.
AE_LANES Words flushed(Words x, bool flushes) { return flushes ? Vectored<Binary32>::flush(x) : x; }
AE_LANES Longs flushed(Longs x, bool flushes) { return flushes ? Vectored<Binary64>::flush(x) : x; }
AE_LANES Words product(Words x, float power) { return bits_of(singles_of(x) * Singles(power)); }

/// numeric::div_scale where results are rounded to nearest even and no operand is NaN; the conditions come in the
/// opposite order. Says in which lanes one is.
AE_LANES uint64_t scale_all(const Host<Binary32>& s0, const Host<Binary32>& denominator,
                            const Host<Binary32>& numerator, const Environment& e, Results<Binary32>& results,
                            uint64_t& post_scale) {
  using Limits = numeric::DivisionLimits<Binary32>;
  const Words number = words(~uint32_t{Binary32::sign}), infinity = words(Binary32::infinity);
  const Words largest_with_normal_reciprocal = words(0x7e800000);
  uint64_t odd = 0;
  post_scale = 0;
  AE_EACH_VECTOR {
    const Words s = load_words(s0.lane, c), raw_d = load_words(denominator.lane, c);
    const Words raw_n = load_words(numerator.lane, c), in = flushed(s, e.flush_inputs);
    const Words d = flushed(raw_d, e.flush_inputs) & number, n = flushed(raw_n, e.flush_inputs) & number;
    const Words exponent_d = {d.v >> 23}, exponent_n = {n.v >> 23};
    const Words up = flushed(product(in, 0x1p64f), e.flush_outputs);
    const Words down = flushed(product(in, 0x1p-64f), e.flush_outputs);
    const Truth finite = below(d, infinity), small_reciprocal = below(largest_with_normal_reciprocal, d) & finite;
    const Truth small_quotient = (singles_of(product(n, 0x1p126f)) < singles_of(d)) & finite; // exact, or infinite
    const Truth large_quotient = !less(exponent_n - exponent_d, words(Limits::large_quotient));
    const Truth no_number = equal(d, words(0)) | equal(n, words(0)), subnormal = equal(exponent_d, words(0));
    Words result = select(below(words(Limits::tiny_numerator), exponent_n), s, up);
    result = select(small_quotient, select(equal(s, raw_n), up, s), result);
    result = select(small_reciprocal, select(small_quotient & !equal(s, raw_d), s, down), result);
    result = select(subnormal, up, result);
    result = select(large_quotient, select(equal(s, raw_d), up, s), result);
    results.put(c, select(no_number, words(Binary32::nan), result));
    const Truth post = (large_quotient | (small_quotient & !subnormal)) & !no_number;
    const Truth nan = below(infinity, s & number) | below(infinity, d) | below(infinity, n);
    post_scale |= bits_of(post) << (c * vector_lanes);
    odd |= bits_of(nan) << (c * vector_lanes);
  }
  return odd;
}

template <class F> void div_scale(Wave& w, const Op& op) {
  const Host<F> s0(w, op.src[0]), denominator(w, op.src[1]), numerator(w, op.src[2]);
  Results<F> results;
  Row other;
  AE_EACH_LANE {
    results.set(i, s0.bits(i));
    other.lane[i] = Ordinary<F>::for_scale(denominator.bits(i), numerator.bits(i)) ? 0u : ~0u;
  }
  uint64_t post_scale = 0, odd = pack_mask(other) & w.exec();
  const Environment e = environment<F>(w);
  if constexpr (F::width == 32)
    if (odd && e.round == Round::nearest_even) odd = scale_all(s0, denominator, numerator, e, results, post_scale);
  post_scale &= w.exec() & ~odd;
  each_set_lane(w, odd, [&](unsigned i) {
    const auto scaled = numeric::div_scale<F>(s0.bits(i), denominator.bits(i), numerator.bits(i), e);
    results.set(i, scaled.value);
    post_scale |= uint64_t{scaled.post_scale} << i;
  });
  results.write(w, op.dst);
  w.write64(op.sdst, post_scale);
}

/// v_div_fmas with the scale, where results are rounded to nearest even, denormals are kept and all sources are finite:
/// in doubles the product is exact, and a sum that is rounded to odd becomes what one rounding would have made of it.
/// Says in which lanes one is not.
AE_LANES uint64_t scaled_fmas(const std::array<Host<Binary32>, 3>& source, Results<Binary32>& results) {
  uint64_t odd = 0;
  AE_EACH_VECTOR {
    const Words a = load_words(source[0].lane, c), b = load_words(source[1].lane, c);
    const Words addend = load_words(source[2].lane, c), infinity = words(Binary32::infinity);
    const Doubles product = widened(singles_of(a)) * widened(singles_of(b)), third = widened(singles_of(addend));
    const Doubles sum = product + third, part = sum - product;
    const Doubles error = (product - (sum - part)) + (third - part);
    const DoubleBits bits = bits_of(sum), zero = bits & 0, sign = (bits_of(error) ^ bits) >> 63;
    const DoubleBits even = (bits & 1) ^ 1, away = (zero + 1 - (sign << 1)) & (zero - even);
    const Doubles rounded_to_odd = doubles_of(bits + select(error == Doubles(0), zero, away));
    const Truth large = less(words(Binary32::bias), Words{(addend & infinity).v >> 23});
    const Singles power = select(large, Singles(0x1p64f), Singles(0x1p-64f));
    results.put(c, bits_of(narrowed(rounded_to_odd * widened(power))));
    const auto finite = [&](Words x) { return less(x & 0x7fffffffu, infinity); };
    odd |= bits_of(!(finite(a) & finite(b) & finite(addend))) << (c * vector_lanes);
  }
  return odd;
}

template <class F> void div_fmas(Wave& w, const Op& op) {
  const std::array<Host<F>, 3> source = {Host<F>(w, op.src[0]), Host<F>(w, op.src[1]), Host<F>(w, op.src[2])};
  Results<F> results;
  FloatExecutor<Fma, F, 3>::compute(w, source, results);
  const Environment e = environment<F>(w);
  uint64_t odd = w.vcc() & w.exec();
  if constexpr (F::width == 32) {
    if (odd && e.round == Round::nearest_even && !e.flush_inputs && !e.flush_outputs) {
      Results<F> scaled;
      const uint64_t others = scaled_fmas(source, scaled);
      Row chosen;
      expand_mask(odd & ~others, chosen);
      AE_EACH_LANE results.row.lane[i] = chosen.lane[i] ? scaled.row.lane[i] : results.row.lane[i];
      odd &= others;
    }
  }
  each_set_lane(w, odd, [&](unsigned i) {
    results.set(i, numeric::div_fmas<F>(source[0].bits(i), source[1].bits(i), source[2].bits(i), true, e));
  });
  results.write(w, op.dst);
}

template <class F> AE_LANES auto in_all(typename F::Bits bits) {
  if constexpr (F::width == 64)
    return Longs{words(uint32_t(bits)), words(uint32_t(bits >> 32))};
  else
    return words(bits);
}
AE_LANES Words exponent_of(Words magnitude) { return {magnitude.v >> 23}; }
AE_LANES Words exponent_of(Longs magnitude) { return {magnitude.hi.v >> 20}; }

/// numeric::div_fixup where results are rounded to nearest even, so that what is below half of the smallest denormal
/// becomes zero; the conditions come in the opposite order.
template <class F> AE_LANES void fix_all(const Host<F>& quotient, const Host<F>& denominator, const Host<F>& numerator,
                                         const Environment& e, Results<F>& results) {
  using Part = Vectored<F>;
  const auto sign_bit = in_all<F>(F::sign), infinity = in_all<F>(F::infinity), zero = in_all<F>(0);
  const auto quiet = in_all<F>(F::quiet_bit), number = ~sign_bit;
  AE_EACH_VECTOR {
    const auto q = Part::load(quotient, c) & number, raw_d = Part::load(denominator, c);
    const auto raw_n = Part::load(numerator, c), sign = (raw_d ^ raw_n) & sign_bit;
    const auto d = flushed(raw_d, e.flush_inputs) & number, n = flushed(raw_n, e.flush_inputs) & number;
    const Truth no_d = equal(d, zero), no_n = equal(n, zero);
    const Truth infinite_d = equal(d, infinity), infinite_n = equal(n, infinity);
    const Truth tiny = less(exponent_of(n) - exponent_of(d), words(uint32_t(numeric::DivisionLimits<F>::underflow)));
    auto result = select(below(infinity, q), infinity, q);
    result = select(tiny | no_n | infinite_d, zero, result);
    result = select(no_d | infinite_n, infinity, result) | sign;
    result = select((no_n & no_d) | (infinite_n & infinite_d), in_all<F>(F::nan), result);
    result = select(below(infinity, d), raw_d | quiet, result);
    results.put(c, select(below(infinity, n), raw_n | quiet, result));
  }
}

template <class F, bool KeepsUpperHalf = false> void div_fixup(Wave& w, const Op& op) {
  const Host<F> quotient(w, op.src[0]), denominator(w, op.src[1]), numerator(w, op.src[2]);
  const Environment e = environment<F>(w);
  Results<F> results;
  const auto exactly = [&](unsigned i) {
    results.set(i, numeric::div_fixup<F>(typename F::Bits(quotient.bits(i)), typename F::Bits(denominator.bits(i)),
                                         typename F::Bits(numerator.bits(i)), e));
  };
  bool in_vectors = false;
  if constexpr (F::width > 16) {
    in_vectors = e.round == Round::nearest_even;
    if (in_vectors) fix_all(quotient, denominator, numerator, e, results);
  }
  if (!in_vectors) each_set_lane(w, all_lanes, exactly);
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
