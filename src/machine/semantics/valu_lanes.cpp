// Vector instructions that move lanes or halves without computing: swaps between lanes of gfx950, packing of halves,
// and the 16-bit truth-table operation with its op_sel.
#include "machine/lanes.h"
#include "machine/registry.h"

#include <array>
#include <utility>

namespace asmevo::machine::ASMEVO_ISA {

namespace {

using enum Format;

/// Swaps lanes of two rows: lanes with bit `Distance` set of the destination against those without it of the source.
/// Both lanes of a pair must be active.
template <unsigned Distance> void permlane_swap(Wave& w, const Op& op) {
  Row &d = *row(w, op.dst), &s = *row(w, op.src[0]);
  const uint64_t exec = w.exec();
  for (unsigned i = 0; i < lanes; ++i) {
    if (i & Distance) continue;
    const unsigned other = i + Distance;
    if (!(exec >> i & 1) || !(exec >> other & 1)) continue;
    std::swap(s.lane[i], d.lane[other]);
  }
}

void pack_b32_f16(Wave& w, const Op& op) {
  const Row &a = *row(w, op.src[0]), &b = *row(w, op.src[1]);
  each_lane(w, *row(w, op.dst), [&](unsigned i) { return (a.lane[i] & 0xffffu) | b.lane[i] << 16; });
}

// The truth table is spread over OMOD, ABS and NEG; op_sel picks halves and the other half of the result stays.
void bitop3_b16(Wave& w, const Op& op) {
  const Modifiers m = op.modifiers;
  const uint32_t truth = m.omod() << 6 | m.abs() << 3 | m.neg();
  const Row *a = row(w, op.src[0]), *b = row(w, op.src[1]), *c = row(w, op.src[2]);
  Row& d = *row(w, op.dst);
  const auto half = [&](const Row* r, unsigned k, unsigned i) { return r->lane[i] >> (m.op_sel() >> k & 1 ? 16 : 0); };
  const unsigned up = m.op_sel() & 8 ? 16 : 0;
  each_lane(w, d, [&](unsigned i) {
    const uint32_t x = half(a, 0, i), y = half(b, 1, i), z = half(c, 2, i);
    uint32_t result = 0;
    for (unsigned k = 0; k < 8; ++k)
      if (truth >> k & 1) result |= (k & 4 ? x : ~x) & (k & 2 ? y : ~y) & (k & 1 ? z : ~z);
    return (d.lane[i] & ~(0xffffu << up)) | (result & 0xffffu) << up;
  });
}

constexpr std::array rows = {
    valu("v_permlane16_swap_b32", {b32, {b32}}, &permlane_swap<16>, Support::exact, on_gfx950),
    valu("v_permlane32_swap_b32", {b32, {b32}}, &permlane_swap<32>, Support::exact, on_gfx950),
    valu("v_pack_b32_f16", {b32, {f16, f16}}, &pack_b32_f16),
    valu("v_bitop3_b16", {.dst = b32, .src = {b32, b32, b32}, .raw = true}, &bitop3_b16, Support::exact, on_gfx950),
};

} // namespace

std::span<const InstructionRow> valu_lanes() { return rows; }

} // namespace asmevo::machine::ASMEVO_ISA
