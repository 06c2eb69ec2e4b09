#include "machine/strict/path.h"

#include <algorithm>
#include <bit>

namespace asmevo::machine::strict {

namespace {

using isa::Instruction;
using isa::RegisterRange;

constexpr size_t max_nodes = size_t{1} << 17;

analysis::RegisterMap map_of(const isa::Target& target, uint32_t accum_offset) {
  return target.unified_registers() ? analysis::RegisterMap::unified(accum_offset) : analysis::RegisterMap();
}

bool is_write_back(const Instruction& i) { return i.traits.vmem && !i.traits.may_load && !i.traits.may_store; }

/// Where a result that is on its way meets registers that an instruction touches.
std::optional<std::string> meeting(std::span<const RegisterRange> results, std::span<const RegisterRange> touched,
                                   const analysis::RegisterMap& registers) {
  for (const RegisterRange& a : results)
    for (const RegisterRange& b : touched) {
      if (!registers.overlap(a, b)) continue;
      const size_t first = registers.first_of(a), other = registers.first_of(b);
      return register_name(b, first > other ? uint32_t(first - other) : 0);
    }
  return std::nullopt;
}

/// The weakest wait that frees operation `k`.
std::string wait_for(const InFlight& flight, size_t k) {
  const auto operations = flight.operations();
  const Outstanding& op = operations[k];
  unsigned vm = 0, lgkm = 0;
  for (const Outstanding& later : operations.subspan(k + 1)) {
    vm += later.vm == Order::in_order;
    lgkm += later.lgkm == Order::in_order;
  }
  if (op.vm == Order::any_order) vm = 0;
  if (op.lgkm == Order::any_order) lgkm = 0;
  if (op.vm != Order::none && op.lgkm != Order::none) return fmt::format("vmcnt({}) lgkmcnt({})", vm, lgkm);
  return op.vm != Order::none ? fmt::format("vmcnt({})", vm) : fmt::format("lgkmcnt({})", lgkm);
}

std::string_view noun(const Instruction& i) {
  if (i.traits.smem) return "scalar load";
  if (i.traits.flat) return "FLAT load";
  if (i.traits.vmem) return "load";
  return "LDS operation";
}

uint64_t hash_of(const PathNode& node) {
  uint64_t hash = node.instruction | uint64_t{node.stores_outstanding} << 32;
  auto mix = [&](uint64_t value) { hash = (std::rotl(hash, 7) ^ value) * 0x9e3779b97f4a7c15; };
  for (const Outstanding& op : node.in_flight.operations())
    mix(op.instruction | uint64_t(op.vm) << 32 | uint64_t(op.lgkm) << 40);
  for (const analysis::Recent& r : node.recent)
    mix(r.item | uint64_t{r.distance} << 32 | uint64_t{r.between} << 40), mix(r.overwritten);
  for (const Objection& o : node.objections) mix(uint64_t(o.kind) | uint64_t{o.cause} << 8 | uint64_t{1} << 63);
  return hash;
}

bool same(const PathNode& a, const PathNode& b) {
  auto same_objection = [](const Objection& x, const Objection& y) {
    return x.kind == y.kind && x.cause == y.cause && x.message == y.message;
  };
  return a.instruction == b.instruction && a.stores_outstanding == b.stores_outstanding && a.in_flight == b.in_flight &&
         a.recent == b.recent && std::ranges::equal(a.objections, b.objections, same_objection);
}

} // namespace

std::string register_name(const RegisterRange& range, uint32_t index) {
  switch (range.file) {
  case isa::File::vgpr:
    return fmt::format("v{}", range.first + index);
  case isa::File::agpr:
    return fmt::format("a{}", range.first + index);
  default:
    return analysis::register_name(analysis::RegisterMap().first_of(range) + index);
  }
}

Paths::Paths(const Image::Impl& image, uint32_t accum_offset)
    : image_(image), table_(image.target.processor, map_of(image.target, accum_offset)) {
  for (const Instruction& i : image.instructions) know(i);
  PathNode start;
  start.instruction = ~0u;
  start_ = keep(std::move(start));
}

Paths::~Paths() = default;

void Paths::know(const Instruction& i) {
  classes_.push_back(table_.classify(i));
  reach_.push_back(uint8_t(table_.reach(i, classes_.back())));
  counters_.push_back(counter_use(i));
}

void Paths::add(Instruction instruction) {
  added_.push_back(std::move(instruction));
  know(added_.back());
}

PathNode* Paths::keep(PathNode&& node) {
  const uint64_t hash = hash_of(node);
  auto [first, last] = nodes_.equal_range(hash);
  for (; first != last; ++first)
    if (same(*first->second, node)) return first->second.get();
  return nodes_.emplace(hash, std::make_unique<PathNode>(std::move(node)))->second.get();
}

PathNode* Paths::find(PathNode* from, uint32_t index) {
  if (auto known = from->more_.find(index); known != from->more_.end()) return known->second;
  PathNode next;
  next.instruction = index;
  next.in_flight = from->in_flight;
  next.recent = from->recent;
  if (nodes_.size() >= max_nodes) { // what lies behind is forgotten: nothing can be objected to
    cut_ = true;
    next.in_flight.clear();
    next.recent.clear();
  }
  next.stores_outstanding = std::ranges::any_of(from->in_flight.operations(), [&](const Outstanding& op) {
    return instruction(op.instruction).traits.may_store;
  });
  look_for_states(index, next);
  look_for_waits(from->in_flight, index, next);
  pass(index, next);
  next.objectionable = !next.objections.empty();
  PathNode* to = keep(std::move(next));
  for (PathNode::Step& step : from->steps_) {
    if (step.to) continue;
    step = {index, to};
    return to;
  }
  from->more_.emplace(index, to);
  return to;
}

void Paths::look_for_states(uint32_t index, PathNode& node) const {
  const Instruction& i = instruction(index);
  for (const analysis::Recent& recent : node.recent) {
    const Instruction& producer = instruction(recent.item);
    const analysis::Requirement needs =
        table_.required(producer, classes_[recent.item], i, classes_[index], recent.between, recent.overwritten);
    if (needs.states <= recent.distance) continue;
    node.objections.push_back({FindingKind::hazard, recent.item,
                               fmt::format("{}: needs {} wait states, has {} ({})", needs.rule->what, needs.states,
                                           recent.distance, needs.rule->id)});
  }
}

void Paths::look_for_waits(const InFlight& before, uint32_t index, PathNode& node) const {
  const Instruction& i = instruction(index);
  if (i.traits.waitcnt) return;
  // A load may overwrite what an earlier load of the same kind will bring: they finish in order.
  const bool vm_in_order = i.traits.vmem && !i.traits.flat, lds_in_order = i.traits.lds && !i.traits.vmem;
  const auto operations = before.operations();
  for (size_t k = 0; k < operations.size(); ++k) {
    const Outstanding& op = operations[k];
    const Instruction& producer = instruction(op.instruction);
    auto object = [&](std::string message) {
      const bool known = std::ranges::any_of(node.objections, [&](const Objection& o) {
        return o.kind == FindingKind::missing_wait && o.cause == op.instruction;
      });
      if (known) return;
      node.objections.push_back({FindingKind::missing_wait, op.instruction,
                                 fmt::format("{}: s_waitcnt {} is missing", message, wait_for(before, k))});
    };
    if (is_write_back(producer) && i.traits.vmem && i.traits.may_store)
      object("is issued before the write-back of the cache has finished");
    if (auto name = meeting(producer.defs, i.uses, table_.registers())) {
      object(fmt::format("reads {} before the {} has finished", *name, noun(producer)));
      continue;
    }
    const bool comes_after = (vm_in_order && op.vm == Order::in_order && op.lgkm == Order::none) ||
                             (lds_in_order && op.lgkm == Order::in_order && op.vm == Order::none);
    if (comes_after) continue;
    if (auto name = meeting(producer.defs, i.defs, table_.registers()))
      object(fmt::format("overwrites {}, which the {} has yet to write", *name, noun(producer)));
  }
}

void Paths::pass(uint32_t index, PathNode& node) const {
  const Instruction& i = instruction(index);
  const unsigned states = analysis::wait_states(i);
  for (analysis::Recent& recent : node.recent)
    table_.pass(recent, instruction(recent.item), i, classes_[index], states);
  std::erase_if(node.recent,
                [&](const analysis::Recent& r) { return r.distance >= reach_[r.item] || r.item == index; });
  if (reach_[index]) node.recent.push_back({index, 0, 0});
  const auto finished = [](size_t) {};
  if (!counters_[index].wait.none()) node.in_flight.wait(counters_[index].wait, finished);
  if (counters_[index].issues()) node.in_flight.issue(index, counters_[index], finished);
}

} // namespace asmevo::machine::strict
