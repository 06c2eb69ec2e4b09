#include "search/drivers/rewrite/findings.h"

#include <algorithm>

namespace asmevo::search::rewrite {

const std::vector<Idea>& Findings::costly_ideas(size_t program, const Rule& rule, const Facts& facts) {
  const auto [known, is_new] = costly_.try_emplace({program, &rule});
  if (is_new) known->second = rule.find(facts);
  return known->second;
}

const std::vector<Bundled>& Findings::beam_of(size_t program, const Facts& facts, Model& model) {
  const auto [known, is_new] = beams_.try_emplace(program);
  if (is_new) known->second = search_beam(program, facts, model);
  return known->second;
}

std::shared_ptr<KnownSteps> Findings::steps(size_t program) {
  constexpr size_t kept = 8;
  const auto known = std::ranges::find(steps_, program, [](const auto& entry) { return entry.first; });
  if (known != steps_.end())
    steps_.splice(steps_.begin(), steps_, known);
  else
    steps_.emplace_front(program, std::make_shared<KnownSteps>());
  if (steps_.size() > kept) steps_.pop_back();
  return steps_.front().second;
}

std::optional<double> Findings::seconds_of(size_t print, const recover::Program& program, Model& model) {
  const auto [known, is_new] = modelled_.try_emplace(print);
  if (is_new) known->second = model.seconds(program);
  return known->second;
}

std::vector<Bundled> Findings::search_beam(size_t program, const Facts& facts, Model& model) {
  const BeamLimits limits = beam_limits(facts);
  if (limits.programs == 0) return {};
  KnownSteps known; // hundreds of programs, which nobody needs again
  Workshop workshop(facts, known);
  const std::vector<Ranked> ranked = beam(facts, workshop, model, modelled_, limits);
  const std::optional<double> seconds = seconds_of(program, facts.program, model);
  if (!seconds) return {};
  std::vector<Bundled> worth;
  for (const Ranked& one : worth_proposing(ranked, *seconds, facts.least_gain))
    worth.push_back(workshop.bundled(one.draft));
  return worth;
}

} // namespace asmevo::search::rewrite
