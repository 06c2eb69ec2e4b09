#include "search/drivers/rewrite/cleanup.h"

#include "analysis/liveness.h"
#include "recover/recover.h"
#include "search/drivers/rewrite/operand.h"

#include <algorithm>
#include <array>

namespace asmevo::search::rewrite {

namespace {

using recover::ItemKind;

bool overlaps(const std::vector<isa::RegisterRange>& ranges, const isa::RegisterRange& range) {
  return std::ranges::any_of(ranges, [&](const isa::RegisterRange& r) { return r.overlaps(range); });
}

/// A whole-register copy between VGPRs: v_mov_b32 without DPP, SDWA or modifiers.
struct Copy {
  isa::RegisterRange destination, source;
};
std::optional<Copy> copy_at(const recover::Item& item) {
  if (item.kind != ItemKind::instruction || isa::name_of(item.instruction) != "v_mov_b32" ||
      item.instruction.suffix != isa::Suffix::none)
    return std::nullopt;
  InstructionText text = parse_instruction(item.text);
  if (text.operands.size() != 2) return std::nullopt;
  auto destination = operand_registers(text.operands[0]), source = operand_registers(text.operands[1]);
  if (!destination || !source || destination->file != isa::File::vgpr || source->file != isa::File::vgpr)
    return std::nullopt;
  return Copy{*destination, *source};
}

/// Reads lanes that EXEC may have left out when the copy was made, where destination and source differ.
bool reads_across_lanes(const isa::Instruction& i) {
  if (i.suffix == isa::Suffix::dpp || i.traits.mfma) return true;
  std::string_view name = isa::name_of(i);
  return std::ranges::any_of(
      std::array{"v_readlane", "v_readfirstlane", "v_permlane", "ds_bpermute", "ds_permute", "ds_swizzle"},
      [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// Explicit source operands renamed; nothing where the copy is read in a way that text cannot rename (as part of a
/// tuple, as a tied destination) or not at all.
std::optional<std::string> reading_through(const recover::Item& item, const Copy& copy) {
  const isa::Instruction& i = item.instruction;
  if (overlaps(i.defs, copy.destination) || reads_across_lanes(i)) return std::nullopt;
  InstructionText text = parse_instruction(item.text);
  bool changed = false;
  for (std::string& operand : text.operands) {
    auto range = operand_registers(operand);
    if (!range || !range->overlaps(copy.destination)) continue;
    std::string through = renamed(operand, copy.destination, copy.source);
    if (through == operand) return std::nullopt;
    operand = std::move(through);
    changed = true;
  }
  return changed ? std::optional(write_instruction(text)) : std::nullopt;
}

/// One edit for each instruction behind the copy at `at` that can read the source instead.
void propagate_copy(const recover::Program& program, const analysis::Block& block, size_t at,
                    std::vector<recover::Edit>& edits) {
  constexpr isa::RegisterRange exec{isa::File::sgpr, isa::exec_lo, 2};
  auto copy = copy_at(program.items[at]);
  if (!copy) return;
  for (size_t item = at + 1; item < block.last; ++item) {
    const recover::Item& next = program.items[item];
    if (next.kind != ItemKind::instruction) return;
    bool edited_already = std::ranges::any_of(edits, [&](const recover::Edit& e) { return e.first == item; });
    if (!edited_already && overlaps(next.instruction.uses, copy->destination))
      if (auto text = reading_through(next, *copy)) edits.push_back({item, item + 1, *text + "\n"});
    const auto& defs = next.instruction.defs;
    if (overlaps(defs, copy->destination) || overlaps(defs, copy->source) || overlaps(defs, exec)) return;
  }
}

std::vector<recover::Edit> dead_edits(const recover::Program& program, const recover::Function& function,
                                      const analysis::Graph& graph, const Touched& touched) {
  const analysis::Liveness live = analysis::liveness(program, function, graph, analysis::Readers::wanted);
  std::vector<recover::Edit> edits;
  for (const analysis::Block& block : graph.blocks) {
    if (!is_touched(program, block.first, block.last, touched)) continue;
    for (size_t item = block.first; item < block.last; ++item) {
      const recover::Item& at = program.items[item];
      if (at.kind != ItemKind::instruction || !analysis::only_computes(at.instruction)) continue;
      auto copy = copy_at(at);
      bool copies_itself = copy && copy->destination == copy->source;
      if (copies_itself || (analysis::set_of(at.instruction.defs) & live.after[item - function.first]).none())
        edits.push_back({item, item + 1, ""});
    }
  }
  return edits;
}

std::vector<recover::Edit> copy_edits(const recover::Program& program, const analysis::Graph& graph,
                                      const Touched& touched) {
  std::vector<recover::Edit> edits;
  for (const analysis::Block& block : graph.blocks) {
    if (!is_touched(program, block.first, block.last, touched)) continue;
    for (size_t item = block.first; item < block.last; ++item) propagate_copy(program, block, item, edits);
  }
  std::ranges::sort(edits, {}, &recover::Edit::first);
  return edits;
}

} // namespace

bool is_touched(const recover::Program& program, size_t first, size_t last, const Touched& touched) {
  for (size_t item = first; item < last; ++item) {
    if (program.items[item].kind != ItemKind::instruction) continue;
    int64_t origin = program.items[item].origin;
    if (origin < 0 || touched.contains(origin)) return true;
  }
  return false;
}

std::expected<recover::Program, isa::AssemblyError> clean_up(recover::Program program, size_t function,
                                                             const Touched& touched, const isa::Codec& codec) {
  constexpr int most_rounds = 32; // each round removes an instruction or a read; chains are shorter than this
  for (int round = 0; round < most_rounds; ++round) {
    analysis::Graph graph = analysis::control_flow(program, program.functions[function]);
    std::vector<recover::Edit> edits = copy_edits(program, graph, touched);
    if (edits.empty()) edits = dead_edits(program, program.functions[function], graph, touched);
    if (edits.empty()) break;
    auto next = recover::apply(program, edits, codec);
    if (!next) return std::unexpected(next.error());
    program = std::move(*next);
  }
  return program;
}

} // namespace asmevo::search::rewrite
