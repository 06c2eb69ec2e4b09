// A block as a superoptimiser reads it: which lines it understands, and who writes and reads what.
#pragma once

#include "search/drivers/rewrite/rule.h"
#include "search/drivers/superopt/opcode.h"

#include <optional>

namespace asmevo::search::superopt {

inline constexpr size_t nowhere = ~size_t{0};
inline constexpr isa::RegisterRange scc{isa::File::scc, 0, 1};

/// An operand: registers or a number.
struct Source {
  std::optional<isa::RegisterRange> range;
  uint32_t constant = 0;
};

/// An instruction taken apart; `opcode` is null where it cannot be in a window.
struct Line {
  const Opcode* opcode = nullptr;
  std::vector<Source> sources;
  std::optional<isa::RegisterRange> result, second;
};

Line taken_apart(const recover::Item& item, Opcodes& opcodes);

/// The block with who writes and reads what.
class Reader {
public:
  Reader(const rewrite::Facts& facts, const analysis::Block& block, Opcodes& opcodes);

  const Line& line(size_t item) const { return lines_[item - block_.first]; }
  const analysis::RegisterSet& writes(size_t item) const { return writes_[item - block_.first]; }
  const analysis::RegisterSet& reads(size_t item) const { return reads_[item - block_.first]; }

  /// The last item before `item` that writes the unit.
  size_t writer(size_t unit, size_t item) const {
    while (item-- > block_.first)
      if (writes(item).test(unit)) return item;
    return nowhere;
  }

  /// Whether any of `items` but `left_out` writes the unit, from `first` up to `last`.
  template <class LeftOut> bool written(size_t unit, size_t first, size_t last, LeftOut left_out) const {
    for (size_t item = first; item < last; ++item)
      if (writes(item).test(unit) && !left_out(item)) return true;
    return false;
  }

  /// Whether what `item` writes to the unit is read by anything but `left_out`, or may be behind the block.
  template <class LeftOut> bool wanted(size_t unit, size_t item, LeftOut left_out) const {
    for (size_t at = item + 1; at < block_.last; ++at) {
      if (reads(at).test(unit) && !left_out(at)) return true;
      // Under another EXEC a write leaves some lanes as they were.
      if (writes(at).test(unit) && (!analysis::is_vector_unit(unit) || !exec_changes(item, at))) return false;
    }
    return facts_.live_after(block_.last - 1).test(unit);
  }

  bool exec_changes(size_t first, size_t last) const {
    for (size_t item = first; item < last; ++item)
      if (writes(item).test(isa::exec_lo) || writes(item).test(isa::exec_hi)) return true;
    return false;
  }

  size_t unit_of(const isa::RegisterRange& range, size_t k = 0) const {
    return facts_.liveness.registers.first_of(range) + k;
  }

  const rewrite::Facts& facts_;
  const analysis::Block& block_;
  Opcodes& opcodes_;

private:
  std::vector<Line> lines_;
  std::vector<analysis::RegisterSet> writes_, reads_;
};

} // namespace asmevo::search::superopt
