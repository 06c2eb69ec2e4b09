// Kernels that keep values in private memory, on every way to it: scratch instructions or the descriptor in s[0:3].
#pragma once

#include "machine/machine.h"
#include "recover/recover.h"
#include "search/drivers/rewrite/rule.h"

#include <gtest/gtest.h>
#include <map>

namespace asmevo::search::rewrite::testing {

struct PrivateKernel {
  isa::Processor processor = isa::Processor::gfx942;
  uint32_t vgprs = 32, agprs = 0, bytes = 64;

  bool by_descriptor() const { return processor < isa::Processor::gfx942; }
  const isa::Codec& codec() const {
    static std::map<isa::Processor, isa::Codec> codecs;
    auto at = codecs.find(processor);
    if (at == codecs.end()) at = codecs.emplace(processor, *isa::Codec::create({processor})).first;
    return at->second;
  }
  std::string store(std::string_view data, unsigned slot) const {
    return by_descriptor() ? fmt::format("buffer_store_dword {}, off, s[0:3], 0 offset:{}\n", data, 4 * slot)
                           : fmt::format("scratch_store_dword off, {}, off offset:{}\n", data, 4 * slot);
  }
  std::string load(std::string_view data, unsigned slot) const {
    return (by_descriptor() ? fmt::format("buffer_load_dword {}, off, s[0:3], 0 offset:{}\n", data, 4 * slot)
                            : fmt::format("scratch_load_dword {}, off, off offset:{}\n", data, 4 * slot)) +
           "s_waitcnt vmcnt(0)\n";
  }

  /// `body` finds where results go in s[8:9], the lane in v0 and four times that in v1, and ends in s_endpgm.
  recover::Program program(const std::string& body) const {
    const std::string begin = by_descriptor() ? "s_add_u32 s0, s0, s7\ns_addc_u32 s1, s1, 0\ns_mov_b64 s[8:9], s[4:5]\n"
                                              : "s_mov_b64 s[8:9], s[0:1]\n";
    const std::string_view name = isa::processor_name(processor);
    std::string listing =
        fmt::format(".amdgcn_target \"amdgcn-amd-amdhsa--{}\"\n"
                    ".amdhsa_code_object_version 6\n.text\n.globl k\n.p2align 8\n"
                    ".type k,@function\nk:\n{}v_lshlrev_b32_e32 v1, 2, v0\n{}.Lend:\n.size k, .Lend-k\n"
                    ".rodata\n.p2align 6\n.amdhsa_kernel k\n"
                    ".amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_next_free_sgpr 32\n"
                    ".amdhsa_private_segment_fixed_size {}\n",
                    name, begin, body, bytes);
    const bool unified = processor >= isa::Processor::gfx90a;
    listing += fmt::format(".amdhsa_next_free_vgpr {}\n", unified && agprs > 0 ? ((vgprs + 3) & ~3u) + agprs : vgprs);
    if (unified) listing += fmt::format(".amdhsa_accum_offset {}\n", (vgprs + 3) & ~3u);
    listing += by_descriptor() ? ".amdhsa_user_sgpr_private_segment_buffer 1\n"
                                 ".amdhsa_system_sgpr_private_segment_wavefront_offset 1\n"
                               : ".amdhsa_enable_private_segment 1\n";
    listing += fmt::format(".end_amdhsa_kernel\n.amdgpu_metadata\n---\namdhsa.version: [1, 2]\n"
                           "amdhsa.target: amdgcn-amd-amdhsa--{}\namdhsa.kernels:\n  - .name: k\n    .symbol: k.kd\n"
                           "    .kernarg_segment_size: 64\n    .kernarg_segment_align: 8\n"
                           "    .group_segment_fixed_size: 0\n    .private_segment_fixed_size: {}\n"
                           "    .max_flat_workgroup_size: 256\n    .wavefront_size: 64\n    .sgpr_count: 32\n"
                           "    .vgpr_count: {}\n    .agpr_count: {}\n    .args: []\n...\n.end_amdgpu_metadata\n",
                           name, bytes, vgprs, agprs);
    auto object = codec().assemble_object(listing);
    if (!object) {
      ADD_FAILURE() << "line " << object.error().line << ": " << object.error().message << "\n" << listing;
      return {};
    }
    auto read = object::read_code_object(std::move(*object), "test");
    EXPECT_TRUE(read);
    auto program = recover::recover(std::make_shared<const object::CodeObject>(std::move(*read)), codec());
    EXPECT_TRUE(program);
    return std::move(*program);
  }

  Facts facts(const recover::Program& program) const {
    return gather({.program = &program, .function = &program.functions.front(), .codec = &codec()});
  }

  /// The program after the idea; without items where it cannot be carried out.
  recover::Program changed(const recover::Program& program, const Idea& idea) const {
    const auto edits = complete(facts(program), idea);
    if (!edits) return {};
    auto after = recover::apply(program, *edits, codec());
    EXPECT_TRUE(after) << after.error().message;
    return after ? std::move(*after) : recover::Program{};
  }

  static std::string text(const recover::Program& program) {
    std::string text;
    for (const recover::Item& item : program.items) text += item.text + "\n";
    return text;
  }

  /// What one workgroup of `work_items` leaves in 4096 bytes that are zero before.
  std::optional<Bytes> results(const recover::Program& program, uint32_t work_items = 64) const {
    auto bytes = recover::build(program, codec());
    if (!bytes) {
      ADD_FAILURE() << bytes.error().message;
      return std::nullopt;
    }
    auto object = object::read_code_object(std::move(*bytes), "built");
    if (!object) return std::nullopt;
    const auto image = machine::Image::create(std::make_shared<const object::CodeObject>(std::move(*object)), codec());
    if (!image) return std::nullopt;
    machine::Memory memory;
    machine::Dispatch dispatch;
    dispatch.kernel = &image->object().kernels.front();
    dispatch.workgroup_size = {work_items, 1, 1};
    dispatch.kernarg_address = 0x100000;
    const auto mapped = memory.map(dispatch.kernarg_address, 4096, machine::Access::read_write, "out");
    EXPECT_TRUE(mapped);
    const auto run = machine::run(*image, dispatch, memory, {.instruction_budget = 20000});
    if (!run || run->status != machine::Status::completed) return std::nullopt;
    return Bytes(mapped->begin(), mapped->end());
  }
};

} // namespace asmevo::search::rewrite::testing
