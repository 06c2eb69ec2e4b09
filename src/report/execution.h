// What a run showed of its instructions: findings of strict mode, traces, dumps, coverage, and where waves stood.
#pragma once

#include "machine/debug/debugging.h"
#include "machine/machine.h"
#include "recover/recover.h"

#include <nlohmann/json.hpp>

namespace asmevo::report {

/// The instructions of an image as the listing spells them, with its labels.
class Disassembly {
public:
  /// Without a listing of the object the instructions are printed as they are.
  Disassembly(const machine::Image& image, const isa::Codec& codec, const recover::Program* program);

  /// "0x1c4 `v_add_f32_e32 v1, v1, v1`"; for -1 what lies outside .text.
  std::string place(int64_t index) const;
  std::string text(int64_t index) const;
  uint64_t address(int64_t index) const;
  /// The label that an address follows, with the distance: "loop+0x10"; the address alone where none is known.
  std::string label(uint64_t address) const;

private:
  const machine::Image& image_;
  const isa::Codec& codec_;
  std::map<uint64_t, std::string> spelled_; // by address
  std::map<uint64_t, std::string> labels_;
};

std::string text_of(const machine::StrictReport& report, const Disassembly& disassembly);
nlohmann::json to_json(const machine::StrictReport& report, const Disassembly& disassembly);

std::string text_of(const std::vector<machine::Standing>& standing, const Disassembly& disassembly);
nlohmann::json to_json(const std::vector<machine::Standing>& standing, const Disassembly& disassembly);

/// A line, and behind it what was written. With `lane` only its values of vector registers and memory.
std::string text_of(const machine::TraceLine& line, const Disassembly& disassembly, std::optional<unsigned> lane);
nlohmann::json to_json(const machine::TraceLine& line, const Disassembly& disassembly, std::optional<unsigned> lane);

std::string text_of(const machine::Dump& dump, const Disassembly& disassembly);
nlohmann::json to_json(const machine::Dump& dump, const Disassembly& disassembly);

/// How often each basic block was executed.
struct BlockCount {
  std::string function, label;  // the label it begins with, or the one before it and a distance: "loop+0x10"
  uint64_t first = 0, last = 0; // addresses [first, last)
  uint64_t instructions = 0;    // in it
  uint64_t executed = 0;        // wave-instructions of its first instruction
  bool uneven = false;          // not all instructions were executed as often: a wave left in between
};
std::vector<BlockCount> count_blocks(const recover::Program& program, const machine::Image& image,
                                     const std::vector<uint64_t>& executed);
std::string text_of(const std::vector<BlockCount>& blocks);
nlohmann::json to_json(const std::vector<BlockCount>& blocks);

} // namespace asmevo::report
