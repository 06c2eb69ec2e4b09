// Tables of names. The names are those that LLVM prints for GFX9, without encoding suffix.
#include "isa/traits.h"

#include <algorithm>
#include <array>

namespace asmevo::isa {
namespace {

template <size_t N> bool any_prefix(const std::array<std::string_view, N>& prefixes, std::string_view name) {
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

struct BranchRow {
  std::string_view prefix;
  bool conditional, indirect, terminator;
};
constexpr std::array branches = {
    BranchRow{"s_branch", false, false, true},      BranchRow{"s_cbranch_g_fork", true, true, false},
    BranchRow{"s_cbranch_join", true, true, false}, BranchRow{"s_cbranch_", true, false, false},
    BranchRow{"s_setpc_b64", false, true, true},    BranchRow{"s_swappc_b64", false, true, false},
    BranchRow{"s_call_b64", false, false, false},   BranchRow{"s_rfe_", false, true, true},
};

constexpr auto terminators = std::to_array<std::string_view>({"s_endpgm"});

/// Never removed and never moved, beyond memory accesses and control flow.
constexpr auto side_effects = std::to_array<std::string_view>(
    {"s_sendmsg",      "s_setreg",         "s_trap",           "s_sleep",       "s_setprio",  "s_sethalt",
     "s_icache_inv",   "s_dcache_",        "s_ttrace",         "s_incperf",     "s_decperf",  "s_setkill",
     "s_set_gpr_",     "s_rfe_",           "s_memtime",        "s_memrealtime", "s_setvskip", "s_wakeup",
     "s_barrier",      "s_atc_probe",      "buffer_wb",        "buffer_inv",    "ds_gws_",    "exp",
     "s_cbranch_cdbg", "s_cbranch_g_fork", "s_cbranch_i_fork", "s_cbranch_join"});

constexpr auto relative = std::to_array<std::string_view>({"s_movrel", "v_movrel"});

constexpr auto m0_readers =
    std::to_array<std::string_view>({"ds_gws_", "ds_append", "ds_consume", "ds_ordered_count", "ds_read_addtid_b32",
                                     "ds_write_addtid_b32", "global_load_lds_", "scratch_load_lds_", "s_", "v_interp"});

constexpr auto half_keepers = std::to_array<std::string_view>(
    {"v_mad_f16", "v_mad_u16", "v_mad_i16", "v_fma_f16", "v_div_fixup_f16", "v_interp_p2_f16", "v_add_i16", "v_sub_i16",
     "v_med3_f16", "v_med3_i16", "v_med3_u16", "v_min3_f16", "v_min3_i16", "v_min3_u16", "v_max3_f16", "v_max3_i16",
     "v_max3_u16", "v_bitop3_b16", "v_cvt_scalef32_sr_pk_fp4_"});

constexpr auto accumulators =
    std::to_array<std::string_view>({"v_mac_", "v_fmac_", "v_pk_fmac_", "v_dot2c_", "v_dot4c_", "v_dot8c_", "v_smfmac_",
                                     "v_writelane_b32", "v_swap_b32", "v_movreld"});

bool is_atomic(std::string_view name) { return name.find("_atomic_") != std::string_view::npos; }

/// DS instructions that change LDS by a function of its old value have no "atomic" in their names.
bool is_lds_atomic(std::string_view name) {
  constexpr auto plain = std::to_array<std::string_view>(
      {"ds_read", "ds_write", "ds_swizzle", "ds_permute", "ds_bpermute", "ds_nop", "ds_gws_", "ds_load", "ds_store"});
  return name.starts_with("ds_") && !any_prefix(plain, name);
}

Traits control_traits(std::string_view name) {
  Traits traits;
  for (const BranchRow& row : branches) {
    if (!name.starts_with(row.prefix)) continue;
    traits.branch = true;
    traits.conditional = row.conditional;
    traits.indirect = row.indirect;
    traits.terminator = row.terminator;
    break;
  }
  if (any_prefix(terminators, name)) traits.terminator = true;
  traits.barrier = name == "s_barrier";
  traits.waitcnt = name == "s_waitcnt";
  return traits;
}

} // namespace

Traits traits_of(Encoding encoding, std::string_view name, bool may_load, bool may_store) {
  Traits traits = control_traits(name);
  traits.side_effects = any_prefix(side_effects, name);
  traits.relative = any_prefix(relative, name);
  bool memory = true;
  switch (encoding) {
  case Encoding::sop1:
  case Encoding::sop2:
  case Encoding::sopk:
  case Encoding::sopc:
  case Encoding::sopp:
    traits.salu = true;
    memory = false;
    break;
  case Encoding::smem:
    traits.smem = true;
    break;
  case Encoding::ds:
    traits.lds = true;
    break;
  case Encoding::flat:
    traits.flat = traits.vmem = true;
    break;
  case Encoding::global:
  case Encoding::scratch:
  case Encoding::mubuf:
  case Encoding::mtbuf:
  case Encoding::mimg:
    traits.vmem = true;
    break;
  case Encoding::exp:
  case Encoding::unknown:
    memory = false;
    break;
  default:
    traits.valu = true;
    memory = false;
  }
  if (name.find("_load_lds_") != std::string_view::npos) traits.lds = true;
  traits.mfma = name.starts_with("v_mfma_") || name.starts_with("v_smfmac_");
  if (!memory) return traits;
  traits.may_load = may_load;
  traits.may_store = may_store;
  traits.atomic = is_atomic(name) || is_lds_atomic(name);
  if (traits.atomic) traits.may_load = traits.may_store = true;
  return traits;
}

bool memory_reads_m0(Encoding encoding, std::string_view name) {
  const bool listed_without_need = encoding == Encoding::ds || encoding == Encoding::flat ||
                                   encoding == Encoding::global || encoding == Encoding::scratch;
  return !listed_without_need || any_prefix(m0_readers, name);
}

bool keeps_other_half(std::string_view name) {
  const bool loads_half = name.find("_d16") != std::string_view::npos && name.find("store") == std::string_view::npos &&
                          !name.starts_with("ds_write");
  return loads_half || any_prefix(half_keepers, name);
}

bool accumulates(std::string_view name) { return any_prefix(accumulators, name); }

bool keeps_scalar_destination(std::string_view name) {
  return name.starts_with("s_cmov") || name.starts_with("s_bitset");
}

} // namespace asmevo::isa
