// numeric/ against MPFR, in every rounding and denormal mode, and against facts from the instruction set manuals.
#include "numeric_model.h"

#include "machine/numeric/convert.h"
#include "machine/numeric/division.h"
#include "machine/numeric/transcendental.h"

#include <gtest/gtest.h>

namespace asmevo::machine {
namespace {

using namespace numeric;
using model::Real;
using model::real;

constexpr Round rounds[] = {Round::nearest_even, Round::up, Round::down, Round::zero};

template <class F> class Arithmetic : public ::testing::Test {};
using Formats = ::testing::Types<Binary64, Binary32, Binary16, Bfloat16>;
TYPED_TEST_SUITE(Arithmetic, Formats);

/// Runs `check(a, b, c, environment)` over interesting finite values and all modes.
template <class F, class Check> void over_values(Check check, int count = 3000) {
  std::mt19937_64 random(42);
  for (int n = 0; n < count; ++n) {
    const auto a = model::interesting<F>(random, false), b = model::interesting<F>(random, false),
               c = model::interesting<F>(random, false);
    for (Round round : rounds)
      for (bool flush : {false, true}) check(a, b, c, Environment{round, flush, flush, true});
  }
}
template <class F> typename F::Bits seen(typename F::Bits x, const Environment& e) {
  return e.flush_inputs && is_subnormal<F>(x) ? typename F::Bits(x & F::sign) : x;
}
/// Sign of an exactly zero sum.
template <class F> bool zero_sum_sign(bool a, bool b, const Environment& e) {
  return a == b ? a : e.round == Round::down;
}

TYPED_TEST(Arithmetic, sums_are_rounded_once) {
  using F = TypeParam;
  over_values<F>([](auto a, auto b, auto, const Environment& e) {
    Real sum;
    mpfr_add(sum.get(), real<F>(seen<F>(a, e)).get(), real<F>(seen<F>(b, e)).get(), MPFR_RNDN);
    const bool sign = zero_sum_sign<F>((a & F::sign) != 0, (b & F::sign) != 0, e);
    ASSERT_EQ(add<F>(a, b, e), model::rounded<F>(sum, e.round, e.flush_outputs, sign))
        << std::hex << +a << " + " << +b << " round " << int(e.round) << " flush " << e.flush_inputs;
  });
}

TYPED_TEST(Arithmetic, products_are_rounded_once) {
  using F = TypeParam;
  over_values<F>([](auto a, auto b, auto, const Environment& e) {
    Real product;
    mpfr_mul(product.get(), real<F>(seen<F>(a, e)).get(), real<F>(seen<F>(b, e)).get(), MPFR_RNDN);
    ASSERT_EQ(multiply<F>(a, b, e), model::rounded<F>(product, e.round, e.flush_outputs, ((a ^ b) & F::sign) != 0))
        << std::hex << +a << " * " << +b << " round " << int(e.round) << " flush " << e.flush_inputs;
  });
}

TYPED_TEST(Arithmetic, fma_is_rounded_once) {
  using F = TypeParam;
  over_values<F>([](auto a, auto b, auto c, const Environment& e) {
    Real sum;
    mpfr_mul(sum.get(), real<F>(seen<F>(a, e)).get(), real<F>(seen<F>(b, e)).get(), MPFR_RNDN);
    mpfr_add(sum.get(), sum.get(), real<F>(seen<F>(c, e)).get(), MPFR_RNDN);
    const bool sign = zero_sum_sign<F>(((a ^ b) & F::sign) != 0, (c & F::sign) != 0, e);
    ASSERT_EQ(fma<F>(a, b, c, e), model::rounded<F>(sum, e.round, e.flush_outputs, sign))
        << std::hex << +a << " * " << +b << " + " << +c << " round " << int(e.round) << " flush " << e.flush_inputs;
  });
}

TYPED_TEST(Arithmetic, integral_values_are_found_in_every_direction) {
  using F = TypeParam;
  over_values<F>([](auto a, auto, auto, const Environment& e) {
    Real whole = real<F>(seen<F>(a, e));
    if (e.round == Round::nearest_even)
      mpfr_roundeven(whole.get(), whole.get());
    else
      mpfr_rint(whole.get(), whole.get(), model::direction(e.round));
    ASSERT_EQ(round_integral<F>(a, e.round, e), model::rounded<F>(whole, Round::zero, false, (a & F::sign) != 0));
  });
}

TYPED_TEST(Arithmetic, ldexp_scales_with_one_rounding) {
  using F = TypeParam;
  over_values<F>([](auto a, auto b, auto, const Environment& e) {
    const int power = int(b % (2 * F::exponent_mask)) - F::exponent_mask;
    Real scaled = real<F>(seen<F>(a, e));
    mpfr_mul_2si(scaled.get(), scaled.get(), power, MPFR_RNDN);
    ASSERT_EQ(scale<F>(a, power, e), model::rounded<F>(scaled, e.round, e.flush_outputs, (a & F::sign) != 0))
        << std::hex << +a << " 2^" << std::dec << power;
  });
}

TYPED_TEST(Arithmetic, frexp_gives_back_the_value) {
  using F = TypeParam;
  over_values<F>([](auto a, auto, auto, const Environment& e) {
    if (e.flush_inputs || !absolute<F>(a)) return;
    const auto m = mantissa<F>(a, e);
    Real product = real<F>(m);
    mpfr_mul_2si(product.get(), product.get(), exponent<F>(a, e), MPFR_RNDN);
    ASSERT_TRUE(mpfr_equal_p(product.get(), real<F>(a).get()));
    ASSERT_EQ(biased_exponent<F>(m), F::bias - 1); // in [1/2, 1)
  });
}

TYPED_TEST(Arithmetic, fractions_lie_between_zero_and_one) {
  using F = TypeParam;
  constexpr auto one = typename F::Bits(typename F::Bits(F::bias) << F::fraction_bits);
  over_values<F>([](auto a, auto, auto, const Environment& e) {
    const auto r = fraction<F>(a, e);
    ASSERT_TRUE(r < one || r == F::sign) << std::hex << +a;
  });
  EXPECT_EQ(fraction<F>(typename F::Bits(F::sign | 1), {}), one - 1); // 1 - tiny
}

TYPED_TEST(Arithmetic, invalid_operations_give_the_default_nan) {
  using F = TypeParam;
  const auto infinity = F::infinity, minus = typename F::Bits(F::sign | F::infinity);
  const typename F::Bits zero = 0, one = typename F::Bits(typename F::Bits(F::bias) << F::fraction_bits);
  EXPECT_EQ(add<F>(infinity, minus, {}), F::nan);
  EXPECT_EQ(multiply<F>(infinity, zero, {}), F::nan);
  EXPECT_EQ(fma<F>(zero, minus, one, {}), F::nan);
  EXPECT_EQ(fma<F>(one, infinity, minus, {}), F::nan);
  EXPECT_EQ(multiply_legacy<F>(infinity, zero, {}), 0);
}

TYPED_TEST(Arithmetic, nans_keep_their_payload_and_are_quieted_in_ieee_mode) {
  using F = TypeParam;
  const auto signalling = typename F::Bits(F::infinity | 1),
             quiet_ = typename F::Bits(F::sign | F::infinity | F::quiet_bit | 2);
  const auto one = typename F::Bits(typename F::Bits(F::bias) << F::fraction_bits);
  EXPECT_EQ(add<F>(one, signalling, {.ieee = true}), typename F::Bits(signalling | F::quiet_bit));
  EXPECT_EQ(add<F>(one, signalling, {.ieee = false}), signalling);
  EXPECT_EQ(multiply<F>(quiet_, signalling, {.ieee = true}), quiet_);
  EXPECT_EQ(subtract<F>(one, quiet_, {.ieee = true}), quiet_);
  EXPECT_EQ(fma<F>(one, one, quiet_, {.ieee = true}), quiet_);
}

TYPED_TEST(Arithmetic, minimum_and_maximum_order_zeros_and_prefer_numbers) {
  using F = TypeParam;
  using Bits = typename F::Bits;
  const Bits one = Bits(Bits(F::bias) << F::fraction_bits), plus = 0, minus = F::sign;
  const Bits quiet_ = Bits(F::infinity | F::quiet_bit), signalling = Bits(F::infinity | 1);
  for (bool ieee : {false, true}) {
    const Environment e{.ieee = ieee};
    EXPECT_EQ(minimum<F>(plus, minus, e), minus);
    EXPECT_EQ(minimum<F>(minus, plus, e), minus);
    EXPECT_EQ(maximum<F>(plus, minus, e), plus);
    EXPECT_EQ(maximum<F>(minus, plus, e), plus);
    EXPECT_EQ(minimum<F>(quiet_, one, e), one);
    EXPECT_EQ(maximum<F>(one, quiet_, e), one);
    EXPECT_EQ(maximum<F>(one, signalling, e), ieee ? Bits(signalling | F::quiet_bit) : one);
    EXPECT_EQ(minimum<F>(signalling, one, e), ieee ? Bits(signalling | F::quiet_bit) : one);
    EXPECT_EQ(median3<F>(one, Bits(F::sign | one), plus, e), plus);
    EXPECT_EQ(median3<F>(quiet_, one, minus, e), minus); // the minimum of the numbers
    EXPECT_EQ((extreme_or_nan<F, true>(one, quiet_, e)), quiet_);
  }
  const Bits tiny = 1;
  EXPECT_EQ(maximum<F>(tiny, minus, {.flush_inputs = true}), plus);
}

TYPED_TEST(Arithmetic, classes_are_told_apart) {
  using F = TypeParam;
  using Bits = typename F::Bits;
  const Bits one = Bits(Bits(F::bias) << F::fraction_bits);
  const std::pair<Bits, int> expected[] = {{Bits(F::infinity | 1), 0},
                                           {Bits(F::nan), 1},
                                           {Bits(F::sign | F::infinity), 2},
                                           {Bits(F::sign | one), 3},
                                           {Bits(F::sign | 1), 4},
                                           {F::sign, 5},
                                           {0, 6},
                                           {1, 7},
                                           {one, 8},
                                           {F::infinity, 9}};
  for (auto [bits, number] : expected) EXPECT_EQ(class_bit<F>(bits), 1u << number);
}

TEST(Numeric, output_modifiers_scale_then_clamp) {
  EXPECT_EQ(scale_output<Binary32>(0x3f800000, 1, {}), 0x40000000u);
  EXPECT_EQ(scale_output<Binary32>(0x3f800000, 2, {}), 0x40800000u);
  EXPECT_EQ(scale_output<Binary32>(0x3f800000, 3, {}), 0x3f000000u);
  EXPECT_EQ(scale_output<Binary32>(0x7f000000, 2, {}), 0x7f800000u);
  EXPECT_EQ(scale_output<Binary32>(0x00800000, 3, {}), 0u); // subnormal results are flushed
  EXPECT_EQ(clamp_unit<Binary32>(0x40000000, true), 0x3f800000u);
  EXPECT_EQ(clamp_unit<Binary32>(0xbf800000, true), 0u);
  EXPECT_EQ(clamp_unit<Binary32>(0x7fc00000, true), 0u);
  EXPECT_EQ(clamp_unit<Binary32>(0x7fc00000, false), 0x7fc00000u);
}

// Conversions ---------------------------------------------------------------------------------------------------------

template <class To, class From> void check_conversion() {
  std::mt19937_64 random(7);
  for (int n = 0; n < 4000; ++n) {
    const auto x = model::interesting<From>(random, false);
    for (Round round : rounds)
      for (bool flush : {false, true})
        ASSERT_EQ((convert<To, From>(x, {round, false, flush, true})),
                  model::rounded<To>(real<From>(x), round, flush, (x & From::sign) != 0))
            << std::hex << +x;
  }
}
TEST(Numeric, float_formats_convert_with_one_rounding) {
  check_conversion<Binary16, Binary32>();
  check_conversion<Bfloat16, Binary32>();
  check_conversion<Binary32, Binary16>();
  check_conversion<Binary32, Binary64>();
  check_conversion<Binary64, Binary32>();
  check_conversion<Bf8Ocp, Binary32>();
  check_conversion<Bf8Ocp, Binary16>();
}

TEST(Numeric, nans_survive_conversion) {
  const Environment e{.ieee = true};
  EXPECT_EQ((convert<Binary32, Binary16>(0xfe01, e)), 0xffc02000u);
  EXPECT_EQ((convert<Binary16, Binary32>(0x7f800001, e)), 0x7e00u); // the payload is gone, the NaN is not
  EXPECT_EQ((convert<Binary32, Binary64>(0x7ff0000000000001, {})), 0x7fc00000u);
  EXPECT_EQ((convert<Fp8Fnuz, Binary32>(0x7fc00000, e)), 0x80u);
  EXPECT_EQ((convert<Fp8Ocp, Binary32>(0xffc00000, e)), 0xffu);
  EXPECT_EQ((convert<Binary32, Fp8Fnuz>(0x80, e)), Binary32::nan);
}

/// Every code of a small format, converted up and back.
template <class F> void check_small(double one_code_value, typename F::Bits code_of_one) {
  const Environment e{.ieee = true};
  EXPECT_EQ(float_of(convert<Binary32, F>(code_of_one, e)), one_code_value);
  std::vector<std::pair<double, unsigned>> numbers;
  for (unsigned code = 0; code < 1u << F::width; ++code) {
    const auto bits = typename F::Bits(code);
    if (is_nan<F>(bits)) continue;
    const uint32_t wide = convert<Binary32, F>(bits, e);
    EXPECT_EQ((convert<F, Binary32>(wide, e)), bits) << std::hex << code;
    if (!is_infinity<F>(bits)) {
      EXPECT_EQ(double(float_of(wide)), mpfr_get_d(real<F>(bits).get(), MPFR_RNDN)) << std::hex << code;
      if (!(code & F::sign)) numbers.emplace_back(float_of(wide), code);
    }
  }
  // Nearest even between neighbours.
  std::sort(numbers.begin(), numbers.end());
  for (size_t k = 1; k < numbers.size(); ++k) {
    const auto [low, low_code] = numbers[k - 1];
    const auto [high, high_code] = numbers[k];
    const double middle = (low + high) / 2;
    EXPECT_EQ((convert<F, Binary32>(bits_of(float(middle)), e)), low_code & 1 ? high_code : low_code);
    EXPECT_EQ((convert<F, Binary32>(bits_of(std::nextafter(float(middle), 1e9f)), e)), high_code);
    EXPECT_EQ((convert<F, Binary32>(bits_of(std::nextafter(float(middle), -1e9f)), e)), low_code);
  }
}
TEST(Numeric, eight_bit_and_smaller_formats_are_complete) {
  check_small<Fp8Ocp>(1.0, 0x38);
  check_small<Bf8Ocp>(1.0, 0x3c);
  check_small<Fp8Fnuz>(1.0, 0x40);
  check_small<Bf8Fnuz>(1.0, 0x40);
  check_small<Fp6>(1.0, 0x08);
  check_small<Bf6>(1.0, 0x0c);
  check_small<Fp4>(1.0, 0x02);
}
TEST(Numeric, small_formats_have_their_published_ranges) {
  const Environment e{};
  EXPECT_EQ(float_of(convert<Binary32, Fp8Ocp>(Fp8Ocp::largest, e)), 448.0f);
  EXPECT_EQ(float_of(convert<Binary32, Fp8Fnuz>(Fp8Fnuz::largest, e)), 240.0f);
  EXPECT_EQ(float_of(convert<Binary32, Bf8Ocp>(Bf8Ocp::largest, e)), 57344.0f);
  EXPECT_EQ(float_of(convert<Binary32, Bf8Fnuz>(Bf8Fnuz::largest, e)), 57344.0f);
  EXPECT_EQ(float_of(convert<Binary32, Fp6>(Fp6::largest, e)), 7.5f);
  EXPECT_EQ(float_of(convert<Binary32, Bf6>(Bf6::largest, e)), 28.0f);
  EXPECT_EQ(float_of(convert<Binary32, Fp4>(Fp4::largest, e)), 6.0f);
  EXPECT_EQ((convert<Fp8Fnuz, Binary32>(bits_of(-0.0f), e)), 0u); // no negative zero
  EXPECT_EQ((convert<Fp8Fnuz, Binary32>(bits_of(1000.0f), e)), 0x80u);
  EXPECT_EQ((convert<Fp8Fnuz, Binary32>(bits_of(1000.0f), e, false, true)), 0x7fu);
  EXPECT_EQ((convert<Fp8Ocp, Binary32>(bits_of(1000.0f), e)), 0x7fu);
  EXPECT_EQ((convert<Bf8Ocp, Binary32>(bits_of(1e6f), e)), 0x7cu);
}

TEST(Numeric, integers_saturate_and_nan_is_zero) {
  const auto i32 = [](double x) { return to_integer<int32_t, Binary64>(bits_of(x), Round::zero); };
  const auto u32 = [](double x) { return to_integer<uint32_t, Binary64>(bits_of(x), Round::zero); };
  EXPECT_EQ(i32(2147483647.5), 2147483647);
  EXPECT_EQ(i32(2147483648.0), 2147483647);
  EXPECT_EQ(i32(-2147483648.5), -2147483647 - 1);
  EXPECT_EQ(i32(-1.9), -1);
  EXPECT_EQ(u32(-1.0), 0u);
  EXPECT_EQ(u32(4294967295.9), 4294967295u);
  EXPECT_EQ(u32(1e300), 4294967295u);
  EXPECT_EQ((to_integer<int32_t, Binary64>(Binary64::nan, Round::zero)), 0);
  EXPECT_EQ((to_integer<uint8_t, Binary32>(bits_of(2.5f), Round::nearest_even)), 2);
  EXPECT_EQ((to_integer<uint8_t, Binary32>(bits_of(300.0f), Round::nearest_even)), 255);
  EXPECT_EQ(to_integer_half_up<Binary32>(bits_of(0x1.fffffep-2f)), 0); // 0.5 - 2^-25: the float sum would round to 1
  EXPECT_EQ(to_integer_half_up<Binary32>(bits_of(-2.5f)), -2);
  EXPECT_EQ((to_normalised<int16_t, Binary32>(bits_of(-1.0f))), -32767);
  EXPECT_EQ((to_normalised<uint16_t, Binary32>(bits_of(0.5f))), 32768);
  EXPECT_EQ(float_of(offset_of_nibble(8)), -0.5f);
}

TEST(Numeric, integers_become_floats_in_every_rounding_mode) {
  std::mt19937_64 random(3);
  for (int n = 0; n < 3000; ++n) {
    const int64_t x = int64_t(random()) >> (random() % 64);
    for (Round round : rounds) {
      Real value;
      mpfr_set_sj(value.get(), x, MPFR_RNDN);
      ASSERT_EQ((from_integer<Binary32>(x, {round})), model::rounded<Binary32>(value, round, false, false));
      ASSERT_EQ((from_integer<Binary16>(x, {round})), model::rounded<Binary16>(value, round, false, false));
    }
  }
}

TEST(Numeric, stochastic_rounding_goes_up_as_often_as_the_rest_is_large) {
  // 1 + 3/4 of bf16's last place: three quarters of the random words round up.
  const uint32_t x = 0x3f80c000;
  unsigned up = 0;
  for (uint32_t k = 0; k < 1024; ++k) up += convert_stochastic<Bfloat16, Binary32>(x, k << 22, false) == 0x3f81;
  EXPECT_EQ(up, 768u);
  EXPECT_EQ((convert_dithered<Fp8Fnuz>(bits_of(1.0f), 0, false)), 0x40u);
}

// Division ------------------------------------------------------------------------------------------------------------

/// n / d the way compilers expand it.
template <class F> typename F::Bits divide(typename F::Bits n, typename F::Bits d, const Environment& e) {
  using Bits = typename F::Bits;
  const auto minus = [](Bits x) { return negate<F>(x); };
  const Bits one = Bits(Bits(F::bias) << F::fraction_bits);
  const auto scaled_d = div_scale<F>(d, d, n, e), scaled_n = div_scale<F>(n, d, n, e);
  Bits r = F::width == 32 ? approximate<Reciprocal, F>(scaled_d.value, without_subnormals(e))
                          : approximate<Reciprocal, F>(scaled_d.value, e);
  const int steps = F::width == 32 ? 1 : 2;
  for (int k = 0; k < steps; ++k) r = fma<F>(fma<F>(minus(scaled_d.value), r, one, e), r, r, e);
  Bits q = multiply<F>(scaled_n.value, r, e);
  if (F::width == 32) q = fma<F>(fma<F>(minus(scaled_d.value), q, scaled_n.value, e), r, q, e);
  const Bits error = fma<F>(minus(scaled_d.value), q, scaled_n.value, e);
  return div_fixup<F>(div_fmas<F>(error, r, q, scaled_n.post_scale, e), d, n, e);
}
template <class F> void check_division() {
  std::mt19937_64 random(11);
  for (int n = 0; n < 60000; ++n) {
    const auto a = model::interesting<F>(random), b = model::interesting<F>(random);
    const Environment e{.ieee = true};
    const auto got = divide<F>(a, b, e);
    typename F::Bits expected;
    if (is_nan<F>(a))
      expected = quiet<F>(a);
    else if (is_nan<F>(b))
      expected = quiet<F>(b);
    else {
      using T = std::conditional_t<F::width == 32, float, double>;
      const T q = std::bit_cast<T>(a) / std::bit_cast<T>(b);
      expected = q != q ? F::nan : std::bit_cast<typename F::Bits>(q);
    }
    // One unit in the last place where the quotient is subnormal: it is rounded twice, by design of the sequence.
    const bool tiny = biased_exponent<F>(expected) == 0;
    ASSERT_LE(got > expected ? got - expected : expected - got, typename F::Bits(tiny ? 1 : 0))
        << std::hex << a << " / " << b << " = " << expected << " got " << got;
  }
}
TEST(Numeric, the_compiled_division_sequence_divides_correctly_in_f32) { check_division<Binary32>(); }
TEST(Numeric, the_compiled_division_sequence_divides_correctly_in_f64) { check_division<Binary64>(); }

// Approximate functions ----------------------------------------------------------------------------------------------

/// Largest error in units of the last place, over normal results.
template <class Function, class F, class Truth> double worst_ulp(Truth truth, float low, float high) {
  std::mt19937_64 random(13);
  double worst = 0;
  Real exact_holder, got_holder;
  mpfr_ptr exact = exact_holder.get(), got = got_holder.get();
  mpfr_set_prec(exact, 200), mpfr_set_prec(got, 200);
  for (int n = 0; n < 20000; ++n) {
    float x;
    if (n % 2)
      x = low + (high - low) * float(random() % 0x1000000) * 0x1p-24f;
    else
      do x = float_of(uint32_t(random()));
      while (!(x >= low && x <= high));
    const auto code = convert<F, Binary32>(bits_of(x), {});
    const auto r = approximate<Function, F>(code, without_subnormals({}));
    if (biased_exponent<F>(r) == 0 || is_nan<F>(r) || is_infinity<F>(r)) continue;
    const Real argument = real<F>(code), result = real<F>(r);
    mpfr_set(exact, argument.get(), MPFR_RNDN);
    truth(exact);
    mpfr_set(got, result.get(), MPFR_RNDN);
    mpfr_sub(exact, exact, got, MPFR_RNDN);
    mpfr_mul_2si(exact, exact, F::fraction_bits - (biased_exponent<F>(r) - F::bias), MPFR_RNDN);
    worst = std::max(worst, std::fabs(mpfr_get_d(exact, MPFR_RNDN)));
  }
  return worst;
}
TEST(Numeric, approximate_functions_stay_within_half_an_ulp_and_a_bit) {
  const auto turns = [](mpfr_ptr x) {
    mpfr_t pi;
    mpfr_init2(pi, 300);
    mpfr_const_pi(pi, MPFR_RNDN);
    mpfr_mul(x, x, pi, MPFR_RNDN);
    mpfr_mul_2si(x, x, 1, MPFR_RNDN);
    mpfr_clear(pi);
  };
  EXPECT_LT((worst_ulp<Exp2, Binary32>([](mpfr_ptr x) { mpfr_exp2(x, x, MPFR_RNDN); }, -126, 128)), 0.51);
  EXPECT_LT((worst_ulp<Log2, Binary32>([](mpfr_ptr x) { mpfr_log2(x, x, MPFR_RNDN); }, 1e-37f, 1e38f)), 0.51);
  EXPECT_LT((worst_ulp<Log2, Binary32>([](mpfr_ptr x) { mpfr_log2(x, x, MPFR_RNDN); }, 0.9f, 1.1f)), 0.51);
  EXPECT_LT((worst_ulp<Reciprocal, Binary32>([](mpfr_ptr x) { mpfr_ui_div(x, 1, x, MPFR_RNDN); }, -1e30f, 1e30f)),
            0.51);
  EXPECT_LT((worst_ulp<ReciprocalRoot, Binary32>([](mpfr_ptr x) { mpfr_rec_sqrt(x, x, MPFR_RNDN); }, 1e-37f, 1e38f)),
            0.51);
  EXPECT_LT((worst_ulp<Root, Binary32>([](mpfr_ptr x) { mpfr_sqrt(x, x, MPFR_RNDN); }, 1e-37f, 1e38f)), 0.51);
  EXPECT_LT((worst_ulp<Sine, Binary32>([&](mpfr_ptr x) { turns(x), mpfr_sin(x, x, MPFR_RNDN); }, -1.0f, 1.0f)), 0.51);
  EXPECT_LT((worst_ulp<Cosine, Binary32>([&](mpfr_ptr x) { turns(x), mpfr_cos(x, x, MPFR_RNDN); }, -256.0f, 256.0f)),
            0.51);
  EXPECT_LT((worst_ulp<Exp2, Binary16>([](mpfr_ptr x) { mpfr_exp2(x, x, MPFR_RNDN); }, -14, 15)), 0.51);
}

TEST(Numeric, approximate_functions_follow_the_manual_for_special_values) {
  const auto f32 = [](auto function, uint32_t x) {
    return approximate<decltype(function), Binary32>(x, without_subnormals({.ieee = true}));
  };
  EXPECT_EQ(f32(Exp2{}, 0xff800000), 0u);
  EXPECT_EQ(f32(Exp2{}, 0x80000000), 0x3f800000u);
  EXPECT_EQ(f32(Exp2{}, 0x7f800000), 0x7f800000u);
  EXPECT_EQ(f32(Exp2{}, bits_of(-127.0f)), 0u); // 2^-127 is subnormal
  EXPECT_EQ(f32(Exp2{}, bits_of(-126.0f)), 0x00800000u);
  EXPECT_EQ(f32(Log2{}, 0xff800000), 0xffc00000u);
  EXPECT_EQ(f32(Log2{}, 0xbf800000), 0xffc00000u);
  EXPECT_EQ(f32(Log2{}, 0x80000000), 0xff800000u);
  EXPECT_EQ(f32(Log2{}, 0x3f800000), 0u);
  EXPECT_EQ(f32(Log2{}, 0x00000001), 0xff800000u); // subnormal reads as zero
  EXPECT_EQ(f32(Reciprocal{}, 0xff800000), 0x80000000u);
  EXPECT_EQ(f32(Reciprocal{}, 0xc0000000), 0xbf000000u);
  EXPECT_EQ(f32(Reciprocal{}, 0x80000000), 0xff800000u);
  EXPECT_EQ(f32(Reciprocal{}, 0x80000001), 0xff800000u);
  EXPECT_EQ(f32(Reciprocal{}, 0x7f000001), 0u); // 2^-127: subnormal
  EXPECT_EQ(f32(ReciprocalRoot{}, 0x80000000), 0xff800000u);
  EXPECT_EQ(f32(ReciprocalRoot{}, 0x40800000), 0x3f000000u);
  EXPECT_EQ(f32(ReciprocalRoot{}, 0xff800000), 0xffc00000u);
  EXPECT_EQ(f32(Root{}, 0x80000000), 0x80000000u);
  EXPECT_EQ(f32(Root{}, 0xbf800000), 0xffc00000u);
  EXPECT_EQ(f32(Sine{}, 0xff7fffff), 0u);
  EXPECT_EQ(f32(Sine{}, 0x80000000), 0x80000000u);
  EXPECT_EQ(f32(Sine{}, 0x3e800000), 0x3f800000u);
  EXPECT_EQ(f32(Sine{}, 0x7f800000), 0xffc00000u);
  EXPECT_EQ(f32(Cosine{}, 0xff7fffff), 0x3f800000u);
  EXPECT_EQ(f32(Cosine{}, 0x3e800000), 0u);
  EXPECT_EQ((approximate<Sine, Binary16>(0x7bff, {})), 0u);
  EXPECT_EQ((approximate<Cosine, Binary16>(0xfbff, {})), 0x3c00u);
}

} // namespace
} // namespace asmevo::machine
