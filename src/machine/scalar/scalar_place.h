// Where a scalar memory instruction goes.
#pragma once

#include "machine/op.h"

#include <algorithm>

namespace asmevo::machine {

/// Where an access goes, and how many of its dwords exist.
struct ScalarPlace {
  uint64_t address = 0;
  uint32_t dwords = 0;
};

template <bool buffer> AE_LANES ScalarPlace scalar_place(const Wave& w, const Op& op, uint32_t dwords) {
  const uint64_t base = scalar64(w, op.ssrc[0]);
  int64_t offset = op.imm;
  if (op.flags & memory_flag::has_soffset) offset += scalar32(w, op.ssrc[1]);
  if constexpr (!buffer) return {(base + uint64_t(offset)) & ~uint64_t{3}, dwords};
  // V#: base 47:0, stride 61:48, records in word 2: elements of `stride` bytes where there is a stride.
  const uint32_t records = w.sgpr[op.ssrc[0].index() + 2], stride = uint32_t(base >> 48) & 0x3fff;
  const uint64_t size = stride ? uint64_t{records} * stride : records;
  const uint64_t at = uint64_t(offset) & 0xfffffffc;
  const uint64_t available = at < size ? (size - at) / 4 : 0;
  return {((base & 0xffffffffffff) + at) & ~uint64_t{3}, uint32_t(std::min<uint64_t>(dwords, available))};
}

/// s_scratch_*: the register offset counts 64 lanes.
AE_LANES ScalarPlace scalar_scratch_place(const Wave& w, const Op& op, uint32_t dwords) {
  const uint64_t slots = op.flags & memory_flag::has_soffset ? scalar32(w, op.ssrc[1]) : 0;
  return {(scalar64(w, op.ssrc[0]) + uint64_t(int64_t{op.imm}) + 64 * slots) & ~uint64_t{3}, dwords};
}

} // namespace asmevo::machine
