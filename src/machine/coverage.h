// What of a target's instruction set the machine executes.
#pragma once

#include "machine/machine.h"

#include <map>

namespace asmevo::machine {

/// Every mnemonic that `codec`'s target has (image, export and interpolation instructions apart), and how the machine
/// executes it: in all of its encodings, or not at all.
std::map<std::string, Support> coverage(const isa::Codec& codec);

} // namespace asmevo::machine
