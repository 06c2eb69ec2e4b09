// Proposals as JSON: how the lineage keeps them and how recorded ones are read back.
#pragma once

#include "search/driver.h"
#include "support/result.h"

#include <nlohmann/json.hpp>

namespace asmevo::search {

/// {"edits": [{"first": 12, "last": 14, "text": "..."}], "rule": "...", "rationale": "..."}, and "auto": true where the
/// {"edits": [{"first": 12, "last": 14, "text": "..."}], "rule": "...", "rationale": "..."}, and "auto": true where the
/// gate is to put in waits and nops, "parent": the version that the edits are of, "direction", "window": [first, last],
/// and "origin": {"model", "prompt_hash", "input_tokens", "output_tokens", "cost"}, each where it is known.
nlohmann::json to_json(const Proposal& proposal);
/// Errors: "where: what is missing or has the wrong type".
Result<Proposal> proposal_from_json(const nlohmann::json& json, const std::string& where);

} // namespace asmevo::search
