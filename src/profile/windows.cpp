#include "profile/windows.h"

#include <algorithm>

namespace asmevo::profile {

namespace {

constexpr size_t longest = 64, shortest = 16; // instructions of a span

/// Where the span that begins at `begin` ends: behind the last of `costs` that may be, at the cheapest neighbours.
size_t cut(const std::vector<double>& costs, size_t begin, size_t end) {
  if (end - begin <= longest) return end;
  const size_t last = std::min(begin + longest, end - shortest);
  size_t best = last;
  for (size_t at = last; at >= begin + longest / 2; --at)
    if (costs[at - 1] + costs[at] < costs[best - 1] + costs[best]) best = at;
  return best;
}

Window window_of(const Profile& profile, std::span<const isa::Instruction> code, size_t begin, size_t end) {
  Window w{
      .begin = begin, .end = end, .first = code[begin].address, .last = code[end - 1].address + code[end - 1].size};
  for (size_t i = begin; i < end; ++i) {
    const Row* row = profile.at(code[i].address);
    if (!row) continue;
    w.issues = std::max(w.issues, row->issues);
    w.issuing += profile.issuing(*row);
    add(w.stalls, profile.costs(*row));
  }
  w.cost = w.issuing + sum(w.stalls);
  return w;
}

} // namespace

std::string_view Window::bound() const {
  const Reason most = largest(stalls);
  return most == Reason::count_ || issuing >= stalls[size_t(most)] ? "issue" : reason_name(most);
}

std::vector<std::pair<size_t, size_t>> basic_blocks(std::span<const isa::Instruction> code) {
  std::vector<bool> begins(code.size() + 1);
  if (!code.empty()) begins[0] = begins[code.size()] = true;
  for (size_t i = 0; i < code.size(); ++i) {
    const isa::Instruction& op = code[i];
    if (op.traits.branch || op.traits.terminator) begins[i + 1] = true;
    if (op.branch_target < 0) continue;
    const auto target = std::ranges::lower_bound(code, uint64_t(op.branch_target), {}, &isa::Instruction::address);
    if (target != code.end()) begins[size_t(target - code.begin())] = true;
  }
  std::vector<std::pair<size_t, size_t>> blocks;
  for (size_t i = 0, begin = 0; i < code.size(); ++i)
    if (begins[i + 1]) blocks.emplace_back(std::exchange(begin, i + 1), i + 1);
  return blocks;
}

std::vector<Window> hot_windows(const Profile& profile, std::span<const isa::Instruction> code) {
  std::vector<double> costs(code.size());
  for (size_t i = 0; i < code.size(); ++i)
    if (const Row* row = profile.at(code[i].address)) costs[i] = profile.cost(*row);
  std::vector<Window> windows;
  for (const auto& [block_begin, block_end] : basic_blocks(code)) {
    for (size_t begin = block_begin; begin < block_end;) {
      const size_t end = cut(costs, begin, block_end);
      Window w = window_of(profile, code, begin, end);
      w.whole_block = begin == block_begin && end == block_end;
      if (w.cost > 0) windows.push_back(w);
      begin = end;
    }
  }
  std::ranges::stable_sort(windows, std::ranges::greater(), &Window::cost);
  return windows;
}

} // namespace asmevo::profile
