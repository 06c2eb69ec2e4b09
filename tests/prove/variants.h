// Versions of a block of a real kernel: edits that keep its meaning, and edits that do not.
#pragma once

#include "../analysis/corpus.h"
#include "analysis/addresses.h"
#include "analysis/dependence.h"
#include "analysis/exec.h"
#include "analysis/liveness.h"
#include "analysis/memory.h"
#include "isa/traits.h"
#include "prove/prove.h"

#include <random>
#include <regex>

namespace asmevo::prove {

using recover::Item;
using recover::Program;

/// A block of a function: items [first, last), labels at its start left out.
struct Block {
  const Program* program;
  const recover::Function* function;
  size_t first, last;
};

struct Kernel {
  std::string path;
  std::shared_ptr<Program> program;
  std::shared_ptr<isa::Codec> codec;
  std::vector<analysis::Liveness> liveness;                          // by function
  std::vector<std::vector<bool>> full;                               // likewise: where EXEC is full
  std::vector<std::shared_ptr<const analysis::Addresses>> addresses; // likewise
  std::vector<Block> blocks;
};

inline std::optional<Kernel> open_kernel(const std::string& path, size_t most_items) {
  auto bytes = read_file(path);
  if (!bytes) return std::nullopt;
  auto object = object::read_code_object(*std::move(bytes), path);
  if (!object) return std::nullopt;
  auto target = isa::target_from_elf(object->e_flags, object->abi_version, path);
  if (!target) return std::nullopt;
  auto codec = isa::Codec::create(*target);
  if (!codec) return std::nullopt;
  auto program = recover::recover(std::make_shared<object::CodeObject>(*std::move(object)), *codec);
  if (!program || program->items.size() > most_items) return std::nullopt;
  Kernel kernel{
      path, std::make_shared<Program>(*std::move(program)), std::make_shared<isa::Codec>(*std::move(codec)), {}, {}, {},
      {}};
  for (const recover::Function& f : kernel.program->functions) {
    const analysis::Graph graph = analysis::control_flow(*kernel.program, f);
    kernel.liveness.push_back(analysis::liveness(*kernel.program, f, graph));
    kernel.full.push_back(analysis::full_exec(*kernel.program, f, graph));
    kernel.addresses.push_back(std::make_shared<analysis::Addresses>(*kernel.program, f, graph));
    for (const analysis::Block& b : graph.blocks) {
      size_t first = b.first, instructions = 0;
      while (first < b.last && !analysis::is_instruction(kernel.program->items[first])) ++first;
      for (size_t i = first; i < b.last; ++i) instructions += analysis::is_instruction(kernel.program->items[i]);
      if (instructions >= 4 && instructions <= 300) kernel.blocks.push_back({kernel.program.get(), &f, first, b.last});
    }
  }
  return kernel.blocks.empty() ? std::nullopt : std::optional(std::move(kernel));
}

/// Another order that keeps every dependence: waits and nops stay where they are counted from the top.
inline std::optional<Program> reordered(const Kernel& kernel, const Block& block, std::mt19937& random) {
  const auto function = size_t(block.function - block.program->functions.data());
  const analysis::DependenceGraph graph =
      analysis::dependences(*block.program, *block.function, block.first, block.last, kernel.addresses[function].get());
  const size_t count = graph.items.size();
  std::vector<size_t> missing(count);
  std::vector<uint32_t> ready, order;
  for (uint32_t n = 0; n < count; ++n) {
    missing[n] = graph.predecessors[n].size();
    if (missing[n] == 0) ready.push_back(n);
  }
  // Mostly as it was, sometimes far away.
  while (!ready.empty()) {
    std::ranges::sort(ready);
    const size_t pick = random() % 3 == 0 ? random() % ready.size() : 0;
    const uint32_t n = ready[pick];
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(pick));
    order.push_back(n);
    for (const analysis::Dependence& d : graph.successors[n])
      if (--missing[d.node] == 0) ready.push_back(d.node);
  }
  if (!graph.allows(order) || std::ranges::is_sorted(order)) return std::nullopt;
  Program result = *block.program;
  for (size_t n = 0; n < count; ++n) result.items[graph.items[n]] = block.program->items[graph.items[order[n]]];
  return result;
}

/// Other waits and nops.
inline std::optional<Program> waits_changed(const Kernel& kernel, const Block& block, std::mt19937& random) {
  const size_t at = block.first + random() % (block.last - block.first);
  constexpr const char* waits[] = {"s_waitcnt vmcnt(0)", "s_waitcnt lgkmcnt(0)", "s_nop 3", "s_setprio 1",
                                   "s_waitcnt vmcnt(0) lgkmcnt(0)"};
  const Item& item = block.program->items[at];
  const bool wait = analysis::is_instruction(item) && analysis::only_waits(item.instruction);
  const recover::Edit edit{at, wait ? at + 1 : at, wait && random() % 2 ? "" : waits[random() % std::size(waits)]};
  auto result = recover::apply(*block.program, std::span(&edit, 1), *kernel.codec);
  if (!result) return std::nullopt;
  return *std::move(result);
}

inline std::string replaced(const std::string& text, const std::string& from, const std::string& to) {
  return std::regex_replace(text, std::regex("\\b" + from + "\\b"), to);
}

/// Text of an instruction with its first operand apart.
struct Operands {
  std::string head, first, rest;
  explicit Operands(const std::string& text) {
    const size_t space = text.find(' '), comma = text.find(',');
    head = text.substr(0, space + 1);
    if (space == std::string::npos) return;
    first = text.substr(space + 1, comma == std::string::npos ? std::string::npos : comma - space - 1);
    rest = comma == std::string::npos ? "" : text.substr(comma);
  }
};

/// A value that is made and read in the block alone, in a register that nothing else there names.
inline std::optional<Program> renamed(const Kernel& kernel, const Block& block, std::mt19937& random) {
  const Program& program = *block.program;
  const analysis::Liveness& live = kernel.liveness[size_t(block.function - program.functions.data())];
  const auto base = block.function->first;
  // Where M0 is added to register numbers, no register is known to be free.
  for (size_t i = base; i < block.function->last; ++i)
    if (analysis::is_instruction(program.items[i]) &&
        name_of(program.items[i].instruction).starts_with("s_set_gpr_idx"))
      return std::nullopt;
  analysis::RegisterSet busy = live.before[block.first - base] | live.after[block.last - 1 - base];
  for (size_t i = block.first; i < block.last; ++i) {
    if (!analysis::is_instruction(program.items[i])) continue;
    busy |= live.registers.set_of(program.items[i].instruction.defs);
    busy |= live.registers.set_of(program.items[i].instruction.uses);
  }
  for (unsigned attempt = 0; attempt < 40; ++attempt) {
    const size_t at = block.first + random() % (block.last - block.first);
    const Item& item = program.items[at];
    if (!analysis::is_instruction(item) || item.raw || item.instruction.defs.size() != 1) continue;
    const isa::RegisterRange def = item.instruction.defs[0];
    if (def.count != 1 || (def.file != isa::File::vgpr && def.file != isa::File::sgpr) ||
        (def.file == isa::File::sgpr && def.first > 100))
      continue;
    const size_t unit = live.registers.first_of(def);
    const auto touches = [&](const std::vector<isa::RegisterRange>& ranges) {
      return live.registers.set_of(ranges).test(unit);
    };
    const std::vector<bool>& full = kernel.full[size_t(block.function - program.functions.data())];
    if (touches(item.instruction.uses)) continue; // a part of it stays
    // Under a part of EXEC the other lanes keep what they hold, and may be read.
    if (def.file == isa::File::vgpr && !full[at - base] && live.before[at - base].test(unit)) continue;
    const std::string letter = def.file == isa::File::vgpr ? "v" : "s", name = fmt::format("{}{}", letter, def.first);
    std::optional<unsigned> free;
    for (unsigned n = 0; n < (def.file == isa::File::vgpr ? 128u : 96u) && !free; ++n)
      if (!busy.test(live.registers.first_of({def.file, uint16_t(n), 1}))) free = n;
    if (!free) return std::nullopt;
    const std::string other = fmt::format("{}{}", letter, *free);
    std::string text;
    size_t last = at;
    bool possible = true, ended = false;
    for (size_t i = at; i < block.last && possible && !ended; ++i) {
      const Item& next = program.items[i];
      if (next.kind != recover::ItemKind::instruction) {
        possible = false;
        break;
      }
      const Operands operands(next.text);
      const bool reads = touches(next.instruction.uses), writes = touches(next.instruction.defs);
      std::string line = next.text;
      if (i == at) {
        possible = operands.first == name;
        line = operands.head + other + operands.rest;
      } else if (reads || writes) {
        possible = !next.raw && next.target.empty() && !(reads && next.text.find(name) == std::string::npos) &&
                   !std::regex_search(next.text, std::regex(letter + "\\["));
        const bool kept =
            isa::accumulates(name_of(next.instruction)) || isa::keeps_other_half(name_of(next.instruction));
        // A write that keeps a part reads the register without naming it as a source.
        const bool partial = next.instruction.suffix != isa::Suffix::none && writes && reads;
        if (writes && (operands.first != name || kept || partial)) possible = false;
        // Some read what they write without naming it twice: v_permlane16_swap_b32.
        if (writes && reads && !std::regex_search(operands.rest, std::regex("\\b" + name + "\\b"))) possible = false;
        if (writes && (reads ? def.file == isa::File::vgpr && !full[i - base] : live.before[i - base].test(unit)))
          possible = false;
        line = writes ? operands.head + operands.first + replaced(operands.rest, name, other)
                      : replaced(line, name, other);
        ended = writes;
      }
      text += line + "\n";
      last = i + 1;
      if (!live.after[i - base].test(unit)) ended = true;
    }
    if (!possible || !ended) continue;
    const recover::Edit edit{at, last, text};
    auto result = recover::apply(program, std::span(&edit, 1), *kernel.codec);
    if (!result) continue;
    return *std::move(result);
  }
  return std::nullopt;
}

struct OtherOpcode {
  const char *from, *to;
};
inline constexpr OtherOpcode opcodes[] = {
    {"v_add_f32", "v_sub_f32"},
    {"v_sub_f32", "v_add_f32"},
    {"v_mul_f32", "v_add_f32"},
    {"v_max_f32", "v_min_f32"},
    {"v_fma_f32", "v_mad_u32_u24"},
    {"v_add_u32", "v_sub_u32"},
    {"v_and_b32", "v_or_b32"},
    {"v_or_b32", "v_xor_b32"},
    {"v_lshlrev_b32", "v_lshrrev_b32"},
    {"v_lshrrev_b32", "v_lshlrev_b32"},
    {"s_add_u32", "s_sub_u32"},
    {"s_addc_u32", "s_subb_u32"},
    {"s_and_b32", "s_or_b32"},
    {"s_lshl_b32", "s_lshr_b32"},
    {"s_mul_i32", "s_add_u32"},
    {"v_cmp_lt_", "v_cmp_gt_"},
    {"v_cmp_gt_", "v_cmp_ge_"},
    {"v_cmp_eq_", "v_cmp_ne_"},
    {"s_cmp_lt_", "s_cmp_le_"},
    {"s_cmp_eq_", "s_cmp_lg_"},
    {"v_exp_f32", "v_log_f32"},
    {"v_rcp_f32", "v_rsq_f32"},
    {"v_pk_mul_f32", "v_pk_add_f32"},
    {"global_load_ushort", "global_load_sshort"},
    {"ds_read_b32", "ds_read_u16"},
    {"v_mad_u64_u32", "v_mad_i64_i32"},
    {"s_and_saveexec_b64", "s_or_saveexec_b64"},
    {"v_cvt_f32_f16", "v_cvt_f16_f32"},
    {"v_lshl_add_u32", "v_add_lshl_u32"},
    {"s_cselect_b32", "s_and_b32"},
};

/// One mistake: an opcode, an operand, a constant, an order, or an instruction less. `what` says it.
inline std::optional<Program> mutated(const Kernel& kernel, const Block& block, std::mt19937& random,
                                      std::string& what) {
  const Program& program = *block.program;
  const analysis::Liveness& live = kernel.liveness[size_t(block.function - program.functions.data())];
  for (unsigned attempt = 0; attempt < 60; ++attempt) {
    const size_t at = block.first + random() % (block.last - block.first);
    const Item& item = program.items[at];
    if (!analysis::is_instruction(item) || item.raw || !item.target.empty() || analysis::only_waits(item.instruction) ||
        item.instruction.traits.branch || item.instruction.traits.terminator)
      continue;
    // What it writes is read: else nothing changes.
    const analysis::RegisterSet written = live.registers.set_of(item.instruction.defs);
    const bool stores = item.instruction.traits.may_store;
    if (std::regex_search(item.text, std::regex("_(add|or|xor|lshl|sub)[a-z0-9_]* .*, 0(,|$)")))
      continue; // adds nothing
    if (!stores && (written & live.after[at - block.function->first]).none()) continue;
    const unsigned sort = random() % 5;
    // A copy may be of what is there already: only another constant makes it wrong for sure.
    if (sort != 2 && std::regex_search(item.text, std::regex("_(mov|movk|accvgpr)"))) continue;
    std::string text = item.text;
    std::smatch match;
    size_t last = at + 1;
    switch (sort) {
    case 0: { // opcode
      const OtherOpcode* row =
          std::ranges::find_if(opcodes, [&](const OtherOpcode& o) { return text.starts_with(o.from); });
      if (row == std::end(opcodes)) continue;
      text = row->to + text.substr(std::string_view(row->from).size());
      break;
    }
    case 1: { // a source register
      const Operands operands(text);
      const std::string& place = stores ? text : operands.rest;
      if (!std::regex_search(place, match, std::regex("\\b([vs])(\\d+)\\b"))) continue;
      const std::string other = fmt::format("{}{}", match[1].str(), (std::stoi(match[2]) + 1) % 100);
      const std::string changed = std::string(match.prefix()) + other + std::string(match.suffix());
      text = stores ? changed : operands.head + operands.first + changed;
      break;
    }
    case 2: { // a constant
      if (!std::regex_search(text, match, std::regex("offset:(\\d+)")) &&
          !std::regex_search(text, match, std::regex(", (\\d+)\\b")) &&
          !std::regex_search(text, match, std::regex(", 0x([0-9a-f]+)\\b")))
        continue;
      const std::string whole = match[0].str();
      const bool hexadecimal = whole.find("0x") != std::string::npos;
      const unsigned long number = std::stoul(match[1], nullptr, hexadecimal ? 16 : 10);
      const std::string number_text = fmt::format("{}", number + (whole.starts_with("offset") ? 4 : 1));
      const size_t digits = whole.find(hexadecimal ? "0x" : match[1].str());
      text = std::string(match.prefix()) + whole.substr(0, digits) + number_text + std::string(match.suffix());
      break;
    }
    case 3: { // with the next one, which depends on it
      if (at + 1 >= block.last || !analysis::is_instruction(program.items[at + 1])) continue;
      const Item& next = program.items[at + 1];
      if (next.raw || !next.target.empty() || next.instruction.traits.branch || next.instruction.traits.terminator)
        continue;
      if ((written & live.registers.set_of(next.instruction.uses)).none()) continue;
      if ((written & live.registers.set_of(next.instruction.uses)) ==
          live.registers.set_of(std::vector<isa::RegisterRange>{{isa::File::scc, 0, 1}}))
        continue;
      text = next.text + "\n" + text;
      last = at + 2;
      break;
    }
    default: // gone
      text = "";
    }
    const recover::Edit edit{at, last, text};
    auto result = recover::apply(program, std::span(&edit, 1), *kernel.codec);
    if (!result) continue;
    what = fmt::format("{} -> {}", item.text, text);
    return *std::move(result);
  }
  return std::nullopt;
}

/// Kernels of the repository's own corpus and, where they are there, of the data folder and of the folder that
/// ASMEVO_BLOCKS_IN names; no more than `most_items` items each.
inline std::vector<Kernel> all_kernels(size_t most_items, size_t most_kernels, std::mt19937& random) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(ASMEVO_SOURCE_DIR) + "/corpus", error))
    if (entry.path().extension() == ".hsaco") paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<std::string> more;
  for (const char* folder : {"triton", "mi300a", "aiter"}) {
    std::vector<std::string> some = analysis::objects_in(folder);
    std::ranges::shuffle(some, random);
    some.resize(std::min(some.size(), most_kernels / 3 + 1));
    more.insert(more.end(), some.begin(), some.end());
  }
  if (const char* folder = std::getenv("ASMEVO_BLOCKS_IN")) {
    std::vector<std::string> some;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error))
      if (entry.path().extension() == ".hsaco") some.push_back(entry.path());
    std::ranges::sort(some);
    std::ranges::shuffle(some, random);
    some.resize(std::min(some.size(), most_kernels));
    more.insert(more.end(), some.begin(), some.end());
  }
  paths.insert(paths.end(), more.begin(), more.end());
  std::vector<Kernel> kernels;
  for (const std::string& path : paths)
    if (auto kernel = open_kernel(path, most_items)) kernels.push_back(*std::move(kernel));
  return kernels;
}

} // namespace asmevo::prove
