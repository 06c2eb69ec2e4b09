// DS instructions that move data between lanes and touch no memory: permute, bpermute, swizzle.
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

constexpr InstructionRow ds(std::string_view mnemonic, Handler handler, TargetMask targets = on_all) {
  return {mnemonic, Shape::ds, {}, handler, Support::exact, targets};
}

constexpr std::array table = {
    ds("ds_permute_b32", &permute),
    ds("ds_bpermute_b32", &bpermute),
    ds("ds_swizzle_b32", &swizzle),
};

} // namespace

std::span<const InstructionRow> lds_cross() { return table; }

} // namespace asmevo::machine::ASMEVO_ISA
