// A suspicion put to the test: both versions of a window really run, on the simulated machine, from one state.
//
// What two terms look like in some possible world is no counterexample yet: uninterpreted functions may do there what
// no instruction does. So the state of that world (registers, and the memory that loads see) is given to a wave, the
// two windows run, and only where they leave, what then differs in registers that are read later, and memory, are a
// difference. Branches inside a window are taken; every way out of it becomes an end of the program that runs.
#pragma once

#include "prove/correspondence.h"
#include "prove/evaluate.h"

#include <functional>

namespace asmevo::prove {

struct Windows {
  const recover::Program* program[2];
  Region region;
  const Correspondence* correspondence = nullptr;
  /// Registers that both versions read behind a way out, by its name in Spelled::ends.
  std::function<analysis::RegisterSet(const std::string& exit)> live;
  const Registers* entry = nullptr; // symbols, or constants where the state is assumed to be so
};

/// A window as a program of its own.
struct Spelled {
  Bytes code;
  std::map<uint64_t, std::string>
      ends; // by the address of an s_endpgm: "end", a label as "#n", "window" behind the last
};

/// Nothing where such a window cannot be run.
std::optional<Spelled> spell(const Windows& windows, size_t side);

/// Both versions from the state of `world`: whether they came to their ends, and the difference in words.
Trial compare_runs(Shared& shared, const Windows& windows, const std::array<Spelled, 2>& spelled, World& world);

} // namespace asmevo::prove
