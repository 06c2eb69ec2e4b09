// Where the lanes of a memory instruction go: addresses from registers, by kind of instruction. The instructions
// themselves use this, and so does whoever wants to know their addresses without executing them.
#pragma once

#include "machine/op.h"
#include "machine/wave.h"

#ifndef ASMEVO_ISA
#error "files that include machine/semantics/addresses.h are compiled once an instruction set"
#endif

namespace asmevo::machine::ASMEVO_ISA {

/// DS: row of byte addresses plus a constant, in LDS of `size` bytes.
struct LdsAddresses {
  const Row& base;
  uint32_t offset, size, bytes;
  AE_LANES uint32_t at(unsigned i) const { return base.lane[i] + offset; }
  AE_LANES bool inside(unsigned i) const { return at(i) < size && size - at(i) >= bytes; }
};

AE_LANES LdsAddresses lds_addresses(Wave& w, const Op& op, uint32_t offset, uint32_t bytes) {
  return {*row(w, op.src[0]), offset, w.lds_size, bytes};
}

/// Addresses of a GLOBAL or FLAT access.
struct GlobalAddresses {
  const Row* vector;
  uint64_t base;
  bool wide; // the vector holds 64 bits
  AE_LANES uint64_t at(unsigned i) const {
    uint64_t offset = vector[0].lane[i];
    if (wide) offset |= uint64_t{vector[1].lane[i]} << 32;
    return base + offset;
  }
};

AE_LANES GlobalAddresses global_addresses(Wave& w, const Op& op) {
  const bool scalar = op.flags & memory_flag::has_saddr;
  const uint64_t base = scalar ? scalar64(w, op.ssrc[0]) : 0;
  return {row(w, op.src[0]), base + uint64_t(int64_t{op.imm}), !scalar};
}

/// Offsets into private memory.
AE_LANES uint32_t scratch_base(const Wave& w, const Op& op) {
  return uint32_t(op.imm) + (op.flags & memory_flag::has_saddr ? scalar32(w, op.ssrc[0]) : 0);
}

constexpr uint32_t element_bytes = 4; // of the swizzle

/// The fields of a V# and of the instruction that do not depend on the lane.
struct Resource {
  uint64_t base = 0; // soffset included
  uint32_t stride = 0, records = 0, soffset = 0;
  uint32_t index_stride = 0, word3 = 0;
  bool swizzle = false, add_tid = false;
  const Row* index = nullptr;
  const Row* offset = nullptr;
  uint32_t immediate = 0;

  AE_LANES uint32_t index_of(unsigned i) const { return (index ? index->lane[i] : 0) + (add_tid ? i : 0); }
  AE_LANES uint32_t offset_of(unsigned i) const { return immediate + (offset ? offset->lane[i] : 0); }

  /// Structured buffers are addressed by record; without a stride or swizzle the buffer is raw.
  AE_LANES bool structured() const { return swizzle && stride; }

  AE_LANES uint64_t raw_offset(unsigned i) const { return uint64_t{offset_of(i)} + uint64_t{stride} * index_of(i); }

  /// Whether `bytes` at `at` behind the lane's offset are in range.
  AE_LANES bool inside(unsigned i, uint32_t at, uint32_t bytes) const {
    if (structured()) return index_of(i) < records && uint64_t{offset_of(i)} + at + bytes <= stride;
    return (swizzle ? uint64_t{offset_of(i)} : raw_offset(i)) + soffset + at + bytes <= records;
  }

  AE_LANES uint64_t address(unsigned i, uint32_t at) const {
    if (!swizzle) return base + raw_offset(i) + at;
    const uint32_t n = index_of(i), o = offset_of(i) + at;
    const uint64_t block = uint64_t{n / index_stride} * stride + uint64_t{o / element_bytes} * element_bytes;
    return base + block * index_stride + n % index_stride * element_bytes + o % element_bytes;
  }

  /// How many of `bytes` at `at` lie side by side: an offset need not be aligned, and a swizzle parts elements.
  AE_LANES uint32_t together(unsigned i, uint32_t at, uint32_t bytes) const {
    const uint32_t left = element_bytes - (offset_of(i) + at) % element_bytes;
    return swizzle && left < bytes ? left : bytes;
  }
};

AE_LANES Resource resource(Wave& w, const Op& op) {
  const uint32_t* v = w.sgpr + op.ssrc[0].index();
  Resource r;
  r.soffset = scalar32(w, op.ssrc[1]);
  r.base = (uint64_t{v[1] & 0xffff} << 32 | v[0]) + r.soffset;
  r.stride = v[1] >> 16 & 0x3fff;
  r.swizzle = v[1] >> 31;
  r.records = v[2];
  r.word3 = v[3];
  r.index_stride = 8u << (v[3] >> 21 & 3);
  r.add_tid = v[3] >> 23 & 1;
  r.immediate = uint32_t(op.imm);
  const Row* vector = row(w, op.src[0]);
  if (op.flags & memory_flag::idxen) r.index = vector++;
  if (op.flags & memory_flag::offen) r.offset = vector;
  return r;
}

} // namespace asmevo::machine::ASMEVO_ISA
