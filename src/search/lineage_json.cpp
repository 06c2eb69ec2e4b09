#include "search/lineage_json.h"

#include "gate/verdict_json.h"
#include "isa/resources_json.h"
#include "search/proposal_json.h"

namespace asmevo::search {

nlohmann::json to_json(const Version& version) {
  nlohmann::json out = {{"id", version.id},
                        {"evaluation", version.evaluation},
                        {"artifact", version.artifact},
                        {"speedup", version.speedup},
                        {"cv", version.cv},
                        {"resources", isa::to_json(version.resources)},
                        {"waves_per_simd", version.waves_per_simd},
                        {"parent", nullptr}};
  out["resources"].erase("accum_offset"); // follows from the others
  if (version.parent >= 0) out["parent"] = version.parent;
  if (version.other_parent) out["other_parent"] = *version.other_parent;
  return out;
}

nlohmann::json to_json(const Attempt& attempt) {
  nlohmann::json out = {{"number", attempt.number},   {"parent", attempt.parent},
                        {"driver", attempt.driver},   {"proposal", to_json(attempt.proposal)},
                        {"seconds", attempt.seconds}, {"verdict", gate::to_json(attempt.verdict)},
                        {"worker", attempt.worker}};
  if (attempt.other_parent) out["other_parent"] = *attempt.other_parent;
  if (attempt.version) out["version"] = *attempt.version;
  return out;
}

nlohmann::json to_json(const Decision& decision) {
  nlohmann::json out = {{"before", decision.before},
                        {"worker", decision.worker},
                        {"kind", decision_name(decision.kind)},
                        {"version", decision.version},
                        {"reason", decision.reason}};
  if (const auto& window = decision.focus.window) out["window"] = {window->first, window->last};
  if (const auto& direction = decision.focus.direction) out["direction"] = direction_name(*direction);
  return out;
}

nlohmann::json to_json(const RunInfo& info) {
  return {{"original", {{"path", info.original_path}, {"sha256", info.original_hash}}},
          {"kernel", info.kernel},
          {"launch", {{"path", info.launch_path}, {"sha256", info.launch_hash}}},
          {"policy", info.policy_hash},
          {"driver", info.driver},
          {"seed", info.seed},
          {"budget", {{"evaluations", info.budget_evaluations}, {"seconds", info.budget_seconds}}},
          {"commit_rule",
           {{"epsilon", info.epsilon},
            {"k", info.k},
            {"floor", info.floor},
            {"faster", info.faster},
            {"draws", info.draws}}},
          {"proof_limit_ms", info.proof_limit},
          {"plan", {{"team", info.team}, {"turn", info.turn}, {"stall", info.stall}, {"patience", info.patience}}},
          {"output", info.output_path}};
}

} // namespace asmevo::search
