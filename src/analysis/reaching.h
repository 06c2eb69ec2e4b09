// Reaching definitions: which writes of a register a read may see.
//
// A write of a vector register under an EXEC that is not known to be full leaves other lanes as they were, so it joins
// what it does not replace; so does a write of half a register. Registers also have a value on entry, and a call may
// have written any: both appear as definitions that no item makes.
#pragma once

#include "analysis/cfg.h"
#include "analysis/registers.h"

#include <optional>

namespace asmevo::analysis {

class Reaching {
public:
  /// The value that a register has when the function begins (or after an unknown branch into it).
  static constexpr uint32_t entry = 0xffffffff;

  Reaching(const recover::Program& program, const recover::Function& function, const Graph& graph);

  const RegisterMap& registers() const { return registers_; }
  /// Items that may have written `unit` as it is before `item`, sorted; `entry` last where no write need have happened.
  std::vector<uint32_t> definitions(size_t item, size_t unit) const;
  /// Items that may read what `item` writes to `unit`, sorted.
  std::vector<uint32_t> readers(size_t item, size_t unit) const;
  /// The item that alone decides the value of `unit` before `item`, with nothing left of older ones.
  std::optional<uint32_t> sole_definition(size_t item, size_t unit) const;
  /// The 32-bit constant that scalar register `sgpr` holds before `item`, if one s_mov or s_movk set it.
  std::optional<uint32_t> scalar_constant(size_t item, uint16_t sgpr) const;

private:
  struct Site {
    uint32_t item;
    bool replaces; // nothing of the older value is left
  };
  using Bits = std::vector<uint64_t>;

  const recover::Program& program_;
  size_t first_;
  Graph graph_;
  RegisterMap registers_;
  std::vector<std::vector<Site>> sites_; // by unit, in item order
  std::vector<size_t> offset_;           // by unit: its first bit; one more for the entry value
  std::vector<Bits> reach_;              // by block, on entry
};

/// The value of an inline constant or literal that a scalar operand (0-255) of `instruction` names.
std::optional<uint32_t> constant_operand(const isa::Instruction& instruction, uint8_t operand);

} // namespace asmevo::analysis
