// Values computed again where they are wanted, instead of kept.
//
// Where more values are live at once than a wave more would allow, some of them may be had again for an instruction or
// two: a constant, an offset from an address that is kept anyway. Such a value need not be held over the crowded
// stretch; it is made once more in front of the first use behind it, in the same register, which is free in between.
// What that is good for is seen when all registers are given out anew: the rule proposes both together, and only where
// another wave fits then.
//
// A value is made again only where EXEC is full, so that all lanes have it, from sources that nothing writes while it
// is live and, as far as they are vector registers, that are live there in any case.
#include "analysis/exec.h"
#include "analysis/reaching.h"
#include "recover/recover.h"
#include "search/drivers/rewrite/cleanup.h"
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/recipe.h"
#include "search/drivers/rewrite/register_steps.h"
#include "search/drivers/rewrite/rules.h"
#include "search/drivers/rewrite/traffic.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace asmevo::search::rewrite {

namespace {

constexpr size_t most_points = 1u << 23; // registers times places, as for giving registers out anew
constexpr uint32_t most_over = 24;       // registers that are to be saved at most

/// A value that can be had again, and where that would be done.
struct Candidate {
  isa::RegisterRange value;
  size_t definition = 0;
  Recipe recipe;
  std::vector<size_t> again;  // items that it would be made in front of
  std::vector<size_t> relief; // points where it would not be held any more
  double cost = 0;
};

size_t bit(const isa::RegisterRange& vgpr) { return analysis::bit_of(isa::File::vgpr, vgpr.first); }

class Crowd {
public:
  Crowd(const Facts& facts, uint32_t used) : facts_(facts), count_(2 * (facts.function.last - facts.function.first)) {
    analysis::RegisterSet vectors;
    for (uint32_t v = 0; v < used; ++v) vectors.set(analysis::bit_of(isa::File::vgpr, uint16_t(v)));
    for (size_t item = facts.function.first; item < facts.function.last; ++item) {
      analysis::RegisterSet after = facts.live_after(item);
      if (facts.is_instruction(item)) after |= analysis::set_of(facts.instruction(item).defs);
      count_[point(item)] = uint32_t((facts.live_before(item) & vectors).count());
      count_[point(item) + 1] = uint32_t((after & vectors).count());
    }
  }
  size_t point(size_t item) const { return 2 * (item - facts_.function.first); }
  uint32_t at(size_t point) const { return count_[point]; }
  uint32_t most() const { return std::ranges::max(count_); }
  void relieve(const Candidate& candidate) {
    for (const size_t p : candidate.relief) --count_[p];
  }

private:
  const Facts& facts_;
  std::vector<uint32_t> count_; // of VGPRs that hold something, by point
};

class Search {
public:
  Search(const Facts& facts, const Crowd& crowd, uint32_t limit)
      : facts_(facts), crowd_(crowd), limit_(limit), reaching_(facts.program, facts.function, facts.graph),
        full_(analysis::full_exec(facts.program, facts.function, facts.graph)), traffic_(facts) {}

  std::vector<Candidate> all() {
    std::vector<Candidate> candidates;
    for (const analysis::Block& block : facts_.graph.blocks)
      for (size_t item = block.first; item < block.last; ++item) {
        if (!facts_.is_instruction(item) || !full(item)) continue;
        const auto recipes = Recipe::of(facts_, block, item);
        if (recipes.empty() || !follow(item)) continue;
        for (const Recipe& recipe : recipes)
          if (auto candidate = plan(item, recipe)) {
            candidates.push_back(*std::move(candidate));
            break;
          }
      }
    return candidates;
  }

private:
  bool full(size_t item) const { return full_[item - facts_.function.first]; }

  /// Finds where the value of `definition` is live; false where others may be in its register too.
  bool follow(size_t definition) {
    value_ = facts_.instruction(definition).defs[0];
    held_.assign(facts_.function.last - facts_.function.first, false);
    uses_.clear();
    bool over = false; // it is held at a crowded place
    std::vector<size_t> open = behind(definition);
    while (!open.empty()) {
      const size_t item = open.back();
      open.pop_back();
      if (held_[item - facts_.function.first] || !facts_.live_before(item)[bit(value_)]) continue;
      held_[item - facts_.function.first] = true;
      over |= crowd_.at(crowd_.point(item)) > limit_;
      if (facts_.is_instruction(item)) {
        const isa::Instruction& i = facts_.instruction(item);
        if (reads(i, value_)) {
          if (crosses_lanes(i) || reaching_.sole_definition(item, bit(value_)) != std::optional(uint32_t(definition)))
            return false;
          uses_.push_back(item);
        }
        if (writes(i, value_)) {
          if (!full(item)) return false;
          continue;
        }
      }
      for (const size_t next : behind(item)) open.push_back(next);
    }
    return over && !uses_.empty();
  }
  std::vector<size_t> behind(size_t item) const {
    const analysis::Block& block = facts_.graph.blocks[facts_.graph.block_of[item - facts_.function.first]];
    if (item + 1 < block.last) return {item + 1};
    std::vector<size_t> firsts;
    for (const uint32_t s : block.successors)
      if (facts_.graph.blocks[s].first < facts_.graph.blocks[s].last) firsts.push_back(facts_.graph.blocks[s].first);
    return firsts;
  }

  bool keeps_sources(const Recipe& recipe, size_t definition) const {
    const auto written = [&](size_t item) {
      return facts_.is_instruction(item) && std::ranges::any_of(recipe.sources(), [&](const auto& source) {
               return writes(facts_.instruction(item), source);
             });
    };
    for (size_t item = recipe.first(); item <= definition; ++item)
      if (written(item)) return false;
    for (size_t item = facts_.function.first; item < facts_.function.last; ++item)
      if (held_[item - facts_.function.first] && written(item)) return false;
    return true;
  }
  bool sources_are_live(const Recipe& recipe, size_t item) const {
    return std::ranges::all_of(recipe.sources(), [&](const isa::RegisterRange& source) {
      if (source.file != isa::File::vgpr) return true;
      const analysis::RegisterSet set = analysis::set_of({source});
      return (facts_.live_before(item) & set) == set;
    });
  }

  std::optional<Candidate> plan(size_t definition, const Recipe& recipe) const {
    if (!keeps_sources(recipe, definition) || recipe.text(facts_, value_).empty()) return std::nullopt;
    Candidate candidate{value_, definition, recipe, {}, {}, 0};
    for (const analysis::Block& block : facts_.graph.blocks)
      if (!plan(block, candidate)) return std::nullopt;
    return candidate.again.empty() || candidate.relief.empty() ? std::nullopt : std::optional(std::move(candidate));
  }

  /// Held from the definition, or where it was made again, to the last use before a crowded place.
  bool plan(const analysis::Block& block, Candidate& candidate) const {
    bool have = false;
    std::vector<size_t> since; // points since it was wanted
    const auto drop = [&] {
      for (const size_t p : since)
        if (crowd_.at(p) > limit_) candidate.relief.push_back(p);
      since.clear();
    };
    for (size_t item = block.first; item < block.last; ++item) {
      if (item == candidate.definition) {
        drop();
        have = true;
        continue;
      }
      if (!held_[item - facts_.function.first]) continue;
      const size_t before = crowd_.point(item);
      since.push_back(before);
      const bool used = std::ranges::find(uses_, item) != uses_.end();
      const bool crowded = std::ranges::any_of(since, [&](size_t p) { return crowd_.at(p) > limit_; });
      if (used) {
        if (!have || (crowded && since.size() > 1)) {
          if (!full(item) || !sources_are_live(candidate.recipe, item)) return false;
          since.pop_back(); // it is there when it is read
          drop();
          candidate.again.push_back(item);
          candidate.cost += traffic_.of(item);
          have = true;
        }
        since.clear();
      }
      const bool ends = facts_.is_instruction(item) && writes(facts_.instruction(item), candidate.value);
      if (ends) have = false;
      if (!ends && facts_.live_after(item)[bit(candidate.value)]) since.push_back(before + 1);
    }
    drop();
    return true;
  }

  const Facts& facts_;
  const Crowd& crowd_;
  uint32_t limit_;
  analysis::Reaching reaching_;
  std::vector<bool> full_;
  Traffic traffic_;
  isa::RegisterRange value_; // that is followed
  std::vector<bool> held_;   // by item - function.first: live before it
  std::vector<size_t> uses_;
};

/// Values that together bring the crowd down to `limit`; empty where there are not enough.
std::vector<Candidate> greedy(std::vector<Candidate> candidates, Crowd crowd, uint32_t limit) {
  std::vector<Candidate> choice;
  analysis::RegisterSet given_up, needed;
  const auto sources = [](const Candidate& c) { return analysis::set_of(c.recipe.sources()); };
  while (crowd.most() > limit) {
    const auto gain = [&](const Candidate& c) {
      if (needed[bit(c.value)] || (sources(c) & given_up).any()) return 0.0;
      const auto helps = std::ranges::count_if(c.relief, [&](size_t p) { return crowd.at(p) > limit; });
      return double(helps) / (1 + c.cost);
    };
    const auto best = std::ranges::max_element(candidates, {}, gain);
    if (best == candidates.end() || gain(*best) <= 0) return {};
    crowd.relieve(*best);
    given_up.set(bit(best->value));
    needed |= sources(*best);
    choice.push_back(std::move(*best));
    candidates.erase(best);
  }
  return choice;
}

/// First without those that others are made from.
std::vector<Candidate> chosen(const std::vector<Candidate>& candidates, const Crowd& crowd, uint32_t limit) {
  analysis::RegisterSet sources;
  for (const Candidate& candidate : candidates) sources |= analysis::set_of(candidate.recipe.sources());
  std::vector<Candidate> ends;
  for (const Candidate& candidate : candidates)
    if (!sources[bit(candidate.value)]) ends.push_back(candidate);
  auto choice = greedy(std::move(ends), crowd, limit);
  return choice.empty() ? greedy(candidates, crowd, limit) : choice;
}

std::optional<recover::Program> made_again(const Facts& facts, const std::vector<Candidate>& choice) {
  std::map<size_t, std::string> lines; // by item that they come in front of
  Touched touched;
  for (const Candidate& candidate : choice) {
    touched.insert(facts.program.items[candidate.definition].origin);
    for (const size_t item : candidate.again) lines[item] += candidate.recipe.text(facts, candidate.value);
  }
  std::vector<recover::Edit> edits;
  for (auto& [item, text] : lines) edits.push_back({item, item, std::move(text)});
  auto program = recover::apply(facts.program, edits, facts.codec);
  if (!program) return std::nullopt;
  auto clean = clean_up(*std::move(program), function_index(facts), touched, facts.codec);
  return clean ? std::optional(*std::move(clean)) : std::nullopt;
}

} // namespace

std::vector<Idea> rematerialise(const Facts& facts) {
  const auto steps = RegisterSteps::of(facts);
  const uint32_t used = facts.vgprs_used;
  if (!steps || !steps->declared_exactly() || used == 0 || used > 256) return {};
  const auto limit = steps->next_below(used);
  if (!limit || 2 * (facts.function.last - facts.function.first) * used > most_points) return {};
  const Crowd crowd(facts, used);
  if (crowd.most() <= *limit || crowd.most() > *limit + most_over) return {};
  // What is live at once fits into as many registers only where tuples do not leave holes.
  for (uint32_t goal = *limit; goal + 4 > *limit && goal > 0; --goal) {
    const std::vector<Candidate> choice = chosen(Search(facts, crowd, goal).all(), crowd, goal);
    if (choice.empty()) return {};
    const auto program = made_again(facts, choice);
    if (!program) return {};
    const Facts after = gather_after(facts, *program);
    const std::vector<Idea> compact = compact_registers(after);
    if (compact.empty()) continue;
    const auto result = recover::apply(*program, compact.front().edits, facts.codec);
    if (!result) return {};
    std::vector<uint32_t> blocks(facts.graph.blocks.size());
    std::iota(blocks.begin(), blocks.end(), 0u);
    std::vector<Idea> ideas;
    ideas.push_back(
        {difference(facts.program, *result), std::move(blocks),
         fmt::format("{} values made again where they are wanted, {}", choice.size(), compact.front().rationale),
         facts.heat_of(facts.function.first, facts.function.last)});
    return ideas;
  }
  return {};
}

} // namespace asmevo::search::rewrite
