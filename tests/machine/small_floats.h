// Floats of eight bits and fewer, by search: every code has a value, and a number becomes the nearest one. Values are
// doubles, in which all of this is exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

namespace asmevo::machine::model {

/// What the codes beyond the numbers are.
enum class Extremes { none, one_nan, infinity_and_nans, fnuz };

struct SmallFloat {
  const char* name;
  unsigned exponent_bits, fraction_bits;
  int bias;
  Extremes extremes;

  constexpr unsigned width() const { return 1 + exponent_bits + fraction_bits; }
  constexpr unsigned sign() const { return 1u << (width() - 1); }
  /// How many magnitudes are numbers. FNUZ has its only NaN where -0 would be.
  constexpr unsigned magnitudes() const {
    const unsigned all = sign();
    return extremes == Extremes::one_nan             ? all - 1
           : extremes == Extremes::infinity_and_nans ? all - (1u << fraction_bits)
                                                     : all;
  }
  constexpr unsigned largest() const { return magnitudes() - 1; }
  bool is_number(unsigned code) const {
    if (extremes == Extremes::fnuz && code == sign()) return false;
    return (code & (sign() - 1)) < magnitudes();
  }
  bool is_infinity(unsigned code) const {
    return extremes == Extremes::infinity_and_nans && (code & (sign() - 1)) == magnitudes();
  }
  double value(unsigned code) const {
    const unsigned fraction = code & ((1u << fraction_bits) - 1);
    const int exponent = int(code >> fraction_bits & ((1u << exponent_bits) - 1));
    const double magnitude =
        std::ldexp(fraction + (exponent ? 1u << fraction_bits : 0u), std::max(exponent, 1) - bias - int(fraction_bits));
    return code & sign() ? -magnitude : magnitude;
  }
  unsigned with_sign(unsigned magnitude, double x) const {
    if (extremes == Extremes::fnuz && magnitude == 0) return 0;
    return std::signbit(x) ? magnitude | sign() : magnitude;
  }
  /// The largest magnitude that is at most |x|.
  unsigned below(double x) const {
    unsigned low = 0, high = magnitudes();
    while (high - low > 1) {
      const unsigned middle = (low + high) / 2;
      (value(middle) <= std::abs(x) ? low : high) = middle;
    }
    return low;
  }
  /// To the nearest, ties to even codes. Nothing where that is beyond the largest: half a step more than it, or more.
  std::optional<unsigned> nearest(double x) const {
    unsigned code = below(x);
    const double step = std::ldexp(1.0, int(std::max(code >> fraction_bits, 1u)) - bias - int(fraction_bits));
    const double rest = std::abs(x) - value(code);
    if (rest > step / 2 || (rest == step / 2 && code % 2)) ++code;
    if (code >= magnitudes()) return std::nullopt;
    return with_sign(code, x);
  }
  unsigned nearest_or_largest(double x) const { return nearest(x).value_or(with_sign(largest(), x)); }
  /// Either neighbour; an exact value is itself.
  bool is_neighbour(double x, unsigned code) const {
    const unsigned low = below(x), high = value(low) == std::abs(x) || low == largest() ? low : low + 1;
    return code == with_sign(low, x) || code == with_sign(high, x);
  }
};

inline constexpr SmallFloat fp8_ocp{"fp8", 4, 3, 7, Extremes::one_nan},
    bf8_ocp{"bf8", 5, 2, 15, Extremes::infinity_and_nans}, fp8_fnuz{"fp8", 4, 3, 8, Extremes::fnuz},
    bf8_fnuz{"bf8", 5, 2, 16, Extremes::fnuz}, fp6{"fp6", 2, 3, 1, Extremes::none}, bf6{"bf6", 3, 2, 3, Extremes::none},
    fp4{"fp4", 2, 1, 1, Extremes::none};

} // namespace asmevo::machine::model
