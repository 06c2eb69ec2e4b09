// Two 16-bit numbers at once.
//
// v_pk_mul_f16 and its kind do to both halves of a register what the single instructions do to the lower one, to the
// bit and in the same time. Compilers use them where the source has vectors of two; elsewhere halves lie in registers
// of their own, or are taken out of a register, one by a shift or by SDWA. Two instructions of a block that do not hang
// on each other become one where each pair of operands lies in one register, in whichever halves, or can be put into
// one by an instruction. The result is a new register: instructions that only look at the lower half of a register read
// the one there, stores and conversions the other one too, and for all others both are taken out again. That has to be
// less work than before.
#include "isa/traits.h"
#include "recover/recover.h"
#include "search/drivers/rewrite/block_values.h"
#include "search/drivers/rewrite/known_values.h"
#include "search/drivers/rewrite/pairing.h"
#include "search/drivers/rewrite/rules.h"

#include <algorithm>
#include <array>

namespace asmevo::search::rewrite {

namespace {

struct Form {
  std::string_view single, packed;
  size_t sources;
  bool is_float;
  size_t subtracted; // source whose sign turns; 0: none
};
constexpr auto forms = std::to_array<Form>({{"v_add_f16", "v_pk_add_f16", 2, true, 0},
                                            {"v_sub_f16", "v_pk_add_f16", 2, true, 2},
                                            {"v_subrev_f16", "v_pk_add_f16", 2, true, 1},
                                            {"v_mul_f16", "v_pk_mul_f16", 2, true, 0},
                                            {"v_fma_f16", "v_pk_fma_f16", 3, true, 0},
                                            {"v_max_f16", "v_pk_max_f16", 2, true, 0},
                                            {"v_min_f16", "v_pk_min_f16", 2, true, 0},
                                            {"v_add_u16", "v_pk_add_u16", 2, false, 0},
                                            {"v_sub_u16", "v_pk_sub_u16", 2, false, 0},
                                            {"v_mul_lo_u16", "v_pk_mul_lo_u16", 2, false, 0},
                                            {"v_max_u16", "v_pk_max_u16", 2, false, 0},
                                            {"v_min_u16", "v_pk_min_u16", 2, false, 0},
                                            {"v_max_i16", "v_pk_max_i16", 2, false, 0},
                                            {"v_min_i16", "v_pk_min_i16", 2, false, 0},
                                            {"v_lshlrev_b16", "v_pk_lshlrev_b16", 2, false, 0},
                                            {"v_lshrrev_b16", "v_pk_lshrrev_b16", 2, false, 0},
                                            {"v_ashrrev_i16", "v_pk_ashrrev_i16", 2, false, 0}});
constexpr uint32_t farthest = 64; // instructions between the two

/// Instructions besides those of `forms` that look at the lower half of an operand only.
struct LowReader {
  std::string_view name;
  size_t operand;
  std::string_view of_upper; // the same of an upper half; empty: there is none
};
constexpr auto low_readers = std::to_array<LowReader>({{"v_cvt_f32_f16", 1, "v_cvt_f32_f16_sdwa"},
                                                       {"global_store_short", 1, "global_store_short_d16_hi"},
                                                       {"flat_store_short", 1, "flat_store_short_d16_hi"},
                                                       {"buffer_store_short", 0, "buffer_store_short_d16_hi"},
                                                       {"ds_write_b16", 1, "ds_write_b16_d16_hi"}});

/// Which half SDWA takes of source `k`, counted from 1: 0 the lower, 1 the upper.
std::optional<unsigned> selected(const InstructionText& text, size_t k) {
  const std::string name = fmt::format(" src{}_sel:", k - 1);
  const size_t at = text.modifiers.find(name);
  if (at == text.modifiers.npos) return std::nullopt;
  const std::string_view rest = std::string_view(text.modifiers).substr(at + name.size());
  if (rest.starts_with("WORD_1")) return 1;
  return rest.starts_with("WORD_0") || rest.starts_with("DWORD") ? std::optional(0U) : std::nullopt;
}

const Form* form_of(const Facts& facts, size_t item, const InstructionText& text) {
  const isa::Instruction& i = facts.instruction(item);
  const auto form = std::ranges::find(forms, isa::name_of(i), &Form::single);
  if (form == forms.end() || facts.program.items[item].raw || i.traits.relative || i.defs.size() != 1 ||
      text.operands.size() != form->sources + 1 || i.suffix == isa::Suffix::dpp)
    return nullptr;
  const std::string_view modifiers = text.modifiers;
  const bool plain = i.suffix == isa::Suffix::none
                         ? modifiers.empty()
                         : modifiers.starts_with(" dst_sel:DWORD dst_unused:UNUSED_PAD ") &&
                               modifiers.find("clamp") == modifiers.npos && modifiers.find("mul:") == modifiers.npos &&
                               modifiers.find("div:") == modifiers.npos;
  return plain && (form->subtracted == 0 || facts.allow_float_rewrites) ? &*form : nullptr;
}

/// Where a 16-bit number lies: in half of a register, or as a constant, which is the same for both.
struct Half {
  std::string text;
  bool upper = false, constant = false;
};

/// Two halves of one register.
struct Together {
  std::string text;
  bool low = false, high = false; // upper halves
};

/// One register for what two hold in their lower halves.
struct Merge {
  size_t low, high; // values
  unsigned epoch;
  std::string low_text, high_text, text;
};

struct Pair {
  std::string result;
  std::vector<Together> sources;
  std::vector<size_t> merges;
  std::array<std::vector<std::string>, 2> used; // what the operands of each of the two became
  std::string line;
};

template <class T> bool has(const std::vector<T>& all, const T& one) {
  return std::ranges::find(all, one) != all.end();
}

std::string_view without_sign(std::string_view operand) {
  return operand.starts_with('-') ? operand.substr(1) : operand;
}

class HalfPacking {
public:
  HalfPacking(const Facts& facts, const analysis::Block& block)
      : facts_(facts), block_(block),
        graph_(analysis::dependences(facts.program, facts.function, block.first, block.last)),
        values_(facts, block, graph_), pairs_(graph_), packed_(graph_.items.size()) {
    for (uint32_t node = 0; node < graph_.items.size(); ++node)
      forms_.push_back(form_of(facts, graph_.items[node], values_.text(node)));
  }

  /// How many instructions fewer there are.
  int run(bool may_merge) {
    int saved = 0;
    for (const bool merging : {false, true})
      for (uint32_t a = 0; a < forms_.size() && (may_merge || !merging); ++a)
        for (uint32_t b = a + 1; b < std::min<size_t>(forms_.size(), a + farthest) && !pairs_.partner(a); ++b)
          if (forms_[a] && forms_[a] == forms_[b] && !pairs_.partner(b) && pack(a, b, merging)) ++saved;
    if (saved == 0) return 0;
    for (uint32_t node = 0; node < forms_.size(); ++node)
      if (pairs_.partner(node)) serve_readers(node);
    return fits_ ? saved - int(merges_.size()) - int(taken_out_.size()) + int(moved_) : 0;
  }

  std::optional<recover::Edit> edit() const {
    std::vector<bool> merged(merges_.size(), false);
    return in_order(facts_, graph_, pairs_.order(), [&](uint32_t node) { return lines_of(node, merged); });
  }

private:
  bool keeps_half(uint32_t node) const {
    return isa::keeps_other_half(isa::name_of(facts_.instruction(graph_.items[node])));
  }

  const Pair& pair_of(uint32_t node) const { return *packed_[std::max(node, *pairs_.partner(node))]; }
  bool is_second(uint32_t node) const { return node > *pairs_.partner(node); }

  /// Behind shifts, masks and pairs that there are.
  std::optional<Half> half_of(uint32_t node, size_t operand) const {
    const InstructionText& text = values_.text(node);
    const std::string_view named = without_sign(text.operands[operand]);
    if (named.find('|') != named.npos || named.find("sext") != named.npos) return std::nullopt;
    const auto range = operand_registers(named);
    const bool sdwa = facts_.instruction(graph_.items[node]).suffix == isa::Suffix::sdwa;
    const auto half = sdwa ? selected(text, operand) : std::optional(0U);
    if (!half || (range && (range->count != 1 || range->file == isa::File::agpr))) return std::nullopt;
    if (!range && !forms_[node]->is_float && named.find('.') != named.npos) return std::nullopt; // of which width?
    Half found{std::string(named), *half == 1, !range};
    const auto value = values_.read_by(node, operand);
    if (!value || !values_[*value].maker) return found;
    return behind(*values_[*value].maker, values_.epoch(node), std::move(found));
  }

  std::optional<Half> behind(uint32_t maker, unsigned epoch, Half found) const {
    if (pairs_.partner(maker)) {
      if (found.upper) return std::nullopt;
      if (values_.epoch(maker) != epoch) return found; // taken out for it
      return Half{pair_of(maker).result, is_second(maker)};
    }
    const InstructionText& text = values_.text(maker);
    const bool shift = base_mnemonic(text.mnemonic) == "v_lshrrev_b32" && text.operands[1] == "16";
    const bool mask = base_mnemonic(text.mnemonic) == "v_and_b32" && text.operands[1] == "0xffff";
    if ((!shift && !mask) || found.upper || values_.epoch(maker) != epoch || !text.modifiers.empty()) return found;
    const auto source = values_.read_by(maker, 2);
    if (!source || !values_[*source].lasts) return found;
    if (values_[*source].maker && pairs_.partner(*values_[*source].maker)) return found;
    return Half{text.operands[2], shift};
  }

  std::optional<Together> together(uint32_t a, size_t operand_a, uint32_t b, size_t operand_b, bool merging,
                                   Pair& pair) {
    const auto half_a = half_of(a, operand_a), half_b = half_of(b, operand_b);
    if (!half_a || !half_b) return std::nullopt;
    pair.used[0].push_back(half_a->text);
    pair.used[1].push_back(half_b->text);
    if (half_a->text == half_b->text) return Together{half_a->text, half_a->upper, half_b->upper};
    if (!merging) return std::nullopt;
    const auto low = as_it_is(a, operand_a), high = as_it_is(b, operand_b);
    const std::string low_text(without_sign(values_.text(a).operands[operand_a]));
    const std::string high_text(without_sign(values_.text(b).operands[operand_b]));
    if (!low || !high || bits_of(facts_, block_, graph_.items[a], low_text) > 16) return std::nullopt;
    const auto same = [&](const Merge& m) { return m.low == *low && m.high == *high && m.epoch == values_.epoch(b); };
    auto merge = std::ranges::find_if(merges_, same);
    if (merge == merges_.end()) {
      const auto vgpr = values_.take_free();
      if (!vgpr) return std::nullopt;
      merges_.push_back({*low, *high, values_.epoch(b), low_text, high_text, fmt::format("v{}", *vgpr)});
      merge = merges_.end() - 1;
    }
    pair.merges.push_back(size_t(merge - merges_.begin()));
    return Together{merge->text, false, true};
  }

  /// The value in the lower half of the register that the operand names.
  std::optional<size_t> as_it_is(uint32_t node, size_t operand) const {
    if (facts_.instruction(graph_.items[node]).suffix != isa::Suffix::none) return std::nullopt;
    const auto value = values_.read_by(node, operand);
    const bool there = value && !(values_[*value].maker && pairs_.partner(*values_[*value].maker));
    return there ? value : std::nullopt;
  }

  bool pack(uint32_t a, uint32_t b, bool merging) {
    if (values_.epoch(a) != values_.epoch(b) || !values_.made_by(a) || !values_.made_by(b)) return false;
    for (const bool turned : {false, true}) {
      const bool may_turn = forms_[a]->is_float ? facts_.allow_float_rewrites && forms_[a]->subtracted == 0 : false;
      if (turned && !may_turn) break;
      const size_t merges = merges_.size();
      auto pair = pair_up(a, b, merging, turned);
      if (pair && facts_.codec.assemble(pair->line) && pairs_.join(a, b)) {
        packed_[b] = std::move(pair);
        return true;
      }
      if (pair) values_.give_back(pair->result);
      for (; merges_.size() > merges; merges_.pop_back()) values_.give_back(merges_.back().text);
    }
    return false;
  }

  std::optional<Pair> pair_up(uint32_t a, uint32_t b, bool merging, bool turned) {
    const Form& form = *forms_[a];
    Pair pair;
    std::vector<bool> low, high, minus_low, minus_high;
    std::vector<std::string> operands = {""};
    for (size_t k = 1; k <= form.sources; ++k) {
      const size_t other = turned && k < 3 ? 3 - k : k;
      const auto found = together(a, k, b, other, merging, pair);
      if (!found) return std::nullopt;
      operands.push_back(found->text);
      low.push_back(found->low);
      high.push_back(found->high);
      minus_low.push_back(values_.text(a).operands[k].starts_with('-') != (k == form.subtracted));
      minus_high.push_back(values_.text(b).operands[other].starts_with('-') != (other == form.subtracted));
    }
    const auto result = values_.take_free();
    if (!result) return std::nullopt;
    pair.result = fmt::format("v{}", *result);
    operands[0] = pair.result;
    pair.line =
        write_instruction({std::string(form.packed), operands,
                           selection("op_sel", low, false) + selection("op_sel_hi", high, true) +
                               selection("neg_lo", minus_low, false) + selection("neg_hi", minus_high, false)}) +
        "\n";
    return pair;
  }

  /// Lets those that read the result of one of a pair find it.
  void serve_readers(uint32_t node) {
    const BlockValues::Value& value = values_[*values_.made_by(node)];
    bool needed = value.goes_on;
    for (const uint32_t other : value.other_readers) needed |= !pairs_.partner(other);
    for (const auto& [reader, operand] : value.readers) needed |= !finds(reader, operand, node);
    if (!needed) return;
    fits_ &= !keeps_half(node); // what was in the upper half before is gone
    taken_out_.push_back(node);
  }

  /// Whether the reader does without the register that the result of `maker` was in.
  bool finds(uint32_t reader, size_t operand, uint32_t maker) {
    const std::string& result = pair_of(maker).result;
    if (pairs_.partner(reader)) return has(pair_of(reader).used[is_second(reader)], result);
    if (values_.epoch(reader) != values_.epoch(maker)) return false;
    if (puts_back(reader, maker)) return true;
    const isa::Instruction& i = facts_.instruction(graph_.items[reader]);
    if (i.suffix != isa::Suffix::none) return false;
    InstructionText text = rewritten_.contains(reader) ? rewritten_[reader] : values_.text(reader);
    const auto known = std::ranges::find(low_readers, isa::name_of(i), &LowReader::name);
    const bool reads_low = known != low_readers.end() ? known->operand == operand : forms_[reader] != nullptr;
    if (!reads_low || (is_second(maker) && known == low_readers.end())) return false;
    if (known != low_readers.end() && is_second(maker)) {
      if (text.operands[operand] != fmt::format("v{}", values_[*values_.made_by(maker)].vgpr)) return false; // a sign
      text.mnemonic = known->of_upper;
      if (known->of_upper.ends_with("_sdwa")) text.modifiers += " dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1";
    }
    const uint16_t to = operand_registers(result)->first;
    text.operands[operand] = renamed(
        text.operands[operand], {isa::File::vgpr, values_[*values_.made_by(maker)].vgpr, 1}, {isa::File::vgpr, to, 1});
    if (!facts_.codec.assemble(write_instruction(text))) return false;
    rewritten_[reader] = text;
    return true;
  }

  /// Whether the reader does nothing but put the two of the pair of `maker` into one register.
  bool puts_back(uint32_t reader, uint32_t maker) {
    const InstructionText& text = values_.text(reader);
    const std::string_view name = base_mnemonic(text.mnemonic);
    const uint32_t second = std::max(maker, *pairs_.partner(maker)), first = std::min(maker, *pairs_.partner(maker));
    const bool shifted = name == "v_lshl_or_b32" && text.operands[2] == "16" && !keeps_half(first);
    const bool halves = name == "v_pack_b32_f16" && text.modifiers.empty() && forms_[first]->is_float;
    if (!shifted && !halves) return false;
    const auto lower = values_.read_by(reader, shifted ? 3 : 1), upper = values_.read_by(reader, shifted ? 1 : 2);
    if (lower != values_.made_by(first) || upper != values_.made_by(second)) return false;
    for (const std::string& operand : text.operands)
      if (operand.find_first_of("-|") != operand.npos) return false;
    if (!rewritten_.contains(reader)) ++moved_; // copies are read through
    rewritten_[reader] = {"v_mov_b32_e32", {text.operands[0], pair_of(maker).result}, ""};
    return true;
  }

  std::string lines_of(uint32_t node, std::vector<bool>& merged) const {
    const size_t item = graph_.items[node];
    if (!pairs_.partner(node)) {
      const auto text = rewritten_.find(node);
      return text == rewritten_.end() ? recover::print_items(facts_.program, item, item + 1)
                                      : write_instruction(text->second) + "\n";
    }
    std::string lines;
    const Pair& pair = pair_of(node);
    for (const size_t m : pair.merges) {
      const Merge& merge = merges_[m];
      if (!merged[m])
        lines += fmt::format("v_lshl_or_b32 {}, {}, 16, {}\n", merge.text, merge.high_text, merge.low_text);
      merged[m] = true;
    }
    lines += pair.line;
    for (const uint32_t of : {*pairs_.partner(node), node}) {
      if (!has(taken_out_, of)) continue;
      const uint16_t vgpr = values_[*values_.made_by(of)].vgpr;
      lines += is_second(of) ? fmt::format("v_lshrrev_b32_e32 v{}, 16, {}\n", vgpr, pair.result)
                             : fmt::format("v_and_b32_e32 v{}, 0xffff, {}\n", vgpr, pair.result);
    }
    return lines;
  }

  const Facts& facts_;
  const analysis::Block& block_;
  analysis::DependenceGraph graph_;
  BlockValues values_;
  Pairing pairs_;
  std::vector<std::optional<Pair>> packed_; // by the second node of a pair
  std::vector<const Form*> forms_;          // by node
  std::vector<Merge> merges_;
  std::vector<uint32_t> taken_out_; // nodes whose results are put into their registers
  std::map<uint32_t, InstructionText> rewritten_;
  size_t moved_ = 0;
  bool fits_ = true;
};

bool has_two(const Facts& facts, const analysis::Block& block) {
  size_t count = 0;
  for (size_t item = block.first; item < block.last; ++item)
    count += facts.is_instruction(item) &&
             std::ranges::find(forms, isa::name_of(facts.instruction(item)), &Form::single) != forms.end();
  return count > 1;
}

} // namespace

std::vector<Idea> packed_halves(const Facts& facts) {
  std::vector<Idea> ideas;
  for (const analysis::Block& block : facts.graph.blocks) {
    if (!has_two(facts, block) || indexes_registers(facts, block)) continue;
    for (const bool may_merge : {true, false}) {
      HalfPacking packing(facts, block);
      const int saved = packing.run(may_merge);
      const auto edit = saved > 0 ? packing.edit() : std::nullopt;
      if (!edit) continue;
      ideas.push_back({.edits = {*edit},
                       .blocks = {},
                       .rationale = fmt::format("pairs of 16-bit instructions as packed ones, {} fewer", saved),
                       .promise = facts.heat_of(block.first, block.last)});
      break;
    }
  }
  return ideas;
}

} // namespace asmevo::search::rewrite
