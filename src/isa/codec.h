// LLVM MC behind three verbs: decode bytes, print an instruction, assemble text.
//
// A Codec holds LLVM's tables for one target. Building one takes milliseconds; make one per target and thread and keep
// it. LLVM's decoder can abort on hostile bytes, so decode() first recognises the encodings that GFX9 has at all, and
// hands over only words that lie in them, always with room for the longest instruction behind them.
#pragma once

#include "isa/instruction.h"
#include "isa/target.h"
#include "support/file.h"
#include "support/result.h"

#include <memory>
#include <span>

namespace asmevo::isa {

struct AssemblyError {
  int line = 0;   // 1-based in the text that was given
  int column = 0; // 1-based
  std::string message;
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

  /// Assembles text of a code region: instructions, labels, comments and data directives (.long). Every label that is
  /// used must be defined in the text. Returns .text bytes.
  std::expected<Bytes, AssemblyError> assemble(std::string_view text) const;

  /// Assembles a whole listing (sections, .amdhsa_kernel, metadata) into a relocatable ELF.
  std::expected<Bytes, AssemblyError> assemble_object(std::string_view text) const;

private:
  struct Impl;
  explicit Codec(std::unique_ptr<Impl>);
  std::unique_ptr<Impl> impl_;
};

} // namespace asmevo::isa
