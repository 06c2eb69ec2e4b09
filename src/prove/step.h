// One instruction in execution: its operands as terms, and what it does to registers and memories.
#pragma once

#include "isa/fields.h"
#include "prove/execute.h"

namespace asmevo::prove {

struct Step {
  Execution& of;
  Shared& shared;
  Terms& terms;
  const isa::Instruction& i;
  std::string_view name;
  machine::Op op;
  const machine::InstructionRow* row;
  Registers& registers;
  Id path;
  Id lane_on = 0;           // this lane's bit of EXEC
  Id active = 0;            // this lane executes it: the path and that bit
  std::string_view literal; // its name, where it is the distance of two places

  Step(Execution& execution, const isa::Instruction& instruction, Registers& registers, Id path,
       std::string_view literal_name);

  Memories& memories() { return of.memories_; }

  // Scalars.
  Id scalar32(machine::ScalarRef ref);
  Id scalar64(machine::ScalarRef ref);
  Id sgpr_pair(uint32_t number) { return terms.pair(registers[number], registers[number + 1]); }
  void write_scalar(uint32_t number, uint8_t width, Id value);

  // Vectors.
  size_t unit_of(machine::RowRef ref) const;
  Id row_value(machine::RowRef ref);
  Id in_active_lanes(Id value) { return terms.given(active, value); }
  void write_row(machine::RowRef ref, Id value); // in active lanes
  void write_unit(size_t unit, Id value);        // in active lanes where it is a vector register

  bool uses(const isa::RegisterRange& range) const;
  /// Values of all registers that the instruction reads, in the order of its operand list.
  std::vector<Id> read_everything();
  /// What distinguishes it from others of its mnemonic, register numbers aside.
  std::string encoding_key() const;
  /// Writes pick(tuple, first + n) to every register that is written, n in the order of the operand list.
  void write_everything(Id tuple, uint32_t first);

  Result<void> scalar_alu();
  Result<void> other_scalar();
  Result<void> set_indexing();
  Result<void> indexed();
  Result<void> vector_alu();
  Result<void> scalar_memory();
  Result<void> vector_memory();
  /// An operation with an effect that keeps its order: on the memories that are named.
  enum Touches : uint8_t { touches_global = 1, touches_lds = 2, touches_scratch = 4, touches_all = 7 };
  Result<void> event(uint8_t touches);

  // Memory (memory.cpp).
  Id visible(Id memory, const Place& place);
  Id seen_by_load(Id memory, const Place& place);
  Id stored(Id memory, StoreRecord record);
  Id stored(Id memory, StoreRecord record, size_t item);
  Id load_word(Id memory, const Place& place);
  void note_read(const Place& place, Id guard);
};

std::unexpected<Error> not_understood(const isa::Instruction& instruction, std::string_view why);

} // namespace asmevo::prove
