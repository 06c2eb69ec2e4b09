#include "gate/verdict_json.h"

namespace asmevo::gate {

nlohmann::json to_json(const Receipt& receipt) {
  return {{"original", receipt.original},     {"candidate", receipt.candidate},
          {"cases", receipt.cases},           {"policy", receipt.policy},
          {"case_count", receipt.case_count}, {"equivalence", equivalence_name(receipt.equivalence)}};
}

nlohmann::json to_json(const Timing& timing) {
  return {{"original_seconds", timing.original_seconds},
          {"candidate_seconds", timing.candidate_seconds},
          {"speedup", timing.speedup},
          {"cv", timing.cv},
          {"speedup_5_percent", timing.low},
          {"speedup_95_percent", timing.high},
          {"faster_share", timing.faster},
          {"device", timing.device}};
}

nlohmann::json to_json(const Verdict& verdict) {
  nlohmann::json out = {{"outcome", outcome_name(verdict.outcome)}, {"evidence", verdict.evidence}};
  if (verdict.timing) out["timing"] = to_json(*verdict.timing);
  if (verdict.receipt) out["receipt"] = to_json(*verdict.receipt);
  return out;
}

nlohmann::json counts_to_json(const std::array<int64_t, outcome_count>& counts) {
  nlohmann::json out = nlohmann::json::object();
  for (size_t i = 0; i < counts.size(); ++i)
    if (counts[i]) out[std::string(outcome_name(Outcome(i)))] = counts[i];
  return out;
}

} // namespace asmevo::gate
