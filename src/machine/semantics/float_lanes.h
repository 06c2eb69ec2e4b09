// Float instructions over lanes.
//
// An instruction is a type with two definitions: `fast`, in the host's own arithmetic, which the compiler turns into
// vector code, and `exact`, from numeric/, which is right in every mode and for every value. They give the same bits
// where MODE rounds to nearest even, and no NaN is involved: the host's NaNs differ from AMD's in sign and in which
// payload survives. So the fast loop also collects whether a lane saw a NaN, and such lanes are done again exactly.
// In any other rounding or mixed denormal mode all lanes are exact, and slow.
//
// Flushed subnormals (the mode of hand-written kernels for f32) stay fast: flushing is two vector operations a value.
#pragma once

#include "machine/lanes.h"
#include "machine/numeric/arithmetic.h"
#include "machine/numeric/convert.h"
#include "machine/semantics/half_rows.h"
#include "machine/semantics/rows.h"

#include <array>
#include <tuple>
#include <utility>

namespace asmevo::machine::ASMEVO_ISA {

using numeric::Bfloat16;
using numeric::Binary16;
using numeric::Binary32;
using numeric::Binary64;
using numeric::Environment;
using numeric::Round;

/// What MODE says about numbers of format F.
template <class F> AE_LANES Environment environment(const Wave& w) {
  constexpr bool single = F::width == 32;
  const uint32_t round = single ? mode::round_f32(w.mode) : mode::round_f16_f64(w.mode);
  const uint32_t denormals = single ? mode::denorm_f32(w.mode) : mode::denorm_f16_f64(w.mode);
  return {Round(round), !(denormals & 1), !(denormals & 2), (w.mode & mode::ieee) != 0};
}

/// MODE.fp16_ovfl: f16 (and FP8) results of finite sources that overflow become the largest number.
AE_LANES bool half_overflow_saturates(const Wave& w) { return w.mode >> 23 & 1; }

// The host type that computes a format, and how lanes get in and out of it. f16 computes in float: products of two
// halves are exact there, and rounding a sum to float first does no harm (float has 2p + 2 bits).
AE_LANES uint32_t flush32(uint32_t x) { return x & 0x7f800000u ? x : x & 0x80000000u; }
AE_LANES uint64_t flush64(uint64_t x) { return x & 0x7ff0000000000000u ? x : x & 0x8000000000000000u; }

/// `nearest` is a result rounded to float and `error` what rounding took away (or anything of its sign). Rounded to odd
/// instead, so that a second rounding to half gives what one rounding would have.
AE_LANES float to_odd(float nearest, float error) {
  const uint32_t bits = std::bit_cast<uint32_t>(nearest);
  const uint32_t away = (std::bit_cast<uint32_t>(error) ^ bits) >> 31 ? ~0u : 1u; // toward zero, or away from it
  return std::bit_cast<float>((error == 0) | (bits & 1) ? bits : bits + away);
}
AE_LANES float narrow_to_odd(double value) {
  const float nearest = float(value);
  return to_odd(nearest, float(value - double(nearest)));
}

template <class F> struct Host;
template <> struct Host<Binary32> {
  using Value = float;
  static constexpr Format format = Format::f32;
  const uint32_t* lane;
  AE_LANES Host(Wave& w, RowRef ref) : lane(row(w, ref)->lane) {}
  AE_LANES explicit Host(const Row& row) : lane(row.lane) {}
  AE_LANES uint32_t bits(unsigned i) const { return lane[i]; }
  AE_LANES static float value(uint32_t bits) { return std::bit_cast<float>(bits); }
  AE_LANES static uint32_t flush(uint32_t bits) { return flush32(bits); }
  AE_LANES static uint32_t back(float value) { return std::bit_cast<uint32_t>(value); }
};
template <> struct Host<Binary64> {
  using Value = double;
  static constexpr Format format = Format::f64;
  const uint32_t *low, *high;
  AE_LANES Host(Wave& w, RowRef ref) : low(row(w, ref)->lane), high(row(w, ref)[1].lane) {}
  AE_LANES uint64_t bits(unsigned i) const { return uint64_t{high[i]} << 32 | low[i]; }
  AE_LANES static double value(uint64_t bits) { return std::bit_cast<double>(bits); }
  AE_LANES static uint64_t flush(uint64_t bits) { return flush64(bits); }
  AE_LANES static uint64_t back(double value) { return std::bit_cast<uint64_t>(value); }
};
template <> struct Host<Binary16> {
  using Value = float;
  static constexpr Format format = Format::f16;
  const uint32_t* lane;
  AE_LANES Host(Wave& w, RowRef ref) : lane(row(w, ref)->lane) {}
  AE_LANES explicit Host(const Row& row) : lane(row.lane) {}
  AE_LANES uint32_t bits(unsigned i) const { return lane[i] & 0xffffu; }
  AE_LANES static float value(uint32_t bits) { return widen_half(bits); }
  AE_LANES static uint32_t flush(uint32_t bits) { return flush16(bits); }
  AE_LANES static uint32_t back(float value) { return narrow_to_half(value); }
};

/// Results of one instruction, lane by lane, before EXEC.
template <class F> struct Results {
  Row row;
  AE_LANES void set(unsigned i, uint32_t bits) { row.lane[i] = bits; }
  AE_LANES void write(Wave& w, RowRef ref) {
    each_lane(w, *machine::row(w, ref), [&](unsigned i) { return row.lane[i]; });
  }
  /// Into the lower half; the upper one stays (meaning.h says which instructions do that).
  AE_LANES void write_lower(Wave& w, RowRef ref) {
    Row& d = *machine::row(w, ref);
    each_lane(w, d, [&](unsigned i) { return (d.lane[i] & 0xffff0000u) | row.lane[i]; });
  }
};
template <> struct Results<Binary64> {
  Row low, high;
  AE_LANES void set(unsigned i, uint64_t bits) { low.lane[i] = uint32_t(bits), high.lane[i] = uint32_t(bits >> 32); }
  AE_LANES void write(Wave& w, RowRef ref) {
    Row* d = row(w, ref);
    each_lane(w, d[0], [&](unsigned i) { return low.lane[i]; });
    each_lane(w, d[1], [&](unsigned i) { return high.lane[i]; });
  }
};

/// f(i) for every active lane that is set in `which`.
template <class Function> AE_LANES void each_set_lane(const Wave& w, uint64_t which, Function f) {
  for (uint64_t left = which & w.exec(); left; left &= left - 1) f(unsigned(__builtin_ctzll(left)));
}

/// A number that exceeds `calm` for NaNs alone. 64-bit values show it in their upper word.
inline constexpr uint32_t calm32 = 0x7f800000u, calm64 = 0x7ff00000u;
AE_LANES uint32_t worry(float x) { return std::bit_cast<uint32_t>(x) & 0x7fffffffu; }
AE_LANES uint32_t worry(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  return (uint32_t(bits >> 32) & 0x7fffffffu) | (uint32_t(bits) ? 1u : 0u);
}
AE_LANES uint32_t greater_of(uint32_t a, uint32_t b) { return a > b ? a : b; }

/// Properties of an instruction that are not in its two definitions; a type overrides what differs.
struct Arithmetic {
  static constexpr bool exact_only = false;       // no fast definition
  static constexpr bool flushes_always = false;   // ignores MODE.denorm
  static constexpr bool makes_infinities = false; // of finite sources, and means them
  /// Exceeds calm() in lanes where the exact definition must decide, given the fast result and the sources.
  template <class T, class... Sources> AE_LANES static uint32_t doubt(T result, Sources...) { return worry(result); }
  template <class T> static constexpr uint32_t calm() { return sizeof(T) == 8 ? calm64 : calm32; }
};

/// One float instruction of format F with N sources, which may be the destination.
template <class Op_, class F, unsigned N> struct FloatExecutor {
  using Lane = Host<F>;
  using Bits = typename F::Bits;

  template <size_t... K> [[gnu::noinline]] static void exactly(Wave& w, const std::array<Lane, N>& source,
                                                               const Environment& e, Results<F>& results,
                                                               uint64_t which, std::index_sequence<K...>) {
    each_set_lane(w, which, [&](unsigned i) { results.set(i, Op_::template exact<F>(Bits(source[K].bits(i))..., e)); });
  }

  using Value = typename Lane::Value;
  template <bool Flush> AE_LANES static Value source_value(const Lane& s, unsigned i) {
    const auto bits = s.bits(i);
    return Lane::value(Flush ? Lane::flush(bits) : bits);
  }

  /// Halves are widened a row at a time, computed in float, and narrowed a row at a time.
  template <bool Flush, size_t... K>
  AE_LANES static bool fast_halves(const std::array<Lane, N>& source, Results<F>& results, std::index_sequence<K...>) {
    Row wide[N], narrow;
    for (unsigned k = 0; k < N; ++k) {
      widen_row(source[k].lane, wide[k]);
      if constexpr (Flush) flush_widened(wide[k]);
    }
    uint32_t most = 0;
    AE_EACH_LANE {
      const float r = Op_::fast(std::bit_cast<float>(wide[K].lane[i])...);
      most = greater_of(most, Op_::doubt(r, std::bit_cast<float>(wide[K].lane[i])...));
      narrow.lane[i] = std::bit_cast<uint32_t>(r);
    }
    narrow_row(narrow.lane, results.row);
    if constexpr (Flush) flush_halves(results.row);
    return most > Op_::template calm<float>();
  }
  /// The fast definition in all lanes; whether any lane needs the exact one.
  template <bool Flush, size_t... K>
  AE_LANES static bool fast(const std::array<Lane, N>& source, Results<F>& results, std::index_sequence<K...> k) {
    if constexpr (F::width == 16) return fast_halves<Flush>(source, results, k);
    uint32_t most = 0;
    AE_EACH_LANE {
      const auto r = Op_::fast(source_value<Flush>(source[K], i)...);
      most = greater_of(most, Op_::doubt(r, source_value<Flush>(source[K], i)...));
      const auto bits = Lane::back(r);
      results.set(i, Flush ? Lane::flush(bits) : bits);
    }
    return most > Op_::template calm<Value>();
  }
  /// Looks for those lanes again, and decides them.
  template <bool Flush, size_t... K> [[gnu::noinline]] static void settle(Wave& w, const std::array<Lane, N>& source,
                                                                          const Environment& e, Results<F>& results,
                                                                          std::index_sequence<K...> k) {
    Row odd;
    AE_EACH_LANE {
      const auto r = Op_::fast(source_value<Flush>(source[K], i)...);
      odd.lane[i] = Op_::doubt(r, source_value<Flush>(source[K], i)...) > Op_::template calm<Value>() ? ~0u : 0u;
    }
    exactly(w, source, e, results, pack_mask(odd), k);
  }

  /// The result of every active lane; nothing is written yet.
  AE_LANES static void compute(Wave& w, const std::array<Lane, N>& source, Results<F>& results) {
    constexpr auto k = std::make_index_sequence<N>{};
    Environment e = environment<F>(w);
    if constexpr (Op_::flushes_always) e.flush_inputs = e.flush_outputs = true;
    if constexpr (Op_::exact_only) {
      exactly(w, source, e, results, all_lanes, k);
    } else if (e.round == Round::nearest_even && !e.flush_inputs && !e.flush_outputs) [[likely]] {
      if (fast<false>(source, results, k)) [[unlikely]]
        settle<false>(w, source, e, results, k);
    } else if (e.round == Round::nearest_even && e.flush_inputs && e.flush_outputs) {
      if (fast<true>(source, results, k)) [[unlikely]]
        settle<true>(w, source, e, results, k);
    } else {
      exactly(w, source, e, results, all_lanes, k);
    }
    if constexpr (F::width == 16 && !Op_::makes_infinities)
      if (half_overflow_saturates(w)) [[unlikely]]
        each_set_lane(w, all_lanes, [&](unsigned i) {
          bool finite = true;
          for (const Lane& s : source) finite &= (s.bits(i) & 0x7c00u) != 0x7c00u;
          if (finite && (results.row.lane[i] & 0x7fffu) == 0x7c00u) results.row.lane[i] -= 1;
        });
  }
  template <bool KeepsUpperHalf>
  AE_LANES static void run(Wave& w, const std::array<Lane, N>& source, RowRef destination) {
    Results<F> results;
    compute(w, source, results);
    if constexpr (KeepsUpperHalf)
      results.write_lower(w, destination);
    else
      results.write(w, destination);
  }
};

/// Sources in the order of the operands.
template <class Op_, class F, unsigned N, bool KeepsUpperHalf = false> void float_op(Wave& w, const Op& op) {
  [&]<size_t... K>(std::index_sequence<K...>) {
    FloatExecutor<Op_, F, N>::template run<KeepsUpperHalf>(w, {Host<F>(w, op.src[K])...}, op.dst);
  }(std::make_index_sequence<N>{});
}
/// The destination is the last source.
template <class Op_, class F> void float_accumulate(Wave& w, const Op& op) {
  FloatExecutor<Op_, F, 3>::template run<F::width == 16>(
      w, {Host<F>(w, op.src[0]), Host<F>(w, op.src[1]), Host<F>(w, op.dst)}, op.dst);
}

} // namespace asmevo::machine::ASMEVO_ISA
