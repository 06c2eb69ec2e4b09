// Float instructions over lanes against MPFR, in every rounding and denormal mode, with IEEE mode and without.
#include "float_model.h"

#include <bit>

namespace asmevo::machine {
namespace {

using namespace model;
using isa::Processor;

template <class F> struct Case {
  std::string_view mnemonic;
  FloatModel<F> model;
  bool accumulates = false; // the third argument is the destination
  Processor processor = Processor::gfx942;
  bool flushes_always = false; // denormals, whatever MODE says
};

/// An invalid operation gives some quiet NaN: the model says the format's, and any sign and payload is as good.
template <class F> bool same(typename F::Bits got, typename F::Bits wanted) {
  return got == wanted || (wanted == F::nan && nan_code<F>(got) && !signalling_code<F>(got));
}

template <class F> void check(const std::vector<Case<F>>& cases) {
  using Bits = typename F::Bits;
  std::mt19937_64 random(17);
  for (const Case<F>& c : cases) {
    for (const uint32_t mode : every_mode<F>())
      for (int round = 0; round < 3; ++round) {
        Lanes lanes;
        lanes.wave.mode = mode;
        const bool specials = round == 2; // all-number vectors take the fast path
        for (unsigned k = 0; k < 3; ++k)
          for (unsigned i = 0; i < machine::lanes; ++i) lanes.set(k, i, interesting<F>(random, specials));
        std::vector<Bits> third(machine::lanes);
        for (unsigned i = 0; i < machine::lanes; ++i) third[i] = bits_in<F>(lanes, 2, i);
        if (c.accumulates) lanes.op.dst = lanes.op.src[2];
        const uint64_t exec = round ? all_lanes : 0xfedc'ba98'7654'3210;
        lanes.wave.set_exec(exec);
        Environment e = environment_of<F>(mode);
        if (c.flushes_always) e.flush_inputs = e.flush_outputs = true;
        std::vector<Bits> expected(machine::lanes);
        for (unsigned i = 0; i < machine::lanes; ++i)
          expected[i] = c.model(bits_in<F>(lanes, 0, i), bits_in<F>(lanes, 1, i), third[i], e);
        lanes.run(c.mnemonic, c.processor);
        for (unsigned i = 0; i < machine::lanes; ++i) {
          if (!(exec >> i & 1)) continue;
          const Bits got = c.accumulates ? bits_in<F>(lanes, 2, i) : Bits(lanes.result64(i));
          ASSERT_TRUE(same<F>(got, expected[i]))
              << c.mnemonic << std::hex << " mode " << mode << " " << +bits_in<F>(lanes, 0, i) << " "
              << +bits_in<F>(lanes, 1, i) << " " << +third[i] << " gives " << +got << ", not " << +expected[i];
        }
      }
    note_tested(c.mnemonic, c.processor);
  }
}

#define AE_MODEL(expression)                                                                                           \
  [](auto a, [[maybe_unused]] auto b, [[maybe_unused]] auto c, [[maybe_unused]] const Environment& e) ->               \
      typename F::Bits { return expression; }

// Arithmetic that is rounded once, or twice where the product of an unfused multiply-add is rounded too.
template <class F, class B> B sum(B a, B b, const Environment& e) { return once<F>(mpfr_add, e, a, b); }
template <class F, class B> B product(B a, B b, const Environment& e) { return once<F>(mpfr_mul, e, a, b); }
template <class F, class B> B fused(B a, B b, B c, const Environment& e) { return once<F>(mpfr_fma, e, a, b, c); }
template <class F, class B> B unfused(B a, B b, B c, const Environment& e) {
  if (const auto nan = nan_of<F>(e, a, b, c)) return *nan;
  const B p = product<F>(a, b, e);
  return nan_code<F>(p) ? F::nan : sum<F>(p, c, e);
}
template <class F, class B> B difference(B a, B b, const Environment& e) { return once<F>(mpfr_sub, e, a, b); }
/// Zero times anything is +0.
template <class F, class B> B legacy_product(B a, B b, const Environment& e) {
  const bool zero =
      mpfr_zero_p(number<F>(source_code<F>(a, e)).get()) || mpfr_zero_p(number<F>(source_code<F>(b, e)).get());
  return zero ? B{0} : product<F>(a, b, e);
}
template <class F, class B> B legacy_unfused(B a, B b, B c, const Environment& e) {
  const B p = legacy_product<F>(a, b, e);
  if (nan_code<F>(p)) return p;
  return sum<F>(p, c, e);
}

/// To an integral value; the result is exact, and a denormal source that is not flushed counts.
template <class F, class B, class ToIntegral> B integral(ToIntegral f, B a, const Environment& e) {
  if (const auto nan = nan_of<F>(e, a)) return *nan;
  Real r;
  f(r.get(), number<F>(source_code<F>(a, e)).get());
  return code<F>(r, e);
}
/// a - floor(a) with the rounding of MODE, below 1.
template <class F, class B> B fraction(B a, const Environment& e) {
  if (const auto nan = nan_of<F>(e, a)) return *nan;
  const Real x = number<F>(source_code<F>(a, e));
  if (mpfr_inf_p(x.get())) return F::nan;
  Real r;
  mpfr_floor(r.get(), x.get());
  mpfr_sub(r.get(), x.get(), r.get(), direction(e.round));
  const B one = B(B(F::bias) << F::fraction_bits), result = code<F>(r, e);
  return result == one ? B(one - 1) : result;
}
template <class F, class B> B mantissa(B a, const Environment& e) {
  if (const auto nan = nan_of<F>(e, a)) return *nan;
  Real x = number<F>(source_code<F>(a, e));
  if (mpfr_regular_p(x.get())) mpfr_set_exp(x.get(), 0); // MPFR's significands are in [1/2, 1) too
  return code<F>(x, {});
}
template <class F, class B> int32_t exponent(B a, const Environment& e) {
  const Real x = number<F>(source_code<F>(a, e));
  return mpfr_regular_p(x.get()) ? int32_t(mpfr_get_exp(x.get())) : 0;
}
template <class F, class B> B scaled(B a, int32_t power, const Environment& e) {
  if (const auto nan = nan_of<F>(e, a)) return *nan;
  Real x = number<F>(source_code<F>(a, e));
  mpfr_mul_2si(x.get(), x.get(), std::clamp(power, -10000, 10000), MPFR_RNDN);
  return code<F>(x, e);
}

TEST(ValuFloat, F32InstructionsAreRoundedOnceInEveryMode) {
  using F = Binary32;
  const auto gfx90a = Processor::gfx90a, gfx950 = Processor::gfx950;
  check<F>({
      {"v_add_f32", AE_MODEL(sum<F>(a, b, e))},
      {"v_sub_f32", AE_MODEL(difference<F>(a, b, e))},
      {"v_subrev_f32", AE_MODEL(nan_code<F>(a) ? *nan_of<F>(e, a) : difference<F>(b, a, e))},
      {"v_mul_f32", AE_MODEL(product<F>(a, b, e))},
      {"v_mul_legacy_f32", AE_MODEL(legacy_product<F>(a, b, e))},
      {"v_min_f32", AE_MODEL(extreme<F>(false, a, b, e))},
      {"v_max_f32", AE_MODEL(extreme<F>(true, a, b, e))},
      {"v_min3_f32", AE_MODEL(extreme3<F>(false, a, b, c, e))},
      {"v_max3_f32", AE_MODEL(extreme3<F>(true, a, b, c, e))},
      {"v_med3_f32", AE_MODEL(middle<F>(a, b, c, e))},
      {"v_minimum3_f32", AE_MODEL(nan_wins3<F>(false, a, b, c, e)), false, gfx950},
      {"v_maximum3_f32", AE_MODEL(nan_wins3<F>(true, a, b, c, e)), false, gfx950},
      {"v_fma_f32", AE_MODEL(fused<F>(a, b, c, e))},
      {"v_fmac_f32", AE_MODEL(fused<F>(a, b, c, e)), true},
      {"v_fmamk_f32", AE_MODEL(fused<F>(a, b, c, e))}, // the literal is source 1
      {"v_fmaak_f32", AE_MODEL(fused<F>(a, b, c, e))}, // ... and source 2
      {"v_mad_f32", AE_MODEL(unfused<F>(a, b, c, e)), false, gfx90a, true},
      {"v_mac_f32", AE_MODEL(unfused<F>(a, b, c, e)), true, gfx90a, true},
      {"v_madmk_f32", AE_MODEL(unfused<F>(a, b, c, e)), false, gfx90a, true},
      {"v_madak_f32", AE_MODEL(unfused<F>(a, b, c, e)), false, gfx90a, true},
      {"v_mad_legacy_f32", AE_MODEL(legacy_unfused<F>(a, b, c, e)), false, gfx90a, true},
      {"v_trunc_f32", AE_MODEL(integral<F>(mpfr_trunc, a, e))},
      {"v_ceil_f32", AE_MODEL(integral<F>(mpfr_ceil, a, e))},
      {"v_floor_f32", AE_MODEL(integral<F>(mpfr_floor, a, e))},
      {"v_rndne_f32", AE_MODEL(integral<F>(mpfr_roundeven, a, e))},
      {"v_fract_f32", AE_MODEL(fraction<F>(a, e))},
      {"v_frexp_mant_f32", AE_MODEL(mantissa<F>(a, e))},
      {"v_frexp_exp_i32_f32", AE_MODEL(uint32_t(exponent<F>(a, e)))},
      {"v_ldexp_f32", AE_MODEL(scaled<F>(a, int32_t(b), e))},
  });
}

TEST(ValuFloat, F64InstructionsAreRoundedOnceInEveryMode) {
  using F = Binary64;
  check<F>({
      {"v_add_f64", AE_MODEL(sum<F>(a, b, e))},
      {"v_mul_f64", AE_MODEL(product<F>(a, b, e))},
      {"v_min_f64", AE_MODEL(extreme<F>(false, a, b, e))},
      {"v_max_f64", AE_MODEL(extreme<F>(true, a, b, e))},
      {"v_fma_f64", AE_MODEL(fused<F>(a, b, c, e))},
      {"v_fmac_f64", AE_MODEL(fused<F>(a, b, c, e)), true},
      {"v_trunc_f64", AE_MODEL(integral<F>(mpfr_trunc, a, e))},
      {"v_ceil_f64", AE_MODEL(integral<F>(mpfr_ceil, a, e))},
      {"v_floor_f64", AE_MODEL(integral<F>(mpfr_floor, a, e))},
      {"v_rndne_f64", AE_MODEL(integral<F>(mpfr_roundeven, a, e))},
      {"v_fract_f64", AE_MODEL(fraction<F>(a, e))},
      {"v_frexp_mant_f64", AE_MODEL(mantissa<F>(a, e))},
      {"v_ldexp_f64", AE_MODEL(scaled<F>(a, int32_t(b), e))},
  });
}

TEST(ValuFloat, F16InstructionsAreRoundedOnceInEveryMode) {
  using F = Binary16;
  const auto gfx908 = Processor::gfx908;
  check<F>({
      {"v_add_f16", AE_MODEL(sum<F>(a, b, e))},
      {"v_sub_f16", AE_MODEL(difference<F>(a, b, e))},
      {"v_subrev_f16", AE_MODEL(nan_code<F>(a) ? *nan_of<F>(e, a) : difference<F>(b, a, e))},
      {"v_mul_f16", AE_MODEL(product<F>(a, b, e))},
      {"v_min_f16", AE_MODEL(extreme<F>(false, a, b, e))},
      {"v_max_f16", AE_MODEL(extreme<F>(true, a, b, e))},
      {"v_min3_f16", AE_MODEL(extreme3<F>(false, a, b, c, e))},
      {"v_max3_f16", AE_MODEL(extreme3<F>(true, a, b, c, e))},
      {"v_med3_f16", AE_MODEL(middle<F>(a, b, c, e))},
      {"v_fma_f16", AE_MODEL(fused<F>(a, b, c, e))},
      {"v_fma_legacy_f16", AE_MODEL(fused<F>(a, b, c, e))},
      {"v_mad_f16", AE_MODEL(unfused<F>(a, b, c, e)), false, gfx908, true},
      {"v_mad_legacy_f16", AE_MODEL(unfused<F>(a, b, c, e)), false, gfx908, true},
      {"v_mac_f16", AE_MODEL(unfused<F>(a, b, c, e)), true, gfx908, true},
      {"v_madmk_f16", AE_MODEL(unfused<F>(a, b, c, e)), false, gfx908, true},
      {"v_madak_f16", AE_MODEL(unfused<F>(a, b, c, e)), false, gfx908, true},
      {"v_trunc_f16", AE_MODEL(integral<F>(mpfr_trunc, a, e))},
      {"v_ceil_f16", AE_MODEL(integral<F>(mpfr_ceil, a, e))},
      {"v_floor_f16", AE_MODEL(integral<F>(mpfr_floor, a, e))},
      {"v_rndne_f16", AE_MODEL(integral<F>(mpfr_roundeven, a, e))},
      {"v_fract_f16", AE_MODEL(fraction<F>(a, e))},
      {"v_frexp_mant_f16", AE_MODEL(mantissa<F>(a, e))},
      {"v_frexp_exp_i16_f16", AE_MODEL(uint16_t(exponent<F>(a, e)))},
      {"v_ldexp_f16", AE_MODEL(scaled<F>(a, int16_t(b), e))},
  });
}

TEST(ValuFloat, EveryPowerOfTwoMayScale) {
  using F = Binary32;
  std::mt19937 words(3);
  std::mt19937_64 random(3);
  for (const uint32_t mode : every_mode<F>()) {
    Lanes lanes;
    lanes.wave.mode = mode;
    for (unsigned i = 0; i < machine::lanes; ++i) {
      lanes.set(0, i, interesting<F>(random));
      lanes.set(1, i, interesting_word(words));
    }
    lanes.run("v_ldexp_f32");
    for (unsigned i = 0; i < machine::lanes; ++i) {
      const auto power = int32_t(bits_in<F>(lanes, 1, i));
      const uint32_t wanted = scaled<F>(bits_in<F>(lanes, 0, i), power, environment_of<F>(mode));
      ASSERT_TRUE(same<F>(lanes.result().lane[i], wanted)) << bits_in<F>(lanes, 0, i) << " by 2^" << power;
    }
  }
}

TEST(ValuFloat, TheExponentOfADoubleIsAWord) {
  std::mt19937_64 random(3);
  for (const uint32_t mode : every_mode<Binary64>()) {
    Lanes lanes;
    lanes.wave.mode = mode;
    for (unsigned i = 0; i < machine::lanes; ++i) lanes.set(0, i, interesting<Binary64>(random));
    lanes.run("v_frexp_exp_i32_f64");
    for (unsigned i = 0; i < machine::lanes; ++i)
      ASSERT_EQ(int32_t(lanes.result().lane[i]),
                exponent<Binary64>(bits_in<Binary64>(lanes, 0, i), environment_of<Binary64>(mode)));
  }
  note_tested("v_frexp_exp_i32_f64", Processor::gfx942);
}

TEST(ValuFloat, EveryF16FusedSumOfManyIsExact) {
  // All exponents against all exponents, with fractions that tie.
  std::mt19937 random(5);
  Lanes lanes;
  for (int n = 0; n < 300; ++n) {
    for (unsigned k = 0; k < 3; ++k)
      for (unsigned i = 0; i < machine::lanes; ++i) lanes.set(k, i, random() & 0xffff);
    const Environment e = environment_of<Binary16>(usual_mode);
    lanes.run("v_fma_f16");
    for (unsigned i = 0; i < machine::lanes; ++i) {
      const auto a = bits_in<Binary16>(lanes, 0, i), b = bits_in<Binary16>(lanes, 1, i),
                 c = bits_in<Binary16>(lanes, 2, i);
      ASSERT_TRUE(same<Binary16>(uint16_t(lanes.result().lane[i]), fused<Binary16>(a, b, c, e)))
          << std::hex << a << " " << b << " " << c;
    }
  }
}

// Approximate functions -----------------------------------------------------------------------------------------------

/// A function of one number, its true value, and how many units of the last place the manual allows.
template <class F> struct Approximation {
  std::string_view mnemonic;
  void (*truth)(mpfr_ptr out, mpfr_srcptr x);
  double ulps = 1;
  double largest = 0; // where the function says something else beyond; 0: nowhere
};
void of_turns(int (*function)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t), mpfr_ptr out, mpfr_srcptr turns) {
  mpfr_const_pi(out, MPFR_RNDN);
  mpfr_mul(out, out, turns, MPFR_RNDN);
  mpfr_mul_2si(out, out, 1, MPFR_RNDN);
  function(out, out, MPFR_RNDN);
}
void exp2_of(mpfr_ptr out, mpfr_srcptr x) { mpfr_exp2(out, x, MPFR_RNDN); }
void log2_of(mpfr_ptr out, mpfr_srcptr x) { mpfr_log2(out, x, MPFR_RNDN); }
void reciprocal(mpfr_ptr out, mpfr_srcptr x) { mpfr_ui_div(out, 1, x, MPFR_RNDN); }
void reciprocal_root(mpfr_ptr out, mpfr_srcptr x) {
  mpfr_rec_sqrt(out, x, MPFR_RNDN); // MPFR has +infinity for -0
  if (mpfr_zero_p(x) && mpfr_signbit(x)) mpfr_set_inf(out, -1);
}
void root(mpfr_ptr out, mpfr_srcptr x) { mpfr_sqrt(out, x, MPFR_RNDN); }
void sine(mpfr_ptr out, mpfr_srcptr x) { of_turns(mpfr_sin, out, x); }
void cosine(mpfr_ptr out, mpfr_srcptr x) { of_turns(mpfr_cos, out, x); }

/// Distance in units of the last place between codes of one sign.
template <class F> double apart(typename F::Bits a, typename F::Bits b) {
  const auto ordered = [](typename F::Bits x) {
    const auto magnitude = int64_t(x & typename F::Bits(~F::sign));
    return x & F::sign ? -magnitude : magnitude;
  };
  return std::abs(double(ordered(a)) - double(ordered(b)));
}

template <class F> void check_approximate(const std::vector<Approximation<F>>& functions) {
  std::mt19937_64 random(29);
  for (const auto& f : functions) {
    for (const uint32_t mode : every_mode<F>()) {
      Lanes lanes;
      lanes.wave.mode = mode;
      for (unsigned i = 0; i < machine::lanes; ++i) lanes.set(0, i, interesting<F>(random));
      // f32 knows no denormals here. The rounding mode does not matter.
      Environment e = environment_of<F>(mode);
      if (F::width == 32) e.flush_inputs = e.flush_outputs = true;
      e.round = numeric::Round::nearest_even;
      lanes.run(f.mnemonic);
      for (unsigned i = 0; i < machine::lanes; ++i) {
        const auto x = bits_in<F>(lanes, 0, i), got = typename F::Bits(lanes.result64(i));
        SCOPED_TRACE(fmt::format("{} of {:#x} is {:#x} in mode {:#x}", f.mnemonic, x, got, mode));
        if (const auto nan = nan_of<F>(e, x)) {
          ASSERT_EQ(got, *nan);
          continue;
        }
        Real argument = number<F>(source_code<F>(x, e)), exact;
        if (f.largest != 0 && mpfr_number_p(argument.get()) && mpfr_cmp_d(argument.get(), f.largest) > 0) continue;
        if (f.largest != 0 && mpfr_number_p(argument.get()) && mpfr_cmp_d(argument.get(), -f.largest) < 0) continue;
        mpfr_set_prec(exact.get(), 300);
        f.truth(exact.get(), argument.get());
        const auto wanted = code<F>(exact, e);
        if (wanted == F::nan)
          ASSERT_TRUE(nan_code<F>(got));
        else
          ASSERT_LE(apart<F>(got, wanted), f.ulps) << std::hex << "not " << +wanted;
      }
    }
    note_tested(f.mnemonic, Processor::gfx942);
  }
}

TEST(ValuFloat, ApproximateFunctionsStayWithinAUnitOfTheLastPlace) {
  check_approximate<Binary32>({{"v_exp_f32", exp2_of},
                               {"v_exp_legacy_f32", exp2_of},
                               {"v_log_f32", log2_of},
                               {"v_log_legacy_f32", log2_of},
                               {"v_rcp_f32", reciprocal},
                               {"v_rcp_iflag_f32", reciprocal},
                               {"v_rsq_f32", reciprocal_root},
                               {"v_sqrt_f32", root},
                               {"v_sin_f32", sine, 1, 256},
                               {"v_cos_f32", cosine, 1, 256}});
  check_approximate<Binary16>({{"v_exp_f16", exp2_of},
                               {"v_log_f16", log2_of},
                               {"v_rcp_f16", reciprocal},
                               {"v_rsq_f16", reciprocal_root},
                               {"v_sqrt_f16", root},
                               {"v_sin_f16", sine, 1, 256},
                               {"v_cos_f16", cosine, 1, 256}});
  check_approximate<Binary64>({{"v_rcp_f64", reciprocal}, {"v_rsq_f64", reciprocal_root}, {"v_sqrt_f64", root}});
}

// Cubes ---------------------------------------------------------------------------------------------------------------

TEST(ValuFloat, CubeInstructionsFindFaceAndCoordinates) {
  // After the manual: the major axis is the largest in magnitude, z before y before x.
  std::mt19937 random(8);
  for (int round = 0; round < 20; ++round) {
    Lanes lanes;
    for (unsigned i = 0; i < machine::lanes; ++i)
      for (unsigned k = 0; k < 3; ++k)
        lanes.set(k, i, std::bit_cast<uint32_t>(std::ldexp(float(int(random() % 9) - 4), int(random() % 3) * 40)));
    const auto expect = [&](std::string_view mnemonic, auto of_z, auto of_y, auto of_x) {
      lanes.run(mnemonic);
      for (unsigned i = 0; i < machine::lanes; ++i) {
        const auto at = [&](unsigned k) { return std::bit_cast<float>(lanes.source(k).lane[i]); };
        const float x = at(0), y = at(1), z = at(2), ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
        const float wanted = az >= ax && az >= ay ? of_z(x, y, z) : ay >= ax ? of_y(x, y, z) : of_x(x, y, z);
        ASSERT_EQ(std::bit_cast<float>(lanes.result().lane[i]), wanted) << mnemonic << " " << x << " " << y << " " << z;
      }
      note_tested(mnemonic, Processor::gfx942);
    };
    expect(
        "v_cubeid_f32", [](float, float, float z) { return z < 0 ? 5.0f : 4.0f; },
        [](float, float y, float) { return y < 0 ? 3.0f : 2.0f; },
        [](float x, float, float) { return x < 0 ? 1.0f : 0.0f; });
    expect(
        "v_cubesc_f32", [](float x, float, float z) { return z < 0 ? -x : x; }, [](float x, float, float) { return x; },
        [](float x, float, float z) { return x < 0 ? z : -z; });
    expect(
        "v_cubetc_f32", [](float, float y, float) { return -y; },
        [](float, float y, float z) { return y < 0 ? -z : z; }, [](float, float y, float) { return -y; });
    expect(
        "v_cubema_f32", [](float, float, float z) { return 2 * z; }, [](float, float y, float) { return 2 * y; },
        [](float x, float, float) { return 2 * x; });
  }
}

// What goes where -----------------------------------------------------------------------------------------------------

TEST(ValuFloat, SixteenBitResultsClearOrKeepTheUpperHalfAsGfx9Does) {
  // Instructions that gfx8 had clear it, but for multiply-adds into their destination or with a literal; what gfx9
  // brought keeps it.
  constexpr std::string_view clearing[] = {"v_add_f16",        "v_sub_f16",        "v_mul_f16",
                                           "v_max_f16",        "v_rcp_f16",        "v_sin_f16",
                                           "v_floor_f16",      "v_fract_f16",      "v_ldexp_f16",
                                           "v_cvt_f16_f32",    "v_cvt_f16_u16",    "v_frexp_exp_i16_f16",
                                           "v_add_u16",        "v_max_i16",        "v_lshlrev_b16",
                                           "v_mul_lo_u16",     "v_fma_legacy_f16", "v_mad_legacy_f16",
                                           "v_mad_legacy_u16", "v_mad_legacy_i16", "v_div_fixup_legacy_f16"};
  constexpr std::string_view keeping[] = {"v_mac_f16",  "v_madmk_f16", "v_madak_f16", "v_fma_f16",       "v_mad_f16",
                                          "v_min3_f16", "v_med3_f16",  "v_max3_i16",  "v_div_fixup_f16", "v_mad_u16",
                                          "v_mad_i16",  "v_add_i16",   "v_sub_i16"};
  const auto upper_half = [](std::string_view mnemonic) {
    Lanes lanes;
    for (auto& x : lanes.result().lane) x = 0xabcd1234;
    lanes.run(mnemonic, Processor::gfx908);
    return lanes.result().lane[7] >> 16;
  };
  for (const std::string_view mnemonic : clearing) EXPECT_EQ(upper_half(mnemonic), 0u) << mnemonic;
  for (const std::string_view mnemonic : keeping) EXPECT_EQ(upper_half(mnemonic), 0xabcdu) << mnemonic;
}

TEST(ValuFloat, F16OverflowSaturatesWhereTheModeSaysSo) {
  Lanes lanes;
  for (unsigned i = 0; i < machine::lanes; ++i) {
    lanes.set(0, i, i < 32 ? 0xfbff : 0xfc00); // the most negative number, infinity
    lanes.set(1, i, 0x4400);
  }
  lanes.run("v_mul_f16");
  EXPECT_EQ(lanes.result().lane[0], 0xfc00u);
  lanes.wave.mode |= 1u << 23;
  lanes.run("v_mul_f16");
  EXPECT_EQ(lanes.result().lane[0], 0xfbffu);
  EXPECT_EQ(lanes.result().lane[40], 0xfc00u);
}

TEST(ValuFloat, ANanInAnInactiveLaneChangesNothing) {
  Lanes lanes;
  lanes.wave.set_exec(0xffff);
  for (unsigned i = 0; i < machine::lanes; ++i) {
    lanes.set(0, i, i < 16 ? 0x3f800000 : 0x7fc00123);
    lanes.set(1, i, 0x40000000);
    lanes.result().lane[i] = 77;
  }
  lanes.run("v_add_f32");
  for (unsigned i = 0; i < machine::lanes; ++i) EXPECT_EQ(lanes.result().lane[i], i < 16 ? 0x40400000u : 77u);
}

} // namespace
} // namespace asmevo::machine
