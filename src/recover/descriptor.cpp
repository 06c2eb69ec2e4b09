#include "recover/descriptor.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace asmevo::recover {

namespace {

using object::KernelDescriptor;

constexpr size_t rsrc3_at = 44, rsrc1_at = 48, rsrc2_at = 52, properties_at = 56, preload_at = 58, entry_at = 16;
constexpr uint32_t addressable_sgprs = 102,
                   sgpr_granule = 8; // the field counts eights although hardware gives sixteens

enum class On : uint8_t { all, fixed_scratch, architected_scratch, unified, preload };

// One bit field that a directive sets directly. Source: LLVM AMDGPUUsage, "Code Object V3 Kernel Descriptor".
struct Field {
  std::string_view directive;
  uint8_t byte, shift, width;
  On on = On::all;
};

constexpr Field fields[] = {
    {"group_segment_fixed_size", 0, 0, 32},
    {"private_segment_fixed_size", 4, 0, 32},
    {"kernarg_size", 8, 0, 32},
    {"user_sgpr_count", rsrc2_at, 1, 5},
    {"user_sgpr_private_segment_buffer", properties_at, 0, 1, On::fixed_scratch},
    {"user_sgpr_dispatch_ptr", properties_at, 1, 1},
    {"user_sgpr_queue_ptr", properties_at, 2, 1},
    {"user_sgpr_kernarg_segment_ptr", properties_at, 3, 1},
    {"user_sgpr_dispatch_id", properties_at, 4, 1},
    {"user_sgpr_flat_scratch_init", properties_at, 5, 1, On::fixed_scratch},
    {"user_sgpr_kernarg_preload_length", preload_at, 0, 7, On::preload},
    {"user_sgpr_kernarg_preload_offset", preload_at, 7, 9, On::preload},
    {"user_sgpr_private_segment_size", properties_at, 6, 1},
    {"uses_dynamic_stack", properties_at, 11, 1},
    {"system_sgpr_private_segment_wavefront_offset", rsrc2_at, 0, 1, On::fixed_scratch},
    {"enable_private_segment", rsrc2_at, 0, 1, On::architected_scratch},
    {"system_sgpr_workgroup_id_x", rsrc2_at, 7, 1},
    {"system_sgpr_workgroup_id_y", rsrc2_at, 8, 1},
    {"system_sgpr_workgroup_id_z", rsrc2_at, 9, 1},
    {"system_sgpr_workgroup_info", rsrc2_at, 10, 1},
    {"system_vgpr_workitem_id", rsrc2_at, 11, 2},
    {"float_round_mode_32", rsrc1_at, 12, 2},
    {"float_round_mode_16_64", rsrc1_at, 14, 2},
    {"float_denorm_mode_32", rsrc1_at, 16, 2},
    {"float_denorm_mode_16_64", rsrc1_at, 18, 2},
    {"dx10_clamp", rsrc1_at, 21, 1},
    {"ieee_mode", rsrc1_at, 23, 1},
    {"fp16_overflow", rsrc1_at, 26, 1},
    {"tg_split", rsrc3_at, 16, 1, On::unified},
    {"exception_fp_ieee_invalid_op", rsrc2_at, 24, 1},
    {"exception_fp_denorm_src", rsrc2_at, 25, 1},
    {"exception_fp_ieee_div_zero", rsrc2_at, 26, 1},
    {"exception_fp_ieee_overflow", rsrc2_at, 27, 1},
    {"exception_fp_ieee_underflow", rsrc2_at, 28, 1},
    {"exception_fp_ieee_inexact", rsrc2_at, 29, 1},
    {"exception_int_div_zero", rsrc2_at, 30, 1},
};

// Flat scratch set up by hardware, without user SGPRs: gfx940 and later.
bool architected_scratch(const isa::Target& t) { return t.processor >= isa::Processor::gfx942; }

bool exists(const Field& field, const isa::Target& t) {
  switch (field.on) {
  case On::all:
    return true;
  case On::fixed_scratch:
    return !architected_scratch(t);
  case On::architected_scratch:
    return architected_scratch(t);
  case On::unified:
  case On::preload:
    return t.unified_registers();
  }
  return false;
}

uint32_t bits(const KernelDescriptor& d, size_t byte, int shift, int width) {
  uint32_t word = 0;
  std::memcpy(&word, d.raw.data() + byte, std::min<size_t>(4, d.raw.size() - byte));
  return width == 32 ? word : word >> shift & ((1u << width) - 1);
}

void set_bits(KernelDescriptor& d, size_t byte, int shift, int width, uint32_t value) {
  uint32_t word;
  std::memcpy(&word, d.raw.data() + byte, 4);
  uint32_t mask = ((1u << width) - 1) << shift;
  word = (word & ~mask) | (value << shift & mask);
  std::memcpy(d.raw.data() + byte, &word, 4);
}

uint32_t vgpr_blocks(const KernelDescriptor& d) { return bits(d, rsrc1_at, 0, 6) + 1; }
uint32_t sgpr_blocks(const KernelDescriptor& d) { return bits(d, rsrc1_at, 6, 4) + 1; }
uint32_t accum_offset(const KernelDescriptor& d) { return (bits(d, rsrc3_at, 0, 6) + 1) * 4; }

// What the assembler adds to .amdhsa_next_free_sgpr when .amdhsa_reserve_vcc and .amdhsa_reserve_flat_scratch are 0;
// the xnack mask follows the target.
uint32_t implied_sgprs(const isa::Target& t) {
  if (architected_scratch(t)) return 6;
  return t.xnack == isa::Feature::any || t.xnack == isa::Feature::on ? 4 : 0;
}

// User SGPRs that the enabled inputs need; the assembler refuses a smaller user_sgpr_count.
uint32_t implied_user_sgprs(const KernelDescriptor& d) {
  uint32_t p = d.kernel_code_properties();
  return 4 * (p & 1) + 2 * std::popcount(p & 0b111110u) + (p >> 6 & 1) + (d.kernarg_preload() & 0x7f);
}

// Bits outside of every field must be zero.
bool only_known_bits(const KernelDescriptor& d, const isa::Target& t) {
  KernelDescriptor rest = d;
  for (const Field& f : fields) {
    if (!exists(f, t)) continue;
    if (f.width == 32)
      std::memset(rest.raw.data() + f.byte, 0, 4);
    else
      set_bits(rest, f.byte, f.shift, f.width, 0);
  }
  std::memset(rest.raw.data() + entry_at, 0, 8);
  set_bits(rest, rsrc1_at, 0, 10, 0);
  if (t.unified_registers()) set_bits(rest, rsrc3_at, 0, 6, 0);
  return std::ranges::all_of(rest.raw, [](uint8_t byte) { return byte == 0; });
}

bool sayable(const KernelDescriptor& d, const isa::Target& t) {
  if (!only_known_bits(d, t)) return false;
  uint32_t user_sgprs = bits(d, rsrc2_at, 1, 5);
  if (user_sgprs > 16 || user_sgprs < implied_user_sgprs(d)) return false;
  uint32_t preload = d.kernarg_preload();
  if ((preload & 0x7f) * 4 + (preload >> 7) * 4 > d.kernarg_size()) return false;
  if (sgpr_blocks(d) * sgpr_granule > addressable_sgprs + implied_sgprs(t)) return false;
  uint32_t most = t.unified_registers() ? 512 : 256, vgprs = vgpr_blocks(d) * isa::vgpr_granule(t.processor);
  return vgprs <= most && (!t.unified_registers() || accum_offset(d) <= vgprs);
}

uint32_t rounded(uint32_t n, uint32_t to) { return (n + to - 1) / to * to; }

} // namespace

isa::Resources declared_resources(const KernelDescriptor& d, const isa::Target& t) {
  isa::Resources r;
  uint32_t rows = vgpr_blocks(d) * isa::vgpr_granule(t.processor);
  r.vgprs = rows;
  if (t.unified_registers()) {
    r.accum_offset = accum_offset(d);
    r.vgprs = std::min(r.accum_offset, rows);
    r.agprs = rows - r.vgprs;
  } else if (t.has_agprs()) {
    r.agprs = rows;
  }
  // Hardware hands out sixteens, and the special registers are the last of them.
  r.sgprs = std::min(rounded(sgpr_blocks(d) * sgpr_granule, 16) - implied_sgprs(t), addressable_sgprs);
  r.lds_bytes = d.group_segment_fixed_size();
  r.scratch_bytes = d.private_segment_fixed_size();
  r.uses_vcc = true;
  return r;
}

KernelDescriptor with_resources(const KernelDescriptor& descriptor, const isa::Resources& r, const isa::Target& t) {
  KernelDescriptor d = descriptor;
  isa::Resources before = declared_resources(descriptor, t);
  if (r.vgprs != before.vgprs || r.agprs != before.agprs || r.accum_offset != before.accum_offset) {
    uint32_t granule = isa::vgpr_granule(t.processor);
    if (t.unified_registers()) set_bits(d, rsrc3_at, 0, 6, std::max(r.accum_offset, 4u) / 4 - 1);
    uint32_t rows =
        t.unified_registers() ? std::max(r.vgprs, r.agprs ? r.accum_offset + r.agprs : 0) : std::max(r.vgprs, r.agprs);
    set_bits(d, rsrc1_at, 0, 6, rounded(std::max(rows, 1u), granule) / granule - 1);
  }
  if (r.sgprs != before.sgprs)
    set_bits(d, rsrc1_at, 6, 4, rounded(metadata_sgpr_count(r, t), sgpr_granule) / sgpr_granule - 1);
  return d;
}

uint32_t metadata_vgpr_count(const isa::Resources& r, const isa::Target& t) {
  if (!t.unified_registers()) return std::max(r.vgprs, r.agprs);
  return r.agprs ? r.accum_offset + r.agprs : r.vgprs;
}

uint32_t metadata_sgpr_count(const isa::Resources& r, const isa::Target& t) {
  uint32_t extra = r.uses_vcc ? 2 : 0;
  if (r.uses_xnack_mask || implied_sgprs(t) == 4) extra = 4;
  if (r.uses_flat_scratch || architected_scratch(t)) extra = 6;
  return std::min(r.sgprs, addressable_sgprs) + extra;
}

std::optional<std::string> descriptor_directives(const KernelDescriptor& d, const isa::Target& t) {
  if (!sayable(d, t)) return std::nullopt;
  std::string text;
  auto line = [&](std::string_view name, uint32_t value) { text += fmt::format("\t\t.amdhsa_{} {}\n", name, value); };
  for (const Field& f : fields)
    if (exists(f, t)) line(f.directive, bits(d, f.byte, f.shift, f.width));
  line("next_free_vgpr", vgpr_blocks(d) * isa::vgpr_granule(t.processor));
  uint32_t sgprs = sgpr_blocks(d) * sgpr_granule, implied = implied_sgprs(t);
  line("next_free_sgpr", sgprs - std::min(sgprs, implied));
  line("reserve_vcc", 0);
  if (!architected_scratch(t)) line("reserve_flat_scratch", 0);
  if (t.unified_registers()) line("accum_offset", accum_offset(d));
  return text;
}

InitialRegisters initial_registers(const KernelDescriptor& d, const isa::Target& t) {
  InitialRegisters r;
  r.sgprs = bits(d, rsrc2_at, 1, 5) + std::popcount(bits(d, rsrc2_at, 7, 4));
  if (!architected_scratch(t)) r.sgprs += bits(d, rsrc2_at, 0, 1);
  // Packed into v0 from gfx90a on; before, one register a dimension.
  r.vgprs = t.unified_registers() ? 1 : bits(d, rsrc2_at, 11, 2) + 1;
  return r;
}

} // namespace asmevo::recover
