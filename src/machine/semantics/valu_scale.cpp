// gfx950: conversions between block-scaled small floats (FP8, BF8, FP6, BF6, FP4) and f32, f16, bf16.
//
// A scale operand is an f32 of which only the exponent counts: values are divided by that power of two on the way down
// and multiplied on the way up, then rounded once. Down-conversions round to nearest even, or stochastically with a
// seed that v_prng steps from element to element; they saturate, as the OCP microscaling formats ask for (what the
// hardware does with NaN in formats that have none is unpublished: here it becomes the largest number). A scale with
// all exponent bits set makes NaN of everything.
//
// Narrow results go to the byte or word that op_sel names; the rest of the destination stays. All modifiers of these
// instructions are theirs to read.
#include "machine/semantics/float_lanes.h"

namespace asmevo::machine::ASMEVO_ISA {

namespace {

using enum Format;
using numeric::Bf6;
using numeric::Bf8Ocp;
using numeric::Fp4;
using numeric::Fp6;
using numeric::Fp8Ocp;

/// The power of two of a scale operand; `nan` where it is none.
struct Scale {
  int exponent;
  bool nan;
  explicit Scale(uint32_t f32)
      : exponent(numeric::biased_exponent<Binary32>(f32) - 127), nan(numeric::biased_exponent<Binary32>(f32) == 255) {}
};
constexpr uint32_t next_random(uint32_t x) { return x << 1 ^ (x >> 31 ? 197u : 0u); }

/// A wide value to a small one.
template <class Small, class Wide> uint32_t down(typename Wide::Bits x, const Scale& scale) {
  const Environment quieting = {.ieee = true};
  if (scale.nan || numeric::is_nan<Wide>(x)) {
    if constexpr (Small::special == numeric::Special::none)
      return Small::largest;
    else
      return numeric::convert<Small, Wide>(Wide::nan, quieting);
  }
  return numeric::convert_scaled<Small, Wide>(x, -scale.exponent, Round::nearest_even, true);
}
template <class Small, class Wide> uint32_t down_dithered(typename Wide::Bits x, uint32_t random, const Scale& scale) {
  if (scale.nan || numeric::is_nan<Wide>(x) || numeric::is_infinity<Wide>(x)) return down<Small, Wide>(x, scale);
  return numeric::convert_stochastic<Small, Wide>(x, random, true, -scale.exponent);
}
/// A small value to a wide one.
template <class Wide, class Small> uint32_t up(uint32_t code, const Scale& scale) {
  const auto x = typename Small::Bits(code);
  if (scale.nan) return Wide::nan;
  return numeric::convert_scaled<Wide, Small>(x, scale.exponent, Round::nearest_even, false);
}

/// Bits [at, at + width) of consecutive rows of a lane.
AE_LANES uint32_t field(const Row* rows, unsigned lane, unsigned at, unsigned width) {
  uint64_t two = rows[at / 32].lane[lane];
  if (at % 32 + width > 32) two |= uint64_t{rows[at / 32 + 1].lane[lane]} << 32;
  return uint32_t(two >> (at % 32)) & (width == 32 ? ~0u : (1u << width) - 1);
}
/// Collects fields from the bottom up.
struct Packer {
  uint32_t words[32] = {};
  unsigned at = 0;
  void add(uint32_t value, unsigned width) {
    words[at / 32] |= value << (at % 32);
    if (at % 32 + width > 32) words[at / 32 + 1] |= value >> (32 - at % 32);
    at += width;
  }
};

/// Sign modifiers of a source of format Wide.
template <class Wide> AE_LANES uint32_t modified(uint32_t bits, const Modifiers& m, unsigned k) {
  if (m.abs() >> k & 1) bits &= ~uint32_t{Wide::sign};
  return m.neg() >> k & 1 ? bits ^ uint32_t{Wide::sign} : bits;
}

/// `rows` result rows a lane, made by pack(lane, packer) and written under EXEC.
template <class Pack> AE_LANES void write_rows(Wave& w, const Op& op, unsigned rows, Pack pack) {
  Row results[32];
  each_set_lane(w, all_lanes, [&](unsigned i) {
    Packer packer;
    pack(i, packer);
    for (unsigned r = 0; r < rows; ++r) results[r].lane[i] = packer.words[r];
  });
  Row* d = row(w, op.dst);
  for (unsigned r = 0; r < rows; ++r) each_lane(w, d[r], [&](unsigned i) { return results[r].lane[i]; });
}
/// A part of one row: `width` bits at the place that op_sel's upper bits name.
template <class Value> AE_LANES void write_part(Wave& w, const Op& op, unsigned width, Value value) {
  const unsigned at = width == 16 ? (op.modifiers.op_sel() >> 3 & 1) * 16 : (op.modifiers.op_sel() >> 2 & 3) * 8;
  const uint32_t part = ((1u << width) - 1) << at;
  Row results;
  each_set_lane(w, all_lanes, [&](unsigned i) { results.lane[i] = value(i) << at; });
  Row& d = *row(w, op.dst);
  each_lane(w, d, [&](unsigned i) { return (d.lane[i] & ~part) | (results.lane[i] & part); });
}

// Down: a pair of f32 in two operands, or of halves in one row; scale last.
template <class Small> void pk_small_f32(Wave& w, const Op& op) {
  const Row &a = *row(w, op.src[0]), &b = *row(w, op.src[1]), &s = *row(w, op.src[2]);
  write_part(w, op, 2 * Small::width, [&](unsigned i) {
    const Scale scale(s.lane[i]);
    const uint32_t low = down<Small, Binary32>(modified<Binary32>(a.lane[i], op.modifiers, 0), scale);
    return low | down<Small, Binary32>(modified<Binary32>(b.lane[i], op.modifiers, 1), scale) << Small::width;
  });
}
template <class Small, class Half> void pk_small_half(Wave& w, const Op& op) {
  const Row &a = *row(w, op.src[0]), &s = *row(w, op.src[1]);
  write_part(w, op, 2 * Small::width, [&](unsigned i) {
    const Scale scale(s.lane[i]);
    return down<Small, Half>(uint16_t(a.lane[i]), scale) | down<Small, Half>(uint16_t(a.lane[i] >> 16), scale)
                                                               << Small::width;
  });
}
// One value to a byte, with a seed.
template <class Small, class Wide> void sr_small(Wave& w, const Op& op) {
  const Row &a = *row(w, op.src[0]), &seed = *row(w, op.src[1]), &s = *row(w, op.src[2]);
  write_part(w, op, 8, [&](unsigned i) {
    const auto x = typename Wide::Bits(modified<Wide>(a.lane[i], op.modifiers, 0));
    return down_dithered<Small, Wide>(x, seed.lane[i], Scale(s.lane[i]));
  });
}
// Two values to FP4 with a seed that steps once.
template <class Wide> void sr_pk_fp4(Wave& w, const Op& op) {
  const Row *a = row(w, op.src[0]), &seed = *row(w, op.src[1]), &s = *row(w, op.src[2]);
  write_part(w, op, 8, [&](unsigned i) {
    const Scale scale(s.lane[i]);
    const auto x = typename Wide::Bits(field(a, i, 0, Wide::width));
    const auto y = typename Wide::Bits(field(a, i, Wide::width, Wide::width));
    return down_dithered<Fp4, Wide>(x, seed.lane[i], scale) |
           down_dithered<Fp4, Wide>(y, next_random(seed.lane[i]), scale) << 4;
  });
}
// Thirty-two values to six rows.
template <class Small> void two_pk16_small_f32(Wave& w, const Op& op) {
  const Row *a = row(w, op.src[0]), *b = row(w, op.src[1]), &s = *row(w, op.src[2]);
  write_rows(w, op, 6, [&](unsigned i, Packer& packer) {
    const Scale scale(s.lane[i]);
    for (unsigned k = 0; k < 16; ++k) { // the two sources alternate
      packer.add(down<Small, Binary32>(a[k].lane[i], scale), 6);
      packer.add(down<Small, Binary32>(b[k].lane[i], scale), 6);
    }
  });
}
template <class Small, class Wide> void pk32_small(Wave& w, const Op& op) {
  const Row *a = row(w, op.src[0]), &s = *row(w, op.src[1]);
  write_rows(w, op, 6, [&](unsigned i, Packer& packer) {
    const Scale scale(s.lane[i]);
    for (unsigned k = 0; k < 32; ++k)
      packer.add(down<Small, Wide>(typename Wide::Bits(field(a, i, k * Wide::width, Wide::width)), scale), 6);
  });
}
template <class Small, class Wide> void sr_pk32_small(Wave& w, const Op& op) {
  const Row *a = row(w, op.src[0]), &seed = *row(w, op.src[1]), &s = *row(w, op.src[2]);
  write_rows(w, op, 6, [&](unsigned i, Packer& packer) {
    const Scale scale(s.lane[i]);
    uint32_t random = seed.lane[i];
    for (unsigned k = 0; k < 32; ++k, random = next_random(random)) {
      const auto x = typename Wide::Bits(field(a, i, k * Wide::width, Wide::width));
      packer.add(down_dithered<Small, Wide>(x, random, scale), 6);
    }
  });
}

// Up: one byte, or a pair that op_sel picks from the source.
template <class Wide, class Small> void one_wide(Wave& w, const Op& op) {
  const Row &a = *row(w, op.src[0]), &s = *row(w, op.src[1]);
  const unsigned at = (op.modifiers.op_sel() & 3) * 8;
  const auto value = [&](unsigned i) { return up<Wide, Small>(a.lane[i] >> at & 0xff, Scale(s.lane[i])); };
  if (Wide::width == 16)
    write_part(w, op, 16, value);
  else
    write_rows(w, op, 1, [&](unsigned i, Packer& packer) { packer.add(value(i), 32); });
}
template <class Wide, class Small> void pk_wide(Wave& w, const Op& op) {
  const Row &a = *row(w, op.src[0]), &s = *row(w, op.src[1]);
  const unsigned at = Small::width == 8 ? (op.modifiers.op_sel() & 1) * 16 : (op.modifiers.op_sel() & 3) * 8;
  constexpr uint32_t mask = (1u << Small::width) - 1;
  write_rows(w, op, Wide::width / 16, [&](unsigned i, Packer& packer) {
    const Scale scale(s.lane[i]);
    packer.add(up<Wide, Small>(a.lane[i] >> at & mask, scale), Wide::width);
    packer.add(up<Wide, Small>(a.lane[i] >> (at + Small::width) & mask, scale), Wide::width);
  });
}
template <class Wide, class Small> void pk32_wide(Wave& w, const Op& op) {
  const Row *a = row(w, op.src[0]), &s = *row(w, op.src[1]);
  write_rows(w, op, Wide::width, [&](unsigned i, Packer& packer) {
    const Scale scale(s.lane[i]);
    for (unsigned k = 0; k < 32; ++k) packer.add(up<Wide, Small>(field(a, i, 6 * k, 6), scale), Wide::width);
  });
}

constexpr InstructionRow row_of(std::string_view name, Handler handler, uint8_t result, uint8_t a, uint8_t b,
                                uint8_t c = 0) {
  const Signature signature = {.dst = Operand(b32, result),
                               .src = {Operand(b32, a), Operand(b32, b), c ? Operand(b32, c) : Operand()},
                               .raw = true};
  return valu(name, signature, handler, Support::approximate, on_gfx950);
}

// The last operand is always the scale; a seed comes before it.
constexpr std::array rows = {
    row_of("v_cvt_scalef32_pk_fp8_f32", &pk_small_f32<Fp8Ocp>, 1, 1, 1, 1),
    row_of("v_cvt_scalef32_pk_bf8_f32", &pk_small_f32<Bf8Ocp>, 1, 1, 1, 1),
    row_of("v_cvt_scalef32_pk_fp4_f32", &pk_small_f32<Fp4>, 1, 1, 1, 1),
    row_of("v_cvt_scalef32_pk_fp8_f16", &pk_small_half<Fp8Ocp, Binary16>, 1, 1, 1),
    row_of("v_cvt_scalef32_pk_bf8_f16", &pk_small_half<Bf8Ocp, Binary16>, 1, 1, 1),
    row_of("v_cvt_scalef32_pk_fp4_f16", &pk_small_half<Fp4, Binary16>, 1, 1, 1),
    row_of("v_cvt_scalef32_pk_fp8_bf16", &pk_small_half<Fp8Ocp, Bfloat16>, 1, 1, 1),
    row_of("v_cvt_scalef32_pk_bf8_bf16", &pk_small_half<Bf8Ocp, Bfloat16>, 1, 1, 1),
    row_of("v_cvt_scalef32_pk_fp4_bf16", &pk_small_half<Fp4, Bfloat16>, 1, 1, 1),
    row_of("v_cvt_scalef32_sr_fp8_f32", &sr_small<Fp8Ocp, Binary32>, 1, 1, 1, 1),
    row_of("v_cvt_scalef32_sr_bf8_f32", &sr_small<Bf8Ocp, Binary32>, 1, 1, 1, 1),
    row_of("v_cvt_scalef32_sr_fp8_f16", &sr_small<Fp8Ocp, Binary16>, 1, 1, 1, 1),
    row_of("v_cvt_scalef32_sr_bf8_f16", &sr_small<Bf8Ocp, Binary16>, 1, 1, 1, 1),
    row_of("v_cvt_scalef32_sr_fp8_bf16", &sr_small<Fp8Ocp, Bfloat16>, 1, 1, 1, 1),
    row_of("v_cvt_scalef32_sr_bf8_bf16", &sr_small<Bf8Ocp, Bfloat16>, 1, 1, 1, 1),
    row_of("v_cvt_scalef32_sr_pk_fp4_f32", &sr_pk_fp4<Binary32>, 1, 2, 1, 1),
    row_of("v_cvt_scalef32_sr_pk_fp4_f16", &sr_pk_fp4<Binary16>, 1, 1, 1, 1),
    row_of("v_cvt_scalef32_sr_pk_fp4_bf16", &sr_pk_fp4<Bfloat16>, 1, 1, 1, 1),
    row_of("v_cvt_scalef32_2xpk16_fp6_f32", &two_pk16_small_f32<Fp6>, 6, 16, 16, 1),
    row_of("v_cvt_scalef32_2xpk16_bf6_f32", &two_pk16_small_f32<Bf6>, 6, 16, 16, 1),
    row_of("v_cvt_scalef32_pk32_fp6_f16", &pk32_small<Fp6, Binary16>, 6, 16, 1),
    row_of("v_cvt_scalef32_pk32_bf6_f16", &pk32_small<Bf6, Binary16>, 6, 16, 1),
    row_of("v_cvt_scalef32_pk32_fp6_bf16", &pk32_small<Fp6, Bfloat16>, 6, 16, 1),
    row_of("v_cvt_scalef32_pk32_bf6_bf16", &pk32_small<Bf6, Bfloat16>, 6, 16, 1),
    row_of("v_cvt_scalef32_sr_pk32_fp6_f32", &sr_pk32_small<Fp6, Binary32>, 6, 32, 1, 1),
    row_of("v_cvt_scalef32_sr_pk32_bf6_f32", &sr_pk32_small<Bf6, Binary32>, 6, 32, 1, 1),
    row_of("v_cvt_scalef32_sr_pk32_fp6_f16", &sr_pk32_small<Fp6, Binary16>, 6, 16, 1, 1),
    row_of("v_cvt_scalef32_sr_pk32_bf6_f16", &sr_pk32_small<Bf6, Binary16>, 6, 16, 1, 1),
    row_of("v_cvt_scalef32_sr_pk32_fp6_bf16", &sr_pk32_small<Fp6, Bfloat16>, 6, 16, 1, 1),
    row_of("v_cvt_scalef32_sr_pk32_bf6_bf16", &sr_pk32_small<Bf6, Bfloat16>, 6, 16, 1, 1),
    row_of("v_cvt_scalef32_f32_fp8", &one_wide<Binary32, Fp8Ocp>, 1, 1, 1),
    row_of("v_cvt_scalef32_f32_bf8", &one_wide<Binary32, Bf8Ocp>, 1, 1, 1),
    row_of("v_cvt_scalef32_f16_fp8", &one_wide<Binary16, Fp8Ocp>, 1, 1, 1),
    row_of("v_cvt_scalef32_f16_bf8", &one_wide<Binary16, Bf8Ocp>, 1, 1, 1),
    row_of("v_cvt_scalef32_pk_f32_fp8", &pk_wide<Binary32, Fp8Ocp>, 2, 1, 1),
    row_of("v_cvt_scalef32_pk_f32_bf8", &pk_wide<Binary32, Bf8Ocp>, 2, 1, 1),
    row_of("v_cvt_scalef32_pk_f32_fp4", &pk_wide<Binary32, Fp4>, 2, 1, 1),
    row_of("v_cvt_scalef32_pk_f16_fp8", &pk_wide<Binary16, Fp8Ocp>, 1, 1, 1),
    row_of("v_cvt_scalef32_pk_f16_bf8", &pk_wide<Binary16, Bf8Ocp>, 1, 1, 1),
    row_of("v_cvt_scalef32_pk_f16_fp4", &pk_wide<Binary16, Fp4>, 1, 1, 1),
    row_of("v_cvt_scalef32_pk_bf16_fp8", &pk_wide<Bfloat16, Fp8Ocp>, 1, 1, 1),
    row_of("v_cvt_scalef32_pk_bf16_bf8", &pk_wide<Bfloat16, Bf8Ocp>, 1, 1, 1),
    row_of("v_cvt_scalef32_pk_bf16_fp4", &pk_wide<Bfloat16, Fp4>, 1, 1, 1),
    row_of("v_cvt_scalef32_pk32_f32_fp6", &pk32_wide<Binary32, Fp6>, 32, 6, 1),
    row_of("v_cvt_scalef32_pk32_f32_bf6", &pk32_wide<Binary32, Bf6>, 32, 6, 1),
    row_of("v_cvt_scalef32_pk32_f16_fp6", &pk32_wide<Binary16, Fp6>, 16, 6, 1),
    row_of("v_cvt_scalef32_pk32_f16_bf6", &pk32_wide<Binary16, Bf6>, 16, 6, 1),
    row_of("v_cvt_scalef32_pk32_bf16_fp6", &pk32_wide<Bfloat16, Fp6>, 16, 6, 1),
    row_of("v_cvt_scalef32_pk32_bf16_bf6", &pk32_wide<Bfloat16, Bf6>, 16, 6, 1),
};

} // namespace

std::span<const InstructionRow> valu_scale() { return rows; }

} // namespace asmevo::machine::ASMEVO_ISA
