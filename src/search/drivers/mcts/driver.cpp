// The planning driver: sequences of rewrites, found by tree search (tree.h).
//
// It has a tree for every verified version and focus that it was asked about. The program of a new node is proposed as
// one candidate: all moves from the version to it. What the verdict says of it holds in every tree that comes by the
// same program. It needs each verdict before the next proposal, so it cannot be copied.
#include "search/drivers.h"
#include "search/drivers/mcts/tree.h"
#include "search/drivers/rewrite/local.h"
#include "search/lineage.h"

namespace asmevo::search::mcts {
namespace {

/// What a verdict says of a program, as far as the gate has looked at it. From a duplicate one need not go on: whatever
/// it is a duplicate of has a node.
std::optional<double> speedup_of(const gate::Verdict& verdict) {
  if (verdict.timing) return verdict.timing->speedup;
  return std::nullopt;
}

class MctsDriver : public Driver {
public:
  std::string_view name() const override { return "mcts"; }

  std::optional<Proposal> propose(const State& state, std::mt19937_64& random) override {
    const rewrite::Facts facts = rewrite::gather(state);
    Tree& tree = tree_of(state, key_of(*state.program, rewrite::function_index(facts)));
    auto leaf = tree.grow(facts, state, records_, judged_, random);
    if (!leaf) return std::nullopt;
    Proposal proposal{.edits = leaf->edits,
                      .rule = leaf->moves.size() == 1 ? std::string(leaf->moves[0]->name) : "several-rules",
                      .rationale = leaf->rationale,
                      .direction = leaf->moves[0]->direction,
                      .window = Range{leaf->edits.front().first, leaf->edits.back().last}};
    asked_ = Asked{.tree = &tree, .leaf = *std::move(leaf)};
    return proposal;
  }

  void learn(const Proposal&, const gate::Verdict& verdict) override {
    if (!asked_) return;
    const std::optional<double> speedup = speedup_of(verdict);
    const double reward = asked_->tree->settle(asked_->leaf, speedup);
    judged_.emplace(asked_->leaf.key, speedup);
    Record& record = records_[std::string(asked_->leaf.moves.back()->name)];
    record.sum += reward;
    record.count += 1;
    asked_.reset();
  }

private:
  static constexpr size_t most_trees = 32;
  /// The program, and what is in focus.
  using Key = std::tuple<std::string, size_t, size_t, int>;
  struct Asked {
    Tree* tree;
    Leaf leaf;
  };

  Tree& tree_of(const State& state, std::string program) {
    const Range window = state.focus.window.value_or(Range{});
    const Key key{program, window.first, window.last, state.focus.direction ? int(*state.focus.direction) + 1 : 0};
    const auto known = trees_.find(key);
    if (known != trees_.end()) return known->second;
    if (trees_.size() >= most_trees) trees_.clear();
    const bool numbered = state.versions && size_t(state.version) < state.versions->size();
    const double speedup = numbered ? (*state.versions)[size_t(state.version)].speedup : 1;
    judged_.emplace(program, speedup);
    return trees_.try_emplace(key, std::move(program), speedup).first->second;
  }

  std::map<Key, Tree> trees_;
  Records records_;
  Judged judged_;
  std::optional<Asked> asked_; // the last proposal, whose verdict is to come
};

} // namespace
} // namespace asmevo::search::mcts

namespace asmevo::search {

Result<std::unique_ptr<Driver>> make_mcts(const DriverOptions&) { return std::make_unique<mcts::MctsDriver>(); }

} // namespace asmevo::search
