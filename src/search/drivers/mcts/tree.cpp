#include "search/drivers/mcts/tree.h"

#include "gate/duplicates.h"
#include "recover/recover.h"
#include "search/drivers/rewrite/bundle.h"
#include "search/drivers/rewrite/local.h"
#include "support/hash.h"

#include <algorithm>
#include <cmath>

namespace asmevo::search::mcts {
namespace {

using rewrite::Facts;
using rewrite::Idea;
using rewrite::Rule;

/// The items of a program that lie where `window` of the root's program does: addresses stay through all edits.
std::optional<Range> window_in(const recover::Program& program, const recover::Function& function,
                               const recover::Program& root, const Range& window) {
  int64_t low = INT64_MAX, high = -1;
  for (size_t item = window.first; item < window.last && item < root.items.size(); ++item) {
    if (root.items[item].kind != recover::ItemKind::instruction) continue;
    low = std::min(low, root.items[item].origin);
    high = std::max(high, root.items[item].origin);
  }
  std::optional<Range> range;
  for (size_t item = function.first; item < function.last; ++item) {
    const int64_t origin = program.items[item].origin;
    if (program.items[item].kind != recover::ItemKind::instruction || origin < low || origin > high) continue;
    if (!range) range = Range{item, item};
    range->last = item + 1;
  }
  return range;
}

/// What a rule has won makes its moves likelier, within a factor of four.
double trust(const Records& records, std::string_view rule) {
  const auto known = records.find(rule);
  return known == records.end() ? 1 : std::exp(std::clamp(3 * known->second.mean(), -1.4, 1.4));
}

double unit(std::mt19937_64& random) { return double(random() >> 11) * 0x1p-53; }

std::optional<std::vector<recover::Edit>> carried_out(const Facts& facts, const Move& move) {
  if (!move.everywhere) return complete(facts, move.idea);
  rewrite::KnownSteps none;
  rewrite::Workshop workshop(facts, none);
  auto bundled = carry_out(workshop, {.steps = {{move.rule, move.idea.variant}}, .direction = move.rule->direction});
  if (!bundled) return std::nullopt;
  return std::move(bundled->edits);
}

/// Ideas of one rule that are in focus, and the rule at all its places in each of its variants.
void add_moves(const Facts& facts, const Rule& rule, const std::optional<Range>& window, std::deque<Move>& moves) {
  struct All {
    size_t count = 0;
    double promise = 0;
  };
  std::map<unsigned, All> all;
  for (Idea& idea : rule.find(facts)) {
    if (window && std::ranges::none_of(idea.edits, [&](const recover::Edit& e) { return window->meets(e); })) continue;
    All& variant = all[idea.variant];
    ++variant.count;
    variant.promise += idea.promise;
    moves.push_back({&rule, std::move(idea)});
  }
  if (window) return; // not known before it is carried out
  for (const auto& [variant, of] : all)
    if (of.count > 1) moves.push_back({&rule, {.promise = of.promise, .variant = variant}, true});
}

} // namespace

std::string key_of(const recover::Program& program, size_t function) {
  const recover::Function& f = program.functions[function];
  return sha256_hex(gate::normalised_text(recover::print_items(program, f.first, f.last)));
}

double reward_of(std::optional<double> speedup, double from) {
  return speedup ? std::tanh(20 * std::log(*speedup / from)) : -0.5;
}

Tree::Tree(std::string key, double speedup) : speedup_(speedup) {
  nodes_.push_back({.best = 0, .judged = true});
  by_key_.emplace(std::move(key), 0);
}

/// How many moves a node has shown after so many visits.
size_t Tree::widest(const Node& node) const { return 2 + size_t(1.5 * std::sqrt(node.visits)); }

double Tree::score(const Node& node, const Edge& edge) const {
  const Node& below = nodes_[edge.node];
  const double worth = below.visits == 0 ? 0 : (below.sum / below.visits + below.best) / 2;
  return worth + exploration * edge.prior * std::sqrt(1 + node.visits) / (1 + edge.visits);
}

void Tree::list_moves(size_t node, const Facts& facts, const State& state, const Records& records,
                      std::mt19937_64& random) {
  std::deque<Move> moves;
  std::optional<Range> window;
  if (state.focus.window) window = window_in(facts.program, facts.function, *state.program, *state.focus.window);
  for (const Rule& rule : rewrite::all_rules()) {
    if (state.focus.window && !window) break; // nothing of it is left
    if (rule.changes_floats && !facts.allow_float_rewrites) continue;
    if (state.focus.direction && rule.direction != *state.focus.direction) continue;
    add_moves(facts, rule, window, moves);
  }
  double total = 0;
  for (const Move& move : moves) total += move.idea.promise;
  const double least = moves.empty() ? 0 : (total == 0 ? 1 : 0.05 * total / double(moves.size()));
  double sum = 0;
  for (Move& move : moves) {
    move.prior = (move.idea.promise + least) * trust(records, move.rule->name) * (0.9 + 0.2 * unit(random));
    sum += move.prior;
  }
  for (Move& move : moves) move.prior /= sum;
  // Among equals the order of the catalogue decides.
  std::ranges::stable_sort(moves, std::ranges::greater(), &Move::prior);
  nodes_[node].moves = std::move(moves);
}

std::optional<size_t> Tree::expand(size_t node, const Facts& root, const Facts& facts, const State& state) {
  const Move move = std::move(nodes_[node].moves->front());
  nodes_[node].moves->pop_front();
  const auto edits = carried_out(facts, move);
  if (!edits || edits->empty()) return std::nullopt;
  auto program = recover::apply(facts.program, *edits, facts.codec);
  if (!program) return std::nullopt;
  std::vector<recover::Edit> from_root = rewrite::difference(root.program, *program);
  const std::optional<Range>& window = state.focus.window;
  if (from_root.empty() ||
      (window && std::ranges::none_of(from_root, [&](const recover::Edit& e) { return window->meets(e); })))
    return std::nullopt;
  std::string what = move.everywhere ? fmt::format("{} everywhere", move.rule->name)
                                     : fmt::format("{} ({})", move.rule->name, move.idea.rationale);
  const auto [known, fresh] = by_key_.try_emplace(key_of(*program, rewrite::function_index(root)), nodes_.size());
  const size_t next = known->second, depth = nodes_[node].depth + 1;
  if (fresh) nodes_.push_back({.edits = std::move(from_root), .key = known->first, .depth = depth});
  // A sequence that comes back to where it was, or nearer to the root, is no way to get there.
  if (nodes_[next].depth < depth) return std::nullopt;
  std::vector<Edge>& edges = nodes_[node].edges;
  if (std::ranges::find(edges, next, &Edge::node) != edges.end()) return std::nullopt;
  edges.push_back({.node = next, .rule = move.rule, .prior = move.prior, .what = std::move(what)});
  return edges.size() - 1;
}

std::optional<Leaf> Tree::grow(const Facts& root, const State& state, const Records& records, const Judged& judged,
                               std::mt19937_64& random) {
  Leaf leaf{.path = {0}};
  const auto restart = [&] { leaf = {.path = {0}}; };
  const auto follow = [&](const Edge& edge) {
    leaf.node = edge.node;
    leaf.path.push_back(edge.node);
    leaf.moves.push_back(edge.rule);
    leaf.rationale += (leaf.rationale.empty() ? "" : ", then ") + edge.what;
  };
  while (!nodes_[0].dead && nodes_.size() < most_nodes) {
    const size_t at = leaf.node;
    const auto open = [&](const Edge& e) { return !nodes_[e.node].dead && nodes_[e.node].judged; };
    const bool any_open = std::ranges::any_of(nodes_[at].edges, open);
    const bool deepest = nodes_[at].depth >= most_moves;
    const bool untried = !deepest && (!nodes_[at].moves || !nodes_[at].moves->empty());
    if (untried && (!any_open || nodes_[at].edges.size() < widest(nodes_[at]))) {
      std::optional<recover::Program> program;
      std::optional<Facts> facts;
      if (at != 0) {
        auto applied = recover::apply(root.program, nodes_[at].edits, root.codec);
        if (applied) program = *std::move(applied);
        if (program) facts.emplace(rewrite::gather_after(root, *program));
      }
      if (at != 0 && !facts) {
        nodes_[at].dead = true;
        restart();
        continue;
      }
      const Facts& here = facts ? *facts : root;
      if (!nodes_[at].moves) list_moves(at, here, state, records, random);
      std::optional<size_t> edge;
      while (!edge && !nodes_[at].moves->empty()) edge = expand(at, root, here, state);
      if (!edge) continue;
      const Edge& taken = nodes_[at].edges[*edge];
      if (nodes_[taken.node].dead) continue;
      follow(taken);
      if (nodes_[taken.node].judged) continue; // another sequence got here before
      leaf.edits = nodes_[taken.node].edits;
      leaf.key = nodes_[taken.node].key;
      const auto known = judged.find(leaf.key);
      if (known == judged.end()) return leaf;
      settle(leaf, known->second); // in the tree of another version or focus
      restart();
      continue;
    }
    if (!any_open) {
      const bool waits = std::ranges::any_of(nodes_[at].edges, [&](const Edge& e) { return !nodes_[e.node].judged; });
      if (waits && at == 0) return std::nullopt;
      nodes_[at].dead = true; // nothing is left below
      restart();
      continue;
    }
    const Edge* best = nullptr;
    for (const Edge& edge : nodes_[at].edges)
      if (open(edge) && (!best || score(nodes_[at], edge) > score(nodes_[at], *best))) best = &edge;
    follow(*best);
  }
  return std::nullopt;
}

double Tree::settle(const Leaf& leaf, std::optional<double> speedup) {
  const double reward = reward_of(speedup, speedup_);
  const bool right = speedup.has_value();
  nodes_[leaf.node].judged = true;
  nodes_[leaf.node].dead = !right;
  for (size_t k = 0; k < leaf.path.size(); ++k) {
    Node& node = nodes_[leaf.path[k]];
    node.visits += 1;
    node.sum += reward;
    if (right) node.best = std::max(node.best, reward);
    if (k + 1 == leaf.path.size()) continue;
    const auto edge = std::ranges::find(node.edges, leaf.path[k + 1], &Edge::node);
    if (edge != node.edges.end()) edge->visits += 1;
  }
  return reward;
}

} // namespace asmevo::search::mcts
