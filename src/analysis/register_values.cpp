#include "analysis/register_values.h"

#include "analysis/loops.h"
#include "analysis/value_step.h"

#include <algorithm>

namespace asmevo::analysis {
namespace {

constexpr uint64_t at_entry = 0;
uint64_t by_item(size_t item) { return 1 + 2 * uint64_t{item}; }
uint64_t by_block(uint32_t block) { return 2 + 2 * uint64_t{block}; }

bool is_exec(size_t unit) { return unit == isa::exec_lo || unit == isa::exec_hi; }

/// How far what a register brings along the ways into a block differs.
enum Level : uint8_t {
  same,     // not at all
  moved,    // the same form, written at different places or in different lanes
  inducted, // it grows by a constant a round
  differs,  // a symbol of the block is all that can be said
};

/// Instructions that let others name other registers than they say, or skip them.
bool renames_registers(const isa::Instruction& i) {
  const std::string_view name = name_of(i);
  return name.starts_with("s_set_gpr_idx") || name == "s_setvskip";
}

/// Whether the items lie as they did in K0: nothing inserted, deleted or moved.
bool is_pristine(const recover::Program& program, const recover::Function& function) {
  int64_t next = -1;
  for (size_t i = function.first; i < function.last; ++i) {
    const recover::Item& item = program.items[i];
    if (item.kind != recover::ItemKind::instruction) continue;
    if (item.origin < 0 || (next >= 0 && item.origin < next)) return false;
    next = item.origin + item.instruction.size;
  }
  return true;
}

} // namespace

RegisterValues::RegisterValues(const recover::Program& program, const recover::Function& function, const Graph& graph)
    : program_(program), graph_(graph), kernel_(function.kernel), registers_(program, function),
      pristine_(is_pristine(program, function)) {
  for (size_t i = function.first; i < function.last; ++i)
    if (is_instruction(program.items[i]) && renames_registers(program.items[i].instruction)) known_ = false;
  if (!known_) return;
  number_registers(function);
  const size_t blocks = graph.blocks.size();
  order_ = reverse_postorder(graph);
  const std::vector<bool> reached = reachable(graph);
  std::erase_if(order_, [&](uint32_t b) { return !reached[b]; });
  in_.resize(blocks);
  out_.resize(blocks);
  Meeting meeting;
  meeting.levels.assign(units_.size(), same);
  meeting.tried.assign(units_.size(), false);
  meeting.no_mask.assign(units_.size(), false);
  meeting.masks.resize(units_.size());
  meetings_.assign(blocks, meeting);
  latches_.resize(blocks);
  trips_.resize(blocks);
  for (const Loop& loop : loops(program, function, graph)) {
    latches_[loop.header] = loop.latches;
    trips_[loop.header] = loop.iterations;
  }
  for (size_t e = 0; e < graph.entries.size(); ++e) {
    RegisterState state;
    state.held.resize(units_.size());
    for (const EntryValue& value : entry_values(program, function, e > 0, forms_))
      if (slot_[value.unit] != no_slot) at(state, value.unit) = {value.form, value.lanes, at_entry};
    entries_.push_back(std::move(state));
  }
  do settle();
  while (known_ && find_inductions());
}

void RegisterValues::number_registers(const recover::Function& function) {
  slot_.assign(register_bits, no_slot);
  const auto note = [&](size_t unit) {
    if (is_exec(unit) || slot_[unit] != no_slot) return;
    slot_[unit] = static_cast<uint16_t>(units_.size());
    units_.push_back(static_cast<uint16_t>(unit));
  };
  for (size_t i = function.first; i < function.last; ++i) {
    if (!is_instruction(program_.items[i])) continue;
    registers_.each(program_.items[i].instruction.defs, note);
    registers_.each(program_.items[i].instruction.uses, note);
  }
}

// ---- contents ----

Held RegisterValues::held(const RegisterState& state, size_t unit) const {
  const uint16_t slot = unit < slot_.size() ? slot_[unit] : no_slot;
  return slot == no_slot ? Held() : state.held[slot];
}

FormId RegisterValues::whole(size_t unit, uint64_t origin) {
  const SymbolFacts facts{0xffffffff, !is_vector_unit(unit), 0};
  if (origin == at_entry) return forms_.symbol({SymbolKind::entry, unit, 0, {}}, facts);
  const bool item = origin % 2 == 1;
  return forms_.symbol({item ? SymbolKind::written : SymbolKind::merged, (origin - 1) / 2, unit, {}}, facts);
}

FormId RegisterValues::content(const RegisterState& state, size_t unit) {
  if (is_exec(unit)) {
    return mask_form(state.exec, unit - isa::exec_lo);
  }
  return whole(unit, held(state, unit).origin);
}

FormId RegisterValues::mask_form(MaskId mask, uint64_t half) {
  if (mask == LaneMasks::none) return forms_.constant(0);
  if (mask == LaneMasks::all) return forms_.constant(0xffffffff);
  return forms_.symbol({SymbolKind::mask, mask, half, {}}, {0xffffffff, true, 0});
}

/// The mask that `unit` and the next register are, if they are one.
std::optional<MaskId> RegisterValues::mask_at(const RegisterState& state, size_t unit) {
  if (unit == isa::exec_lo) return state.exec;
  const Held low = held(state, unit), high = held(state, unit + 1);
  if (low.form == Held::whole || high.form == Held::whole || low.lanes != LaneMasks::all) return std::nullopt;
  if (low.form == mask_form(LaneMasks::none, 0) && high.form == low.form) return LaneMasks::none;
  if (low.form == mask_form(LaneMasks::all, 0) && high.form == low.form) return LaneMasks::all;
  const auto first = forms_.symbol_of(low.form), second = forms_.symbol_of(high.form);
  if (!first || !second) return std::nullopt;
  const Symbol &a = forms_.name(*first), &b = forms_.name(*second);
  const bool both = a.kind == SymbolKind::mask && b.kind == SymbolKind::mask && a.a == b.a && a.b == 0 && b.b == 1;
  return both ? std::optional(static_cast<MaskId>(a.a)) : std::nullopt;
}

bool RegisterValues::is_carry(FormId form) const {
  const auto symbol = forms_.symbol_of(form);
  if (!symbol) return false;
  const SymbolKind kind = forms_.name(*symbol).kind;
  return kind == SymbolKind::carry || kind == SymbolKind::borrow;
}

FormId RegisterValues::active(const RegisterState& state, size_t unit) {
  const Held found = held(state, unit);
  const bool holds = found.form != Held::whole && !is_carry(found.form) && masks_.within(state.exec, found.lanes);
  return holds ? found.form : content(state, unit);
}

FormId RegisterValues::scalar(const RegisterState& state, size_t unit) {
  const Held found = held(state, unit);
  const bool holds = found.form != Held::whole && !is_carry(found.form) && found.lanes == LaneMasks::all;
  return holds ? found.form : content(state, unit);
}

// ---- one instruction ----

void RegisterValues::transfer(size_t item, RegisterState& state) {
  const isa::Instruction& i = program_.items[item].instruction;
  const Held anything{Held::whole, LaneMasks::all, by_item(item)};
  if (is_call(i)) {
    std::ranges::fill(state.held, anything);
    return;
  }
  if (i.defs.empty()) return;
  Step step(*this, program_, item, state);
  evaluate(step);
  registers_.each(i.defs, [&](size_t unit) {
    if (is_exec(unit)) state.exec = masks_.made(static_cast<uint32_t>(item), LaneMasks::all);
    if (slot_[unit] != no_slot) at(state, unit) = anything;
  });
  if (i.traits.relative) std::ranges::fill(state.held, anything); // M0 says which register
  for (const Step::Result& result : step.results)
    if (slot_[result.unit] != no_slot) {
      at(state, result.unit) = result.held;
      at(state, result.unit).origin = by_item(item);
    }
  if (step.exec) state.exec = *step.exec;
}

RegisterState RegisterValues::through(uint32_t block, RegisterState state) {
  for (size_t i = graph_.blocks[block].first; i < graph_.blocks[block].last; ++i)
    if (is_instruction(program_.items[i])) transfer(i, state);
  return state;
}

void RegisterValues::each(const std::function<void(size_t, const RegisterState&)>& visit) {
  for (uint32_t b : order_) {
    RegisterState state = *in_[b];
    for (size_t i = graph_.blocks[b].first; i < graph_.blocks[b].last; ++i) {
      if (!is_instruction(program_.items[i])) continue;
      visit(i, state);
      transfer(i, state);
    }
  }
}

// ---- where paths meet ----

RegisterValues::States RegisterValues::incoming(uint32_t block, bool back_edges) const {
  States from;
  for (size_t e = 0; e < graph_.entries.size(); ++e)
    if (graph_.entries[e] == block && !back_edges) from.push_back(&entries_[e]);
  for (uint32_t p : graph_.blocks[block].predecessors) {
    const bool back = std::ranges::find(latches_[block], p) != latches_[block].end();
    if (back == back_edges && out_[p]) from.push_back(&*out_[p]);
  }
  return from;
}

/// The content of one register on arrival; raises `level` where no more than that can be kept.
Held RegisterValues::meet_one(uint32_t block, uint16_t slot, const States& from, MaskId exec, uint8_t& level) {
  const Held& first = from[0]->held[slot];
  const auto all = [&](auto&& test) {
    return std::ranges::all_of(from, [&](auto* s) { return test(*s, s->held[slot]); });
  };
  if (level == same && !all([&](auto&, const Held& h) { return h == first; })) level = moved;
  if (level == same) return first;
  if (level == moved) {
    const bool one_form = first.form != Held::whole && all([&](auto&, const Held& h) { return h.form == first.form; });
    const bool one_mask = all([&](auto&, const Held& h) { return h.lanes == first.lanes; });
    const bool active =
        is_vector_unit(units_[slot]) && all([&](auto& s, const Held& h) { return masks_.within(s.exec, h.lanes); });
    if (one_form && (one_mask || active)) return {first.form, one_mask ? first.lanes : exec, by_block(block)};
    level = differs;
  }
  return {Held::whole, LaneMasks::all, by_block(block)};
}

/// A pair that holds a lane mask on every way holds one within what all of them lie within. No lanes at all lie within
/// EXEC on that way, which says more than that they lie within everything.
void RegisterValues::meet_masks(uint32_t block, uint16_t slot, const States& from, RegisterState& state) {
  Meeting& meeting = meetings_[block];
  const size_t unit = units_[slot];
  const uint16_t high = unit + 1 < vgpr_unit ? slot_[unit + 1] : no_slot;
  std::optional<MaskId>& around = meeting.masks[slot];
  bool all = unit < vgpr_unit && high != no_slot && meeting.levels[high] == differs;
  for (const RegisterState* s : from) {
    const auto mask = all ? mask_at(*s, unit) : std::nullopt;
    all = mask.has_value();
    if (!all) break;
    const MaskId here = *mask == LaneMasks::none ? s->exec : *mask;
    around = masks_.around(around.value_or(here), here);
  }
  if (!all) {
    meeting.no_mask[slot] = true;
    return;
  }
  const MaskId mask = masks_.arrived(block, unit, *around);
  for (uint64_t half : {0u, 1u})
    state.held[half == 0 ? slot : high] = {mask_form(mask, half), LaneMasks::all, by_block(block)};
}

RegisterState RegisterValues::meet(uint32_t block, bool with_back_edges) {
  const States outside = incoming(block, false), latches = with_back_edges ? incoming(block, true) : States();
  States from = outside;
  from.insert(from.end(), latches.begin(), latches.end());
  Meeting& meeting = meetings_[block];
  RegisterState state;
  state.exec = from[0]->exec;
  for (const RegisterState* s : from) {
    meeting.exec_differs |= s->exec != state.exec;
    meeting.around = masks_.around(meeting.around.value_or(s->exec), s->exec);
  }
  if (meeting.exec_differs) state.exec = masks_.arrived(block, isa::exec_lo, *meeting.around);
  state.held.resize(units_.size());
  for (uint16_t slot = 0; slot < units_.size(); ++slot)
    if (meeting.levels[slot] != inducted)
      state.held[slot] = meet_one(block, slot, from, state.exec, meeting.levels[slot]);
  for (uint16_t slot = 0; slot < units_.size(); ++slot)
    if (meeting.levels[slot] == differs && !meeting.no_mask[slot]) meet_masks(block, slot, from, state);
  std::erase_if(meeting.inductions, [&](const Induction& induction) {
    if (induct(block, induction, state, outside, latches)) return false;
    for (uint16_t slot : {induction.low, induction.high}) {
      meeting.levels[slot] = differs;
      meeting.tried[slot] = true;
      state.held[slot] = {Held::whole, LaneMasks::all, by_block(block)};
    }
    return true;
  });
  return state;
}

/// First as if there were no ways back, then with what they bring; again from the start where that made a difference.
/// Levels only rise, but lane masks of loops in loops may lie within ever new ones: what has not settled in time is not
/// known.
void RegisterValues::settle() {
  constexpr unsigned most_turns = 40; // kernels of AITER and Triton take three
  unsigned turns = 0;
  for (bool changed = true; changed && known_;) {
    changed = false;
    if (++turns > most_turns) known_ = false;
    std::ranges::fill(out_, std::nullopt);
    for (uint32_t b : order_) {
      in_[b] = meet(b, false);
      out_[b] = through(b, *in_[b]);
    }
    for (uint32_t b : order_) changed |= meet(b, true) != *in_[b];
  }
}

// ---- registers that count rounds ----

FormId RegisterValues::rounds(uint32_t block) {
  const uint64_t most = trips_[block] ? *trips_[block] - 1 : ~uint64_t{0};
  return forms_.symbol({SymbolKind::iteration, block, 0, {}}, {most, true, 0});
}

FormId RegisterValues::value(const RegisterState& state, const Induction& induction) {
  const auto word = [&](uint16_t slot) {
    const Held& h = state.held[slot];
    return h.form == Held::whole || is_carry(h.form) ? whole(units_[slot], h.origin) : h.form;
  };
  if (induction.low == induction.high) return word(induction.low);
  return forms_.pair(word(induction.low), word(induction.high));
}

FormId RegisterValues::plus(const Induction& induction, FormId form, uint64_t step) {
  const FormId constant = forms_.constant(step);
  return induction.low == induction.high ? forms_.add(form, constant) : forms_.add64(form, constant);
}

/// Whether what the register holds in `state` holds in the lanes that are active there, all of them in `exec`.
bool RegisterValues::holds(const RegisterState& state, uint16_t slot, MaskId exec) const {
  const Held& h = state.held[slot];
  if (!is_vector_unit(units_[slot])) return h.lanes == LaneMasks::all;
  return masks_.within(state.exec, h.lanes) && masks_.within(state.exec, exec);
}

/// What all states hold alike.
std::optional<FormId> RegisterValues::common(const States& from, const Induction& induction, MaskId exec) {
  std::optional<FormId> found;
  for (const RegisterState* s : from) {
    const FormId here = value(*s, induction);
    if (found.value_or(here) != here) return std::nullopt;
    found = here;
    for (uint16_t slot : {induction.low, induction.high})
      if (!holds(*s, slot, exec)) return std::nullopt;
  }
  return found;
}

/// Writes the register's form to `state`; false where it does not start alike or the way back breaks the rule.
bool RegisterValues::induct(uint32_t block, const Induction& induction, RegisterState& state, const States& outside,
                            const States& latches) {
  const auto start = common(outside, induction, LaneMasks::all);
  if (!start) return false;
  const bool wide = induction.low != induction.high;
  const FormId grown = forms_.scale64(rounds(block), induction.step);
  const FormId form = wide ? forms_.add64(*start, grown) : forms_.add(*start, grown);
  const MaskId lanes = is_vector_unit(units_[induction.low]) ? state.exec : LaneMasks::all;
  state.held[induction.low] = {wide ? forms_.lower(form) : form, lanes, by_block(block)};
  if (wide) state.held[induction.high] = {forms_.upper(form), lanes, by_block(block)};
  return latches.empty() || common(latches, induction, state.exec) == plus(induction, form, induction.step);
}

/// `slot` as a register, or the lower half of a pair, that every way back brings changed by one constant.
std::optional<RegisterValues::Induction> RegisterValues::induction_of(uint32_t block, uint16_t slot) {
  const Meeting& meeting = meetings_[block];
  const States latches = incoming(block, true), outside = incoming(block, false);
  const uint16_t next = slot_[units_[slot] + 1u];
  const auto is_free = [&](uint16_t s) { return s != no_slot && meeting.levels[s] == differs && !meeting.tried[s]; };
  for (const uint16_t high : {next, slot}) {
    if (!is_free(high)) continue;
    Induction induction{slot, high, 0};
    const auto after = common(latches, induction, in_[block]->exec);
    if (!after || !common(outside, induction, LaneMasks::all)) continue;
    const unsigned bits = high == slot ? 32 : 64;
    const Form change = forms_.reduced(forms_.difference(forms_[*after], forms_[value(*in_[block], induction)]), bits);
    if (!change.terms.empty() || change.constant == 0) continue;
    induction.step =
        bits == 32 ? static_cast<uint64_t>(int64_t{static_cast<int32_t>(change.constant)}) : change.constant;
    return induction;
  }
  return std::nullopt;
}

bool RegisterValues::find_inductions() {
  bool found = false;
  for (uint32_t b : order_) {
    if (latches_[b].empty()) continue;
    Meeting& meeting = meetings_[b];
    for (uint16_t slot = 0; slot < units_.size(); ++slot) {
      if (meeting.levels[slot] != differs || meeting.tried[slot] || units_[slot] + 1u >= register_bits) continue;
      const auto induction = induction_of(b, slot);
      if (!induction) continue;
      meeting.levels[induction->low] = meeting.levels[induction->high] = inducted;
      meeting.inductions.push_back(*induction);
      found = true;
    }
  }
  return found;
}

} // namespace asmevo::analysis
