// What the code of a block says about the numbers in registers.
#pragma once

#include "search/drivers/rewrite/local.h"

namespace asmevo::search::rewrite {

/// The constant in an operand of `item`: written there, or moved into its register earlier in the block, for all lanes
/// that `item` runs in.
std::optional<uint32_t> known_constant(const Facts& facts, const analysis::Block& block, size_t item,
                                       std::string_view operand);

/// All numbers that an operand of `item` may hold are below two to the power of this.
unsigned bits_of(const Facts& facts, const analysis::Block& block, size_t item, std::string_view operand);

/// Whether an instruction of the block names registers by a number that only runs know. Nothing is known of registers
/// then.
bool indexes_registers(const Facts& facts, const analysis::Block& block);

} // namespace asmevo::search::rewrite
