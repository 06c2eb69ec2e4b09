// The launch facts of the MI300A programs, as data: what is launched, with which arguments, on which buffers.
//
// One JSON file a program (schema mi300a-launch/1): kernels with their argument layout, problem sizes with buffers, and
// the sequence of operations inside the timed region.
#pragma once

#include "support/result.h"

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace asmevo::bench {

struct SpecBuffer {
  std::string name;
  uint64_t address = 0;
  uint64_t bytes = 0;
  nlohmann::json init;
};

struct SpecLaunch {
  std::string kernel, code_object;
  std::array<uint32_t, 3> workgroups{1, 1, 1}, workgroup_size{1, 1, 1};
  uint32_t dynamic_lds = 0;
  std::vector<uint8_t> kernarg;
  double weight = 1; // launches of the sequence that this one stands for
};

struct SpecRun {
  std::vector<SpecBuffer> buffers;
  std::vector<SpecLaunch> launches;
  uint64_t launch_count = 0;
  std::vector<uint64_t> copies_to_device; // bytes of each, in the timed region
  uint64_t memsets = 0;
};

/// Of a loop with more than `loop_samples` iterations only so many, evenly spaced, are kept with their weight.
Result<SpecRun> read_run(const nlohmann::json& spec, const nlohmann::json& size, unsigned loop_samples);

/// Initial content of a buffer where it decides what is executed (graph structure, distances); empty otherwise.
std::vector<uint8_t> control_data(const SpecBuffer& buffer);

} // namespace asmevo::bench
