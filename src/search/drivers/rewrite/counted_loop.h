// Loops of one block that a register counts, and how to run several of their iterations at once.
//
// What compilers make of `for (i = 0; i < n; ++i)` ends in `s_add_i32 i, i, 1; s_cmp_lt_i32 i, n; s_cbranch_scc1 top`:
// the test stands behind the body. Where each lane counts for itself, `for (i = lane; i < n; i += 256)`, a lane that is
// done is taken out of EXEC, and the loop ends when none is left:
//
//     v_add_u32 i, 256, i; v_cmp_le_i32 vcc, n, i; s_or_b64 done, vcc, done; s_andn2_b64 exec, exec, done;
//     s_cbranch_execnz top
//
// Both can be asked at the top whether so many more iterations are certain to come (for all lanes that are active),
// without knowing where the count began. Compilers like to begin it one step early, below zero where there is a sign
// and at 2^32 - 256 where there is none, so what is asked is about the values that the loop itself would test.
#pragma once

#include "search/drivers/rewrite/rule.h"

namespace asmevo::search::rewrite {

/// What each lane of a loop tests, `limit` first: "ge_u32" where it is done as soon as its count has passed that.
struct LaneTest {
  std::string done, condition; // operands: the lanes that are done, and those that are in this iteration
  uint16_t counter = 0;        // VGPR
  bool before_step = false;    // the count is tested as it was when the iteration began
  int64_t step = 0;
  std::string limit, over;
};

/// A loop as several iterations at once need it. Lines end in newlines.
struct Rounds {
  const analysis::Block* block = nullptr;
  std::string label;                  // of its top
  std::vector<size_t> left_out;       // items that only count and test
  std::vector<size_t> counting;       // those of them that count
  std::optional<LaneTest> lanes;      // where each lane counts for itself
  std::string step;                   // what counts for all iterations of a round, where copies do not count
  std::string first_test;             // goes to `rest` where fewer iterations are to come; else on
  std::string test;                   // goes to `many` where enough are to come; else on
  std::string last_test;              // the loop's own test, which goes to `end` where it is over
  std::string back;                   // the branch of the loop, without its target
  std::optional<uint64_t> iterations; // each time the loop is entered, where the code says so
};

/// Names of the labels of a loop that runs `times` iterations at once.
struct RoundLabels {
  std::string many, rest, end;
  RoundLabels(const std::string& loop, uint64_t times)
      : many(fmt::format("{}_by_{}", loop, times)), rest(many + "_rest"), end(many + "_end") {}
};

/// Loops that can run `times` iterations at once.
std::vector<Rounds> scalar_rounds(const Facts& facts, uint64_t times); // counted_loop.cpp
std::vector<Rounds> lane_rounds(const Facts& facts, uint64_t times);   // lane_loop.cpp

/// An integer of 32 bits as an operand gives it, with its sign.
std::optional<int64_t> constant_of(std::string_view operand);
/// Whether nothing in the block needs a register of `range`.
bool is_free(const Facts& facts, const analysis::Block& block, const isa::RegisterRange& range);
/// A register of `file` that nothing in the block needs.
std::optional<uint16_t> free_register(const Facts& facts, const analysis::Block& block, isa::File file);
/// A pair of SGPRs, the first of which is even, that nothing in the block needs, above the one that free_register()
/// gives.
std::optional<isa::RegisterRange> free_pair(const Facts& facts, const analysis::Block& block);
/// The label at the top of a block that its last instruction branches back to; empty where it does not.
std::string label_of(const Facts& facts, const analysis::Block& block);

} // namespace asmevo::search::rewrite
