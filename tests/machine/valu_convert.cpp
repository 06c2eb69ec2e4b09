// Conversions over lanes against numeric/, in every rounding and denormal mode.
#include "numeric_model.h"
#include "valu_fixture.h"

#include "machine/numeric/convert.h"

namespace asmevo::machine {
namespace {

using namespace numeric;
using isa::Processor;

constexpr uint32_t modes[] = {
    0xf0 | mode::ieee, 0x00 | mode::ieee, 0xc0 | mode::ieee, 0x30, 0xff | mode::ieee, 0xf5, 0xfa};

struct Modes {
  uint32_t bits;
  Environment single() const { return {Round(bits & 3), !(bits >> 4 & 1), !(bits >> 5 & 1), (bits & mode::ieee) != 0}; }
  Environment other() const {
    return {Round(bits >> 2 & 3), !(bits >> 6 & 1), !(bits >> 7 & 1), (bits & mode::ieee) != 0};
  }
};
struct Case {
  std::string_view mnemonic;
  std::function<uint64_t(std::mt19937_64&)> source;
  std::function<uint64_t(uint64_t, uint64_t, const Modes&)> model;
  unsigned width = 32;
  Processor processor = Processor::gfx942;
};

uint64_t any_f16(std::mt19937_64& r) { return model::interesting<Binary16>(r); }
uint64_t any_f32(std::mt19937_64& r) {
  // Also values around the integers' limits.
  static constexpr float limits[] = {2147483647.0f, 2147483520.0f, -2147483648.0f, 4294967040.0f, 4294967296.0f,
                                     65535.5f,      -0.5f,         0.5f,           1.5f,          2.5f,
                                     -1.5f,         32767.5f,      255.5f,         0x1.fffffep-2f};
  return r() % 3 ? uint64_t{model::interesting<Binary32>(r)} : std::bit_cast<uint32_t>(limits[r() % std::size(limits)]);
}
uint64_t any_f64(std::mt19937_64& r) {
  static constexpr double limits[] = {2147483647.5, 2147483648.0, -2147483648.9,         -2147483649.0,  4294967295.5,
                                      4294967296.0, -0.9,         3.4028235677973366e38, 0x1.ffffffp-127};
  return r() % 3 ? uint64_t{model::interesting<Binary64>(r)} : std::bit_cast<uint64_t>(limits[r() % std::size(limits)]);
}
uint64_t any_integer(std::mt19937_64& r) { return r() >> (r() % 64) ^ (r() % 2 ? ~uint64_t{0} : 0); }

template <class F> uint64_t seen(uint64_t x, const Environment& e) { return flush_input<F>(typename F::Bits(x), e); }

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"v_cvt_i32_f32", any_f32,
       [](auto x, auto, auto&) { return uint32_t(to_integer<int32_t, Binary32>(x, Round::zero)); }},
      {"v_cvt_u32_f32", any_f32, [](auto x, auto, auto&) { return to_integer<uint32_t, Binary32>(x, Round::zero); }},
      {"v_cvt_i32_f64", any_f64,
       [](auto x, auto, auto&) { return uint32_t(to_integer<int32_t, Binary64>(x, Round::zero)); }},
      {"v_cvt_u32_f64", any_f64, [](auto x, auto, auto&) { return to_integer<uint32_t, Binary64>(x, Round::zero); }},
      {"v_cvt_flr_i32_f32", any_f32,
       [](auto x, auto, auto& m) {
         return uint32_t(to_integer<int32_t, Binary32>(seen<Binary32>(x, m.single()), Round::down));
       }},
      {"v_cvt_rpi_i32_f32", any_f32,
       [](auto x, auto, auto& m) { return uint32_t(to_integer_half_up<Binary32>(seen<Binary32>(x, m.single()))); }},
      {"v_cvt_i16_f16", any_f16,
       [](auto x, auto, auto&) { return uint16_t(to_integer<int16_t, Binary16>(x, Round::zero)); }},
      {"v_cvt_u16_f16", any_f16, [](auto x, auto, auto&) { return to_integer<uint16_t, Binary16>(x, Round::zero); }},
      {"v_cvt_f32_i32", any_integer,
       [](auto x, auto, auto& m) { return from_integer<Binary32>(int32_t(x), m.single()); }},
      {"v_cvt_f32_u32", any_integer,
       [](auto x, auto, auto& m) { return from_integer<Binary32>(uint32_t(x), m.single()); }},
      {"v_cvt_f64_i32", any_integer,
       [](auto x, auto, auto& m) { return from_integer<Binary64>(int32_t(x), m.other()); }, 64},
      {"v_cvt_f64_u32", any_integer,
       [](auto x, auto, auto& m) { return from_integer<Binary64>(uint32_t(x), m.other()); }, 64},
      {"v_cvt_f16_i16", any_integer,
       [](auto x, auto, auto& m) { return from_integer<Binary16>(int16_t(x), m.other()); }},
      {"v_cvt_f16_u16", any_integer,
       [](auto x, auto, auto& m) { return from_integer<Binary16>(uint16_t(x), m.other()); }},
      {"v_cvt_f32_ubyte0", any_integer, [](auto x, auto, auto&) { return std::bit_cast<uint32_t>(float(x & 255)); }},
      {"v_cvt_f32_ubyte3", any_integer,
       [](auto x, auto, auto&) { return std::bit_cast<uint32_t>(float(x >> 24 & 255)); }},
      {"v_cvt_f16_f32", any_f32,
       [](auto x, auto, auto& m) { return convert<Binary16, Binary32>(x, m.other(), m.single().flush_inputs); }},
      {"v_cvt_f32_f16", any_f16,
       [](auto x, auto, auto& m) { return convert<Binary32, Binary16>(x, m.single(), m.other().flush_inputs); }},
      {"v_cvt_f32_f64", any_f64,
       [](auto x, auto, auto& m) { return convert<Binary32, Binary64>(x, m.single(), m.other().flush_inputs); }},
      {"v_cvt_f64_f32", any_f32,
       [](auto x, auto, auto& m) { return convert<Binary64, Binary32>(x, m.other(), m.single().flush_inputs); }, 64},
      {"v_cvt_off_f32_i4", any_integer, [](auto x, auto, auto&) { return offset_of_nibble(uint32_t(x)); }},
      {"v_cvt_norm_i16_f16", any_f16,
       [](auto x, auto, auto&) { return uint16_t(to_normalised<int16_t, Binary16>(x)); }},
      {"v_cvt_pknorm_u16_f32", any_f32,
       [](auto x, auto y, auto&) {
         return to_normalised<uint16_t, Binary32>(x) | uint32_t{to_normalised<uint16_t, Binary32>(y)} << 16;
       }},
      {"v_cvt_pkrtz_f16_f32", any_f32,
       [](auto x, auto y, auto& m) {
         const Environment e{Round::zero, false, m.other().flush_outputs, true};
         // Infinity stays, what is finite saturates.
         return convert<Binary16, Binary32>(x, e) | uint32_t{convert<Binary16, Binary32>(y, e)} << 16;
       }},
      {"v_cvt_pk_f16_f32", any_f32,
       [](auto x, auto y, auto& m) {
         const Environment e{Round::nearest_even, false, m.other().flush_outputs, true};
         return convert<Binary16, Binary32>(x, e) | uint32_t{convert<Binary16, Binary32>(y, e)} << 16;
       },
       32, Processor::gfx950},
      {"v_cvt_pk_bf16_f32", any_f32,
       [](auto x, auto y, auto&) {
         return convert<Bfloat16, Binary32>(x, {.ieee = true}) |
                uint32_t{convert<Bfloat16, Binary32>(y, {.ieee = true})} << 16;
       },
       32, Processor::gfx950},
      {"v_cvt_f32_bf16", any_integer, [](auto x, auto, auto&) { return uint32_t(x) << 16; }, 32, Processor::gfx950},
      {"v_cvt_f32_fp8", any_integer, [](auto x, auto, auto&) { return convert<Binary32, Fp8Fnuz>(x, {.ieee = true}); }},
      {"v_cvt_f32_fp8", any_integer, [](auto x, auto, auto&) { return convert<Binary32, Fp8Ocp>(x, {.ieee = true}); },
       32, Processor::gfx950},
      {"v_cvt_f32_bf8", any_integer, [](auto x, auto, auto&) { return convert<Binary32, Bf8Fnuz>(x, {.ieee = true}); }},
      {"v_cvt_pk_f32_fp8", any_integer,
       [](auto x, auto, auto&) {
         return convert<Binary32, Fp8Fnuz>(x, {.ieee = true}) |
                uint64_t{convert<Binary32, Fp8Fnuz>(uint8_t(x >> 8), {.ieee = true})} << 32;
       },
       64},
  };
  return all;
}

TEST(ValuConvert, every_conversion_matches_its_definition_in_every_mode) {
  std::mt19937_64 random(23);
  for (const Case& c : cases())
    for (uint32_t mode : modes)
      for (int round = 0; round < 8; ++round) {
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
          ASSERT_EQ(got, c.model(operand(0), operand(1), Modes{mode}))
              << c.mnemonic << std::hex << " mode " << mode << " " << operand(0) << " " << operand(1);
        }
      }
}

TEST(ValuConvert, fp8_results_go_to_the_word_that_op_sel_names_and_keep_the_other) {
  Lanes lanes;
  for (unsigned i = 0; i < machine::lanes; ++i) {
    lanes.set(0, i, std::bit_cast<uint32_t>(1.0f));
    lanes.set(1, i, std::bit_cast<uint32_t>(-2.0f));
    lanes.result().lane[i] = 0x11223344;
  }
  lanes.op.modifiers = Modifiers::pack(0, 0, 8, 0, 0, 0);
  lanes.run("v_cvt_pk_fp8_f32");
  EXPECT_EQ(lanes.result().lane[5], 0xc8403344u);
  lanes.op.modifiers = Modifiers::pack(1, 2, 0, 0, 0, 0); // -a, |b|
  lanes.run("v_cvt_pk_fp8_f32", Processor::gfx950);
  EXPECT_EQ(lanes.result().lane[5], 0xc84040b8u);
}

TEST(ValuConvert, fp8_overflow_is_nan_unless_the_mode_saturates) {
  Lanes lanes;
  for (unsigned i = 0; i < machine::lanes; ++i) lanes.set(0, i, std::bit_cast<uint32_t>(1000.0f));
  lanes.run("v_cvt_pk_fp8_f32");
  EXPECT_EQ(lanes.result().lane[0] & 0xff, 0x80u);
  lanes.wave.mode |= 1u << 23;
  lanes.run("v_cvt_pk_fp8_f32");
  EXPECT_EQ(lanes.result().lane[0] & 0xff, 0x7fu);
}

TEST(ValuConvert, stochastic_conversions_write_the_byte_that_op_sel_names) {
  Lanes lanes;
  for (unsigned i = 0; i < machine::lanes; ++i) {
    lanes.set(0, i, std::bit_cast<uint32_t>(1.0625f)); // half a step of FP8 above 1
    lanes.set(1, i, i < 32 ? 0u : ~0u);
    lanes.result().lane[i] = 0x11223344;
  }
  lanes.op.modifiers = Modifiers::pack(0, 0, 2 << 2, 0, 0, 0);
  lanes.run("v_cvt_sr_fp8_f32");
  EXPECT_EQ(lanes.result().lane[0], 0x11403344u);
  EXPECT_EQ(lanes.result().lane[40], 0x11413344u);
}

TEST(ValuConvert, bytes_are_inserted_with_the_rounding_mode) {
  Lanes lanes;
  for (unsigned i = 0; i < machine::lanes; ++i) {
    lanes.set(0, i, std::bit_cast<uint32_t>(i < 32 ? 2.5f : 300.0f));
    lanes.set(1, i, i % 4);
    lanes.set(2, i, 0xaabbccdd);
  }
  lanes.run("v_cvt_pk_u8_f32");
  EXPECT_EQ(lanes.result().lane[0], 0xaabbcc02u);
  EXPECT_EQ(lanes.result().lane[3], 0x02bbccddu);
  EXPECT_EQ(lanes.result().lane[33], 0xaabbffddu);
}

// Block-scaled conversions of gfx950.

TEST(ValuConvert, scaled_conversions_multiply_by_the_power_of_two_of_the_scale) {
  Lanes lanes;
  for (unsigned i = 0; i < machine::lanes; ++i) {
    lanes.set(0, i, 0x38);                                                   // FP8 1.0
    lanes.set(1, i, std::bit_cast<uint32_t>(std::ldexp(1.5f, int(i) - 32))); // only the exponent counts
  }
  lanes.run("v_cvt_scalef32_f32_fp8", Processor::gfx950);
  for (unsigned i = 0; i < machine::lanes; ++i)
    EXPECT_EQ(std::bit_cast<float>(lanes.result().lane[i]), std::ldexp(1.0f, int(i) - 32));
}

TEST(ValuConvert, scaled_conversions_divide_on_the_way_down_and_saturate) {
  Lanes lanes;
  for (unsigned i = 0; i < machine::lanes; ++i) {
    lanes.set(0, i, std::bit_cast<uint32_t>(24.0f));
    lanes.set(1, i, std::bit_cast<uint32_t>(-1e30f));
    lanes.set(2, i, std::bit_cast<uint32_t>(8.0f));
    lanes.result().lane[i] = 0x11223344;
  }
  lanes.op.modifiers = Modifiers::pack(0, 0, 2 << 2, 0, 0, 0);
  lanes.run("v_cvt_scalef32_pk_fp4_f32", Processor::gfx950); // 3 and -6 in FP4
  EXPECT_EQ(lanes.result().lane[9], 0x11f53344u);
}

template <class Small, class Wide> void round_trip(std::string_view down, std::string_view up) {
  std::mt19937 random(29);
  Lanes first, second;
  for (unsigned r = 0; r < 32; ++r) // every row holds representable values: codes widened by 4
    for (unsigned i = 0; i < machine::lanes; ++i) {
      uint32_t word = 0;
      for (unsigned at = 0; at < 32; at += Wide::width) {
        const auto code = typename Small::Bits(random() % (1u << Small::width));
        word |= uint32_t{convert_scaled<Wide, Small>(code, 2, Round::nearest_even, false)} << at;
      }
      first.source(0, r).lane[i] = word;
    }
  for (unsigned i = 0; i < machine::lanes; ++i) {
    first.source(1).lane[i] = second.source(1).lane[i] = std::bit_cast<uint32_t>(4.0f);
    first.source(2).lane[i] = std::bit_cast<uint32_t>(4.0f);
  }
  first.run(down, Processor::gfx950);
  for (unsigned r = 0; r < 6; ++r) second.source(0, r) = first.result(r);
  second.run(up, Processor::gfx950);
  for (unsigned r = 0; r < Wide::width; ++r)
    for (unsigned i = 0; i < machine::lanes; ++i)
      ASSERT_EQ(second.result(r).lane[i], first.source(0, r).lane[i]) << down << " row " << r;
}
TEST(ValuConvert, thirty_two_values_survive_packing_into_six_registers) {
  round_trip<Fp6, Binary16>("v_cvt_scalef32_pk32_fp6_f16", "v_cvt_scalef32_pk32_f16_fp6");
  round_trip<Bf6, Binary16>("v_cvt_scalef32_pk32_bf6_f16", "v_cvt_scalef32_pk32_f16_bf6");
  round_trip<Fp6, Bfloat16>("v_cvt_scalef32_pk32_fp6_bf16", "v_cvt_scalef32_pk32_bf16_fp6");
  round_trip<Bf6, Bfloat16>("v_cvt_scalef32_pk32_bf6_bf16", "v_cvt_scalef32_pk32_bf16_bf6");
}

// Packed and mixed arithmetic.

TEST(ValuPacked, halves_are_computed_apart) {
  std::mt19937_64 random(31);
  const Environment e{.ieee = true};
  using F = Binary16;
  const std::vector<std::pair<std::string_view, std::function<uint16_t(uint16_t, uint16_t, uint16_t)>>> all = {
      {"v_pk_add_f16", [&](auto a, auto b, auto) { return add<F>(a, b, e); }},
      {"v_pk_mul_f16", [&](auto a, auto b, auto) { return multiply<F>(a, b, e); }},
      {"v_pk_min_f16", [&](auto a, auto b, auto) { return minimum<F>(a, b, e); }},
      {"v_pk_max_f16", [&](auto a, auto b, auto) { return maximum<F>(a, b, e); }},
      {"v_pk_fma_f16", [&](auto a, auto b, auto c) { return fma<F>(a, b, c, e); }},
  };
  for (const auto& [mnemonic, half] : all)
    for (int round = 0; round < 20; ++round) {
      Lanes lanes;
      for (unsigned k = 0; k < 3; ++k)
        for (unsigned i = 0; i < machine::lanes; ++i)
          lanes.set(k, i, uint32_t{model::interesting<F>(random)} << 16 | model::interesting<F>(random));
      lanes.run(mnemonic);
      for (unsigned i = 0; i < machine::lanes; ++i) {
        const uint32_t a = lanes.source(0).lane[i], b = lanes.source(1).lane[i], c = lanes.source(2).lane[i];
        ASSERT_EQ(lanes.result().lane[i], (half(a, b, c) | uint32_t{half(a >> 16, b >> 16, c >> 16)} << 16))
            << mnemonic;
      }
    }
}

TEST(ValuPacked, packed_f32_may_overwrite_its_sources) {
  Lanes lanes;
  for (unsigned i = 0; i < machine::lanes; ++i) {
    lanes.set(0, i, uint64_t{std::bit_cast<uint32_t>(3.0f)} << 32 | std::bit_cast<uint32_t>(2.0f));
    lanes.set(1, i, uint64_t{std::bit_cast<uint32_t>(5.0f)} << 32 | std::bit_cast<uint32_t>(4.0f));
    lanes.set(2, i, uint64_t{std::bit_cast<uint32_t>(7.0f)} << 32 | std::bit_cast<uint32_t>(6.0f));
  }
  lanes.op.dst = lanes.op.src[0].next(1); // the low result overwrites the high source
  lanes.run("v_pk_fma_f32");
  EXPECT_EQ(std::bit_cast<float>(lanes.source(0, 1).lane[3]), 14.0f);
  EXPECT_EQ(std::bit_cast<float>(lanes.source(0, 2).lane[3]), 22.0f);
}

TEST(ValuPacked, mixed_fma_reads_halves_where_op_sel_hi_says_so) {
  Lanes lanes;
  for (unsigned i = 0; i < machine::lanes; ++i) {
    lanes.set(0, i, 0x4000'3c00); // halves 1 and 2
    lanes.set(1, i, std::bit_cast<uint32_t>(3.0f));
    lanes.set(2, i, 0x4400'bc00); // halves -1 and 4
    lanes.result().lane[i] = 0xabcd1234;
  }
  lanes.op.modifiers = Modifiers::pack(0, 0, 0b001, 0b101, 0, 0); // a: high half, b: f32, c: low half
  lanes.run("v_fma_mix_f32");
  EXPECT_EQ(std::bit_cast<float>(lanes.result().lane[0]), 2.0f * 3.0f - 1.0f);
  lanes.op.modifiers = Modifiers::pack(0b010, 0b100, 0b000, 0b101, 0, 0); // -b, |c|
  lanes.result().lane[0] = 0xabcd1234;
  lanes.run("v_fma_mixlo_f16");
  EXPECT_EQ(lanes.result().lane[0], 0xabcdc000u); // -3 + 1
  lanes.run("v_fma_mixhi_f16");
  EXPECT_EQ(lanes.result().lane[0], 0xc000c000u);
}

TEST(ValuPacked, dot_products_add_both_halves_to_the_accumulator) {
  Lanes lanes;
  for (unsigned i = 0; i < machine::lanes; ++i) {
    lanes.set(0, i, 0x4000'3c00), lanes.set(1, i, 0x4400'4200); // (1, 2) . (3, 4)
    lanes.set(2, i, std::bit_cast<uint32_t>(0.5f));
    lanes.result().lane[i] = std::bit_cast<uint32_t>(100.0f);
  }
  lanes.run("v_dot2_f32_f16");
  EXPECT_EQ(std::bit_cast<float>(lanes.result().lane[9]), 11.5f);
  for (auto& x : lanes.result().lane) x = std::bit_cast<uint32_t>(100.0f);
  lanes.run("v_dot2c_f32_f16");
  EXPECT_EQ(std::bit_cast<float>(lanes.result().lane[9]), 111.0f);
}

TEST(ValuLanes, permlane_swaps_exchange_rows_of_lanes) {
  for (unsigned distance : {16u, 32u}) {
    Lanes lanes;
    for (unsigned i = 0; i < machine::lanes; ++i) lanes.set(0, i, 100 + i), lanes.result().lane[i] = 200 + i;
    lanes.run("v_permlane" + std::to_string(distance) + "_swap_b32", Processor::gfx950);
    for (unsigned i = 0; i < machine::lanes; ++i) {
      const bool upper = i & distance;
      EXPECT_EQ(lanes.source(0).lane[i], upper ? 100 + i : 200 + i + distance);
      EXPECT_EQ(lanes.result().lane[i], upper ? 100 + i - distance : 200 + i);
    }
  }
}

TEST(ValuLanes, halves_are_packed_and_truth_tables_apply_to_selected_halves) {
  Lanes lanes;
  for (unsigned i = 0; i < machine::lanes; ++i)
    lanes.set(0, i, 0x12345678), lanes.set(1, i, 0x9abcdef0), lanes.result().lane[i] = 0x11112222;
  lanes.run("v_pack_b32_f16");
  EXPECT_EQ(lanes.result().lane[0], 0xdef05678u);
  lanes.result().lane[0] = 0x11112222;
  const uint32_t exclusive_or = 0x3c; // of the first two
  lanes.op.modifiers = Modifiers::pack(exclusive_or & 7, exclusive_or >> 3 & 7, 0b1001, 0, exclusive_or >> 6, 0);
  lanes.run("v_bitop3_b16", Processor::gfx950);
  EXPECT_EQ(lanes.result().lane[0], (uint32_t{0x1234 ^ 0xdef0} << 16 | 0x2222u));
}

} // namespace
} // namespace asmevo::machine
