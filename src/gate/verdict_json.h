// Verdicts as JSON. Field names are the words of the text output; times are in seconds.
#pragma once

#include "gate/verdict.h"

#include <array>
#include <nlohmann/json.hpp>

namespace asmevo::gate {

nlohmann::json to_json(const Receipt& receipt);
nlohmann::json to_json(const Timing& timing);
nlohmann::json to_json(const Verdict& verdict);

/// Outcome names with how often they occurred; zeros left out.
nlohmann::json counts_to_json(const std::array<int64_t, outcome_count>& counts);

} // namespace asmevo::gate
