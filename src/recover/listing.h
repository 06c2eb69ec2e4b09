// The form of a listing that only build() reads.
#pragma once

#include "recover/program.h"

namespace asmevo::recover {

/// As print_listing(), with every instruction that refers to nothing written as the words it decodes to. The assembler
/// reads this several times faster. Only where it is proved that the item's text gives these words.
std::string print_words(const Program& program);

} // namespace asmevo::recover
