// gfx950's scaled conversions between small floats and f32, f16 and bf16.
#include "small_floats.h"
#include "valu_fixture.h"

#include <bit>

namespace asmevo::machine {
namespace {

using namespace model;

constexpr auto on = isa::Processor::gfx950;

/// A wide format, by bits.
struct Wide {
  const char* name;
  unsigned width;
  uint32_t (*encode)(double); // of values that it holds exactly
};
constexpr Wide f32{"f32", 32, [](double x) { return std::bit_cast<uint32_t>(float(x)); }};
constexpr Wide f16{"f16", 16, [](double x) { return uint32_t(std::bit_cast<uint16_t>(_Float16(x))); }};
constexpr Wide bf16{"bf16", 16, [](double x) { return std::bit_cast<uint32_t>(float(x)) >> 16; }};

/// Values that all wide formats hold: few significant bits, around the small formats' ranges and beyond, ties and zeros
/// of both signs among them.
double value_of(unsigned k) {
  if (k % 29 == 0) return k % 2 ? -0.0 : 0.0;
  const double magnitude = std::ldexp(double(16 + k * 7 % 16), int(k % 13) - 9);
  return k % 3 == 1 ? -magnitude : magnitude;
}
int exponent_of(unsigned lane) { return int(lane % 5) - 2; }

/// `count` values of a lane into consecutive rows of source k.
void put(Lanes& w, unsigned k, const Wide& wide, unsigned count, unsigned first = 0, unsigned step = 1) {
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (unsigned e = 0; e < count; ++e) {
      const uint32_t bits = wide.encode(value_of(lane + 5 * (first + e * step)));
      uint32_t& word = w.source(k, e * wide.width / 32).lane[lane];
      word = e * wide.width % 32 ? word | bits << 16 : bits;
    }
}
/// Only the exponent of a scale counts.
void put_scale(Lanes& w, unsigned k) {
  for (unsigned lane = 0; lane < lanes; ++lane)
    w.source(k).lane[lane] = uint32_t(127 + exponent_of(lane)) << 23 | (lane % 2 ? 0x80001234 : 0);
}
uint32_t field(Lanes& w, unsigned lane, unsigned at, unsigned width) {
  uint64_t two = w.result(at / 32).lane[lane];
  if (at % 32 + width > 32) two |= uint64_t{w.result(at / 32 + 1).lane[lane]} << 32;
  return uint32_t(two >> at % 32) & ((1u << width) - 1);
}

struct Down {
  const SmallFloat& small;
  const Wide& wide;
  unsigned count; // of results
  bool by_chance, two_sources;
};

/// `count` results, from bit `at` of the destination on, against the nearest codes or against both neighbours.
void expect_down(Lanes& w, const Down& d, unsigned at) {
  const unsigned width = d.small.width();
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (unsigned e = 0; e < d.count; ++e) {
      const double x = std::ldexp(value_of(lane + 5 * e), -exponent_of(lane));
      const unsigned got = field(w, lane, at + e * width, width);
      SCOPED_TRACE(fmt::format("lane {} element {}: {:#x} for {}", lane, e, got, x));
      if (d.by_chance)
        ASSERT_TRUE(d.small.is_neighbour(x, got));
      else
        ASSERT_EQ(got, d.small.nearest_or_largest(x));
    }
}

/// Runs with the destination's part that op_sel names; what is outside stays.
void check_down_to(const std::string& mnemonic, const Down& d, unsigned part, unsigned parts) {
  Lanes w;
  unsigned k = 0;
  if (d.two_sources) { // of one value each, or sixteen that alternate
    put(w, k++, d.wide, d.count / 2, 0, 2);
    put(w, k++, d.wide, d.count / 2, 1, 2);
  } else {
    put(w, k++, d.wide, d.count);
  }
  if (d.by_chance) {
    for (unsigned lane = 0; lane < lanes; ++lane) w.source(k).lane[lane] = lane * 0x9e3779b9u;
    ++k;
  }
  put_scale(w, k);
  for (auto& x : w.result().lane) x = 0x12345678;
  w.op.modifiers = Modifiers::pack(0, 0, parts == 4 ? part << 2 : part << 3, 0, 0, 0);
  w.run(mnemonic, on);
  const unsigned at = parts ? 32 / parts * part : 0;
  expect_down(w, d, at);
  if (!parts) return;
  const uint32_t kept = ~(((1u << 32 / parts) - 1) << at);
  for (unsigned lane = 0; lane < lanes; ++lane) ASSERT_EQ(w.result().lane[lane] & kept, 0x12345678u & kept);
}
void check_down(const std::string& mnemonic, const Down& d) {
  SCOPED_TRACE(mnemonic);
  const unsigned bits = d.count * d.small.width(), parts = bits > 32 ? 0 : 32 / bits;
  for (unsigned part = 0; part < std::max(parts, 1u); ++part) check_down_to(mnemonic, d, part, parts);
  note_tested(mnemonic, on);
}

void check_up(const std::string& mnemonic, const SmallFloat& small, const Wide& wide, unsigned count) {
  SCOPED_TRACE(mnemonic);
  const unsigned bits = count * small.width(), parts = bits > 32 ? 1 : 32 / bits;
  auto code_of = [&](unsigned lane, unsigned e) {
    const unsigned code = (lane * 11 + e * 5) % small.magnitudes();
    return (lane + e) % 2 ? code | small.sign() : code;
  };
  for (unsigned part = 0; part < parts; ++part) {
    Lanes w;
    for (unsigned lane = 0; lane < lanes; ++lane)
      for (unsigned e = 0; e < count; ++e) {
        const unsigned at = part * bits + e * small.width(), row = at / 32, shift = at % 32;
        if (shift == 0) w.source(0, row).lane[lane] = 0;
        w.source(0, row).lane[lane] |= code_of(lane, e) << shift;
        if (shift + small.width() > 32) w.source(0, row + 1).lane[lane] = code_of(lane, e) >> (32 - shift);
      }
    put_scale(w, 1);
    w.op.modifiers = Modifiers::pack(0, 0, part, 0, 0, 0);
    w.run(mnemonic, on);
    for (unsigned lane = 0; lane < lanes; ++lane)
      for (unsigned e = 0; e < count; ++e) {
        const uint32_t want = wide.encode(std::ldexp(small.value(code_of(lane, e)), exponent_of(lane)));
        const uint32_t got =
            wide.width == 32 ? w.result(e).lane[lane] : w.result(e / 2).lane[lane] >> (16 * (e % 2)) & 0xffff;
        ASSERT_EQ(got, want) << "lane " << lane << " element " << e;
      }
  }
  note_tested(mnemonic, on);
}

TEST(ValuScaled, DownToTheNearestAndTheLargest) {
  for (const SmallFloat* small : {&fp8_ocp, &bf8_ocp, &fp4})
    for (const Wide* wide : {&f32, &f16, &bf16})
      check_down(fmt::format("v_cvt_scalef32_pk_{}_{}", small->name, wide->name),
                 {*small, *wide, 2, false, wide == &f32});
  for (const SmallFloat* small : {&fp6, &bf6}) {
    check_down(fmt::format("v_cvt_scalef32_2xpk16_{}_f32", small->name), {*small, f32, 32, false, true});
    for (const Wide* wide : {&f16, &bf16})
      check_down(fmt::format("v_cvt_scalef32_pk32_{}_{}", small->name, wide->name), {*small, *wide, 32, false, false});
  }
}

TEST(ValuScaled, DownByChanceToANeighbour) {
  for (const Wide* wide : {&f32, &f16, &bf16}) {
    for (const SmallFloat* small : {&fp8_ocp, &bf8_ocp})
      check_down(fmt::format("v_cvt_scalef32_sr_{}_{}", small->name, wide->name), {*small, *wide, 1, true, false});
    check_down(fmt::format("v_cvt_scalef32_sr_pk_fp4_{}", wide->name), {fp4, *wide, 2, true, false});
    for (const SmallFloat* small : {&fp6, &bf6})
      check_down(fmt::format("v_cvt_scalef32_sr_pk32_{}_{}", small->name, wide->name),
                 {*small, *wide, 32, true, false});
  }
}

TEST(ValuScaled, UpExactly) {
  for (const SmallFloat* small : {&fp8_ocp, &bf8_ocp})
    for (const Wide* wide : {&f32, &f16})
      check_up(fmt::format("v_cvt_scalef32_{}_{}", wide->name, small->name), *small, *wide, 1);
  for (const SmallFloat* small : {&fp8_ocp, &bf8_ocp, &fp4})
    for (const Wide* wide : {&f32, &f16, &bf16})
      check_up(fmt::format("v_cvt_scalef32_pk_{}_{}", wide->name, small->name), *small, *wide, 2);
  for (const SmallFloat* small : {&fp6, &bf6})
    for (const Wide* wide : {&f32, &f16, &bf16})
      check_up(fmt::format("v_cvt_scalef32_pk32_{}_{}", wide->name, small->name), *small, *wide, 32);
}

TEST(ValuScaled, AScaleOfAllOnesMakesNans) {
  Lanes w;
  for (unsigned lane = 0; lane < lanes; ++lane) w.set(0, lane, 0x38), w.set(1, lane, 0x7f800000);
  w.run("v_cvt_scalef32_f32_fp8", on);
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(w.result().lane[0])));
}

TEST(ValuScaled, SignsApplyToTheValuesAndNotToTheScale) {
  Lanes w;
  for (unsigned lane = 0; lane < lanes; ++lane)
    w.set(0, lane, f32.encode(2)), w.set(1, lane, f32.encode(-3)), w.set(2, lane, f32.encode(1));
  w.op.modifiers = Modifiers::pack(0b01, 0b10, 0, 0, 0, 0); // -a, |b|
  w.run("v_cvt_scalef32_pk_fp4_f32", on);
  EXPECT_EQ(w.result().lane[0] & 0xff, 0x5cu);
}

} // namespace
} // namespace asmevo::machine
