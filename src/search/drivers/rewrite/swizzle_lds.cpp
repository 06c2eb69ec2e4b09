// Bank conflicts in LDS, taken away by storing each row in an order of its own.
//
// LDS has 32 banks of four bytes, so what lies 128 bytes apart shares a bank: a tile whose rows are 128 bytes (or a
// multiple) is written by rows at full speed and read by columns one lane after the other. A padded row would cure it,
// but needs more LDS than the kernel declares. An exclusive-or needs none: address a becomes
//
//     a ^ ((a >> shift) mod m) * unit
//
// with unit the widest access and m * unit = 128. It stays in its 128 bytes and moves units as they are, so it is a
// permutation of whatever is a multiple of 128 bytes; and rows that differ in m consecutive values of a >> shift begin
// in m different places. Where every access of the kernel goes through it nobody can tell: what is read at an address
// is what was written there last. So the rule wants to see every access (no flat addresses, no calls, no loads that
// write LDS by themselves), and tries the few shifts that the rows of a tile can have.
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/rules.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

namespace asmevo::search::rewrite {

namespace {

constexpr uint32_t row_bytes = 128; // of all banks
constexpr double worth_it = 0.03;   // of the modelled time: conflicts

/// One access to LDS: where its address stands and how wide it is.
struct Access {
  size_t item;
  InstructionText text;
  size_t address = 0; // operand
  uint32_t width = 0; // bytes of one address
  bool pair = false;  // two addresses: offset0 and offset1, in units of...
  uint32_t scale = 1; // ...so many bytes
};

constexpr std::array no_memory = {"ds_bpermute_b32", "ds_permute_b32", "ds_swizzle_b32", "ds_nop"};

/// Bytes of "ds_read2st64_b64" and the like; 0 where the name ends in no width.
uint32_t width_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, uint32_t>, 13> widths = {{{"_b8", 1},
                                                                             {"_u8", 1},
                                                                             {"_i8", 1},
                                                                             {"_b16", 2},
                                                                             {"_u16", 2},
                                                                             {"_i16", 2},
                                                                             {"_b32", 4},
                                                                             {"_u32", 4},
                                                                             {"_i32", 4},
                                                                             {"_f32", 4},
                                                                             {"_b64", 8},
                                                                             {"_b96", 16},
                                                                             {"_b128", 16}}};
  for (const std::string_view tail : {"_d16_hi", "_d16"})
    if (name.ends_with(tail)) name.remove_suffix(tail.size());
  for (const auto& [suffix, bytes] : widths)
    if (name.ends_with(suffix)) return bytes;
  return 0;
}

std::optional<uint32_t> number_behind(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == text.npos) return std::nullopt;
  uint32_t value = 0;
  const char* first = text.data() + at + key.size();
  const auto end = std::from_chars(first, text.data() + text.size(), value);
  return end.ec == std::errc() ? std::optional(value) : std::nullopt;
}

/// Plain loads, stores, and integer atomics without a result. Nothing for anything else.
std::optional<Access> read_access(const Facts& facts, size_t item) {
  Access a{.item = item, .text = parse_instruction(facts.program.items[item].text)};
  std::string_view name = a.text.mnemonic;
  if (a.text.modifiers.find("gds") != std::string::npos) return std::nullopt;
  a.width = width_of(name);
  const bool load = name.starts_with("ds_read"), store = name.starts_with("ds_write");
  const bool adds = name == "ds_add_u32" || name == "ds_add_f32" || name == "ds_max_u32" || name == "ds_min_u32" ||
                    name == "ds_or_b32" || name == "ds_and_b32" || name == "ds_xor_b32";
  if (a.width == 0 || !(load || store || adds)) return std::nullopt;
  if (name.find("addtid") != name.npos || name.find("_tr") != name.npos) return std::nullopt;
  a.address = load ? 1 : 0;
  a.pair = name.find("2_") != name.npos || name.find("2st64") != name.npos;
  a.scale = a.width * (name.find("st64") != name.npos ? 64 : 1);
  if (a.text.operands.size() != (load ? 2 : a.pair ? 3 : 2)) return std::nullopt;
  const auto address = operand_registers(a.text.operands[a.address]);
  if (!address || address->file != isa::File::vgpr || address->count != 1) return std::nullopt;
  return a;
}

/// Every access of the function; nothing where one is hidden or not understood.
std::optional<std::vector<Access>> all_accesses(const Facts& facts) {
  std::vector<Access> accesses;
  for (size_t item = facts.function.first; item < facts.function.last; ++item) {
    if (!facts.is_instruction(item)) continue;
    const isa::Instruction& i = facts.instruction(item);
    const InstructionText text = parse_instruction(facts.program.items[item].text);
    const std::string_view name = base_mnemonic(text.mnemonic);
    if (i.encoding == isa::Encoding::flat || i.encoding == isa::Encoding::unknown || i.traits.indirect ||
        name == "s_call_b64")
      return std::nullopt;
    if (i.encoding != isa::Encoding::ds) {
      if (i.traits.lds) return std::nullopt; // a load that writes LDS
      continue;
    }
    if (std::ranges::find(no_memory, name) != no_memory.end()) continue;
    auto access = read_access(facts, item);
    if (!access) return std::nullopt;
    accesses.push_back(*std::move(access));
  }
  return accesses;
}

struct Swizzle {
  uint32_t shift = 0, unit = 0; // bytes

  /// Lines that leave the place of `address` + `offset` in VGPR `to`, with `scratch` for what is between.
  std::string lines(const std::string& address, uint32_t offset, const std::string& to,
                    const std::string& scratch) const {
    const uint32_t log_unit = uint32_t(std::countr_zero(unit));
    std::string text, from = address;
    if (offset) {
      text += fmt::format("v_add_u32 {}, {:#x}, {}\n", to, offset, address);
      from = to;
    }
    return text + fmt::format("v_lshrrev_b32 {0}, {1}, {2}\nv_and_b32 {0}, {3:#x}, {0}\nv_xor_b32 {4}, {0}, {2}\n",
                              scratch, shift - log_unit, from, row_bytes - unit, to);
  }
};

std::string vgpr(uint16_t number) { return fmt::format("v{}", number); }

/// The half of a register range that an access of two addresses loads or stores for one of them.
std::string part_of(const std::string& operand, uint32_t width, bool second) {
  auto range = *operand_registers(operand);
  range.first = uint16_t(range.first + (second ? width / 4 : 0));
  range.count = uint16_t(width / 4);
  return register_text(range);
}

/// One instruction instead of one of two addresses.
std::string single(const Access& a, bool second, const std::string& address) {
  const bool load = a.address == 1;
  const std::string name = fmt::format("{}_b{}", load ? "ds_read" : "ds_write", a.width * 8);
  if (load) return fmt::format("{} {}, {}\n", name, part_of(a.text.operands[0], a.width, second), address);
  return fmt::format("{} {}, {}\n", name, address, a.text.operands[second ? 2 : 1]);
}

std::optional<recover::Edit> rewritten(const Facts& facts, const Access& a, const Swizzle& swizzle) {
  const auto free = free_vgprs(facts, a.item, facts.instruction(a.item).uses);
  if (free.size() < (a.pair ? 3 : 2)) return std::nullopt;
  const std::string& address = a.text.operands[a.address];
  if (a.pair) {
    const auto first = number_behind(a.text.modifiers, "offset0:"),
               second = number_behind(a.text.modifiers, "offset1:");
    const std::string to[] = {vgpr(free[0]), vgpr(free[1])};
    return recover::Edit{a.item, a.item + 1,
                         swizzle.lines(address, first.value_or(0) * a.scale, to[0], vgpr(free[2])) +
                             swizzle.lines(address, second.value_or(0) * a.scale, to[1], vgpr(free[2])) +
                             single(a, false, to[0]) + single(a, true, to[1])};
  }
  InstructionText access = a.text;
  const uint32_t offset = number_behind(access.modifiers, "offset:").value_or(0);
  access.operands[a.address] = vgpr(free[0]);
  access.modifiers.clear();
  return recover::Edit{a.item, a.item + 1,
                       swizzle.lines(address, offset, vgpr(free[0]), vgpr(free[1])) + write_instruction(access) + "\n"};
}

} // namespace

std::vector<Idea> swizzle_lds(const Facts& facts) {
  if (facts.function.kernel < 0) return {};
  const uint32_t bytes = facts.program.declared[size_t(facts.function.kernel)].lds_bytes;
  const double all = facts.heat_of(facts.function.first, facts.function.last);
  if (bytes % row_bytes != 0 || bytes <= row_bytes || facts.lds_conflicts < worth_it * all) return {};
  const auto accesses = all_accesses(facts);
  if (!accesses || accesses->empty()) return {};
  uint32_t unit = 4;
  for (const Access& a : *accesses) unit = std::max(unit, a.width);
  std::vector<Idea> ideas;
  for (uint32_t shift = 7; shift <= 11 && (uint64_t{1} << shift) < bytes; ++shift) {
    Idea idea{.rationale = fmt::format("LDS rows of {} bytes in an order of their own", 1u << shift),
              .promise = facts.lds_conflicts / double(1 + shift - 7)};
    for (const Access& a : *accesses) {
      auto edit = rewritten(facts, a, {shift, unit});
      if (!edit) return {};
      idea.edits.push_back(*std::move(edit));
    }
    ideas.push_back(std::move(idea));
  }
  return ideas;
}

} // namespace asmevo::search::rewrite
