#include "search/drivers/rewrite/terms.h"

#include <algorithm>

namespace asmevo::search::rewrite {

namespace {

constexpr uint32_t sign = 0x80000000, two = 0x40000000;

/// Instructions whose sources, in the order of the text, are the operands of an operation. Behind the last one of the
/// text comes the destination as it was.
struct Plain {
  std::string_view name;
  Op op;
};
constexpr std::array plain = {
    Plain{"v_fma_f32", Op::fused},     Plain{"v_mad_f32", Op::fused},       Plain{"v_fmac_f32", Op::fused},
    Plain{"v_mac_f32", Op::fused},     Plain{"v_fmamk_f32", Op::fused},     Plain{"v_fmaak_f32", Op::fused},
    Plain{"v_madmk_f32", Op::fused},   Plain{"v_madak_f32", Op::fused},     Plain{"v_mul_f32", Op::product},
    Plain{"v_add_f32", Op::sum},       Plain{"v_rcp_f32", Op::reciprocal},  Plain{"v_exp_f32", Op::power_of_two},
    Plain{"v_rndne_f32", Op::nearest}, Plain{"v_cvt_i32_f32", Op::integer}, Plain{"v_ldexp_f32", Op::scaled},
};

constexpr size_t operands_of(Op op) {
  if (op == Op::fused) return 3;
  return op == Op::product || op == Op::sum || op == Op::scaled ? 2 : 1;
}

constexpr std::array moves = {"v_mov_b32", "s_mov_b32", "s_movk_i32"};

bool is_move(const isa::Instruction& i) { return std::ranges::find(moves, isa::name_of(i)) != moves.end(); }

} // namespace

TermId Terms::intern(const Term& term) {
  const auto [at, is_new] = ids_.try_emplace(term, TermId(terms_.size()));
  if (is_new) terms_.push_back(term);
  return at->second;
}

bool Terms::takes_sign_off(TermId& a) const {
  if (!is(a, Op::negative)) return false;
  a = terms_[a].of[0];
  return true;
}

TermId Terms::negative(TermId a) {
  if (is(a, Op::constant)) return constant(terms_[a].value ^ sign);
  return takes_sign_off(a) ? a : intern({Op::negative, 0, {a}});
}

TermId Terms::magnitude(TermId a) {
  if (is(a, Op::constant)) return constant(terms_[a].value & ~sign);
  takes_sign_off(a);
  return is(a, Op::magnitude) ? a : intern({Op::magnitude, 0, {a}});
}

TermId Terms::sum(TermId a, TermId b) {
  if (a == b) return product(a, constant(two));
  if (is(a, Op::negative) && is(b, Op::negative)) return negative(sum(terms_[a].of[0], terms_[b].of[0]));
  return intern({Op::sum, 0, {std::min(a, b), std::max(a, b)}});
}

TermId Terms::product(TermId a, TermId b) {
  bool turned = false;
  for (TermId* factor : {&a, &b}) {
    if (is(*factor, Op::constant) && (terms_[*factor].value & sign) != 0) {
      *factor = constant(terms_[*factor].value ^ sign);
      turned = !turned;
    }
    turned ^= takes_sign_off(*factor);
  }
  if (a == b && is(a, Op::magnitude)) a = b = terms_[a].of[0];
  const TermId result = intern({Op::product, 0, {std::min(a, b), std::max(a, b)}});
  return turned ? negative(result) : result;
}

TermId Terms::fused(TermId a, TermId b, TermId c) {
  TermId factors = product(a, b);
  const Op op = takes_sign_off(factors) ? Op::fused_less : Op::fused;
  const std::array<TermId, 3> of = terms_[factors].of;
  return intern({op, 0, {of[0], of[1], c}});
}

TermId Terms::less(TermId a, TermId b) {
  const bool turned = (is(a, Op::negative) && (is(b, Op::negative) || is(b, Op::constant))) ||
                      (is(a, Op::constant) && is(b, Op::negative));
  if (turned) {
    const TermId left = negative(b);
    b = negative(a);
    a = left;
  }
  return intern({Op::less, 0, {a, b}});
}

TermId Terms::opposite(TermId condition) {
  return is(condition, Op::opposite) ? terms_[condition].of[0] : intern({Op::opposite, 0, {condition}});
}

TermId Terms::choice(TermId condition, TermId then, TermId otherwise) {
  if (is(condition, Op::opposite)) return choice(terms_[condition].of[0], otherwise, then);
  return intern({Op::choice, 0, {condition, then, otherwise}});
}

void Tracked::set(const isa::RegisterRange& range, TermId term) {
  const size_t first = facts_->liveness.registers.first_of(range);
  // Of a wider value that loses a part the others are no value any more.
  for (size_t unit = first; unit < first + range.count; ++unit) {
    const auto at = parts_.find(unit);
    if (at == parts_.end() || at->second.count == 1) continue;
    const size_t begin = unit - at->second.index, end = begin + at->second.count;
    for (size_t other = begin; other < end; ++other) parts_[other] = {terms_->unknown(), 0, 1};
  }
  for (uint16_t k = 0; k < range.count; ++k) parts_[first + k] = {term, k, range.count};
}

void Tracked::forget(const isa::RegisterRange& range) { set(range, terms_->unknown()); }

/// Other lanes have become active: what vector registers and masks hold there is not known. Numbers are numbers.
void Tracked::forget_lanes() {
  lanes_forgotten_ = true;
  for (auto& [unit, part] : parts_)
    if (analysis::is_vector_unit(unit) || !terms_->is(part.term, Op::constant)) part = {terms_->unknown(), 0, 1};
}

TermId Tracked::holds(const isa::RegisterRange& range) {
  const size_t first = facts_->liveness.registers.first_of(range);
  const auto at = parts_.find(first);
  if (at != parts_.end()) {
    const TermId term = at->second.term;
    for (uint16_t k = 0; k < range.count; ++k) {
      const auto part = parts_.find(first + k);
      if (part == parts_.end() || part->second.term != term || part->second.index != k ||
          part->second.count != range.count)
        return terms_->unknown();
    }
    return term;
  }
  if (range.count == 1 && !all_forgotten_) {
    if (const auto item = reaching_->sole_definition(begin_, first);
        item && facts_->is_instruction(*item) && is_move(facts_->instruction(*item))) {
      const InstructionText text = parse_instruction(facts_->program.items[*item].text);
      if (text.operands.size() == 2 && text.modifiers.empty())
        if (const auto bits = constant_bits(text.operands[1])) return terms_->constant(*bits);
    }
  }
  if (lanes_forgotten_ || all_forgotten_ || range.count != 1) {
    forget(range);
    return parts_[first].term;
  }
  parts_[first] = {terms_->start(uint32_t(first)), 0, 1};
  return parts_[first].term;
}

TermId Tracked::operand(const std::string& text) {
  if (const auto bits = constant_bits(text)) return terms_->constant(*bits);
  const auto range = operand_registers(text);
  if (!range) return terms_->unknown();
  TermId term = holds(*range);
  if (text.find('|') != text.npos) term = terms_->magnitude(term);
  return text.starts_with('-') ? terms_->negative(term) : term;
}

TermId Tracked::compared(std::string_view relation, const InstructionText& text) {
  const bool negated = relation.starts_with('n') && relation != "ne";
  if (negated) relation.remove_prefix(1);
  if (text.operands.size() != 3 || (relation != "lt" && relation != "gt")) return terms_->unknown();
  const TermId a = operand(text.operands[1]), b = operand(text.operands[2]);
  const TermId holds = relation == "lt" ? terms_->less(a, b) : terms_->less(b, a);
  return negated ? terms_->opposite(holds) : holds;
}

TermId Tracked::result(const isa::Instruction& i, const InstructionText& text) {
  if (!text.modifiers.empty() || i.suffix != isa::Suffix::none) return terms_->unknown();
  const std::string_view name = isa::name_of(i);
  const auto source = [&](size_t k) { return operand(text.operands[k]); };
  constexpr std::string_view compare = "v_cmp_", single = "_f32";
  if (name.starts_with(compare) && name.ends_with(single))
    return compared(name.substr(compare.size(), name.size() - compare.size() - single.size()), text);
  if (is_move(i)) return text.operands.size() == 2 ? source(1) : terms_->unknown();
  if (name == "v_cndmask_b32" && text.operands.size() >= 3)
    return terms_->choice(operand(condition_of(text)), source(2), source(1));
  if (text.operands.size() == 3) {
    if (name == "v_sub_f32") return terms_->difference(source(1), source(2));
    if (name == "v_subrev_f32") return terms_->difference(source(2), source(1));
    if (name == "v_and_b32")
      for (const size_t k : {1u, 2u})
        if (constant_bits(text.operands[k]) == ~sign) return terms_->magnitude(source(3 - k));
  }
  const auto row = std::ranges::find(plain, name, &Plain::name);
  if (row == plain.end()) return terms_->unknown();
  const size_t count = operands_of(row->op);
  if (text.operands.size() < count || text.operands.size() > count + 1) return terms_->unknown();
  std::array<TermId, 3> of{};
  for (size_t k = 0; k < count; ++k) of[k] = source(k + 1 < text.operands.size() ? k + 1 : 0);
  switch (row->op) {
  case Op::fused:
    return terms_->fused(of[0], of[1], of[2]);
  case Op::product:
    return terms_->product(of[0], of[1]);
  case Op::sum:
    return terms_->sum(of[0], of[1]);
  default:
    return terms_->of(row->op, of[0], of[1]);
  }
}

void Tracked::follow(size_t item) {
  const isa::Instruction& i = facts_->instruction(item);
  if (i.traits.relative || analysis::is_call(i)) {
    parts_.clear();
    all_forgotten_ = true;
    return;
  }
  const InstructionText text = parse_instruction(facts_->program.items[item].text);
  std::optional<TermId> value;
  if (i.defs.size() == 1 && !text.operands.empty() && !facts_->program.items[item].raw &&
      operand_registers(text.operands[0]) == i.defs[0])
    value = result(i, text);
  for (const isa::RegisterRange& def : i.defs) forget(def);
  if (value) set(i.defs[0], *value);
  if (writes(i, exec)) forget_lanes();
}

} // namespace asmevo::search::rewrite
