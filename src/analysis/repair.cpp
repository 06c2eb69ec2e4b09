#include "analysis/repair.h"

#include "analysis/dependence.h"
#include "analysis/hazards.h"

#include <algorithm>
#include <set>

namespace asmevo::analysis {
namespace {

using isa::Instruction;
using recover::Function;
using recover::Item;
using recover::ItemKind;
using recover::Program;

/// A program of one function alone: what the analyses look at, cheap to change.
struct Alone {
  Program program;
  Function function;
};

Alone alone(const Program& program, const Function& function) {
  Alone result;
  result.program.target = program.target;
  result.program.origin = program.origin;
  result.program.declared = program.declared;
  result.function = function;
  result.function.first = 0;
  return result;
}

/// In-order operations of one counter: how the ages of pins are counted.
bool counts(const Instruction& i, bool vector_memory) {
  const isa::CounterEvents events = counter_events(i);
  if (i.traits.flat) return false;
  if (vector_memory) return events.vmcnt != 0 && (i.traits.may_load || i.traits.may_store);
  return events.lgkmcnt != 0 && i.traits.lds && !i.traits.vmem;
}

/// Carries pins over into a new order of [first, last). A pin of the original names counts; here they are turned into
/// the operations that had completed, and back into counts by where those stand now.
class PinMover {
public:
  PinMover(const Program& program, size_t first, size_t last, std::span<const size_t> order)
      : program_(program), first_(first), order_(order) {
    for (size_t i = first; i < last; ++i) flat_ |= is_instruction(at(i)) && at(i).instruction.traits.flat;
  }

  std::vector<Pin> moved(const Pin& pin, size_t new_item) const {
    if (flat_) { // no order to count by: everything that had completed, completes
      Pin same = pin;
      same.item = new_item;
      return {same};
    }
    std::vector<Pin> pins;
    for (bool vector_memory : {true, false}) {
      if (pin.done != 0) pins.push_back(recounted(pin, new_item, pin.done, vector_memory, 0));
      const uint8_t at_most = vector_memory ? pin.at_most.vmcnt : pin.at_most.lgkmcnt;
      if (pin.counted != 0) pins.push_back(recounted(pin, new_item, pin.counted, vector_memory, at_most));
    }
    return pins;
  }

private:
  const Item& at(size_t item) const { return program_.items[item]; }
  bool counts(size_t item, bool vector_memory) const {
    return is_instruction(at(item)) && analysis::counts(at(item).instruction, vector_memory);
  }

  Pin recounted(const Pin& pin, size_t new_item, AccessMask accesses, bool vector_memory, uint8_t allowed) const {
    std::vector<size_t> before; // the counted operations of the stretch before the pin, youngest first
    for (size_t i = pin.item; i-- > first_;)
      if (counts(i, vector_memory)) before.push_back(i);
    std::vector<size_t> completed;
    for (size_t age = allowed; age < before.size(); ++age)
      if ((accesses_of(at(before[age]).instruction) & accesses) != 0) completed.push_back(before[age]);

    const auto here = std::ranges::find(order_, pin.item);
    size_t younger = 0;
    bool found = false;
    for (auto it = std::make_reverse_iterator(here); it != order_.rend() && !found; ++it) {
      if (std::ranges::find(completed, *it) != completed.end())
        found = true;
      else
        younger += counts(*it, vector_memory);
    }
    // Of what was issued before the stretch the original left this much.
    if (!found) younger += allowed > before.size() ? allowed - before.size() : 0;
    Pin result{.item = new_item, .counted = accesses, .lenient = pin.lenient};
    if (vector_memory)
      result.at_most.vmcnt = static_cast<uint8_t>(std::min<size_t>(younger, 63));
    else
      result.at_most.lgkmcnt = static_cast<uint8_t>(std::min<size_t>(younger, 15));
    return result;
  }

  const Program& program_;
  size_t first_;
  std::span<const size_t> order_;
  bool flat_ = false;
};

Item waiting_item(uint16_t immediate, uint32_t word, const isa::Codec& codec) {
  const uint32_t encoded = word | immediate;
  std::array<uint8_t, 4> bytes{};
  for (size_t b = 0; b < 4; ++b) bytes[b] = static_cast<uint8_t>(encoded >> (8 * b));
  Item item;
  item.instruction = codec.decode(bytes, 0);
  item.text = codec.print(item.instruction);
  return item;
}

constexpr uint32_t s_nop = 0xbf800000, s_waitcnt = 0xbf8c0000;
constexpr unsigned states_per_nop = 8;

void put_in(std::vector<Item>& items, const Insertion& insertion, const isa::Codec& codec) {
  if (!insertion.wait.none()) items.push_back(waiting_item(encode_waitcnt(insertion.wait), s_waitcnt, codec));
  for (unsigned left = insertion.nops; left > 0;) {
    const unsigned states = std::min(left, states_per_nop);
    items.push_back(waiting_item(static_cast<uint16_t>(states - 1), s_nop, codec));
    left -= states;
  }
}

/// Shifts the functions behind a change of `added` items in `function`.
void shift(Program& program, size_t function, std::ptrdiff_t added) {
  program.functions[function].last =
      static_cast<size_t>(static_cast<std::ptrdiff_t>(program.functions[function].last) + added);
  for (size_t f = 0; f < program.functions.size(); ++f) {
    if (f == function || program.functions[f].first < program.functions[function].first) continue;
    if (program.functions[f].first == program.functions[function].first) continue;
    program.functions[f].first = static_cast<size_t>(static_cast<std::ptrdiff_t>(program.functions[f].first) + added);
    program.functions[f].last = static_cast<size_t>(static_cast<std::ptrdiff_t>(program.functions[f].last) + added);
  }
}

/// Where a stretch ends as far as its waits go: at its branch, else at the item behind it.
size_t end_of_stretch(const Program& program, size_t first, size_t last) {
  if (last == first || !is_instruction(program.items[last - 1])) return last;
  const isa::Traits traits = program.items[last - 1].instruction.traits;
  return traits.branch || traits.terminator ? last - 1 : last;
}

size_t second_entry(const Program& program, const Function& function) {
  const Graph graph = control_flow(program, function);
  return graph.entries.size() > 1 ? graph.blocks[graph.entries[1]].first : function.first;
}

} // namespace

std::string item_text(const Item& item) {
  if (item.kind == ItemKind::label) return item.text + ":";
  if (!item.raw) return item.text;
  std::string text = ".long ";
  for (size_t w = 0; w < item.instruction.size / 4u; ++w)
    text += fmt::format("{}{:#x}", w == 0 ? "" : ", ", item.instruction.words[w]);
  return text;
}

std::string wait_text(const Wait& wait, unsigned nops) {
  std::string text;
  if (!wait.none()) {
    text = "s_waitcnt";
    if (wait.vmcnt < 63) text += fmt::format(" vmcnt({})", wait.vmcnt);
    if (wait.expcnt < 7) text += fmt::format(" expcnt({})", wait.expcnt);
    if (wait.lgkmcnt < 15) text += fmt::format(" lgkmcnt({})", wait.lgkmcnt);
    text += "\n";
  }
  for (; nops > 0; nops -= std::min(nops, states_per_nop))
    text += fmt::format("s_nop {}\n", std::min(nops, states_per_nop) - 1);
  return text;
}

std::vector<Insertion> missing_waits(const Program& program, const Function& function, std::span<const Pin> pins) {
  const Graph graph = control_flow(program, function);
  const std::vector<Wait> waits = needed_waits(program, function, graph, function.first, function.last, pins);
  std::vector<uint8_t> inserted(waits.size());
  for (size_t i = 0; i < waits.size(); ++i) inserted[i] = waits[i].none() ? 0 : 1;
  const std::vector<uint8_t> nops = needed_nops(program, function, graph, function.first, function.last, inserted);
  std::vector<Insertion> insertions;
  for (size_t i = 0; i < waits.size(); ++i)
    if (!waits[i].none() || nops[i] > 0) insertions.push_back({function.first + i, waits[i], nops[i]});
  return insertions;
}

std::vector<recover::Edit> repair(const Program& program, const Function& function, std::span<const Pin> pins) {
  std::vector<recover::Edit> edits;
  for (const Insertion& insertion : missing_waits(program, function, pins))
    edits.push_back({insertion.item, insertion.item, wait_text(insertion.wait, insertion.nops)});
  return edits;
}

Program repaired(const Program& program, size_t function, std::span<const Pin> pins, const isa::Codec& codec) {
  const std::vector<Insertion> insertions = missing_waits(program, program.functions[function], pins);
  Program result = program;
  result.items.clear();
  size_t next = 0;
  for (const Insertion& insertion : insertions) {
    result.items.insert(result.items.end(), program.items.begin() + static_cast<std::ptrdiff_t>(next),
                        program.items.begin() + static_cast<std::ptrdiff_t>(insertion.item));
    put_in(result.items, insertion, codec);
    next = insertion.item;
  }
  result.items.insert(result.items.end(), program.items.begin() + static_cast<std::ptrdiff_t>(next),
                      program.items.end());
  shift(result, function, static_cast<std::ptrdiff_t>(result.items.size() - program.items.size()));
  return result;
}

std::vector<size_t> removable_waits(const Program& program, const Function& function, size_t first, size_t last) {
  std::vector<size_t> items;
  for (size_t i = std::max(first, second_entry(program, function)); i < last; ++i)
    if (is_instruction(program.items[i]) && only_waits(program.items[i].instruction)) items.push_back(i);
  return items;
}

Stripped strip(const Program& program, size_t function, size_t first, size_t last) {
  const Function& where = program.functions[function];
  const std::vector<size_t> gone = removable_waits(program, where, first, last);
  Stripped stripped;
  stripped.program = program;
  stripped.program.items.clear();
  std::vector<size_t> new_item(program.items.size() + 1);
  for (size_t i = 0; i < program.items.size(); ++i) {
    new_item[i] = stripped.program.items.size();
    if (std::ranges::binary_search(gone, i)) continue;
    stripped.program.items.push_back(program.items[i]);
    stripped.original.push_back(i);
  }
  shift(stripped.program, function, -static_cast<std::ptrdiff_t>(gone.size()));
  const Graph graph = control_flow(program, where);
  std::vector<Pin> pins = memory_pins(program, where, graph);
  if (const size_t end = end_of_stretch(program, first, last); end < where.last)
    pins.push_back({.item = end, .free = settled_registers(program, where, graph, end)});
  for (Pin& pin : pins) {
    pin.item = new_item[pin.item];
    pin.lenient = false; // whoever strips may have moved LDS accesses over the wait before a barrier
    stripped.pins.push_back(pin);
  }
  return stripped;
}

std::vector<Item> wait_items(const Insertion& insertion, const isa::Codec& codec) {
  std::vector<Item> items;
  put_in(items, insertion, codec);
  return items;
}

Reordered reordered(const Program& program, const Function& function, size_t first, size_t last,
                    std::span<const size_t> items) {
  std::vector<size_t> order;
  for (size_t i : items)
    if (!(is_instruction(program.items[i]) && only_waits(program.items[i].instruction))) order.push_back(i);

  Alone changed = alone(program, function);
  std::vector<size_t> original; // by item of `changed`
  const auto take = [&](size_t i) {
    changed.program.items.push_back(program.items[i]);
    original.push_back(i);
  };
  for (size_t i = function.first; i < first; ++i) take(i);
  const size_t new_first = original.size();
  for (size_t i : order) take(i);
  const bool branches = !order.empty() && is_instruction(program.items[order.back()]) &&
                        (program.items[order.back()].instruction.traits.branch ||
                         program.items[order.back()].instruction.traits.terminator);
  if (!branches) { // an item that is nothing: where what the end of the stretch needs is put
    changed.program.items.push_back({.kind = ItemKind::align});
    original.push_back(last);
  }
  const size_t new_last = original.size();
  for (size_t i = last; i < function.last; ++i) take(i);
  changed.function.last = original.size();

  const Graph graph = control_flow(program, function);
  const PinMover mover(program, first, last, order);
  std::vector<Pin> pins;
  for (const Pin& pin : memory_pins(program, function, graph)) {
    const bool inside = pin.item >= first && pin.item < last;
    const auto place = std::ranges::find(original, pin.item);
    if (place == original.end()) continue;
    auto item = static_cast<size_t>(place - original.begin());
    if (!branches && item + 1 == new_last) ++item; // not the item that is nothing
    if (inside) {
      for (Pin& moved : mover.moved(pin, item)) pins.push_back(moved);
    } else {
      pins.push_back(pin);
      pins.back().item = item;
    }
  }
  // What had settled at the end of the stretch, before its branch, has settled there.
  const size_t original_end = branches ? order.back() : last;
  if (original_end < function.last)
    pins.push_back({.item = new_last - 1, .free = settled_registers(program, function, graph, original_end)});

  Reordered result{.items = order};
  for (Insertion& insertion : missing_waits(changed.program, changed.function, pins)) {
    const bool inside = insertion.item >= new_first && insertion.item < new_last;
    insertion.item = inside ? insertion.item - new_first : original[insertion.item];
    (inside ? result.insertions : result.elsewhere).push_back(insertion);
  }
  return result;
}

std::vector<recover::Edit> reorder(const Program& program, const Function& function, size_t first, size_t last,
                                   std::span<const size_t> items) {
  const Reordered order = reordered(program, function, first, last, items);
  recover::Edit stretch{first, last, ""};
  auto next = order.insertions.begin();
  for (size_t k = 0; k <= order.items.size(); ++k) {
    if (next != order.insertions.end() && next->item == k) {
      stretch.text += wait_text(next->wait, next->nops);
      ++next;
    }
    if (k < order.items.size()) stretch.text += item_text(program.items[order.items[k]]) + "\n";
  }
  std::vector<recover::Edit> edits;
  for (const Insertion& insertion : order.elsewhere) {
    if (insertion.item >= last && (edits.empty() || edits.back().first < first)) edits.push_back(stretch);
    edits.push_back({insertion.item, insertion.item, wait_text(insertion.wait, insertion.nops)});
  }
  if (order.elsewhere.empty() || order.elsewhere.back().item < first) edits.push_back(std::move(stretch));
  return edits;
}

std::vector<bool> touched_blocks(const recover::Program& before, std::span<const recover::Edit> edits,
                                 const recover::Program& after, size_t function) {
  std::set<int64_t> neighbours; // what was in the same block, by its address
  for (const Block& block : control_flow(before, before.functions[function]).blocks)
    for (const recover::Edit& edit : edits)
      if (edit.first < block.last && edit.last > block.first)
        for (size_t i = block.first; i < block.last; ++i) neighbours.insert(before.items[i].origin);
  std::vector<bool> touched;
  for (const Block& block : control_flow(after, after.functions[function]).blocks) {
    auto is_touched = [&](size_t i) {
      return is_instruction(after.items[i]) &&
             (after.items[i].origin < 0 || neighbours.contains(after.items[i].origin));
    };
    bool any = false;
    for (size_t i = block.first; i < block.last && !any; ++i) any = is_touched(i);
    touched.push_back(any);
  }
  return touched;
}

recover::Program renewed(recover::Program program, size_t function, const std::vector<bool>& blocks,
                         const isa::Codec& codec) {
  for (size_t b = 0; b < blocks.size(); ++b) {
    if (!blocks[b]) continue;
    const Graph graph = control_flow(program, program.functions[function]);
    if (b >= graph.blocks.size()) break;
    const Stripped stripped = strip(program, function, graph.blocks[b].first, graph.blocks[b].last);
    program = repaired(stripped.program, function, stripped.pins, codec);
  }
  return program;
}

} // namespace asmevo::analysis
