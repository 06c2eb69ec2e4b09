// The kernel descriptor as `.amdhsa_kernel` directives, and the resources it declares.
//
// A directive exists for almost every field, but not for reserved bits, and three of them are derived: the assembler
// computes register granules from counts. A descriptor is written as directives only where those give back its 64
// bytes, which this file decides by knowing every field; otherwise it is written as bytes.
#pragma once

#include "isa/resources.h"
#include "object/code_object.h"

#include <optional>

namespace asmevo::recover {

/// Register counts that the granules of the descriptor give room for, LDS and scratch.
isa::Resources declared_resources(const object::KernelDescriptor& descriptor, const isa::Target& target);

/// `descriptor` with its register granules made to hold `resources`; all other bits stay.
object::KernelDescriptor with_resources(const object::KernelDescriptor& descriptor, const isa::Resources& resources,
                                        const isa::Target& target);

/// What metadata calls .vgpr_count and .sgpr_count. Source: LLVM AMDGPUUsage; on gfx90a and later .vgpr_count holds
/// both kinds, align(VGPR, 4) + AGPR where there are AGPRs.
uint32_t metadata_vgpr_count(const isa::Resources& resources, const isa::Target& target);
uint32_t metadata_sgpr_count(const isa::Resources& resources, const isa::Target& target);

/// The lines between `.amdhsa_kernel` and `.end_amdhsa_kernel`, or nothing where no directives give these bytes.
std::optional<std::string> descriptor_directives(const object::KernelDescriptor& descriptor, const isa::Target& target);

/// Registers that the dispatcher fills before the first instruction: they exist whether the code names them or not.
struct InitialRegisters {
  uint32_t sgprs = 0, vgprs = 0;
};
InitialRegisters initial_registers(const object::KernelDescriptor& descriptor, const isa::Target& target);

} // namespace asmevo::recover
