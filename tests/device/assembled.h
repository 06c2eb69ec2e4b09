// Code objects and launches for tests, from a few lines of assembly.
#pragma once

#include "isa/codec.h"
#include "launch/launch.h"

#include <gtest/gtest.h>

namespace asmevo::testing {

/// A relocatable gfx942 object with the kernel `k`: kernarg pointer in s[0:1], workgroup id in s2, 64 work-items.
/// Arguments: `in` (pointer), `out` (pointer), n (i32). `scratch`: bytes a lane.
inline std::shared_ptr<const object::CodeObject> assembled(const std::string& body, const std::string& name = "k.o",
                                                           unsigned scratch = 0) {
  const std::string bytes_of_scratch = std::to_string(scratch);
  std::string text = R"(
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.text
.globl k
.p2align 8
.type k,@function
k:
)" + body + R"(
  s_endpgm
.size k, .-k
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_kernarg_size 24
  .amdhsa_private_segment_fixed_size )" +
                     bytes_of_scratch + R"(
  .amdhsa_enable_private_segment )" +
                     (scratch ? "1" : "0") + R"(
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 32
  .amdhsa_accum_offset 16
.end_amdhsa_kernel
.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: )" +
                     bytes_of_scratch + R"(
    .wavefront_size: 64
    .max_flat_workgroup_size: 64
    .sgpr_count: 32
    .vgpr_count: 16
    .args:
      - {.name: in, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.name: out, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.name: n, .offset: 16, .size: 4, .value_kind: by_value}
.end_amdgpu_metadata
)";
  auto codec = isa::Codec::create({.processor = isa::Processor::gfx942});
  EXPECT_TRUE(codec) << codec.error().message;
  auto bytes = codec->assemble_object(text);
  EXPECT_TRUE(bytes) << bytes.error().line << ": " << bytes.error().message;
  auto object = object::read_code_object(*bytes, name);
  EXPECT_TRUE(object) << object.error().message;
  return std::make_shared<object::CodeObject>(*std::move(object));
}

/// v0 = work-item, v1 = byte offset of its element, s[4:5] = in, s[6:7] = out, s8 = n.
inline const std::string prologue = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dword s8, s[0:1], 0x10
  v_lshl_or_b32 v0, s2, 6, v0
  v_lshlrev_b32_e32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
)";

/// out[i] = in[i] + n
inline const std::string add_n = prologue + R"(
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_add_u32_e32 v2, s8, v2
  global_store_dword v1, v2, s[6:7]
)";

inline launch::Launch parsed_launch(std::string_view text) {
  auto launch = launch::parse_launch(text, "l.json");
  EXPECT_TRUE(launch) << launch.error().message;
  return *std::move(launch);
}

/// 256 elements in 4 workgroups, n = 7.
inline launch::Launch add_launch(std::string_view more = "") {
  return parsed_launch(fmt::format(R"({{
    "kernel": "k", "workgroups": 4, "workgroup_size": 64,
    "buffers": {{
      "in": {{"dtype": "i32", "shape": 256, "role": "in", "fill": {{"integers": [0, 1000]}}}},
      "out": {{"dtype": "i32", "shape": 256, "role": "out"}}
    }},
    "arguments": [{{"buffer": "in"}}, {{"buffer": "out"}}, {{"i32": 7, "name": "n"}}]{}}})",
                                   more));
}

} // namespace asmevo::testing
