// The static table: everything the timed simulation asks about an instruction, worked out once per image.
//
// A timed instruction must cost some tens of nanoseconds of host time, so nothing in the loop may look at a mnemonic or
// a vector of operands. Registers become rows of one flat scoreboard (scalar, SCC, MODE, VGPR, AGPR), operand lists
// become slices of one shared array, waits and nops become numbers. Costs in clocks are not here: they differ from draw
// to draw and are looked up by class (CostTable).
#pragma once

#include "timing/cache_policy.h"
#include "timing/device_table.h"
#include "timing/op_class.h"

#include <span>
#include <vector>

namespace asmevo::timing {

/// Scoreboard rows.
inline constexpr uint16_t row_scc = 128, row_mode = 129, row_vgpr = 130, row_agpr = row_vgpr + 512,
                          row_count = row_agpr + 512;

struct RowRange {
  uint16_t first = 0, count = 0;
};

struct StaticOp {
  uint64_t address = 0;
  uint64_t fallthrough = 0;
  OpClass op = OpClass::salu;
  Category category = Category::scalar;
  uint8_t defs = 0, uses = 0; // lengths: defs first, then uses
  uint32_t ranges = 0;        // into StaticTable::ranges
  uint8_t mfma_passes = 0, valu_blocked = 0;
  bool writes_scalar = false; // VALU that writes SGPR, VCC or EXEC
  bool across_lanes = false;
  bool load = false, store = false, atomic = false, returns = false;
  bool lds_direct = false; // vector memory whose data goes to LDS
  CachePolicy policy;
  bool conditional = false;
  uint8_t vm = 0, lgkm = 0; // counter increments
  uint8_t lgkm_unordered = 0;
  uint8_t wait_vm = 63, wait_lgkm = 15;
  uint16_t immediate = 0; // s_nop, s_sleep, s_setprio
};

class StaticTable {
public:
  StaticTable(std::span<const isa::Instruction> code, const isa::Target& target);

  const StaticOp& operator[](size_t i) const { return ops_[i]; }
  size_t size() const { return ops_.size(); }
  /// One more instruction behind the others; its index.
  uint32_t append(const isa::Instruction& instruction, const isa::Target& target);
  /// Puts instruction `i` at another address; where the code goes on behind it.
  uint64_t place(size_t i, uint64_t address);
  std::span<const RowRange> defs(const StaticOp& op) const { return {ranges_.data() + op.ranges, op.defs}; }
  std::span<const RowRange> uses(const StaticOp& op) const { return {ranges_.data() + op.ranges + op.defs, op.uses}; }

  /// `reader` reads a vector register that `writer` writes.
  bool feeds(const StaticOp& writer, const StaticOp& reader) const;

private:
  std::vector<StaticOp> ops_;
  std::vector<RowRange> ranges_;
};

/// Clocks by class for one draw: `issue` holds the pipe, `result` is when a dependent instruction may issue.
struct Cost {
  double issue = 4;
  int64_t result = 4;
};
std::array<Cost, size_t(OpClass::priority) + 1> cost_table(const Values& values);

} // namespace asmevo::timing
