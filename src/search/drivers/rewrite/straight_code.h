// Code without branches, as values instead of registers.
//
// A trace is what a wave executes where no guarded region on its way is skipped: blocks wherever they are laid out, the
// skips left out. In it every register is written by one instruction at a time, so what an instruction reads is known
// by name: a value, made by one node and read by others. Then values may get registers of their own, what is computed
// twice is one value, and nothing hangs on where the compiler kept it.
//
// EXEC is a value too. What narrows it makes a mask from the one before and a condition; what restores it names a mask
// that is there already. Each vector instruction runs under one of these masks, and a value that it makes holds in its
// lanes only: where a reader has more lanes, the value lies in the register of what was there before.
#pragma once

#include "search/drivers/rewrite/local.h"

#include <map>

namespace asmevo::search::rewrite {

using ValueId = uint32_t;
inline constexpr ValueId no_value = ~ValueId{0};
inline constexpr int no_mask = -1; // where EXEC does not matter

/// One register of a value.
struct Part {
  ValueId value = no_value;
  uint16_t offset = 0;
  auto operator<=>(const Part&) const = default;
};

struct Value {
  isa::RegisterRange range;  // where the code has it
  bool placeless = false;    // a mask: `range` only says how wide it is
  size_t maker = ~size_t{0}; // node; none for what is there when the code begins
  int mask = no_mask;        // lanes that it holds in
  std::vector<Part> before;  // by register: what other lanes hold
  Part same_as;              // what it was found to be
};

struct Operand {
  size_t index = 0; // of the text
  std::vector<Part> parts;
};

struct Node {
  InstructionText text;
  const isa::Instruction* instruction = nullptr;
  int mask = no_mask;
  std::vector<Operand> reads;
  std::vector<Operand> writes;
  bool reads_scc = false;
  bool scc_is_read = false;
  bool only_computes = false;
  bool is_gone = false;
};

/// Sets of lanes by what is known of them.
struct Mask {
  ValueId value = no_value;
  int parent = no_mask;                 // that it lies within
  int whole = no_mask, taken = no_mask; // it is `whole` without `taken`, which lies within it
};

class StraightCode {
public:
  static constexpr int entry_mask = 0;

  /// The items as a wave executes them, and the registers that are wanted behind them. Nothing where something is not
  /// understood.
  static std::optional<StraightCode> of(const Facts& facts, const std::vector<size_t>& items,
                                        const analysis::RegisterSet& wanted);
  /// How many of the items are understood, up to the last place where EXEC is what it was at the beginning with at
  /// least `least` skips before it; 0 where there is none.
  static size_t longest(const Facts& facts, const std::vector<size_t>& items, size_t least);

  std::vector<Node> nodes;
  std::vector<Value> values;
  std::vector<Mask> masks;
  std::vector<int> skips; // masks that branches in it asked about

  Part resolved(Part part) const;
  bool within(int inner, int outer) const;
  int mask_of(ValueId value) const;
  /// Values that keep their registers: what is there at the beginning, what is wanted at the end.
  bool is_fixed(ValueId value) { return fixed_[root(value)]; }
  /// Those that lie beside each other or in the same registers, as they did.
  ValueId root(ValueId value);
  bool is_alone(ValueId value) { return group_size_[root(value)] == 1; }
  ValueId add_value(Value value);

private:
  explicit StraightCode(const Facts& facts);
  bool take(size_t item);
  bool take_general(size_t item, InstructionText text);
  bool take_mask(size_t item, const InstructionText& text);
  bool take_guard(size_t item, const InstructionText& text);
  bool finish(const analysis::RegisterSet& wanted);

  Part& held(const isa::RegisterRange& range, uint16_t k);
  Part part_at(const isa::RegisterRange& range, uint16_t k);
  std::optional<std::vector<Part>> read(const isa::RegisterRange& range, int mask);
  std::optional<std::vector<Part>> write(const isa::RegisterRange& range, size_t node, bool keeps, bool vector);
  void spread(Part part, const isa::RegisterRange& single, int mask);
  void unite(ValueId a, ValueId b);
  void fix(ValueId value) { fixed_[root(value)] = true; }
  std::optional<std::vector<Part>> mask_operand(const std::string& operand);
  int made(std::string_view mnemonic, size_t item, const std::vector<Part>& a, const std::vector<Part>& b, Mask mask);
  int narrowed(size_t item, const std::vector<Part>& condition);
  int widened(size_t item, const std::vector<Part>& other);
  int without(size_t item, const std::vector<Part>& whole, int taken);
  int known_mask(const std::vector<Part>& parts) const;
  std::vector<Part> parts_of(int mask) const {
    return {{masks[size_t(mask)].value, 0}, {masks[size_t(mask)].value, 1}};
  }

  const Facts* facts_;
  std::vector<Part> sgprs_, vgprs_; // what each register holds now
  std::vector<ValueId> parent_;     // by value
  std::vector<uint32_t> group_size_;
  std::vector<bool> fixed_;
  std::map<std::tuple<std::string, std::vector<Part>, std::vector<Part>>, int> made_;
  int mask_ = entry_mask;
  std::optional<size_t> scc_; // node that SCC is from; none where it was left out or is older than the code
};

} // namespace asmevo::search::rewrite
