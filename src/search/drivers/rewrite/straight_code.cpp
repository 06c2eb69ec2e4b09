#include "search/drivers/rewrite/straight_code.h"

#include "analysis/liveness.h"

#include <algorithm>

namespace asmevo::search::rewrite {

namespace {

constexpr isa::RegisterRange vcc{isa::File::sgpr, isa::vcc_lo, 2};

bool is_scalar_mask(const isa::RegisterRange& range) { return range.file == isa::File::sgpr && range.count == 2; }

/// Registers that are what they are called everywhere: flat_scratch, m0, traps'.
bool has_one_place(const isa::RegisterRange& range) {
  return range.file == isa::File::sgpr && range.first + range.count > isa::flat_scratch_lo && range != vcc;
}

/// Operands of the text that are written: those that the tables call explicit, and a VCC that is printed among them.
size_t written_operands(const isa::Instruction& i, const InstructionText& text) {
  size_t count = std::min<size_t>(i.explicit_defs, text.operands.size());
  if (i.traits.valu && writes(i, vcc) && count < text.operands.size() && operand_registers(text.operands[count]) == vcc)
    ++count;
  return count;
}

bool is_understood(const recover::Item& item) {
  const isa::Instruction& i = item.instruction;
  const isa::Traits& t = i.traits;
  if (item.kind != recover::ItemKind::instruction || item.raw || t.relative || t.barrier || t.side_effects ||
      t.indirect || i.encoding == isa::Encoding::unknown)
    return false;
  for (const auto* ranges : {&i.defs, &i.uses})
    for (const isa::RegisterRange& r : *ranges)
      if (r.file == isa::File::agpr) return false;
  return std::ranges::none_of(i.defs, [](const isa::RegisterRange& def) {
    return def.file == isa::File::mode || (has_one_place(def) && def != exec);
  });
}

/// Whether VCC among the operands can be another pair: there is a long form of the instruction.
bool can_name_another_pair(const isa::Instruction& i) {
  if (!i.traits.valu) return true;
  return i.suffix == isa::Suffix::none &&
         !(i.has_literal && (i.encoding == isa::Encoding::vopc || i.encoding == isa::Encoding::vop2));
}

} // namespace

StraightCode::StraightCode(const Facts& facts) : facts_(&facts), sgprs_(128), vgprs_(512) {
  add_value({.range = {isa::File::sgpr, 0, 2}, .placeless = true});
  masks.push_back({.value = 0});
}

std::optional<StraightCode> StraightCode::of(const Facts& facts, const std::vector<size_t>& items,
                                             const analysis::RegisterSet& wanted) {
  StraightCode code(facts);
  for (const size_t item : items)
    if (!code.take(item)) return std::nullopt;
  if (code.mask_ != entry_mask || !code.finish(wanted)) return std::nullopt;
  return code;
}

size_t StraightCode::longest(const Facts& facts, const std::vector<size_t>& items, size_t least) {
  StraightCode code(facts);
  size_t found = 0;
  for (size_t k = 0; k < items.size(); ++k) {
    if (!code.take(items[k])) break;
    if (code.mask_ == entry_mask && code.skips.size() >= least && writes(facts.instruction(items[k]), exec))
      found = k + 1;
  }
  return found;
}

ValueId StraightCode::add_value(Value value) {
  const auto id = ValueId(values.size());
  values.push_back(std::move(value));
  parent_.push_back(id);
  group_size_.push_back(1);
  fixed_.push_back(false);
  return id;
}

ValueId StraightCode::root(ValueId value) {
  while (parent_[value] != value) value = parent_[value] = parent_[parent_[value]];
  return value;
}

void StraightCode::unite(ValueId a, ValueId b) {
  a = root(a), b = root(b);
  if (a == b) return;
  parent_[b] = a;
  group_size_[a] += group_size_[b];
  fixed_[a] = fixed_[a] || fixed_[b];
}

Part StraightCode::resolved(Part part) const {
  while (values[part.value].same_as.value != no_value) {
    const Part& next = values[part.value].same_as;
    part = {next.value, uint16_t(next.offset + part.offset)};
  }
  return part;
}

bool StraightCode::within(int inner, int outer) const {
  while (inner != outer && inner != no_mask) inner = masks[size_t(inner)].parent;
  return inner == outer;
}

int StraightCode::mask_of(ValueId value) const {
  const auto at = std::ranges::find(masks, value, &Mask::value);
  return at == masks.end() ? no_mask : int(at - masks.begin());
}

Part& StraightCode::held(const isa::RegisterRange& range, uint16_t k) {
  return (range.file == isa::File::vgpr ? vgprs_ : sgprs_)[size_t{range.first} + k];
}

Part StraightCode::part_at(const isa::RegisterRange& range, uint16_t k) {
  Part& part = held(range, k);
  if (part.value == no_value) {
    part = {add_value({.range = {range.file, uint16_t(range.first + k), 1}}), 0};
    fix(part.value);
  }
  return part;
}

/// A reader with more lanes than a value holds in sees what was there before as well: both have one register.
void StraightCode::spread(Part part, const isa::RegisterRange& single, int mask) {
  while (values[part.value].mask != no_mask && !within(mask, values[part.value].mask)) {
    const Part before = values[part.value].before[part.offset];
    Part older = before;
    if (older.value == no_value) {
      older = {add_value({.range = single}), 0};
      fix(older.value);
      values[part.value].before[part.offset] = older;
    }
    unite(older.value, part.value);
    part = older;
  }
}

std::optional<std::vector<Part>> StraightCode::read(const isa::RegisterRange& range, int mask) {
  std::vector<Part> parts;
  for (uint16_t k = 0; k < range.count; ++k) {
    const Part part = part_at(range, k);
    if (range.file == isa::File::vgpr) spread(part, {range.file, uint16_t(range.first + k), 1}, mask);
    parts.push_back(part);
  }
  for (uint16_t k = 1; k < range.count; ++k) {
    const bool goes_on = parts[k].value == parts[0].value && parts[k].offset == parts[0].offset + k;
    if (goes_on) continue;
    if (values[parts[k].value].placeless || values[parts[0].value].placeless) return std::nullopt;
    unite(parts[0].value, parts[k].value);
  }
  return parts;
}

std::optional<std::vector<Part>> StraightCode::write(const isa::RegisterRange& range, size_t node, bool keeps,
                                                     bool vector) {
  std::optional<std::vector<Part>> old;
  if (keeps && !(old = read(range, nodes[node].mask))) return std::nullopt;
  Value value{.range = range, .maker = node, .mask = vector ? nodes[node].mask : no_mask};
  for (uint16_t k = 0; k < range.count; ++k) value.before.push_back(held(range, k));
  const ValueId id = add_value(std::move(value));
  std::vector<Part> parts;
  for (uint16_t k = 0; k < range.count; ++k) {
    if (old && values[(*old)[k].value].placeless) return std::nullopt;
    if (old) unite((*old)[k].value, id);
    parts.push_back(held(range, k) = {id, k});
  }
  return parts;
}

bool StraightCode::take(size_t item) {
  const isa::Instruction& i = facts_->instruction(item);
  const std::string_view name = isa::name_of(i);
  if (i.traits.waitcnt || name == "s_nop" || name == "s_branch") return true;
  if (name == "s_cbranch_execz" || name == "s_cbranch_execnz") {
    skips.push_back(mask_);
    return true;
  }
  if (i.traits.branch || i.traits.terminator || !is_understood(facts_->program.items[item])) return false;
  InstructionText text = parse_instruction(facts_->program.items[item].text);
  if (writes(i, exec)) return take_guard(item, text);
  return (i.traits.salu && take_mask(item, text)) || take_general(item, std::move(text));
}

/// Masks that are copied, and the lanes that a part leaves: `s_xor_b64 s[2:3], exec, s[2:3]`.
bool StraightCode::take_mask(size_t item, const InstructionText& text) {
  const size_t sources = text.operands.size() - 1;
  if (text.operands.empty() || sources > 2) return false;
  const auto destination = operand_registers(text.operands[0]);
  if (!destination || !is_scalar_mask(*destination) || has_one_place(*destination)) return false;
  int result = no_mask;
  if (text.mnemonic == "s_mov_b64" && sources == 1) {
    const auto source = mask_operand(text.operands[1]);
    if (source) result = known_mask(*source);
  } else if (text.mnemonic == "s_xor_b64" && sources == 2 && text.operands[1] == "exec") {
    const auto whole = mask_operand(text.operands[2]);
    if (whole && known_mask(*whole) != no_mask && within(mask_, known_mask(*whole)))
      result = without(item, *whole, mask_);
    if (result != no_mask) scc_.reset();
  }
  if (result == no_mask) return false;
  for (uint16_t k = 0; k < 2; ++k) held(*destination, k) = {masks[size_t(result)].value, k};
  return true;
}

bool StraightCode::take_general(size_t item, InstructionText text) {
  const isa::Instruction& i = facts_->instruction(item);
  const size_t written = written_operands(i, text);
  Node node{.text = std::move(text), .instruction = &i};
  const bool vector = i.traits.valu || i.traits.vmem || i.traits.lds;
  if (vector) node.mask = mask_;
  node.only_computes = analysis::only_computes(i) && (i.traits.valu || i.traits.salu) && !i.traits.mfma;
  const auto none = [](const auto& parts) { return !parts.has_value(); };
  const auto implicit = [](const InstructionText& in, const isa::RegisterRange& range, size_t from, size_t to) {
    for (size_t o = from; o < to; ++o)
      if (operand_registers(in.operands[o]) == std::optional(range)) return false;
    return range.file == isa::File::sgpr && range != exec;
  };
  const bool all_lanes = vector && crosses_lanes(i);
  for (size_t o = written; o < node.text.operands.size(); ++o) {
    const auto range = operand_registers(node.text.operands[o]);
    if (!range) continue;
    if (range->overlaps(exec)) {
      if (*range != exec) return false;
      node.reads.push_back({o, parts_of(mask_)});
      continue;
    }
    const auto parts = read(*range, all_lanes ? no_mask : mask_);
    if (none(parts)) return false;
    if (*range == vcc && !can_name_another_pair(i)) fix((*parts)[0].value);
    node.reads.push_back({o, *parts});
  }
  for (const isa::RegisterRange& use : i.uses) {
    if (use.file == isa::File::scc) {
      if (!scc_) return false;
      node.reads_scc = nodes[*scc_].scc_is_read = true;
    }
    if (!implicit(node.text, use, written, node.text.operands.size())) continue;
    bool tied = false;
    for (size_t o = 0; o < written; ++o) tied |= operand_registers(node.text.operands[o]) == std::optional(use);
    if (tied) continue;
    const auto parts = read(use, mask_);
    if (none(parts)) return false;
    for (const Part& part : *parts) fix(part.value);
  }
  nodes.push_back(std::move(node));
  const size_t number = nodes.size() - 1;
  for (size_t o = 0; o < written; ++o) {
    const auto range = operand_registers(nodes[number].text.operands[o]);
    if (!range) return false;
    const auto parts =
        write(*range, number, keeps_a_part(i, nodes[number].text, *range), range->file == isa::File::vgpr);
    if (none(parts)) return false;
    if (*range == vcc && !can_name_another_pair(i)) fix((*parts)[0].value);
    nodes[number].writes.push_back({o, *parts});
  }
  for (const isa::RegisterRange& def : i.defs) {
    if (def.file == isa::File::scc) scc_ = number;
    if (!implicit(nodes[number].text, def, 0, written)) continue;
    const auto parts = write(def, number, false, false);
    if (none(parts)) return false;
    fix((*parts)[0].value);
  }
  return true;
}

// ---- masks ----

std::optional<std::vector<Part>> StraightCode::mask_operand(const std::string& operand) {
  const auto range = operand_registers(operand);
  if (!range || !is_scalar_mask(*range) || (has_one_place(*range) && *range != exec)) return std::nullopt;
  if (*range == exec) return parts_of(mask_);
  return read(*range, mask_);
}

int StraightCode::known_mask(const std::vector<Part>& parts) const {
  const bool whole = parts.size() == 2 && parts[0].value == parts[1].value && parts[0].offset == 0;
  return whole ? mask_of(parts[0].value) : no_mask;
}

int StraightCode::made(std::string_view mnemonic, size_t item, const std::vector<Part>& a, const std::vector<Part>& b,
                       Mask mask) {
  const auto [at, fresh] = made_.try_emplace({std::string(mnemonic), a, b}, int(masks.size()));
  if (!fresh) return at->second;
  Node node{.text = {std::string(mnemonic), {"s[0:1]", "s[0:1]", "s[0:1]"}, ""},
            .instruction = &facts_->instruction(item),
            .only_computes = true};
  mask.value = add_value({.range = {isa::File::sgpr, 0, 2}, .placeless = true, .maker = nodes.size()});
  node.writes.push_back({0, {{mask.value, 0}, {mask.value, 1}}});
  node.reads = {{1, a}, {2, b}};
  nodes.push_back(std::move(node));
  masks.push_back(mask);
  return int(masks.size()) - 1;
}

int StraightCode::narrowed(size_t item, const std::vector<Part>& condition) {
  const int known = known_mask(condition);
  if (known != no_mask && within(known, mask_)) return known;
  if (known != no_mask && within(mask_, known)) return mask_;
  return made("s_and_b64", item, parts_of(mask_), condition, {.parent = mask_});
}

int StraightCode::widened(size_t item, const std::vector<Part>& other) {
  const int known = known_mask(other);
  if (known == no_mask) return no_mask;
  if (within(mask_, known)) return known;
  if (within(known, mask_)) return mask_;
  for (const auto& [part, rest] : {std::pair{known, mask_}, std::pair{mask_, known}})
    if (masks[size_t(part)].taken == rest) return masks[size_t(part)].whole;
  int around = mask_;
  while (around != no_mask && !within(known, around)) around = masks[size_t(around)].parent;
  return made("s_or_b64", item, parts_of(mask_), other, {.parent = around});
}

/// `whole` without the lanes of `taken`.
int StraightCode::without(size_t item, const std::vector<Part>& whole, int taken) {
  const int known = known_mask(whole);
  if (known == no_mask) return no_mask;
  if (masks[size_t(known)].taken == taken) return known;
  if (!within(taken, known)) return made("s_andn2_b64", item, whole, parts_of(taken), {.parent = known});
  return made("s_andn2_b64", item, whole, parts_of(taken), {.parent = known, .whole = known, .taken = taken});
}

/// What writes EXEC: to a part of it, back to what it was, or to the other lanes.
bool StraightCode::take_guard(size_t item, const InstructionText& text) {
  const auto operand = [&](size_t k) {
    return k < text.operands.size() ? mask_operand(text.operands[k]) : std::nullopt;
  };
  const std::string_view name = text.mnemonic;
  int next = no_mask;
  scc_.reset();
  if (name == "s_and_saveexec_b64" || name == "s_andn2_saveexec_b64" || name == "s_or_saveexec_b64") {
    const auto source = operand(1);
    const auto saved = operand_registers(text.operands[0]);
    if (!source || !saved || !is_scalar_mask(*saved) || has_one_place(*saved)) return false;
    next = name == "s_and_saveexec_b64"  ? narrowed(item, *source)
           : name == "s_or_saveexec_b64" ? widened(item, *source)
                                         : without(item, *source, mask_);
    for (uint16_t k = 0; k < 2; ++k) held(*saved, k) = {masks[size_t(mask_)].value, k};
  } else if (text.operands.size() >= 2 && text.operands[0] == "exec") {
    const auto first = operand(1);
    const bool own = text.operands[1] == "exec";
    const auto second = text.operands.size() == 3 ? operand(own ? 2 : 1) : first;
    if (!first || !second) return false;
    if (name == "s_mov_b64") next = known_mask(*first);
    if (name == "s_and_b64" && (own || text.operands[2] == "exec")) next = narrowed(item, *second);
    if (name == "s_or_b64" && (own || text.operands[2] == "exec")) next = widened(item, *second);
    if (name == "s_xor_b64" && own && known_mask(*second) != no_mask && within(mask_, known_mask(*second)))
      next = without(item, *second, mask_);
  }
  if (next == no_mask) return false;
  mask_ = next;
  return true;
}

bool StraightCode::finish(const analysis::RegisterSet& wanted) {
  if (wanted[analysis::scc_unit]) return false;
  const auto keep = [&](isa::File file, std::vector<Part>& registers) {
    for (uint16_t r = 0; r < registers.size(); ++r) {
      const Part part = registers[r];
      if (part.value == no_value || !wanted[analysis::bit_of(file, r)]) continue;
      if (values[part.value].placeless) return false;
      if (file == isa::File::vgpr) spread(part, {file, r, 1}, entry_mask);
      fix(part.value);
    }
    return true;
  };
  return keep(isa::File::sgpr, sgprs_) && keep(isa::File::vgpr, vgprs_);
}

} // namespace asmevo::search::rewrite
