// Registers as dense numbers, so that analyses can keep an array or a bitset over all of them.
//
// SGPRs come first with the numbers of the hardware's operand encoding (VCC, M0 and EXEC are among them), then VGPRs,
// AGPRs, SCC and MODE. From gfx90a on, AGPR n is row accum_offset + n of the file that also holds the VGPRs. Compilers
// never name one row both ways; hand-written kernels do, and then both names must be one number here.
#pragma once

#include "recover/program.h"

#include <bitset>
#include <span>

namespace asmevo::analysis {

inline constexpr size_t vgpr_unit = 128, agpr_unit = vgpr_unit + 512, scc_unit = agpr_unit + 256,
                        mode_unit = scc_unit + 1, register_bits = mode_unit + 1;

using RegisterSet = std::bitset<register_bits>;

/// Numbers as if AGPRs were a file of their own.
size_t bit_of(isa::File file, uint16_t index);
RegisterSet set_of(const std::vector<isa::RegisterRange>& ranges);

/// How registers of one function are numbered.
class RegisterMap {
public:
  RegisterMap() = default;
  /// Finds out whether `function` names rows of the unified file both as VGPR and as AGPR.
  RegisterMap(const recover::Program& program, const recover::Function& function);
  /// A unified file whose accumulation registers begin at row `accum_offset`.
  static RegisterMap unified(uint32_t accum_offset);

  size_t first_of(const isa::RegisterRange& range) const {
    switch (range.file) {
    case isa::File::sgpr:
      return clamp(range.first, vgpr_unit, 0);
    case isa::File::vgpr:
      return clamp(range.first, agpr_unit - vgpr_unit, vgpr_unit);
    case isa::File::agpr:
      return clamp(range.first, limit_, agprs_);
    case isa::File::scc:
      return scc_unit;
    case isa::File::mode:
      return mode_unit;
    }
    return mode_unit;
  }
  /// Calls `visit(unit)` for every register of the ranges.
  template <class Visit> void each(std::span<const isa::RegisterRange> ranges, Visit&& visit) const {
    for (const isa::RegisterRange& range : ranges) {
      const size_t first = first_of(range);
      for (size_t unit = first; unit < std::min(first + range.count, register_bits); ++unit) visit(unit);
    }
  }
  RegisterSet set_of(std::span<const isa::RegisterRange> ranges) const {
    RegisterSet set;
    each(ranges, [&](size_t unit) { set.set(unit); });
    return set;
  }
  bool overlap(const isa::RegisterRange& a, const isa::RegisterRange& b) const {
    const size_t first_a = first_of(a), first_b = first_of(b);
    return first_a < first_b + b.count && first_b < first_a + a.count;
  }

private:
  static size_t clamp(size_t index, size_t count, size_t base) { return base + std::min(index, count - 1); }

  size_t agprs_ = agpr_unit;
  size_t limit_ = scc_unit - agpr_unit;
};

/// "v12", "s4", "a0", "vcc_lo", "exec_hi", "m0", "scc"; for messages.
std::string register_name(size_t unit);

inline bool is_vector_unit(size_t unit) { return unit >= vgpr_unit && unit < scc_unit; }

} // namespace asmevo::analysis
