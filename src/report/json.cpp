#include "report/json.h"

namespace asmevo::report {

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

} // namespace asmevo::report
