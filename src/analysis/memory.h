// What memory an instruction touches, as far as its text says, and when two accesses may trade places.
//
// Alias questions are asked per lane, as compilers ask them: two accesses through the same base register, whose value
// has not changed in between, at offsets that do not overlap, are independent. LDS is the exception. It is where lanes
// meet: one lane writes base+0 and another reads the same place as base+4 of its own, with nothing but instruction
// order between them. So LDS accesses through a vector address trade places only when both read.
#pragma once

#include "analysis/cfg.h"
#include "analysis/registers.h"
#include "analysis/waits.h"

#include <array>

namespace asmevo::analysis {

enum class Space : uint8_t { none, lds, global, scratch, flat, scalar, lds_and_global, control };

struct Extent {
  int64_t offset = 0;
  uint32_t bytes = 0; // 0 where unknown
};

struct MemoryAccess {
  Space space = Space::none; // control: cache maintenance and messages, ordered against everything
  bool loads = false, stores = false, atomic = false;
  bool coherent = false;                // sc0/sc1 (glc): meant to meet others; keeps its order
  std::vector<isa::RegisterRange> base; // every register that the address depends on
  std::array<Extent, 2> extents;        // the second only for read2/write2
  uint8_t extent_count = 0;
};

MemoryAccess memory_access(const isa::Instruction& instruction);

/// Bytes of one lane that a memory instruction moves, from its mnemonic; 0 where it does not say.
uint32_t access_bytes(std::string_view mnemonic);

/// Neither atomic nor coherent nor control, and of one kind of memory: such accesses may trade places where they are
/// disjoint.
bool is_plain(const MemoryAccess& access);

/// Whether the order of two accesses matters. `same_base` says that both name the same base registers and that those
/// hold the same values.
bool must_keep_order(const MemoryAccess& earlier, const MemoryAccess& later, bool same_base);

/// Where stores to memory that other waves can see stand in relation to a barrier. A load of a value that no wave of
/// the workgroup stores before the barrier reads the same on both sides of it, and one that no wave stores between it
/// and the next barrier may still be in flight when it is passed.
class BarrierStores {
public:
  BarrierStores(const recover::Program& program, const recover::Function& function, const Graph& graph);
  /// A store may have happened before `item`.
  bool before(size_t item) const;
  /// A store may happen behind `item` before another barrier does.
  bool behind(size_t item) const;

private:
  bool is_store(size_t item) const;

  const recover::Program& program_;
  const recover::Function& function_;
  const Graph& graph_;
  std::vector<bool> into_;   // by block: a store may have happened on entry
  std::vector<bool> out_of_; // by block: a store may happen from its start before a barrier does
};

/// The SGPR pair that holds the kernarg segment's address at entry, if `function` is a kernel that has one.
/// Source: LLVM AMDGPUUsage, "Initial Kernel Execution State".
std::optional<uint16_t> kernarg_pointer(const recover::Program& program, const recover::Function& function);

} // namespace asmevo::analysis
