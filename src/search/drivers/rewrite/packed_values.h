// Values of a block that may change their registers so that two of them become neighbours.
#pragma once

#include "analysis/dependence.h"
#include "search/drivers/rewrite/local.h"

#include <map>
#include <set>

namespace asmevo::search::rewrite {

/// What an operand names: a register, and the value in it where the block makes it and it can move.
struct Named {
  isa::RegisterRange place; // one register
  std::optional<size_t> value;
};

/// Two halves of an operand of packed arithmetic: `base` is even, and each half is the one register or the other.
struct Halves {
  isa::File file = isa::File::vgpr;
  uint16_t base = 0;
  bool low = false, high = false; // the second register
};

/// A value can move where one instruction makes it alone, and all that read it stand in the block under the same EXEC,
/// look at no other lanes, and name just it.
class PackedValues {
public:
  struct Value {
    uint16_t vgpr = 0;
    std::vector<std::pair<uint32_t, size_t>> named; // by node and operand; the first makes it
    unsigned epoch = 0;                             // of EXEC
    bool fixed = false;
  };
  using Places = std::map<size_t, uint16_t>; // by value: where it is to be from now on

  PackedValues(const Facts& facts, const analysis::Block& block, const analysis::DependenceGraph& graph);

  const InstructionText& text(uint32_t node) const { return texts_[node]; }
  unsigned epoch(uint32_t node) const { return epochs_[node]; }
  /// Nothing where the operand is no single register without bars; a sign does not matter.
  std::optional<Named> named(uint32_t node, size_t operand) const;
  /// The two in one aligned pair of registers, as they are or, where `may_move`, by places of their own.
  std::optional<Halves> together(const Named& a, const Named& b, bool may_move, Places& places) const;
  void settle(const Places& places);
  /// The node's text with the values where they are now.
  InstructionText moved_text(uint32_t node) const;

private:
  void read(uint32_t node, const isa::Instruction& i);
  void write(uint32_t node, const isa::Instruction& i);
  void fix(const isa::RegisterRange& range);
  std::optional<uint16_t> place_of(const Named& named, const Places& places) const;
  bool may_move(const Named& named, const Places& places) const;
  bool is_free(uint16_t vgpr, const Places& places) const;

  const Facts& facts_;
  analysis::RegisterSet busy_;
  std::vector<InstructionText> texts_;
  std::vector<unsigned> epochs_;
  std::vector<Value> values_;
  std::vector<std::optional<size_t>> holder_; // by VGPR
  std::map<std::pair<uint32_t, size_t>, size_t> value_of_;
  Places settled_;
  std::set<uint16_t> taken_;
};

} // namespace asmevo::search::rewrite
