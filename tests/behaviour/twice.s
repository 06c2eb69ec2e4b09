; out[i] = in[i] + in[i], after a delay loop that nobody needs: what tests of the search make faster.
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.amdhsa_code_object_version 6
.text
.globl twice
.p2align 8
.type twice,@function
twice:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshl_add_u32 v0, s2, 6, v0
  v_lshlrev_b32_e32 v0, 2, v0
  s_movk_i32 s8, 0x1000
.Ldelay:
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 .Ldelay
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v0, s[6:7]
  s_waitcnt vmcnt(0)
  v_add_f32_e32 v1, v1, v1
  global_store_dword v0, v1, s[4:5]
  s_endpgm
.Lend:
.size twice, .Lend-twice
.rodata
.p2align 6
.amdhsa_kernel twice
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_kernarg_size 16
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 8
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx942
amdhsa.kernels:
  - .name: twice
    .symbol: twice.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .max_flat_workgroup_size: 64
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .agpr_count: 0
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global}
...
.end_amdgpu_metadata
