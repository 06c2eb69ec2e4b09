// The instructions of precise division and v_trig_preop, against the manual's pseudocode on exact numbers.
//
// Where the published pseudocode cannot be what the hardware does (the sequence of instructions would not divide), the
// model follows what divides correctly: v_div_fmas scales by 2^64 or 2^-64 (2^128, 2^-128) after its sum's exponent,
// not by a fixed 2^32, and rounds once; and a denominator whose reciprocal is denormal is scaled down, not up.
#include "float_model.h"

namespace asmevo::machine {
namespace {

using namespace model;
using isa::Processor;

template <class F> struct Limits {
  static constexpr bool single = F::width == 32;
  static constexpr int scale = single ? 64 : 128, large = single ? 96 : 768, tiny = single ? 23 : 53,
                       underflow = single ? -150 : -1075;
};
template <class F> int exponent_field(typename F::Bits x) { return int(x >> F::fraction_bits) & F::exponent_mask; }

template <class F> struct Prescaled {
  typename F::Bits value;
  bool vcc = false;
};
template <class F> typename F::Bits times_two_to(typename F::Bits x, int power, const Environment& e) {
  if (const auto nan = nan_of<F>(e, x)) return *nan;
  Real r = number<F>(source_code<F>(x, e));
  mpfr_mul_2si(r.get(), r.get(), power, MPFR_RNDN);
  return code<F>(r, e);
}
/// Whether x / y is a denormal number before rounding.
template <class F> bool quotient_is_denormal(const Real& x, const Real& y) {
  Real limit(1), bound;
  mpfr_mul_2si(limit.get(), limit.get(), F::min_exponent, MPFR_RNDN);
  if (!mpfr_regular_p(x.get()) || !mpfr_regular_p(y.get())) return false;
  mpfr_mul(bound.get(), limit.get(), y.get(), MPFR_RNDN); // |x| < limit * |y|, all exact
  return mpfr_cmpabs(x.get(), bound.get()) < 0;
}
template <class F> Prescaled<F> div_scale(typename F::Bits s0, typename F::Bits denominator, typename F::Bits numerator,
                                          const Environment& e) {
  const auto d = source_code<F>(denominator, e), n = source_code<F>(numerator, e);
  const Real one(1), rd = number<F>(d), rn = number<F>(n);
  const auto scaled = [&](int power) { return times_two_to<F>(s0, power, e); };
  if (mpfr_zero_p(rd.get()) || mpfr_zero_p(rn.get())) return {F::nan};
  if (exponent_field<F>(n) - exponent_field<F>(d) >= Limits<F>::large)
    return {s0 == denominator ? scaled(Limits<F>::scale) : s0, true};
  if (denormal_code<F>(d)) return {scaled(Limits<F>::scale)};
  const bool reciprocal = quotient_is_denormal<F>(one, rd), quotient = quotient_is_denormal<F>(rn, rd);
  if (reciprocal && quotient) return {s0 == denominator ? scaled(-Limits<F>::scale) : s0, true};
  if (reciprocal) return {scaled(-Limits<F>::scale)};
  if (quotient) return {s0 == numerator ? scaled(Limits<F>::scale) : s0, true};
  if (exponent_field<F>(n) <= Limits<F>::tiny) return {scaled(Limits<F>::scale)};
  return {s0};
}

template <class F>
typename F::Bits div_fmas(typename F::Bits a, typename F::Bits b, typename F::Bits c, bool vcc, const Environment& e) {
  const int power = !vcc ? 0 : exponent_field<F>(c) > F::bias ? Limits<F>::scale : -Limits<F>::scale;
  const auto scaled_fma = [&](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr y, mpfr_srcptr z, mpfr_rnd_t direction) {
    mpfr_fma(r, x, y, z, direction);
    return mpfr_mul_2si(r, r, power, direction);
  };
  return once<F>(scaled_fma, e, a, b, c);
}

template <class F> typename F::Bits div_fixup(typename F::Bits quotient, typename F::Bits denominator,
                                              typename F::Bits numerator, const Environment& e) {
  using Bits = typename F::Bits;
  const Bits d = source_code<F>(denominator, e), n = source_code<F>(numerator, e), sign = Bits((d ^ n) & F::sign);
  if (nan_code<F>(n)) return quieted<F>(n);
  if (nan_code<F>(d)) return quieted<F>(d);
  const Real rd = number<F>(d), rn = number<F>(n);
  if (mpfr_zero_p(rd.get()) && mpfr_zero_p(rn.get())) return F::nan;
  if (mpfr_inf_p(rd.get()) && mpfr_inf_p(rn.get())) return F::nan;
  if (mpfr_zero_p(rd.get()) || mpfr_inf_p(rn.get())) return Bits(sign | F::infinity);
  if (mpfr_zero_p(rn.get()) || mpfr_inf_p(rd.get())) return sign;
  if (F::width > 16 && exponent_field<F>(n) - exponent_field<F>(d) < Limits<F>::underflow) {
    Real below(sign ? -1 : 1); // less than half of the smallest denormal
    mpfr_mul_2si(below.get(), below.get(), F::min_exponent - F::fraction_bits - 2, MPFR_RNDN);
    return code<F>(below, e);
  }
  if (nan_code<F>(quotient)) return Bits(sign | F::infinity);
  return Bits(sign | (quotient & Bits(~F::sign)));
}

template <class F> void fill(Lanes& lanes, std::mt19937_64& random, bool specials) {
  for (unsigned k = 0; k < 3; ++k)
    for (unsigned i = 0; i < machine::lanes; ++i) lanes.set(k, i, interesting<F>(random, specials));
}

using Words = std::array<uint32_t, machine::lanes>;

/// What compilers make of n / d, where denormals are kept.
Words quotients(Lanes& lanes, const Words& n, const Words& d) {
  const auto run = [&](const char* name, std::initializer_list<const Words*> sources) {
    unsigned k = 0;
    for (const Words* source : sources) {
      for (unsigned i = 0; i < machine::lanes; ++i) lanes.set(k, i, (*source)[i]);
      ++k;
    }
    lanes.run(name);
    Words out;
    for (unsigned i = 0; i < machine::lanes; ++i) out[i] = uint32_t(lanes.result64(i));
    return out;
  };
  const auto minus = [](Words x) {
    for (uint32_t& word : x) word ^= 0x80000000;
    return x;
  };
  Words one;
  one.fill(0x3f800000);
  const Words sd = run("v_div_scale_f32", {&d, &d, &n}), sn = run("v_div_scale_f32", {&n, &d, &n});
  const uint64_t vcc = lanes.mask();
  const Words r0 = run("v_rcp_f32", {&sd}), md = minus(sd), e0 = run("v_fma_f32", {&md, &r0, &one});
  const Words r1 = run("v_fma_f32", {&e0, &r0, &r0});
  Words q0;
  for (unsigned i = 0; i < machine::lanes; ++i)
    q0[i] = std::bit_cast<uint32_t>(std::bit_cast<float>(sn[i]) * std::bit_cast<float>(r1[i]));
  const Words e1 = run("v_fma_f32", {&md, &q0, &sn}), q1 = run("v_fma_f32", {&e1, &r1, &q0});
  const Words e2 = run("v_fma_f32", {&md, &q1, &sn});
  lanes.wave.set_vcc(vcc);
  const Words q2 = run("v_div_fmas_f32", {&e2, &r1, &q1});
  return run("v_div_fixup_f32", {&q2, &d, &n});
}

template <class F> void check_scale_and_fmas(const std::string& suffix) {
  std::mt19937_64 random(19);
  for (int n = 0; n < 3; ++n)
    for (const uint32_t mode : every_mode<F>()) {
      Lanes lanes;
      lanes.wave.mode = mode;
      fill<F>(lanes, random, n == 0);
      for (unsigned i = 0; i < machine::lanes; ++i) lanes.set(0, i, bits_in<F>(lanes, 1 + i % 2, i));
      const Environment e = environment_of<F>(mode);
      lanes.run("v_div_scale" + suffix);
      for (unsigned i = 0; i < machine::lanes; ++i) {
        const auto s0 = bits_in<F>(lanes, 0, i), d = bits_in<F>(lanes, 1, i), numerator = bits_in<F>(lanes, 2, i);
        const auto wanted = div_scale<F>(s0, d, numerator, e);
        ASSERT_EQ(typename F::Bits(lanes.result64(i)), wanted.value)
            << std::hex << "mode " << mode << ": " << s0 << ", " << d << ", " << numerator;
        ASSERT_EQ(lanes.mask() >> i & 1, uint64_t{wanted.vcc}) << std::hex << d << ", " << numerator;
      }
      fill<F>(lanes, random, n == 0);
      const uint64_t vcc = random();
      lanes.wave.set_vcc(vcc);
      lanes.run("v_div_fmas" + suffix);
      for (unsigned i = 0; i < machine::lanes; ++i) {
        const auto a = bits_in<F>(lanes, 0, i), b = bits_in<F>(lanes, 1, i), c = bits_in<F>(lanes, 2, i);
        const auto wanted = div_fmas<F>(a, b, c, vcc >> i & 1, e), got = typename F::Bits(lanes.result64(i));
        if (wanted == F::nan)
          ASSERT_TRUE(nan_code<F>(got));
        else
          ASSERT_EQ(got, wanted) << std::hex << "mode " << mode << ": " << a << ", " << b << ", " << c;
      }
    }
  note_tested("v_div_scale" + suffix, Processor::gfx942);
  note_tested("v_div_fmas" + suffix, Processor::gfx942);
}
TEST(ValuDivision, TheCompiledSequenceIsCorrectlyRoundedAlsoWhereQuotientsAreDenormal) {
  std::mt19937_64 random(3);
  Lanes lanes;
  lanes.wave.mode = 0xf0; // nearest even, denormals kept
  size_t denormal = 0;
  for (int round = 0; round < 200; ++round) {
    Words n, d;
    for (unsigned i = 0; i < machine::lanes; ++i) {
      // Quotients from 2^-150 to 2^-118, or anywhere.
      const uint32_t high = uint32_t(1 + random() % 100), apart = round % 2 ? uint32_t(118 + random() % 32) : 20;
      n[i] = uint32_t(high << 23 | (random() & 0x7fffff));
      d[i] = uint32_t(std::min<uint32_t>(high + apart, 254) << 23 | (random() & 0x7fffff));
    }
    const Words q = quotients(lanes, n, d);
    for (unsigned i = 0; i < machine::lanes; ++i) {
      const float wanted = std::bit_cast<float>(n[i]) / std::bit_cast<float>(d[i]);
      ASSERT_EQ(q[i], std::bit_cast<uint32_t>(wanted)) << std::hex << n[i] << " / " << d[i];
      denormal += std::fpclassify(wanted) == FP_SUBNORMAL;
    }
  }
  EXPECT_GT(denormal, 1000u);
}

TEST(ValuDivision, ScaleAndFmasFollowThePseudocode) {
  check_scale_and_fmas<Binary32>("_f32");
  check_scale_and_fmas<Binary64>("_f64");
}

template <class F> void check_fixup(const std::string& mnemonic) {
  std::mt19937_64 random(23);
  for (int n = 0; n < 3; ++n)
    for (const uint32_t mode : every_mode<F>()) {
      Lanes lanes;
      lanes.wave.mode = mode;
      fill<F>(lanes, random, n != 1);
      lanes.run(mnemonic);
      for (unsigned i = 0; i < machine::lanes; ++i) {
        const auto q = bits_in<F>(lanes, 0, i), d = bits_in<F>(lanes, 1, i), numerator = bits_in<F>(lanes, 2, i);
        ASSERT_EQ(typename F::Bits(lanes.result64(i)), (div_fixup<F>(q, d, numerator, environment_of<F>(mode))))
            << mnemonic << std::hex << " mode " << mode << ": " << +q << ", " << +d << ", " << +numerator;
      }
    }
  note_tested(mnemonic, Processor::gfx942);
}
TEST(ValuDivision, FixupPutsInTheSpecialCases) {
  check_fixup<Binary32>("v_div_fixup_f32");
  check_fixup<Binary64>("v_div_fixup_f64");
  check_fixup<Binary16>("v_div_fixup_f16");
  check_fixup<Binary16>("v_div_fixup_legacy_f16");
}

TEST(ValuDivision, TrigPreopGivesSegmentsOfTwoOverPi) {
  // Segment n of a number below 2^54: bits 53n+1 to 53n+53 of 2/pi. From there on the window moves with the exponent;
  // very large arguments are scaled by 2^128 so that the product does not underflow.
  Real two_over_pi;
  mpfr_const_pi(two_over_pi.get(), MPFR_RNDN);
  mpfr_ui_div(two_over_pi.get(), 2, two_over_pi.get(), MPFR_RNDN);
  for (const int power : {0, 20, 54, 55, 60, 100, 500, 944, 945, 1000, 1023}) {
    Lanes lanes;
    for (unsigned i = 0; i < machine::lanes; ++i) {
      lanes.set(0, i, std::bit_cast<uint64_t>(std::ldexp(1.5, power)));
      lanes.set(1, i, i % 23);
    }
    lanes.run("v_trig_preop_f64");
    for (unsigned i = 0; i < machine::lanes; ++i) {
      const long shift = 53l * (i % 23) + std::max(0, power - 54);
      if (shift + 53 > 1201) continue; // the table ends
      Real window;
      mpfr_mul_2si(window.get(), two_over_pi.get(), shift, MPFR_RNDN);
      mpfr_frac(window.get(), window.get(), MPFR_RNDZ);
      mpfr_mul_2si(window.get(), window.get(), 53, MPFR_RNDN);
      mpfr_floor(window.get(), window.get());
      mpfr_mul_2si(window.get(), window.get(), -53 - shift + (power >= 945 ? 128 : 0), MPFR_RNDN);
      ASSERT_EQ(std::bit_cast<double>(lanes.result64(i)), mpfr_get_d(window.get(), MPFR_RNDN))
          << "2^" << power << " segment " << i % 23;
    }
  }
  note_tested("v_trig_preop_f64", Processor::gfx942);
}

} // namespace
} // namespace asmevo::machine
