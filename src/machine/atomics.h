// Meanings of atomics, shared by LDS, vector memory and scalar memory: the new value from the old value, the first
// operand and, for compare-and-swap and masked-or, the second. Compare-and-swap gets (value to write, value to expect).
// Floating-point ones also look at MODE (vector memory passes what the hardware fixes instead).
// Source: CDNA3 ISA manual, descriptions of FLAT, MUBUF and DS atomics.
#pragma once

#include "machine/numeric/arithmetic.h"
#include "machine/wave.h"

namespace asmevo::machine::atomics {
inline namespace ASMEVO_LEVEL {

#define AE_ATOMIC(name, expression)                                                                                    \
  struct name {                                                                                                        \
    template <class T> AE_LANES T operator()([[maybe_unused]] T old, [[maybe_unused]] T data,                          \
                                             [[maybe_unused]] T second, uint32_t) const {                              \
      return expression;                                                                                               \
    }                                                                                                                  \
  }
AE_ATOMIC(Swap, data);
AE_ATOMIC(CompareSwap, old == second ? data : old);
AE_ATOMIC(Add, T(old + data));
AE_ATOMIC(Subtract, T(old - data));
AE_ATOMIC(ReverseSubtract, T(data - old));
AE_ATOMIC(Min, data < old ? data : old);
AE_ATOMIC(Max, data > old ? data : old);
AE_ATOMIC(And, T(old& data));
AE_ATOMIC(Or, T(old | data));
AE_ATOMIC(Xor, T(old ^ data));
AE_ATOMIC(Increment, old >= data ? T(0) : T(old + 1));
AE_ATOMIC(Decrement, old == 0 || old > data ? data : T(old - 1));
AE_ATOMIC(WrapSubtract, old >= data ? T(old - data) : T(old + second));
AE_ATOMIC(MaskedOr, T((old & ~data) | second));
#undef AE_ATOMIC

/// Rounding of atomics is to nearest even whatever MODE says; denormals follow its field for the format.
template <class F> AE_LANES numeric::Environment environment(uint32_t mode) {
  const uint32_t denorm = F::width == 32 ? mode::denorm_f32(mode) : mode::denorm_f16_f64(mode);
  return {.flush_inputs = !(denorm & 1), .flush_outputs = !(denorm & 2), .ieee = (mode & mode::ieee) != 0};
}

template <class F> struct FloatAdd {
  using Bits = typename F::Bits;
  AE_LANES Bits operator()(Bits old, Bits data, Bits, uint32_t mode) const {
    return numeric::add<F>(old, data, environment<F>(mode));
  }
};
template <class F> struct FloatMin {
  using Bits = typename F::Bits;
  AE_LANES Bits operator()(Bits old, Bits data, Bits, uint32_t mode) const {
    return numeric::minimum<F>(old, data, environment<F>(mode));
  }
};
template <class F> struct FloatMax {
  using Bits = typename F::Bits;
  AE_LANES Bits operator()(Bits old, Bits data, Bits, uint32_t mode) const {
    return numeric::maximum<F>(old, data, environment<F>(mode));
  }
};
template <class F> struct FloatCompareSwap {
  using Bits = typename F::Bits;
  AE_LANES Bits operator()(Bits old, Bits data, Bits second, uint32_t mode) const {
    return numeric::compare<F>(old, second, environment<F>(mode)) == numeric::Order::equal ? data : old;
  }
};
/// Two halves of a dword at once.
template <class F> struct PackedAdd {
  AE_LANES uint32_t operator()(uint32_t old, uint32_t data, uint32_t, uint32_t mode) const {
    const numeric::Environment e = environment<F>(mode);
    const uint32_t low = numeric::add<F>(uint16_t(old), uint16_t(data), e);
    const uint32_t high = numeric::add<F>(uint16_t(old >> 16), uint16_t(data >> 16), e);
    return high << 16 | low;
  }
};

} // namespace ASMEVO_LEVEL
} // namespace asmevo::machine::atomics
