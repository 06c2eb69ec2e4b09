#include "analysis/convergence.h"

#include "analysis/divergence.h"
#include "analysis/loops.h"

#include <algorithm>
#include <queue>

namespace asmevo::analysis {
namespace {

using isa::Instruction;
using recover::Function;
using recover::Program;

constexpr uint32_t wave_size = 64;
constexpr size_t most_blocks = 4096; // larger functions are not judged: the effort grows with the square
constexpr uint32_t unbounded = 0xffffffff;

bool one_wave(const Program& program, const Function& function) {
  if (!program.origin || static_cast<size_t>(function.kernel) >= program.origin->kernels.size()) return false;
  const auto& metadata = program.origin->kernels[function.kernel].metadata;
  return metadata && metadata->max_flat_workgroup_size != 0 && metadata->max_flat_workgroup_size <= wave_size;
}

/// How many barriers a wave passes.
struct Passed {
  uint32_t least = 0, most = 0;
};

class Convergence {
public:
  Convergence(const Program& program, const Function& function, const Graph& graph)
      : program_(program), graph_(graph), joins_(reversed(graph)), barriers_(graph.blocks.size()),
        works_(graph.blocks.size()) {
    for (uint32_t b = 0; b < graph.blocks.size(); ++b)
      for (size_t i = graph.blocks[b].first; i < graph.blocks[b].last; ++i)
        if (is_instruction(program.items[i])) count(program.items[i].instruction, b);
    diverging_ = diverging_branches(program, function, graph);
  }

  std::vector<Finding> run() {
    const std::vector<bool> reached = reachable(graph_);
    std::vector<Unbalanced> all;
    for (uint32_t b = 0; b < graph_.blocks.size(); ++b)
      if (reached[b] && diverging_[b])
        if (const auto found = judge(b)) all.push_back(*found);
    std::vector<Finding> findings;
    for (const Unbalanced& one : all) {
      const bool others = std::ranges::any_of(all, [&](const Unbalanced& other) {
        return other.branch != one.branch && (reaches(one.branch, other.branch) || reaches(other.branch, one.branch));
      });
      if (!others) findings.push_back(finding(one));
    }
    return findings;
  }

private:
  struct Unbalanced {
    uint32_t branch, join, barrier; // blocks
    Passed more, fewer;
  };

  void count(const Instruction& i, uint32_t block) {
    Passed& barriers = barriers_[block];
    if (i.traits.barrier) {
      ++barriers.least;
      if (barriers.most != unbounded) ++barriers.most;
    }
    if (is_call(i)) barriers.most = unbounded;
    if (i.traits.barrier || i.traits.may_load || i.traits.may_store || is_call(i)) works_[block] = true;
  }

  /// Blocks from `start` on, without `end` and what lies behind it.
  std::vector<uint32_t> between(uint32_t start, uint32_t end) const {
    std::vector<uint32_t> found;
    std::vector<bool> seen(graph_.blocks.size());
    const auto visit = [&](uint32_t b) {
      if (b == end || seen[b]) return;
      seen[b] = true;
      found.push_back(b);
    };
    visit(start);
    for (size_t k = 0; k < found.size(); ++k)
      for (uint32_t s : graph_.blocks[found[k]].successors) visit(s);
    return found;
  }

  bool reaches(uint32_t from, uint32_t to) const {
    return std::ranges::any_of(graph_.blocks[from].successors, [&](uint32_t s) { return meets(s, to, none); });
  }
  bool meets(uint32_t start, uint32_t block, uint32_t end) const {
    const std::vector<uint32_t> region = between(start, end);
    return std::ranges::find(region, block) != region.end();
  }

  /// Barriers on the ways from the start of `start` to `join`.
  Passed passed(uint32_t start, uint32_t join) const {
    if (start == join) return {};
    const std::vector<uint32_t> region = between(start, join);
    Passed total{.least = fewest(start, join), .most = 0};
    for (uint32_t b : region) {
      if (barriers_[b].most == 0) continue;
      const bool again = barriers_[b].most == unbounded || comes_back(b, join);
      total.most = again || total.most == unbounded ? unbounded : total.most + barriers_[b].most;
    }
    return total;
  }

  uint32_t fewest(uint32_t start, uint32_t join) const {
    using Reached = std::pair<uint32_t, uint32_t>; // barriers so far, block
    std::priority_queue<Reached, std::vector<Reached>, std::greater<>> waiting;
    std::vector<bool> done(graph_.blocks.size());
    waiting.emplace(0, start);
    while (!waiting.empty()) {
      const auto [so_far, b] = waiting.top();
      waiting.pop();
      if (b == join) return so_far;
      if (done[b]) continue;
      done[b] = true;
      for (uint32_t s : graph_.blocks[b].successors) waiting.emplace(so_far + barriers_[b].least, s);
    }
    return unbounded;
  }

  bool comes_back(uint32_t block, uint32_t join) const {
    return std::ranges::any_of(graph_.blocks[block].successors, [&](uint32_t s) { return meets(s, block, join); });
  }

  std::optional<Unbalanced> judge(uint32_t branch) const {
    const auto& ways = graph_.blocks[branch].successors;
    const auto join = joins_.immediate(branch);
    if (ways.size() != 2 || !join || comes_back(branch, *join) || !goes_on(*join)) return std::nullopt;
    const Passed first = passed(ways[0], *join), second = passed(ways[1], *join);
    if (first.least == unbounded || second.least == unbounded) return std::nullopt;
    if (first.most >= second.least && second.most >= first.least) return std::nullopt;
    const bool more_first = first.least > second.most;
    if ((more_first ? first : second).most == unbounded) return std::nullopt; // it may ask whether a loop runs at all
    const auto barrier = some_barrier(ways[more_first ? 0 : 1], *join);
    if (!barrier) return std::nullopt;
    return Unbalanced{branch, *join, *barrier, more_first ? first : second, more_first ? second : first};
  }

  /// Waves do something together behind the join; where they only end, nobody misses them.
  bool goes_on(uint32_t join) const {
    return std::ranges::any_of(between(join, none), [&](uint32_t b) { return works_[b]; });
  }

  std::optional<uint32_t> some_barrier(uint32_t start, uint32_t join) const {
    std::vector<uint32_t> region = between(start, join);
    std::ranges::sort(region);
    const auto found = std::ranges::find_if(region, [&](uint32_t b) { return barriers_[b].least > 0; });
    return found == region.end() ? std::nullopt : std::optional(*found);
  }

  Finding finding(const Unbalanced& one) const {
    const Block& block = graph_.blocks[one.barrier];
    size_t barrier = block.first;
    while (!is_instruction(program_.items[barrier]) || !program_.items[barrier].instruction.traits.barrier) ++barrier;
    const size_t branch = graph_.blocks[one.branch].last - 1;
    return {"R012", barrier, branch,
            fmt::format("{} is not reached by every wave equally often: {} decides, by values that differ between the "
                        "waves of a workgroup, whether {} or at least {} barriers are passed before {}",
                        place_of(program_.items[barrier]), place_of(program_.items[branch]), one.fewer.most,
                        one.more.least, place_of(program_.items[graph_.blocks[one.join].first]))};
  }

  static constexpr uint32_t none = 0xffffffff;

  const Program& program_;
  const Graph& graph_;
  Dominators joins_;
  std::vector<Passed> barriers_; // by block
  std::vector<bool> works_;      // by block: touches memory or synchronises
  std::vector<bool> diverging_;
};

} // namespace

std::vector<Finding> verify_convergence(const Program& program, const Function& function, const Graph& graph) {
  if (function.kernel < 0 || graph.blocks.size() > most_blocks || one_wave(program, function)) return {};
  const auto first = program.items.begin() + static_cast<std::ptrdiff_t>(function.first),
             last = program.items.begin() + static_cast<std::ptrdiff_t>(function.last);
  const bool barriers = std::any_of(
      first, last, [](const recover::Item& item) { return is_instruction(item) && item.instruction.traits.barrier; });
  return barriers ? Convergence(program, function, graph).run() : std::vector<Finding>();
}

} // namespace asmevo::analysis
