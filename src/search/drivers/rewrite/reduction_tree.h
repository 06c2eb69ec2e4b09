// Reductions of a workgroup through LDS, as compilers unroll them.
//
//     for (n = 128; n > 0; n /= 2) { if (t < n) x[t] = f(x[t], x[t + n]); barrier; }
//
// is a chain of guarded rounds with barriers between them.
#pragma once

#include "analysis/reaching.h"
#include "search/drivers/rewrite/rule.h"

namespace asmevo::search::rewrite {

/// Lanes below `lanes` combine their place with the one that is `lanes` places on.
struct Round {
  size_t enter = 0, leave = 0; // s_and_saveexec_b64, and what restores EXEC
  size_t test = 0;             // the v_cmp that selects the lanes
  size_t load = 0;             // the first
  unsigned lanes = 0;
  std::string number;           // register of the lane's number, in the test
  std::string saved;            // pair of EXEC
  std::string address;          // register of the lane's place...
  int64_t place = 0;            // ...and the offset there
  std::string own, far, result; // registers of the body
  std::vector<size_t> body;     // vector arithmetic, lane by lane
};

struct Tree {
  std::vector<Round> rounds;  // the last of one lane
  std::vector<size_t> others; // instructions between rounds that are no part of them, under the EXEC of the tree
};

/// The tree whose first round begins at `item`; nothing where there is none, or where control meets it in between.
std::optional<Tree> reduction_tree(const Facts& facts, const analysis::Reaching& reaching, size_t item);

bool is_single_vgpr(std::string_view operand);

} // namespace asmevo::search::rewrite
