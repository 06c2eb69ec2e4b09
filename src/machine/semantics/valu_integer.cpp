// Executes the integer meanings of valu_integer.h over lanes.
//
// One loop over vectors serves all of them: it reads each source as its format says, applies the meaning, and writes
// the active lanes. The loop is instantiated for each row, so that the compiler sees the meaning inside it.
#include "machine/semantics/valu_integer.h"
#include "machine/semantics/rows.h"
#include "machine/semantics/vector_words.h"

#include <array>
#include <utility>

namespace asmevo::machine::ASMEVO_ISA {

namespace {

using namespace meaning;

/// `result(c)` to the destination of format D; masks of inactive lanes become 0.
template <Format D, bool CarryOut, class F> AE_LANES void write(Wave& w, const Op& op, F result) {
  if constexpr (D == Format::mask) {
    w.write64(op.sdst, each_vector_bit(w, result));
  } else {
    Row* d = row(w, op.dst);
    uint64_t carries = 0;
    const auto put = [&](auto on, unsigned c, auto value) __attribute__((always_inline)) {
      if constexpr (D == Format::b64) {
        on.put(d[0].lane, c, value.lo);
        on.put(d[1].lane, c, value.hi);
      } else {
        on.put(d->lane, c, value);
      }
    };
    under_exec(w, [&](auto on) __attribute__((always_inline)) {
      AE_EACH_VECTOR {
        const auto r = result(c);
        if constexpr (CarryOut) {
          carries |= bits_of(r.carry) << (c * vector_lanes);
          put(on, c, r.value);
        } else {
          put(on, c, r);
        }
      }
    });
    if constexpr (CarryOut) w.write64(op.sdst, carries & w.exec());
  }
}

template <class Operands> struct Executor;

template <bool CarryOut, Format D, Format... S> struct Executor<ShapeOf<CarryOut, D, S...>> {
  template <class Meaning, size_t... K> AE_LANES static void with(Wave& w, const Op& op, std::index_sequence<K...>) {
    const std::tuple<Source<S>...> sources{Source<S>(w, op, K)...};
    write<D, CarryOut>(w, op, [&](unsigned c) __attribute__((always_inline)) {
      if constexpr (D == Format::p16) {
        const Words low = Meaning{}((std::get<K>(sources)[c] & 0xffffu)...);
        const Words high = Meaning{}(shr(std::get<K>(sources)[c], 16u)...);
        return (low & 0xffffu) | shl(high, 16u);
      } else if constexpr (D == Format::b16) {
        return Meaning{}(std::get<K>(sources)[c]...) & 0xffffu;
      } else {
        return Meaning{}(std::get<K>(sources)[c]...);
      }
    });
  }
  template <class Meaning> static void plain(Wave& w, const Op& op) {
    with<Meaning>(w, op, std::make_index_sequence<sizeof...(S)>{});
  }
  template <class Meaning, class Saturated> static void clamped(Wave& w, const Op& op) {
    if (op.modifiers.clamp()) [[unlikely]]
      plain<Saturated>(w, op);
    else
      with<Meaning>(w, op, std::make_index_sequence<sizeof...(S)>{});
  }
};

/// The executor of the shape underneath, with the upper half put back.
template <class Operands> struct Executor<KeepsUpperHalf<Operands>> {
  template <class Meaning> static void plain(Wave& w, const Op& op) {
    Row& d = *row(w, op.dst);
    const Row old = d;
    Executor<Operands>::template plain<Meaning>(w, op);
    AE_EACH_VECTOR store_words(d.lane, c, (load_words(d.lane, c) & 0xffffu) | (load_words(old.lane, c) & 0xffff0000u));
  }
  template <class Meaning, class Saturated> static void clamped(Wave& w, const Op& op) {
    if (op.modifiers.clamp())
      plain<Saturated>(w, op);
    else
      plain<Meaning>(w, op);
  }
};

template <class Operands, class Meaning, class Saturated>
constexpr InstructionRow row_of(const Entry<Operands, Meaning, Saturated>& entry) {
  Handler handler = nullptr;
  if constexpr (std::is_void_v<Saturated>)
    handler = &Executor<Operands>::template plain<Meaning>;
  else
    handler = &Executor<Operands>::template clamped<Meaning, Saturated>;
  return valu(entry.mnemonic, Operands::signature, handler, Support::exact, entry.targets);
}

template <class... Entries> constexpr auto rows_of_table(const std::tuple<Entries...>& entries) {
  return std::apply([](const auto&... e) { return std::array{row_of(e)...}; }, entries);
}

/// As row_of with other formats than the meaning's: op_sel applies to the halves of p16 sources.
constexpr auto half_dot_rows() {
  auto rows = rows_of_table(half_dots);
  for (auto& row : rows) row.signature = {b32, {p16, p16, b32}};
  return rows;
}

/// v_dot2c and its kind: the destination is the third argument.
template <class Meaning> void accumulate(Wave& w, const Op& op) {
  const Source<b32> a(w, op, 0), b(w, op, 1);
  uint32_t* d = row(w, op.dst)->lane;
  under_exec(w, [&](auto on) __attribute__((always_inline)) {
    AE_EACH_VECTOR on.put(d, c, Meaning{}(a[c], b[c], load_words(d, c)));
  });
}
template <class Meaning, class Saturated> void accumulate_clamped(Wave& w, const Op& op) {
  if (op.modifiers.clamp())
    accumulate<Saturated>(w, op);
  else
    accumulate<Meaning>(w, op);
}
template <class Operands, class Meaning, class Saturated>
constexpr InstructionRow accumulating_row(const Entry<Operands, Meaning, Saturated>& entry) {
  return valu(entry.mnemonic, Operands::signature, &accumulate_clamped<Meaning, Saturated>, Support::exact,
              entry.targets);
}

// v_perm_b32 with the same selector in every lane, which is how compilers use it, needs no lookups: each result byte is
// a shifted source, or a constant. Signs (selectors 8 to 11) take the general way.
void perm_b32(Wave& w, const Op& op) {
  const uint32_t *a = row(w, op.src[0])->lane, *b = row(w, op.src[1])->lane, *c = row(w, op.src[2])->lane;
  Row& d = *row(w, op.dst);
  uint32_t differ = 0;
  AE_EACH_LANE differ |= c[i] ^ c[0];
  uint32_t shift[4], of_a[4], of_b[4], fixed = 0;
  bool simple = !differ;
  for (unsigned k = 0; k < 4; ++k) {
    const uint32_t selector = c[0] >> (8 * k) & 0xff;
    simple &= selector < 8 || selector > 11;
    shift[k] = (selector & 3) * 8;
    of_a[k] = selector >= 4 && selector < 8 ? 0xffu : 0;
    of_b[k] = selector < 4 ? 0xffu : 0;
    if (selector > 12) fixed |= 0xffu << (8 * k);
  }
  if (simple) {
    each_lane(w, d, [&](unsigned i) {
      uint32_t result = fixed;
      for (unsigned k = 0; k < 4; ++k)
        result |= ((a[i] >> shift[k] & of_a[k]) | (b[i] >> shift[k] & of_b[k])) << (8 * k);
      return result;
    });
  } else {
    each_lane(w, d, [&](unsigned i) { return permute_bytes(a[i], b[i], c[i]); });
  }
}

// Lanes below this one, among the set bits of the source: of lanes 0-31, of lanes 32-63.
template <unsigned First> void mbcnt(Wave& w, const Op& op) {
  const uint32_t *a = row(w, op.src[0])->lane, *b = row(w, op.src[1])->lane;
  each_lane(w, *row(w, op.dst), [&](unsigned i) {
    const unsigned below_here = i < First ? 0 : i - First;
    const uint32_t lanes_below = below_here >= 32 ? ~0u : (1u << below_here) - 1;
    return meaning::count_ones(a[i] & lanes_below) + b[i];
  });
}

// The truth table is spread over OMOD, ABS and NEG.
template <bool Half> void bitop3(Wave& w, const Op& op) {
  const Modifiers m = op.modifiers;
  const uint32_t truth = m.omod() << 6 | m.abs() << 3 | m.neg();
  const uint32_t *a = row(w, op.src[0])->lane, *b = row(w, op.src[1])->lane, *c = row(w, op.src[2])->lane;
  uint32_t minterm[8];
  for (unsigned k = 0; k < 8; ++k) minterm[k] = truth >> k & 1 ? ~0u : 0u;
  each_lane(w, *row(w, op.dst), [&](unsigned i) {
    uint32_t result = 0;
    for (unsigned k = 0; k < 8; ++k)
      result |= minterm[k] & (k & 4 ? a[i] : ~a[i]) & (k & 2 ? b[i] : ~b[i]) & (k & 1 ? c[i] : ~c[i]);
    return Half ? result & 0xffffu : result;
  });
}

// Sums of absolute differences at four byte offsets of a 64-bit source, into four fields.
template <bool Masked> void quad_sad_u16(Wave& w, const Op& op) {
  const Row* a = row(w, op.src[0]);
  const uint32_t* b = row(w, op.src[1])->lane;
  const Row *c = row(w, op.src[2]), *d = row(w, op.dst);
  const bool clamp = op.modifiers.clamp();
  each_lane64(w, const_cast<Row&>(d[0]), const_cast<Row&>(d[1]), [&](unsigned i) {
    const uint64_t window = uint64_t{a[1].lane[i]} << 32 | a[0].lane[i];
    const uint64_t sums = uint64_t{c[1].lane[i]} << 32 | c[0].lane[i];
    uint64_t result = 0;
    for (unsigned k = 0; k < 4; ++k) {
      uint32_t sum = sad_bytes(uint32_t(window >> (8 * k)), b[i], uint32_t(sums >> (16 * k)) & 0xffffu, Masked);
      if (clamp) sum = umin(sum, 0xffffu);
      result |= uint64_t{sum & 0xffffu} << (16 * k);
    }
    return result;
  });
}
void quad_sad_u32(Wave& w, const Op& op) {
  const Row *a = row(w, op.src[0]), *c = row(w, op.src[2]);
  const uint32_t* b = row(w, op.src[1])->lane;
  Row* d = row(w, op.dst);
  const bool clamp = op.modifiers.clamp();
  Row sums[4];
  for (unsigned k = 0; k < 4; ++k) AE_EACH_LANE {
      const uint64_t window = uint64_t{a[1].lane[i]} << 32 | a[0].lane[i];
      const uint32_t sum = sad_bytes(uint32_t(window >> (8 * k)), b[i], 0u, true);
      sums[k].lane[i] = clamp ? add_sat_unsigned(sum, c[k].lane[i]) : sum + c[k].lane[i];
    }
  for (unsigned k = 0; k < 4; ++k) each_lane(w, d[k], [&](unsigned i) { return sums[k].lane[i]; });
}

constexpr auto special_rows = std::array{
    valu("v_perm_b32", {b32, {b32, b32, b32}}, &perm_b32),
    valu("v_mbcnt_lo_u32_b32", {b32, {b32, b32}}, &mbcnt<0>),
    valu("v_mbcnt_hi_u32_b32", {b32, {b32, b32}}, &mbcnt<32>),
    valu("v_bitop3_b32", {.dst = b32, .src = {b32, b32, b32}, .raw = true}, &bitop3<false>, Support::exact, on_gfx950),
    valu("v_qsad_pk_u16_u8", {b64, {b64, b32, b64}}, &quad_sad_u16<false>),
    valu("v_mqsad_pk_u16_u8", {b64, {b64, b32, b64}}, &quad_sad_u16<true>),
    valu("v_mqsad_u32_u8", {Operand(b32, 4), {b64, b32, Operand(b32, 4)}}, &quad_sad_u32),
};

constexpr auto rows =
    concatenate(rows_of_table(integer32), rows_of_table(bytes_and_sums), half_dot_rows(),
                std::apply([](const auto&... e) { return std::array{accumulating_row(e)...}; }, accumulating_dots),
                rows_of_table(halves), rows_of_table(packed_halves), rows_of_table(wide), special_rows);

} // namespace

std::span<const InstructionRow> valu_integer() { return rows; }

} // namespace asmevo::machine::ASMEVO_ISA
