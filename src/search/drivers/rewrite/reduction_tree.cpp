#include "search/drivers/rewrite/reduction_tree.h"

#include "analysis/memory.h"
#include "search/drivers/rewrite/counted_loop.h"
#include "search/drivers/rewrite/exec_skips.h"
#include "search/drivers/rewrite/local.h"

#include <algorithm>
#include <bit>

namespace asmevo::search::rewrite {

namespace {

using recover::ItemKind;

constexpr int64_t most_lanes = 512;

bool only_waits(const isa::Instruction& i) { return i.traits.waitcnt || isa::name_of(i) == "s_nop"; }

/// One VGPR from operands that the text names, lane by lane.
bool is_lane_arithmetic(const isa::Instruction& i, const InstructionText& line) {
  if (!i.traits.valu || i.traits.mfma || i.traits.side_effects || i.traits.relative) return false;
  if (i.suffix != isa::Suffix::none || isa::name_of(i).find("lane") != std::string_view::npos) return false;
  if (i.defs.size() != 1 || i.explicit_defs != 1 || !is_single_vgpr(line.operands[0])) return false;
  return std::ranges::all_of(i.uses, [&](const isa::RegisterRange& use) {
    if (use.file != isa::File::vgpr) return true;
    const auto named = std::count_if(line.operands.begin() + 1, line.operands.end(), [&](const std::string& operand) {
      return operand_registers(operand) == std::optional(use);
    });
    return use.count == 1 && named == std::ranges::count(i.uses, use);
  });
}

class RoundReader {
public:
  RoundReader(const Facts& facts, const analysis::Reaching& reaching) : facts_(facts), reaching_(reaching) {}

  std::optional<Round> round_at(size_t item) {
    if (!facts_.is_instruction(item) || isa::name_of(facts_.instruction(item)) != "s_and_saveexec_b64")
      return std::nullopt;
    const InstructionText text = parse_instruction(facts_.program.items[item].text);
    round_ = {.enter = item, .saved = text.operands[0]};
    if (!read_condition(text.operands[1])) return std::nullopt;
    bool stored = false;
    std::string skip;
    for (size_t at = item + 1; at < facts_.function.last; ++at) {
      const recover::Item& next = facts_.program.items[at];
      if (next.kind == ItemKind::label && next.text == skip && is_for_one_branch(skip)) {
        skip.clear();
        continue;
      }
      if (next.kind != ItemKind::instruction) return std::nullopt;
      if (only_waits(next.instruction)) continue;
      if (at == item + 1 && isa::name_of(next.instruction) == "s_cbranch_execz") {
        skip = next.target;
        continue;
      }
      const InstructionText line = parse_instruction(next.text);
      if (line.mnemonic == "s_or_b64" && line.operands == std::vector<std::string>{"exec", "exec", round_.saved}) {
        round_.leave = at;
        return stored && skip.empty() ? std::optional(round_) : std::nullopt;
      }
      if (stored) return std::nullopt;
      const bool is_part =
          next.instruction.encoding == isa::Encoding::ds ? read_access(at, line, stored) : read_arithmetic(at, line);
      if (!is_part) return std::nullopt;
    }
    return std::nullopt;
  }

private:
  /// Lanes whose number, in a register, is below a constant.
  bool read_condition(const std::string& condition) {
    const auto range = operand_registers(condition);
    if (!range || range->file != isa::File::sgpr || range->count != 2) return false;
    const size_t unit = reaching_.registers().first_of(*range);
    const auto test = reaching_.sole_definition(round_.enter, unit);
    if (!test || test != reaching_.sole_definition(round_.enter, unit + 1) || *test == analysis::Reaching::entry)
      return false;
    round_.test = *test;
    const InstructionText text = parse_instruction(facts_.program.items[*test].text);
    const std::string_view name = base_mnemonic(text.mnemonic);
    const bool above = name == "v_cmp_gt_u32", is_first = name == "v_cmp_eq_u32", below = name == "v_cmp_lt_u32";
    if (!(above || below || is_first) || text.operands.size() != 3 || text.operands[0] != condition) return false;
    round_.number = text.operands[below ? 1 : 2];
    const auto bound = number_of(*test, text.operands[below ? 2 : 1]);
    if (!is_single_vgpr(round_.number) || !bound || *bound < 0 || *bound > most_lanes) return false;
    round_.lanes = is_first ? (*bound == 0 ? 1 : 0) : unsigned(*bound);
    return std::has_single_bit(round_.lanes);
  }

  std::optional<int64_t> number_of(size_t item, const std::string& operand) const {
    if (const auto constant = constant_of(operand)) return constant;
    const auto range = operand_registers(operand);
    if (!range || range->file != isa::File::sgpr || range->count != 1) return std::nullopt;
    return reaching_.scalar_constant(item, range->first);
  }

  bool is_for_one_branch(const std::string& label) const {
    return std::ranges::count(facts_.program.items, label, &recover::Item::target) == 1 &&
           !is_anchored(facts_.program, label);
  }

  /// A load of one or two places, or the store that ends the round.
  bool read_access(size_t item, const InstructionText& line, bool& stored) {
    const analysis::MemoryAccess access = analysis::memory_access(facts_.instruction(item));
    const bool loads = line.mnemonic.starts_with("ds_read");
    if (line.operands.size() != 2 || !(loads || line.mnemonic == "ds_write_b32")) return false;
    const std::string& address = line.operands[loads ? 1 : 0];
    if (!is_single_vgpr(address) || (!loads && address != round_.address)) return false;
    if (!loads) {
      stored = line.operands[1] == round_.result && access.extents[0].offset == round_.place;
      return stored;
    }
    const auto to = operand_registers(line.operands[0]);
    if (!round_.body.empty() || !to || to->file != isa::File::vgpr || to->count != access.extent_count) return false;
    if (round_.address.empty()) round_.load = item;
    if (!round_.address.empty() && round_.address != address) return false;
    round_.address = address;
    for (uint16_t k = 0; k < access.extent_count; ++k) {
      if (access.extents[k].bytes != 4) return false;
      loads_.push_back({access.extents[k].offset, register_text({isa::File::vgpr, uint16_t(to->first + k), 1})});
    }
    return true;
  }

  bool read_arithmetic(size_t item, const InstructionText& line) {
    if (!is_lane_arithmetic(facts_.instruction(item), line)) return false;
    if (round_.body.empty()) {
      if (loads_.size() != 2) return false;
      std::ranges::sort(loads_);
      if (loads_[0].first + int64_t{round_.lanes} * 4 != loads_[1].first) return false;
      round_.place = loads_[0].first;
      round_.own = loads_[0].second;
      round_.far = loads_[1].second;
    }
    round_.body.push_back(item);
    round_.result = line.operands[0];
    return true;
  }

  const Facts& facts_;
  const analysis::Reaching& reaching_;
  Round round_;
  std::vector<std::pair<int64_t, std::string>> loads_; // offset and destination
};

bool follows(const Tree& tree, const Round& next) {
  if (tree.rounds.empty()) return next.lanes > 1;
  const Round& last = tree.rounds.back();
  return next.lanes * 2 == last.lanes && next.address == last.address && next.place == last.place;
}

} // namespace

bool is_single_vgpr(std::string_view operand) {
  const auto range = operand_registers(operand);
  return range && range->file == isa::File::vgpr && range->count == 1 && register_text(*range) == operand;
}

std::optional<Tree> reduction_tree(const Facts& facts, const analysis::Reaching& reaching, size_t item) {
  Tree tree;
  for (size_t at = item; at < facts.function.last;) {
    if (auto round = RoundReader(facts, reaching).round_at(at)) {
      if (!follows(tree, *round)) return std::nullopt;
      at = round->leave + 1;
      tree.rounds.push_back(*std::move(round));
      if (tree.rounds.back().lanes == 1) return tree;
      continue;
    }
    if (tree.rounds.empty() || !facts.is_instruction(at)) return std::nullopt;
    const isa::Instruction& i = facts.instruction(at);
    if (!i.traits.barrier && !only_waits(i)) {
      if (!(i.traits.valu || i.traits.salu) || !analysis::only_computes(i) || i.traits.relative || writes(i, exec))
        return std::nullopt;
      tree.others.push_back(at);
    }
    ++at;
  }
  return std::nullopt;
}

} // namespace asmevo::search::rewrite
