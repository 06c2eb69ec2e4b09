// Moves between registers of all kinds: plain, 64-bit, accumulation registers, lanes to scalars and back.
#include "machine/lanes.h"
#include "machine/registry.h"

#include <array>

namespace asmevo::machine::ASMEVO_ISA {

namespace {

using enum Format;

void mov_b32(Wave& w, const Op& op) {
  const Row& a = *row(w, op.src[0]);
  each_lane(w, *row(w, op.dst), [&](unsigned i) { return a.lane[i]; });
}

void mov_b64(Wave& w, const Op& op) {
  const Row* a = row(w, op.src[0]);
  Row* d = row(w, op.dst);
  each_lane64(w, d[0], d[1], [&](unsigned i) { return uint64_t{a[1].lane[i]} << 32 | a[0].lane[i]; });
}

void swap_b32(Wave& w, const Op& op) {
  Row &a = *row(w, op.src[0]), &d = *row(w, op.dst);
  const Row& on = active(w, w.exec());
  AE_EACH_LANE {
    uint32_t first = a.lane[i], second = d.lane[i];
    a.lane[i] = on.lane[i] ? second : first;
    d.lane[i] = on.lane[i] ? first : second;
  }
}

// The lowest active lane; lane 0 where none is.
void readfirstlane_b32(Wave& w, const Op& op) {
  const uint64_t exec = w.exec();
  w.sgpr[op.sdst] = row(w, op.src[0])->lane[exec ? __builtin_ctzll(exec) : 0];
}

void readlane_b32(Wave& w, const Op& op) { w.sgpr[op.sdst] = row(w, op.src[0])->lane[scalar32(w, op.ssrc[1]) & 63]; }

void writelane_b32(Wave& w, const Op& op) {
  row(w, op.dst)->lane[scalar32(w, op.ssrc[1]) & 63] = scalar32(w, op.ssrc[0]);
}

void nothing(Wave&, const Op&) {}

constexpr std::array table = {
    valu("v_nop", {}, &nothing),
    valu("v_clrexcp", {}, &nothing), // there are no exceptions to clear
    valu("v_mov_b32", {b32, {b32}}, &mov_b32),
    valu("v_mov_b64", {b64, {b64}}, &mov_b64, Support::exact, from_gfx942),
    valu("v_swap_b32", {b32, {b32}}, &swap_b32),
    valu("v_accvgpr_read_b32", {b32, {b32}}, &mov_b32, Support::exact, from_gfx908),
    valu("v_accvgpr_write_b32", {b32, {b32}}, &mov_b32, Support::exact, from_gfx908),
    valu("v_accvgpr_mov_b32", {b32, {b32}}, &mov_b32, Support::exact, from_gfx90a),
    valu("v_readfirstlane_b32", {s32, {b32}}, &readfirstlane_b32),
    valu("v_readlane_b32", {s32, {b32, s32}}, &readlane_b32),
    valu("v_writelane_b32", {b32, {s32, s32}}, &writelane_b32),
};

} // namespace

std::span<const InstructionRow> moves() { return table; }

} // namespace asmevo::machine::ASMEVO_ISA
