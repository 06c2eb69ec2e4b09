// The rewrite driver: a catalogue of transformations, tried where the model says that time goes.
//
// For the program it is given it lists bundles of ideas (bundle.h) and then every idea of every rule, most promising
// first, and proposes them one by one. Before all else of the original, and after all else of a version that is the
// fastest, it looks for sets of rules with a beam on the timing model (beam.h); rules that time what they find are
// asked of versions near the fastest when nothing else is left. What the model says wins nothing is not proposed, and
// what is only better than a version that is behind the fastest comes last. What an accepted bundle contains is not
// proposed alone for the same program: it would be accepted, and be worse. When an idea is accepted the program changes
// and the list is made anew; ideas that were judged before are recognised by their text and not proposed again. It
// needs no random numbers, and no refusals: what it proposes next depends on the program, the focus and what was
// accepted.
#include "search/drivers.h"
#include "search/drivers/rewrite/findings.h"
#include "search/lineage.h"

#include <algorithm>
#include <deque>
#include <set>

namespace asmevo::search::rewrite {

namespace {

struct Candidate {
  const Rule* rule = nullptr; // of an idea; null: a bundle
  Idea idea;
  Bundle bundle;
  std::optional<Bundled> made; // the bundle, where it is carried out already
};

/// One that is carried out.
struct Made {
  Proposal proposal;
  std::shared_ptr<const recover::Program> program; // until the model was asked
  size_t print = 0;                                // of the program
  double speedup = 0;                              // over K0, as modelled
};

/// What is worth something when nothing better is left.
struct Later {
  std::vector<Made> made;
  size_t taken = 0; // of these
};

enum class Worth : uint8_t { nothing, later, now };

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

class RewriteDriver : public Driver {
public:
  std::string_view name() const override { return "rewrite"; }
  std::unique_ptr<Driver> clone() const override { return std::make_unique<RewriteDriver>(*this); }

  std::optional<Proposal> propose(const State& state, std::mt19937_64&) override {
    if (size_t print = fingerprint(*state.program); print != program_) {
      program_ = print;
      beamed_ = listed_costly_ = false;
      asked_.clear();
      list_ideas(state);
    }
    if (state.version == root_version) look_further(state);
    std::optional<Facts> facts;
    std::optional<Workshop> workshop;
    while (true) {
      auto next = std::ranges::find_if(queue_, [&](const Candidate& c) { return in_focus(c, state.focus); });
      if (next == queue_.end() && (list_costly_ideas(state) || look_further(state))) continue;
      if (next == queue_.end()) return put_off(state.focus);
      const Candidate candidate = std::move(*next);
      queue_.erase(next);
      if (candidate.rule && has_won({candidate.rule, candidate.idea.variant})) continue;
      if (!facts) workshop.emplace(facts.emplace(gather(state)), *steps_);
      auto made = candidate.rule ? of_idea(*facts, candidate) : of_bundle(*workshop, candidate);
      if (!made || !proposed_.insert({program_, text_of(made->proposal.edits)}).second) continue;
      switch (worth_of(*made, state)) {
      case Worth::now:
        return std::move(made->proposal);
      case Worth::later:
        made->program.reset();
        later_[program_].made.push_back(*std::move(made));
        break;
      case Worth::nothing:
        break;
      }
    }
  }

  void learn(const Proposal& proposal, const gate::Verdict& verdict) override {
    if (verdict.outcome != gate::Outcome::accepted) return;
    const auto made = bundles_.find({program_, text_of(proposal.edits)});
    if (made == bundles_.end()) return;
    for (const Bundle::Step& step : made->second) won_.insert({program_, step.rule, step.variant});
  }

private:
  std::optional<Made> of_idea(const Facts& facts, const Candidate& candidate) const {
    auto edits = complete(facts, candidate.idea);
    if (!edits || edits->empty()) return std::nullopt;
    auto program = recover::apply(facts.program, *edits, facts.codec);
    if (!program) return std::nullopt;
    const Range window = hull(*edits);
    const size_t print = fingerprint(*program);
    return Made{.proposal = {.edits = std::move(*edits),
                             .rule = std::string(candidate.rule->name),
                             .rationale = candidate.idea.rationale,
                             .direction = candidate.rule->direction,
                             .window = window},
                .program = std::make_shared<const recover::Program>(*std::move(program)),
                .print = print};
  }

  bool has_won(const Bundle::Step& step) const { return won_.contains({program_, step.rule, step.variant}); }

  std::optional<Made> of_bundle(Workshop& workshop, const Candidate& candidate) {
    auto bundled = candidate.made ? candidate.made : carry_out(workshop, candidate.bundle);
    if (!bundled || bundled->edits.empty()) return std::nullopt;
    const Draft& draft = bundled->draft;
    if (candidate.bundle.direction &&
        std::ranges::all_of(draft.applied, [&](const auto& step) { return has_won(step); }))
      return std::nullopt;
    bundles_[{program_, text_of(bundled->edits)}] = draft.applied;
    const Range window = hull(bundled->edits);
    return Made{
        .proposal = {.edits = std::move(bundled->edits),
                     .rule = draft.applied.size() == 1 ? std::string(draft.applied[0].rule->name) : "several-rules",
                     .rationale = std::move(bundled->rationale),
                     .direction = bundled->direction,
                     .window = window},
        .program = draft.program,
        .print = draft.print};
  }

  /// By what the model says: whether it wins something over this version, and over the fastest. Half of what the gate
  /// wants is enough, for its spread may be less. The model is asked of so many programs of a version; what comes
  /// behind them is for the gate alone.
  Worth worth_of(Made& made, const State& state) {
    if (asked_.size() >= most_asked_) return Worth::now;
    asked_.insert(made.print);
    const auto seconds = findings_->seconds_of(made.print, *made.program, *state.model);
    const auto now = findings_->seconds_of(program_, *state.program, *state.model);
    if (!seconds || !now) return Worth::now;
    made.speedup = state.speedup * *now / *seconds;
    const double needed = 1 + state.least_gain / 2;
    if (made.speedup < state.speedup * needed) return Worth::nothing;
    return made.speedup < state.best_speedup * needed ? Worth::later : Worth::now;
  }

  /// Of what wins over this version and not over the fastest, the best few: something may be won from there.
  std::optional<Proposal> put_off(const Focus& focus) {
    constexpr size_t most = 2; // of a version
    const auto fits = [&](const Made& made) {
      const Proposal& p = made.proposal;
      const bool in_window =
          !focus.window || std::ranges::any_of(p.edits, [&](const auto& edit) { return focus.window->meets(edit); });
      return in_window && (!focus.direction || p.direction == focus.direction);
    };
    Later& later = later_[program_];
    std::ranges::stable_sort(later.made, std::ranges::greater(), &Made::speedup);
    const auto best = std::ranges::find_if(later.made, fits);
    if (best == later.made.end() || later.taken == most) return std::nullopt;
    Proposal proposal = std::move(best->proposal);
    later.made.erase(best);
    ++later.taken;
    return proposal;
  }

  /// Asks the timing model for what is worth having together; once for a program, and where anything may be changed.
  /// Whether there are ideas that were not there before.
  bool look_further(const State& state) {
    if (beamed_ || !state.model || state.focus.window || state.focus.direction) return false;
    if (state.speedup < state.best_speedup) return false; // it takes long: of what is the best only
    beamed_ = true;
    std::deque<Candidate> found;
    for (const Bundled& bundled : findings_->beam_of(program_, gather(state), *state.model))
      found.push_back({.made = bundled});
    queue_.insert(queue_.begin(), found.begin(), found.end());
    return !found.empty();
  }

  /// Of the rules that time what they find, which is worth it near the fastest version; once for a program. Whether
  /// there are any.
  bool list_costly_ideas(const State& state) {
    constexpr double near = 0.9; // another order gains a few percent
    if (listed_costly_ || state.speedup < near * state.best_speedup) return false;
    listed_costly_ = true;
    const Facts facts = gather(state);
    const size_t before = queue_.size();
    for (const Rule& rule : all_rules())
      if (!rule.bundled && (state.allow_float_rewrites || !rule.changes_floats))
        for (const Idea& idea : findings_->costly_ideas(program_, rule, facts))
          queue_.push_back({.rule = &rule, .idea = idea});
    return queue_.size() > before;
  }

  void list_ideas(const State& state) {
    queue_.clear();
    steps_ = findings_->steps(program_);
    Facts facts = gather(state);
    most_asked_ = state.model ? beam_limits(facts).programs : 0;
    for (const Rule& rule : all_rules()) {
      if (rule.changes_floats && !state.allow_float_rewrites) continue;
      if (!rule.bundled) continue; // costly
      for (Idea& idea : rule.find(facts)) queue_.push_back({.rule = &rule, .idea = std::move(idea)});
    }
    // Among equals the order of the catalogue decides.
    std::ranges::stable_sort(queue_, std::ranges::greater(), [](const Candidate& c) { return c.idea.promise; });
    std::deque<Candidate> bundles;
    for (Bundle& bundle : all_bundles(state.allow_float_rewrites))
      if (bundle.direction || most_asked_ == 0) bundles.push_back({.bundle = std::move(bundle)}); // else: the beam's
    queue_.insert(queue_.begin(), bundles.begin(), bundles.end());
  }

  size_t program_ = 0;
  std::deque<Candidate> queue_;                 // the most promising first
  std::shared_ptr<KnownSteps> steps_;           // of that program
  bool beamed_ = false, listed_costly_ = false; // of that program
  std::set<size_t> asked_;                      // the model, of programs that are made of it
  size_t most_asked_ = 0;
  std::map<size_t, Later> later_; // by program
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
