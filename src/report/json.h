// Every result as JSON: what `--json` prints. Field names are the words of the text output; times are in seconds.
#pragma once

#include "gate/verdict_json.h"
#include "isa/resources_json.h"
#include "oracle/oracle.h"
#include "recover/recover.h"
#include "search/controller.h"
#include "search/lineage_json.h"
#include "search/proposal_json.h"
#include "timing/sensitivity.h"

#include <nlohmann/json.hpp>

namespace asmevo::report {

using gate::counts_to_json;
using gate::to_json;
using isa::to_json;
using nlohmann::json;
using search::to_json;

json to_json(const machine::Fidelity& fidelity);
json to_json(const machine::Fault& fault);
json to_json(const timing::Estimate& estimate); // without attribution
json to_json(const timing::Sensitivity& sensitivity);
json to_json(const oracle::Judgement& judgement);
json to_json(const recover::RoundTrip& trip);

} // namespace asmevo::report
