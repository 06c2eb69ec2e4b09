// A turn: the waves of one workgroup run, in the order of a schedule, until the workgroup ends or has had enough.
#pragma once

#include "machine/dispatch.h"

#include <random>

namespace asmevo::machine {

enum class TurnEnd : uint8_t { limit, finished, fault, deadlock };

struct Turn {
  TurnEnd end = TurnEnd::limit;
  uint64_t instructions = 0;
};

/// Which wave goes next, and for how long.
class Executor {
public:
  Executor(Schedule schedule, uint64_t seed) : schedule_(schedule), random_(seed) {}

  /// Runs about `limit` wave-instructions.
  Turn run(Residence& residence, uint64_t limit);

private:
  uint32_t quantum();
  uint32_t pick(uint32_t ready);
  uint32_t run_wave(Wave& w, uint32_t quantum, Tracer* tracer);

  Schedule schedule_;
  std::mt19937_64 random_;
};

} // namespace asmevo::machine
