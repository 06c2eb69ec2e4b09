// A profile for people, and as JSON.
//
// The text shows hot windows as code: beside each instruction its share of the time and a bar with a letter for each
// reason, and what a wait waits for. Percentages are of everything that the profile accounts for.
#pragma once

#include "profile/occupancy.h"
#include "profile/windows.h"
#include "report/execution.h"

namespace asmevo::report {

/// One step of occupancy, timed.
struct TimedStep {
  profile::WhatIf what_if;
  double seconds = 0; // median of the same code at that occupancy
};

struct ProfileView {
  const profile::Profile& profile;
  std::span<const isa::Instruction> code;
  const Disassembly& disassembly;
  size_t windows = 5; // shown in the text
  std::optional<TimedStep> step;
  std::vector<profile::Spare> spare;
};

std::string text_of(const ProfileView& view);
nlohmann::json to_json(const ProfileView& view);

} // namespace asmevo::report
