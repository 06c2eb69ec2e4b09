// Drivers that know nothing of GPUs: what rules and models have to beat.
//
// `random` changes the verified program in one place, again and again, and forgets what was wrong with it. `mcmc`
// walks: its next change is one of the program that it has got to, which may be wrong or slow for a while. A change is
// taken when it costs less, and otherwise with a probability that falls with what it costs more (Metropolis). The cost
// is the logarithm of the modelled time where a candidate is right, and a step for each kind of being wrong. When a
// version is accepted the walk begins there.
#include "search/drivers.h"
#include "recover/recover.h"
#include "search/drivers/stochastic/moves.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace asmevo::search::stochastic {

namespace {

using gate::Outcome;

/// What being wrong costs, in logarithms of time: a candidate that is right and twice as slow costs 0.7.
double cost_of(const gate::Verdict& verdict) {
  if (verdict.timing) return -std::log(verdict.timing->speedup);
  switch (verdict.outcome) {
  case Outcome::divergence:
    return 0.1;
  case Outcome::static_inconsistency:
    return 0.2;
  default:
    return 0.4;
  }
}

/// Costs that differ by this much differ by a factor e in how likely they are.
constexpr double temperature = 0.02;
constexpr int most_draws = 200;

std::string text_of(const std::vector<recover::Edit>& edits) {
  std::string text;
  for (const recover::Edit& edit : edits) text += fmt::format("{}-{}:{}\n", edit.first, edit.last, edit.text);
  return text;
}

/// Draws changes of `base` until one gives edits of the verified program that were not proposed before.
class Walker : public Driver {
public:
  std::optional<Proposal> propose(const State& state, std::mt19937_64& random) override {
    const std::string listing = recover::print_items(*state.program, state.function->first, state.function->last);
    if (listing != verified_) {
      verified_ = listing;
      proposed_.clear();
      begin(*state.program);
    }
    auto proposal = draw_from(base_of(state), state, random);
    if (proposal || &base_of(state) == state.program) return proposal;
    begin(*state.program); // the walk has come to where nothing is left to change
    return draw_from(base_of(state), state, random);
  }

protected:
  virtual void begin(const recover::Program&) {}
  virtual const recover::Program& base_of(const State& state) { return *state.program; }
  virtual void drawn(recover::Program, std::mt19937_64&) {}

private:
  std::optional<Proposal> draw_from(const recover::Program& base, const State& state, std::mt19937_64& random) {
    State at = state;
    at.program = &base;
    at.function = &base.functions[size_t(state.function - state.program->functions.data())];
    if (&base != state.program) at.estimate = nullptr; // it is of another program
    const rewrite::Facts facts = rewrite::gather(at);
    const std::vector<double> heat = block_heat(facts);
    if (std::ranges::all_of(heat, [](double h) { return h == 0; })) return std::nullopt;
    for (int draw = 0; draw < most_draws; ++draw) {
      auto move = random_move(facts, heat, random);
      if (!move) continue;
      std::vector<recover::Edit> edits = rewrite::difference(*state.program, move->program);
      if (edits.empty() || !proposed_.insert(text_of(edits)).second) continue;
      drawn(std::move(move->program), random);
      Proposal proposal{std::move(edits), fmt::format("{}-{}", name(), move->kind), "drawn at random", true};
      proposal.window = Range{proposal.edits.front().first, proposal.edits.back().last};
      return proposal;
    }
    return std::nullopt;
  }

  std::string verified_;
  std::set<std::string> proposed_;
};

class RandomDriver : public Walker {
public:
  std::string_view name() const override { return "random"; }
  std::unique_ptr<Driver> clone() const override { return std::make_unique<RandomDriver>(*this); }
  void learn(const Proposal&, const gate::Verdict&) override {}
};

class McmcDriver : public Walker {
public:
  std::string_view name() const override { return "mcmc"; }
  void learn(const Proposal&, const gate::Verdict& verdict) override {
    const double cost = cost_of(verdict);
    if (verdict.outcome == Outcome::accepted) verified_cost_ = cost;
    if (candidate_ && (verdict.outcome == Outcome::accepted || std::exp((cost_ - cost) / temperature) > chance_)) {
      base_ = std::move(candidate_);
      cost_ = cost;
    }
    candidate_.reset();
  }

protected:
  /// A version that this walk has made has the cost that its verdict gave it.
  void begin(const recover::Program& verified) override {
    base_ = verified;
    cost_ = verified_cost_;
  }
  const recover::Program& base_of(const State&) override { return *base_; }
  void drawn(recover::Program program, std::mt19937_64& random) override {
    candidate_ = std::move(program);
    chance_ = double(random() >> 11) * 0x1p-53;
  }

private:
  std::optional<recover::Program> base_, candidate_;
  double verified_cost_ = 0, cost_ = 0; // of the last accepted version; of base_
  double chance_ = 0;                   // the candidate's
};

} // namespace

} // namespace asmevo::search::stochastic

namespace asmevo::search {

Result<std::unique_ptr<Driver>> make_random(const DriverOptions&) {
  return std::make_unique<stochastic::RandomDriver>();
}
Result<std::unique_ptr<Driver>> make_mcmc(const DriverOptions&) { return std::make_unique<stochastic::McmcDriver>(); }

} // namespace asmevo::search
