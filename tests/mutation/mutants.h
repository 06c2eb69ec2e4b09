// Wrong programs, made from right ones.
//
// A gate is worth what it refuses. So each kernel of the corpus is spoiled in many small ways, of the kinds that edits
// by hand or by a model go wrong in, and every one must be refused. Text goes in, text comes out: a mutant is an edit
// like any other.
#pragma once

#include "launch/launch.h"
#include "recover/recover.h"

#include <random>

namespace asmevo::mutation {

struct Mutant {
  std::string kind;
  std::string name;                 // of the place and what is done there: "+0x1c8 v_sub_f32_e32: swap operands"
  std::vector<recover::Edit> edits; // sorted
};

/// What mutants are made from.
struct Kernel {
  const recover::Program* program = nullptr;
  const recover::Function* function = nullptr;
  const object::Kernel* object = nullptr;
  const launch::Case* timed = nullptr; // the case whose arguments a mutant may have compiled in
};

/// At least `count` mutants where the kernel has room for so many, kinds taking turns, places drawn by `seed`. Some may
/// not assemble; the caller drops those.
std::vector<Mutant> mutants(const Kernel& kernel, size_t count, uint64_t seed);

} // namespace asmevo::mutation
