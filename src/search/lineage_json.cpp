#include "search/lineage_json.h"

#include "gate/verdict_json.h"
#include "search/proposal_json.h"

namespace asmevo::search {

nlohmann::json to_json(const Version& version) {
  nlohmann::json out = {{"id", version.id},
                        {"evaluation", version.evaluation},
                        {"artifact", version.artifact},
                        {"speedup", version.speedup},
                        {"cv", version.cv},
                        {"parent", nullptr}};
  if (version.parent >= 0) out["parent"] = version.parent;
  return out;
}

nlohmann::json to_json(const Attempt& attempt) {
  nlohmann::json out = {{"number", attempt.number},   {"parent", attempt.parent},
                        {"driver", attempt.driver},   {"proposal", to_json(attempt.proposal)},
                        {"seconds", attempt.seconds}, {"verdict", gate::to_json(attempt.verdict)}};
  if (attempt.version) out["version"] = *attempt.version;
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
          {"output", info.output_path}};
}

} // namespace asmevo::search
