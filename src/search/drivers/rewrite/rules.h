// The catalogue: one function a rule, each in the file of its name.
#pragma once

#include "search/drivers/rewrite/rule.h"

namespace asmevo::search::rewrite {

std::vector<Idea> tighten_waits(const Facts& facts);
std::vector<Idea> spills_to_registers(const Facts& facts);
std::vector<Idea> recompute_reloads(const Facts& facts);
std::vector<Idea> rematerialise(const Facts& facts);
std::vector<Idea> schedule_blocks(const Facts& facts);
std::vector<Idea> fast_division(const Facts& facts);
std::vector<Idea> fast_square_root(const Facts& facts);
std::vector<Idea> reciprocal_square_root(const Facts& facts);
std::vector<Idea> unguarded_exp(const Facts& facts);
std::vector<Idea> unroll_loops(const Facts& facts);
std::vector<Idea> pipeline_loops(const Facts& facts);
std::vector<Idea> whole_loops(const Facts& facts);
std::vector<Idea> merge_memory(const Facts& facts);
std::vector<Idea> remove_dead_code(const Facts& facts);
std::vector<Idea> remove_duplicates(const Facts& facts);
std::vector<Idea> drop_exec_skips(const Facts& facts);
std::vector<Idea> swizzle_lds(const Facts& facts);
std::vector<Idea> hoist_invariants(const Facts& facts);
std::vector<Idea> straighten_loops(const Facts& facts);
std::vector<Idea> lane_exchanges(const Facts& facts);
std::vector<Idea> quiet_twice(const Facts& facts);
std::vector<Idea> reduction_trees(const Facts& facts);
std::vector<Idea> copies_back(const Facts& facts);
std::vector<Idea> lane_bits(const Facts& facts);
std::vector<Idea> strength_reduction(const Facts& facts);
std::vector<Idea> scalar_arithmetic(const Facts& facts);
std::vector<Idea> packed_arithmetic(const Facts& facts);
std::vector<Idea> packed_halves(const Facts& facts);
std::vector<Idea> constants(const Facts& facts);
std::vector<Idea> split_accumulators(const Facts& facts);
std::vector<Idea> split_integer_accumulators(const Facts& facts);
std::vector<Idea> flatten_guards(const Facts& facts);
std::vector<Idea> align_loops(const Facts& facts);
std::vector<Idea> raise_priority(const Facts& facts);
std::vector<Idea> scalar_loads(const Facts& facts);
std::vector<Idea> compact_registers(const Facts& facts);
std::vector<Idea> fast_logarithm(const Facts& facts);
std::vector<Idea> fast_exponential(const Facts& facts);
std::vector<Idea> cache_policy(const Facts& facts);
std::vector<Idea> improve_schedule(const Facts& facts);
std::vector<Idea> fast_tanh(const Facts& facts);
std::vector<Idea> fast_erf(const Facts& facts);
std::vector<Idea> uniform_branches(const Facts& facts);

} // namespace asmevo::search::rewrite
