// Stage runners: operands in front of an instruction's core and its result behind it (see stage.h).
#include "machine/semantics/vectors.h"
#include "machine/stage.h"

namespace asmevo::machine::ASMEVO_ISA {

namespace {

AE_LANES void splat(Row& to, uint32_t value) { AE_EACH_LANE to.lane[i] = value; }

void splat_source(Wave& w, const SourceStage& s, unsigned k) {
  Row* to = w.staging + staging_source(k);
  if (s.rows == 1) return splat(to[0], scalar32(w, s.scalar));
  uint64_t value = scalar64(w, s.scalar);
  splat(to[0], uint32_t(value));
  splat(to[1], uint32_t(value >> 32));
}

template <class F> AE_LANES void map(const Row& from, Row& to, F f) { AE_EACH_LANE to.lane[i] = f(from.lane[i]); }

// SDWA select: a byte or word of the dword, zero- or sign-extended.
void select(const Row& from, Row& to, Select which, bool sign) {
  const unsigned width = which <= Select::byte3 ? 8 : which <= Select::word1 ? 16 : 32;
  const unsigned at = which <= Select::byte3 ? unsigned(which) * 8 : which == Select::word1 ? 16 : 0;
  const unsigned up = 32 - width - at, down = 32 - width;
  if (sign)
    map(from, to, [=](uint32_t v) { return uint32_t(int32_t(v << up) >> down); });
  else
    map(from, to, [=](uint32_t v) { return v << up >> down; });
}

// Where the bits of `format` have their sign: cleared by abs, flipped by neg.
uint32_t sign_bits(Format format) {
  switch (format) {
  case Format::f16:
  case Format::bf16:
    return 0x8000;
  case Format::pf16:
    return 0x80008000;
  default:
    return 0x80000000;
  }
}

void change_sign(Row& row, uint32_t clear, uint32_t flip) {
  map(row, row, [=](uint32_t v) { return (v & ~clear) ^ flip; });
}

void halves(const Row& from, Row& to, bool low_from_high, bool high_from_low) {
  const unsigned low = low_from_high ? 16 : 0, high = high_from_low ? 0 : 16;
  map(from, to, [=](uint32_t v) { return (v >> low & 0xffff) | (v >> high & 0xffff) << 16; });
}

// Sources of packed 32-bit operations pick among the two dwords of the pair.
void packed32(Row* rows, const SourceStage& s) {
  const Row low = rows[s.low_from_high ? 1 : 0], high = rows[s.high_from_low ? 0 : 1];
  rows[0] = low;
  rows[1] = high;
  if (s.neg) change_sign(rows[0], 0, 0x80000000);
  if (s.neg_hi) change_sign(rows[1], 0, 0x80000000);
}

// Lanes without a source, or whose source is off, get 0 (and write it only under bound_ctrl).
AE_LANES void move_lanes(const Dpp& dpp, uint64_t exec, const Row& from, Row& to) {
#if defined(AE_MASK_REGISTERS)
  if (dpp.row_local) {
    AE_EACH_VECTOR {
      const __m512i index = __m512i(load_words(dpp.within_row.lane, c).v), source = __m512i(load_words(from.lane, c).v);
      store_words(to.lane, c, {RawWords(_mm512_maskz_permutexvar_epi32(truth_of(dpp.valid, c).mask, index, source))});
    }
  } else
#elif defined(__AVX2__)
  if (dpp.row_local) {
    AE_EACH_VECTOR { // pick in both halves of the 16 lanes, then choose by bit 3 of the index
      const __m256i index = __m256i(load_words(dpp.within_row.lane, c).v);
      const __m256i low = _mm256_permutevar8x32_epi32(__m256i(load_words(from.lane, c & ~1u).v), index);
      const __m256i high = _mm256_permutevar8x32_epi32(__m256i(load_words(from.lane, c | 1u).v), index);
      const __m256 choose = _mm256_castsi256_ps(_mm256_slli_epi32(index, 28));
      const __m256 picked = _mm256_blendv_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high), choose);
      store_words(to.lane, c, Words{RawWords(picked)} & load_words(dpp.valid_lanes.lane, c));
    }
  } else
#endif
  {
    for (unsigned i = 0; i < lanes; ++i) to.lane[i] = from.lane[dpp.from[i]] & dpp.valid_lanes.lane[i];
  }
  if (exec == all_lanes) return;
  for (unsigned i = 0; i < lanes; ++i)
    if (!(exec >> dpp.from[i] & 1)) to.lane[i] = 0;
}

void prepare_source(Wave& w, const Stage& stage, unsigned k) {
  const SourceStage& s = stage.source[k];
  Row* to = w.staging + staging_source(k);
  if (s.splat) splat_source(w, s, k);
  const Row* from = row(w, s.from);
  if (k == 0 && stage.has_dpp) {
    for (unsigned r = 0; r < s.rows; ++r) move_lanes(stage.dpp, w.exec(), from[r], to[r]);
  } else if (!s.splat) {
    for (unsigned r = 0; r < s.rows; ++r) to[r] = from[r];
  }
  if (s.select != Select::dword || s.sign_extend) select(to[0], to[0], s.select, s.sign_extend);
  switch (s.format) {
  case Format::p32:
  case Format::pf32:
    packed32(to, s);
    return;
  case Format::p16:
  case Format::pf16:
    if (s.low_from_high || s.high_from_low) halves(to[0], to[0], s.low_from_high, s.high_from_low);
    if (s.neg || s.neg_hi) change_sign(to[0], 0, (s.neg ? 0x8000u : 0) | (s.neg_hi ? 0x80000000u : 0));
    return;
  default:
    break;
  }
  if (s.low_from_high) map(to[0], to[0], [](uint32_t v) { return v >> 16; });
  const uint32_t sign = sign_bits(s.format);
  if (s.neg || s.abs) change_sign(to[s.rows - 1], s.abs ? sign : 0, s.neg ? sign : 0);
}

// Lanes that write under DPP: enabled by the masks, and with a source unless bound_ctrl supplies 0.
uint64_t dpp_lanes(const Dpp& dpp, uint64_t exec) {
  uint64_t on = exec & dpp.enabled;
  if (dpp.bound_control) return on;
  on &= dpp.valid;
  if (exec == all_lanes) return on;
  for (unsigned i = 0; i < lanes; ++i)
    if (!(exec >> dpp.from[i] & 1)) on &= ~(uint64_t{1} << i);
  return on;
}

/// A binary floating-point format, for scaling by powers of two and clamping on bits alone.
template <class Bits, unsigned exponent_bits, unsigned mantissa_bits> struct Binary {
  static constexpr Bits sign = Bits(Bits{1} << (exponent_bits + mantissa_bits));
  static constexpr Bits infinity = Bits(((Bits{1} << exponent_bits) - 1) << mantissa_bits);
  static constexpr Bits one = Bits(((Bits{1} << (exponent_bits - 1)) - 1) << mantissa_bits);

  AE_LANES static bool is_nan(Bits v) { return Bits(v & ~sign) > infinity; }

  /// v * 2^power where denormals do not exist: they are 0 before and after.
  AE_LANES static Bits scale(Bits v, int power, mode::Round round) {
    const Bits exponent = v & infinity;
    if (exponent == infinity) return v;
    if (exponent == 0) return v & sign;
    int64_t scaled = int64_t(exponent >> mantissa_bits) + power;
    if (scaled <= 0) return v & sign;
    if (scaled < int64_t(infinity >> mantissa_bits)) return Bits((v & ~infinity) | Bits(Bits(scaled) << mantissa_bits));
    bool inward = round == mode::toward_zero || round == (v & sign ? mode::plus_infinity : mode::minus_infinity);
    return Bits((v & sign) | Bits(inward ? infinity - 1 : infinity));
  }

  /// To [0, 1]; NaN becomes 0 under dx10_clamp and stays else.
  AE_LANES static Bits clamp(Bits v, bool dx10) {
    if (is_nan(v)) return dx10 ? Bits{0} : v;
    if (v & sign) return 0;
    return v > one ? one : v;
  }
};
using Half = Binary<uint16_t, 5, 10>;
using Brain = Binary<uint16_t, 8, 7>;
using Single = Binary<uint32_t, 8, 23>;
using Double = Binary<uint64_t, 11, 52>;

template <class F, class Bits>
AE_LANES Bits finish(Bits v, const ResultStage& r, uint32_t omod, uint32_t mode_bits, mode::Round round) {
  constexpr int powers[] = {0, 1, 2, -1};
  if (omod) v = F::scale(v, powers[omod], round);
  return r.clamp ? F::clamp(v, mode_bits & mode::dx10_clamp) : v;
}

// Output modifiers are ignored while IEEE mode or denormal results are on.
uint32_t effective_omod(const Wave& w, const ResultStage& r) {
  uint32_t denorm =
      r.format == Format::f32 || r.format == Format::pf32 ? mode::denorm_f32(w.mode) : mode::denorm_f16_f64(w.mode);
  return (w.mode & mode::ieee) || (denorm & 2) ? 0 : r.omod;
}

void finish_result(Wave& w, const Op& op, const ResultStage& r) {
  Row* d = row(w, op.dst);
  const uint32_t omod = effective_omod(w, r), mode_bits = w.mode;
  const mode::Round single = mode::round_f32(mode_bits), other = mode::round_f16_f64(mode_bits);
  switch (r.format) {
  case Format::f32:
  case Format::pf32:
    for (unsigned k = 0; k < r.rows; ++k)
      each_lane(w, d[k], [&](unsigned i) { return finish<Single>(d[k].lane[i], r, omod, mode_bits, single); });
    return;
  case Format::f64:
    each_lane64(w, d[0], d[1], [&](unsigned i) {
      return finish<Double>(uint64_t{d[1].lane[i]} << 32 | d[0].lane[i], r, omod, mode_bits, other);
    });
    return;
  case Format::bf16:
    each_lane(w, d[0], [&](unsigned i) {
      uint32_t v = d[0].lane[i];
      return (v & 0xffff0000) | finish<Brain>(uint16_t(v), r, omod, mode_bits, other);
    });
    return;
  case Format::f16:
  case Format::pf16:
    each_lane(w, d[0], [&](unsigned i) {
      uint32_t v = d[0].lane[i], high = v >> 16;
      if (r.format == Format::pf16) high = finish<Half>(uint16_t(high), r, omod, mode_bits, other);
      return high << 16 | finish<Half>(uint16_t(v), r, omod, mode_bits, other);
    });
    return;
  default:
    return;
  }
}

// SDWA dst_sel and op_sel: part of the destination takes the low bits of the result.
void merge_result(Wave& w, const ResultStage& r) {
  const Row& result = w.staging[staging_result];
  Row& d = *row(w, r.to);
  const unsigned width = r.select <= Select::byte3 ? 8 : r.select <= Select::word1 ? 16 : 32;
  const unsigned at = r.select <= Select::byte3 ? unsigned(r.select) * 8 : r.select == Select::word1 ? 16 : 0;
  const uint32_t part = (width == 32 ? ~0u : (1u << width) - 1) << at;
  const unsigned down = 32 - width - at;
  switch (r.unused) {
  case 0:
    each_lane(w, d, [&](unsigned i) { return result.lane[i] << at & part; });
    return;
  case 1: // bits above the part repeat its sign, bits below are 0
    each_lane(w, d,
              [&](unsigned i) { return uint32_t(int32_t(result.lane[i] << (32 - width)) >> down) & (~0u << at); });
    return;
  default:
    each_lane(w, d, [&](unsigned i) { return (result.lane[i] << at & part) | (d.lane[i] & ~part); });
  }
}

void general(Wave& w, const Op& op) {
  const Stage& s = *op.stage;
  if (s.refresh) refresh_conditions(w);
  if (s.approximate) {
    ++w.approximate;
    w.approximate_seen[op.index] = 1;
  }
  for (unsigned k = 0; k < 3; ++k)
    if (s.source[k].rows) prepare_source(w, s, k);
  for (unsigned k = 0; k < 2; ++k)
    if (s.scale_splat >> k & 1) splat(w.staging[staging_scratch + k], scalar32(w, s.scale_scalar[k]));
  if (s.result.redirected) w.staging[staging_result] = *row(w, s.result.to);
  const uint64_t exec = w.exec();
  const uint64_t narrowed = s.has_dpp ? dpp_lanes(s.dpp, exec) : exec;
  if (narrowed != exec) w.set_exec(narrowed);
  s.core(w, op);
  if (s.result.omod || s.result.clamp) finish_result(w, op, s.result);
  if (s.result.redirected) merge_result(w, s.result);
  if (narrowed != exec) w.set_exec(exec);
}

template <unsigned k> void splat_one(Wave& w, const Op& op) {
  const Stage& s = *op.stage;
  const ScalarRef scalar = s.source[k].scalar;
  const uint32_t value = scalar32(w, scalar), slot = splat_slot(scalar);
  if (w.splat_of[slot] != value) [[unlikely]] {
    splat(w.staging[staging_rows + slot], value);
    w.splat_of[slot] = value;
  }
  s.core(w, op);
}

void count(Wave& w, const Op& op) {
  ++w.approximate;
  w.approximate_seen[op.index] = 1;
  op.stage->core(w, op);
}

void signs(Wave& w, const Op& op) {
  const Stage& stage = *op.stage;
  for (unsigned k = 0; k < 3; ++k) {
    const SourceStage& s = stage.source[k];
    if (!s.rows) continue;
    Row& to = w.staging[staging_source(k)];
    const uint32_t sign = sign_bits(s.format), keep = s.abs ? ~sign : ~0u, flip = s.neg ? sign : 0;
    if (s.splat)
      splat(to, (scalar32(w, s.scalar) & keep) ^ flip);
    else
      map(*row(w, s.from), to, [=](uint32_t v) { return (v & keep) ^ flip; });
  }
  stage.core(w, op);
}

void dpp(Wave& w, const Op& op) {
  const Stage& s = *op.stage;
  const uint64_t exec = w.exec(), narrowed = dpp_lanes(s.dpp, exec);
  move_lanes(s.dpp, exec, *row(w, s.source[0].from), w.staging[staging_source(0)]);
  if (narrowed == exec) return s.core(w, op);
  w.set_exec(narrowed);
  s.core(w, op);
  w.set_exec(exec);
}

} // namespace

StageRunners stage_runners() { return {&general, {&splat_one<0>, &splat_one<1>, &splat_one<2>}, &count, &signs, &dpp}; }

} // namespace asmevo::machine::ASMEVO_ISA
