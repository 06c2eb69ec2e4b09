// Sums of a loop in several registers.
//
// What a loop of one block adds up into one register is a chain: each addition waits for the one before. With two or
// four accumulators there are as many chains, which the code behind the loop adds together; where the second one is the
// neighbour of the first, two additions can become one packed one. Integers come out the same, and floats as a sum in
// another order. The loop must be entered and left in one way each and run with one EXEC, so that the lanes that add
// are the same in front of it, in it and behind it.
#include "search/drivers/rewrite/counted_loop.h"
#include "search/drivers/rewrite/known_values.h"
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/rules.h"

#include <algorithm>
#include <array>
#include <set>

namespace asmevo::search::rewrite {

namespace {

enum class Number : uint8_t { f32, f64, i32 };

struct Form {
  std::string_view name; // how it begins, for matrix instructions
  Number number;
  std::vector<size_t> (*accumulators)(const InstructionText&, const std::string&); // operands besides the result
};

std::vector<size_t> named_as(const InstructionText& text, const std::string& sum, std::initializer_list<size_t> at) {
  std::vector<size_t> found;
  for (const size_t k : at)
    if (k < text.operands.size() && text.operands[k] == sum) found.push_back(k);
  return found;
}
std::vector<size_t> first_or_second(const InstructionText& text, const std::string& sum) {
  return named_as(text, sum, {1, 2});
}
std::vector<size_t> third(const InstructionText& text, const std::string& sum) { return named_as(text, sum, {3}); }
std::vector<size_t> any(const InstructionText& text, const std::string& sum) { return named_as(text, sum, {1, 2, 3}); }
std::vector<size_t> result(const InstructionText& text, const std::string& sum) { return named_as(text, sum, {0}); }

constexpr auto forms = std::to_array<Form>({{"v_add_f32", Number::f32, first_or_second},
                                            {"v_pk_add_f32", Number::f32, first_or_second},
                                            {"v_fma_f32", Number::f32, third},
                                            {"v_pk_fma_f32", Number::f32, third},
                                            {"v_fmac_f32", Number::f32, result},
                                            {"v_add_f64", Number::f64, first_or_second},
                                            {"v_fma_f64", Number::f64, third},
                                            {"v_fmac_f64", Number::f64, result},
                                            {"v_add_u32", Number::i32, first_or_second},
                                            {"v_add3_u32", Number::i32, any},
                                            {"v_lshl_add_u32", Number::i32, third},
                                            {"v_mad_u32_u24", Number::i32, third},
                                            {"v_mad_i32_i24", Number::i32, third},
                                            {"v_mfma_f32_", Number::f32, third},
                                            {"v_mfma_i32_", Number::i32, third}});

/// The form of an instruction that adds to `range` and looks at it in no other way.
const Form* adding_form(const recover::Item& item, const isa::RegisterRange& range) {
  const isa::Instruction& i = item.instruction;
  const std::string_view name = isa::name_of(i);
  const auto form = std::ranges::find_if(
      forms, [&](const Form& f) { return f.name.ends_with('_') ? name.starts_with(f.name) : name == f.name; });
  if (form == forms.end() || item.raw || i.suffix != isa::Suffix::none || i.traits.relative || i.defs.size() != 1 ||
      i.defs[0] != range)
    return nullptr;
  const InstructionText text = parse_instruction(item.text);
  const std::string sum = register_text(range);
  const auto read = std::count_if(text.operands.begin() + 1, text.operands.end(), [&](const std::string& operand) {
    const auto named = operand_registers(operand);
    return named && named->overlaps(range);
  });
  if ((!text.modifiers.empty() && !i.traits.mfma) || text.modifiers.find("neg") != std::string::npos ||
      read != (form->accumulators == result ? 0 : 1) || form->accumulators(text, sum).size() != 1)
    return nullptr;
  return &*form;
}

struct Chain {
  isa::RegisterRange sum;
  Number number;
  std::vector<size_t> items;
};

std::vector<Chain> chains(const Facts& facts, const analysis::Block& block) {
  std::vector<Chain> found;
  std::set<uint16_t> seen;
  for (size_t first = block.first; first < block.last; ++first) {
    if (!facts.is_instruction(first) || facts.instruction(first).defs.size() != 1) continue;
    const isa::RegisterRange sum = facts.instruction(first).defs[0];
    const Form* form = sum.file == isa::File::vgpr ? adding_form(facts.program.items[first], sum) : nullptr;
    if (!form || !seen.insert(sum.first).second) continue;
    Chain chain{sum, form->number, {}};
    bool closed = true;
    for (size_t item = block.first; item < block.last; ++item) {
      if (!facts.is_instruction(item)) continue;
      const isa::Instruction& i = facts.instruction(item);
      if (!reads(i, sum) && !writes(i, sum)) continue;
      closed &= adding_form(facts.program.items[item], sum) == form;
      chain.items.push_back(item);
    }
    if (closed && chain.items.size() > 1) found.push_back(std::move(chain));
  }
  return found;
}

std::string emptied(const isa::RegisterRange& range, Number number) {
  std::string lines;
  for (uint16_t v = range.first; v < range.first + range.count; ++v) {
    const bool signed_word = number == Number::f32 || (number == Number::f64 && (v - range.first) % 2 == 1);
    lines +=
        fmt::format("{} v{}, {}\n", signed_word ? "v_bfrev_b32_e32" : "v_mov_b32_e32", v, int(signed_word)); // -0.0
  }
  return lines;
}

std::string added(const isa::RegisterRange& to, const isa::RegisterRange& from, Number number) {
  std::string lines;
  for (uint16_t k = 0; k < to.count; ++k) {
    const uint16_t a = uint16_t(to.first + k), b = uint16_t(from.first + k);
    if (number == Number::f64) {
      lines += fmt::format("v_add_f64 v[{0}:{1}], v[{0}:{1}], v[{2}:{3}]\n", a, a + 1, b, b + 1);
      ++k;
    } else {
      lines += fmt::format("{0} v{1}, v{1}, v{2}\n", number == Number::f32 ? "v_add_f32_e32" : "v_add_u32_e32", a, b);
    }
  }
  return lines;
}

class Splitting {
public:
  Splitting(const Facts& facts, const analysis::Block& block)
      : facts_(facts), block_(block), busy_(busy_registers(facts, block)) {}

  bool split(const Chain& chain, size_t times) {
    if (chain.items.size() < times) return false;
    std::vector<isa::RegisterRange> sums = {chain.sum};
    const analysis::RegisterSet before = busy_;
    while (sums.size() < times) {
      const auto next = free_registers(chain.sum);
      if (!next) {
        busy_ = before;
        return false;
      }
      sums.push_back(*next);
      front += emptied(*next, chain.number);
    }
    for (size_t k = 0; k < chain.items.size(); ++k) {
      const isa::RegisterRange& to = sums[k % times];
      if (to == chain.sum) continue;
      InstructionText text = parse_instruction(facts_.program.items[chain.items[k]].text);
      for (std::string& operand : text.operands) operand = renamed(operand, chain.sum, to);
      edits.push_back({chain.items[k], chain.items[k] + 1, write_instruction(text) + "\n"});
    }
    for (size_t step = times / 2; step > 0; step /= 2)
      for (size_t k = 0; k < step; ++k) behind += added(sums[k], sums[k + step], chain.number);
    return true;
  }

  std::string front, behind;
  std::vector<recover::Edit> edits;

private:
  /// The neighbour if it is free, or the lowest that are.
  std::optional<isa::RegisterRange> free_registers(const isa::RegisterRange& like) {
    const uint16_t count = like.count, stride = count > 1 ? 2 : 1;
    const auto take = [&](uint16_t first) -> std::optional<isa::RegisterRange> {
      const isa::RegisterRange range{isa::File::vgpr, first, count};
      if (first + count > facts_.vgpr_budget || (analysis::set_of({range}) & busy_).any()) return std::nullopt;
      busy_ |= analysis::set_of({range});
      return range;
    };
    if (count == 1)
      if (const auto neighbour = take(like.first ^ 1)) return neighbour;
    for (uint16_t v = 0; v + count <= facts_.vgpr_budget; v = uint16_t(v + stride))
      if (const auto range = take(v)) return range;
    return std::nullopt;
  }

  const Facts& facts_;
  const analysis::Block& block_;
  analysis::RegisterSet busy_;
};

std::vector<Idea> split(const Facts& facts, bool floats) {
  std::vector<Idea> ideas;
  for (uint32_t number = 0; number + 1 < facts.graph.blocks.size(); ++number) {
    const analysis::Block& block = facts.graph.blocks[number];
    const auto before = entered_from(facts, number);
    if (!before || indexes_registers(facts, block) || label_of(facts, block).empty() ||
        written_between(facts, exec, block.first, block.last) ||
        !facts.instruction(block.last - 1).traits.conditional || facts.graph.blocks[number + 1].first != block.last)
      continue;
    for (const auto& [variant, times] : {std::pair{0u, size_t{2}}, std::pair{1u, size_t{4}}}) {
      Splitting splitting(facts, block);
      size_t count = 0;
      for (const Chain& chain : chains(facts, block))
        if ((chain.number != Number::i32) == floats) count += splitting.split(chain, times);
      if (count == 0) continue;
      Idea idea{.edits = {{block.first, block.first, splitting.front}},
                .blocks = {*before, number, number + 1},
                .rationale = fmt::format("{} sums of a loop in {} accumulators", count, times),
                .promise = facts.heat_of(block.first, block.last),
                .variant = variant};
      std::ranges::sort(splitting.edits, {}, &recover::Edit::first);
      std::ranges::move(splitting.edits, std::back_inserter(idea.edits));
      idea.edits.push_back({block.last, block.last, splitting.behind});
      ideas.push_back(std::move(idea));
    }
  }
  return ideas;
}

} // namespace

std::vector<Idea> split_accumulators(const Facts& facts) { return split(facts, true); }
std::vector<Idea> split_integer_accumulators(const Facts& facts) { return split(facts, false); }

} // namespace asmevo::search::rewrite
