// Exchanges between lanes without LDS.
//
// Reductions over a wave are written as ds_bpermute with address (lane ^ k) * 4: through the LDS crossbar, with a wait,
// and an address to compute. The vector ALU can do most of them while it reads an operand: for k below 4 within each
// four lanes (quad_perm), for 8 by turning rows of sixteen round by half (row_ror:8), for 4 by shifting a row up in
// every other four lanes and down in the rest. For 16 there is ds_swizzle, which needs no address. All of them read 0
// from a lane that is off (bound_ctrl), as ds_bpermute does, so they are the same under every EXEC.
//
// Where the result has one reader that can take it as its operand (the sum, the maximum), no move is left.
#include "analysis/reaching.h"
#include "search/drivers/rewrite/counted_loop.h"
#include "search/drivers/rewrite/dpp.h"
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/rules.h"

#include <algorithm>

namespace asmevo::search::rewrite {

namespace {

using analysis::Reaching;

/// The instruction that alone decides a VGPR operand of `item`, where it is `mnemonic`.
std::optional<Line> decided_by(const Facts& facts, const Reaching& reaching, size_t item, const std::string& operand,
                               std::string_view mnemonic) {
  const auto range = operand_registers(operand);
  if (!range || range->file != isa::File::vgpr || range->count != 1 || operand != register_text(*range))
    return std::nullopt;
  const auto at = reaching.sole_definition(item, reaching.registers().first_of(*range));
  if (!at || *at == Reaching::entry || isa::name_of(facts.instruction(*at)) != mnemonic ||
      facts.instruction(*at).suffix != isa::Suffix::none)
    return std::nullopt;
  return Line{*at, parse_instruction(facts.program.items[*at].text)};
}

/// Whether an operand of `item` is four times the number of the lane.
bool is_lane_address(const Facts& facts, const Reaching& reaching, size_t item, const std::string& operand) {
  const auto shift = decided_by(facts, reaching, item, operand, "v_lshlrev_b32");
  if (!shift || shift->text.operands.size() != 3 || shift->text.operands[1] != "2") return false;
  const auto high = decided_by(facts, reaching, shift->item, shift->text.operands[2], "v_mbcnt_hi_u32_b32");
  if (!high || high->text.operands.size() != 3 || high->text.operands[1] != "-1") return false;
  const auto low = decided_by(facts, reaching, high->item, high->text.operands[2], "v_mbcnt_lo_u32_b32");
  return low && low->text.operands.size() == 3 && low->text.operands[1] == "-1" && low->text.operands[2] == "0";
}

struct Exchange {
  size_t item = 0, address_item = 0; // ds_bpermute, and v_xor that makes its address
  unsigned lanes = 0;                // k
  std::string destination, source;
};

std::optional<Exchange> exchange_at(const Facts& facts, const Reaching& reaching, size_t item) {
  if (!facts.is_instruction(item) || isa::name_of(facts.instruction(item)) != "ds_bpermute_b32") return std::nullopt;
  const InstructionText text = parse_instruction(facts.program.items[item].text);
  if (text.operands.size() != 3 || !text.modifiers.empty()) return std::nullopt;
  for (const std::string& operand : text.operands)
    if (const auto range = operand_registers(operand); !range || range->file != isa::File::vgpr) return std::nullopt;
  const auto address = decided_by(facts, reaching, item, text.operands[1], "v_xor_b32");
  if (!address || address->text.operands.size() != 3) return std::nullopt;
  for (const size_t constant : {1, 2}) {
    const auto by = constant_of(address->text.operands[constant]);
    if (by && *by > 0 && *by % 4 == 0 && *by <= 64 &&
        is_lane_address(facts, reaching, address->item, address->text.operands[3 - constant]))
      return Exchange{item, address->item, unsigned(*by / 4), text.operands[0], text.operands[2]};
  }
  return std::nullopt;
}

/// How the vector ALU reads lane ^ k; empty where it takes more than one operand.
std::string control_of(unsigned k) {
  if (k < 4) return fmt::format("quad_perm:[{},{},{},{}]", k, 1 ^ k, 2 ^ k, 3 ^ k);
  return k == 8 ? "row_ror:8" : "";
}

std::string moved(const Exchange& e) {
  if (const std::string control = control_of(e.lanes); !control.empty())
    return fmt::format("v_mov_b32_dpp {}, {} {} {}\n", e.destination, e.source, control, all_lanes);
  // The second move would read what the first has written.
  if (e.lanes == 4 && e.destination != e.source)
    return fmt::format("v_mov_b32_dpp {0}, {1} row_shl:4 row_mask:0xf bank_mask:0x5 bound_ctrl:1\n"
                       "v_mov_b32_dpp {0}, {1} row_shr:4 row_mask:0xf bank_mask:0xa bound_ctrl:1\n",
                       e.destination, e.source);
  if (e.lanes == 16) return fmt::format("ds_swizzle_b32 {}, {} offset:swizzle(SWAP,16)\n", e.destination, e.source);
  return {};
}

/// The one reader of the result, where it can read the other lane itself: the edit that makes it.
std::optional<recover::Edit> read_by(const Facts& facts, const analysis::Block& block, const Exchange& e) {
  const isa::RegisterRange result = *operand_registers(e.destination), source = *operand_registers(e.source);
  if (result == source) return std::nullopt;
  for (size_t item = e.item + 1; item < block.last; ++item) {
    if (!facts.is_instruction(item)) continue;
    const isa::Instruction& i = facts.instruction(item);
    if (!reads(i, result)) {
      if (writes(i, result) || writes(i, source) || writes(i, exec)) return std::nullopt;
      continue;
    }
    const InstructionText text = parse_instruction(facts.program.items[item].text);
    if (!is_commutative(base_mnemonic(text.mnemonic)) || !text.mnemonic.ends_with("_e32") || text.operands.size() != 3)
      return std::nullopt;
    const size_t at = text.operands[1] == e.destination ? 1 : 2;
    const std::string& other = text.operands[3 - at];
    const auto range = operand_registers(other);
    if (text.operands[at] != e.destination || other == e.destination || !range || range->file != isa::File::vgpr)
      return std::nullopt;
    const bool replaced = writes(i, result); // whose lanes are those that read it
    if (!replaced && facts.live_after(item)[analysis::bit_of(isa::File::vgpr, result.first)]) return std::nullopt;
    return recover::Edit{item, item + 1,
                         fmt::format("{}_dpp {}, {}, {} {} {}\n", base_mnemonic(text.mnemonic), text.operands[0],
                                     e.source, other, control_of(e.lanes), all_lanes)};
  }
  return std::nullopt;
}

} // namespace

std::vector<Idea> lane_exchanges(const Facts& facts) {
  const Reaching reaching(facts.program, facts.function, facts.graph);
  std::vector<Idea> ideas;
  for (const analysis::Block& block : facts.graph.blocks) {
    Idea idea;
    size_t count = 0;
    for (size_t item = block.first; item < block.last; ++item) {
      const auto exchange = exchange_at(facts, reaching, item);
      const std::string move = exchange ? moved(*exchange) : "";
      if (move.empty()) continue;
      const auto reader = control_of(exchange->lanes).empty() ? std::nullopt : read_by(facts, block, *exchange);
      idea.edits.push_back({item, item + 1, reader ? "" : move});
      if (reader) idea.edits.push_back(*reader);
      idea.blocks.push_back(facts.graph.block_of[exchange->address_item - facts.function.first]);
      ++count;
    }
    if (count == 0) continue;
    std::ranges::sort(idea.edits, {}, &recover::Edit::first);
    const auto twice = std::ranges::adjacent_find(idea.edits, {}, &recover::Edit::first);
    if (twice != idea.edits.end()) continue;
    idea.rationale = fmt::format("{} exchanges between lanes without an address", count);
    idea.promise = facts.heat_of(block.first, block.last);
    ideas.push_back(std::move(idea));
  }
  return ideas;
}

} // namespace asmevo::search::rewrite
