#include "search/drivers/rewrite/recipe.h"

#include "search/drivers/rewrite/local.h"

#include <algorithm>
#include <array>

namespace asmevo::search::rewrite {

namespace {

/// Takes no longer than an addition.
bool is_cheap(const isa::Instruction& i) {
  constexpr std::array slow = {"_f64",    "_u64",    "_i64",  "_b64",  "mul_lo", "mul_hi", "rcp", "rsq",
                               "sqrt",    "exp",     "log",   "sin",   "cos",    "div_",   "sad", "mqsad",
                               "mad_u64", "mad_i64", "frexp", "ldexp", "interp", "trig"};
  const std::string_view name = isa::name_of(i);
  return i.defs[0].count == 1 &&
         std::ranges::none_of(slow, [&](std::string_view part) { return name.find(part) != name.npos; });
}

bool is_step(const Facts& facts, size_t item) {
  if (!facts.is_instruction(item) || !computes_by_lane(facts, item)) return false;
  const isa::Instruction& i = facts.instruction(item);
  // EXEC as a number is another one elsewhere.
  const auto named = std::span(i.uses).first(i.explicit_uses);
  return is_cheap(i) && std::ranges::none_of(named, [](const auto& use) { return use.overlaps(exec); });
}

void add_sources(const isa::Instruction& i, const isa::RegisterRange& but, std::vector<isa::RegisterRange>& sources) {
  for (const isa::RegisterRange& use : i.uses)
    if (!use.overlaps(exec) && use != but) sources.push_back(use);
}

} // namespace

std::vector<Recipe> Recipe::of(const Facts& facts, const analysis::Block& block, size_t item) {
  std::vector<Recipe> recipes;
  if (!is_step(facts, item)) return recipes;
  const isa::Instruction& last = facts.instruction(item);
  Recipe alone;
  alone.items_ = {item};
  add_sources(last, {isa::File::scc, 0, 0}, alone.sources_);
  recipes.push_back(std::move(alone));
  for (const isa::RegisterRange& use : last.uses) {
    if (use.file != isa::File::vgpr || use.count != 1) continue;
    const auto in_part = [&](const auto& other) { return other.overlaps(use) && other != use; };
    if (std::ranges::any_of(last.uses, in_part)) continue;
    const auto made = definition_of(facts, block, item, use);
    if (!made || !is_step(facts, *made) || facts.instruction(*made).defs[0] != use ||
        written_between(facts, exec, *made, item))
      continue;
    Recipe both;
    both.items_ = {*made, item};
    both.between_ = use;
    add_sources(facts.instruction(*made), {isa::File::scc, 0, 0}, both.sources_);
    add_sources(last, use, both.sources_);
    recipes.push_back(std::move(both));
  }
  return recipes;
}

std::string Recipe::text(const Facts& facts, const isa::RegisterRange& to) const {
  if (items_.size() > 1)
    for (const isa::RegisterRange& use : facts.instruction(items_[1]).uses)
      if (use.overlaps(to) && use != between_) return "";
  std::string lines;
  for (const size_t item : items_) {
    InstructionText text = parse_instruction(facts.program.items[item].text);
    text.operands[0] = register_text(to);
    for (size_t k = 1; k < text.operands.size() && item != items_.front(); ++k)
      text.operands[k] = renamed(text.operands[k], between_, to);
    lines += write_instruction(text) + "\n";
  }
  return lines;
}

} // namespace asmevo::search::rewrite
