// LLVM MC behind three verbs: decode bytes, print an instruction, assemble text.
//
// A Codec holds LLVM's tables for one target. Building one takes a millisecond; make one per target and thread and keep
// it: one thread at a time may use it. LLVM's decoder can die on hostile bytes, so decode() hands over only words whose
// fields have a meaning (reserved.h), always with room for the longest instruction behind them; its assembler can hang,
// so text is screened first (statements.h).
#pragma once

#include "isa/instruction.h"
#include "isa/target.h"
#include "support/file.h"
#include "support/result.h"

#include <memory>
#include <span>
#include <vector>

namespace asmevo::isa {

struct AssemblyError {
  int line = 0;   // 1-based in the text that was given
  int column = 0; // 1-based
  std::string message;
};

/// A whole listing as a relocatable object.
struct AssembledListing {
  Bytes object;
  std::vector<uint32_t> lines; // 1-based, one an instruction, in the order of the text; data has none
};

class Codec {
public:
  static Result<Codec> create(const Target&);
  Codec(Codec&&) noexcept;
  Codec& operator=(Codec&&) noexcept;
  ~Codec();

  const Target& target() const;

  /// Decodes the instruction at the start of `code` (which may be longer). An instruction that LLVM does not know comes
  /// back with encoding `unknown` and size 4; `code` shorter than the instruction needs gives size 0.
  Instruction decode(std::span<const uint8_t> code, uint64_t address) const;

  /// As `llvm-mc` accepts it, without a leading tab: "v_add_f32_e32 v0, v1, v2". Branch targets print as the raw
  /// simm16; a caller that has labels passes the target's name in `label`.
  std::string print(const Instruction&, std::string_view label = {}) const;

  /// Assembles text of a code region: instructions, labels, comments and plain data (.long, .byte, .quad, .p2align
  /// ...). Every label that is used must be defined in the text. Returns .text bytes. Errors carry the place in `text`;
  /// nothing is printed and no file is read.
  std::expected<Bytes, AssemblyError> assemble(std::string_view text) const;

  /// Assembles a whole listing (sections, .amdhsa_kernel, metadata) into a relocatable ELF. Refused: what reads files,
  /// prints or expands (.include, .incbin, .macro, .rept, .fill ...; use .zero), more than 256 symbol assignments,
  /// results beyond 64 MiB.
  std::expected<Bytes, AssemblyError> assemble_object(std::string_view text) const;
  /// The same, with the line of each instruction.
  std::expected<AssembledListing, AssemblyError> assemble_listing(std::string_view text) const;

private:
  struct Impl;
  explicit Codec(std::unique_ptr<Impl>);
  std::unique_ptr<Impl> impl_;
};

} // namespace asmevo::isa
