// Float instructions over lanes.
//
// An instruction is a type with two definitions: `fast`, in the host's own arithmetic over vectors of lanes, and
// `exact`, from numeric/, which is right in every mode and for every value. They give the same bits where MODE rounds
// to nearest even, and no NaN is involved: the host's NaNs differ from AMD's in sign and in which payload survives. So
// the fast way keeps its results in registers until it knows that no active lane saw a NaN, and only then writes them;
// else such lanes are done again: in vectors where sums, products, exponentials, reciprocals and roots of single
// precision hand NaNs on, else exactly. In any other rounding or mixed denormal mode all lanes are exact, and slow.
//
// Flushed subnormals (the mode of hand-written kernels for f32) stay fast: flushing is two vector operations a value.
#pragma once

#include "machine/lanes.h"
#include "machine/numeric/arithmetic.h"
#include "machine/numeric/convert.h"
#include "machine/semantics/half_rows.h"
#include "machine/semantics/rows.h"
#include "machine/semantics/vectors.h"

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
AE_LANES bool half_overflow_saturates(const Wave& w) { return w.mode & mode::fp16_overflow; }

// The host type that computes a format, and how lanes get in and out of it. f16 computes in float: products of two
// halves are exact there, and rounding a sum to float first does no harm (float has 2p + 2 bits).
AE_LANES uint32_t flush32(uint32_t x) { return x & 0x7f800000u ? x : x & 0x80000000u; }
AE_LANES uint64_t flush64(uint64_t x) { return x & 0x7ff0000000000000u ? x : x & 0x8000000000000000u; }

/// `nearest` is a result rounded to float and `error` what rounding took away (or anything of its sign). Rounded to odd
/// instead, so that a second rounding to half gives what one rounding would have.
AE_LANES Singles to_odd(Singles nearest, Singles error) {
  const Words bits = bits_of(nearest);
  const Words away = {RawWords(RawIntegers((bits_of(error) ^ bits).v) >> 31) | 1u}; // toward zero, or away from it
  const Truth stays = (error == Singles(0)) | equal(bits & 1u, words(1));
  return singles_of(select(stays, bits, bits + away));
}
AE_LANES Singles narrowed_to_odd(Doubles value) {
  const Singles nearest = narrowed(value);
  return to_odd(nearest, narrowed(value - widened(nearest)));
}

template <class F> struct Host;
template <> struct Host<Binary32> {
  using Value = float;
  static constexpr Format format = Format::f32;
  const uint32_t* lane;
  uint32_t keep = ~0u, flip = 0; // abs and neg
  AE_LANES Host(Wave& w, RowRef ref) : lane(row(w, ref)->lane) {}
  AE_LANES Host(Wave& w, RowRef ref, bool neg, bool abs)
      : lane(row(w, ref)->lane), keep(abs ? 0x7fffffffu : ~0u), flip(neg ? 0x80000000u : 0) {}
  AE_LANES explicit Host(const Row& row) : lane(row.lane) {}
  AE_LANES uint32_t bits(unsigned i) const { return (lane[i] & keep) ^ flip; }
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
  uint32_t shift; // 16 for the upper halves
  AE_LANES Host(Wave& w, RowRef ref, uint32_t s = 0) : lane(row(w, ref)->lane), shift(s) {}
  AE_LANES uint32_t bits(unsigned i) const { return lane[i] >> shift & 0xffffu; }
  AE_LANES static float value(uint32_t bits) { return widen_half(bits); }
  AE_LANES static uint32_t flush(uint32_t bits) { return flush16(bits); }
  AE_LANES static uint32_t back(float value) { return narrow_to_half(value); }
};

/// Results of one instruction, lane by lane, before EXEC.
template <class F> struct Results {
  Row row;
  AE_LANES void put(unsigned c, Words bits) { store_words(row.lane, c, bits); }
  AE_LANES Words get(unsigned c) const { return load_words(row.lane, c); }
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
  AE_LANES void put(unsigned c, Longs bits) { store_words(low.lane, c, bits.lo), store_words(high.lane, c, bits.hi); }
  AE_LANES Longs get(unsigned c) const { return {load_words(low.lane, c), load_words(high.lane, c)}; }
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

/// How a format's vectors are loaded, computed with, and turned back into bits.
template <class F> struct Vectored;
template <> struct Vectored<Binary32> {
  using Bits = Words;
  using Value = Singles;
  AE_LANES static Words load(const Host<Binary32>& s, unsigned c) { return (load_words(s.lane, c) & s.keep) ^ s.flip; }
  AE_LANES static Words flush(Words x) { return select(without_bits(x, 0x7f800000u), x & 0x80000000u, x); }
  AE_LANES static Singles value(Words x) { return singles_of(x); }
  AE_LANES static Words back(Singles x) { return bits_of(x); }
};
template <> struct Vectored<Binary16> {
  using Bits = Words;
  using Value = Singles;
  AE_LANES static Words load(const Host<Binary16>& s, unsigned c) {
    return {load_words(s.lane, c).v >> s.shift & 0xffffu};
  }
  AE_LANES static Words flush(Words x) { return select(without_bits(x, 0x7c00u), x & 0x8000u, x); }
  AE_LANES static Singles value(Words x) { return widened_halves(x); }
  AE_LANES static Words back(Singles x) { return narrowed_to_halves<0>(x); }
};
template <> struct Vectored<Binary64> {
  using Bits = Longs;
  using Value = Doubles;
  AE_LANES static Longs load(const Host<Binary64>& s, unsigned c) {
    return {load_words(s.low, c), load_words(s.high, c)};
  }
  AE_LANES static Longs flush(Longs x) {
    const Truth tiny = without_bits(x.hi, 0x7ff00000u);
    return {select(tiny, words(0), x.lo), select(tiny, x.hi & 0x80000000u, x.hi)};
  }
  AE_LANES static Doubles value(Longs x) { return doubles_of(x); }
  AE_LANES static Longs back(Doubles x) { return longs_of(x); }
};

/// How the vectors of a result, or of the two results of a packed instruction, get into rows.
struct IntoRow {
  Row* d;
  template <class Active> AE_LANES void operator()(Active on, unsigned c, Words x) const { on.put(d->lane, c, x); }
  template <class Active> AE_LANES void operator()(Active on, unsigned c, Longs x) const {
    on.put(d[0].lane, c, x.lo);
    on.put(d[1].lane, c, x.hi);
  }
};
/// Into the lower half; the upper one stays (meaning.h says which instructions do that).
struct IntoLowerHalf {
  Row* d;
  template <class Active> AE_LANES void operator()(Active on, unsigned c, Words x) const {
    on.put(d->lane, c, (load_words(d->lane, c) & 0xffff0000u) | x);
  }
};
struct IntoHalves {
  Row* d;
  template <class Active> AE_LANES void operator()(Active on, unsigned c, Words low, Words high) const {
    on.put(d->lane, c, low | Words{high.v << 16});
  }
};
struct IntoPair {
  Row* d;
  template <class Active> AE_LANES void operator()(Active on, unsigned c, Words low, Words high) const {
    on.put(d[0].lane, c, low);
    on.put(d[1].lane, c, high);
  }
};

/// Properties of an instruction that are not in its two definitions; a type overrides what differs.
struct Arithmetic {
  static constexpr bool exact_only = false;       // no fast definition
  static constexpr bool flushes_always = false;   // ignores MODE.denorm
  static constexpr bool makes_infinities = false; // of finite sources, and means them
  static constexpr bool odd_where_nan = true;     // odd() is what it is here
  static constexpr bool first_nan = false;        // a source that is NaN makes the result one: the first that is
  /// Where the exact definition must decide, given the fast result and the sources: Singles, or Longs for f64.
  template <class V, class... Sources> AE_LANES static Truth odd(V result, Sources...) { return is_nan(result); }
};

/// What MODE asks of an instruction, as far as there are different ways to do it.
enum class Way : uint8_t { plain, flushing, exact };

/// One float instruction of format F with N sources, which may be the destination.
template <class Op_, class F, unsigned N> struct FloatExecutor {
  using Lane = Host<F>;
  using Part = Vectored<F>;
  using Bits = typename F::Bits;
  using Sources = std::array<Lane, N>;
  static constexpr auto indices = std::make_index_sequence<N>{};

  AE_LANES static Way way(const Wave& w) {
    if constexpr (Op_::exact_only) return Way::exact;
    constexpr uint32_t round = F::width == 32 ? 3u << mode::round_f32_shift : 3u << mode::round_f16_f64_shift;
    constexpr uint32_t denorm = F::width == 32 ? 3u << mode::denorm_f32_shift : 3u << mode::denorm_f16_f64_shift;
    constexpr uint32_t saturation = F::width == 16 && !Op_::makes_infinities ? mode::fp16_overflow : 0;
    const uint32_t bits = w.mode & (round | saturation | (Op_::flushes_always ? 0 : denorm));
    if (!Op_::flushes_always && bits == denorm) return Way::plain;
    return bits == 0 ? Way::flushing : Way::exact;
  }

  template <bool Flush> AE_LANES static typename Part::Bits load(const Lane& s, unsigned c) {
    const auto bits = Part::load(s, c);
    return Flush ? Part::flush(bits) : bits;
  }
  /// Vector c of the result, and where it is odd.
  template <bool Flush, size_t... K>
  AE_LANES static typename Part::Bits vector(const Sources& source, unsigned c, Truth& odd, std::index_sequence<K...>) {
    const typename Part::Bits bits[] = {load<Flush>(source[K], c)...};
    const typename Part::Value values[] = {Part::value(bits[K])...};
    const auto result = Op_::fast(values[K]...);
    const auto out = Part::back(result);
    if constexpr (F::width == 64)
      odd = Op_::odd(out, bits[K]...);
    else
      odd = Op_::odd(result, values[K]...);
    return Flush ? Part::flush(out) : out;
  }

  /// One comparison finds the NaNs of two results.
  template <class Active> static constexpr bool by_pairs =
      std::is_same_v<Active, AllLanes> && F::width == 32 && Op_::odd_where_nan;

  /// Computes one result (the two of a packed instruction) and writes the active lanes, unless one of them is odd.
  template <bool Flush, class Into, class... Parts>
  AE_LANES static bool write(Wave& w, Into into, const Parts&... parts) {
    bool done = true;
    under_exec(w, [&](auto on) __attribute__((always_inline)) {
      typename Part::Bits results[vectors][sizeof...(Parts)];
      Truth odd = nowhere();
      AE_EACH_VECTOR {
        unsigned p = 0;
        Truth here;
        ((results[c][p++] = vector<Flush>(parts, c, here, indices),
          odd = by_pairs<decltype(on)> ? odd : odd | on.among(here, c)),
         ...);
      }
      if constexpr (by_pairs<decltype(on)>) AE_EACH_VECTOR {
          if (c % 2)
            for (unsigned p = 0; p < sizeof...(Parts); ++p)
              odd = odd | unordered(singles_of(results[c - 1][p]), singles_of(results[c][p]));
        }
      if (anywhere(odd)) [[unlikely]] {
        done = false;
        return;
      }
      AE_EACH_VECTOR {
        if constexpr (sizeof...(Parts) == 2)
          into(on, c, results[c][0], results[c][1]);
        else
          into(on, c, results[c][0]);
      }
    });
    return done;
  }

  template <size_t... K>
  static void exactly(Wave& w, const Sources& source, Results<F>& results, uint64_t which, std::index_sequence<K...>) {
    Environment e = environment<F>(w);
    if constexpr (Op_::flushes_always) e.flush_inputs = e.flush_outputs = true;
    each_set_lane(w, which, [&](unsigned i) { results.set(i, Op_::template exact<F>(Bits(source[K].bits(i))..., e)); });
  }
  /// NaNs of an instruction with first_nan, as numeric/arithmetic.h makes them: the first source that is one, quieted
  /// where MODE says so, or else the format's own. `result` is right where it is none.
  AE_LANES static Words with_nans(const Wave& w, const Sources& source, unsigned c, Words result) {
    const Words quiet = words(w.mode & mode::ieee ? F::quiet_bit : 0);
    Words out = select(is_nan(singles_of(result)), words(F::nan), result);
    for (size_t k = N; k-- > 0;) {
      const Words bits = Part::load(source[k], c);
      out = select(is_nan(singles_of(bits)), bits | quiet, out);
    }
    return out;
  }
  /// The lanes that are odd.
  template <bool Flush> AE_LANES static uint64_t into(const Wave& w, const Sources& source, Results<F>& results) {
    uint64_t odd = 0;
    AE_EACH_VECTOR {
      Truth here;
      const auto result = vector<Flush>(source, c, here, indices);
      if constexpr (F::width == 32 && Op_::first_nan) {
        results.put(c, with_nans(w, source, c, result));
      } else {
        results.put(c, result);
        odd |= bits_of(here) << (c * vector_lanes);
      }
    }
    return odd;
  }
  /// f16 results of finite sources that are infinite become the largest number.
  static void saturate(Wave& w, const Sources& source, Results<F>& results) {
    each_set_lane(w, all_lanes, [&](unsigned i) {
      bool finite = true;
      for (const Lane& s : source) finite &= (s.bits(i) & 0x7c00u) != 0x7c00u;
      if (finite && (results.row.lane[i] & 0x7fffu) == 0x7c00u) results.row.lane[i] -= 1;
    });
  }

  /// The result of every active lane; nothing is written yet.
  [[gnu::noinline]] static void compute(Wave& w, const Sources& source, Results<F>& results) {
    uint64_t odd = all_lanes;
    if constexpr (!Op_::exact_only) {
      const Way how = way(w);
      if (how == Way::plain) odd = into<false>(w, source, results);
      if (how == Way::flushing) odd = into<true>(w, source, results);
    }
    if (odd & w.exec()) [[unlikely]]
      exactly(w, source, results, odd, indices);
    if constexpr (F::width == 16 && !Op_::makes_infinities)
      if (half_overflow_saturates(w)) [[unlikely]]
        saturate(w, source, results);
  }
  template <class Form> [[gnu::noinline, gnu::cold]] static void carefully(Wave& w, const Op& op) {
    Form::apply(w, op, [&](auto into, const auto&... parts) {
      Results<F> results[sizeof...(parts)];
      unsigned p = 0;
      (compute(w, parts, results[p++]), ...);
      under_exec(w, [&](auto on) {
        for (unsigned c = 0; c < vectors; ++c) {
          if constexpr (sizeof...(parts) == 2)
            into(on, c, results[0].get(c), results[1].get(c));
          else
            into(on, c, results[0].get(c));
        }
      });
    });
  }
  template <bool Flush, class Form> AE_LANES static bool fast(Wave& w, const Op& op) {
    bool done = false;
    Form::apply(w, op, [&](auto into, const auto&... parts) __attribute__((always_inline)) {
      done = write<Flush>(w, into, parts...);
    });
    return done;
  }
  /// The instruction. The careful way looks its operands up again, so that the fast one needs to keep nothing.
  template <class Form> AE_LANES static void run(Wave& w, const Op& op) {
    if constexpr (!Op_::exact_only) {
      const Way how = way(w);
      if (!Op_::flushes_always && how == Way::plain) {
        if (fast<false, Form>(w, op)) [[likely]]
          return;
      } else if (how == Way::flushing) {
        if (fast<true, Form>(w, op)) [[likely]]
          return;
      }
    }
    carefully<Form>(w, op);
  }
};

// Forms: where an instruction's sources are and its results go. apply() calls f(into, sources...).

/// Where a result that is all of a register, or its lower half, goes.
template <bool KeepsUpperHalf> using Into = std::conditional_t<KeepsUpperHalf, IntoLowerHalf, IntoRow>;

/// Sources in the order of the operands.
template <class F, unsigned N, bool KeepsUpperHalf> struct InOrder {
  template <class Function> AE_LANES static void apply(Wave& w, const Op& op, Function f) {
    [&]<size_t... K>(std::index_sequence<K...>) __attribute__((always_inline)) {
      f(Into<KeepsUpperHalf>{row(w, op.dst)}, std::array{Host<F>(w, op.src[K])...});
    }(std::make_index_sequence<N>{});
  }
};
/// Likewise, applying the modifiers.
template <unsigned N> struct WithSigns {
  template <class Function> AE_LANES static void apply(Wave& w, const Op& op, Function f) {
    const uint32_t neg = op.modifiers.neg(), abs = op.modifiers.abs();
    [&]<size_t... K>(std::index_sequence<K...>) __attribute__((always_inline)) {
      f(IntoRow{row(w, op.dst)}, std::array{Host<Binary32>(w, op.src[K], (neg >> K & 1) != 0, (abs >> K & 1) != 0)...});
    }(std::make_index_sequence<N>{});
  }
};
/// The destination is the last source.
template <class F> struct Accumulating {
  template <class Function> AE_LANES static void apply(Wave& w, const Op& op, Function f) {
    f(Into<F::width == 16>{row(w, op.dst)},
      std::array{Host<F>(w, op.src[0]), Host<F>(w, op.src[1]), Host<F>(w, op.dst)});
  }
};
struct AccumulatingWithSigns {
  template <class Function> AE_LANES static void apply(Wave& w, const Op& op, Function f) {
    const uint32_t neg = op.modifiers.neg(), abs = op.modifiers.abs();
    f(IntoRow{row(w, op.dst)},
      std::array{Host<Binary32>(w, op.src[0], (neg & 1) != 0, (abs & 1) != 0),
                 Host<Binary32>(w, op.src[1], (neg & 2) != 0, (abs & 2) != 0), Host<Binary32>(w, op.dst)});
  }
};

template <class Op_, class F, unsigned N, bool KeepsUpperHalf = false> void float_op(Wave& w, const Op& op) {
  FloatExecutor<Op_, F, N>::template run<InOrder<F, N, KeepsUpperHalf>>(w, op);
}
template <class Op_, unsigned N> void float_op_signs(Wave& w, const Op& op) {
  FloatExecutor<Op_, Binary32, N>::template run<WithSigns<N>>(w, op);
}
template <class Op_, class F> void float_accumulate(Wave& w, const Op& op) {
  FloatExecutor<Op_, F, 3>::template run<Accumulating<F>>(w, op);
}
template <class Op_> void float_accumulate_signs(Wave& w, const Op& op) {
  FloatExecutor<Op_, Binary32, 3>::template run<AccumulatingWithSigns>(w, op);
}

} // namespace asmevo::machine::ASMEVO_ISA
