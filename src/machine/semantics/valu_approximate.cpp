// Instructions whose rounding the hardware keeps to itself: exponential, logarithm, reciprocal, roots, sine and cosine.
// numeric/transcendental.h says what ours is.
#include "machine/numeric/transcendental.h"
#include "machine/semantics/float_lanes.h"

namespace asmevo::machine::ASMEVO_ISA {

namespace {

using enum Format;

template <class Function, class F> struct Approximate : Arithmetic {
  template <class... Of> static constexpr bool is_one_of = (std::is_same_v<Function, Of> || ...);
  static constexpr bool flushes_always = F::width == 32, makes_infinities = true, odd_where_nan = false;
  static constexpr bool first_nan =
      is_one_of<numeric::Exp2, numeric::Reciprocal, numeric::ReciprocalRoot, numeric::Root>;
  AE_LANES static Doubles fast(Doubles x) { return Function::compute(x); }
  AE_LANES static Singles fast(Singles x) {
    if constexpr (F::width == 32 && std::is_same_v<Function, numeric::Reciprocal>)
      return Singles(1) / x;
    else if constexpr (F::width == 32 && std::is_same_v<Function, numeric::Root>)
      return square_root(x);
    else if constexpr (F::width == 16)
      return narrowed_to_odd(Function::compute(widened(x)));
    else
      return narrowed(Function::compute(widened(x)));
  }
  template <class V> AE_LANES static Truth odd(V result, V x) {
    if constexpr (std::is_same_v<Function, numeric::Exp2>) return is_nan(x);
    return is_nan(result);
  }
  /// Where a single is not finite; where it is not positive or not finite, zero wrapping around.
  AE_LANES static Truth odd(Singles result, Singles x) {
    const Words magnitude = bits_of(x) & 0x7fffffffu;
    if constexpr (std::is_same_v<Function, numeric::Sine> || std::is_same_v<Function, numeric::Cosine>)
      return less(words(0x7f7fffffu), magnitude);
    if constexpr (std::is_same_v<Function, numeric::Log2>) return below(words(0x7f7ffffeu), bits_of(x) - 1u);
    return is_nan(std::is_same_v<Function, numeric::Exp2> ? x : result);
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
    row_of<numeric::Exp2, Binary32>("v_exp_f32"),           row_of<numeric::Exp2, Binary32>("v_exp_legacy_f32"),
    row_of<numeric::Log2, Binary32>("v_log_f32"),           row_of<numeric::Log2, Binary32>("v_log_legacy_f32"),
    row_of<numeric::Reciprocal, Binary32>("v_rcp_f32"),     row_of<numeric::Reciprocal, Binary32>("v_rcp_iflag_f32"),
    row_of<numeric::ReciprocalRoot, Binary32>("v_rsq_f32"), row_of<numeric::Root, Binary32>("v_sqrt_f32"),
    row_of<numeric::Sine, Binary32>("v_sin_f32"),           row_of<numeric::Cosine, Binary32>("v_cos_f32"),
    row_of<numeric::Reciprocal, Binary64>("v_rcp_f64"),     row_of<numeric::ReciprocalRoot, Binary64>("v_rsq_f64"),
    row_of<numeric::Root, Binary64>("v_sqrt_f64"),          row_of<numeric::Exp2, Binary16>("v_exp_f16"),
    row_of<numeric::Log2, Binary16>("v_log_f16"),           row_of<numeric::Reciprocal, Binary16>("v_rcp_f16"),
    row_of<numeric::ReciprocalRoot, Binary16>("v_rsq_f16"), row_of<numeric::Root, Binary16>("v_sqrt_f16"),
    row_of<numeric::Sine, Binary16>("v_sin_f16"),           row_of<numeric::Cosine, Binary16>("v_cos_f16"),
};

} // namespace

std::span<const InstructionRow> valu_approximate() { return rows; }

} // namespace asmevo::machine::ASMEVO_ISA
