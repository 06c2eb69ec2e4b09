// Instructions whose rounding the hardware keeps to itself: exponential, logarithm, reciprocal, roots, sine and cosine.
// numeric/transcendental.h says what ours is.
#include "machine/numeric/transcendental.h"
#include "machine/semantics/float_lanes.h"

namespace asmevo::machine::ASMEVO_ISA {

namespace {

using enum Format;

/// `OddLane` says where `Function::compute` does not apply.
template <class Function, class F> struct Approximate : Arithmetic {
  static constexpr bool flushes_always = F::width == 32;
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
  template <class T> AE_LANES static bool odd(T result, T x) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    if constexpr (std::is_same_v<Function, numeric::Exp2>)
      return x != x;
    else if constexpr (std::is_same_v<Function, numeric::Log2>)
      return !((x > 0) & (x < infinity));
    else if constexpr (std::is_same_v<Function, numeric::Sine> || std::is_same_v<Function, numeric::Cosine>)
      return !((x > -infinity) & (x < infinity));
    else
      return result != result;
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
