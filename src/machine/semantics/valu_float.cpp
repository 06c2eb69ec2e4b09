// Float arithmetic of the vector ALU in f16, f32 and f64: sums, products, fused and unfused multiply-add, minimum,
// maximum, rounding to integral values, frexp and ldexp, cube coordinates.
#include "machine/semantics/float_operations.h"

namespace asmevo::machine::ASMEVO_ISA {

namespace {

using enum Format;

template <Round Direction> struct Integral : Arithmetic {
  static constexpr int direction = Direction == Round::zero   ? _MM_FROUND_TO_ZERO
                                   : Direction == Round::up   ? _MM_FROUND_TO_POS_INF
                                   : Direction == Round::down ? _MM_FROUND_TO_NEG_INF
                                                              : _MM_FROUND_TO_NEAREST_INT;
  template <class T> AE_LANES static T fast(T a) { return integral<direction>(a); }
  template <class F, class B> static B exact(B a, const Environment& e) {
    return numeric::round_integral<F>(a, Direction, e);
  }
};
// v_fract works in round to nearest only where MODE does, so the difference is what the fast path computes too.
struct Fraction : Arithmetic {
  AE_LANES static Singles fast(Singles a) { return below_one(a, Singles(0x1.fffffep-1f)); }
  AE_LANES static Doubles fast(Doubles a) { return below_one(a, Doubles(0x1.fffffffffffffp-1)); }
  template <class T> AE_LANES static T below_one(T a, T most) {
    const T r = a - integral<_MM_FROUND_TO_NEG_INF>(a);
    return select(r >= T(1), most, r);
  }
  template <class F, class B> static B exact(B a, const Environment& e) { return numeric::fraction<F>(a, e); }
};
// In half precision 1 - 2^-11 must come out, and float arithmetic would round to 1.
struct FractionHalf : Fraction {
  static constexpr bool exact_only = true;
};
struct Mantissa : Arithmetic {
  static constexpr bool exact_only = true;
  template <class F, class B> static B exact(B a, const Environment& e) { return numeric::mantissa<F>(a, e); }
};

// f32 is the face, then the coordinates on it and twice the major axis.
AE_LANES Singles magnitude(Singles x) { return singles_of(bits_of(x) & 0x7fffffffu); }
AE_LANES Truth z_is_major(Singles x, Singles y, Singles z) {
  return (magnitude(z) >= magnitude(x)) & (magnitude(z) >= magnitude(y));
}
AE_LANES Truth y_is_major(Singles x, Singles y) { return magnitude(y) >= magnitude(x); }
AE_LANES Singles by_major(Singles x, Singles y, Singles z, Singles of_x, Singles of_y, Singles of_z) {
  return select(z_is_major(x, y, z), of_z, select(y_is_major(x, y), of_y, of_x));
}
template <class Derived> struct Cube : Arithmetic {
  AE_LANES static Singles fast(Singles x, Singles y, Singles z) { return Derived::choose(x, y, z); }
  template <class F, class B> static B exact(B x, B y, B z, const Environment& e) {
    const auto number = [&](B bits) {
      return Singles(std::bit_cast<float>(uint32_t(numeric::flush_input<F>(bits, e))));
    };
    const B r = bits_of(Derived::choose(number(x), number(y), number(z))).v[0];
    return numeric::is_nan<F>(r) ? numeric::propagate<F>(r, e) : r;
  }
};
struct CubeId : Cube<CubeId> {
  AE_LANES static Singles choose(Singles x, Singles y, Singles z) {
    const auto face = [](Singles axis, float positive) {
      return select(axis < Singles(0), Singles(positive + 1), Singles(positive));
    };
    return by_major(x, y, z, face(x, 0), face(y, 2), face(z, 4));
  }
};
struct CubeS : Cube<CubeS> {
  AE_LANES static Singles choose(Singles x, Singles y, Singles z) {
    return by_major(x, y, z, select(x < Singles(0), z, -z), x, select(z < Singles(0), -x, x));
  }
};
struct CubeT : Cube<CubeT> {
  AE_LANES static Singles choose(Singles x, Singles y, Singles z) {
    return by_major(x, y, z, -y, select(y < Singles(0), -z, z), -y);
  }
};
struct CubeMajor : Cube<CubeMajor> {
  AE_LANES static Singles choose(Singles x, Singles y, Singles z) { return Singles(2) * by_major(x, y, z, x, y, z); }
};

/// The exponent of frexp, as a 32- or 16-bit integer.
template <class F> void frexp_exponent(Wave& w, const Op& op) {
  const Host<F> a(w, op.src[0]);
  const Environment e = environment<F>(w);
  each_lane(w, *row(w, op.dst), [&](unsigned i) {
    const auto exponent = uint32_t(numeric::exponent<F>(typename F::Bits(a.bits(i)), e));
    return F::width == 16 ? exponent & 0xffffu : exponent;
  });
}

/// a * 2^b with b an integer, 16 bits wide for f16. A product of singles is the right one where the power is a normal
/// number, one of doubles for every power; what is NaN is exact.
template <class F> void ldexp(Wave& w, const Op& op) {
  const Host<F> a(w, op.src[0]);
  const uint32_t* power = row(w, op.src[1])->lane;
  const Environment e = environment<F>(w);
  Results<F> results;
  uint64_t odd = all_lanes;
  if constexpr (F::width == 32) {
    uint32_t beyond = 0;
    Row nan;
    const bool usual = e.round == Round::nearest_even && e.flush_inputs == e.flush_outputs;
    AE_EACH_LANE {
      const int32_t p = int32_t(power[i]);
      const uint32_t x = e.flush_inputs ? flush32(a.bits(i)) : a.bits(i);
      const float r = std::bit_cast<float>(x) * std::bit_cast<float>((uint32_t(p) + 127) << 23);
      const uint32_t bits = std::bit_cast<uint32_t>(r);
      results.set(i, e.flush_outputs ? flush32(bits) : bits);
      beyond |= uint32_t(p < -126) | uint32_t(p > 127);
      nan.lane[i] = (x & ~Binary32::sign) > Binary32::infinity ? ~0u : 0u;
    }
    if (usual && beyond) {
      AE_EACH_LANE {
        const int32_t p = std::clamp(int32_t(power[i]), -300, 300); // from 2^-149 to 2^128 is less
        const uint32_t x = e.flush_inputs ? flush32(a.bits(i)) : a.bits(i);
        const double r = double(std::bit_cast<float>(x)) * std::bit_cast<double>(uint64_t(uint32_t(p + 1023)) << 52);
        const uint32_t bits = std::bit_cast<uint32_t>(float(r));
        results.set(i, e.flush_outputs ? flush32(bits) : bits);
      }
    }
    if (usual) odd = pack_mask(nan);
  }
  each_set_lane(w, odd, [&](unsigned i) {
    const int p = F::width == 16 ? int16_t(power[i]) : int32_t(power[i]);
    results.set(i, numeric::scale<F>(typename F::Bits(a.bits(i)), p, e));
  });
  results.write(w, op.dst);
}

/// f32 instructions that have a fast way have one with modifiers too.
template <class Op_, class F, unsigned N> constexpr InstructionRow with_signs(InstructionRow row) {
  if constexpr (std::is_same_v<F, Binary32> && !Op_::exact_only) row.signs = &float_op_signs<Op_, N>;
  return row;
}

// v_fmamk/v_madmk multiply with the literal, v_fmaak/v_madak add it; operands are in assembly order: S0 * K + S1 and
// S0 * S1 + K both list their factors first.
template <class F, class Op_> constexpr InstructionRow ternary(std::string_view name, TargetMask on = on_all) {
  constexpr Format f = Host<F>::format;
  return with_signs<Op_, F, 3>(valu(name, {f, {f, f, f}}, &float_op<Op_, F, 3>, Support::exact, on));
}
template <class Op_> constexpr InstructionRow keeping(std::string_view name) {
  return valu(name, {f16, {f16, f16, f16}}, &float_op<Op_, Binary16, 3, true>);
}
template <class F, class Op_> constexpr InstructionRow binary(std::string_view name, TargetMask on = on_all) {
  constexpr Format f = Host<F>::format;
  return with_signs<Op_, F, 2>(valu(name, {f, {f, f}}, &float_op<Op_, F, 2>, Support::exact, on));
}
template <class F, class Op_> constexpr InstructionRow unary(std::string_view name, TargetMask on = on_all) {
  constexpr Format f = Host<F>::format;
  return valu(name, {f, {f}}, &float_op<Op_, F, 1>, Support::exact, on);
}
template <class F, class Op_> constexpr InstructionRow accumulating(std::string_view name, TargetMask on = on_all) {
  constexpr Format f = Host<F>::format;
  InstructionRow row = valu(name, {f, {f, f}}, &float_accumulate<Op_, F>, Support::exact, on);
  if constexpr (std::is_same_v<F, Binary32> && !Op_::exact_only) row.signs = &float_accumulate_signs<Op_>;
  return row;
}

constexpr std::array rows = {
    binary<Binary32, Add>("v_add_f32"),
    binary<Binary32, Subtract>("v_sub_f32"),
    binary<Binary32, SubtractReversed>("v_subrev_f32"),
    binary<Binary32, Multiply>("v_mul_f32"),
    binary<Binary32, MultiplyLegacy>("v_mul_legacy_f32"),
    binary<Binary32, Minimum>("v_min_f32"),
    binary<Binary32, Maximum>("v_max_f32"),
    ternary<Binary32, Minimum3>("v_min3_f32"),
    ternary<Binary32, Maximum3>("v_max3_f32"),
    ternary<Binary32, Median3>("v_med3_f32"),
    ternary<Binary32, ExtremeOrNan3<false>>("v_minimum3_f32", on_gfx950),
    ternary<Binary32, ExtremeOrNan3<true>>("v_maximum3_f32", on_gfx950),
    ternary<Binary32, Fma>("v_fma_f32"),
    accumulating<Binary32, Fma>("v_fmac_f32"),
    valu("v_fmamk_f32", {f32, {f32, k32, f32}}, &float_op<Fma, Binary32, 3>, Support::exact, from_gfx942),
    valu("v_fmaak_f32", {f32, {f32, f32, k32}}, &float_op<Fma, Binary32, 3>, Support::exact, from_gfx942),
    ternary<Binary32, Mad>("v_mad_f32", before_gfx942),
    ternary<Binary32, MadLegacy>("v_mad_legacy_f32", before_gfx942),
    accumulating<Binary32, Mad>("v_mac_f32", before_gfx942),
    valu("v_madmk_f32", {f32, {f32, k32, f32}}, &float_op<Mad, Binary32, 3>, Support::exact, before_gfx942),
    valu("v_madak_f32", {f32, {f32, f32, k32}}, &float_op<Mad, Binary32, 3>, Support::exact, before_gfx942),
    unary<Binary32, Integral<Round::zero>>("v_trunc_f32"),
    unary<Binary32, Integral<Round::up>>("v_ceil_f32"),
    unary<Binary32, Integral<Round::down>>("v_floor_f32"),
    unary<Binary32, Integral<Round::nearest_even>>("v_rndne_f32"),
    unary<Binary32, Fraction>("v_fract_f32"),
    unary<Binary32, Mantissa>("v_frexp_mant_f32"),
    valu("v_frexp_exp_i32_f32", {b32, {f32}}, &frexp_exponent<Binary32>),
    valu("v_ldexp_f32", {f32, {f32, b32}}, &ldexp<Binary32>),
    ternary<Binary32, CubeId>("v_cubeid_f32"),
    ternary<Binary32, CubeS>("v_cubesc_f32"),
    ternary<Binary32, CubeT>("v_cubetc_f32"),
    ternary<Binary32, CubeMajor>("v_cubema_f32"),

    binary<Binary64, Add>("v_add_f64"),
    binary<Binary64, Multiply>("v_mul_f64"),
    binary<Binary64, Minimum>("v_min_f64"),
    binary<Binary64, Maximum>("v_max_f64"),
    ternary<Binary64, Fma>("v_fma_f64"),
    accumulating<Binary64, Fma>("v_fmac_f64", from_gfx90a),
    unary<Binary64, Integral<Round::zero>>("v_trunc_f64"),
    unary<Binary64, Integral<Round::up>>("v_ceil_f64"),
    unary<Binary64, Integral<Round::down>>("v_floor_f64"),
    unary<Binary64, Integral<Round::nearest_even>>("v_rndne_f64"),
    unary<Binary64, Fraction>("v_fract_f64"),
    unary<Binary64, Mantissa>("v_frexp_mant_f64"),
    valu("v_frexp_exp_i32_f64", {b32, {f64}}, &frexp_exponent<Binary64>),
    valu("v_ldexp_f64", {f64, {f64, b32}}, &ldexp<Binary64>),

    binary<Binary16, Add>("v_add_f16"),
    binary<Binary16, Subtract>("v_sub_f16"),
    binary<Binary16, SubtractReversed>("v_subrev_f16"),
    binary<Binary16, Multiply>("v_mul_f16"),
    binary<Binary16, Minimum>("v_min_f16"),
    binary<Binary16, Maximum>("v_max_f16"),
    keeping<Minimum3>("v_min3_f16"),
    keeping<Maximum3>("v_max3_f16"),
    keeping<Median3>("v_med3_f16"),
    keeping<FmaHalf>("v_fma_f16"),
    ternary<Binary16, FmaHalf>("v_fma_legacy_f16"),
    keeping<Mad>("v_mad_f16"),
    ternary<Binary16, Mad>("v_mad_legacy_f16"),
    accumulating<Binary16, Mad>("v_mac_f16"),
    valu("v_madmk_f16", {f16, {f16, k16, f16}}, &float_op<Mad, Binary16, 3, true>),
    valu("v_madak_f16", {f16, {f16, f16, k16}}, &float_op<Mad, Binary16, 3, true>),
    unary<Binary16, Integral<Round::zero>>("v_trunc_f16"),
    unary<Binary16, Integral<Round::up>>("v_ceil_f16"),
    unary<Binary16, Integral<Round::down>>("v_floor_f16"),
    unary<Binary16, Integral<Round::nearest_even>>("v_rndne_f16"),
    unary<Binary16, FractionHalf>("v_fract_f16"),
    unary<Binary16, Mantissa>("v_frexp_mant_f16"),
    valu("v_frexp_exp_i16_f16", {b16, {f16}}, &frexp_exponent<Binary16>),
    valu("v_ldexp_f16", {f16, {f16, b16}}, &ldexp<Binary16>),
};

} // namespace

std::span<const InstructionRow> valu_float() { return rows; }

} // namespace asmevo::machine::ASMEVO_ISA
