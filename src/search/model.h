// What the timing model says of programs that nobody has verified.
//
// A driver may ask it before it proposes: what the model does not like the gate would refuse later and at a higher
// price. Its answer decides nothing. A program is built and its sampled workgroups are executed, so there is a model
// only where the device is simulated: nothing runs on hardware that the gate has not looked at.
#pragma once

#include "gate/pipeline.h"
#include "recover/program.h"

#include <optional>

namespace asmevo::search {

class Model {
public:
  static constexpr unsigned draws = 4;

  virtual ~Model() = default;
  /// Simulated seconds of the launch that is timed, by so many draws that are the same for every program. Nothing where
  /// it does not assemble, faults, or runs on and on.
  virtual std::optional<double> seconds(const recover::Program& program) = 0;
  /// Nobody waits for what it says any more.
  virtual bool stopped() const { return false; }
};

/// The bench's device, which must be simulated.
class BenchModel : public Model {
public:
  explicit BenchModel(gate::Bench& bench) : bench_(bench) {}
  std::optional<double> seconds(const recover::Program& program) override;
  bool stopped() const override { return bench_.stop && *bench_.stop; }

private:
  uint64_t budget();

  gate::Bench& bench_;
  std::optional<uint64_t> budget_; // wave-instructions
};

} // namespace asmevo::search
