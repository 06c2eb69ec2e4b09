// Element types from the instructions that use values.
//
// Memory instructions only know widths. But what is loaded is soon used, and a mnemonic names the type of its sources
// last (`v_cvt_f32_f16`, `v_mfma_f32_32x32x8_f16`) and that of its result first. So loads vote by the first instruction
// that reads the loaded register, stores by the last one that wrote the stored register, moves are followed, and the
// majority wins.
#pragma once

#include "launch/dtype.h"
#include "machine/machine.h"

#include <functional>
#include <map>

namespace asmevo::launch {

using TypeVotes = std::map<DType, uint64_t>;

/// The type with most votes.
std::optional<DType> winner(const TypeVotes& votes);

/// Which argument an access belongs to: a kernarg offset, or nothing.
using Owner = std::function<std::optional<uint32_t>(uint64_t address)>;

/// By kernarg offset: what is behind pointers, and what scalars are.
struct Votes {
  std::map<uint32_t, TypeVotes> elements, scalars;
};

/// Adds the votes of one wave. `owner` tells the pointer behind global addresses, `kernarg` is where the kernarg
/// segment begins: scalar loads from there vote for the scalars.
void vote(const machine::Image& image, const machine::Trace& trace, const machine::WaveTrace& wave, const Owner& owner,
          uint64_t kernarg, Votes& votes);

} // namespace asmevo::launch
