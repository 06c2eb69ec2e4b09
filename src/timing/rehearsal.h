// A launch that was traced once, timed again with its instructions in another order.
//
// Another order of the instructions of a block changes neither the paths of waves nor where their accesses go, so the
// trace of the launch holds for it, with its events in that order. What costs most of an evaluation (assembling,
// executing, learning how addresses follow the grid) is done once, and an order is judged within milliseconds. It is
// judged by the same simulation as everything else, on fewer generations of workgroups where that saves time.
#pragma once

#include "timing/estimate.h"
#include "timing/grid.h"

#include <memory>
#include <optional>

namespace asmevo::timing {

class Rehearsal {
public:
  /// Keeps the trace. Errors as estimate_traced.
  static Result<std::shared_ptr<const Rehearsal>> create(const TracedLaunch& launch,
                                                         std::shared_ptr<const machine::Trace> trace,
                                                         const DeviceTable& device, const EstimateOptions& options);

  /// Instructions [first, last) of the code, which waves execute one after the other, replaced by `steps`: each of them
  /// at most once, and instructions that were not there and touch no memory.
  struct Step {
    uint32_t instruction = 0;
    const isa::Instruction* added = nullptr; // instead
  };
  struct Stretch {
    uint32_t first = 0, last = 0;
    std::vector<Step> steps;
  };

  /// The launch with some stretches replaced. Not for longer than the rehearsal that it is of.
  class Arrangement {
  public:
    Arrangement(const Arrangement&) = delete;
    Arrangement& operator=(const Arrangement&) = delete;
    /// Of the launch, in one draw of the model's parameters.
    double seconds(unsigned draw) const;

  private:
    friend Rehearsal;
    Arrangement(const Rehearsal& rehearsal, std::span<const Stretch> stretches);

    const Rehearsal& rehearsal_;
    StaticTable code_;
    machine::Trace trace_;
    std::optional<Grid> grid_;
  };

  /// Stretches do not overlap and are in order.
  Arrangement arrange(std::span<const Stretch> stretches) const { return {*this, stretches}; }

  /// Wave-instructions that a draw simulates.
  double instructions() const { return instructions_; }

private:
  Rehearsal(const TracedLaunch& launch, std::shared_ptr<const machine::Trace> trace, const DeviceTable& device,
            const EstimateOptions& options);
  machine::Trace rearranged(std::span<const Stretch> stretches, std::span<const uint32_t> added) const;

  std::shared_ptr<const machine::Trace> trace_;
  const DeviceTable& device_;
  isa::Target target_;
  uint64_t workgroups_per_cu_;
  EstimateOptions options_;
  StaticTable code_;
  PatternTable patterns_;
  Grid grid_;
  Surroundings surroundings_;
  std::vector<bool> simulated_; // by wave of the trace
  double instructions_ = 0;
};

} // namespace asmevo::timing
