// A launch of a code object on a part, timed: traced on the simulated machine (sampled workgroups only), then the
// model.
#pragma once

#include "machine/machine.h"
#include "timing/device_table.h"

#include <map>
#include <memory>

namespace asmevo::bench {

struct KernelLaunch {
  std::string path; // of the code object
  std::string kernel;
  std::array<uint32_t, 3> workgroups{1, 1, 1}, workgroup_size{64, 1, 1};
  uint32_t dynamic_lds = 0;
  std::vector<uint8_t> kernarg;
};

class Harness {
public:
  /// `part` is a DeviceTable name.
  static Result<Harness> create(const std::string& part);

  const timing::DeviceTable& device() const { return *device_; }
  /// `memory` holds the buffers, above 0x7f0000000000; what else it holds is taken away afterwards.
  Result<timing::Estimate> time(const KernelLaunch& launch, machine::Memory& memory,
                                const timing::EstimateOptions& options);

private:
  struct Program {
    std::shared_ptr<const object::CodeObject> object;
    machine::Image image;
  };

  Harness(isa::Codec codec, const timing::DeviceTable& device) : codec_(std::move(codec)), device_(&device) {}
  Result<const Program*> load(const std::string& path);

  isa::Codec codec_;
  const timing::DeviceTable* device_;
  std::map<std::string, Program> programs_;
};

/// How far predictions are from measurements.
struct Errors {
  size_t rows = 0;
  double weighted = 0, mean = 0, median = 0, worst = 0; // relative; weighted by measured time
};
struct Pair {
  double measured = 0, predicted = 0;
};
Errors errors_of(std::vector<Pair> pairs);

} // namespace asmevo::bench
