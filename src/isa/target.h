// Targets: a processor and the state of its two features, as e_flags pins them.
#pragma once

#include "support/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace asmevo::isa {

enum class Processor : uint8_t { gfx906, gfx908, gfx90a, gfx942, gfx950 };

/// How an object was compiled with respect to xnack or sramecc (code object v4 and later; v3 knows only off and on).
/// The values are those of the two-bit fields in e_flags.
enum class Feature : uint8_t { unsupported, any, off, on };

struct Target {
  Processor processor = Processor::gfx942;
  Feature xnack = Feature::any;
  Feature sramecc = Feature::any;
  bool generic = false;        // compiled for gfx9-4-generic; `processor` is gfx942 then
  uint8_t generic_version = 0; // of e_flags, 0 where not generic

  bool operator==(const Target&) const = default;
  /// gfx90a and later: VGPRs and AGPRs share one file of 512 rows.
  bool unified_registers() const { return processor >= Processor::gfx90a; }
  bool has_agprs() const { return processor >= Processor::gfx908; }
};

/// From e_flags and the ABI version in e_ident. `where` begins the message.
/// Errors: a processor that is not CDNA, by its name or number; code object v2 or a version above v6.
Result<Target> target_from_elf(uint32_t e_flags, uint8_t abi_version, const std::string& where);

std::string_view processor_name(Processor); // "gfx942"
Result<Processor> processor_from_name(std::string_view);
/// What LLVM calls the processor of a target: processor_name(), or "gfx9-4-generic".
std::string_view assembler_processor(const Target&);
/// "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"; what `.amdgcn_target` takes.
std::string target_id(const Target&);
/// From "gfx942:sramecc+:xnack-", with or without "amdgcn-amd-amdhsa--" before it; features that are not named are
/// `any`. Errors: a processor that is not CDNA, a feature that is not one of these.
Result<Target> target_from_id(std::string_view id);

} // namespace asmevo::isa
