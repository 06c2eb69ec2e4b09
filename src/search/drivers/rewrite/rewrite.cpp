// The rewrite driver: a catalogue of transformations, tried where the model says that time goes.
//
// For the program it is given it lists bundles of ideas (bundle.h) and then every idea of every rule, most promising
// first, and proposes them one by one.
// What an accepted bundle contains is not proposed alone for the same program: it would be accepted, and be worse.
// When an idea is accepted the program changes and the list is made anew; ideas that were judged before are recognised
// by their text and not proposed again. It needs no random numbers, and no refusals: what it proposes next depends
// on the program, the focus and what was accepted.
#include "search/drivers.h"
#include "search/drivers/rewrite/bundle.h"
#include "search/drivers/rewrite/rule.h"

#include <algorithm>
#include <deque>
#include <list>
#include <set>

namespace asmevo::search::rewrite {

namespace {

struct Candidate {
  const Rule* rule; // null: a bundle
  Idea idea;
  Bundle bundle;
};

std::string text_of(const std::vector<recover::Edit>& edits) {
  std::string text;
  for (const recover::Edit& edit : edits) text += fmt::format("{}-{}:{}\n", edit.first, edit.last, edit.text);
  return text;
}

Range hull(const std::vector<recover::Edit>& edits) { return {edits.front().first, edits.back().last}; }

/// Whether an idea is about what is in focus. What a bundle changes is not known before it is carried out.
bool in_focus(const Candidate& candidate, const Focus& focus) {
  if (!candidate.rule) return !focus.window && (!focus.direction || focus.direction == candidate.bundle.direction);
  if (focus.direction && candidate.rule->direction != *focus.direction) return false;
  return !focus.window || std::ranges::any_of(candidate.idea.edits,
                                              [&](const recover::Edit& edit) { return focus.window->meets(edit); });
}

/// What follows from a program alone. Copies of a driver share it: the workers of a team come to the same programs.
class Findings {
public:
  /// Of a rule that times what it finds.
  const std::vector<Idea>& costly_ideas(size_t program, const Rule& rule, const Facts& facts) {
    const auto [known, is_new] = costly_.try_emplace({program, &rule});
    if (is_new) known->second = rule.find(facts);
    return known->second;
  }

  /// Of the programs that were asked for last.
  std::shared_ptr<KnownSteps> steps(size_t program) {
    constexpr size_t kept = 8;
    const auto known = std::ranges::find(steps_, program, [](const auto& entry) { return entry.first; });
    if (known != steps_.end())
      steps_.splice(steps_.begin(), steps_, known);
    else
      steps_.emplace_front(program, std::make_shared<KnownSteps>());
    if (steps_.size() > kept) steps_.pop_back();
    return steps_.front().second;
  }

private:
  std::map<std::pair<size_t, const Rule*>, std::vector<Idea>> costly_;
  std::list<std::pair<size_t, std::shared_ptr<KnownSteps>>> steps_;
};

class RewriteDriver : public Driver {
public:
  std::string_view name() const override { return "rewrite"; }
  std::unique_ptr<Driver> clone() const override { return std::make_unique<RewriteDriver>(*this); }

  std::optional<Proposal> propose(const State& state, std::mt19937_64&) override {
    if (size_t print = fingerprint(*state.program); print != program_) {
      program_ = print;
      list_ideas(state);
    }
    std::optional<Facts> facts;
    while (true) {
      auto next = std::ranges::find_if(queue_, [&](const Candidate& c) { return in_focus(c, state.focus); });
      if (next == queue_.end()) return std::nullopt;
      const Candidate candidate = std::move(*next);
      queue_.erase(next);
      if (candidate.rule && has_won({candidate.rule, candidate.idea.variant})) continue;
      if (!facts) facts.emplace(gather(state));
      if (auto proposal = candidate.rule ? of_idea(*facts, candidate) : of_bundle(*facts, candidate.bundle))
        if (proposed_.insert({program_, text_of(proposal->edits)}).second) return proposal;
    }
  }

  void learn(const Proposal& proposal, const gate::Verdict& verdict) override {
    if (verdict.outcome != gate::Outcome::accepted) return;
    const auto made = bundles_.find({program_, text_of(proposal.edits)});
    if (made == bundles_.end()) return;
    for (const Bundle::Step& step : made->second) won_.insert({program_, step.rule, step.variant});
  }

private:
  static std::optional<Proposal> of_idea(const Facts& facts, const Candidate& candidate) {
    auto edits = complete(facts, candidate.idea);
    if (!edits || edits->empty()) return std::nullopt;
    const Range window = hull(*edits);
    return Proposal{.edits = std::move(*edits),
                    .rule = std::string(candidate.rule->name),
                    .rationale = candidate.idea.rationale,
                    .direction = candidate.rule->direction,
                    .window = window};
  }

  bool has_won(const Bundle::Step& step) const { return won_.contains({program_, step.rule, step.variant}); }

  std::optional<Proposal> of_bundle(const Facts& facts, const Bundle& bundle) {
    auto bundled = carry_out(facts, bundle, *steps_);
    if (!bundled || bundled->edits.empty()) return std::nullopt;
    if (bundle.direction && std::ranges::all_of(bundled->applied, [&](const auto& step) { return has_won(step); }))
      return std::nullopt;
    bundles_[{program_, text_of(bundled->edits)}] = bundled->applied;
    const Range window = hull(bundled->edits);
    return Proposal{.edits = std::move(bundled->edits),
                    .rule = bundle.steps.size() == 1 ? std::string(bundle.steps[0].rule->name) : "several-rules",
                    .rationale = std::move(bundled->rationale),
                    .direction = bundled->direction,
                    .window = window};
  }

  void list_ideas(const State& state) {
    queue_.clear();
    steps_ = findings_->steps(program_);
    Facts facts = gather(state);
    for (const Rule& rule : all_rules()) {
      if (rule.changes_floats && !state.allow_float_rewrites) continue;
      for (Idea& idea : rule.bundled ? rule.find(facts) : std::vector(findings_->costly_ideas(program_, rule, facts)))
        queue_.push_back({&rule, std::move(idea), {}});
    }
    // Among equals the order of the catalogue decides.
    std::ranges::stable_sort(queue_, std::ranges::greater(), [](const Candidate& c) { return c.idea.promise; });
    std::deque<Candidate> bundles;
    for (Bundle& bundle : all_bundles(state.allow_float_rewrites)) bundles.push_back({nullptr, {}, std::move(bundle)});
    queue_.insert(queue_.begin(), bundles.begin(), bundles.end());
  }

  size_t program_ = 0;
  std::deque<Candidate> queue_;       // the most promising first
  std::shared_ptr<KnownSteps> steps_; // of that program
  std::shared_ptr<Findings> findings_ = std::make_shared<Findings>();
  std::set<std::pair<size_t, std::string>> proposed_;
  std::map<std::pair<size_t, std::string>, std::vector<Bundle::Step>> bundles_; // what proposed ones consist of
  std::set<std::tuple<size_t, const Rule*, unsigned>> won_; // by program: rules and variants of accepted bundles
};

} // namespace
} // namespace asmevo::search::rewrite

namespace asmevo::search {

Result<std::unique_ptr<Driver>> make_rewrite(const DriverOptions&) {
  return std::make_unique<rewrite::RewriteDriver>();
}

} // namespace asmevo::search
