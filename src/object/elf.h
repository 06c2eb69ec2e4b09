// The numbers of ELF that code objects use. Source: System V ABI (ELF-64), LLVM AMDGPUUsage "ELF Code Object".
#pragma once

#include <cstdint>

namespace asmevo::object::elf {

inline constexpr uint16_t et_rel = 1, et_dyn = 3;
inline constexpr uint16_t em_amdgpu = 224;
inline constexpr uint8_t osabi_amdgpu_hsa = 64;

inline constexpr uint32_t sht_null = 0, sht_progbits = 1, sht_symtab = 2, sht_strtab = 3, sht_rela = 4, sht_hash = 5,
                          sht_dynamic = 6, sht_note = 7, sht_nobits = 8, sht_rel = 9, sht_dynsym = 11, sht_group = 17,
                          sht_relr = 19, sht_gnu_hash = 0x6ffffff6, sht_llvm_addrsig = 0x6fff4c03;
inline constexpr uint64_t shf_write = 1, shf_alloc = 2, shf_execinstr = 4, shf_merge = 0x10, shf_strings = 0x20,
                          shf_info_link = 0x40, shf_group = 0x200, shf_exclude = 0x80000000;

inline constexpr uint32_t grp_comdat = 1;

inline constexpr uint16_t shn_undef = 0, shn_loreserve = 0xff00, shn_abs = 0xfff1, shn_common = 0xfff2,
                          shn_xindex = 0xffff;

inline constexpr uint8_t stt_notype = 0, stt_object = 1, stt_func = 2, stt_section = 3, stt_file = 4, stt_common = 5,
                         stt_tls = 6, stt_amdgpu_hsa_kernel = 10;
inline constexpr uint8_t stb_local = 0, stb_global = 1, stb_weak = 2;
inline constexpr uint8_t stv_default = 0, stv_internal = 1, stv_hidden = 2, stv_protected = 3;

inline constexpr uint32_t pt_load = 1, pt_dynamic = 2, pt_note = 4;

inline constexpr uint32_t nt_amd_hsa_metadata = 10; // code object v2, YAML
inline constexpr uint32_t nt_amdgpu_metadata = 32;  // v3 and later, msgpack

inline constexpr uint32_t r_none = 0, r_abs32_lo = 1, r_abs32_hi = 2, r_abs64 = 3, r_rel32 = 4, r_rel64 = 5,
                          r_abs32 = 6, r_gotpcrel = 7, r_gotpcrel32_lo = 8, r_gotpcrel32_hi = 9, r_rel32_lo = 10,
                          r_rel32_hi = 11, r_relative64 = 13, r_rel16 = 14;

} // namespace asmevo::object::elf
