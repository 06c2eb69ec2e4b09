// Options of drivers that ask someone outside: a program, a model.
#pragma once

#include "agent/drivers.h"
#include "cli/verb.h"

namespace asmevo::cli {

void outside_options(CLI::App& app, agent::OutsideSettings& settings);
/// Errors: what is said to a driver that does not listen. `driver` is empty where a run is resumed, which knows its
/// own.
Result<void> check_outside(const agent::OutsideSettings& settings, std::string_view driver);
/// What a resumed run goes on with: its own settings, but for a budget that is given anew. `input` is its driver_input.
Result<std::string> renewed_input(const std::string& input, const agent::OutsideSettings& settings);
/// What all sessions of a run spent, as a line and as JSON; nothing where it has no transcript.
struct Spent {
  std::string line;
  nlohmann::json document;
};
Result<std::optional<Spent>> spent_by(const std::string& run_directory);

} // namespace asmevo::cli
