// Instructions whose rounding the hardware keeps to itself: exponential, logarithm, reciprocal, roots, sine and cosine.
// numeric/transcendental.h says what ours is.
#include "machine/numeric/transcendental.h"
#include "machine/semantics/float_lanes.h"

namespace asmevo::machine::ASMEVO_ISA {

namespace {

using enum Format;

template <class Function, class F> struct Approximate : Arithmetic {
  static constexpr bool flushes_always = F::width == 32, makes_infinities = true;
  AE_LANES static double fast(double x) { return Function::compute(x); }
  AE_LANES static float fast(float x) {
    if constexpr (F::width == 32 && std::is_same_v<Function, numeric::Reciprocal>)
      return 1.0f / x;
    else if constexpr (F::width == 32 && std::is_same_v<Function, numeric::Root>)
      return __builtin_sqrtf(x);
    else if constexpr (F::width == 16)
      return narrow_to_odd(Function::compute(x));
    else
      return float(Function::compute(x));
  }
  static constexpr bool wants_number = std::is_same_v<Function, numeric::Exp2>;
  static constexpr bool wants_finite =
      std::is_same_v<Function, numeric::Sine> || std::is_same_v<Function, numeric::Cosine>;
  static constexpr bool wants_positive = std::is_same_v<Function, numeric::Log2>;
  template <class T> AE_LANES static uint32_t doubt(T result, T x) {
    if constexpr (wants_positive) // zero wraps around, negative numbers and what is not finite are large
      return std::bit_cast<uint32_t>(float(x)) - 1u;
    else
      return worry(wants_number || wants_finite ? x : result);
  }
  template <class T> static constexpr uint32_t calm() {
    return wants_positive ? calm32 - 2 : wants_finite ? calm32 - 1 : Arithmetic::calm<T>();
  }
  template <class G, class B> static B exact(B x, const Environment& e) {
    return numeric::approximate<Function, G>(x, e);
  }
};

template <class Function, class F> constexpr InstructionRow row_of(std::string_view name, TargetMask on = on_all) {
  constexpr Format f = Host<F>::format;
  return valu(name, {f, {f}}, &float_op<Approximate<Function, F>, F, 1>, Support::approximate, on);
}

constexpr std::array rows = {
    row_of<numeric::Exp2, Binary32>("v_exp_f32"),
    row_of<numeric::Exp2, Binary32>("v_exp_legacy_f32", before_gfx942),
    row_of<numeric::Log2, Binary32>("v_log_f32"),
    row_of<numeric::Log2, Binary32>("v_log_legacy_f32", before_gfx942),
    row_of<numeric::Reciprocal, Binary32>("v_rcp_f32"),
    row_of<numeric::Reciprocal, Binary32>("v_rcp_iflag_f32"),
    row_of<numeric::ReciprocalRoot, Binary32>("v_rsq_f32"),
    row_of<numeric::Root, Binary32>("v_sqrt_f32"),
    row_of<numeric::Sine, Binary32>("v_sin_f32"),
    row_of<numeric::Cosine, Binary32>("v_cos_f32"),
    row_of<numeric::Reciprocal, Binary64>("v_rcp_f64"),
    row_of<numeric::ReciprocalRoot, Binary64>("v_rsq_f64"),
    row_of<numeric::Root, Binary64>("v_sqrt_f64"),
    row_of<numeric::Exp2, Binary16>("v_exp_f16"),
    row_of<numeric::Log2, Binary16>("v_log_f16"),
    row_of<numeric::Reciprocal, Binary16>("v_rcp_f16"),
    row_of<numeric::ReciprocalRoot, Binary16>("v_rsq_f16"),
    row_of<numeric::Root, Binary16>("v_sqrt_f16"),
    row_of<numeric::Sine, Binary16>("v_sin_f16"),
    row_of<numeric::Cosine, Binary16>("v_cos_f16"),
};

} // namespace

std::span<const InstructionRow> valu_approximate() { return rows; }

} // namespace asmevo::machine::ASMEVO_ISA
