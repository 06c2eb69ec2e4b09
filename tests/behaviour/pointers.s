; out[i] = sum over a linked list of node.value[i]; the head of the list is found through a table of pointers. A node
; is {next, values}: two pointers.
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.amdhsa_code_object_version 6
.text
.globl pointers
.p2align 8
.type pointers,@function
pointers:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32_e32 v0, 2, v0
  v_mov_b32_e32 v1, 0
  s_waitcnt lgkmcnt(0)
  s_load_dwordx2 s[8:9], s[6:7], 0x8
  s_waitcnt lgkmcnt(0)
.Lnode:
  s_load_dwordx4 s[12:15], s[8:9], 0x0
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v0, s[14:15]
  s_waitcnt vmcnt(0)
  v_add_f32_e32 v1, v1, v2
  s_mov_b64 s[8:9], s[12:13]
  s_cmp_lg_u64 s[8:9], 0
  s_cbranch_scc1 .Lnode
  global_store_dword v0, v1, s[4:5]
  s_endpgm
.Lend:
.size pointers, .Lend-pointers
.rodata
.p2align 6
.amdhsa_kernel pointers
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_kernarg_size 16
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 24
  .amdhsa_accum_offset 8
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx942
amdhsa.kernels:
  - .name: pointers
    .symbol: pointers.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .max_flat_workgroup_size: 64
    .wavefront_size: 64
    .sgpr_count: 24
    .vgpr_count: 8
    .agpr_count: 0
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global}
...
.end_amdgpu_metadata
