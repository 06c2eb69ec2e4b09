#include "analysis/hazards.h"

#include <algorithm>

namespace asmevo::analysis {
namespace {

using isa::Instruction;
using recover::Function;
using recover::Program;

using Window = std::vector<Recent>; // by item

bool join(Window& into, const Window& other) {
  bool changed = false;
  for (const Recent& entry : other) {
    auto at = std::ranges::lower_bound(into, entry.item, {}, &Recent::item);
    if (at == into.end() || at->item != entry.item) {
      into.insert(at, entry);
      changed = true;
      continue;
    }
    const auto distance = std::min(at->distance, entry.distance);
    // What makes a hazard holds if it happened on any path, what lifts one only if it happened on all.
    const auto between = static_cast<uint8_t>(at->between | entry.between);
    const uint32_t overwritten = at->overwritten & entry.overwritten;
    changed |= distance != at->distance || between != at->between || overwritten != at->overwritten;
    at->overwritten = overwritten;
    at->distance = distance;
    at->between = between;
  }
  return changed;
}

/// H031. Under XNACK a run of memory instructions of one kind may be replayed as a whole after a page fault, so none
/// may overwrite a register that another (or itself, if not the first) reads, and a store begins a new run. Any other
/// instruction ends the run.
class Replay {
public:
  /// Whether a wait state is missing before `i`; then a new run begins with it.
  bool breaks(const Instruction& i, size_t item, const RegisterMap& registers) {
    if (!i.traits.smem && !i.traits.vmem) {
      *this = {};
      return false;
    }
    const bool continues = !members_.empty() && scalar_ == i.traits.smem;
    if (!continues) *this = {};
    scalar_ = i.traits.smem;
    const RegisterSet defs = registers.set_of(i.defs), uses = registers.set_of(i.uses);
    const bool broken = defs_.any() && (i.traits.may_store || ((defs_ | defs) & (uses_ | uses)).any());
    if (broken) {
      previous_ = members_.back();
      members_.clear();
      defs_.reset();
      uses_.reset();
    }
    members_.push_back(item);
    defs_ |= defs;
    uses_ |= uses;
    return broken;
  }
  size_t previous() const { return previous_; }

private:
  std::vector<size_t> members_;
  bool scalar_ = false;
  RegisterSet defs_, uses_;
  size_t previous_ = 0;
};

constexpr HazardRule replay_rule{
    "H031", "a run of loads under XNACK overwrites what it would read again", 0, 0, 0, nullptr, nullptr};

class Flow {
public:
  Flow(const Program& program, const Function& function, const Graph& graph)
      : program_(program), function_(function), graph_(graph),
        table_(program.target.processor, RegisterMap(program, function)) {
    replays_ = program.target.xnack == isa::Feature::any || program.target.xnack == isa::Feature::on;
    classes_.resize(function.last - function.first);
    reach_.resize(classes_.size());
    for (size_t i = 0; i < classes_.size(); ++i) {
      const recover::Item& item = program.items[function.first + i];
      if (!is_instruction(item)) continue;
      classes_[i] = table_.classify(item.instruction);
      reach_[i] = static_cast<uint8_t>(table_.reach(item.instruction, classes_[i]));
    }
  }

  /// Runs to the fixed point; then `visit(item, recent producer, requirement)` for each pair that is too close. With
  /// `repairs` the missing states are put in on the way and kept in `needed`.
  template <class Visit> void run(bool repairs, Visit&& visit) {
    repairs_ = repairs;
    needed_.assign(classes_.size(), 0);
    entry_.assign(graph_.blocks.size(), {});
    std::vector<bool> dirty(graph_.blocks.size(), true);
    const std::vector<uint32_t> order = reverse_postorder(graph_);
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t b : order) {
        if (!dirty[b]) continue;
        dirty[b] = false;
        const Window out = walk(b, [](size_t, const Recent&, const Requirement&) {});
        for (uint32_t s : graph_.blocks[b].successors)
          if (join(entry_[s], out)) dirty[s] = changed = true;
      }
    }
    for (uint32_t b = 0; b < graph_.blocks.size(); ++b) walk(b, visit);
  }

  void insert(std::span<const uint8_t> states) { inserted_ = states; }
  const std::vector<uint8_t>& needed() const { return needed_; }

private:
  const Instruction& at(size_t item) const { return program_.items[item].instruction; }

  template <class Visit> Window walk(uint32_t b, Visit&& visit) {
    Window window = entry_[b];
    Replay replay;
    for (size_t i = graph_.blocks[b].first; i < graph_.blocks[b].last; ++i) {
      if (!is_instruction(program_.items[i])) continue;
      if (const unsigned states = inserted_.empty() ? 0 : inserted_[i - function_.first]; states > 0) {
        for (Recent& recent : window) recent.distance = static_cast<uint8_t>(std::min(255u, recent.distance + states));
        replay = {};
      }
      unsigned missing = look_back(i, window, visit);
      if (repairs_ && missing > 0) replay = {}; // the s_nop ends the run
      if (replays_ && replay.breaks(at(i), i, table_.registers())) {
        missing = std::max(missing, 1u);
        visit(i, Recent{static_cast<uint32_t>(replay.previous()), 0, 0}, Requirement{1, &replay_rule});
      }
      if (repairs_) needed_[i - function_.first] = static_cast<uint8_t>(missing);
      pass(i, window, repairs_ ? missing : 0);
    }
    return window;
  }

  template <class Visit> unsigned look_back(size_t item, const Window& window, Visit&& visit) {
    unsigned missing = 0;
    const Class consumer = classes_[item - function_.first];
    for (const Recent& recent : window) {
      const Requirement needs = table_.required(at(recent.item), classes_[recent.item - function_.first], at(item),
                                                consumer, recent.between, recent.overwritten);
      if (needs.states <= recent.distance) continue;
      missing = std::max(missing, needs.states - recent.distance);
      visit(item, recent, needs);
    }
    return missing;
  }

  void pass(size_t item, Window& window, unsigned inserted) {
    if (is_call(at(item))) {
      window.clear();
      return;
    }
    const Class passing = classes_[item - function_.first];
    const unsigned states = wait_states(at(item)) + inserted;
    for (Recent& recent : window) table_.pass(recent, at(recent.item), at(item), passing, states);
    std::erase_if(window, [&](const Recent& r) { return r.distance >= reach_[r.item - function_.first]; });
    if (reach_[item - function_.first] == 0) return;
    const auto number = static_cast<uint32_t>(item);
    const auto place = std::ranges::lower_bound(window, number, {}, &Recent::item);
    if (place != window.end() && place->item == number)
      *place = {number, 0, 0};
    else
      window.insert(place, {number, 0, 0});
  }

  const Program& program_;
  const Function& function_;
  const Graph& graph_;
  HazardTable table_;
  std::vector<Class> classes_;
  std::vector<uint8_t> reach_;
  std::vector<Window> entry_;
  std::vector<uint8_t> needed_;
  std::span<const uint8_t> inserted_;
  bool repairs_ = false;
  bool replays_ = false;
};

} // namespace

std::vector<Finding> verify_hazards(const Program& program, const Function& function, const Graph& graph) {
  std::vector<Finding> findings;
  Flow flow(program, function, graph);
  flow.run(false, [&](size_t item, const Recent& recent, const Requirement& needs) {
    findings.push_back(
        {std::string(needs.rule->id), item, recent.item,
         fmt::format("{}: {} needs {} wait states after {}, has {}", needs.rule->what, place_of(program.items[item]),
                     needs.states, place_of(program.items[recent.item]), recent.distance)});
  });
  return findings;
}

std::vector<uint8_t> needed_nops(const Program& program, const Function& function, const Graph& graph, size_t first,
                                 size_t last, std::span<const uint8_t> inserted) {
  Flow flow(program, function, graph);
  flow.insert(inserted);
  flow.run(true, [](size_t, const Recent&, const Requirement&) {});
  const auto begin = flow.needed().begin() - static_cast<std::ptrdiff_t>(function.first);
  return {begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(last)};
}

} // namespace asmevo::analysis
