// Float operations, each with its fast and its exact definition (float_lanes.h), shared by the plain, the packed and
// the mixed instructions that are made of them.
#pragma once

#include "machine/semantics/float_lanes.h"

namespace asmevo::machine::ASMEVO_ISA {

struct Add : Arithmetic {
  static constexpr bool first_nan = true;
  template <class T> AE_LANES static T fast(T a, T b) { return a + b; }
  template <class F, class B> static B exact(B a, B b, const Environment& e) { return numeric::add<F>(a, b, e); }
};
struct Subtract : Arithmetic {
  static constexpr bool first_nan = true;
  template <class T> AE_LANES static T fast(T a, T b) { return a - b; }
  template <class F, class B> static B exact(B a, B b, const Environment& e) { return numeric::subtract<F>(a, b, e); }
};
struct SubtractReversed : Arithmetic {
  template <class T> AE_LANES static T fast(T a, T b) { return b - a; }
  template <class F, class B> static B exact(B a, B b, const Environment& e) {
    return numeric::is_nan<F>(a) ? numeric::propagate<F>(a, e) : numeric::subtract<F>(b, a, e);
  }
};
struct Multiply : Arithmetic {
  static constexpr bool first_nan = true;
  template <class T> AE_LANES static T fast(T a, T b) { return a * b; }
  template <class F, class B> static B exact(B a, B b, const Environment& e) { return numeric::multiply<F>(a, b, e); }
};
struct MultiplyLegacy : Arithmetic {
  template <class T> AE_LANES static T fast(T a, T b) { return select((a == T(0)) | (b == T(0)), T(0), a * b); }
  template <class F, class B> static B exact(B a, B b, const Environment& e) {
    return numeric::multiply_legacy<F>(a, b, e);
  }
};

// True fma in one rounding.
struct Fma : Arithmetic {
  static constexpr bool first_nan = true;
  template <class T> AE_LANES static T fast(T a, T b, T c) { return fused(a, b, c); }
  template <class F, class B> static B exact(B a, B b, B c, const Environment& e) {
    return numeric::fma<F>(a, b, c, e);
  }
};
// For halves the product is exact in float; the error of the sum is found by Knuth's two-sum, and rounding to odd makes
// the second rounding harmless.
struct FmaHalf : Fma {
  AE_LANES static Singles fast(Singles a, Singles b, Singles c) {
    const Singles product = a * b, sum = product + c;
    const Singles part = sum - product, error = (product - (sum - part)) + (c - part);
    return to_odd(sum, error);
  }
};

// The product is rounded first, and subnormals are flushed in every mode.
struct Mad : Arithmetic {
  static constexpr bool flushes_always = true, exact_only = true;
  template <class F, class B> static B exact(B a, B b, B c, const Environment& e) {
    return numeric::multiply_add<F>(a, b, c, e);
  }
};
struct MadLegacy : Mad {
  template <class F, class B> static B exact(B a, B b, B c, const Environment& e) {
    return numeric::add<F>(numeric::multiply_legacy<F>(a, b, e), c, e);
  }
};

// Equal operands are bitwise equal or zeros of different sign, which `and` and `or` order.
AE_LANES Singles smaller(Singles a, Singles b) {
  return select(a == b, singles_of(bits_of(a) | bits_of(b)), select(a < b, a, b));
}
AE_LANES Singles larger(Singles a, Singles b) {
  return select(a == b, singles_of(bits_of(a) & bits_of(b)), select(a > b, a, b));
}
AE_LANES Doubles smaller(Doubles a, Doubles b) {
  return select(a == b, doubles_of(bits_of(a) | bits_of(b)), select(a < b, a, b));
}
AE_LANES Doubles larger(Doubles a, Doubles b) {
  return select(a == b, doubles_of(bits_of(a) & bits_of(b)), select(a > b, a, b));
}
struct Extreme : Arithmetic {
  static constexpr bool odd_where_nan = false;
  // A NaN source may give a number.
  template <class V, class... Sources> AE_LANES static Truth odd(V, Sources... s) { return (is_nan(s) | ...); }
  AE_LANES static Truth odd(Singles, Singles a, Singles b) { return unordered(a, b); }
  AE_LANES static Truth odd(Singles, Singles a, Singles b, Singles c) { return unordered(a, b) | is_nan(c); }
};
struct Minimum : Extreme {
  template <class T> AE_LANES static T fast(T a, T b) { return smaller(a, b); }
  template <class F, class B> static B exact(B a, B b, const Environment& e) { return numeric::minimum<F>(a, b, e); }
};
struct Maximum : Extreme {
  template <class T> AE_LANES static T fast(T a, T b) { return larger(a, b); }
  template <class F, class B> static B exact(B a, B b, const Environment& e) { return numeric::maximum<F>(a, b, e); }
};
struct Minimum3 : Extreme {
  template <class T> AE_LANES static T fast(T a, T b, T c) { return smaller(smaller(a, b), c); }
  template <class F, class B> static B exact(B a, B b, B c, const Environment& e) {
    return numeric::minimum3<F>(a, b, c, e);
  }
};
struct Maximum3 : Extreme {
  template <class T> AE_LANES static T fast(T a, T b, T c) { return larger(larger(a, b), c); }
  template <class F, class B> static B exact(B a, B b, B c, const Environment& e) {
    return numeric::maximum3<F>(a, b, c, e);
  }
};
struct Median3 : Extreme {
  // As the manual has it: the maximum of what is left when the maximum is taken out. Zeros of either sign are equal.
  template <class T> AE_LANES static T fast(T a, T b, T c) {
    const T most = larger(larger(a, b), c);
    const T without_a = larger(b, c), without_b = larger(a, c), without_c = larger(a, b);
    return select(most == a, without_a, select(most == b, without_b, without_c));
  }
  template <class F, class B> static B exact(B a, B b, B c, const Environment& e) {
    return numeric::median3<F>(a, b, c, e);
  }
};
// gfx950: a NaN wins.
template <bool Max> struct ExtremeOrNan3 : Extreme {
  template <class T> AE_LANES static T fast(T a, T b, T c) {
    return Max ? larger(larger(a, b), c) : smaller(smaller(a, b), c);
  }
  template <class F, class B> static B exact(B a, B b, B c, const Environment& e) {
    return numeric::extreme_or_nan<F, Max>(numeric::extreme_or_nan<F, Max>(a, b, e), c, e);
  }
};

} // namespace asmevo::machine::ASMEVO_ISA
