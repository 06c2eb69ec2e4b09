// Learning address rules from samples, and what they imply for sharing and footprint.
#include "timing/grid.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace asmevo::timing {

namespace {

uint64_t lead_address(const machine::TraceEvent& e, const PatternTable& patterns) {
  return e.base + patterns[e.pattern].lead;
}

bool has_address(const machine::TraceEvent& e, const machine::Trace* trace) {
  return e.pattern != machine::no_pattern && e.pattern < trace->patterns.size();
}

/// Calls visit(instruction, a's event, b's event) for memory events while both waves take the same path.
template <class Visit>
void walk_together(const SampledGroup& a, const SampledGroup& b, const PatternTable& patterns, Visit visit) {
  for (size_t w = 0; w < std::min(a.waves.size(), b.waves.size()); ++w) {
    const auto &ea = a.waves[w]->events, &eb = b.waves[w]->events;
    for (size_t i = 0; i < std::min(ea.size(), eb.size()); ++i) {
      if (ea[i].instruction != eb[i].instruction) break;
      if (ea[i].pattern >= patterns.size() || eb[i].pattern >= patterns.size()) continue;
      visit(ea[i].instruction, ea[i], eb[i]);
    }
  }
}

} // namespace

Grid::Grid(const machine::Trace& trace, std::array<uint32_t, 3> workgroups, const StaticTable& code,
           const PatternTable& patterns, const DeviceTable& device, uint32_t resident)
    : shape_(workgroups), count_(uint64_t{workgroups[0]} * workgroups[1] * workgroups[2]), rules_(code.size()),
      sharing_(code.size()) {
  collect(trace);
  find_executed(code.size());
  find_code_lines(code);
  learn_steps(patterns);
  find_tables(patterns);
  compute_sharing(device, resident);
  compute_footprint(trace, patterns, code, device.xcds);
  compute_means(patterns);
}

void Grid::collect(const machine::Trace& trace) {
  std::map<uint32_t, SampledGroup> groups;
  for (const machine::WaveTrace& wave : trace.waves) {
    SampledGroup& group = groups[wave.workgroup];
    group.id = wave.workgroup;
    group.at = coordinates(wave.workgroup);
    group.waves.push_back(&wave);
    group.events += wave.events.size();
  }
  for (auto& [id, group] : groups) {
    std::ranges::sort(group.waves, {}, [](const machine::WaveTrace* w) { return w->wave; });
    samples_.push_back(std::move(group));
  }
}

void Grid::find_executed(size_t code_size) {
  executed_.assign(code_size, false);
  for (const SampledGroup& group : samples_)
    for (const machine::WaveTrace* wave : group.waves)
      for (const machine::TraceEvent& e : wave->events) executed_[e.instruction] = true;
}

void Grid::find_code_lines(const StaticTable& code) {
  code_lines_.clear();
  for (size_t i = 0; i < code.size(); ++i)
    if (executed_[i]) code_lines_.push_back(code[i].address / line_bytes);
  std::ranges::sort(code_lines_);
  const auto repeated = std::ranges::unique(code_lines_);
  code_lines_.erase(repeated.begin(), repeated.end());
}

Grid Grid::retraced(const machine::Trace& from, const machine::Trace& to, const StaticTable& code) const {
  Grid grid = *this;
  for (SampledGroup& group : grid.samples_)
    for (const machine::WaveTrace*& wave : group.waves) wave = to.waves.data() + (wave - from.waves.data());
  grid.executed_.resize(code.size(), true);
  grid.find_code_lines(code);
  return grid;
}

Coordinates Grid::coordinates(uint64_t id) const {
  return {static_cast<int64_t>(id % shape_[0]), static_cast<int64_t>(id / shape_[0] % shape_[1]),
          static_cast<int64_t>(id / shape_[0] / shape_[1])};
}

// Two bits a dimension: at its first, at its last coordinate.
int Grid::borders(const Coordinates& at) const {
  int flags = 0;
  for (int d = 0; d < 3; ++d) {
    if (shape_[d] < 3) continue;
    flags |= (at[d] == 0) << 2 * d | (at[d] + 1 == shape_[d]) << (2 * d + 1);
  }
  return flags;
}

uint32_t Grid::stand_in(uint64_t id) const {
  const int flags = borders(coordinates(id));
  uint32_t best = 0;
  uint64_t best_distance = ~uint64_t{0};
  for (uint32_t s = 0; s < samples_.size(); ++s) {
    const int differing = __builtin_popcount(static_cast<unsigned>(flags ^ borders(samples_[s].at)));
    const uint64_t away = id > samples_[s].id ? id - samples_[s].id : samples_[s].id - id;
    const uint64_t distance = uint64_t(differing) * count_ + away;
    if (distance < best_distance) best = s, best_distance = distance;
  }
  return best;
}

void Grid::learn_steps(const PatternTable& patterns) {
  for (const SampledGroup& group : samples_)
    for (const machine::WaveTrace* wave : group.waves)
      for (const machine::TraceEvent& e : wave->events)
        if (e.pattern < patterns.size()) rules_[e.instruction].seen = true;

  std::vector<uint8_t> known(rules_.size());
  for (size_t i = 0; i < samples_.size(); ++i)
    for (size_t j = i + 1; j < samples_.size(); ++j) {
      int dimension = -1, differing = 0;
      for (int d = 0; d < 3; ++d)
        if (samples_[i].at[d] != samples_[j].at[d]) dimension = d, ++differing;
      if (differing != 1 || samples_[j].at[dimension] - samples_[i].at[dimension] != 1) continue;
      walk_together(samples_[i], samples_[j], patterns, [&](uint32_t instruction, const auto& a, const auto& b) {
        const auto step = static_cast<int64_t>(lead_address(b, patterns) - lead_address(a, patterns));
        AddressRule& rule = rules_[instruction];
        if (known[instruction] >> dimension & 1) rule.regular &= rule.step[dimension] == step;
        rule.step[dimension] = step;
        known[instruction] |= 1 << dimension;
      });
    }
  for (size_t i = 0; i < rules_.size(); ++i)
    for (int d = 0; d < 3; ++d)
      if (shape_[d] > 1 && !(known[i] >> d & 1)) rules_[i].regular = false;

  // The samples farther away test the rule.
  for (size_t j = 1; j < samples_.size(); ++j)
    walk_together(samples_[0], samples_[j], patterns, [&](uint32_t instruction, const auto& a, const auto& b) {
      AddressRule& rule = rules_[instruction];
      int64_t predicted = 0;
      for (int d = 0; d < 3; ++d) predicted += rule.step[d] * (samples_[j].at[d] - samples_[0].at[d]);
      rule.regular &= predicted == static_cast<int64_t>(lead_address(b, patterns) - lead_address(a, patterns));
    });
}

// An instruction without a rule may gather from a table that every workgroup reads (all samples' ranges lie over each
// other) or walk data of its own (they lie side by side).
void Grid::find_tables(const PatternTable& patterns) {
  struct Span {
    uint64_t low = ~uint64_t{0}, high = 0;
    void add(uint64_t begin, uint64_t end) { low = std::min(low, begin), high = std::max(high, end); }
  };
  std::map<uint32_t, std::vector<Span>> spans; // of irregular instructions, by sample
  for (size_t s = 0; s < samples_.size(); ++s)
    for (const machine::WaveTrace* wave : samples_[s].waves)
      for (const machine::TraceEvent& e : wave->events) {
        if (e.pattern >= patterns.size() || rules_[e.instruction].regular) continue;
        const auto lines = patterns.lines(patterns[e.pattern]);
        if (lines.empty()) continue;
        auto& of_samples = spans[e.instruction];
        of_samples.resize(samples_.size());
        of_samples[s].add(e.base + lines.front().line * line_bytes, e.base + (lines.back().line + 1) * line_bytes);
      }
  for (const auto& [instruction, of_samples] : spans) {
    Span all;
    double covered = 0, present = 0;
    for (const Span& s : of_samples) {
      if (s.high == 0) continue;
      all.add(s.low, s.high);
      covered += double(s.high - s.low);
      ++present;
    }
    rules_[instruction].table = present > 1 && covered > 0.5 * present * double(all.high - all.low);
  }
}

int64_t Grid::shift(uint32_t instruction, const Coordinates& displacement, uint64_t id) const {
  const AddressRule& rule = rules_[instruction];
  if (rule.table) return 0;
  if (!rule.regular) return static_cast<int64_t>((id + 1) << 42); // lines that nobody else has
  const int64_t bytes =
      rule.step[0] * displacement[0] + rule.step[1] * displacement[1] + rule.step[2] * displacement[2];
  return bytes & ~int64_t{line_bytes - 1};
}

void Grid::compute_sharing(const DeviceTable& device, uint32_t resident) {
  const uint64_t at_once = std::min<uint64_t>(count_, uint64_t{device.compute_units} * std::max(1u, resident));
  std::map<std::array<int64_t, 3>, Sharing> by_step;
  std::vector<std::tuple<int64_t, uint32_t, uint32_t>> users; // line, XCD, CU
  for (size_t i = 0; i < rules_.size(); ++i) {
    if (rules_[i].table) {
      const auto cus = float(std::min<uint64_t>(count_, device.compute_units));
      sharing_[i] = {cus / float(std::min<uint64_t>(count_, device.xcds)), cus};
      continue;
    }
    if (!rules_[i].seen || !rules_[i].regular) continue;
    const auto [found, fresh] = by_step.try_emplace(rules_[i].step);
    if (fresh) {
      users.clear();
      for (uint64_t id = 0; id < at_once; ++id) {
        const Coordinates at = coordinates(id);
        int64_t address = 0;
        for (int d = 0; d < 3; ++d) address += rules_[i].step[d] * at[d];
        users.emplace_back(address >> 7, id % device.xcds, id / device.xcds % device.compute_units_per_xcd());
      }
      std::ranges::sort(users);
      size_t lines = 0, on_xcds = 0, on_cus = 0;
      for (size_t u = 0; u < users.size(); ++u) {
        const bool line = u == 0 || std::get<0>(users[u]) != std::get<0>(users[u - 1]);
        const bool xcd = line || std::get<1>(users[u]) != std::get<1>(users[u - 1]);
        lines += line;
        on_xcds += xcd;
        on_cus += xcd || users[u] != users[u - 1];
      }
      found->second = {float(on_cus) / float(on_xcds), float(on_cus) / float(lines)};
    }
    sharing_[i] = found->second;
  }
}

void Grid::compute_footprint(const machine::Trace& trace, const PatternTable& patterns, const StaticTable& code,
                             uint32_t xcds) {
  if (samples_.empty()) return;
  // One workgroup off the border shows the lines; the rules say how many workgroups use each.
  const SampledGroup& group = samples_[samples_.size() / 2];
  struct Touched {
    uint64_t line;
    uint32_t instruction;
  };
  std::vector<Touched> touched;
  std::map<uint32_t, std::pair<uint64_t, uint64_t>> span; // of irregular instructions, over all samples
  for (const SampledGroup& g : samples_)
    for (const machine::WaveTrace* wave : g.waves)
      for (const machine::TraceEvent& e : wave->events) {
        if (!has_address(e, &trace) || trace.patterns[e.pattern].space == machine::Space::lds) continue;
        if (&g == &group)
          for (const LineTouch& t : patterns.lines(patterns[e.pattern]))
            touched.push_back({e.base / line_bytes + t.line, e.instruction});
        if (rules_[e.instruction].regular) continue;
        auto [at, fresh] = span.try_emplace(e.instruction, e.base, e.base);
        at->second.first = std::min(at->second.first, e.base);
        at->second.second = std::max(at->second.second, e.base + 256);
      }
  std::ranges::stable_sort(touched, {}, &Touched::line);
  std::map<uint32_t, double> irregular_lines, kept_irregular_lines;
  double lines = 0, xcd_lines = 0, kept_xcd_lines = 0;
  for (size_t i = 0, next = 0; i < touched.size(); i = next) {
    bool kept = false;
    for (next = i; next < touched.size() && touched[next].line == touched[i].line; ++next)
      kept |= !code[touched[next].instruction].policy.streams_l2;
    const AddressRule& rule = rules_[touched[i].instruction];
    double groups = double(count_);
    if (!rule.regular) {
      irregular_lines[touched[i].instruction] += groups;
      if (kept) kept_irregular_lines[touched[i].instruction] += groups;
      continue;
    }
    for (int d = 0; d < 3; ++d) {
      const int64_t step = std::abs(rule.step[d]);
      if (step < line_bytes) groups /= step == 0 ? shape_[d] : std::min<double>(shape_[d], double(line_bytes) / step);
    }
    lines += groups;
    const Sharing& sharing = sharing_[touched[i].instruction];
    const double on_xcd = groups * double(sharing.device / sharing.xcd) / double(std::min<uint64_t>(xcds, count_));
    xcd_lines += on_xcd;
    if (kept) kept_xcd_lines += on_xcd;
  }
  const auto span_lines = [&](uint32_t instruction) {
    const auto [low, high] = span.at(instruction);
    return double(high - low) / line_bytes + 1;
  };
  const auto on_xcd = [&](uint32_t instruction, double count) {
    return std::min(rules_[instruction].table ? count : count / double(xcds), span_lines(instruction));
  };
  for (const auto& [instruction, count] : irregular_lines) {
    lines += std::min(count, span_lines(instruction));
    xcd_lines += on_xcd(instruction, count);
  }
  for (const auto& [instruction, count] : kept_irregular_lines) kept_xcd_lines += on_xcd(instruction, count);
  xcd_footprint_ = xcd_lines * line_bytes;
  kept_xcd_footprint_ = kept_xcd_lines * line_bytes;
  footprint_ = lines * line_bytes;
}

void Grid::compute_means(const PatternTable& patterns) {
  double lines = 0, shared = 0;
  for (const SampledGroup& group : samples_)
    for (const machine::WaveTrace* wave : group.waves)
      for (const machine::TraceEvent& e : wave->events) {
        if (e.pattern >= patterns.size()) continue;
        const double n = patterns[e.pattern].lines;
        lines += n;
        shared += n / sharing_[e.instruction].xcd;
      }
  mean_xcd_sharing_ = shared > 0 ? lines / shared : 1;

  const uint64_t looks = std::min<uint64_t>(count_, 4096);
  double events = 0;
  for (uint64_t i = 0; i < looks && !samples_.empty(); ++i)
    events += double(samples_[stand_in(count_ * i / looks)].events);
  mean_events_ = looks ? events / double(looks) : 0;
}

} // namespace asmevo::timing
