// Float instructions over lanes against numeric/ (which numeric.cpp tests against MPFR): whatever mix of values the
// lanes hold, in every mode, the vector code must give the bits of the exact definitions.
#include "numeric_model.h"
#include "valu_fixture.h"

#include "machine/numeric/convert.h"
#include "machine/numeric/division.h"
#include "machine/numeric/transcendental.h"

namespace asmevo::machine {
namespace {

using namespace numeric;

/// MODE values that matter: usual; f32 subnormals flushed; all flushed; other rounding; IEEE off.
constexpr uint32_t modes[] = {
    0xf0 | mode::ieee, 0xc0 | mode::ieee,
    0x00 | mode::ieee, 0xf0,
    0xf5 | mode::ieee, 0xfa | mode::ieee,
    0xff | mode::ieee, 0x0f,
    0x50 | mode::ieee, 0xa5,
};
template <class F> Environment environment_of(uint32_t bits) {
  const uint32_t round = F::width == 32 ? bits & 3 : bits >> 2 & 3,
                 denorm = F::width == 32 ? bits >> 4 & 3 : bits >> 6 & 3;
  return {Round(round), !(denorm & 1), !(denorm & 2), (bits & mode::ieee) != 0};
}

template <class F> using Model =
    std::function<typename F::Bits(typename F::Bits, typename F::Bits, typename F::Bits, const Environment&)>;
template <class F> struct Case {
  std::string_view mnemonic;
  Model<F> model;
  bool accumulates = false; // the third argument is the destination
  isa::Processor processor = isa::Processor::gfx942;
  bool flushes_always = false;
};

template <class F> typename F::Bits bits_in(Lanes& lanes, unsigned k, unsigned i) {
  const uint64_t both = uint64_t{lanes.source(k, 1).lane[i]} << 32 | lanes.source(k, 0).lane[i];
  return typename F::Bits(both);
}

template <class F> void check(const std::vector<Case<F>>& cases) {
  using Bits = typename F::Bits;
  std::mt19937_64 random(17);
  for (const Case<F>& c : cases)
    for (uint32_t mode : modes)
      for (int round = 0; round < 12; ++round) {
        Lanes lanes;
        lanes.wave.mode = mode;
        const bool specials = round % 3 == 2; // all-number vectors take the fast path
        for (unsigned k = 0; k < 3; ++k)
          for (unsigned i = 0; i < machine::lanes; ++i) lanes.set(k, i, model::interesting<F>(random, specials));
        std::vector<Bits> third(machine::lanes);
        for (unsigned i = 0; i < machine::lanes; ++i) third[i] = bits_in<F>(lanes, 2, i);
        if (c.accumulates) lanes.op.dst = lanes.op.src[2];
        const uint64_t exec = round % 2 ? all_lanes : 0xfedc'ba98'7654'3210;
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
          ASSERT_EQ(got, expected[i]) << c.mnemonic << std::hex << " mode " << mode << " " << +bits_in<F>(lanes, 0, i)
                                      << " " << +bits_in<F>(lanes, 1, i) << " " << +third[i];
        }
      }
}

#define AE_MODEL(expression)                                                                                           \
  [](auto a, [[maybe_unused]] auto b, [[maybe_unused]] auto c, const Environment& e) { return expression; }

template <class F, class Function> Model<F> approximated() {
  return [](auto a, auto, auto, const Environment& e) { return approximate<Function, F>(a, e); };
}
uint32_t cube_id(float x, float y, float z) {
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  const float id = az >= ax && az >= ay ? (z < 0 ? 5 : 4) : ay >= ax ? (y < 0 ? 3 : 2) : (x < 0 ? 1 : 0);
  return std::bit_cast<uint32_t>(id);
}

TEST(ValuFloat, f32_instructions_match_the_exact_definitions_in_every_mode) {
  using F = Binary32;
  const auto gfx90a = isa::Processor::gfx90a, gfx950 = isa::Processor::gfx950;
  check<F>({
      {"v_add_f32", AE_MODEL(add<F>(a, b, e))},
      {"v_sub_f32", AE_MODEL(subtract<F>(a, b, e))},
      {"v_subrev_f32", AE_MODEL(is_nan<F>(a) ? propagate<F>(a, e) : subtract<F>(b, a, e))},
      {"v_mul_f32", AE_MODEL(multiply<F>(a, b, e))},
      {"v_mul_legacy_f32", AE_MODEL(multiply_legacy<F>(a, b, e))},
      {"v_min_f32", AE_MODEL(minimum<F>(a, b, e))},
      {"v_max_f32", AE_MODEL(maximum<F>(a, b, e))},
      {"v_min3_f32", AE_MODEL(minimum3<F>(a, b, c, e))},
      {"v_max3_f32", AE_MODEL(maximum3<F>(a, b, c, e))},
      {"v_med3_f32", AE_MODEL(median3<F>(a, b, c, e))},
      {"v_minimum3_f32", AE_MODEL((extreme_or_nan<F, false>(extreme_or_nan<F, false>(a, b, e), c, e))), false, gfx950},
      {"v_maximum3_f32", AE_MODEL((extreme_or_nan<F, true>(extreme_or_nan<F, true>(a, b, e), c, e))), false, gfx950},
      {"v_fma_f32", AE_MODEL(fma<F>(a, b, c, e))},
      {"v_fmac_f32", AE_MODEL(fma<F>(a, b, c, e)), true},
      {"v_mad_f32", AE_MODEL(multiply_add<F>(a, b, c, e)), false, gfx90a, true},
      {"v_mac_f32", AE_MODEL(multiply_add<F>(a, b, c, e)), true, gfx90a, true},
      {"v_trunc_f32", AE_MODEL(round_integral<F>(a, Round::zero, e))},
      {"v_ceil_f32", AE_MODEL(round_integral<F>(a, Round::up, e))},
      {"v_floor_f32", AE_MODEL(round_integral<F>(a, Round::down, e))},
      {"v_rndne_f32", AE_MODEL(round_integral<F>(a, Round::nearest_even, e))},
      {"v_fract_f32", AE_MODEL(fraction<F>(a, e))},
      {"v_frexp_mant_f32", AE_MODEL(mantissa<F>(a, e))},
      {"v_frexp_exp_i32_f32", AE_MODEL(uint32_t(exponent<F>(a, e)))},
      {"v_ldexp_f32", AE_MODEL(scale<F>(a, int32_t(b), e))},
      {"v_exp_f32", approximated<F, Exp2>(), false, gfx90a, true},
      {"v_log_f32", approximated<F, Log2>(), false, gfx90a, true},
      {"v_rcp_f32", approximated<F, Reciprocal>(), false, gfx90a, true},
      {"v_rsq_f32", approximated<F, ReciprocalRoot>(), false, gfx90a, true},
      {"v_sqrt_f32", approximated<F, Root>(), false, gfx90a, true},
      {"v_sin_f32", approximated<F, Sine>(), false, gfx90a, true},
      {"v_cos_f32", approximated<F, Cosine>(), false, gfx90a, true},
      {"v_div_fixup_f32", AE_MODEL(div_fixup<F>(a, b, c, e))},
  });
}

TEST(ValuFloat, f64_instructions_match_the_exact_definitions_in_every_mode) {
  using F = Binary64;
  check<F>({
      {"v_add_f64", AE_MODEL(add<F>(a, b, e))},
      {"v_mul_f64", AE_MODEL(multiply<F>(a, b, e))},
      {"v_min_f64", AE_MODEL(minimum<F>(a, b, e))},
      {"v_max_f64", AE_MODEL(maximum<F>(a, b, e))},
      {"v_fma_f64", AE_MODEL(fma<F>(a, b, c, e))},
      {"v_fmac_f64", AE_MODEL(fma<F>(a, b, c, e)), true},
      {"v_trunc_f64", AE_MODEL(round_integral<F>(a, Round::zero, e))},
      {"v_ceil_f64", AE_MODEL(round_integral<F>(a, Round::up, e))},
      {"v_floor_f64", AE_MODEL(round_integral<F>(a, Round::down, e))},
      {"v_rndne_f64", AE_MODEL(round_integral<F>(a, Round::nearest_even, e))},
      {"v_fract_f64", AE_MODEL(fraction<F>(a, e))},
      {"v_frexp_mant_f64", AE_MODEL(mantissa<F>(a, e))},
      {"v_ldexp_f64", AE_MODEL(scale<F>(a, int32_t(b), e))},
      {"v_rcp_f64", approximated<F, Reciprocal>()},
      {"v_rsq_f64", approximated<F, ReciprocalRoot>()},
      {"v_sqrt_f64", approximated<F, Root>()},
      {"v_div_fixup_f64", AE_MODEL(div_fixup<F>(a, b, c, e))},
  });
}

TEST(ValuFloat, f16_instructions_match_the_exact_definitions_in_every_mode) {
  using F = Binary16;
  check<F>({
      {"v_add_f16", AE_MODEL(add<F>(a, b, e))},
      {"v_sub_f16", AE_MODEL(subtract<F>(a, b, e))},
      {"v_mul_f16", AE_MODEL(multiply<F>(a, b, e))},
      {"v_min_f16", AE_MODEL(minimum<F>(a, b, e))},
      {"v_max_f16", AE_MODEL(maximum<F>(a, b, e))},
      {"v_min3_f16", AE_MODEL(minimum3<F>(a, b, c, e))},
      {"v_max3_f16", AE_MODEL(maximum3<F>(a, b, c, e))},
      {"v_med3_f16", AE_MODEL(median3<F>(a, b, c, e))},
      {"v_fma_f16", AE_MODEL(fma<F>(a, b, c, e))},
      {"v_mad_f16", AE_MODEL(multiply_add<F>(a, b, c, e)), false, isa::Processor::gfx942, true},
      {"v_trunc_f16", AE_MODEL(round_integral<F>(a, Round::zero, e))},
      {"v_ceil_f16", AE_MODEL(round_integral<F>(a, Round::up, e))},
      {"v_floor_f16", AE_MODEL(round_integral<F>(a, Round::down, e))},
      {"v_rndne_f16", AE_MODEL(round_integral<F>(a, Round::nearest_even, e))},
      {"v_fract_f16", AE_MODEL(fraction<F>(a, e))},
      {"v_frexp_mant_f16", AE_MODEL(mantissa<F>(a, e))},
      {"v_frexp_exp_i16_f16", AE_MODEL(uint16_t(exponent<F>(a, e)))},
      {"v_ldexp_f16", AE_MODEL(scale<F>(a, int16_t(b), e))},
      {"v_exp_f16", approximated<F, Exp2>()},
      {"v_log_f16", approximated<F, Log2>()},
      {"v_rcp_f16", approximated<F, Reciprocal>()},
      {"v_rsq_f16", approximated<F, ReciprocalRoot>()},
      {"v_sqrt_f16", approximated<F, Root>()},
      {"v_sin_f16", approximated<F, Sine>()},
      {"v_cos_f16", approximated<F, Cosine>()},
      {"v_div_fixup_f16", AE_MODEL(div_fixup<F>(a, b, c, e))},
  });
}

TEST(ValuFloat, every_f16_sum_and_product_of_a_row_of_pairs_is_exact) {
  // All exponents against all exponents, with fractions that tie.
  std::mt19937 random(5);
  Lanes lanes;
  for (int n = 0; n < 2000; ++n) {
    for (unsigned i = 0; i < machine::lanes; ++i) {
      lanes.set(0, i, random() & 0xffff);
      lanes.set(1, i, random() & 0xffff);
      lanes.set(2, i, random() & 0xffff);
    }
    const Environment e = environment_of<Binary16>(usual_mode);
    lanes.run("v_fma_f16");
    for (unsigned i = 0; i < machine::lanes; ++i) {
      const uint16_t a = lanes.source(0).lane[i], b = lanes.source(1).lane[i], c = lanes.source(2).lane[i];
      ASSERT_EQ(lanes.result().lane[i] & 0xffff, (fma<Binary16>(a, b, c, e))) << std::hex << a << " " << b << " " << c;
    }
  }
}

TEST(ValuFloat, sixteen_bit_results_clear_or_keep_the_upper_half_as_gfx9_does) {
  for (auto [mnemonic, keeps] : std::initializer_list<std::pair<std::string_view, bool>>{{"v_add_f16", false},
                                                                                         {"v_mul_f16", false},
                                                                                         {"v_max_f16", false},
                                                                                         {"v_rcp_f16", false},
                                                                                         {"v_add_u16", false},
                                                                                         {"v_fma_f16", true},
                                                                                         {"v_mad_f16", true},
                                                                                         {"v_med3_f16", true},
                                                                                         {"v_mad_u16", true},
                                                                                         {"v_add_i16", true},
                                                                                         {"v_fma_legacy_f16", false},
                                                                                         {"v_mad_legacy_u16", false},
                                                                                         {"v_div_fixup_f16", true}}) {
    Lanes lanes;
    for (auto& x : lanes.result().lane) x = 0xabcd1234;
    lanes.run(mnemonic);
    EXPECT_EQ(lanes.result().lane[7] >> 16, keeps ? 0xabcdu : 0u) << mnemonic;
  }
}

TEST(ValuFloat, f16_overflow_saturates_where_the_mode_says_so) {
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

TEST(ValuFloat, cube_instructions_find_face_and_coordinates) {
  std::mt19937 random(8);
  Lanes lanes;
  for (unsigned i = 0; i < machine::lanes; ++i)
    for (unsigned k = 0; k < 3; ++k) lanes.set(k, i, std::bit_cast<uint32_t>(float(int(random() % 9) - 4)));
  const auto at = [&](unsigned k, unsigned i) { return std::bit_cast<float>(lanes.source(k).lane[i]); };
  lanes.run("v_cubeid_f32");
  for (unsigned i = 0; i < machine::lanes; ++i)
    EXPECT_EQ(lanes.result().lane[i], cube_id(at(0, i), at(1, i), at(2, i)));
  lanes.run("v_cubema_f32");
  for (unsigned i = 0; i < machine::lanes; ++i)
    EXPECT_EQ(std::fabs(std::bit_cast<float>(lanes.result().lane[i])),
              2 * std::max({std::fabs(at(0, i)), std::fabs(at(1, i)), std::fabs(at(2, i))}));
}

template <class F> void check_division_flags() {
  std::mt19937_64 random(19);
  for (int n = 0; n < 300; ++n) {
    Lanes lanes;
    lanes.wave.mode = n % 2 ? usual_mode : 0xc0 | mode::ieee;
    for (unsigned k = 0; k < 3; ++k)
      for (unsigned i = 0; i < machine::lanes; ++i) lanes.set(k, i, model::interesting<F>(random, n % 3 == 0));
    for (unsigned i = 0; i < machine::lanes; ++i) lanes.set(0, i, bits_in<F>(lanes, 1 + i % 2, i));
    const Environment e = environment_of<F>(lanes.wave.mode);
    const std::string suffix = F::width == 32 ? "_f32" : "_f64";
    lanes.run("v_div_scale" + suffix);
    for (unsigned i = 0; i < machine::lanes; ++i) {
      const auto expected = div_scale<F>(bits_in<F>(lanes, 0, i), bits_in<F>(lanes, 1, i), bits_in<F>(lanes, 2, i), e);
      ASSERT_EQ(typename F::Bits(lanes.result64(i)), expected.value);
      ASSERT_EQ(lanes.mask() >> i & 1, uint64_t{expected.post_scale})
          << std::hex << bits_in<F>(lanes, 1, i) << " " << bits_in<F>(lanes, 2, i);
    }
    const uint64_t vcc = random();
    lanes.wave.set_vcc(vcc);
    lanes.run("v_div_fmas" + suffix);
    for (unsigned i = 0; i < machine::lanes; ++i)
      ASSERT_EQ(typename F::Bits(lanes.result64(i)), (div_fmas<F>(bits_in<F>(lanes, 0, i), bits_in<F>(lanes, 1, i),
                                                                  bits_in<F>(lanes, 2, i), vcc >> i & 1, e)));
  }
}
TEST(ValuFloat, div_scale_and_div_fmas_agree_with_their_definitions) {
  check_division_flags<Binary32>();
  check_division_flags<Binary64>();
}

TEST(ValuFloat, trig_preop_gives_segments_of_two_over_pi) {
  Lanes lanes;
  for (unsigned i = 0; i < machine::lanes; ++i) {
    lanes.set(0, i, std::bit_cast<uint64_t>(1.0));
    lanes.set(1, i, i % 3);
  }
  lanes.run("v_trig_preop_f64");
  double sum = 0;
  for (unsigned i : {2u, 1u, 0u}) sum += std::bit_cast<double>(lanes.result64(i));
  EXPECT_EQ(sum, 0.63661977236758134308);
  EXPECT_LT(std::bit_cast<double>(lanes.result64(0)), 0.63661977236758134308);
  EXPECT_GT(std::bit_cast<double>(lanes.result64(0)), 0.636619772367581);
}

TEST(ValuFloat, a_nan_in_an_inactive_lane_changes_nothing) {
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
