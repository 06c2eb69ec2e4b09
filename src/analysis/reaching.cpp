#include "analysis/reaching.h"

#include "analysis/exec.h"
#include "isa/fields.h"
#include "isa/traits.h"

#include <algorithm>
#include <bit>

namespace asmevo::analysis {
namespace {

using isa::Instruction;

/// Whether bits of the old destination can survive even in lanes that are written: halves and bytes, lanes that DPP
/// finds no source for, single lanes, conditional moves.
bool leaves_a_part(const Instruction& i) {
  const std::string_view name = name_of(i);
  if (i.suffix != isa::Suffix::none || isa::keeps_other_half(name) || isa::keeps_scalar_destination(name)) return true;
  if (name.find("_d16") != std::string_view::npos || name.find("mixlo") != std::string_view::npos ||
      name.find("mixhi") != std::string_view::npos || name == "v_writelane_b32")
    return true;
  return i.encoding == isa::Encoding::vop3a && isa::fields::vop3a(i.words).op_sel >> 2 != 0;
}

bool reads(const Instruction& i, const RegisterMap& registers, size_t unit) {
  bool found = false;
  registers.each(i.uses, [&](size_t u) { found |= u == unit; });
  return found;
}

} // namespace

Reaching::Reaching(const recover::Program& program, const recover::Function& function, const Graph& graph)
    : program_(program), first_(function.first), graph_(graph), registers_(program, function), sites_(register_bits),
      offset_(register_bits + 1) {
  const std::vector<bool> full = full_exec(program, function, graph);
  for (size_t i = function.first; i < function.last; ++i) {
    if (!is_instruction(program.items[i])) continue;
    const Instruction& instruction = program.items[i].instruction;
    const auto item = static_cast<uint32_t>(i);
    if (is_call(instruction))
      for (auto& sites : sites_) sites.push_back({item, false});
    registers_.each(instruction.defs, [&](size_t unit) {
      const bool all_lanes = full[i - first_] || !is_vector_unit(unit);
      const Site site{item, all_lanes && !is_call(instruction) && !leaves_a_part(instruction)};
      auto& sites = sites_[unit];
      if (!sites.empty() && sites.back().item == item)
        sites.back() = site;
      else
        sites.push_back(site);
    });
  }
  for (size_t u = 0; u < register_bits; ++u) offset_[u + 1] = offset_[u] + sites_[u].size() + 1;
  const size_t words = (offset_[register_bits] + 63) / 64;

  std::vector<Bits> generate(graph.blocks.size(), Bits(words)), keep(graph.blocks.size(), Bits(words, ~0ull));
  for (size_t u = 0; u < register_bits; ++u)
    for (size_t s = 0; s < sites_[u].size(); ++s) {
      const uint32_t b = graph.block_of[sites_[u][s].item - first_];
      if (sites_[u][s].replaces)
        for (size_t bit = offset_[u]; bit < offset_[u + 1]; ++bit) {
          generate[b][bit / 64] &= ~(1ull << bit % 64);
          keep[b][bit / 64] &= ~(1ull << bit % 64);
        }
      generate[b][(offset_[u] + s) / 64] |= 1ull << (offset_[u] + s) % 64;
    }
  reach_.assign(graph.blocks.size(), Bits(words));
  const auto enter = [&](uint32_t b) {
    for (size_t u = 0; u < register_bits; ++u) {
      const size_t bit = offset_[u + 1] - 1;
      reach_[b][bit / 64] |= 1ull << bit % 64;
    }
  };
  for (uint32_t b : graph.entries) enter(b);
  const std::vector<uint32_t> order = reverse_postorder(graph);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b : order)
      for (uint32_t s : graph.blocks[b].successors)
        for (size_t w = 0; w < words; ++w) {
          const uint64_t out = generate[b][w] | (reach_[b][w] & keep[b][w]), joined = reach_[s][w] | out;
          changed |= joined != reach_[s][w];
          reach_[s][w] = joined;
        }
  }
}

std::vector<uint32_t> Reaching::definitions(size_t item, size_t unit) const {
  std::vector<uint32_t> found;
  const uint32_t b = graph_.block_of[item - first_];
  const auto& sites = sites_[unit];
  for (size_t s = sites.size(); s-- > 0;) {
    if (sites[s].item >= item || sites[s].item < graph_.blocks[b].first) continue;
    found.push_back(sites[s].item);
    if (sites[s].replaces) {
      std::ranges::reverse(found);
      return found;
    }
  }
  for (size_t s = 0; s <= sites.size(); ++s) {
    const size_t bit = offset_[unit] + s;
    if ((reach_[b][bit / 64] >> bit % 64 & 1) != 0) found.push_back(s < sites.size() ? sites[s].item : entry);
  }
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}

std::vector<uint32_t> Reaching::readers(size_t item, size_t unit) const {
  std::vector<uint32_t> found;
  for (size_t i = first_; i < first_ + graph_.block_of.size(); ++i) {
    if (!is_instruction(program_.items[i]) || !reads(program_.items[i].instruction, registers_, unit)) continue;
    const std::vector<uint32_t> definitions_here = definitions(i, unit);
    if (std::ranges::binary_search(definitions_here, static_cast<uint32_t>(item)))
      found.push_back(static_cast<uint32_t>(i));
  }
  return found;
}

std::optional<uint32_t> Reaching::sole_definition(size_t item, size_t unit) const {
  const std::vector<uint32_t> all = definitions(item, unit);
  if (all.size() != 1 || all[0] == entry) return std::nullopt;
  return all[0];
}

std::optional<uint32_t> Reaching::scalar_constant(size_t item, uint16_t sgpr) const {
  const auto site = sole_definition(item, bit_of(isa::File::sgpr, sgpr));
  if (!site) return std::nullopt;
  const Instruction& i = program_.items[*site].instruction;
  const std::string_view name = name_of(i);
  if (name == "s_movk_i32") return static_cast<uint32_t>(static_cast<int32_t>(isa::fields::sopk(i.words).simm16));
  if (name != "s_mov_b32") return std::nullopt;
  return constant_operand(i, isa::fields::sop1(i.words).ssrc0);
}

std::optional<uint32_t> constant_operand(const Instruction& i, uint8_t operand) {
  constexpr std::array<float, 8> floats = {0.5f, -0.5f, 1.0f, -1.0f, 2.0f, -2.0f, 4.0f, -4.0f};
  if (operand >= 128 && operand <= 192) return operand - 128u;
  if (operand >= 193 && operand <= 208) return static_cast<uint32_t>(192 - int{operand});
  if (operand >= 240 && operand <= 247) return std::bit_cast<uint32_t>(floats[operand - 240]);
  if (operand == 248) return 0x3e22f983u; // 1 / (2 pi)
  if (operand == isa::fields::source_literal && i.has_literal) return i.words[i.size / 4 - 1];
  return std::nullopt;
}

} // namespace asmevo::analysis
