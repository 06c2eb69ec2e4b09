// The turn-by-turn simulation.
#include "timing/compute_unit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace asmevo::timing {

namespace {

constexpr int64_t never = std::numeric_limits<int64_t>::max() / 4;
constexpr unsigned simds = 4;

struct Outstanding {
  int64_t done = 0;
  int64_t queued = 0;
};

struct Wave {
  const machine::TraceEvent* events = nullptr;
  uint32_t length = 0, position = 0;
  uint32_t group = 0, simd = 0;
  uint32_t trace_group = 0;
  int priority = 0;
  uint64_t age = 0;
  bool ended = false, at_barrier = false;

  Hold hold;                    // hold.ready: when the next instruction may issue at the earliest
  int64_t start_not_before = 0; // MFMA: the pipe starts it no sooner
  int64_t mark = 0;             // charged up to here

  uint64_t fetched_line = ~uint64_t{0};
  int64_t pending_until = 0; // latest time in `rows`
  std::array<int64_t, row_count> rows{};
  struct Issued {
    int64_t time = -1000;
    const StaticOp* op = nullptr;
  };
  std::array<Issued, 3> valu{}; // the last vector instructions, for memory operands
  unsigned valu_next = 0;

  std::array<Outstanding, 64> vm{}; // ring, done times never decrease
  uint64_t vm_count = 0;
  std::array<Outstanding, 16> lgkm{};
  uint64_t lgkm_count = 0;
  Outstanding lgkm_last{}; // the latest of all
};

struct Group {
  uint64_t id = 0;
  Coordinates displacement{};
  bool own_trace = true;
  uint32_t waves = 0, ended = 0, arrived = 0;
};

class ComputeUnit {
public:
  ComputeUnit(const CuProgram& program, const StaticTable& code, const PatternTable& patterns, const Grid& grid,
              const machine::Trace& trace, const DeviceTable& device, const Values& values,
              const Surroundings& surroundings, Ledger* ledger)
      : program_(program), code_(code), patterns_(patterns), grid_(grid), trace_(trace), v_(values),
        memory_(device, values, surroundings),
        icache_(device.instruction_cache_bytes / line_bytes, device.instruction_cache_bytes / line_bytes / 8),
        costs_(cost_table(values)), ledger_(ledger) {
    if (ledger_) memory_.count_uses(code.size());
    for (uint64_t line : grid.code_lines()) icache_.insert(line, {}); // from the launch before, as far as it fits
    for (auto& ring : lds_accepted_) ring.assign(static_cast<size_t>(std::max(1.0, std::round(v_.lds_queue))), 0);
  }

  CuResult run();

private:
  // dispatch.
  void launch_next(int64_t now);
  void launch_wave(uint32_t group, const machine::WaveTrace& trace, int64_t now);

  // issue.
  int64_t turn(unsigned simd, int64_t now);
  bool issue(Wave& wave, int64_t now);
  void retire(Wave& wave, int64_t now);
  void prepare(Wave& wave, int64_t earliest, bool jumped);
  void depend(Wave& wave, const StaticOp& op);
  void depend_on_valu(Wave& wave, const StaticOp& op);
  void fetch(Wave& wave, const StaticOp& op, bool jumped);
  void wait(Wave& wave, const StaticOp& op);
  int64_t blocked_until(const Wave& wave, const StaticOp& op, int64_t now, Stall& why) const;
  int64_t next_after(const Wave& wave, const StaticOp& op, int64_t now, bool& jumped) const;

  void issue_valu(Wave& wave, const StaticOp& op, int64_t now);
  void issue_memory(Wave& wave, const StaticOp& op, const machine::TraceEvent& event, int64_t now);
  Outstanding lds_access(const Wave& wave, const StaticOp& op, const machine::TraceEvent& event, int64_t now);
  void arrive(Wave& wave, int64_t now);
  void set_rows(Wave& wave, const StaticOp& op, int64_t ready, int64_t scalar_ready);
  void push_vm(Wave& wave, const StaticOp& op, Outstanding o);
  void push_lgkm(Wave& wave, const StaticOp& op, Outstanding o);

  // accounting.
  uint32_t instruction_of(const StaticOp& op) const { return static_cast<uint32_t>(&op - &code_[0]); }
  uint32_t index_of(const Wave& wave) const { return static_cast<uint32_t>(&wave - waves_.data()); }
  void charge(Wave& wave, uint32_t instruction, int64_t now);
  void charge_issue(Wave& wave, uint32_t instruction, int64_t until);

  const CuProgram& program_;
  const StaticTable& code_;
  const PatternTable& patterns_;
  const Grid& grid_;
  const machine::Trace& trace_;
  const Values& v_;
  MemoryPath memory_;
  Cache icache_;
  std::array<Cost, size_t(OpClass::priority) + 1> costs_;
  Ledger* ledger_;

  std::vector<Wave> waves_;
  std::vector<uint32_t> free_waves_;
  std::vector<Group> groups_;
  std::array<std::vector<uint32_t>, simds> on_simd_; // oldest first, higher priority before
  std::array<int64_t, simds> next_turn_{never, never, never, never};
  std::array<double, simds> valu_free_{}, mfma_free_{};
  std::array<double, 2> lds_free_{}; // of a SIMD pair
  double bank_free_ = 0;
  std::array<std::vector<int64_t>, 2> lds_accepted_;
  std::array<size_t, 2> lds_oldest_{};
  size_t next_workgroup_ = 0;
  uint32_t resident_ = 0;
  unsigned next_simd_ = 0;
  int64_t next_launch_ = 0; // when the dispatcher and a free place are both there
  double last_arrival_ = 0;
  uint64_t ages_ = 0;
  CuResult result_;
};

int64_t aligned(int64_t time, unsigned simd) { return time + ((static_cast<int64_t>(simd) - time) & 3); }

CuResult ComputeUnit::run() {
  last_arrival_ = program_.arrival_first - program_.arrival_spacing;
  next_launch_ = static_cast<int64_t>(program_.arrival_first);
  for (;;) {
    unsigned simd = 0;
    for (unsigned s = 1; s < simds; ++s)
      if (next_turn_[s] < next_turn_[simd]) simd = s;
    const bool can_launch = next_workgroup_ < program_.workgroups.size() && resident_ < program_.resident;
    if (can_launch && next_launch_ <= next_turn_[simd]) {
      launch_next(next_launch_);
      continue;
    }
    if (next_turn_[simd] >= never) break;
    const int64_t now = std::exchange(next_turn_[simd], never); // a barrier may set it again during the turn
    const int64_t next = turn(simd, now);
    next_turn_[simd] = std::min(next_turn_[simd], next);
  }
  result_.traffic = memory_.traffic();
  result_.uses = memory_.uses();
  return std::move(result_);
}

void ComputeUnit::launch_next(int64_t now) {
  const uint64_t id = program_.workgroups[next_workgroup_++];
  const SampledGroup& sample = grid_.samples()[grid_.stand_in(id)];
  const Coordinates at = grid_.coordinates(id);
  Group group;
  group.id = id;
  group.own_trace = sample.id == id;
  for (int d = 0; d < 3; ++d) group.displacement[d] = at[d] - sample.at[d];
  group.waves = static_cast<uint32_t>(sample.waves.size());
  groups_.push_back(group);
  ++resident_;
  for (const machine::WaveTrace* wave : sample.waves)
    launch_wave(static_cast<uint32_t>(groups_.size() - 1), *wave, now);
  last_arrival_ = std::max(last_arrival_ + program_.arrival_spacing, double(now));
  next_launch_ = static_cast<int64_t>(last_arrival_ + program_.arrival_spacing);
}

void ComputeUnit::launch_wave(uint32_t group, const machine::WaveTrace& trace, int64_t now) {
  if (free_waves_.empty()) {
    free_waves_.push_back(static_cast<uint32_t>(waves_.size()));
    waves_.emplace_back();
  }
  const uint32_t index = free_waves_.back();
  free_waves_.pop_back();
  Wave& wave = waves_[index];
  wave = {};
  wave.events = trace.events.data();
  wave.length = static_cast<uint32_t>(trace.events.size());
  wave.group = group;
  wave.simd = next_simd_;
  wave.age = ages_++;
  wave.mark = now;
  if (ledger_) ledger_->launch(index, wave.simd, groups_[group].id, trace.wave, now);
  next_simd_ = (next_simd_ + 1) % simds;
  if (wave.length == 0) {
    retire(wave, now);
    free_waves_.push_back(index);
    return;
  }
  prepare(wave, now + clocks(v_.wave_start), false);
  wave.hold.reason = Stall::fetch;
  on_simd_[wave.simd].push_back(index);
  next_turn_[wave.simd] = std::min(next_turn_[wave.simd], aligned(wave.hold.ready, wave.simd));
}

int64_t ComputeUnit::turn(unsigned simd, int64_t now) {
  unsigned taken = 0; // categories
  int64_t next = never;
  bool reorder = false, ended = false;
  auto& order = on_simd_[simd];
  for (size_t i = 0; i < order.size(); ++i) {
    Wave& wave = waves_[order[i]];
    if (wave.hold.ready > now) {
      next = std::min(next, wave.hold.ready);
      continue;
    }
    const StaticOp& op = code_[wave.events[wave.position].instruction];
    const unsigned category = 1u << unsigned(op.category);
    int64_t until = now + 4;
    Stall why = Stall::not_selected;
    const bool blocked = op.category != Category::internal &&
                         ((taken & category) != 0 || (until = blocked_until(wave, op, now, why)) > now);
    if (blocked) {
      charge(wave, wave.events[wave.position].instruction, now);
      wave.hold.blocked = why;
      next = std::min(next, until);
      continue;
    }
    if (ledger_) ledger_->issues(order[i], wave.events[wave.position].instruction, wave.hold, now);
    taken |= category;
    reorder |= op.op == OpClass::priority;
    issue(wave, now);
    if (wave.ended)
      ended = true;
    else
      next = std::min(next, wave.hold.ready);
  }
  result_.issue_turns += taken != 0;
  if (ledger_) ledger_->end_turn(simd, now);
  if (ended)
    std::erase_if(order, [&](uint32_t w) {
      if (waves_[w].ended) free_waves_.push_back(w);
      return waves_[w].ended;
    });
  if (reorder)
    std::ranges::sort(order, [&](uint32_t a, uint32_t b) {
      return std::tuple(-waves_[a].priority, waves_[a].age) < std::tuple(-waves_[b].priority, waves_[b].age);
    });
  return next >= never ? never : aligned(std::max(next, now + 4), simd);
}

// A pipe accepts an instruction up to one turn early and starts it when it is free, so that fractional occupancies
// average out as they do in hardware whose pipes run at every clock.
int64_t ComputeUnit::blocked_until(const Wave& wave, const StaticOp& op, int64_t now, Stall& why) const {
  switch (op.category) {
  case Category::valu: {
    double free = valu_free_[wave.simd];
    if (op.op == OpClass::mfma) free = std::max(free, mfma_free_[wave.simd]);
    why = Stall::pipe_busy;
    return free - 3.5 > double(now) ? static_cast<int64_t>(std::ceil(free - 3.5)) : now;
  }
  case Category::vmem:
    why = Stall::memory_throughput;
    return memory_.accepts_from(now);
  case Category::lds: {
    why = Stall::lds_conflict;
    const unsigned pair = wave.simd / 2;
    return std::max(now, lds_accepted_[pair][lds_oldest_[pair]]);
  }
  default:
    return now;
  }
}

bool ComputeUnit::issue(Wave& wave, int64_t now) {
  const machine::TraceEvent& event = wave.events[wave.position];
  const StaticOp& op = code_[event.instruction];
  charge(wave, event.instruction, now);
  ++result_.instructions;

  switch (op.category) {
  case Category::valu:
    issue_valu(wave, op, now);
    break;
  case Category::vmem:
  case Category::lds:
    issue_memory(wave, op, event, now);
    break;
  case Category::scalar:
    if (op.op == OpClass::smem)
      issue_memory(wave, op, event, now);
    else if (costs_[size_t(op.op)].result > 4)
      set_rows(wave, op, now + costs_[size_t(op.op)].result, now + costs_[size_t(op.op)].result);
    break;
  case Category::message:
    if (op.lgkm) push_lgkm(wave, op, {now + clocks(v_.message), 0});
    break;
  default:
    break;
  }

  bool jumped = false;
  const int64_t earliest = next_after(wave, op, now, jumped);
  const int64_t issued = op.op == OpClass::branch ? std::min(earliest, now + 4) : earliest;
  charge_issue(wave, event.instruction, issued);
  if (earliest > issued) {
    wave.hold.reason = Stall::fetch; // a taken branch empties the wave's instruction buffer
    wave.hold.ready = earliest;
    charge(wave, event.instruction, earliest);
  }
  ++wave.position;
  if (op.op == OpClass::priority) wave.priority = op.immediate & 3;
  if (op.op == OpClass::end || wave.position == wave.length) {
    retire(wave, earliest);
    return true;
  }
  if (op.op == OpClass::barrier)
    arrive(wave, now);
  else
    prepare(wave, earliest, jumped);
  return true;
}

int64_t ComputeUnit::next_after(const Wave& wave, const StaticOp& op, int64_t now, bool& jumped) const {
  switch (op.op) {
  case OpClass::nop:
    return now + 4 * ((op.immediate & 15) + 1);
  case OpClass::sleep:
    return now + 64 * std::max(1, op.immediate & 127);
  case OpClass::message:
    return now + std::max<int64_t>(4, clocks(v_.message));
  case OpClass::branch: {
    if (wave.position + 1 >= wave.length) return now + 4;
    const StaticOp& next = code_[wave.events[wave.position + 1].instruction];
    jumped = next.address != op.fallthrough;
    double cost = jumped ? v_.branch_taken : v_.branch_not_taken;
    if (jumped && next.address / 32 != (next.fallthrough - 1) / 32) cost += v_.fetch_split;
    return now + std::max<int64_t>(4, clocks(cost));
  }
  default:
    return now + 4;
  }
}

void ComputeUnit::retire(Wave& wave, int64_t now) {
  wave.ended = true;
  if (ledger_) ledger_->retire(index_of(wave));
  Group& group = groups_[wave.group];
  result_.end = std::max(result_.end, now);
  if (++group.ended < group.waves) {
    // Waves that are gone no longer count at a barrier.
    if (group.arrived && group.arrived + group.ended == group.waves) {
      for (Wave& other : waves_)
        if (!other.ended && other.at_barrier && other.group == wave.group) arrive(other, now);
    }
    return;
  }
  --resident_;
  result_.completions.push_back(now);
  next_launch_ = std::max<int64_t>(static_cast<int64_t>(last_arrival_ + program_.arrival_spacing),
                                   now + clocks(v_.workgroup_turnover));
}

void ComputeUnit::arrive(Wave& wave, int64_t now) {
  Group& group = groups_[wave.group];
  if (!wave.at_barrier) ++group.arrived;
  wave.at_barrier = true;
  wave.hold.ready = never;
  if (group.arrived + group.ended < group.waves) return;
  group.arrived = 0;
  const uint32_t released = wave.group;
  for (Wave& other : waves_) {
    if (other.ended || !other.at_barrier || other.group != released) continue;
    other.at_barrier = false;
    other.hold.ready = std::max(other.mark, now + std::max<int64_t>(4, clocks(v_.barrier_release)));
    other.hold.reason = Stall::barrier;
    charge(other, other.events[other.position - 1].instruction, other.hold.ready);
    prepare(other, other.hold.ready, false);
    next_turn_[other.simd] = std::min(next_turn_[other.simd], aligned(other.hold.ready, other.simd));
  }
}

void ComputeUnit::prepare(Wave& wave, int64_t earliest, bool jumped) {
  const StaticOp& op = code_[wave.events[wave.position].instruction];
  wave.hold = {.ready = earliest, .reason = Stall::dependency};
  wave.start_not_before = 0;
  if (ledger_) ledger_->prepare(index_of(wave), wave.mark);
  if (op.address / line_bytes != wave.fetched_line) fetch(wave, op, jumped);
  if (wave.pending_until > wave.hold.ready) depend(wave, op);
  if (op.category == Category::vmem || op.category == Category::lds) depend_on_valu(wave, op);
  if (op.op == OpClass::waitcnt || op.vm || op.lgkm) wait(wave, op);
}

// Entering a line starts the fill of the next one, so straight-line code stalls at most a little; a branch into an
// uncached line waits for all of the fill.
void ComputeUnit::fetch(Wave& wave, const StaticOp& op, bool jumped) {
  wave.fetched_line = op.address / line_bytes;
  const int64_t filled = wave.hold.ready + clocks(v_.fetch_jump_miss);
  const Cache::Line* here = icache_.find(wave.fetched_line);
  int64_t there = here ? here->ready : filled;
  if (!jumped) there = std::min(there, wave.hold.ready + clocks(v_.fetch_sequential_miss));
  if (!here) icache_.insert(wave.fetched_line, {.ready = there});
  if (!icache_.find(wave.fetched_line + 1)) icache_.insert(wave.fetched_line + 1, {.ready = std::max(there, filled)});
  if (there > wave.hold.ready) wave.hold.ready = there, wave.hold.reason = Stall::fetch;
}

void ComputeUnit::depend(Wave& wave, const StaticOp& op) {
  int64_t latest = wave.hold.ready;
  unsigned latest_row = 0;
  const bool valu = op.category == Category::valu;
  // An SGPR written by VALU reaches another VALU instruction sooner than the scalar unit.
  const int64_t sooner = valu ? clocks(std::max(0.0, v_.valu_to_scalar - v_.valu_dependent)) : 0;
  // Only reads: results are written in order, and code that overwrites a matrix result too early is hazardous anyway.
  for (const RowRange& r : code_.uses(op))
    for (unsigned row = r.first; row < unsigned(r.first) + r.count; ++row)
      if (const int64_t from = wave.rows[row] - (row < row_vgpr ? sooner : 0); from > latest)
        latest = from, latest_row = row;
  if (latest <= wave.hold.ready) return;
  if (ledger_) ledger_->waits_for(index_of(wave), ledger_->writer(index_of(wave), latest_row));
  wave.hold.reason = Stall::dependency;
  if (op.op == OpClass::mfma) {
    wave.start_not_before = latest;
    latest = std::max(wave.hold.ready, latest - 3);
  }
  wave.hold.ready = latest;
}

// Memory instructions read their VGPRs later in the pipe than vector ones and get no forwarded result.
void ComputeUnit::depend_on_valu(Wave& wave, const StaticOp& op) {
  for (const auto& issued : wave.valu) {
    const int64_t from = issued.time + clocks(v_.valu_to_memory);
    if (from <= wave.hold.ready || !code_.feeds(*issued.op, op)) continue;
    wave.hold.ready = from;
    wave.hold.reason = Stall::dependency;
    if (ledger_) ledger_->waits_for(index_of(wave), instruction_of(*issued.op));
  }
}

void ComputeUnit::wait(Wave& wave, const StaticOp& op) {
  // True where `o` is what the wave waits for now.
  const auto until = [&](const Outstanding& o, Stall reason, Stall queue_reason) {
    if (o.done <= wave.hold.ready) return false;
    wave.hold.ready = o.done;
    wave.hold.reason = reason;
    wave.hold.queued = o.queued;
    wave.hold.queue_reason = queue_reason;
    return ledger_ != nullptr;
  };
  const uint32_t index = index_of(wave);
  // A full counter stops the instruction that would raise it further.
  const uint64_t vm_limit = op.op == OpClass::waitcnt ? op.wait_vm : op.vm ? 62 : 63;
  if (vm_limit < 63 && wave.vm_count > vm_limit) {
    const uint64_t number = wave.vm_count - vm_limit - 1;
    if (until(wave.vm[number % 64], Stall::vmcnt, Stall::memory_throughput))
      ledger_->waits_for(index, ledger_->vm(index, number));
  }
  const uint64_t lgkm_limit = op.op == OpClass::waitcnt ? op.wait_lgkm : op.lgkm ? 15u - op.lgkm : 15;
  if (lgkm_limit >= 15 || wave.lgkm_count <= lgkm_limit) return;
  if (lgkm_limit == 0) {
    if (until(wave.lgkm_last, Stall::lgkmcnt, Stall::lds_conflict))
      ledger_->waits_for(index, ledger_->lgkm_latest(index));
    return;
  }
  // At most `limit` may be left: the limit-th latest of what can be outstanding.
  std::array<Outstanding, 16> latest = wave.lgkm;
  const size_t held = std::min<uint64_t>(wave.lgkm_count, 16);
  std::nth_element(latest.begin(), latest.begin() + lgkm_limit, latest.begin() + held,
                   [](const Outstanding& a, const Outstanding& b) { return a.done > b.done; });
  if (held > lgkm_limit && until(latest[lgkm_limit], Stall::lgkmcnt, Stall::lds_conflict)) {
    const auto* same = std::ranges::find(wave.lgkm, latest[lgkm_limit].done, &Outstanding::done);
    ledger_->waits_for(index, ledger_->lgkm(index, static_cast<uint64_t>(same - wave.lgkm.begin())));
  }
}

void ComputeUnit::set_rows(Wave& wave, const StaticOp& op, int64_t ready, int64_t scalar_ready) {
  for (const RowRange& r : code_.defs(op))
    for (unsigned row = r.first; row < unsigned(r.first) + r.count; ++row)
      wave.rows[row] = row < row_vgpr ? scalar_ready : ready;
  wave.pending_until = std::max({wave.pending_until, ready, scalar_ready});
  if (ledger_)
    for (const RowRange& r : code_.defs(op)) ledger_->wrote(index_of(wave), r, instruction_of(op));
}

void ComputeUnit::issue_valu(Wave& wave, const StaticOp& op, int64_t now) {
  const unsigned s = wave.simd;
  wave.valu[wave.valu_next] = {now, &op};
  wave.valu_next = wave.valu_next == 2 ? 0 : wave.valu_next + 1;
  if (op.op == OpClass::mfma) {
    const double start = std::max({double(now), mfma_free_[s], valu_free_[s], double(wave.start_not_before)});
    const double passes = 4.0 * op.mfma_passes;
    mfma_free_[s] = start + passes + v_.mfma_gap;
    valu_free_[s] = start + op.valu_blocked;
    result_.mfma_busy += passes;
    result_.valu_busy += 4;
    const auto done = static_cast<int64_t>(start + passes + v_.mfma_result);
    set_rows(wave, op, done, done);
    return;
  }
  const Cost& cost = costs_[size_t(op.op)];
  const double start = std::max(double(now), valu_free_[s]);
  valu_free_[s] = start + cost.issue;
  result_.valu_busy += cost.issue;
  int64_t result = cost.result;
  if (op.across_lanes) result += clocks(v_.valu_cross_lane);
  const int64_t scalar = op.writes_scalar ? std::max<int64_t>(result, clocks(v_.valu_to_scalar)) : result;
  if (result > 4 || scalar > 4) set_rows(wave, op, now + result, now + scalar);
}

void ComputeUnit::push_vm(Wave& wave, const StaticOp& op, Outstanding o) {
  // In order: nothing returns before what was issued before it.
  const Outstanding* before = wave.vm_count ? &wave.vm[(wave.vm_count - 1) % 64] : nullptr;
  const bool held = before && before->done > o.done;
  if (held) o = *before;
  if (ledger_) ledger_->counted_vm(index_of(wave), wave.vm_count, instruction_of(op), held);
  wave.vm[wave.vm_count++ % 64] = o;
}

void ComputeUnit::push_lgkm(Wave& wave, const StaticOp& op, Outstanding o) {
  const bool latest = o.done >= wave.lgkm_last.done;
  if (ledger_) ledger_->counted_lgkm(index_of(wave), wave.lgkm_count, instruction_of(op), latest);
  wave.lgkm[wave.lgkm_count++ % 16] = o;
  if (latest) wave.lgkm_last = o;
}

void ComputeUnit::issue_memory(Wave& wave, const StaticOp& op, const machine::TraceEvent& event, int64_t now) {
  const bool addressed = event.pattern < patterns_.size();
  const machine::Space space = addressed ? trace_.patterns[event.pattern].space : machine::Space::global;
  const Group& group = groups_[wave.group];
  const auto shift = [&] { return group.own_trace ? 0 : grid_.shift(event.instruction, group.displacement, group.id); };
  Outstanding done{now + 4, 0};
  if (op.op == OpClass::smem) {
    if (addressed) {
      const Completion c = memory_.scalar(event.base + uint64_t(shift()), grid_.sharing(event.instruction), now);
      done = {c.done, c.queued};
    } else {
      done.done = now + clocks(v_.message);
    }
  } else if (op.category == Category::lds || space == machine::Space::lds) {
    done = lds_access(wave, op, event, now);
  } else {
    MemoryPath::Request request;
    if (addressed) {
      request.cost = &patterns_[event.pattern];
      request.lines = patterns_.lines(*request.cost);
      request.base = event.base + uint64_t(shift());
      request.sharing = grid_.sharing(event.instruction);
    }
    request.store = op.store && !op.load;
    request.atomic = op.atomic;
    request.returns = op.returns;
    request.policy = op.policy;
    request.instruction = event.instruction;
    const Completion c = memory_.vector(request, now);
    done = {c.done, c.queued};
    if (op.store) result_.end = std::max(result_.end, done.done);
  }
  for (unsigned i = 0; i < op.vm; ++i) push_vm(wave, op, done);
  for (unsigned i = 0; i < op.lgkm; ++i) push_lgkm(wave, op, done);
}

Outstanding ComputeUnit::lds_access(const Wave& wave, const StaticOp& op, const machine::TraceEvent& event,
                                    int64_t now) {
  const unsigned pair = wave.simd / 2;
  const bool permute = op.op == OpClass::lds_permute;
  double bytes = 256, accesses = 0;
  if (event.pattern < patterns_.size()) {
    bytes = patterns_[event.pattern].bytes;
    accesses = patterns_[event.pattern].lds_accesses;
  }
  const bool write = op.store && !op.load;
  const double data =
      write ? v_.lds_write_fixed + bytes / v_.lds_write_rate : v_.lds_read_fixed + bytes / v_.lds_read_rate;
  if (op.atomic) accesses *= 2; // read, then write back
  const double port = std::max(data, accesses * v_.lds_access);
  const double start = std::max(double(now), lds_free_[pair]);
  const double banks = std::max(start, bank_free_) + accesses * v_.lds_bank_access;
  bank_free_ = banks;
  const double finish = std::max(start + port, banks);
  lds_free_[pair] = finish;
  result_.lds_busy += port;
  lds_accepted_[pair][lds_oldest_[pair]] = static_cast<int64_t>(finish);
  lds_oldest_[pair] = lds_oldest_[pair] + 1 == lds_accepted_[pair].size() ? 0 : lds_oldest_[pair] + 1;
  const double latency = permute ? v_.lds_permute : write ? v_.lds_write_latency : v_.lds_latency;
  return {clocks(finish + latency), static_cast<int64_t>(finish - double(now) - data)};
}

void ComputeUnit::charge(Wave& wave, uint32_t instruction, int64_t now) {
  result_.wave_cycles += double(now - wave.mark);
  if (ledger_) ledger_->stalled(index_of(wave), instruction, wave.hold, wave.mark, now);
  wave.mark = now;
}

void ComputeUnit::charge_issue(Wave& wave, uint32_t instruction, int64_t until) {
  result_.wave_cycles += double(until - wave.mark);
  if (ledger_) ledger_->issued(index_of(wave), instruction, wave.mark, until);
  wave.mark = until;
}

} // namespace

CuResult simulate(const CuProgram& program, const StaticTable& code, const PatternTable& patterns, const Grid& grid,
                  const machine::Trace& trace, const DeviceTable& device, const Values& values,
                  const Surroundings& surroundings, Ledger* ledger) {
  return ComputeUnit(program, code, patterns, grid, trace, device, values, surroundings, ledger).run();
}

} // namespace asmevo::timing
