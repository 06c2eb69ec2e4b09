// A Program from a few lines of assembly: wrapped as a kernel `k`, assembled into a relocatable object, recovered.
#pragma once

#include "analysis/liveness.h"
#include "recover/recover.h"
#include "search/drivers/rewrite/rule.h"

#include <gtest/gtest.h>

namespace asmevo::search::rewrite::testing {

inline isa::Codec& codec() {
  static isa::Codec codec = *isa::Codec::create({isa::Processor::gfx942, isa::Feature::any, isa::Feature::any});
  return codec;
}

/// `body` ends in s_endpgm. Declares 32 SGPRs, and VGPRs by multiples of 4; kernarg pointer in s[0:1].
inline recover::Program program_of(const std::string& body, uint32_t vgprs = 32) {
  std::string listing = R"(.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.amdhsa_code_object_version 6
.text
.globl k
.p2align 8
.type k,@function
k:
)" + body + R"(
.Lend:
.size k, .Lend-k
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
)" + fmt::format("  .amdhsa_next_free_vgpr {0}\n  .amdhsa_accum_offset {0}\n", vgprs) +
                        R"(  .amdhsa_next_free_sgpr 32
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx942
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 64
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .max_flat_workgroup_size: 256
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 32
    .agpr_count: 0
    .args: []
...
.end_amdgpu_metadata
)";
  auto bytes = codec().assemble_object(listing);
  if (!bytes) {
    ADD_FAILURE() << "line " << bytes.error().line << ": " << bytes.error().message;
    return {};
  }
  auto object = object::read_code_object(std::move(*bytes), "test");
  if (!object) {
    ADD_FAILURE() << object.error().message;
    return {};
  }
  auto program = recover::recover(std::make_shared<const object::CodeObject>(std::move(*object)), codec());
  if (!program) {
    ADD_FAILURE() << program.error().message;
    return {};
  }
  return std::move(*program);
}

inline Facts facts_of(const recover::Program& program) {
  return gather(
      {.program = &program, .function = &program.functions.front(), .codec = &codec(), .allow_float_rewrites = true});
}

/// The instructions and alignments of the first function as text, one a line, without what follows s_endpgm.
inline std::string text_of(const recover::Program& program) {
  std::string text;
  for (size_t i = program.functions.front().first; i < program.functions.front().last; ++i) {
    const recover::Item& item = program.items[i];
    if (item.kind == recover::ItemKind::label)
      text += i == program.functions.front().first ? "" : item.text + ":\n";
    else if (item.kind == recover::ItemKind::instruction || item.kind == recover::ItemKind::align)
      text += item.text + "\n";
    if (item.text == "s_endpgm") break;
  }
  return text;
}

/// The program after the idea, through everything that `complete` does.
inline std::string applied(const recover::Program& program, const Idea& idea) {
  auto edits = complete(facts_of(program), idea);
  if (!edits) return "(not completed)";
  auto after = recover::apply(program, *edits, codec());
  return after ? text_of(*after) : "(does not assemble)";
}

} // namespace asmevo::search::rewrite::testing
