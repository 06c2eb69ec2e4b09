// Every result as JSON: what `--json` prints. Field names are the words of the text output; times are in seconds.
#pragma once

#include "oracle/oracle.h"
#include "recover/recover.h"
#include "search/controller.h"
#include "timing/sensitivity.h"

#include <nlohmann/json.hpp>

namespace asmevo::report {

using nlohmann::json;

json to_json(const gate::Receipt& receipt);
json to_json(const gate::Timing& timing);
json to_json(const gate::Verdict& verdict);
json to_json(const machine::Fidelity& fidelity);
json to_json(const machine::Fault& fault);
json to_json(const isa::Resources& resources);
json to_json(const isa::Occupancy& occupancy);
json to_json(const timing::Estimate& estimate); // without attribution
json to_json(const timing::Sensitivity& sensitivity);
json to_json(const oracle::Judgement& judgement);
json to_json(const recover::RoundTrip& trip);
json to_json(const search::Version& version); // without the listing
json to_json(const search::Attempt& attempt);
json to_json(const search::RunInfo& info);

/// Outcome names with how often they occurred; zeros left out.
json counts_to_json(const std::array<int64_t, gate::outcome_count>& counts);

} // namespace asmevo::report
