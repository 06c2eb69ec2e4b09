// Copies of straight-line code with registers of their own.
//
// Code that is put behind a copy of itself overwrites the registers of the first copy, and then nothing of the second
// can start before the first is done with them. What a copy computes for itself alone goes to other registers: a value
// and the instructions that read it, where all of them name just that value and no cross-lane instruction looks at
// lanes that were not written. What comes into the code or leaves it keeps its register. So does what is written in a
// guarded region and read outside of it: there it has met what other lanes held before.
#pragma once

#include "search/drivers/rewrite/exec_regions.h"
#include "search/drivers/rewrite/steppers.h"

namespace asmevo::search::rewrite {

class Copies {
public:
  /// Of the instructions of a block without its waits, `left_out` (items) and the additions of `steppers`.
  Copies(const Facts& facts, const analysis::Block& block, const std::vector<size_t>& left_out,
         const ExecRegions& regions, std::vector<Stepper> steppers = {});

  /// Lines of the next copy. Values get registers of their own while there are any that cost no occupancy, and then the
  /// ones that they had. The last copy leaves everything where the code as it was would have left it.
  std::string next(bool last);

private:
  struct Value {
    isa::RegisterRange range;
    bool fixed = false;
    int region = no_region;       // that it is written in
    std::vector<size_t> previous; // values in its registers before it, where they stay in other lanes
    uint16_t moved_to = 0;        // of this copy
  };
  struct Operand {
    size_t item, index; // of the instruction's text
    size_t value;
  };

  void find_values();
  void read(size_t item, size_t index, const isa::RegisterRange& range, bool other_lanes);
  void write(size_t item, size_t index, const isa::RegisterRange& range, bool keeps);
  bool holds(const isa::RegisterRange& range, size_t value) const; // all of it
  void fix(const isa::RegisterRange& range);
  void meet(size_t value); // it is wanted together with what other lanes held
  bool move(Value& value);

  const Facts& facts_;
  const analysis::Block& block_;
  const ExecRegions& regions_;
  std::vector<Stepper> steppers_;
  std::vector<size_t> items_;
  std::vector<InstructionText> texts_; // by items_
  std::vector<Value> values_;
  std::vector<Operand> operands_;
  std::vector<size_t> holder_; // by VGPR: the value in it, while the values are found
  std::vector<bool> enters_;   // by VGPR: read before anything here writes it
  std::vector<bool> taken_;    // by VGPR
  uint64_t made_ = 0;
  std::vector<bool> full_exec_; // by item - function.first
};

} // namespace asmevo::search::rewrite
