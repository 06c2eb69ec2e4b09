// What an Image holds: the instructions, the ops decoded from them, and the constants the ops refer to.
#pragma once

#include "machine/stage.h"

#include <deque>
#include <map>

namespace asmevo::machine {

/// What the decoder adds to while it makes ops.
struct Pool {
  std::vector<Row> rows;         // splatted constants
  std::vector<uint32_t> scalars; // scalar constants, two dwords each
  std::deque<Stage> stages;      // stable addresses

  /// A constant of `count` rows. All hold its low dword or, where its elements have two `dwords`, even rows the low one
  /// and odd rows the high one.
  RowRef splat(uint64_t bits, uint32_t count, uint32_t dwords);
  ScalarRef scalar(uint64_t bits);

private:
  std::map<std::tuple<uint64_t, uint32_t, uint32_t>, uint32_t> splat_at_; // arguments of splat to the first row
  std::map<uint64_t, uint32_t> scalar_at_;
};

/// Highest row + 1 that an instruction names in each file; what a kernel's allocation is compared with.
struct RowsUsed {
  uint16_t vgpr = 0, agpr = 0;
};

/// Whether workgroups may learn from each other through this instruction: global atomics, scalar stores, sleeping
/// waits.
bool may_communicate(const isa::Instruction& instruction);

/// The descriptor of Image::from_text.
object::KernelDescriptor bare_descriptor(const isa::Resources& resources, const isa::Target& target);

struct Image::Impl {
  std::shared_ptr<const object::CodeObject> object; // null for an image of bare text
  isa::Target target;
  uint64_t text_base = 0;
  std::vector<isa::Instruction> instructions;
  std::vector<Op> ops; // one an instruction, and one that faults behind the last
  std::vector<RowsUsed> rows_used;
  std::vector<int32_t> index_at; // by (address - text_base) / 4; -1 inside an instruction
  Pool pool;
  bool communicates = false;    // see scheduler.cpp
  bool shares_globally = false; // uses the global data share or synchronises through it

  /// Index of the instruction at a virtual address, -1 where there is none.
  int64_t index_of(uint64_t address) const {
    uint64_t offset = address - text_base;
    return offset % 4 == 0 && offset / 4 < index_at.size() ? index_at[offset / 4] : -1;
  }
};

} // namespace asmevo::machine
