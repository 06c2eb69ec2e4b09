// One instruction as a step on register contents: its sources as forms, its results as forms.
#pragma once

#include "analysis/register_values.h"

#include <array>

namespace asmevo::analysis {

class Step {
public:
  Step(RegisterValues& values, const recover::Program& program, size_t item, const RegisterState& state);

  const isa::Instruction& instruction;
  std::string_view name;
  Forms& forms;
  LaneMasks& masks;
  const RegisterState& before;
  const uint32_t item;
  const bool vector; // else scalar

  /// Operand codes of the explicit sources, as encoded; scalar ones 0-255, vector ones 0-511.
  std::array<uint16_t, 3> sources{};
  uint8_t source_count = 0;

  /// 32 and 64 bits of source `n`.
  FormId word(unsigned n);
  FormId pair(unsigned n);
  FormId register_word(size_t unit);
  size_t unit_of(uint16_t source) const; // of a register
  size_t unit_of(const isa::RegisterRange& range) const { return values_.registers().first_of(range); }
  bool is_register(uint16_t source) const { return source < 128 || source >= 256; }
  /// The mask that 64 bits of source `n` are, if they are one.
  std::optional<MaskId> mask(unsigned n) const;
  /// What the sum or difference below left: a symbol `carry` or `borrow`.
  std::optional<SymbolId> carry_in() const;
  bool some_lane_is_active() const;
  /// Modifiers, a float where a pair was read: not understood.
  bool failed() const { return failed_; }

  /// The register that the first explicit operand writes, `offset` registers on.
  std::optional<size_t> destination(unsigned offset = 0) const { return defined(0, offset); }
  std::optional<size_t> defined(unsigned operand, unsigned offset = 0) const;
  void write(std::optional<size_t> unit, FormId form);
  void write_pair(FormId form);
  void write_mask(std::optional<size_t> unit, MaskId mask);
  void write_uniform(FormId form, MaskId lanes); // a scalar read from a lane
  void write_carry(size_t unit, FormId carry);

  FormId program_counter() const; // behind the instruction
  FormId kernarg(uint32_t offset) const;

  struct Result {
    size_t unit;
    Held held;
  };
  std::vector<Result> results;
  std::optional<MaskId> exec; // where EXEC is written and known

private:
  void find_sources();
  FormId constant(uint16_t source, bool wide);

  RegisterValues& values_;
  const recover::Program& program_;
  MaskId lanes_ = LaneMasks::all; // where what was read so far holds
  bool failed_ = false;
};

/// Fills `step.results` as far as the instruction is understood. What it writes and does not list is anything.
void evaluate(Step& step);

} // namespace asmevo::analysis
