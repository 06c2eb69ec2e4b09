// A search tree over sequences of rewrites, all of one verified version.
//
// One change of a kernel often wins nothing before another follows: registers have to become free before a loop can be
// unrolled, and an unrolled loop has to be scheduled. Trying one change at a time never gets there, and trying all
// sequences takes too long. As in AlphaDev (Mankowitz et al., "Faster sorting algorithms discovered using deep
// reinforcement learning", 2023) sequences are planned: a node is the program that the moves before it left, a move is
// an idea of the catalogue for that program, or a rule at all its places at once. What the gate says of a program is
// what its node is worth, and every node on the way to it hears of it. Nothing is learned beforehand: a move is as
// likely as its rule hopes to win there, corrected by what the rule has won in this run.
//
// Nodes are chosen as in PUCT, with the mean of what lies below and the best of it, since one good program is all that
// is wanted. There are hundreds of moves and few evaluations, so a node shows few of its moves at first and more as it
// is visited (progressive widening). Sequences that lead to the same text share a node. Below a program that is wrong
// nothing is tried.
#pragma once

#include "search/drivers/rewrite/rule.h"

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace asmevo::search::mcts {

/// What moves of a rule were worth so far, in any tree.
struct Record {
  double sum = 0;
  double count = 0;
  double mean() const { return count == 0 ? 0 : sum / count; }
};
using Records = std::map<std::string, Record, std::less<>>; // by rule

/// What the gate has said of programs: the speedup over K0, or nothing where the program is wrong. By key_of().
using Judged = std::unordered_map<std::string, std::optional<double>>;

/// Names what a function does: its listing as far as the gate looks at it to tell duplicates.
std::string key_of(const recover::Program& program, size_t function);
/// What is gained, squashed, so that five percent are nearly as good as fifty; being wrong costs.
double reward_of(std::optional<double> speedup, double from);

struct Move {
  const rewrite::Rule* rule = nullptr;
  rewrite::Idea idea;      // of the node's program
  bool everywhere = false; // instead: the rule at all its places
  double prior = 0;
};

/// A program that nobody has judged yet, and how it was reached.
struct Leaf {
  size_t node = 0;
  std::vector<size_t> path; // nodes from the root to it
  std::vector<const rewrite::Rule*> moves;
  std::vector<recover::Edit> edits; // of the root's program
  std::string rationale;
  std::string key; // of the program
};

class Tree {
public:
  /// `key` and `speedup`: of the root's program.
  Tree(std::string key, double speedup);

  /// Walks down to where something new is and makes it. `root` are the facts of the root's program, `state` what is in
  /// focus. Nothing where no sequence is left.
  std::optional<Leaf> grow(const rewrite::Facts& root, const State& state, const Records& records, const Judged& judged,
                           std::mt19937_64& random);
  /// What the gate said of a leaf: its speedup; nothing where it is wrong, so that nothing goes on from it. The reward.
  double settle(const Leaf& leaf, std::optional<double> speedup);

  size_t size() const { return nodes_.size(); }

private:
  static constexpr size_t most_moves = 6; // of a sequence
  static constexpr size_t most_nodes = 20'000;
  static constexpr double exploration = 0.8;

  struct Edge {
    size_t node;
    const rewrite::Rule* rule;
    double prior;
    double visits = 0;
    std::string what;
  };
  struct Node {
    std::vector<recover::Edit> edits; // from the root's program
    std::string key;
    std::optional<std::deque<Move>> moves; // not tried yet, the likeliest first; nothing: not listed yet
    std::vector<Edge> edges;
    size_t depth = 0;
    double visits = 0, sum = 0, best = -1;
    bool judged = false, dead = false; // wrong, or nothing is left below
  };

  size_t widest(const Node& node) const;
  double score(const Node& node, const Edge& edge) const;
  void list_moves(size_t node, const rewrite::Facts& facts, const State& state, const Records& records,
                  std::mt19937_64& random);
  /// Carries the next move of a node out; the index of its edge, or nothing where it led nowhere new.
  std::optional<size_t> expand(size_t node, const rewrite::Facts& root, const rewrite::Facts& facts,
                               const State& state);

  std::vector<Node> nodes_;
  std::unordered_map<std::string, size_t> by_key_;
  double speedup_; // of the root
};

} // namespace asmevo::search::mcts
