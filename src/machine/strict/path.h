// What the path of a wave says about waits and wait states.
//
// Whether a register is read before its load has finished, and whether enough wait states lie between two
// instructions, depends on nothing but the instructions that the wave has executed before, and not even on many of
// them: what is in flight, and the last twenty wait states. Loops come round to the same few states. So the states are
// nodes of a graph that grows as waves walk it: a node knows what was in flight and close when its instruction was
// executed and what was wrong with that, and the step to the next instruction is worked out once and then found in the
// node. Judging an instruction costs as much as following a pointer.
//
// Rules: waits as analysis/waits.h verifies them, wait states as analysis/hazards.h has them; here on the paths that
// were really taken.
#pragma once

#include "analysis/hazards.h"
#include "machine/finding.h"
#include "machine/image.h"
#include "machine/in_flight.h"

#include <deque>
#include <memory>
#include <unordered_map>

namespace asmevo::machine::strict {

/// Something that is wrong with an instruction at the end of a path.
struct Objection {
  FindingKind kind = FindingKind::missing_wait;
  uint32_t cause = 0; // instruction
  std::string message;
};

class alignas(64) PathNode {
  friend class Paths;
  struct Step {
    uint32_t instruction = ~0u;
    PathNode* to = nullptr;
  };
  // What every step touches comes first, in one cache line.
  Step steps_[2];

public:
  uint32_t instruction = 0; // the one executed last
  bool objectionable = false;
  bool stores_outstanding = false; // of earlier instructions
  InFlight in_flight;              // after it
  std::vector<analysis::Recent> recent;
  std::vector<Objection> objections;

private:
  std::unordered_map<uint32_t, PathNode*> more_;
};

class Paths {
public:
  Paths(const Image::Impl& image, uint32_t accum_offset);
  ~Paths();

  PathNode* start() { return start_; }
  /// Another instruction that a path can lead to, behind those of the image.
  void add(isa::Instruction instruction);
  const isa::Instruction& instruction(uint32_t index) const {
    const size_t count = image_.instructions.size();
    return index < count ? image_.instructions[index] : added_[index - count];
  }
  /// After `from` instruction `index` is executed.
  PathNode* step(PathNode* from, uint32_t index) {
    if (from->steps_[0].instruction == index) [[likely]]
      return from->steps_[0].to;
    if (from->steps_[1].instruction == index) return from->steps_[1].to;
    return find(from, index);
  }
  /// Whether the number of states got out of hand and paths were cut short.
  bool cut() const { return cut_; }

private:
  PathNode* find(PathNode* from, uint32_t index);
  PathNode* keep(PathNode&& node);
  void look_for_waits(const InFlight& before, uint32_t index, PathNode& node) const;
  void look_for_states(uint32_t index, PathNode& node) const;
  void pass(uint32_t index, PathNode& node) const;

  void know(const isa::Instruction& instruction);

  const Image::Impl& image_;
  std::deque<isa::Instruction> added_;
  analysis::HazardTable table_;
  std::vector<analysis::Class> classes_;
  std::vector<uint8_t> reach_;
  std::vector<CounterUse> counters_;
  std::unordered_multimap<uint64_t, std::unique_ptr<PathNode>> nodes_; // by hash
  PathNode* start_ = nullptr;
  bool cut_ = false;
};

/// "v3", "a0", "s4", "vcc_lo": the first register of a range that overlaps another.
std::string register_name(const isa::RegisterRange& range, uint32_t index);

} // namespace asmevo::machine::strict
