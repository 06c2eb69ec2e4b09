// Which instruction of a block makes the value that another one reads.
#pragma once

#include "analysis/dependence.h"
#include "search/drivers/rewrite/local.h"

#include <map>

namespace asmevo::search::rewrite {

/// Values of single VGPRs in a block, by the nodes of its dependence graph.
class BlockValues {
public:
  struct Value {
    uint16_t vgpr = 0;
    std::optional<uint32_t> maker;                    // nothing: from before the block
    std::vector<std::pair<uint32_t, size_t>> readers; // node and operand that names just this register
    std::vector<uint32_t> other_readers;              // nodes that read it in any other way
    bool lasts = true;                                // the block does not write the register again
    bool goes_on = false;                             // wanted behind the block, or under another EXEC
  };

  BlockValues(const Facts& facts, const analysis::Block& block, const analysis::DependenceGraph& graph);

  const Value& operator[](size_t value) const { return values_[value]; }
  const InstructionText& text(uint32_t node) const { return texts_[node]; }
  /// How often the block wrote EXEC before.
  unsigned epoch(uint32_t node) const { return epochs_[node]; }
  /// Of an operand that names one VGPR.
  std::optional<size_t> read_by(uint32_t node, size_t operand) const;
  /// Of an instruction that makes one.
  std::optional<size_t> made_by(uint32_t node) const;
  /// A VGPR that nothing in the block names and nothing behind it needs, from then on taken; within the budget.
  std::optional<uint16_t> take_free();
  void give_back(std::string_view vgpr);

private:
  size_t current(uint16_t vgpr);
  void read(uint32_t node, const isa::Instruction& i);
  void write(uint32_t node, const isa::Instruction& i);

  const Facts& facts_;
  std::vector<InstructionText> texts_;
  std::vector<unsigned> epochs_;
  std::vector<Value> values_;
  std::map<uint16_t, size_t> holds_;
  std::map<std::pair<uint32_t, size_t>, size_t> reads_;
  std::map<uint32_t, size_t> makes_;
  analysis::RegisterSet busy_;
};

} // namespace asmevo::search::rewrite
