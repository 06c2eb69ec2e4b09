#include "analysis/waits.h"

#include "analysis/memory.h"
#include "analysis/scoreboard.h"

#include <set>
#include <unordered_map>

namespace asmevo::analysis {
namespace {

using isa::Instruction;
using recover::Function;
using recover::Item;
using recover::Program;

constexpr size_t slot_of(Access access) { return access_slot + static_cast<size_t>(access); }

/// What an operation that is still in flight is called, and the rules for reading and overwriting its result.
struct Source {
  std::string_view noun, read_rule, overwrite_rule, counter;
};

Source source_of(const Instruction& i) {
  if (i.traits.smem) return {"scalar load", "W005", "W006", "lgkmcnt(0)"};
  if (i.traits.flat) return {"FLAT load", "W007", "W007", "vmcnt(0) lgkmcnt(0)"};
  if (i.traits.vmem) return {"vector memory load", "W001", "W002", "vmcnt"};
  return {"LDS operation", "W003", "W004", "lgkmcnt"};
}

/// Calls `visit(counter, slot, overwritten)` for every register that the instruction may not touch yet.
template <class Visit>
void conflicts(const Scoreboard& board, const Instruction& i, const RegisterMap& registers, Visit&& visit) {
  const Pending &vm = board[Counter::vm], &lgkm = board[Counter::lgkm], &exp = board[Counter::exp];
  registers.each(i.uses, [&](size_t unit) {
    if (vm.waits_for(unit)) visit(Counter::vm, unit, false);
    if (lgkm.waits_for(unit)) visit(Counter::lgkm, unit, false);
  });
  // A load may overwrite what an earlier load of the same kind will bring: they finish in order.
  const bool vm_in_order = i.traits.vmem && !i.traits.flat, lds_in_order = i.traits.lds && !i.traits.vmem;
  registers.each(i.defs, [&](size_t unit) {
    if (vm.waits_for(unit) && !(vm_in_order && vm.in_order(unit))) visit(Counter::vm, unit, true);
    if (lgkm.waits_for(unit) && !(lds_in_order && lgkm.in_order(unit))) visit(Counter::lgkm, unit, true);
    if (exp.waits_for(unit)) visit(Counter::exp, unit, true);
  });
}

void strengthen(Wait& wait, Counter counter, uint8_t count) {
  uint8_t& field = counter == Counter::vm ? wait.vmcnt : counter == Counter::lgkm ? wait.lgkmcnt : wait.expcnt;
  field = std::min(field, count);
}

bool releases(const Instruction& i) { return i.traits.vmem && i.traits.may_store; }

/// The order among accesses that a rule of verify_waits asks for, whatever the registers.
Wait rule_wait(const Scoreboard& board, const Instruction& i) {
  Wait wait;
  const Pending &vm = board[Counter::vm], &lgkm = board[Counter::lgkm];
  if (i.traits.barrier)
    for (Access access : {Access::lds_read, Access::lds_write})
      if (lgkm.waits_for(slot_of(access))) strengthen(wait, Counter::lgkm, lgkm.count_for(slot_of(access)));
  if (releases(i) && vm.waits_for(writeback_slot)) strengthen(wait, Counter::vm, 0);
  return wait;
}

Wait pin_wait(const Scoreboard& board, const Pin& pin) {
  Wait wait;
  const auto need = [&](Counter counter, Access access, uint8_t at_most) {
    const Pending& pending = board[counter];
    if ((pin.done & bit(access)) != 0 && pending.waits_for(slot_of(access)))
      strengthen(wait, counter, pending.count_for(slot_of(access)));
    if ((pin.counted & bit(access)) != 0 && at_most < counter_maximum[static_cast<size_t>(counter)] &&
        pending.older_than(access, at_most))
      strengthen(wait, counter, at_most);
  };
  for (size_t k = 0; k < access_kinds; ++k) {
    need(Counter::vm, static_cast<Access>(k), pin.at_most.vmcnt);
    need(Counter::lgkm, static_cast<Access>(k), pin.at_most.lgkmcnt);
  }
  if (pin.free.none()) return wait;
  for (Counter counter : {Counter::vm, Counter::lgkm})
    for (size_t unit = 0; unit < register_bits; ++unit)
      if (pin.free.test(unit) && board[counter].waits_for(unit))
        strengthen(wait, counter, board[counter].count_for(unit));
  return wait;
}

Wait stronger(const Wait& a, const Wait& b) {
  return {std::min(a.vmcnt, b.vmcnt), std::min(a.expcnt, b.expcnt), std::min(a.lgkmcnt, b.lgkmcnt)};
}

/// The dataflow. `Repair` puts in the waits that are needed while it walks; without it only those of the program count.
class Flow {
public:
  Flow(const Program& program, const Function& function, const Graph& graph)
      : program_(program), function_(function), graph_(graph), registers_(program, function) {}

  void repair_with(std::span<const Pin> pins) {
    repairs_ = true;
    keep(pins);
    needed_.resize(function_.last - function_.first);
  }
  void keep(std::span<const Pin> pins) {
    for (const Pin& pin : pins) pins_.emplace(pin.item, &pin);
  }
  /// Takes these waits for what the program's items say.
  void assume(const std::unordered_map<size_t, Wait>& waits) { assumed_ = &waits; }

  /// Runs to the fixed point, then calls `visit(item, board before it)` for every item that is reached.
  template <class Visit> void run(Visit&& visit) {
    entry_.assign(graph_.blocks.size(), Scoreboard());
    reached_.assign(graph_.blocks.size(), false);
    for (uint32_t b : graph_.entries) {
      reached_[b] = true;
      if (function_.kernel < 0) entry_[b].forget(static_cast<uint32_t>(function_.first));
    }
    const std::vector<uint32_t> order = reverse_postorder(graph_);
    std::vector<bool> dirty = reached_;
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t b : order) {
        if (!dirty[b]) continue;
        dirty[b] = false;
        const Scoreboard out = walk(b, [](size_t, const Scoreboard&) {});
        for (uint32_t s : graph_.blocks[b].successors) {
          const bool grew = reached_[s] ? entry_[s].join(out) : (entry_[s] = out, true);
          reached_[s] = true;
          dirty[s] = dirty[s] || grew;
          changed |= grew;
        }
      }
    }
    for (uint32_t b = 0; b < graph_.blocks.size(); ++b)
      if (reached_[b]) walk(b, visit);
  }

  /// The effect of an item on the board, its own needs aside.
  void pass(size_t item, Scoreboard& board) const {
    if (!is_instruction(program_.items[item])) return;
    const Instruction& instruction = program_.items[item].instruction;
    if (instruction.traits.waitcnt) {
      board.wait(stated(item, instruction));
      return;
    }
    if (is_call(instruction)) board = Scoreboard(); // a callee waits for everything before it returns
    board.issue(instruction, registers_, static_cast<uint32_t>(item));
  }

  const std::vector<Wait>& needed() const { return needed_; }
  const RegisterMap& registers() const { return registers_; }

private:
  template <class Visit> Scoreboard walk(uint32_t b, Visit&& visit) {
    Scoreboard board = entry_[b];
    for (size_t i = graph_.blocks[b].first; i < graph_.blocks[b].last; ++i) {
      visit(i, board);
      const Instruction& instruction = program_.items[i].instruction;
      if (!is_instruction(program_.items[i])) {
        if (repairs_ && program_.items[i].kind != recover::ItemKind::label && pins_.contains(i))
          repair(i, instruction, board);
        continue;
      }
      if (repairs_ && !instruction.traits.waitcnt) repair(i, instruction, board);
      pass(i, board);
    }
    // A pin on a label is about the path that falls into it: what it needs is put at the end of the block before.
    if (const size_t next = graph_.blocks[b].last; repairs_ && next < function_.last && pins_.contains(next) &&
                                                   program_.items[next].kind == recover::ItemKind::label)
      repair(next, {}, board);
    return board;
  }

  Wait stated(size_t item, const Instruction& instruction) const {
    if (assumed_)
      if (const auto found = assumed_->find(item); found != assumed_->end()) return found->second;
    return waits_of(instruction);
  }

  void repair(size_t item, const Instruction& instruction, Scoreboard& board) {
    const Wait wait = needs(item, instruction, board);
    board.wait(wait);
    needed_[item - function_.first] = wait;
  }

public:
  /// The wait that `item` needs on top of what the board says.
  Wait needs(size_t item, const Instruction& instruction, const Scoreboard& board) const {
    const auto [first, last] = pins_.equal_range(item);
    bool lenient = false;
    Wait wait;
    for (auto pin = first; pin != last; ++pin) {
      wait = stronger(wait, pin_wait(board, *pin->second));
      lenient |= pin->second->lenient;
    }
    if (!lenient) wait = stronger(wait, rule_wait(board, instruction));
    conflicts(board, instruction, registers_,
              [&](Counter counter, size_t slot, bool) { strengthen(wait, counter, board[counter].count_for(slot)); });
    if (graph_.blocks[graph_.block_of[item - function_.first]].returns && instruction.traits.terminator)
      wait = stronger(wait, {board[Counter::vm].outstanding() > 0 ? uint8_t{0} : uint8_t{63}, 7,
                             board[Counter::lgkm].outstanding() > 0 ? uint8_t{0} : uint8_t{15}});
    return wait;
  }

private:
  const Program& program_;
  const Function& function_;
  const Graph& graph_;
  RegisterMap registers_;
  std::vector<Scoreboard> entry_;
  std::vector<bool> reached_;
  bool repairs_ = false;
  std::unordered_multimap<size_t, const Pin*> pins_;
  const std::unordered_map<size_t, Wait>* assumed_ = nullptr;
  std::vector<Wait> needed_;
};

class Reporter {
public:
  Reporter(const Program& program, const Graph& graph, const Function& function, const RegisterMap& registers)
      : program_(program), graph_(graph), function_(function), registers_(registers) {}

  void look(size_t item, const Scoreboard& board) {
    if (!is_instruction(program_.items[item])) return;
    const Instruction& i = program_.items[item].instruction;
    if (i.traits.waitcnt) return;
    conflicts(board, i, registers_, [&](Counter counter, size_t slot, bool overwritten) {
      register_finding(item, board[counter].cause(slot), counter, slot, overwritten, board[counter].count_for(slot));
    });
    order_findings(item, i, board);
  }

  std::vector<Finding> findings;

private:
  void add(std::string_view rule, size_t item, size_t cause, std::string message) {
    if (!seen_.insert({std::string(rule), item, cause}).second) return;
    findings.push_back({std::string(rule), item, cause, std::move(message)});
  }

  void register_finding(size_t item, size_t cause, Counter counter, size_t slot, bool overwritten, uint8_t count) {
    const Item &at = program_.items[item], &from = program_.items[cause];
    const std::string_view verb = overwritten ? "overwrites" : "reads";
    if (counter == Counter::exp)
      return add("W008", item, cause,
                 fmt::format("{} overwrites {} while {} may still read it: expcnt(0) is missing", place_of(at),
                             register_name(slot), place_of(from)));
    if (!is_instruction(from) || cause == function_.first)
      if (function_.kernel < 0 && !is_load_of(from, slot))
        return add("W012", item, cause,
                   fmt::format("{} {} {}, which a caller may still be loading: a function begins with s_waitcnt 0",
                               place_of(at), verb, register_name(slot)));
    const Source source = source_of(from.instruction);
    const bool counted = source.counter.find('(') == std::string_view::npos;
    add(overwritten ? source.overwrite_rule : source.read_rule, item, cause,
        fmt::format("{} {} {} before the {} at {} has finished: {}{} is missing", place_of(at), verb,
                    register_name(slot), source.noun, place_of(from), source.counter,
                    counted ? fmt::format("({})", count) : ""));
  }

  bool is_load_of(const Item& from, size_t slot) const {
    bool found = false;
    if (is_instruction(from)) registers_.each(from.instruction.defs, [&](size_t unit) { found |= unit == slot; });
    return found && (from.instruction.traits.may_load || from.instruction.traits.smem);
  }

  void order_findings(size_t item, const Instruction& i, const Scoreboard& board) {
    const Pending &vm = board[Counter::vm], &lgkm = board[Counter::lgkm];
    const Item& at = program_.items[item];
    const auto from = [&](size_t cause) { return place_of(program_.items[cause]); };
    if (const size_t slot = slot_of(Access::lds_write); i.traits.barrier && lgkm.waits_for(slot))
      add("W009", item, lgkm.cause(slot),
          fmt::format("{} is reached before the LDS write {} has finished: lgkmcnt({}) is missing", place_of(at),
                      from(lgkm.cause(slot)), lgkm.count_for(slot)));
    constexpr AccessMask writes_lds = bit(Access::lds_write) | bit(Access::load_to_lds);
    if (const uint32_t read = board.read_over_barrier;
        read != Scoreboard::nowhere && (accesses_of(i) & writes_lds) != 0 && !i.traits.flat)
      add("W010", item, read,
          fmt::format("{} may overwrite what another wave still reads: the LDS read {} was not waited for before the "
                      "barrier",
                      place_of(at), from(read)));
    if (releases(i) && vm.waits_for(writeback_slot))
      add("W011", item, vm.cause(writeback_slot),
          fmt::format("{} is issued before the write-back {} has finished: vmcnt(0) is missing", place_of(at),
                      from(vm.cause(writeback_slot))));
    const Block& block = graph_.blocks[graph_.block_of[item - function_.first]];
    if (block.returns && i.traits.terminator && (vm.outstanding() > 0 || lgkm.outstanding() > 0))
      add("W013", item, item,
          fmt::format("{} returns with memory operations outstanding: s_waitcnt 0 is missing", place_of(at)));
  }

  const Program& program_;
  const Graph& graph_;
  const Function& function_;
  const RegisterMap& registers_;
  std::set<std::tuple<std::string, size_t, size_t>> seen_;
};

} // namespace

std::vector<Finding> verify_waits(const Program& program, const Function& function, const Graph& graph) {
  Flow flow(program, function, graph);
  Reporter reporter(program, graph, function, flow.registers());
  flow.run([&](size_t item, const Scoreboard& board) { reporter.look(item, board); });
  return std::move(reporter.findings);
}

std::vector<Wait> needed_waits(const Program& program, const Function& function, const Graph& graph, size_t first,
                               size_t last, std::span<const Pin> pins) {
  Flow flow(program, function, graph);
  flow.repair_with(pins);
  flow.run([](size_t, const Scoreboard&) {});
  const auto begin = flow.needed().begin() - static_cast<std::ptrdiff_t>(function.first);
  return {begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(last)};
}

namespace {

constexpr AccessMask lds = bit(Access::lds_read) | bit(Access::lds_write),
                     vector_memory = bit(Access::load) | bit(Access::store) | bit(Access::load_to_lds);

bool is_cache_control(std::string_view name) {
  return name.starts_with("buffer_wb") || name.starts_with("buffer_inv") || name.starts_with("s_dcache");
}

/// Which earlier accesses an instruction may be meant to come after.
AccessMask ordered_before(const Instruction& i) {
  if (i.traits.barrier) return lds | vector_memory;
  if (i.traits.smem || i.traits.vmem)
    if (is_cache_control(name_of(i))) return lds | vector_memory;
  if (name_of(i).starts_with("s_sendmsg")) return lds | vector_memory;
  const AccessMask own = accesses_of(i);
  AccessMask before = 0;
  if ((own & bit(Access::store)) != 0 || i.traits.atomic) before |= lds | vector_memory;
  if ((own & lds) != 0) before |= bit(Access::load_to_lds);
  if ((own & bit(Access::load_to_lds)) != 0) before |= lds | bit(Access::load_to_lds);
  if (i.traits.flat) before |= lds | vector_memory;
  return before;
}

} // namespace

std::vector<Pin> memory_pins(const Program& program, const Function& function, const Graph& graph) {
  std::vector<Pin> pins;
  const BarrierStores stores(program, function, graph);
  Flow flow(program, function, graph);
  flow.run([&](size_t item, const Scoreboard& board) {
    if (!is_instruction(program.items[item])) return;
    AccessMask before = ordered_before(program.items[item].instruction);
    // Loads that no one stores to before the next barrier may be in flight at this one.
    if (program.items[item].instruction.traits.barrier && !stores.behind(item)) before &= ~bit(Access::load);
    if (before == 0) return;
    Pin pin{.item = item, .at_most = {board[Counter::vm].outstanding(), 7, board[Counter::lgkm].outstanding()}};
    for (size_t k = 0; k < access_kinds; ++k) {
      const AccessMask access = before & (1u << k);
      const bool outstanding =
          board[Counter::vm].waits_for(access_slot + k) || board[Counter::lgkm].waits_for(access_slot + k);
      (outstanding ? pin.counted : pin.done) |= access;
    }
    pin.lenient = program.items[item].instruction.traits.barrier && (pin.counted & lds) != 0;
    pins.push_back(pin);
  });
  std::ranges::sort(pins, {}, &Pin::item);
  return pins;
}

RegisterSet settled_registers(const Program& program, const Function& function, const Graph& graph, size_t wanted) {
  RegisterSet settled = ~RegisterSet();
  Flow flow(program, function, graph);
  // What is outstanding behind the instruction before a label is what falls into the label.
  const bool label = program.items[wanted].kind == recover::ItemKind::label && wanted > function.first;
  const size_t seen = label ? wanted - 1 : wanted;
  flow.run([&](size_t item, const Scoreboard& before) {
    if (item != seen) return;
    Scoreboard board = before;
    if (label) flow.pass(item, board);
    for (size_t unit = 0; unit < register_bits; ++unit)
      if (board[Counter::vm].waits_for(unit) || board[Counter::lgkm].waits_for(unit)) settled.reset(unit);
  });
  return settled;
}

InFlight in_flight_before(const Program& program, const Function& function, const Graph& graph, size_t wanted) {
  InFlight in_flight;
  Flow flow(program, function, graph);
  flow.run([&](size_t item, const Scoreboard& board) {
    if (item != wanted) return;
    const Pending &vm = board[Counter::vm], &lgkm = board[Counter::lgkm];
    in_flight = {vm.outstanding(), lgkm.outstanding(), board[Counter::exp].outstanding(), {}, {}};
    for (size_t unit = 0; unit < register_bits; ++unit) {
      in_flight.vector_memory.set(unit, vm.waits_for(unit));
      in_flight.lds_or_scalar.set(unit, lgkm.waits_for(unit));
    }
  });
  return in_flight;
}

namespace {

/// Whether the waits suffice everywhere.
bool suffices(const Program& program, const Function& function, const Graph& graph, std::span<const Pin> pins,
              const std::unordered_map<size_t, Wait>& waits) {
  Flow flow(program, function, graph);
  flow.keep(pins);
  flow.assume(waits);
  bool enough = true;
  flow.run([&](size_t item, const Scoreboard& board) {
    if (!enough || !is_instruction(program.items[item])) return;
    const Instruction& instruction = program.items[item].instruction;
    if (!instruction.traits.waitcnt) enough = flow.needs(item, instruction, board).none();
  });
  return enough;
}

} // namespace

std::vector<Relaxed> relaxed_waits(const Program& program, const Function& function, const Graph& graph, size_t first,
                                   size_t last) {
  const std::vector<Pin> pins = memory_pins(program, function, graph);
  std::unordered_map<size_t, Wait> waits;
  std::vector<Relaxed> relaxed;
  if (!suffices(program, function, graph, pins, waits)) return relaxed; // what is broken is not made weaker
  for (size_t item = first; item < last; ++item) {
    if (!is_instruction(program.items[item]) || !program.items[item].instruction.traits.waitcnt) continue;
    const Wait stated = waits_of(program.items[item].instruction);
    Wait& wait = waits[item] = stated;
    const auto weaken = [&](uint8_t& field, uint8_t maximum) {
      uint8_t good = field, bad = maximum + 1; // the weakest count that suffices lies in [good, bad)
      while (good + 1 < bad) {
        // Nothing at all is tried first: it is what most waits that are too strong come down to.
        const auto middle = static_cast<uint8_t>(bad > maximum ? maximum : (good + bad) / 2);
        field = middle;
        (suffices(program, function, graph, pins, waits) ? good : bad) = middle;
      }
      field = good;
    };
    if (stated.vmcnt < 63) weaken(wait.vmcnt, 63);
    if (stated.lgkmcnt < 15) weaken(wait.lgkmcnt, 15);
    if (stated.expcnt < 7) weaken(wait.expcnt, 7);
    if (wait != stated) relaxed.push_back({item, wait});
  }
  return relaxed;
}

} // namespace asmevo::analysis
