// Two products, sums or fused products at once.
//
// From gfx90a on, v_pk_mul_f32, v_pk_add_f32 and v_pk_fma_f32 do to two neighbouring registers what the single ones do
// to one, to the bit and in the same time. Compilers use them where the source has vectors of two. Here two
// instructions of a block that do not hang on each other become one, wherever their operands lie in one aligned pair of
// registers (either half of which may be either operand) or can be moved there. All else keeps its order, but for what
// has to wait for the second of the two.
//
// Where floats may differ, a difference is a sum with one sign turned, and factors change places: that is the same to
// the bit for all numbers, but may give another NaN.
#include "recover/recover.h"
#include "search/drivers/rewrite/known_values.h"
#include "search/drivers/rewrite/packed_values.h"
#include "search/drivers/rewrite/pairing.h"
#include "search/drivers/rewrite/rules.h"

#include <algorithm>
#include <array>

namespace asmevo::search::rewrite {

namespace {

using analysis::DependenceGraph;

struct Form {
  std::string_view single, packed;
  size_t sources; // written ones
  bool adds_to_destination;
  size_t subtracted; // source; 0: none
};
constexpr auto forms = std::to_array<Form>({{"v_mul_f32", "v_pk_mul_f32", 2, false, 0},
                                            {"v_add_f32", "v_pk_add_f32", 2, false, 0},
                                            {"v_sub_f32", "v_pk_add_f32", 2, false, 2},
                                            {"v_subrev_f32", "v_pk_add_f32", 2, false, 1},
                                            {"v_fma_f32", "v_pk_fma_f32", 3, false, 0},
                                            {"v_fmac_f32", "v_pk_fma_f32", 2, true, 0}});
constexpr uint32_t farthest = 64; // instructions between the two

const Form* form_of(const Facts& facts, size_t item, const InstructionText& text) {
  const isa::Instruction& i = facts.instruction(item);
  const auto form = std::ranges::find(forms, isa::name_of(i), &Form::single);
  if (form == forms.end() || i.suffix != isa::Suffix::none || facts.program.items[item].raw || i.traits.relative ||
      i.defs.size() != 1 || !text.modifiers.empty() || text.operands.size() != form->sources + 1)
    return nullptr;
  return form->subtracted == 0 || facts.allow_float_rewrites ? form : nullptr;
}

class Packing {
public:
  Packing(const Facts& facts, const analysis::Block& block)
      : facts_(facts), graph_(analysis::dependences(facts.program, facts.function, block.first, block.last)),
        values_(facts, block, graph_), pairs_(graph_) {
    for (uint32_t node = 0; node < graph_.items.size(); ++node)
      forms_.push_back(form_of(facts, graph_.items[node], values_.text(node)));
    lines_.resize(graph_.items.size());
  }

  /// How many pairs there are.
  size_t run() {
    size_t count = 0;
    for (const bool may_move : {false, true})
      for (uint32_t a = 0; a < forms_.size(); ++a)
        for (uint32_t b = a + 1; b < std::min<size_t>(forms_.size(), a + farthest) && !pairs_.partner(a); ++b)
          if (forms_[a] && forms_[a] == forms_[b] && !pairs_.partner(b)) count += pack(a, b, may_move);
    return count;
  }

  std::optional<recover::Edit> edit() const {
    return in_order(facts_, graph_, pairs_.order(), [&](uint32_t node) {
      if (!lines_[node].empty()) return lines_[node];
      const InstructionText moved = values_.moved_text(node);
      if (moved.operands != values_.text(node).operands) return write_instruction(moved) + "\n";
      return recover::print_items(facts_.program, graph_.items[node], graph_.items[node] + 1);
    });
  }

private:
  bool pack(uint32_t a, uint32_t b, bool may_move) {
    if (values_.epoch(a) != values_.epoch(b)) return false;
    for (const bool turned : {false, true}) {
      if (turned && !facts_.allow_float_rewrites) break;
      PackedValues::Places places;
      const std::string line = packed(a, b, may_move, turned, places);
      if (line.empty()) continue;
      if (!facts_.codec.assemble(line)) continue;
      if (!pairs_.join(a, b)) return false;
      values_.settle(places);
      lines_[b] = line;
      return true;
    }
    return false;
  }

  /// Nothing where the operands do not lie as they have to. `turned`: the first two sources of `b` change places.
  std::string packed(uint32_t a, uint32_t b, bool may_move, bool turned, PackedValues::Places& places) const {
    const Form& form = *forms_[a];
    const auto to_a = values_.named(a, 0), to_b = values_.named(b, 0);
    const auto to = to_a && to_b ? values_.together(*to_a, *to_b, may_move, places) : std::nullopt;
    if (!to || to->low == to->high) return {};
    std::vector<std::string> operands = {pair_text(*to)};
    std::vector<bool> low, high, minus_low, minus_high;
    for (size_t k = 1; k <= form.sources; ++k) {
      const size_t other = turned && k < 3 ? 3 - k : k;
      const auto from_a = values_.named(a, k), from_b = values_.named(b, other);
      const auto from = from_a && from_b ? values_.together(*from_a, *from_b, may_move, places) : std::nullopt;
      if (!from) return {};
      operands.push_back(pair_text(*from));
      low.push_back(from->low);
      high.push_back(from->high);
      minus_low.push_back(values_.text(a).operands[k].starts_with('-') != (k == form.subtracted));
      minus_high.push_back(values_.text(b).operands[other].starts_with('-') != (other == form.subtracted));
    }
    if (form.adds_to_destination) {
      operands.push_back(operands[0]);
      low.push_back(to->low);
      high.push_back(to->high);
      minus_low.push_back(false);
      minus_high.push_back(false);
    }
    if (to->low) { // the result of `a` is the upper one
      std::swap(low, high);
      std::swap(minus_low, minus_high);
    }
    return write_instruction({std::string(form.packed), operands,
                              selection("op_sel", low, false) + selection("op_sel_hi", high, true) +
                                  selection("neg_lo", minus_low, false) + selection("neg_hi", minus_high, false)}) +
           "\n";
  }

  static std::string pair_text(const Halves& halves) {
    return fmt::format("{0}[{1}:{2}]", halves.file == isa::File::vgpr ? 'v' : 's', halves.base, halves.base + 1);
  }

  const Facts& facts_;
  DependenceGraph graph_;
  PackedValues values_;
  Pairing pairs_;
  std::vector<const Form*> forms_; // by node
  std::vector<std::string> lines_; // of pairs
};

bool has_two(const Facts& facts, const analysis::Block& block) {
  size_t count = 0;
  for (size_t item = block.first; item < block.last; ++item)
    count += facts.is_instruction(item) &&
             std::ranges::find(forms, isa::name_of(facts.instruction(item)), &Form::single) != forms.end();
  return count > 1;
}

} // namespace

std::vector<Idea> packed_arithmetic(const Facts& facts) {
  std::vector<Idea> ideas;
  for (const analysis::Block& block : facts.graph.blocks) {
    if (!has_two(facts, block) || indexes_registers(facts, block)) continue;
    Packing packing(facts, block);
    const size_t count = packing.run();
    const auto edit = count > 0 ? packing.edit() : std::nullopt;
    if (!edit) continue;
    ideas.push_back({.edits = {*edit},
                     .blocks = {},
                     .rationale = fmt::format("{} pairs of arithmetic instructions as packed ones", count),
                     .promise = facts.heat_of(block.first, block.last)});
  }
  return ideas;
}

} // namespace asmevo::search::rewrite
