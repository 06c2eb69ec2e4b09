// Compares of the vector ALU: v_cmp writes a lane mask, v_cmpx also makes it EXEC. Inactive lanes compare false.
//
// Integer compares come as meanings, so that a prover can read them too; float compares read subnormals as MODE says
// and need no special care for NaN: the host's comparisons are unordered where AMD's are.
#include "machine/semantics/valu_compare.h"
#include "machine/semantics/float_lanes.h"
#include "machine/semantics/vector_words.h"

namespace asmevo::machine::ASMEVO_ISA {

namespace {

using enum Format;
using namespace meaning;

template <bool Exec> AE_LANES void set_mask(Wave& w, const Op& op, uint64_t mask) {
  w.write64(op.sdst, mask);
  if constexpr (Exec) w.set_exec(mask);
}

template <class Operands> struct IntegerCompare;
template <Format A> struct IntegerCompare<ShapeOf<false, mask, A, A>> {
  template <class Meaning, bool Exec> static void run(Wave& w, const Op& op) {
    const Source<A> a(w, op, 0), b(w, op, 1);
    set_mask<Exec>(w, op, each_vector_bit(w, [&](unsigned c) { return Meaning{}(a[c], b[c]); }));
  }
};
template <bool Exec, class Operands, class Meaning, class Saturated>
constexpr InstructionRow integer_row(const Entry<Operands, Meaning, Saturated>& entry) {
  return valu(entry.mnemonic, Operands::signature, &IntegerCompare<Operands>::template run<Meaning, Exec>,
              Support::exact, entry.targets);
}
template <bool Exec, class... Entries> constexpr auto integer_rows(const std::tuple<Entries...>& entries) {
  return std::apply([](const auto&... e) { return std::array{integer_row<Exec>(e)...}; }, entries);
}

template <bool Flush, class F, class Compare>
AE_LANES uint64_t compare_vectors(Wave& w, const Host<F>& a, const Host<F>& b) {
  using Part = Vectored<F>;
  const auto value = [](const Host<F>& s, unsigned c) {
    return Part::value(Flush ? Part::flush(Part::load(s, c)) : Part::load(s, c));
  };
  return each_vector_bit(w, [&](unsigned c) { return Truth(Compare{}(value(a, c), value(b, c))); });
}
template <class F, bool Exec, class Compare> void float_compare(Wave& w, const Op& op) {
  const Host<F> a(w, op.src[0]), b(w, op.src[1]);
  const bool flush = environment<F>(w).flush_inputs;
  set_mask<Exec>(w, op,
                 flush ? compare_vectors<true, F, Compare>(w, a, b) : compare_vectors<false, F, Compare>(w, a, b));
}

/// The sixteen float comparisons in the order of their opcodes.
template <class F, bool Exec>
constexpr std::array<InstructionRow, 16> float_rows(const std::array<std::string_view, 16>& names) {
  constexpr Format f = Host<F>::format;
  const auto row = [&](size_t k, auto compare) {
    return valu(names[k], {mask, {f, f}}, &float_compare<F, Exec, decltype(compare)>);
  };
  return {
      row(0, [](auto a, auto) { return (a < a) & (a > a); }),
      row(1, [](auto a, auto b) { return a < b; }),
      row(2, [](auto a, auto b) { return a == b; }),
      row(3, [](auto a, auto b) { return a <= b; }),
      row(4, [](auto a, auto b) { return a > b; }),
      row(5, [](auto a, auto b) { return (a < b) | (a > b); }),
      row(6, [](auto a, auto b) { return a >= b; }),
      row(7, [](auto a, auto b) { return (a == a) & (b == b); }),
      row(8, [](auto a, auto b) { return (a != a) | (b != b); }),
      row(9, [](auto a, auto b) { return !(a >= b); }),
      row(10, [](auto a, auto b) { return !((a < b) | (a > b)); }),
      row(11, [](auto a, auto b) { return !(a > b); }),
      row(12, [](auto a, auto b) { return !(a <= b); }),
      row(13, [](auto a, auto b) { return !(a == b); }),
      row(14, [](auto a, auto b) { return !(a < b); }),
      row(15, [](auto a, auto) { return (a == a) | (a != a); }),
  };
}
#define AE_FLOAT_NAMES(prefix, type)                                                                                   \
  {prefix "f_" type,   prefix "lt_" type,  prefix "eq_" type,  prefix "le_" type,                                      \
   prefix "gt_" type,  prefix "lg_" type,  prefix "ge_" type,  prefix "o_" type,                                       \
   prefix "u_" type,   prefix "nge_" type, prefix "nlg_" type, prefix "ngt_" type,                                     \
   prefix "nle_" type, prefix "neq_" type, prefix "nlt_" type, prefix "tru_" type}

/// v_cmp_class: the second source is a set of classes. Subnormals are what they are in every mode.
template <class F, bool Exec> void compare_class(Wave& w, const Op& op) {
  const Host<F> a(w, op.src[0]);
  const uint32_t* classes = row(w, op.src[1])->lane;
  uint64_t mask = 0;
  if constexpr (F::width == 64) {
    each_set_lane(w, all_lanes, [&](unsigned i) {
      mask |= uint64_t{(numeric::class_bit<F>(typename F::Bits(a.bits(i))) & classes[i]) != 0} << i;
    });
  } else {
    // The class as a bit number: NaNs 0 and 1; else the distance from the middle, mirrored by the sign.
    mask = each_lane_bit(w, [&](unsigned i) {
      const uint32_t x = a.bits(i), magnitude = x & ~uint32_t{F::sign};
      const uint32_t size = magnitude == 0                  ? 0u
                            : magnitude <= F::fraction_mask ? 1u
                            : magnitude < F::infinity       ? 2u
                                                            : 3u;
      const uint32_t number = x & F::sign ? 5u - size : 6u + size;
      const uint32_t nan = magnitude & F::quiet_bit ? 1u : 0u;
      return (classes[i] >> (magnitude > F::infinity ? nan : number) & 1u) != 0;
    });
  }
  set_mask<Exec>(w, op, mask);
}

constexpr std::array class_rows = {
    valu("v_cmp_class_f16", {mask, {f16, b32}}, &compare_class<Binary16, false>),
    valu("v_cmp_class_f32", {mask, {f32, b32}}, &compare_class<Binary32, false>),
    valu("v_cmp_class_f64", {mask, {f64, b32}}, &compare_class<Binary64, false>),
    valu("v_cmpx_class_f16", {mask, {f16, b32}}, &compare_class<Binary16, true>),
    valu("v_cmpx_class_f32", {mask, {f32, b32}}, &compare_class<Binary32, true>),
    valu("v_cmpx_class_f64", {mask, {f64, b32}}, &compare_class<Binary64, true>),
};

constexpr auto rows = concatenate(integer_rows<false>(compares), integer_rows<true>(exec_compares),
                                  float_rows<Binary16, false>(AE_FLOAT_NAMES("v_cmp_", "f16")),
                                  float_rows<Binary16, true>(AE_FLOAT_NAMES("v_cmpx_", "f16")),
                                  float_rows<Binary32, false>(AE_FLOAT_NAMES("v_cmp_", "f32")),
                                  float_rows<Binary32, true>(AE_FLOAT_NAMES("v_cmpx_", "f32")),
                                  float_rows<Binary64, false>(AE_FLOAT_NAMES("v_cmp_", "f64")),
                                  float_rows<Binary64, true>(AE_FLOAT_NAMES("v_cmpx_", "f64")), class_rows);

} // namespace

std::span<const InstructionRow> valu_compare() { return rows; }

} // namespace asmevo::machine::ASMEVO_ISA
