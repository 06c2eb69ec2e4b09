// Conversions of the vector ALU: between integers and floats, between float formats, packed and normalised ones.
//
// To integers: toward zero, saturating, NaN gives 0. From integers and between floats: as MODE says for the
// destination.
#include "machine/semantics/float_lanes.h"

namespace asmevo::machine::ASMEVO_ISA {

namespace {

using enum Format;
using numeric::Bf8Fnuz;
using numeric::Bf8Ocp;
using numeric::Fp8Fnuz;
using numeric::Fp8Ocp;

// Truncation that no value can break: what is out of range is moved into it first.
AE_LANES uint32_t to_i32(float x) {
  const float bounded = x > -0x1p31f ? (x < 0x1.fffffep30f ? x : 0x1.fffffep30f) : -0x1p31f;
  const uint32_t whole = uint32_t(int32_t(bounded));
  return x >= 0x1p31f ? 0x7fffffffu : x != x ? 0u : whole;
}
AE_LANES uint32_t to_u32(float x) {
  const float bounded = x > 0.0f ? (x < 0x1.fffffep31f ? x : 0x1.fffffep31f) : 0.0f;
  const uint32_t high = bounded >= 0x1p31f ? 0x80000000u : 0u;
  const uint32_t whole = uint32_t(int32_t(bounded - (high ? 0x1p31f : 0.0f))) + high;
  return x >= 0x1p32f ? ~0u : whole;
}
AE_LANES uint32_t to_i32(double x) {
  const double bounded = x > -0x1p31 ? (x < 2147483647.0 ? x : 2147483647.0) : -0x1p31;
  return x != x ? 0u : uint32_t(int32_t(bounded));
}
AE_LANES uint32_t to_u32(double x) {
  const double bounded = x > 0.0 ? (x < 4294967295.0 ? x : 4294967295.0) : 0.0;
  const uint32_t high = bounded >= 0x1p31 ? 0x80000000u : 0u;
  return uint32_t(int32_t(bounded - (high ? 0x1p31 : 0.0))) + high;
}

/// Float of format F to an integer, one lane at a time in vector code.
template <class F, class Convert> AE_LANES void to_integer(Wave& w, const Op& op, Convert convert) {
  const Host<F> a(w, op.src[0]);
  const bool flush = environment<F>(w).flush_inputs;
  if (flush)
    each_lane(w, *row(w, op.dst), [&](unsigned i) { return convert(Host<F>::value(Host<F>::flush(a.bits(i)))); });
  else
    each_lane(w, *row(w, op.dst), [&](unsigned i) { return convert(Host<F>::value(a.bits(i))); });
}
template <class F> void cvt_i32(Wave& w, const Op& op) {
  to_integer<F>(w, op, [](auto x) { return to_i32(x); });
}
template <class F> void cvt_u32(Wave& w, const Op& op) {
  to_integer<F>(w, op, [](auto x) { return to_u32(x); });
}
void cvt_flr_i32(Wave& w, const Op& op) {
  to_integer<Binary32>(w, op, [](float x) { return to_i32(__builtin_floorf(x)); });
}
// floor(x + 0.5): the sum is exact in double.
void cvt_rpi_i32(Wave& w, const Op& op) {
  to_integer<Binary32>(w, op, [](float x) { return to_i32(__builtin_floor(double(x) + 0.5)); });
}
void cvt_i16_f16(Wave& w, const Op& op) {
  to_integer<Binary16>(w, op, [](float x) {
    const float bounded = x > -32768.0f ? (x < 32767.0f ? x : 32767.0f) : -32768.0f;
    return x != x ? 0u : uint32_t(int32_t(bounded)) & 0xffffu;
  });
}
void cvt_u16_f16(Wave& w, const Op& op) {
  to_integer<Binary16>(w, op, [](float x) {
    const float bounded = x > 0.0f ? (x < 65535.0f ? x : 65535.0f) : 0.0f;
    return uint32_t(int32_t(bounded));
  });
}

/// Integers to floats: `fast` rounds to nearest even.
template <class F, class Fast, class Read> AE_LANES void from_integer(Wave& w, const Op& op, Fast fast, Read read) {
  const uint32_t* a = row(w, op.src[0])->lane;
  const Environment e = environment<F>(w);
  Results<F> results;
  if (e.round == Round::nearest_even) {
    AE_EACH_LANE results.set(i, fast(a[i]));
  } else {
    each_set_lane(w, all_lanes, [&](unsigned i) { results.set(i, numeric::from_integer<F>(read(a[i]), e)); });
  }
  results.write(w, op.dst);
}
void cvt_f32_i32(Wave& w, const Op& op) {
  from_integer<Binary32>(
      w, op, [](uint32_t x) { return std::bit_cast<uint32_t>(float(int32_t(x))); },
      [](uint32_t x) { return int64_t(int32_t(x)); });
}
// In double, exactly, then rounded once.
AE_LANES double unsigned_to_double(uint32_t x) { return double(int32_t(x ^ 0x80000000u)) + 0x1p31; }
void cvt_f32_u32(Wave& w, const Op& op) {
  from_integer<Binary32>(
      w, op, [](uint32_t x) { return std::bit_cast<uint32_t>(float(unsigned_to_double(x))); },
      [](uint32_t x) { return int64_t(x); });
}
void cvt_f64_i32(Wave& w, const Op& op) {
  from_integer<Binary64>(
      w, op, [](uint32_t x) { return std::bit_cast<uint64_t>(double(int32_t(x))); },
      [](uint32_t x) { return int64_t(int32_t(x)); });
}
void cvt_f64_u32(Wave& w, const Op& op) {
  from_integer<Binary64>(
      w, op, [](uint32_t x) { return std::bit_cast<uint64_t>(unsigned_to_double(x)); },
      [](uint32_t x) { return int64_t(x); });
}
template <unsigned Byte> void cvt_f32_ubyte(Wave& w, const Op& op) {
  const uint32_t* a = row(w, op.src[0])->lane;
  each_lane(w, *row(w, op.dst),
            [&](unsigned i) { return std::bit_cast<uint32_t>(float(int32_t(a[i] >> (8 * Byte) & 0xffu))); });
}
void cvt_f16_i16(Wave& w, const Op& op) {
  from_integer<Binary16>(
      w, op, [](uint32_t x) { return narrow_to_half(float(int32_t(x << 16) >> 16)); },
      [](uint32_t x) { return int64_t(int16_t(x)); });
}
void cvt_f16_u16(Wave& w, const Op& op) {
  from_integer<Binary16>(
      w, op, [](uint32_t x) { return narrow_to_half(float(int32_t(x & 0xffffu))); },
      [](uint32_t x) { return int64_t(x & 0xffffu); });
}

/// Between float formats. `fast` makes all lanes to nearest even, sources and results flushed as told, and holds for
/// all numbers; NaNs, other rounding and saturation are done exactly.
template <class To, class From, class Fast> AE_LANES void between(Wave& w, const Op& op, Fast fast) {
  const Host<From> a(w, op.src[0]);
  const Environment e = environment<To>(w);
  const bool flush_source = environment<From>(w).flush_inputs, saturate = To::width == 16 && half_overflow_saturates(w);
  Results<To> results;
  uint64_t exact_lanes = 0;
  if (e.round == Round::nearest_even && !saturate) [[likely]] {
    fast(a, results, flush_source, e.flush_outputs);
    Row nan;
    uint32_t any = 0;
    AE_EACH_LANE {
      nan.lane[i] = typename From::Bits(a.bits(i) & ~From::sign) > From::infinity ? ~0u : 0u;
      any |= nan.lane[i];
    }
    if (any) [[unlikely]]
      exact_lanes = pack_mask(nan);
  } else {
    exact_lanes = all_lanes;
  }
  if (exact_lanes) [[unlikely]]
    each_set_lane(w, exact_lanes, [&](unsigned i) {
      const auto bits = typename From::Bits(a.bits(i));
      const bool finite = !numeric::is_infinity<From>(bits);
      results.set(i, numeric::convert<To, From>(bits, e, flush_source, saturate && finite));
    });
  results.write(w, op.dst);
}
/// `fast` from a conversion of one value.
template <class To, class From, class One> AE_LANES auto each_value(One one) {
  return [=](const Host<From>& a, Results<To>& results, bool flush_source, bool flush_result) {
    const auto loop = [&]<bool Source, bool Result>(std::bool_constant<Source>, std::bool_constant<Result>) {
      AE_EACH_LANE {
        const auto r = one(Host<From>::value(Source ? Host<From>::flush(a.bits(i)) : a.bits(i)));
        results.set(i, Result ? Host<To>::flush(r) : r);
      }
    };
    if (!flush_source && !flush_result)
      loop(std::false_type{}, std::false_type{});
    else if (flush_source && !flush_result)
      loop(std::true_type{}, std::false_type{});
    else if (!flush_source)
      loop(std::false_type{}, std::true_type{});
    else
      loop(std::true_type{}, std::true_type{});
  };
}
void cvt_f16_f32(Wave& w, const Op& op) {
  between<Binary16, Binary32>(w, op, [](const Host<Binary32>& a, Results<Binary16>& results, bool, bool flush_result) {
    narrow_row(a.lane, results.row); // a flushed f32 subnormal is a zero half anyway
    if (flush_result) flush_halves(results.row);
  });
}
void cvt_f32_f16(Wave& w, const Op& op) {
  between<Binary32, Binary16>(w, op, [](const Host<Binary16>& a, Results<Binary32>& results, bool flush_source, bool) {
    widen_row(a.lane, results.row); // a half is never subnormal in f32
    if (flush_source) flush_widened(results.row);
  });
}
void cvt_f32_f64(Wave& w, const Op& op) {
  between<Binary32, Binary64>(
      w, op, each_value<Binary32, Binary64>([](double x) { return std::bit_cast<uint32_t>(float(x)); }));
}
void cvt_f64_f32(Wave& w, const Op& op) {
  between<Binary64, Binary32>(
      w, op, each_value<Binary64, Binary32>([](float x) { return std::bit_cast<uint64_t>(double(x)); }));
}
void cvt_f32_bf16(Wave& w, const Op& op) {
  const uint32_t* a = row(w, op.src[0])->lane;
  each_lane(w, *row(w, op.dst), [&](unsigned i) { return a[i] << 16; });
}

/// A result word from two f32 sources.
template <class Pack> AE_LANES void pack_pair(Wave& w, const Op& op, Pack pack) {
  const uint32_t *a = row(w, op.src[0])->lane, *b = row(w, op.src[1])->lane;
  each_lane(w, *row(w, op.dst), [&](unsigned i) { return pack(a[i], b[i]); });
}
/// f32 to bf16, to nearest even; NaNs quieted.
AE_LANES uint32_t narrow_to_bfloat(uint32_t x) {
  const uint32_t rounded = (x + 0x7fffu + (x >> 16 & 1)) >> 16;
  return (x & 0x7fffffffu) > 0x7f800000u ? x >> 16 | 0x40u : rounded;
}
/// Two rows to halves of one, both converted by `convert_row`.
template <class ConvertRow> AE_LANES void pack_halves(Wave& w, const Op& op, ConvertRow convert_row) {
  Row low, high;
  convert_row(row(w, op.src[0])->lane, low);
  convert_row(row(w, op.src[1])->lane, high);
  if (environment<Binary16>(w).flush_outputs) flush_halves(low), flush_halves(high);
  each_lane(w, *row(w, op.dst), [&](unsigned i) { return low.lane[i] | high.lane[i] << 16; });
}
void cvt_pkrtz_f16_f32(Wave& w, const Op& op) {
  pack_halves(w, op, [](const uint32_t* in, Row& out) { cut_row(in, out); });
}
void cvt_pk_f16_f32(Wave& w, const Op& op) {
  pack_halves(w, op, [](const uint32_t* in, Row& out) { narrow_row(in, out); });
}
void cvt_pk_bf16_f32(Wave& w, const Op& op) {
  pack_pair(w, op, [](uint32_t a, uint32_t b) { return narrow_to_bfloat(a) | narrow_to_bfloat(b) << 16; });
}
template <class Integer, class F> void cvt_pknorm(Wave& w, const Op& op) {
  using Bits = typename F::Bits;
  const uint32_t *a = row(w, op.src[0])->lane, *b = row(w, op.src[1])->lane;
  Row results;
  each_set_lane(w, all_lanes, [&](unsigned i) {
    const auto x = numeric::to_normalised<Integer, F>(Bits(a[i])), y = numeric::to_normalised<Integer, F>(Bits(b[i]));
    results.lane[i] = uint16_t(x) | uint32_t{uint16_t(y)} << 16;
  });
  each_lane(w, *row(w, op.dst), [&](unsigned i) { return results.lane[i]; });
}
template <class Integer> void cvt_norm_f16(Wave& w, const Op& op) {
  const uint32_t* a = row(w, op.src[0])->lane;
  Row results;
  each_set_lane(w, all_lanes, [&](unsigned i) {
    results.lane[i] = uint16_t(numeric::to_normalised<Integer, Binary16>(uint16_t(a[i])));
  });
  each_lane(w, *row(w, op.dst), [&](unsigned i) { return results.lane[i]; });
}
void cvt_off_f32_i4(Wave& w, const Op& op) {
  const uint32_t* a = row(w, op.src[0])->lane;
  each_lane(w, *row(w, op.dst),
            [&](unsigned i) { return std::bit_cast<uint32_t>(float(int32_t(a[i] << 28) >> 28) * 0.0625f); });
}
/// A float to a byte of a word, rounded as MODE says: the third source's, or the destination's (accumulating).
template <bool Accumulate> void cvt_pk_u8_f32(Wave& w, const Op& op) {
  const uint32_t *a = row(w, op.src[0])->lane, *b = row(w, op.src[1])->lane;
  const uint32_t* old = row(w, Accumulate ? op.dst : op.src[2])->lane;
  const Round round = environment<Binary32>(w).round;
  Row results;
  each_set_lane(w, all_lanes, [&](unsigned i) {
    const uint32_t byte = numeric::to_integer<uint8_t, Binary32>(a[i], round), shift = 8 * (b[i] & 3);
    results.lane[i] = (old[i] & ~(0xffu << shift)) | byte << shift;
  });
  each_lane(w, *row(w, op.dst), [&](unsigned i) { return results.lane[i]; });
}

// FP8 and BF8. Sources arrive with their byte or word selected (SDWA); 256 values fit a table.
template <class F> constexpr auto widened = [] {
  std::array<uint32_t, 256> table{};
  for (unsigned code = 0; code < 256; ++code)
    table[code] = numeric::convert<Binary32, F>(uint8_t(code), {.ieee = true});
  return table;
}();
template <class F> void cvt_f32_small(Wave& w, const Op& op) {
  const uint32_t* a = row(w, op.src[0])->lane;
  each_lane(w, *row(w, op.dst), [&](unsigned i) { return widened<F>[a[i] & 0xffu]; });
}
template <class F> void cvt_pk_f32_small(Wave& w, const Op& op) {
  const uint32_t* a = row(w, op.src[0])->lane;
  Row* d = row(w, op.dst);
  each_lane64(w, d[0], d[1],
              [&](unsigned i) { return uint64_t{widened<F>[a[i] >> 8 & 0xffu]} << 32 | widened<F>[a[i] & 0xffu]; });
}

/// A source with its own sign modifiers, for rows marked raw.
AE_LANES uint32_t modified(uint32_t bits, const Modifiers& m, unsigned k) {
  if (m.abs() >> k & 1) bits &= 0x7fffffffu;
  return m.neg() >> k & 1 ? bits ^ 0x80000000u : bits;
}
/// Two f32 to a half of the destination; op_sel[3] says which, the other is kept.
template <class F> void cvt_pk_small_f32(Wave& w, const Op& op) {
  const uint32_t *a = row(w, op.src[0])->lane, *b = row(w, op.src[1])->lane;
  Row& d = *row(w, op.dst);
  const Modifiers m = op.modifiers;
  const uint32_t shift = m.op_sel() & 8 ? 16 : 0, kept = shift ? 0xffffu : 0xffff0000u;
  const bool saturate = half_overflow_saturates(w);
  Row results;
  each_set_lane(w, all_lanes, [&](unsigned i) {
    const uint32_t low = numeric::convert<F, Binary32>(modified(a[i], m, 0), {.ieee = true}, false, saturate);
    const uint32_t high = numeric::convert<F, Binary32>(modified(b[i], m, 1), {.ieee = true}, false, saturate);
    results.lane[i] = (d.lane[i] & kept) | (low | high << 8) << shift;
  });
  each_lane(w, d, [&](unsigned i) { return results.lane[i]; });
}
/// One f32 to a byte of the destination with a random number; op_sel[3:2] says which byte.
template <class F> void cvt_sr_small_f32(Wave& w, const Op& op) {
  const uint32_t *a = row(w, op.src[0])->lane, *random = row(w, op.src[1])->lane;
  Row& d = *row(w, op.dst);
  const Modifiers m = op.modifiers;
  const uint32_t shift = 8 * (m.op_sel() >> 2 & 3);
  const bool saturate = half_overflow_saturates(w);
  Row results;
  each_set_lane(w, all_lanes, [&](unsigned i) {
    const uint32_t byte = numeric::convert_dithered<F>(modified(a[i], m, 0), random[i], saturate);
    results.lane[i] = (d.lane[i] & ~(0xffu << shift)) | byte << shift;
  });
  each_lane(w, d, [&](unsigned i) { return results.lane[i]; });
}
/// One f32 to a half of the destination with a random number.
template <class F> void cvt_sr_half_f32(Wave& w, const Op& op) {
  const uint32_t *a = row(w, op.src[0])->lane, *random = row(w, op.src[1])->lane;
  Row& d = *row(w, op.dst);
  const Modifiers m = op.modifiers;
  const uint32_t shift = m.op_sel() & 8 ? 16 : 0;
  const bool saturate = half_overflow_saturates(w);
  Row results;
  each_set_lane(w, all_lanes, [&](unsigned i) {
    const uint32_t half = numeric::convert_stochastic<F, Binary32>(modified(a[i], m, 0), random[i], saturate);
    results.lane[i] = (d.lane[i] & ~(0xffffu << shift)) | half << shift;
  });
  each_lane(w, d, [&](unsigned i) { return results.lane[i]; });
}

constexpr InstructionRow raw(std::string_view name, Handler handler, TargetMask on) {
  return valu(name, {.dst = b32, .src = {b32, b32}, .raw = true}, handler, Support::exact, on);
}

constexpr std::array rows = {
    valu("v_cvt_i32_f32", {b32, {f32}}, &cvt_i32<Binary32>),
    valu("v_cvt_u32_f32", {b32, {f32}}, &cvt_u32<Binary32>),
    valu("v_cvt_i32_f64", {b32, {f64}}, &cvt_i32<Binary64>),
    valu("v_cvt_u32_f64", {b32, {f64}}, &cvt_u32<Binary64>),
    valu("v_cvt_flr_i32_f32", {b32, {f32}}, &cvt_flr_i32),
    valu("v_cvt_rpi_i32_f32", {b32, {f32}}, &cvt_rpi_i32),
    valu("v_cvt_i16_f16", {b16, {f16}}, &cvt_i16_f16),
    valu("v_cvt_u16_f16", {b16, {f16}}, &cvt_u16_f16),
    valu("v_cvt_f32_i32", {f32, {b32}}, &cvt_f32_i32),
    valu("v_cvt_f32_u32", {f32, {b32}}, &cvt_f32_u32),
    valu("v_cvt_f64_i32", {f64, {b32}}, &cvt_f64_i32),
    valu("v_cvt_f64_u32", {f64, {b32}}, &cvt_f64_u32),
    valu("v_cvt_f32_ubyte0", {f32, {b32}}, &cvt_f32_ubyte<0>),
    valu("v_cvt_f32_ubyte1", {f32, {b32}}, &cvt_f32_ubyte<1>),
    valu("v_cvt_f32_ubyte2", {f32, {b32}}, &cvt_f32_ubyte<2>),
    valu("v_cvt_f32_ubyte3", {f32, {b32}}, &cvt_f32_ubyte<3>),
    valu("v_cvt_f16_i16", {f16, {b16}}, &cvt_f16_i16),
    valu("v_cvt_f16_u16", {f16, {b16}}, &cvt_f16_u16),
    valu("v_cvt_f16_f32", {f16, {f32}}, &cvt_f16_f32),
    valu("v_cvt_f32_f16", {f32, {f16}}, &cvt_f32_f16),
    valu("v_cvt_f32_f64", {f32, {f64}}, &cvt_f32_f64),
    valu("v_cvt_f64_f32", {f64, {f32}}, &cvt_f64_f32),
    valu("v_cvt_f32_bf16", {f32, {bf16}}, &cvt_f32_bf16, Support::exact, on_gfx950),
    valu("v_cvt_off_f32_i4", {f32, {b32}}, &cvt_off_f32_i4),
    valu("v_cvt_norm_i16_f16", {b16, {f16}}, &cvt_norm_f16<int16_t>),
    valu("v_cvt_norm_u16_f16", {b16, {f16}}, &cvt_norm_f16<uint16_t>),
    valu("v_cvt_pknorm_i16_f32", {b32, {f32, f32}}, &cvt_pknorm<int16_t, Binary32>),
    valu("v_cvt_pknorm_u16_f32", {b32, {f32, f32}}, &cvt_pknorm<uint16_t, Binary32>),
    valu("v_cvt_pknorm_i16_f16", {b32, {f16, f16}}, &cvt_pknorm<int16_t, Binary16>),
    valu("v_cvt_pknorm_u16_f16", {b32, {f16, f16}}, &cvt_pknorm<uint16_t, Binary16>),
    valu("v_cvt_pkrtz_f16_f32", {b32, {f32, f32}}, &cvt_pkrtz_f16_f32),
    valu("v_cvt_pk_f16_f32", {b32, {f32, f32}}, &cvt_pk_f16_f32, Support::exact, on_gfx950),
    valu("v_cvt_pk_bf16_f32", {b32, {f32, f32}}, &cvt_pk_bf16_f32, Support::exact, on_gfx950),
    valu("v_cvt_pk_u8_f32", {b32, {f32, b32, b32}}, &cvt_pk_u8_f32<false>),
    valu("v_cvt_pkaccum_u8_f32", {b32, {f32, b32}}, &cvt_pk_u8_f32<true>),
    valu("v_cvt_f32_fp8", {f32, {b32}}, &cvt_f32_small<Fp8Fnuz>, Support::exact, on_gfx942),
    valu("v_cvt_f32_fp8", {f32, {b32}}, &cvt_f32_small<Fp8Ocp>, Support::exact, on_gfx950),
    valu("v_cvt_f32_bf8", {f32, {b32}}, &cvt_f32_small<Bf8Fnuz>, Support::exact, on_gfx942),
    valu("v_cvt_f32_bf8", {f32, {b32}}, &cvt_f32_small<Bf8Ocp>, Support::exact, on_gfx950),
    valu("v_cvt_pk_f32_fp8", {Operand(b64), {b32}}, &cvt_pk_f32_small<Fp8Fnuz>, Support::exact, on_gfx942),
    valu("v_cvt_pk_f32_fp8", {Operand(b64), {b32}}, &cvt_pk_f32_small<Fp8Ocp>, Support::exact, on_gfx950),
    valu("v_cvt_pk_f32_bf8", {Operand(b64), {b32}}, &cvt_pk_f32_small<Bf8Fnuz>, Support::exact, on_gfx942),
    valu("v_cvt_pk_f32_bf8", {Operand(b64), {b32}}, &cvt_pk_f32_small<Bf8Ocp>, Support::exact, on_gfx950),
    raw("v_cvt_pk_fp8_f32", &cvt_pk_small_f32<Fp8Fnuz>, on_gfx942),
    raw("v_cvt_pk_fp8_f32", &cvt_pk_small_f32<Fp8Ocp>, on_gfx950),
    raw("v_cvt_pk_bf8_f32", &cvt_pk_small_f32<Bf8Fnuz>, on_gfx942),
    raw("v_cvt_pk_bf8_f32", &cvt_pk_small_f32<Bf8Ocp>, on_gfx950),
    raw("v_cvt_sr_fp8_f32", &cvt_sr_small_f32<Fp8Fnuz>, on_gfx942),
    raw("v_cvt_sr_fp8_f32", &cvt_sr_small_f32<Fp8Ocp>, on_gfx950),
    raw("v_cvt_sr_bf8_f32", &cvt_sr_small_f32<Bf8Fnuz>, on_gfx942),
    raw("v_cvt_sr_bf8_f32", &cvt_sr_small_f32<Bf8Ocp>, on_gfx950),
    raw("v_cvt_sr_f16_f32", &cvt_sr_half_f32<Binary16>, on_gfx950),
    raw("v_cvt_sr_bf16_f32", &cvt_sr_half_f32<Bfloat16>, on_gfx950),
};

} // namespace

std::span<const InstructionRow> valu_convert() { return rows; }

} // namespace asmevo::machine::ASMEVO_ISA
