// DS instructions that move data between lanes and touch no memory: permute, bpermute, swizzle; and
// gfx950's reads that exchange what they load among the lanes of a row.
//
// A lane that EXEC turns off supplies 0. Source: CDNA3 ISA manual, DS_SWIZZLE_B32, DS_PERMUTE_B32, DS_BPERMUTE_B32.
#include "machine/registry.h"
#include "machine/transfer.h"

#include <array>

namespace asmevo::machine::ASMEVO_ISA {

namespace {

/// d[i] = data of lane from(i) where that lane is active, else 0.
template <class F> AE_LANES void pull(Wave& w, const Row& data, Row& d, F from) {
  const uint64_t exec = w.exec();
  Row moved;
  for (unsigned i = 0; i < lanes; ++i) {
    const unsigned source = from(i);
    moved.lane[i] = exec >> source & 1 ? data.lane[source] : 0;
  }
  each_lane(w, d, [&](unsigned i) { return moved.lane[i]; });
}

void bpermute(Wave& w, const Op& op) {
  const Row& address = *row(w, op.src[0]);
  pull(w, *row(w, op.src[1]), *row(w, op.dst),
       [&](unsigned i) { return (address.lane[i] + uint32_t(op.imm)) / 4 % lanes; });
}

void permute(Wave& w, const Op& op) {
  const Row &address = *row(w, op.src[0]), &data = *row(w, op.src[1]);
  Row moved{};
  each_active(w.exec(), [&](unsigned i) {
    moved.lane[(address.lane[i] + uint32_t(op.imm)) / 4 % lanes] = data.lane[i];
    return true;
  });
  each_lane(w, *row(w, op.dst), [&](unsigned i) { return moved.lane[i]; });
}

unsigned reverse5(unsigned v) {
  unsigned result = 0;
  for (unsigned k = 0; k < 5; ++k) result |= (v >> k & 1) << (4 - k);
  return result;
}

/// Source lane of ds_swizzle; the mode is in the top bits of the offset.
unsigned swizzle_source(uint32_t control, unsigned lane) {
  const unsigned half = lane & 32, in_half = lane & 31;
  if (control >= 0xe000) { // FFT: bit-reversed order
    const uint32_t mask = control & 31;
    return half | ((reverse5(in_half) >> __builtin_popcount(mask)) | (in_half & mask)) % 32;
  }
  if (control >= 0xc000) { // rotate
    const uint32_t mask = control & 31, amount = control >> 5 & 31;
    const uint32_t turned = control >> 10 & 1 ? in_half - amount : in_half + amount;
    return half | ((in_half & mask) | (turned & ~mask & 31));
  }
  if (control & 0x8000) return (lane & ~3u) | (control >> (2 * (lane & 3)) & 3); // quad permute
  return half | ((((in_half & control) | control >> 5) ^ control >> 10) & 31);   // and, or, xor masks
}

void swizzle(Wave& w, const Op& op) {
  pull(w, *row(w, op.src[0]), *row(w, op.dst), [&](unsigned i) { return swizzle_source(uint32_t(op.imm), i); });
}

// Transposing reads of gfx950. Each lane of a block of 16 loads elements at its own address. The block's data are a
// tile of 16 columns whose rows follow each other through the lanes (a row of 16-bit elements takes four lanes, of
// bytes two, of 4- and 6-bit elements one); lane i of the block gets column i.
template <unsigned bits, unsigned dwords> void read_transposed(Wave& w, const Op& op) {
  constexpr unsigned elements = dwords * 32 / bits; // a lane
  Row loaded[dwords], result[dwords] = {};
  const Row& address = *row(w, op.src[0]);
  const uint64_t exec = w.exec();
  uint64_t mask = exec;
  for (unsigned i = 0; i < lanes; ++i) {
    const uint32_t at = address.lane[i] + uint32_t(op.imm);
    const bool inside = at < w.lds_size && w.lds_size - at >= 4 * dwords && exec >> i & 1;
    if (!inside) mask &= ~(uint64_t{1} << i);
    Dwords<dwords>::put(loaded, i, inside ? w.lds + at : zeros);
  }
  trace_access(w, Space::lds, false, 4 * dwords, mask, [&](unsigned i) { return address.lane[i] + uint32_t(op.imm); });
  auto element = [&](unsigned lane, unsigned k) -> uint32_t {
    const unsigned bit = k * bits;
    uint64_t pair = loaded[bit / 32].lane[lane];
    if (bit / 32 + 1 < dwords) pair |= uint64_t{loaded[bit / 32 + 1].lane[lane]} << 32;
    return uint32_t(pair >> bit % 32) & ((1u << bits) - 1);
  };
  constexpr unsigned lanes_a_row = 16 / elements;
  for (unsigned i = 0; i < lanes; ++i) {
    const unsigned block = i & ~15u, column = i & 15;
    for (unsigned e = 0; e < elements; ++e) {
      const unsigned from = block + e * lanes_a_row + column / elements;
      const uint64_t value = uint64_t{element(from, column % elements)} << e * bits % 32;
      result[e * bits / 32].lane[i] |= uint32_t(value);
      if (value >> 32) result[e * bits / 32 + 1].lane[i] |= uint32_t(value >> 32);
    }
  }
  Row* d = row(w, op.dst);
  for (unsigned k = 0; k < dwords; ++k) each_lane(w, d[k], [&](unsigned i) { return result[k].lane[i]; });
}

constexpr InstructionRow ds(std::string_view mnemonic, Handler handler, TargetMask targets = on_all) {
  return {mnemonic, Shape::ds, {}, handler, Support::exact, targets};
}

constexpr std::array table = {
    ds("ds_permute_b32", &permute),
    ds("ds_bpermute_b32", &bpermute),
    ds("ds_swizzle_b32", &swizzle),
    ds("ds_read_b64_tr_b16", &read_transposed<16, 2>, on_gfx950),
    ds("ds_read_b64_tr_b8", &read_transposed<8, 2>, on_gfx950),
    ds("ds_read_b64_tr_b4", &read_transposed<4, 2>, on_gfx950),
    ds("ds_read_b96_tr_b6", &read_transposed<6, 3>, on_gfx950),
};

} // namespace

std::span<const InstructionRow> lds_cross() { return table; }

} // namespace asmevo::machine::ASMEVO_ISA
