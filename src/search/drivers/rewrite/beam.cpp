#include "search/drivers/rewrite/beam.h"

#include "timing/rehearsal.h"

#include <algorithm>
#include <limits>
#include <set>

namespace asmevo::search::rewrite {

namespace {

/// Decisions about the first rules, and what they lead to.
struct Node {
  Draft begun; // with these
  Draft whole; // with the rest of the catalogue too
  double seconds = 0;
};

class Beam {
public:
  Beam(const Facts& facts, Workshop& workshop, Model& model, Modelled& modelled, const BeamLimits& limits)
      : workshop_(workshop), model_(model), modelled_(modelled), limits_(limits) {
    for (const Rule& rule : all_rules())
      if (rule.bundled && (facts.allow_float_rewrites || !rule.changes_floats)) rules_.push_back(&rule);
  }

  std::vector<Ranked> run() {
    if (!seconds_of(workshop_.original())) return {};
    start_from({{.draft = workshop_.original(), .seconds = 0}});
    while (true) {
      const double before = fastest();
      for (size_t k = 0; k < rules_.size() && !is_over(); ++k) decide(k);
      std::ranges::stable_sort(seen_, {}, &Ranked::seconds);
      if (is_over() || !(fastest() < before * (1 - least_step))) return std::move(seen_);
      start_from(std::vector(seen_.begin(), seen_.begin() + ptrdiff_t(std::min(limits_.width, seen_.size()))));
    }
  }

private:
  static constexpr double least_step = 1e-3; // for which the catalogue is gone through again
  static constexpr double never = std::numeric_limits<double>::infinity();

  bool is_over() const { return asked_.size() >= limits_.programs || model_.stopped(); }
  double fastest() const { return seen_.empty() ? never : seen_.front().seconds; }

  void start_from(const std::vector<Ranked>& from) {
    nodes_.clear();
    for (const Ranked& one : from) add(nodes_, one.draft, completed(one.draft, 0));
  }

  std::optional<double> seconds_of(const Draft& draft) {
    asked_.insert(draft.print); // whether or not another beam has asked before
    const auto [known, is_new] = modelled_.try_emplace(draft.print);
    if (is_new) known->second = model_.seconds(*draft.program);
    return known->second;
  }

  Draft completed(Draft draft, size_t next) {
    for (size_t k = next; k < rules_.size(); ++k) draft = workshop_.with(draft, {rules_[k], 0});
    return draft;
  }

  /// Unless others are the same.
  void add(std::vector<Node>& nodes, Draft begun, Draft whole) {
    const bool is_there = std::ranges::any_of(
        nodes, [&](const Node& node) { return node.begun.print == begun.print || node.whole.print == whole.print; });
    if (is_there) return;
    const bool is_new = !asked_.contains(whole.print);
    if (is_new && is_over()) return;
    const auto seconds = seconds_of(whole);
    if (is_new && seconds) seen_.push_back({whole, *seconds});
    // What cannot be timed may be so for one rule that is still to be left out.
    nodes.push_back({std::move(begun), std::move(whole), seconds.value_or(never)});
  }

  /// All decisions about a rule, at all nodes.
  void decide(size_t k) {
    std::vector<Node> next;
    for (const Node& node : nodes_) {
      bool applies = false;
      for (unsigned variant = 0; variant < rules_[k]->variants; ++variant) {
        Draft begun = workshop_.with(node.begun, {rules_[k], variant});
        if (begun.print == node.begun.print) continue;
        applies = true;
        Draft whole = variant == 0 ? node.whole : completed(begun, k + 1);
        add(next, std::move(begun), std::move(whole));
      }
      add(next, node.begun, applies ? completed(node.begun, k + 1) : node.whole);
    }
    std::ranges::stable_sort(next, {}, &Node::seconds);
    if (next.size() > limits_.width) next.resize(limits_.width);
    if (!next.empty()) nodes_ = std::move(next);
  }

  Workshop& workshop_;
  Model& model_;
  Modelled& modelled_;
  BeamLimits limits_;
  std::vector<const Rule*> rules_;
  std::vector<Node> nodes_;
  std::vector<Ranked> seen_;
  std::set<size_t> asked_;
};

bool takes(const Ranked& ranked, const Rule* rule) {
  return std::ranges::any_of(ranked.draft.applied, [&](const Bundle::Step& step) { return step.rule == rule; });
}

} // namespace

BeamLimits beam_limits(const Facts& facts) {
  constexpr double work = 24e6;        // simulated wave-instructions
  constexpr double of_a_program = 1e5; // what building and executing cost beside that
  constexpr size_t fewest = 12;        // less is not worth beginning
  BeamLimits limits;
  if (!facts.estimate || !facts.estimate->rehearsal) return {.programs = 0};
  const double each = of_a_program + Model::draws * facts.estimate->rehearsal->instructions();
  limits.programs = std::min(limits.programs, size_t(work / each));
  if (limits.programs < fewest) limits.programs = 0;
  return limits;
}

std::vector<Ranked> beam(const Facts& facts, Workshop& workshop, Model& model, Modelled& modelled,
                         const BeamLimits& limits) {
  return Beam(facts, workshop, model, modelled, limits).run();
}

std::vector<Ranked> worth_proposing(std::span<const Ranked> ranked, double seconds, double least_gain) {
  if (ranked.empty()) return {};
  std::vector<const Ranked*> chosen = {&ranked.front()};
  for (const Bundle::Step& step : ranked.front().draft.applied) {
    const auto without = std::ranges::find_if(ranked, [&](const Ranked& r) { return !takes(r, step.rule); });
    if (without != ranked.end()) chosen.push_back(&*without);
  }
  std::ranges::sort(chosen); // as ranked
  const auto repeated = std::ranges::unique(chosen);
  chosen.erase(repeated.begin(), repeated.end());
  std::vector<Ranked> worth;
  for (const Ranked* one : chosen)
    if (seconds / one->seconds - 1 >= least_gain) worth.push_back(*one);
  return worth;
}

} // namespace asmevo::search::rewrite
