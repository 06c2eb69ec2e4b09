// The superoptimiser: for the integer windows of hot blocks, the cheapest sequence that computes the same.
//
// What a window may become does not depend on the program around it and comes from the book (book.h) or a search. Where
// replacements do not touch each other they are proposed together first, of the whole function and of each block, since
// one saved instruction is less than the spread of a measurement; then one by one, the most promising first. It needs
// neither verdicts nor random numbers.
#include "search/drivers.h"
#include "search/drivers/rewrite/local.h"
#include "search/drivers/superopt/book.h"
#include "search/drivers/superopt/window.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <set>

namespace asmevo::search::superopt {
namespace {

using rewrite::Facts;
using rewrite::Idea;

constexpr size_t most_windows = 400; // of a program, those of the hottest blocks
constexpr size_t most_singles = 64;

/// A window with what is to stand in its place.
struct Replacement {
  Window window;
  std::string text, what;
  std::vector<isa::RegisterRange> overwritten;
  uint32_t block = 0;
  Cost saved; // the count is not used
  double promise = 0;

  bool saves_issue() const { return saved.issue > 0; }
};

struct Candidate {
  Idea idea;
  Direction direction = Direction::instruction_simplification;
  bool single = false;
};

std::vector<recover::Edit> edits_of(const Replacement& r) {
  std::vector<recover::Edit> edits{{r.window.root(), r.window.root() + 1, r.text}};
  for (size_t item : r.window.removed) edits.push_back({item, item + 1, ""});
  return edits;
}

/// Whether both can be carried out: neither removes what the other is made of, nor overwrites what it reads.
bool apart(const Replacement& a, const Replacement& b) {
  const auto holds = [](const std::vector<size_t>& items, size_t item) {
    return std::ranges::find(items, item) != items.end();
  };
  const auto removes_from = [&](const Replacement& one, const Replacement& other) {
    return holds(other.window.items, one.window.root()) ||
           std::ranges::any_of(one.window.removed, [&](size_t item) { return holds(other.window.items, item); });
  };
  const auto overwrites = [](const Replacement& one, const Replacement& other) {
    for (const isa::RegisterRange& range : one.overwritten) {
      for (const isa::RegisterRange& input : other.window.inputs)
        if (input.overlaps(range)) return true;
      for (const isa::RegisterRange& temporary : other.overwritten)
        if (temporary.overlaps(range)) return true;
    }
    return false;
  };
  if (a.block != b.block) return true;
  return !removes_from(a, b) && !removes_from(b, a) && !overwrites(a, b) && !overwrites(b, a);
}

std::string described(const Facts& facts, const Replacement& r) {
  std::string before, after = r.text;
  for (size_t item : r.window.items) before += (before.empty() ? "" : "; ") + facts.program.items[item].text;
  after.pop_back();
  for (size_t at = 0; (at = after.find('\n', at)) != after.npos;) after.replace(at, 1, "; ");
  return fmt::format("{} -> {}", before, after);
}

class SuperoptDriver : public Driver {
public:
  SuperoptDriver() : book_(std::make_shared<Book>(book_path())) {}

  std::string_view name() const override { return "superopt"; }
  std::unique_ptr<Driver> clone() const override { return std::make_unique<SuperoptDriver>(*this); }
  std::optional<std::string> notice() const override { return book_->trouble(); }

  std::optional<Proposal> propose(const State& state, std::mt19937_64&) override {
    std::string listing;
    for (size_t item = state.function->first; item < state.function->last; ++item)
      listing += state.program->items[item].text + "\n";
    const Facts facts = rewrite::gather(state);
    if (listing != listing_) {
      listing_ = std::move(listing);
      list(facts);
    }
    while (true) {
      const auto next = std::ranges::find_if(queue_, [&](const Candidate& c) { return in_focus(c, state.focus); });
      if (next == queue_.end()) return std::nullopt;
      const Candidate candidate = std::move(*next);
      queue_.erase(next);
      auto edits = complete(facts, candidate.idea);
      if (!edits || edits->empty()) continue;
      std::string text = listing_;
      for (const recover::Edit& e : *edits) text += fmt::format("{}-{}:{}\n", e.first, e.last, e.text);
      if (!proposed_.insert(std::hash<std::string>{}(text)).second) continue;
      const Range window{edits->front().first, edits->back().last};
      return Proposal{.edits = std::move(*edits),
                      .rule = "superopt",
                      .rationale = candidate.idea.rationale,
                      .direction = candidate.direction,
                      .window = window};
    }
  }

  void learn(const Proposal&, const gate::Verdict&) override {}

private:
  static bool in_focus(const Candidate& candidate, const Focus& focus) {
    if (focus.direction && candidate.direction != *focus.direction) return false;
    if (!focus.window) return true;
    return candidate.single && std::ranges::any_of(candidate.idea.edits, [&](const recover::Edit& edit) {
             return focus.window->meets(edit);
           });
  }

  void list(const Facts& facts) {
    queue_.clear();
    if (!opcodes_ || processor_ != facts.program.target.processor) {
      processor_ = facts.program.target.processor;
      opcodes_ = std::make_shared<Opcodes>(facts.codec);
    }
    std::vector<Replacement> found = replacements(facts);
    book_->save();
    std::ranges::stable_sort(found, std::ranges::greater(), &Replacement::promise);
    unite(found, "all", [](const Replacement&) { return true; });
    unite(found, "those that save instructions", [](const Replacement& r) { return r.saves_issue(); });
    std::vector<uint32_t> blocks;
    for (const Replacement& r : found)
      if (std::ranges::find(blocks, r.block) == blocks.end()) blocks.push_back(r.block);
    for (uint32_t block : blocks)
      unite(found, "those of one block", [&](const Replacement& r) { return r.block == block; });
    for (size_t k = 0; k < std::min(found.size(), most_singles); ++k) {
      Idea idea{.edits = edits_of(found[k]), .blocks = {found[k].block}, .rationale = described(facts, found[k])};
      std::ranges::sort(idea.edits, {}, &recover::Edit::first);
      queue_.push_back(
          {std::move(idea),
           found[k].saves_issue() ? Direction::instruction_simplification : Direction::dependency_reduction, true});
    }
  }

  /// As many of them as are apart, the most promising first.
  template <class Wanted> void unite(const std::vector<Replacement>& found, std::string_view which, Wanted wanted) {
    std::vector<const Replacement*> taken;
    for (const Replacement& r : found)
      if (wanted(r) && std::ranges::all_of(taken, [&](const Replacement* t) { return apart(*t, r); }))
        taken.push_back(&r);
    if (taken.size() < 2) return;
    Candidate candidate{.direction = Direction::dependency_reduction};
    for (const Replacement* r : taken) {
      std::ranges::move(edits_of(*r), std::back_inserter(candidate.idea.edits));
      candidate.idea.blocks.push_back(r->block);
      if (r->saves_issue()) candidate.direction = Direction::instruction_simplification;
    }
    std::ranges::sort(candidate.idea.edits, {}, &recover::Edit::first);
    candidate.idea.rationale = fmt::format("{} integer windows, {}: {}; ...", taken.size(), which, taken[0]->what);
    queue_.push_back(std::move(candidate));
  }

  std::vector<Replacement> replacements(const Facts& facts) {
    std::vector<uint32_t> blocks(facts.graph.blocks.size());
    std::iota(blocks.begin(), blocks.end(), 0);
    const auto heat = [&](uint32_t block) {
      return facts.heat_of(facts.graph.blocks[block].first, facts.graph.blocks[block].last);
    };
    std::ranges::stable_sort(blocks, std::ranges::greater(), heat);
    std::vector<Replacement> found;
    size_t windows = 0;
    for (uint32_t block : blocks)
      for (std::vector<Window>& of_root : windows_of(facts, facts.graph.blocks[block], *opcodes_)) {
        std::optional<Replacement> best;
        for (Window& window : of_root) {
          if (++windows > most_windows) return found;
          auto one = replacement_of(facts, std::move(window));
          const auto gain = [](const Replacement& r) { return std::pair(r.saved.issue, r.saved.latency); };
          if (one && (!best || gain(*one) > gain(*best))) best = std::move(one);
        }
        if (!best) continue;
        best->block = block;
        best->promise = heat(block) * best->saved.issue + 1e-3 * best->saved.latency;
        best->what = described(facts, *best);
        found.push_back(*std::move(best));
      }
    return found;
  }

  std::optional<Replacement> replacement_of(const Facts& facts, Window window) {
    const Cost old = cost_of(window.sequence);
    const std::string_view target = isa::processor_name(processor_);
    for (const Sequence& sequence : cheaper(window.sequence, target, *opcodes_, Bounds{}, *book_)) {
      const Cost cost = cost_of(sequence);
      Replacement r{.saved = {old.issue - cost.issue, old.latency - cost.latency}};
      auto text = text_of(facts, window, sequence, r.overwritten);
      if (!text) continue;
      r.text = *std::move(text);
      r.window = std::move(window);
      return r;
    }
    return std::nullopt;
  }

  std::shared_ptr<Book> book_;
  std::shared_ptr<Opcodes> opcodes_; // of the processor
  isa::Processor processor_ = isa::Processor::gfx942;
  std::string listing_;
  std::deque<Candidate> queue_;
  std::set<size_t> proposed_;
};

} // namespace
} // namespace asmevo::search::superopt

namespace asmevo::search {

Result<std::unique_ptr<Driver>> make_superopt(const DriverOptions&) {
  return std::make_unique<superopt::SuperoptDriver>();
}

} // namespace asmevo::search
