// The same value computed twice.
//
// Within a block, an instruction whose text and sources equal those of an earlier one, with nothing in between that
// writes a source, the earlier result or EXEC, only copies a value that is already there. It becomes a move, and the
// move usually disappears when copies are propagated.
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/rules.h"

#include <unordered_map>

namespace asmevo::search::rewrite {

namespace {

/// One result register (or pair), nothing implicit, nothing but registers in and out.
bool is_pure(const isa::Instruction& i) {
  const isa::Traits& t = i.traits;
  if (!(t.valu || t.salu) || t.mfma || t.branch || t.side_effects || t.barrier || t.waitcnt) return false;
  if (i.defs.size() != 1 || i.explicit_defs != 1 || i.defs[0].count > 2) return false;
  for (const isa::RegisterRange& use : i.uses)
    if (use.overlaps(i.defs[0])) return false;
  return i.defs[0].file == isa::File::vgpr || i.defs[0].file == isa::File::sgpr;
}

std::optional<std::string> move_text(const isa::Instruction& from, const isa::Instruction& to,
                                     const isa::Target& target) {
  const isa::RegisterRange &source = from.defs[0], &destination = to.defs[0];
  std::string_view mnemonic;
  if (destination.file == isa::File::sgpr)
    mnemonic = destination.count == 2 ? "s_mov_b64" : "s_mov_b32";
  else if (destination.count == 1)
    mnemonic = "v_mov_b32";
  else if (target.processor >= isa::Processor::gfx90a)
    mnemonic = "v_pk_mov_b32";
  else
    return std::nullopt;
  if (mnemonic == "v_pk_mov_b32")
    return fmt::format("v_pk_mov_b32 {}, {}, {} op_sel:[0,1]\n", register_text(destination), register_text(source),
                       register_text(source));
  return fmt::format("{} {}, {}\n", mnemonic, register_text(destination), register_text(source));
}

/// What must be equal: everything but the destination.
std::string key_of(const Facts& facts, size_t item) {
  InstructionText text = parse_instruction(facts.program.items[item].text);
  std::string key(base_mnemonic(text.mnemonic));
  for (size_t i = 1; i < text.operands.size(); ++i) key += "," + text.operands[i];
  return key + text.modifiers;
}

bool still_holds(const Facts& facts, size_t earlier, size_t item) {
  const isa::Instruction& first = facts.instruction(earlier);
  for (const isa::RegisterRange& use : first.uses)
    if (written_between(facts, use, earlier + 1, item)) return false;
  return !written_between(facts, first.defs[0], earlier + 1, item);
}

} // namespace

std::vector<Idea> remove_duplicates(const Facts& facts) {
  Idea idea;
  for (const analysis::Block& block : facts.graph.blocks) {
    std::unordered_map<std::string, size_t> seen;
    for (size_t item = block.first; item < block.last; ++item) {
      if (!facts.is_instruction(item) || !is_pure(facts.instruction(item))) continue;
      auto [at, fresh] = seen.try_emplace(key_of(facts, item), item);
      if (fresh) continue;
      if (still_holds(facts, at->second, item)) {
        if (auto text = move_text(facts.instruction(at->second), facts.instruction(item), facts.program.target)) {
          idea.edits.push_back({item, item + 1, *text});
          idea.promise += facts.heat_of(item, item + 1);
          continue;
        }
      }
      at->second = item;
    }
  }
  if (idea.edits.empty()) return {};
  idea.rationale = fmt::format("{} value{} computed twice", idea.edits.size(), idea.edits.size() == 1 ? "" : "s");
  return {idea};
}

} // namespace asmevo::search::rewrite
