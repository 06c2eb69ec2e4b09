// Scalar ALU: SOP1, SOP2, SOPK, SOPC.
#include "machine/registry.h"

#include <array>

namespace asmevo::machine::scalar {

namespace {

void mov_b32(Wave& w, const Op& op) { w.sgpr[op.sdst] = scalar32(w, op.ssrc[0]); }

constexpr std::array table = {
    InstructionRow{"s_mov_b32", Shape::salu, {}, &mov_b32},
};

} // namespace

std::span<const InstructionRow> salu() { return table; }

} // namespace asmevo::machine::scalar
