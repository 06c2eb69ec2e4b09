#include "search/drivers/rewrite/bundle.h"

#include "recover/recover.h"
#include "search/drivers/rewrite/local.h"

#include <algorithm>
#include <numeric>

namespace asmevo::search::rewrite {

namespace {

/// The least that has to be won for a rule that is carried out place by place.
constexpr size_t most_places = 8;

/// Ideas of a rule in the variant that is wanted, or the last it has before that; the most promising first.
std::vector<Idea> ideas_of(const Facts& facts, const Bundle::Step& step) {
  std::vector<Idea> ideas = step.rule->find(facts);
  unsigned variant = 0;
  for (const Idea& idea : ideas)
    if (idea.variant <= step.variant) variant = std::max(variant, idea.variant);
  std::erase_if(ideas, [&](const Idea& idea) { return idea.variant != variant; });
  std::ranges::stable_sort(ideas, std::ranges::greater(), &Idea::promise);
  return ideas;
}

bool overlaps(const recover::Edit& a, const recover::Edit& b) {
  return a.first == b.first || (a.first < b.last && b.first < a.last);
}

/// As many ideas as have nothing to do with each other.
struct Union {
  Idea idea;
  size_t count = 0;
};
Union united(std::vector<Idea> ideas, bool several) {
  Union all;
  for (Idea& idea : ideas) {
    const bool apart = std::ranges::none_of(idea.edits, [&](const recover::Edit& edit) {
      return std::ranges::any_of(all.idea.edits, [&](const recover::Edit& other) { return overlaps(edit, other); });
    });
    if (!apart) continue;
    std::ranges::move(idea.edits, std::back_inserter(all.idea.edits));
    std::ranges::move(idea.blocks, std::back_inserter(all.idea.blocks));
    ++all.count;
    if (!several) break;
  }
  std::ranges::sort(all.idea.edits, {}, &recover::Edit::first);
  return all;
}

Bundle all_but(std::span<const Bundle::Step> steps, const Rule* left_out) {
  Bundle bundle;
  for (const Bundle::Step& step : steps)
    if (step.rule != left_out) bundle.steps.push_back(step);
  return bundle;
}

} // namespace

std::vector<Bundle> all_bundles(bool with_float_rewrites) {
  std::vector<Bundle::Step> steps;
  unsigned most_variants = 0;
  for (const Rule& rule : all_rules())
    if (rule.bundled && (with_float_rewrites || !rule.changes_floats)) {
      steps.push_back({&rule, 0});
      most_variants = std::max(most_variants, rule.variants);
    }
  std::vector<Bundle> bundles;
  for (unsigned variant = 0; variant < most_variants; ++variant) {
    Bundle all{steps, {}};
    for (Bundle::Step& step : all.steps) step.variant = std::min(variant, step.rule->variants - 1);
    bundles.push_back(std::move(all));
  }
  if (with_float_rewrites) {
    Bundle exact{steps, {}};
    std::erase_if(exact.steps, [](const Bundle::Step& step) { return step.rule->changes_floats; });
    bundles.push_back(std::move(exact));
  }
  for (const Bundle::Step& step : steps) bundles.push_back(all_but(steps, step.rule));
  for (size_t d = 0; d < direction_count; ++d) {
    Bundle bundle{{}, Direction(d)};
    std::ranges::copy_if(steps, std::back_inserter(bundle.steps),
                         [&](const Bundle::Step& step) { return step.rule->direction == Direction(d); });
    if (!bundle.steps.empty()) bundles.push_back(std::move(bundle));
  }
  for (const Bundle::Step& step : steps)
    for (unsigned variant = 0; variant < step.rule->variants; ++variant)
      bundles.push_back({{{step.rule, variant}}, step.rule->direction});
  return bundles;
}

size_t fingerprint(const recover::Program& program) {
  size_t hash = 0;
  for (const recover::Item& item : program.items) hash = hash * 1099511628211u ^ std::hash<std::string>{}(item.text);
  return hash;
}

Workshop::Workshop(const Facts& facts, KnownSteps& known)
    : facts_(facts), known_(known), original_{.program = std::make_shared<const recover::Program>(facts.program),
                                              .print = fingerprint(facts.program)} {}

const Facts& Workshop::facts_of(const std::shared_ptr<const recover::Program>& program) {
  if (program == looked_at_) return *seen_;
  looked_at_ = program;
  seen_.emplace(gather_after(facts_, *program));
  return *seen_;
}

StepResult Workshop::carry_out(const Bundle::Step& step, std::shared_ptr<const recover::Program> program) {
  StepResult result{.program = std::move(program)};
  const size_t rounds = step.rule->separable ? 1 : most_places;
  for (size_t round = 0; round < rounds; ++round) {
    const Facts& now = facts_of(result.program);
    const Union all = united(ideas_of(now, step), step.rule->separable);
    if (all.count == 0) break;
    const auto edits = complete(now, all.idea);
    if (!edits || edits->empty()) break;
    auto next = recover::apply(*result.program, *edits, facts_.codec);
    if (!next) break;
    result.program = std::make_shared<const recover::Program>(*std::move(next));
    result.times += all.count;
  }
  result.print = fingerprint(*result.program);
  return result;
}

Draft Workshop::with(const Draft& draft, const Bundle::Step& step) {
  const auto [place, is_new] = known_.try_emplace({draft.print, step.rule, step.variant});
  if (is_new) place->second = carry_out(step, draft.program);
  const StepResult& result = place->second;
  Draft next = draft;
  if (result.times == 0) return next;
  next.program = result.program;
  next.print = result.print;
  next.applied.push_back(step);
  next.times.push_back(result.times);
  return next;
}

Bundled Workshop::bundled(const Draft& draft) const {
  Bundled bundled{.draft = draft,
                  .edits = difference(facts_.program, *draft.program),
                  .rationale = {},
                  .direction = draft.applied.front().rule->direction};
  for (size_t k = 0; k < draft.applied.size(); ++k) {
    const Bundle::Step& step = draft.applied[k];
    bundled.rationale += fmt::format("{}{} × {}", k == 0 ? "" : ", ", draft.times[k], step.rule->name);
    if (step.variant > 0) bundled.rationale += fmt::format(" in variant {}", step.variant);
  }
  return bundled;
}

std::optional<Bundled> carry_out(Workshop& workshop, const Bundle& bundle) {
  Draft draft = workshop.original();
  for (const Bundle::Step& step : bundle.steps) draft = workshop.with(draft, step);
  if (std::accumulate(draft.times.begin(), draft.times.end(), size_t{0}) < 2) return std::nullopt;
  return workshop.bundled(draft);
}

} // namespace asmevo::search::rewrite
