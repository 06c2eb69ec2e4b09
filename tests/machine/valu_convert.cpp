// Conversions over lanes against MPFR, in every rounding and denormal mode, and small floats against a search.
#include "float_model.h"
#include "small_floats.h"

#include <bit>

namespace asmevo::machine {
namespace {

using namespace model;
using isa::Processor;
using numeric::Bfloat16;

/// What a conversion needs of MODE: f32's fields and those of f16 and f64.
struct Modes {
  uint32_t bits;
  Environment single() const { return environment_of<Binary32>(bits); }
  Environment other() const { return environment_of<Binary64>(bits); }
};
struct Case {
  std::string_view mnemonic;
  std::function<uint64_t(std::mt19937_64&)> source;
  std::function<uint64_t(uint64_t, uint64_t, const Modes&)> model;
  unsigned width = 32;
  Processor processor = Processor::gfx942;
};

// Sources: what is interesting in the format, and values around the limits of what it is converted to.
uint64_t any_f16(std::mt19937_64& r) { return interesting<Binary16>(r); }
uint64_t any_f32(std::mt19937_64& r) {
  static constexpr float limits[] = {2147483647.0f, 2147483520.0f, -2147483648.0f, 4294967040.0f, 4294967296.0f,
                                     65535.5f,      -0.5f,         0.5f,           1.5f,          2.5f,
                                     -1.5f,         32767.5f,      255.5f,         65504.0f,      65519.99f,
                                     65520.0f,      0x1p-24f,      0x1p-25f,       0x1.8p-25f,    0x1.fffffep-2f};
  return r() % 3 ? uint64_t{interesting<Binary32>(r)} : std::bit_cast<uint32_t>(limits[r() % std::size(limits)]);
}
uint64_t any_f64(std::mt19937_64& r) {
  static constexpr double limits[] = {2147483647.5, 2147483648.0, -2147483648.9,         -2147483649.0,  4294967295.5,
                                      4294967296.0, -0.9,         3.4028235677973366e38, 0x1.ffffffp-127};
  return r() % 3 ? uint64_t{interesting<Binary64>(r)} : std::bit_cast<uint64_t>(limits[r() % std::size(limits)]);
}
uint64_t any_integer(std::mt19937_64& r) { return r() >> (r() % 64) ^ (r() % 2 ? ~uint64_t{0} : 0); }

using ToIntegral = int (*)(mpfr_ptr, mpfr_srcptr);
int half_up(mpfr_ptr out, mpfr_srcptr x) {
  mpfr_add_d(out, x, 0.5, MPFR_RNDN);
  return mpfr_floor(out, out);
}
/// A float as an integer between `low` and `high`; a NaN is 0.
template <class F> int64_t integer(uint64_t x, ToIntegral f, int64_t low, int64_t high) {
  Real r = number<F>(typename F::Bits(x));
  if (mpfr_nan_p(r.get())) return 0;
  f(r.get(), r.get());
  if (mpfr_cmp_si(r.get(), low) < 0) return low;
  if (mpfr_cmp_si(r.get(), high) > 0) return high;
  return mpfr_get_si(r.get(), MPFR_RNDN);
}
template <class F, class Integer> uint64_t truncated(uint64_t x) {
  return std::make_unsigned_t<Integer>(
      integer<F>(x, mpfr_trunc, std::numeric_limits<Integer>::min(), std::numeric_limits<Integer>::max()));
}
/// An integer as a float.
template <class F> uint64_t floating(int64_t x, const Environment& e) {
  Real r;
  mpfr_set_sj(r.get(), x, MPFR_RNDN);
  return code<F>(r, e);
}
/// Between float formats. A NaN keeps its sign and the top of its payload; it is quieted in IEEE mode, and where
/// nothing of the payload is left.
template <class To, class From> typename To::Bits converted(uint64_t bits, const Environment& e, bool flush_source) {
  const auto x = typename From::Bits(bits);
  if (nan_code<From>(x)) {
    const int up = To::fraction_bits - From::fraction_bits;
    const uint64_t payload = x & From::fraction_mask;
    uint64_t fraction = up >= 0 ? payload << up : payload >> -up;
    if (e.ieee || !fraction) fraction |= To::quiet_bit;
    return typename To::Bits((x & From::sign ? To::sign : 0) | To::infinity | fraction);
  }
  Environment source = e;
  source.flush_inputs = flush_source;
  return code<To>(number<From>(source_code<From>(x, source)), e);
}
/// Two values in the halves of a word.
uint32_t halves(uint32_t low, uint32_t high) { return (low & 0xffff) | high << 16; }
template <class F> uint32_t normalised(uint64_t x, bool is_signed) {
  Real r = number<F>(typename F::Bits(x));
  if (mpfr_nan_p(r.get())) return 0;
  const double low = is_signed ? -1 : 0;
  if (mpfr_cmp_d(r.get(), 1) > 0) mpfr_set_d(r.get(), 1, MPFR_RNDN);
  if (mpfr_cmp_d(r.get(), low) < 0) mpfr_set_d(r.get(), low, MPFR_RNDN);
  mpfr_mul_ui(r.get(), r.get(), is_signed ? 32767 : 65535, MPFR_RNDN);
  mpfr_roundeven(r.get(), r.get());
  return uint32_t(mpfr_get_si(r.get(), MPFR_RNDN)) & 0xffff;
}
uint32_t f32_bits(double x) { return std::bit_cast<uint32_t>(float(x)); }
uint64_t widened(const SmallFloat& small, uint64_t x) {
  const unsigned c = unsigned(x) & 0xff;
  if (small.is_number(c)) return f32_bits(small.value(c));
  if (small.is_infinity(c)) return c & small.sign() ? 0xff800000 : 0x7f800000;
  return Binary32::nan; // any NaN
}

Case half_pair(std::string_view name, Processor on, auto half) {
  return {name, any_f32, [=](auto x, auto y, auto& m) { return halves(half(x, m), half(y, m)); }, 32, on};
}
Case small_case(const SmallFloat& small, Processor on) {
  return {small.name[0] == 'f' ? "v_cvt_f32_fp8" : "v_cvt_f32_bf8", any_integer,
          [&](auto x, auto, auto&) { return widened(small, x); }, 32, on};
}
Case small_pair(const SmallFloat& small, Processor on) {
  return {small.name[0] == 'f' ? "v_cvt_pk_f32_fp8" : "v_cvt_pk_f32_bf8", any_integer,
          [&](auto x, auto, auto&) { return widened(small, x) | widened(small, x >> 8) << 32; }, 64, on};
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = [] {
    constexpr auto i32 = std::numeric_limits<int32_t>{};
    std::vector<Case> c = {
        {"v_cvt_i32_f32", any_f32, [](auto x, auto, auto&) { return truncated<Binary32, int32_t>(x); }},
        {"v_cvt_u32_f32", any_f32, [](auto x, auto, auto&) { return truncated<Binary32, uint32_t>(x); }},
        {"v_cvt_i32_f64", any_f64, [](auto x, auto, auto&) { return truncated<Binary64, int32_t>(x); }},
        {"v_cvt_u32_f64", any_f64, [](auto x, auto, auto&) { return truncated<Binary64, uint32_t>(x); }},
        {"v_cvt_i16_f16", any_f16, [](auto x, auto, auto&) { return truncated<Binary16, int16_t>(x); }},
        {"v_cvt_u16_f16", any_f16, [](auto x, auto, auto&) { return truncated<Binary16, uint16_t>(x); }},
        {"v_cvt_flr_i32_f32", any_f32,
         [=](auto x, auto, auto& m) {
           return uint32_t(
               integer<Binary32>(source_code<Binary32>(uint32_t(x), m.single()), mpfr_floor, i32.min(), i32.max()));
         }},
        {"v_cvt_rpi_i32_f32", any_f32,
         [=](auto x, auto, auto&) { return uint32_t(integer<Binary32>(x, half_up, i32.min(), i32.max())); }},
        {"v_cvt_f32_i32", any_integer,
         [](auto x, auto, auto& m) { return floating<Binary32>(int32_t(x), m.single()); }},
        {"v_cvt_f32_u32", any_integer,
         [](auto x, auto, auto& m) { return floating<Binary32>(uint32_t(x), m.single()); }},
        {"v_cvt_f64_i32", any_integer, [](auto x, auto, auto& m) { return floating<Binary64>(int32_t(x), m.other()); },
         64},
        {"v_cvt_f64_u32", any_integer, [](auto x, auto, auto& m) { return floating<Binary64>(uint32_t(x), m.other()); },
         64},
        {"v_cvt_f16_i16", any_integer, [](auto x, auto, auto& m) { return floating<Binary16>(int16_t(x), m.other()); }},
        {"v_cvt_f16_u16", any_integer,
         [](auto x, auto, auto& m) { return floating<Binary16>(uint16_t(x), m.other()); }},
        {"v_cvt_f32_ubyte0", any_integer, [](auto x, auto, auto&) { return f32_bits(double(x & 255)); }},
        {"v_cvt_f32_ubyte1", any_integer, [](auto x, auto, auto&) { return f32_bits(double(x >> 8 & 255)); }},
        {"v_cvt_f32_ubyte2", any_integer, [](auto x, auto, auto&) { return f32_bits(double(x >> 16 & 255)); }},
        {"v_cvt_f32_ubyte3", any_integer, [](auto x, auto, auto&) { return f32_bits(double(x >> 24 & 255)); }},
        {"v_cvt_f16_f32", any_f32,
         [](auto x, auto, auto& m) { return converted<Binary16, Binary32>(x, m.other(), m.single().flush_inputs); }},
        {"v_cvt_f32_f16", any_f16,
         [](auto x, auto, auto& m) { return converted<Binary32, Binary16>(x, m.single(), m.other().flush_inputs); }},
        {"v_cvt_f32_f64", any_f64,
         [](auto x, auto, auto& m) { return converted<Binary32, Binary64>(x, m.single(), m.other().flush_inputs); }},
        {"v_cvt_f64_f32", any_f32,
         [](auto x, auto, auto& m) { return converted<Binary64, Binary32>(x, m.other(), m.single().flush_inputs); },
         64},
        // A nibble is a number of sixteenths.
        {"v_cvt_off_f32_i4", any_integer,
         [](auto x, auto, auto&) { return f32_bits((int(x & 15) - (x & 8 ? 16 : 0)) / 16.0); }},
        {"v_cvt_norm_i16_f16", any_f16, [](auto x, auto, auto&) { return normalised<Binary16>(x, true); }},
        {"v_cvt_norm_u16_f16", any_f16, [](auto x, auto, auto&) { return normalised<Binary16>(x, false); }},
        half_pair("v_cvt_pknorm_i16_f32", Processor::gfx942,
                  [](auto x, auto&) { return normalised<Binary32>(x, true); }),
        half_pair("v_cvt_pknorm_u16_f32", Processor::gfx942,
                  [](auto x, auto&) { return normalised<Binary32>(x, false); }),
        half_pair("v_cvt_pknorm_i16_f16", Processor::gfx942,
                  [](auto x, auto&) { return normalised<Binary16>(x, true); }),
        half_pair("v_cvt_pknorm_u16_f16", Processor::gfx942,
                  [](auto x, auto&) { return normalised<Binary16>(x, false); }),
        // Toward zero whatever MODE says: what is finite stays finite.
        half_pair("v_cvt_pkrtz_f16_f32", Processor::gfx942,
                  [](auto x, auto& m) {
                    return converted<Binary16, Binary32>(
                        x, {numeric::Round::zero, false, m.other().flush_outputs, true}, false);
                  }),
        half_pair("v_cvt_pk_f16_f32", Processor::gfx950,
                  [](auto x, auto& m) {
                    return converted<Binary16, Binary32>(
                        x, {numeric::Round::nearest_even, false, m.other().flush_outputs, true}, false);
                  }),
        half_pair("v_cvt_pk_bf16_f32", Processor::gfx950,
                  [](auto x, auto&) { return converted<Bfloat16, Binary32>(x, {.ieee = true}, false); }),
        {"v_cvt_f32_bf16", any_integer, [](auto x, auto, auto&) { return uint32_t(x) << 16; }, 32, Processor::gfx950},
    };
    for (const auto& [fp8, bf8, on] :
         {std::tuple{&fp8_fnuz, &bf8_fnuz, Processor::gfx942}, std::tuple{&fp8_ocp, &bf8_ocp, Processor::gfx950}})
      for (const SmallFloat* small : {fp8, bf8})
        c.push_back(small_case(*small, on)), c.push_back(small_pair(*small, on));
    return c;
  }();
  return all;
}

bool same_floats(uint64_t got, uint64_t wanted) {
  const auto same = [](uint32_t g, uint32_t w) { return g == w || (w == Binary32::nan && nan_code<Binary32>(g)); };
  return same(uint32_t(got), uint32_t(wanted)) && same(uint32_t(got >> 32), uint32_t(wanted >> 32));
}

TEST(ValuConvert, EveryConversionIsExactInEveryMode) {
  std::mt19937_64 random(23);
  std::vector<uint32_t> modes = every_mode<Binary32>();
  for (const uint32_t mode : every_mode<Binary64>()) modes.push_back(mode);
  for (const Case& c : cases()) {
    for (const uint32_t mode : modes) {
      Lanes lanes;
      lanes.wave.mode = mode;
      for (unsigned k = 0; k < 2; ++k)
        for (unsigned i = 0; i < machine::lanes; ++i) lanes.set(k, i, c.source(random));
      lanes.run(c.mnemonic, c.processor);
      for (unsigned i = 0; i < machine::lanes; ++i) {
        const auto operand = [&](unsigned k) {
          return uint64_t{lanes.source(k, 1).lane[i]} << 32 | lanes.source(k).lane[i];
        };
        const uint64_t got = c.width == 64 ? lanes.result64(i) : lanes.result().lane[i];
        const uint64_t wanted = c.model(operand(0), operand(1), Modes{mode});
        ASSERT_TRUE(got == wanted || same_floats(got, wanted))
            << c.mnemonic << std::hex << " mode " << mode << " " << operand(0) << " " << operand(1) << ": " << got
            << ", not " << wanted;
      }
    }
    note_tested(c.mnemonic, c.processor);
  }
}

TEST(ValuConvert, SmallFloatsAreNearestAndOverflowAsTheirFormatCan) {
  std::mt19937_64 random(31);
  for (const auto& [small, on] : {std::pair{&fp8_fnuz, Processor::gfx942},
                                  {&bf8_fnuz, Processor::gfx942},
                                  {&fp8_ocp, Processor::gfx950},
                                  {&bf8_ocp, Processor::gfx950}}) {
    const std::string mnemonic = fmt::format("v_cvt_pk_{}_f32", small->name);
    for (const bool saturate : {false, true})
      for (const bool high : {false, true})
        for (int n = 0; n < 40; ++n) {
          Lanes lanes;
          lanes.wave.mode = usual_mode | (saturate ? mode::fp16_overflow : 0);
          for (unsigned k = 0; k < 2; ++k)
            for (unsigned i = 0; i < machine::lanes; ++i) {
              const unsigned magnitude = unsigned(random() % small->magnitudes());
              const float x = float(small->value(magnitude) * (random() % 2 ? -1 : 1)); // itself, a tie, or beside one
              const float y = n % 3 == 0 ? x : float((x + small->value(magnitude + 1)) / 2);
              lanes.set(k, i,
                        n % 4 == 0 ? interesting<Binary32>(random) : f32_bits(y) + (n % 2 ? random() % 3 - 1 : 0));
            }
          for (auto& x : lanes.result().lane) x = 0x11223344;
          lanes.op.modifiers = Modifiers::pack(0b01, 0b10, high ? 8 : 0, 0, 0, 0); // -a, |b|
          lanes.run(mnemonic, on);
          for (unsigned i = 0; i < machine::lanes; ++i) {
            ASSERT_EQ(lanes.result().lane[i] >> (high ? 0 : 16) & 0xffff, high ? 0x3344u : 0x1122u);
            for (unsigned k = 0; k < 2; ++k) {
              const float a = std::bit_cast<float>(lanes.source(k).lane[i]), x = k ? std::fabs(a) : -a;
              const unsigned got = lanes.result().lane[i] >> ((high ? 16 : 0) + 8 * k) & 0xff;
              SCOPED_TRACE(fmt::format("{} of {} is {:#x}", mnemonic, x, got));
              const auto nearest = std::isfinite(x) ? small->nearest(x) : std::nullopt;
              if (nearest)
                ASSERT_EQ(got, *nearest);
              else if (std::isnan(x))
                ASSERT_FALSE(small->is_number(got) || small->is_infinity(got));
              else if (saturate)
                ASSERT_EQ(got, small->with_sign(small->largest(), x));
              else
                ASSERT_TRUE(small->extremes == Extremes::infinity_and_nans ? small->is_infinity(got)
                                                                           : !small->is_number(got));
            }
          }
        }
    note_tested(mnemonic, on);
  }
}

TEST(ValuConvert, ARandomNumberIsAddedToTheFractionBeforeASmallFloatIsRounded) {
  // The manual: the top 20 (FP8) or 21 (BF8) bits of the second source are added to the 23 fraction bits, which wrap;
  // the sum is then converted to nearest even.
  std::mt19937_64 random(37);
  for (const auto& [small, on] : {std::pair{&fp8_fnuz, Processor::gfx942},
                                  {&bf8_fnuz, Processor::gfx942},
                                  {&fp8_ocp, Processor::gfx950},
                                  {&bf8_ocp, Processor::gfx950}}) {
    const std::string mnemonic = fmt::format("v_cvt_sr_{}_f32", small->name);
    for (unsigned byte = 0; byte < 4; ++byte)
      for (int n = 0; n < 10; ++n) {
        Lanes lanes;
        for (unsigned i = 0; i < machine::lanes; ++i) {
          const double x = small->value(unsigned(random() % small->largest())) * (1 + double(random() % 64) / 512);
          lanes.set(0, i, f32_bits(random() % 2 ? -x : x));
          lanes.set(1, i, n == 0 ? 0 : n == 1 ? ~0u : uint32_t(random()));
          lanes.result().lane[i] = 0x11223344;
        }
        lanes.op.modifiers = Modifiers::pack(0, 0, byte << 2, 0, 0, 0);
        lanes.wave.mode = usual_mode | (n % 2 ? mode::fp16_overflow : 0);
        lanes.run(mnemonic, on);
        for (unsigned i = 0; i < machine::lanes; ++i) {
          const uint32_t x = lanes.source(0).lane[i],
                         add = lanes.source(1).lane[i] >> (small->fraction_bits == 3 ? 12 : 11);
          const float moved = std::bit_cast<float>((x & 0xff800000) | ((x + add) & 0x7fffff));
          const unsigned got = lanes.result().lane[i] >> (8 * byte) & 255;
          SCOPED_TRACE(fmt::format("{} of {:#x} + {:#x} is {:#x}", mnemonic, x, add, got));
          ASSERT_EQ(lanes.result().lane[i] & ~(255u << (8 * byte)), 0x11223344u & ~(255u << (8 * byte)));
          if (const auto nearest = small->nearest(moved); nearest || n % 2)
            ASSERT_EQ(got, small->nearest_or_largest(moved));
          else
            ASSERT_FALSE(small->is_number(got));
        }
      }
    note_tested(mnemonic, on);
  }
}

TEST(ValuConvert, HalvesByChanceAreOneOfTheNeighbours) {
  // The low bits that a conversion drops meet a random number of as many bits: none rounds down, all ones round up.
  std::mt19937_64 random(41);
  const auto check = [&]<class To>(To, const std::string& mnemonic) {
    for (const bool high : {false, true})
      for (int n = 0; n < 30; ++n) {
        Lanes lanes;
        for (unsigned i = 0; i < machine::lanes; ++i) {
          lanes.set(0, i, f32_bits(std::ldexp(1 + double(random() % 0x100000) / 0x100000, int(random() % 26) - 12)));
          lanes.set(1, i, n == 0 ? 0 : n == 1 ? ~0u : uint32_t(random()));
          lanes.result().lane[i] = 0x11223344;
        }
        lanes.op.modifiers = Modifiers::pack(n % 2, 0, high ? 8 : 0, 0, 0, 0);
        lanes.run(mnemonic, Processor::gfx950);
        for (unsigned i = 0; i < machine::lanes; ++i) {
          const uint32_t x = lanes.source(0).lane[i] | (n % 2 ? 0x80000000 : 0), word = lanes.result().lane[i];
          const auto got = typename To::Bits(high ? word >> 16 : word);
          const Real exact = number<Binary32>(x);
          const auto low = code<To>(exact, {.round = numeric::Round::zero});
          const auto up = code<To>(exact, {.round = n % 2 ? numeric::Round::down : numeric::Round::up});
          ASSERT_EQ(high ? word & 0xffff : word >> 16, high ? 0x3344u : 0x1122u);
          if (n == 0)
            ASSERT_EQ(got, low) << mnemonic << std::hex << " " << x;
          else if (n == 1)
            ASSERT_EQ(got, up) << mnemonic << std::hex << " " << x;
          else
            ASSERT_TRUE(got == low || got == up) << mnemonic << std::hex << " " << x;
        }
      }
    note_tested(mnemonic, Processor::gfx950);
  };
  check(Binary16{}, "v_cvt_sr_f16_f32");
  check(Bfloat16{}, "v_cvt_sr_bf16_f32");
}

TEST(ValuConvert, BytesAreInsertedWithTheRoundingMode) {
  std::mt19937_64 random(43);
  for (const bool accumulates : {false, true}) {
    const std::string_view mnemonic = accumulates ? "v_cvt_pkaccum_u8_f32" : "v_cvt_pk_u8_f32";
    constexpr ToIntegral directions[] = {mpfr_roundeven, mpfr_ceil, mpfr_floor, mpfr_trunc};
    for (const uint32_t mode : every_mode<Binary32>()) {
      Lanes lanes;
      lanes.wave.mode = mode;
      for (unsigned i = 0; i < machine::lanes; ++i) {
        lanes.set(0, i, random() % 2 ? f32_bits(double(random() % 2100) / 8 - 1) : uint32_t(any_f32(random)));
        lanes.set(1, i, random() & 0xff);
        lanes.set(2, i, random());
        lanes.result().lane[i] = uint32_t(random());
      }
      const Row old = accumulates ? lanes.result() : lanes.source(2);
      lanes.run(mnemonic);
      for (unsigned i = 0; i < machine::lanes; ++i) {
        const unsigned at = 8 * (lanes.source(1).lane[i] & 3);
        const uint32_t byte = uint32_t(integer<Binary32>(lanes.source(0).lane[i], directions[mode & 3], 0, 255));
        ASSERT_EQ(lanes.result().lane[i], (old.lane[i] & ~(255u << at)) | byte << at)
            << mnemonic << std::hex << " " << lanes.source(0).lane[i] << " mode " << mode;
      }
    }
    note_tested(mnemonic, Processor::gfx942);
  }
}

TEST(ValuConvert, HalfOverflowSaturatesWhereTheModeSaysSo) {
  Lanes lanes;
  for (unsigned i = 0; i < machine::lanes; ++i) lanes.set(0, i, i < 32 ? f32_bits(-1e6) : 0xff800000);
  lanes.run("v_cvt_f16_f32");
  EXPECT_EQ(lanes.result().lane[0], 0xfc00u);
  lanes.wave.mode |= mode::fp16_overflow;
  lanes.run("v_cvt_f16_f32");
  EXPECT_EQ(lanes.result().lane[0], 0xfbffu);
  EXPECT_EQ(lanes.result().lane[40], 0xfc00u);
}

} // namespace
} // namespace asmevo::machine
