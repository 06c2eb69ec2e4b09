// Text to bytes through LLVM's assembler, with nothing but a string going in and nothing but a value coming out.
#pragma once

#include "isa/codec.h"
#include "isa/machine_code.h"

namespace asmevo::isa {

/// .text of a region of code; every label it uses must be defined in it.
std::expected<Bytes, AssemblyError> assemble_region(const MachineCode&, std::string_view text);

/// The relocatable object of a whole listing, and where its instructions stand in it.
std::expected<AssembledListing, AssemblyError> assemble_listing(const MachineCode&, std::string_view text);

} // namespace asmevo::isa
