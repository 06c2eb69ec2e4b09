// What a proposed launch is worth: is it fit to judge candidates, and what does it execute and store?
#pragma once

#include "cli/inputs.h"
#include "device/device.h"

namespace asmevo::cli {

struct CaseTrial {
  std::string name;
  uint64_t instructions = 0;
  std::string trouble;              // why no candidate can be judged on it; empty where one can
  uint64_t results = 0, varied = 0; // elements that are stored; distinct values among them, counted up to a limit
};

struct LaunchTrial {
  std::vector<CaseTrial> cases;
  size_t blocks = 0, covered = 0; // basic blocks, and those that a case without trouble executes; 0: not recovered
};

/// Runs each case, and lets the oracle judge the object against itself on it.
Result<LaunchTrial> try_launch(const Input& input, device::Device& device, const launch::Launch& launch,
                               const volatile bool* stop);

} // namespace asmevo::cli
