// LLVM names a register for every tuple, alignment and subtarget: VGPR4_VGPR5, FLAT_SCR_LO_vi, TTMP3_gfx9plus. A tuple
// is the set of 32-bit leaves below it, and a leaf's name says which file it is in and which number it has there.
#include "isa/registers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <unordered_map>

namespace asmevo::isa {
namespace {

struct Named {
  std::string_view name;
  RegisterRange range;
};

/// Registers with names of their own. The condition codes that VALU operands can name are the registers they test.
constexpr std::array named = {
    Named{"FLAT_SCR_LO", {File::sgpr, flat_scratch_lo, 1}},
    Named{"FLAT_SCR_HI", {File::sgpr, flat_scratch_lo + 1, 1}},
    Named{"FLAT_SCR", {File::sgpr, flat_scratch_lo, 2}},
    Named{"XNACK_MASK_LO", {File::sgpr, xnack_mask_lo, 1}},
    Named{"XNACK_MASK_HI", {File::sgpr, xnack_mask_lo + 1, 1}},
    Named{"XNACK_MASK", {File::sgpr, xnack_mask_lo, 2}},
    Named{"VCC_LO", {File::sgpr, vcc_lo, 1}},
    Named{"VCC_HI", {File::sgpr, vcc_hi, 1}},
    Named{"VCC", {File::sgpr, vcc_lo, 2}},
    Named{"M0", {File::sgpr, m0, 1}},
    Named{"EXEC_LO", {File::sgpr, exec_lo, 1}},
    Named{"EXEC_HI", {File::sgpr, exec_hi, 1}},
    Named{"EXEC", {File::sgpr, exec_lo, 2}},
    Named{"SCC", {File::scc, 0, 1}},
    Named{"MODE", {File::mode, 0, 1}},
    Named{"SRC_VCCZ", {File::sgpr, vcc_lo, 2}},
    Named{"SRC_EXECZ", {File::sgpr, exec_lo, 2}},
    Named{"SRC_SCC", {File::scc, 0, 1}},
    Named{"LDS_DIRECT", {File::sgpr, m0, 1}},
};

struct Numbered {
  std::string_view prefix;
  File file;
  uint16_t base;
};
constexpr std::array numbered = {
    Numbered{"VGPR", File::vgpr, 0},
    Numbered{"AGPR", File::agpr, 0},
    Numbered{"SGPR", File::sgpr, 0},
    Numbered{"TTMP", File::sgpr, ttmp0},
};

std::string_view without_subtarget(std::string_view name) {
  for (std::string_view suffix : {"_vi", "_gfxpre11", "_gfx9plus"})
    if (name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
  return name;
}

/// "VGPR12" -> vgpr 12. Halves and tuples (an underscore follows) are not leaves.
std::optional<RegisterRange> leaf(std::string_view name) {
  name = without_subtarget(name);
  for (const Named& row : named)
    if (row.name == name && row.range.count == 1) return row.range;
  for (const Numbered& row : numbered) {
    if (!name.starts_with(row.prefix)) continue;
    const std::string_view digits = name.substr(row.prefix.size());
    uint16_t number = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc() && end == digits.data() + digits.size())
      return RegisterRange{row.file, static_cast<uint16_t>(row.base + number), 1};
  }
  return std::nullopt;
}

RegisterRange single(std::string_view name) {
  const auto row = std::ranges::find(named, without_subtarget(name), &Named::name);
  if (row != named.end()) return row->range;
  return leaf(name).value_or(RegisterRange{File::sgpr, 0, 0});
}

/// The smallest range that holds every leaf below `reg`.
RegisterRange tuple(const llvm::MCRegisterInfo& info, unsigned reg, const std::vector<RegisterRange>& leaves) {
  RegisterRange range{File::sgpr, 0, 0};
  for (llvm::MCPhysReg part : info.subregs(reg)) {
    const RegisterRange& one = leaves[part];
    if (one.count != 1) continue;
    if (range.count == 0) {
      range = one;
      continue;
    }
    const auto end = std::max<uint16_t>(range.first + range.count, one.first + 1);
    range.first = std::min(range.first, one.first);
    range.count = end - range.first;
  }
  return range;
}

std::vector<RegisterRange> ranges_of(const llvm::MCRegisterInfo& info) {
  std::vector<RegisterRange> leaves(info.getNumRegs(), RegisterRange{File::sgpr, 0, 0});
  for (unsigned reg = 1; reg < info.getNumRegs(); ++reg) leaves[reg] = single(info.getName(reg));
  std::vector<RegisterRange> ranges = leaves;
  for (unsigned reg = 1; reg < info.getNumRegs(); ++reg)
    if (ranges[reg].count == 0) ranges[reg] = tuple(info, reg, leaves);
  return ranges;
}

std::vector<uint16_t> listed_registers(const llvm::MCRegisterInfo& info) {
  std::unordered_map<std::string_view, uint16_t> numbers;
  for (unsigned reg = 1; reg < info.getNumRegs(); ++reg) numbers.emplace(info.getName(reg), reg);
  std::vector<uint16_t> listed(info.getNumRegs());
  for (unsigned reg = 1; reg < info.getNumRegs(); ++reg) {
    const std::string_view name = info.getName(reg);
    const auto found = numbers.find(without_subtarget(name));
    const bool fits_any = name.starts_with("SRC_") || name.starts_with("LDS_DIRECT") || name.starts_with("SGPR_NULL");
    if (!fits_any) listed[reg] = found == numbers.end() ? static_cast<uint16_t>(reg) : found->second;
  }
  return listed;
}

} // namespace

const RegisterTable& register_table(const llvm::MCRegisterInfo& info) {
  static const RegisterTable table{ranges_of(info), listed_registers(info)};
  return table;
}

} // namespace asmevo::isa
