// Floating-point arithmetic by MPFR: the model that numeric/ is tested against. Values are computed exactly (or far
// beyond any format's precision) and rounded to a format here, by MPFR's own rounding, with the format's subnormals.
#pragma once

#include "machine/numeric/arithmetic.h"

#include <mpfr.h>
#include <random>

namespace asmevo::machine::model {

using numeric::Environment;
using numeric::Round;

/// An exact value; 4096 bits hold every sum and product of two doubles.
class Real {
public:
  Real() { mpfr_init2(value_, 4400); }
  explicit Real(long x) : Real() { mpfr_set_si(value_, x, MPFR_RNDN); }
  Real(const Real& other) : Real() { mpfr_set(value_, other.value_, MPFR_RNDN); }
  Real& operator=(const Real& other) { return mpfr_set(value_, other.value_, MPFR_RNDN), *this; }
  ~Real() { mpfr_clear(value_); }
  mpfr_ptr get() { return value_; }
  mpfr_srcptr get() const { return value_; }

private:
  mpfr_t value_;
};

/// The number that a finite code of format F stands for, from the definition of the format.
template <class F> Real real(typename F::Bits bits) {
  const int exponent = numeric::biased_exponent<F>(bits);
  const uint64_t fraction = bits & F::fraction_mask;
  Real r;
  mpfr_set_ui(r.get(), fraction + (exponent ? uint64_t{1} << F::fraction_bits : 0), MPFR_RNDN);
  mpfr_mul_2si(r.get(), r.get(), (exponent ? exponent : 1) - F::bias - F::fraction_bits, MPFR_RNDN);
  if (bits & F::sign) mpfr_neg(r.get(), r.get(), MPFR_RNDN);
  return r;
}

inline mpfr_rnd_t direction(Round round) {
  switch (round) {
  case Round::up:
    return MPFR_RNDU;
  case Round::down:
    return MPFR_RNDD;
  case Round::zero:
    return MPFR_RNDZ;
  default:
    return MPFR_RNDN;
  }
}

/// `exact` as a code of an IEEE format; `zero_sign` is the sign of an exact zero.
template <class F> typename F::Bits rounded(const Real& exact, Round round, bool flush, bool zero_sign) {
  using Bits = typename F::Bits;
  const bool negative = mpfr_zero_p(exact.get()) ? zero_sign : mpfr_signbit(exact.get()) != 0;
  const Bits sign = negative ? F::sign : Bits{0};
  if (mpfr_zero_p(exact.get())) return sign;
  // Scale so that the last place of the result has weight 1, round to an integer, and read it off.
  const long top = mpfr_get_exp(exact.get()) - 1;
  const long quantum = std::max<long>(top, F::min_exponent) - F::fraction_bits;
  Real scaled;
  mpfr_mul_2si(scaled.get(), exact.get(), -quantum, MPFR_RNDN);
  mpfr_rint(scaled.get(), scaled.get(), direction(round));
  if (round == Round::nearest_even) { // mpfr_rint rounds halves to even
    mpfr_mul_2si(scaled.get(), exact.get(), -quantum, MPFR_RNDN);
    mpfr_roundeven(scaled.get(), scaled.get());
  }
  mpfr_abs(scaled.get(), scaled.get(), MPFR_RNDN);
  const uint64_t integer = mpfr_get_uj(scaled.get(), MPFR_RNDN);
  const uint64_t hidden = uint64_t{1} << F::fraction_bits;
  long exponent = quantum + F::fraction_bits + F::bias;
  uint64_t significand = integer;
  if (significand == 2 * hidden) significand = hidden, ++exponent;
  if (significand < hidden) return flush ? sign : Bits(sign | Bits(significand)); // subnormal
  if (exponent >= F::exponent_mask) {
    const bool away =
        round == Round::nearest_even || (round == Round::up && !negative) || (round == Round::down && negative);
    return Bits(sign | (away ? F::infinity : F::largest));
  }
  return Bits(sign | Bits(exponent << F::fraction_bits) | Bits(significand - hidden));
}

/// Codes of format F where arithmetic goes wrong: zeros, subnormals, powers of two, the largest, infinities, NaNs.
template <class F> typename F::Bits interesting(std::mt19937_64& random, bool specials = true) {
  using Bits = typename F::Bits;
  const Bits sign = random() & 1 ? F::sign : Bits{0};
  switch (random() % 12) {
  case 0:
    return Bits(sign | Bits(random() % 3));
  case 1:
    return Bits(sign | Bits(F::fraction_mask - random() % 3));
  case 2:
    return Bits(sign | Bits(F::fraction_mask + 1 + random() % 3));
  case 3:
    return Bits(sign | Bits(F::largest - random() % 3));
  case 4:
    if (!specials) return sign;
    return Bits(sign | (random() & 1 ? F::infinity : Bits(F::infinity | (random() & F::fraction_mask))));
  case 5:
  case 6:
    return Bits(sign | Bits(Bits(1 + random() % (F::exponent_mask - 1)) << F::fraction_bits)); // a power of two
  case 7: {                                                                                    // near 1
    const Bits one = Bits(Bits(F::bias) << F::fraction_bits);
    return Bits(sign | Bits(one + random() % 9 - 4));
  }
  case 8: { // few significant bits, so that ties happen
    const Bits exponent = Bits(Bits(F::bias - 12 + random() % 24) << F::fraction_bits);
    return Bits(sign | Bits(exponent | (Bits(random() % 8) << (F::fraction_bits - 3))));
  }
  case 9: { // moderate
    const Bits exponent = Bits(Bits(F::bias - F::fraction_bits + random() % (2 * F::fraction_bits) % F::exponent_mask));
    return Bits(sign | Bits(Bits(exponent % F::exponent_mask) << F::fraction_bits) | Bits(random() & F::fraction_mask));
  }
  default: {
    Bits any = Bits(random());
    if (!specials && (any & F::infinity) == F::infinity) any = Bits(any ^ F::infinity);
    return any;
  }
  }
}

} // namespace asmevo::machine::model
