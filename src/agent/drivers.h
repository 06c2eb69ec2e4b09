// All drivers there are: those of the search and those that ask someone outside.
#pragma once

#include "agent/exec_agent.h"
#include "agent/model_agent.h"
#include "search/drivers.h"

#include <nlohmann/json.hpp>

namespace asmevo::agent {

/// Their names with a line each.
std::vector<std::pair<std::string_view, std::string_view>> all_drivers();

bool asks_outside(std::string_view name);

/// What a run keeps of a driver that asks outside (DriverOptions::input), as one line of JSON. There is no key in it.
struct OutsideSettings {
  size_t prompt_tokens = usual_prompt_tokens;
  ExecSettings exec;   // --driver exec
  ModelSettings model; // --driver llm
};
std::string to_input(const OutsideSettings& settings);
Result<OutsideSettings> settings_from_input(const std::string& input);

/// `run_directory` is where the transcript goes; where it is empty, nothing is written. Errors: as
/// search::make_driver().
Result<std::unique_ptr<search::Driver>> make_driver(const search::DriverOptions& options,
                                                    const std::string& run_directory);

} // namespace asmevo::agent
