// Software-visible hazards: pairs of instructions that the hardware does not interlock and that need wait states
// between.
//
// A wait state is one instruction of the same wave, or one of the n + 1 that `s_nop n` stands for. Between a producer
// and a consumer lies the shortest path, so distances are a dataflow with minimum at joins; nothing needs to be
// followed further than the twenty states after the longest matrix instruction. hazard_table.cpp has the pairs, one row
// a rule; docs/checks.md explains them. Sources: CDNA3 ISA manual table 11 and 37, LLVM's GCNHazardRecognizer.
//
// What a callee does first and a caller does next is not followed across calls, as no compiler does.
#pragma once

#include "analysis/kinds.h"
#include "analysis/waits.h"

#include <span>

namespace asmevo::analysis {

std::vector<Finding> verify_hazards(const recover::Program& program, const recover::Function& function,
                                    const Graph& graph);

/// Wait states still needed before each item of [first, last), 0 where none, from what precedes on every path. Assumes
/// that the waits it returns for earlier items are put in. `inserted` (by item - function.first, or empty) counts wait
/// states that are about to be put before an item for other reasons: an s_waitcnt is one.
std::vector<uint8_t> needed_nops(const recover::Program& program, const recover::Function& function, const Graph& graph,
                                 size_t first, size_t last, std::span<const uint8_t> inserted = {});

/// Wait states that must lie between `producer` and `consumer` when they are `0` apart; 0 where they do not conflict.
/// `target` as in isa. Builds its tables on every call: a loop takes HazardTable.
unsigned required_wait_states(const isa::Instruction& producer, const isa::Instruction& consumer,
                              const isa::Target& target);

/// What happened between producer and consumer, for the few rules that ask.
namespace between {
inline constexpr uint8_t dgemm = 1;    // an f64 matrix instruction
inline constexpr uint8_t acc_move = 2; // an accumulator move directly before the consumer
} // namespace between

struct HazardPair {
  const isa::Instruction& producer;
  const isa::Instruction& consumer;
  Class first, second; // classes of producer and consumer
  uint8_t between = 0;
  uint32_t overwritten = 0; // registers of the producer's result, from its first, that later matrix instructions wrote
  const RegisterMap& registers;
  isa::Processor processor;
};

struct HazardRule {
  std::string_view id;
  std::string_view what;    // "VALU writes an SGPR that vector memory reads"
  uint8_t processors;       // bit per isa::Processor
  Kinds producer, consumer; // any of
  bool (*conflict)(const HazardPair&);
  unsigned (*states)(const HazardPair&);
};

std::span<const HazardRule> hazard_rules();

struct Requirement {
  unsigned states = 0;
  const HazardRule* rule = nullptr; // the one that asks for most
};

/// A producer that a consumer may still be too close to.
struct Recent {
  uint32_t item;    // an instruction's number, whatever the reader counts
  uint8_t distance; // wait states since, on the shortest path
  uint8_t between;
  uint32_t overwritten = 0;

  bool operator==(const Recent&) const = default;
};

/// The rules of one processor.
class HazardTable {
public:
  HazardTable(isa::Processor processor, RegisterMap registers);
  Class classify(const isa::Instruction& i) { return classifier_(i); }
  /// Wait states after which no rule can still look back at `producer`.
  unsigned reach(const isa::Instruction& producer, Class first) const;
  Requirement required(const isa::Instruction& producer, Class first, const isa::Instruction& consumer, Class second,
                       uint8_t between = 0, uint32_t overwritten = 0) const;
  /// `recent`, which stands for `producer`, after `passing` and `states` wait states more.
  void pass(Recent& recent, const isa::Instruction& producer, const isa::Instruction& passing, Class passing_class,
            unsigned states) const;
  const RegisterMap& registers() const { return registers_; }

private:
  uint32_t overwritten_by(const isa::Instruction& later, const isa::Instruction& earlier) const;

  isa::Processor processor_;
  RegisterMap registers_;
  Classifier classifier_;
  std::vector<const HazardRule*> rules_;
};

/// Wait states that an instruction itself takes: immediate + 1 for s_nop, 1 otherwise.
unsigned wait_states(const isa::Instruction& instruction);

} // namespace asmevo::analysis
