// Random changes of a program, for drivers that search without rules.
//
// As in STOKE (Schkufza, Sharma and Aiken, "Stochastic Superoptimization", 2013): an instruction moves, two trade
// places, one disappears, or an operand becomes another one. Nothing makes a change likely to be right; that is found
// out by whoever evaluates it. Instructions are drawn by how much modelled time goes by in their block, those that only
// wait left out: waits and nops of what changed are renewed.
#pragma once

#include "search/drivers/rewrite/rule.h"

#include <random>

namespace asmevo::search::stochastic {

struct Move {
  std::string_view kind; // "swap", "shift", "delete", "operand"
  recover::Program program;
};

/// A changed copy of the program that `facts` are about; `heat` has a weight for each of its blocks. Nothing where the
/// draw gave nothing that assembles.
std::optional<Move> random_move(const rewrite::Facts& facts, std::span<const double> heat, std::mt19937_64& random);

/// Weights of the blocks: their modelled time and a little for each, so that every one has a chance.
std::vector<double> block_heat(const rewrite::Facts& facts);

} // namespace asmevo::search::stochastic
