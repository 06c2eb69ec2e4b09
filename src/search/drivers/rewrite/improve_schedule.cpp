// Local improvement of schedules on the timing model.
//
// A list scheduler knows latencies; it does not know that the queue of the LDS is full, that four waves stand at the
// same barrier, or which of two loads the matrix pipe will wait for. The timing model knows, and tells within
// milliseconds how long the launch that it has traced would take with a block in another order (timing/rehearsal.h). So
// orders are tried: an instruction at which time is lost, or whose result others wait for, moves a few places to the
// front or to the back, with what has to move with it, and stays where that is faster. Waits are put in anew for each
// order.
//
// How many orders are tried follows from what they cost and gain, not from a clock, and what is tried first from the
// estimate: the same program has the same improvements everywhere. They are ideas like others; the gate judges.
#include "analysis/addresses.h"
#include "analysis/repair.h"
#include "search/drivers/rewrite/list_schedule.h"
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/order_moves.h"
#include "search/drivers/rewrite/rules.h"
#include "timing/rehearsal.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace asmevo::search::rewrite {

namespace {

using Nodes = std::vector<uint32_t>; // in their order
using timing::Rehearsal;

constexpr unsigned draws = 8;        // an order that is better by chance is so in few of them
constexpr unsigned few_draws = 2;    // after which an order that loses is given up
constexpr double work = 8e6;         // wave-instructions that a search may simulate, waits counted as below
constexpr double wait_work = 16;     // putting waits in, for each item of the function
constexpr double fewest_trials = 32; // less is not worth beginning
constexpr unsigned most_trials = 400;
// Gains, of the time. Where orders matter the first ones show it: after a few, trials have to have earned so much each.
constexpr unsigned first_trials = 24;
constexpr double least_earned = 8e-5;
constexpr double step = 1e-4;        // the least for which an order is taken
constexpr double least_worth = 1e-3; // for which one is proposed, where the gate keeps so little
constexpr size_t most_nodes = 400;   // of a block
constexpr int distances[] = {4, 1, 16, 64};

/// A block whose order may change.
struct Place {
  analysis::DependenceGraph graph;
  size_t first = 0, last = 0;               // items
  uint32_t image_first = 0, image_last = 0; // the same as instructions of the image
  Nodes order;
  std::vector<double> urgency;               // by node
  std::optional<Rehearsal::Stretch> stretch; // of an order other than the program's
  double gain = 0;                           // of this block's moves, of the time
};

class Improvement {
public:
  explicit Improvement(const Facts& facts)
      : facts_(facts), rehearsal_(*facts.estimate->rehearsal),
        cost_of_waits_(wait_work * double(facts.function.last - facts.function.first)) {}

  std::vector<Idea> run() {
    if (fewest_trials * (cost_of_waits_ + draws * rehearsal_.instructions()) > work) return {};
    find_places();
    if (places_.empty()) return {};
    const Rehearsal::Arrangement as_it_is = rehearsal_.arrange({});
    for (unsigned d = 0; d < draws; ++d) base_[d] = as_it_is.seconds(d);
    best_.seconds = base_;
    for (Place& place : places_) begin(place);
    climb();
    return ideas();
  }

private:
  struct Times {
    std::array<double, draws> seconds{};
    double share = 1; // of the program's
  };

  void find_places();
  std::optional<Place> place_of(const analysis::Block& block, const analysis::Addresses& addresses) const;
  void find_urgency(Place& place) const;

  std::optional<Rehearsal::Stretch> stretch_of(const Place& place, const Nodes& order);
  const std::vector<recover::Item>& waits_of(const analysis::Insertion& insertion);
  bool is_over() const;
  double share_of(const std::array<double, draws>& seconds) const;
  std::optional<Times> faster_with(const Place& place, const Rehearsal::Stretch& stretch);
  bool try_order(Place& place, const Nodes& order);

  void begin(Place& place);
  void climb();
  bool push(Place& place, uint32_t node, int by);
  std::vector<Idea> ideas() const;
  std::vector<recover::Edit> edits_of(const Place& place) const;

  const Facts& facts_;
  const Rehearsal& rehearsal_;
  std::vector<Place> places_;
  std::array<double, draws> base_{}; // seconds of the program
  Times best_;
  const double cost_of_waits_;
  double spent_ = 0; // of `work`
  unsigned tried_ = 0;
  std::map<std::tuple<uint16_t, unsigned>, std::vector<recover::Item>> waits_; // by what an insertion says
};

std::optional<Place> Improvement::place_of(const analysis::Block& block, const analysis::Addresses& addresses) const {
  Place place;
  place.first = block.first;
  place.last = block.last;
  while (place.first < block.last && !facts_.is_instruction(place.first)) ++place.first;
  for (size_t item = place.first; item < block.last; ++item)
    if (!facts_.is_instruction(item)) return std::nullopt;
  place.graph = analysis::dependences(facts_.program, facts_.function, place.first, place.last, &addresses);
  if (place.graph.items.size() < 3 || place.graph.items.size() > most_nodes) return std::nullopt;
  const auto begin = facts_.in_image(place.first), end = facts_.in_image(place.last - 1);
  if (!begin || !end || *end - *begin + 1 != place.last - place.first) return std::nullopt;
  place.image_first = *begin;
  place.image_last = *end + 1;
  place.order.resize(place.graph.items.size());
  std::iota(place.order.begin(), place.order.end(), 0u);
  return place;
}

void Improvement::find_places() {
  const analysis::Addresses addresses(facts_.program, facts_.function, facts_.graph);
  const double whole = facts_.heat_of(facts_.function.first, facts_.function.last);
  for (const analysis::Block& block : facts_.graph.blocks) {
    if (facts_.heat_of(block.first, block.last) < 0.02 * whole) continue;
    auto place = place_of(block, addresses);
    if (!place) continue;
    find_urgency(*place);
    places_.push_back(*std::move(place));
  }
}

/// Time that the SIMDs lose at an instruction counts for it and for what it waits for there; what they lose at a wait,
/// for what comes behind it.
void Improvement::find_urgency(Place& place) const {
  const auto& attribution = facts_.estimate->attribution;
  const auto lost_at = [&](uint32_t index) {
    const timing::Attribution& a = attribution[index];
    return std::accumulate(a.exposed_cycles.begin(), a.exposed_cycles.end(), 0.0) + 0.1 * a.issue_cycles;
  };
  std::map<uint32_t, uint32_t> node_of; // by index in the image
  for (uint32_t node = 0; node < place.graph.items.size(); ++node)
    node_of[place.image_first + uint32_t(place.graph.items[node] - place.first)] = node;
  place.urgency.assign(place.graph.items.size(), 0);
  for (uint32_t index = place.image_first; index < place.image_last; ++index)
    if (const auto at = node_of.lower_bound(index); at != node_of.end()) place.urgency[at->second] += lost_at(index);
  for (const timing::Dependence& wait : facts_.estimate->dependences)
    if (const auto at = node_of.find(wait.producer); at != node_of.end()) place.urgency[at->second] += wait.exposed;
}

const std::vector<recover::Item>& Improvement::waits_of(const analysis::Insertion& insertion) {
  const auto [at, is_new] = waits_.try_emplace({isa::encode_waitcnt(insertion.wait), insertion.nops});
  if (is_new) at->second = analysis::wait_items(insertion, facts_.codec);
  return at->second;
}

std::optional<Rehearsal::Stretch> Improvement::stretch_of(const Place& place, const Nodes& order) {
  std::vector<size_t> items;
  for (const uint32_t node : order) items.push_back(place.graph.items[node]);
  const analysis::Reordered done = analysis::reordered(facts_.program, facts_.function, place.first, place.last, items);
  if (!done.elsewhere.empty()) return std::nullopt;
  Rehearsal::Stretch stretch{.first = place.image_first, .last = place.image_last, .steps = {}};
  auto next = done.insertions.begin();
  for (size_t k = 0; k <= done.items.size(); ++k) {
    for (; next != done.insertions.end() && next->item == k; ++next)
      for (const recover::Item& wait : waits_of(*next)) stretch.steps.push_back({.added = &wait.instruction});
    if (k < done.items.size())
      stretch.steps.push_back({.instruction = place.image_first + uint32_t(done.items[k] - place.first)});
  }
  return stretch;
}

bool Improvement::is_over() const {
  const bool earns = tried_ < first_trials || 1 - best_.share >= tried_ * least_earned;
  return spent_ >= work || tried_ >= most_trials || !earns;
}

/// Of the time of the program. Of the middle half: where a few draws gain much and the others nothing, it is by chance.
double Improvement::share_of(const std::array<double, draws>& seconds) const {
  std::array<double, draws> shares;
  for (unsigned d = 0; d < draws; ++d) shares[d] = seconds[d] / base_[d];
  std::ranges::sort(shares);
  return std::accumulate(shares.begin() + draws / 4, shares.end() - draws / 4, 0.0) / (draws / 2);
}

/// Times with `stretch` in `place` and the best orders elsewhere, where that is faster.
std::optional<Improvement::Times> Improvement::faster_with(const Place& place, const Rehearsal::Stretch& stretch) {
  std::vector<Rehearsal::Stretch> stretches;
  for (const Place& other : places_)
    if (&other == &place)
      stretches.push_back(stretch);
    else if (other.stretch)
      stretches.push_back(*other.stretch);
  const Rehearsal::Arrangement arrangement = rehearsal_.arrange(stretches);
  Times times;
  double sum = 0;
  for (unsigned d = 0; d < draws; ++d) {
    times.seconds[d] = arrangement.seconds(d);
    spent_ += rehearsal_.instructions();
    sum += times.seconds[d] / best_.seconds[d];
    if (d + 1 == few_draws && sum > few_draws) return std::nullopt;
  }
  times.share = share_of(times.seconds);
  if (times.share > best_.share - step) return std::nullopt;
  return times;
}

/// Takes the order where it is faster.
bool Improvement::try_order(Place& place, const Nodes& order) {
  if (is_over()) return false;
  ++tried_;
  spent_ += cost_of_waits_;
  auto stretch = stretch_of(place, order);
  if (!stretch) return false;
  const auto times = faster_with(place, *stretch);
  if (!times) return false;
  place.gain += best_.share - times->share;
  best_ = *times;
  place.order = order;
  place.stretch = std::move(stretch);
  return true;
}

/// What list schedules make of the block, and the weakest waits for the order that it has.
void Improvement::begin(Place& place) {
  try_order(place, Nodes(place.order));
  for (const auto order : {Order::critical_path, Order::loads_first})
    try_order(place, list_schedule(facts_.program, place.graph, order));
}

/// Moves a node in one direction for as long as that helps.
bool Improvement::push(Place& place, uint32_t node, int by) {
  bool any = false;
  while (true) {
    const auto at = std::ranges::find(place.order, node);
    const auto order = moved(place.graph, place.order, size_t(at - place.order.begin()), by);
    if (!order || !try_order(place, *order)) return any;
    any = true;
  }
}

void Improvement::climb() {
  std::vector<std::pair<size_t, uint32_t>> nodes; // place, node: the most urgent first
  for (size_t p = 0; p < places_.size(); ++p)
    for (uint32_t node = 0; node < places_[p].order.size(); ++node) nodes.emplace_back(p, node);
  std::ranges::stable_sort(nodes, std::ranges::greater(),
                           [&](const auto& at) { return places_[at.first].urgency[at.second]; });
  for (bool better = true; better && !is_over();) {
    better = false;
    for (const auto& [p, node] : nodes)
      for (const int distance : distances)
        for (const int by : {distance, -distance}) better |= push(places_[p], node, by);
  }
}

std::vector<recover::Edit> Improvement::edits_of(const Place& place) const {
  std::vector<size_t> items;
  for (const uint32_t node : place.order) items.push_back(place.graph.items[node]);
  return analysis::reorder(facts_.program, facts_.function, place.first, place.last, items);
}

std::vector<Idea> Improvement::ideas() const {
  const double whole = facts_.heat_of(facts_.function.first, facts_.function.last);
  const double worth = std::max(least_worth, facts_.least_gain / 2); // half, for its spread may be less
  std::vector<const Place*> better;
  for (const Place& place : places_)
    if (place.stretch && place.gain >= worth) better.push_back(&place);
  Idea all{.rationale =
               fmt::format("instructions where the model likes them best: {:.2f} % less", 100 * (1 - best_.share)),
           .promise = whole};
  std::vector<Idea> ideas;
  for (const Place* place : better) {
    std::ranges::move(edits_of(*place), std::back_inserter(all.edits));
    if (better.size() > 1 && ideas.size() < 3)
      ideas.push_back(
          {edits_of(*place),
           {},
           fmt::format("those of one block where the model likes them best: {:.2f} % less", 100 * place->gain),
           whole / 2});
  }
  if (!better.empty()) ideas.insert(ideas.begin(), std::move(all));
  return ideas;
}

} // namespace

std::vector<Idea> improve_schedule(const Facts& facts) {
  if (!facts.estimate || !facts.estimate->rehearsal || facts.estimate->attribution.empty()) return {};
  return Improvement(facts).run();
}

} // namespace asmevo::search::rewrite
