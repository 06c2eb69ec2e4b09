#include "report/json.h"

#include "search/proposal_json.h"

namespace asmevo::report {

json to_json(const gate::Receipt& receipt) {
  return {{"original", receipt.original},     {"candidate", receipt.candidate},
          {"cases", receipt.cases},           {"policy", receipt.policy},
          {"case_count", receipt.case_count}, {"equivalence", gate::equivalence_name(receipt.equivalence)}};
}

json to_json(const gate::Timing& timing) {
  return {{"original_seconds", timing.original_seconds},
          {"candidate_seconds", timing.candidate_seconds},
          {"speedup", timing.speedup},
          {"cv", timing.cv},
          {"speedup_5_percent", timing.low},
          {"speedup_95_percent", timing.high},
          {"faster_share", timing.faster},
          {"device", timing.device}};
}

json to_json(const gate::Verdict& verdict) {
  json out = {{"outcome", gate::outcome_name(verdict.outcome)}, {"evidence", verdict.evidence}};
  if (verdict.timing) out["timing"] = to_json(*verdict.timing);
  if (verdict.receipt) out["receipt"] = to_json(*verdict.receipt);
  return out;
}

json to_json(const machine::Fidelity& fidelity) {
  return {{"exact", fidelity.exact},
          {"approximate", fidelity.approximate},
          {"approximate_mnemonics", fidelity.approximate_mnemonics},
          {"unsupported", 0}}; // executing an unsupported instruction is a fault, so nothing that completed has any
}

json to_json(const machine::Fault& fault) {
  return {{"address", fault.address},     {"instruction", fault.instruction},
          {"workgroup", fault.workgroup}, {"wave", fault.wave},
          {"lane", fault.lane},           {"data_address", fault.data_address},
          {"message", fault.message}};
}

json to_json(const isa::Resources& resources) {
  return {{"vgprs", resources.vgprs},         {"agprs", resources.agprs},
          {"sgprs", resources.sgprs},         {"accum_offset", resources.accum_offset},
          {"lds_bytes", resources.lds_bytes}, {"scratch_bytes", resources.scratch_bytes}};
}

json to_json(const isa::Occupancy& occupancy) {
  return {{"waves_per_simd", occupancy.waves_per_simd},
          {"workgroups_per_cu", occupancy.workgroups_per_cu},
          {"limiter", occupancy.limiter}};
}

json to_json(const timing::Sensitivity& s) {
  json effects = json::array(), depends = json::array();
  for (const timing::Effect& e : s.effects) {
    const timing::Shifted& p = *e.parameter;
    effects.push_back({{"parameter", p.name},
                       {"meaning", p.meaning},
                       {"unit", p.unit},
                       {"source", p.source},
                       {"value", p.value},
                       {"error", p.error},
                       {"at_low", e.low},
                       {"at_high", e.high},
                       {"decides", e.decides}});
    if (e.decides) depends.push_back(p.name);
  }
  return {{"nominal", s.nominal},
          {"verdict", timing::order_name(s.verdict)},
          {"depends_on", std::move(depends)},
          {"parameters", std::move(effects)}};
}

json to_json(const timing::Estimate& estimate) {
  return {{"seconds", estimate.seconds}, {"median_seconds", estimate.median},
          {"cv", estimate.cv},           {"kernel_cycles", estimate.kernel_cycles},
          {"bound", estimate.bound},     {"occupancy", to_json(estimate.occupancy)}};
}

json to_json(const oracle::Judgement& judgement) {
  json ulps = json::object();
  for (const auto& [buffer, histogram] : judgement.ulps) ulps[buffer] = histogram.counts;
  return {{"finding", oracle::finding_name(judgement.finding)},
          {"ulps", std::move(ulps)},
          {"evidence", judgement.evidence},
          {"original", judgement.original},
          {"candidate", judgement.candidate},
          {"cases", judgement.cases},
          {"policy", judgement.policy},
          {"cases_passed", judgement.case_count},
          {"runs", judgement.runs}};
}

json to_json(const recover::RoundTrip& trip) {
  return {{"exact", trip.differences.empty()}, {"differences", trip.differences}, {"masked", trip.masked},
          {"instructions", trip.instructions}, {"data_words", trip.data_words},   {"repairs", trip.repairs}};
}

json to_json(const search::Version& version) {
  json out = {{"id", version.id},
              {"evaluation", version.evaluation},
              {"artifact", version.artifact},
              {"speedup", version.speedup},
              {"cv", version.cv},
              {"parent", nullptr}};
  if (version.parent >= 0) out["parent"] = version.parent;
  return out;
}

json to_json(const search::Attempt& attempt) {
  json out = {{"number", attempt.number},   {"parent", attempt.parent},
              {"driver", attempt.driver},   {"proposal", search::to_json(attempt.proposal)},
              {"seconds", attempt.seconds}, {"verdict", to_json(attempt.verdict)}};
  if (attempt.version) out["version"] = *attempt.version;
  return out;
}

json to_json(const search::RunInfo& info) {
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

json counts_to_json(const std::array<int64_t, gate::outcome_count>& counts) {
  json out = json::object();
  for (size_t i = 0; i < counts.size(); ++i)
    if (counts[i]) out[std::string(gate::outcome_name(gate::Outcome(i)))] = counts[i];
  return out;
}

} // namespace asmevo::report
