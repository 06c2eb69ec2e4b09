// What real objects have that a text round trip loses when it is not looked at.
#include "object/metadata.h"
#include "programs.h"
#include "recover/descriptor.h"
#include "recover/metadata_text.h"

#include <cstring>

namespace asmevo::recover {
namespace {

using namespace testing;

Program small(const std::string& body) { return program_of(object_of(build_small(small_listing(body)), "k")); }

TEST(Trap, SuffixesAndLiteralsSurviveAsText) {
  // The same operation in each encoding; a literal that would fit inline; an SDWA and a DPP form that do nothing.
  Program program =
      small("\tv_add_f32_e32 v0, v1, v2\n\tv_add_f32_e64 v0, v1, v2\n"
            "\tv_add_f32_sdwa v0, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD\n"
            "\tv_add_f32_dpp v0, v1, v2 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf\n"
            "\ts_mov_b32 s0, 0x12345678\n\t.long 0xbe8000ff, 0x00000001\n\ts_endpgm");
  expect_round_trip(program);
  EXPECT_EQ(program.items[1].text, "v_add_f32_e32 v0, v1, v2");
  EXPECT_EQ(program.items[2].text, "v_add_f32_e64 v0, v1, v2");
  EXPECT_EQ(program.items[3].text.substr(0, 14), "v_add_f32_sdwa");
  EXPECT_EQ(program.items[4].text.substr(0, 13), "v_add_f32_dpp");
  EXPECT_EQ(program.items[5].text, "s_mov_b32 s0, 0x12345678");
  EXPECT_EQ(program.items[6].text, "s_mov_b32 s0, lit(0x1)");
  EXPECT_EQ(isa::name_of(program.items[6].instruction), "s_mov_b32");
}

TEST(Trap, InstructionsThatPrintAlikeAreToldApartByTheirWords) {
  // Bit 15 of v_fma_f32's first dword is not printed.
  Program program = small("\tv_fma_f32 v0, v1, v2, v3\n\t.long 0xd1cb8000, 0x040e0501\n\ts_endpgm");
  expect_round_trip(program);
  const Item &plain = program.items[1], &odd = program.items[2];
  EXPECT_FALSE(plain.raw);
  EXPECT_NE(plain.instruction.words, odd.instruction.words);
  EXPECT_NE(plain.text, odd.text);
}

struct Granules {
  const char* arch;
  uint32_t vgpr, rows, agpr_rows, metadata_vgprs;
};

TEST(Trap, RegisterGranulesFollowTheProcessor) {
  for (Granules g : {Granules{"gfx908", 4, 40, 40, 38}, Granules{"gfx90a", 8, 64, 24, 40 + 20},
                     Granules{"gfx942", 8, 64, 24, 40 + 20}, Granules{"gfx950", 8, 64, 24, 40 + 20}}) {
    isa::Target target{.processor = *isa::processor_from_name(g.arch)};
    EXPECT_EQ(isa::vgpr_granule(target.processor), g.vgpr);
    isa::Resources needs{.vgprs = 38, .agprs = 20, .sgprs = 30, .accum_offset = target.unified_registers() ? 40u : 0};
    auto declared = declared_resources(with_resources({}, needs, target), target);
    uint32_t rows = target.unified_registers() ? declared.vgprs + declared.agprs : declared.vgprs;
    EXPECT_EQ(rows, g.rows) << g.arch;
    EXPECT_EQ(declared.agprs, g.agpr_rows) << g.arch;
    EXPECT_EQ(metadata_vgpr_count(needs, target), g.metadata_vgprs) << g.arch;
    EXPECT_GE(declared.sgprs, 30u);
    EXPECT_LT(declared.sgprs, 30u + 16u);
  }
}

TEST(Trap, ScalarRegistersAreCountedInSixteensThatEndWithTheSpecialOnes) {
  isa::Target target;
  object::KernelDescriptor d = with_resources({}, {.vgprs = 8, .sgprs = 90, .accum_offset = 8}, target);
  EXPECT_EQ(d.compute_pgm_rsrc1() >> 6 & 15, 96u / 8 - 1); // 90 + 6
  EXPECT_EQ(declared_resources(d, target).sgprs, 90u);
  EXPECT_EQ(metadata_sgpr_count({.sgprs = 90}, target), 96u);
}

TEST(Trap, FeatureStatesAndVersionsOfTheHeaderArePreservedExactly) {
  Bytes plain = build_small(small_listing("\ts_endpgm"));
  for (uint8_t abi : {1, 2, 3, 4})
    for (uint32_t xnack : {0u, 0x100u, 0x200u, 0x300u})
      for (uint32_t sramecc : {0u, 0x400u, 0x800u, 0xc00u}) {
        if (abi == 1 && (xnack > 0x100u || (sramecc & 0x800u))) continue; // version 3 has one bit for each
        Bytes bytes = plain;
        uint32_t flags = abi == 1 ? 0x4c | xnack | (sramecc ? 0x200u : 0) : 0x4c | xnack | sramecc;
        bytes[8] = abi;
        std::memcpy(bytes.data() + 48, &flags, 4);
        auto object = object_of(bytes, "k");
        Program program = program_of(object);
        expect_round_trip(program);
        auto rebuilt = build(program, codec_for(program.target));
        ASSERT_TRUE(rebuilt) << rebuilt.error().message;
        auto again = object_of(*rebuilt, "again");
        EXPECT_EQ(again->e_flags, flags);
        EXPECT_EQ(again->abi_version, abi);
      }
}

TEST(Trap, ObjectVersionAndMetadataVersionMayDisagree) {
  std::string listing =
      small_listing("\ts_endpgm") +
      "\t.amdgpu_metadata\n---\namdhsa.kernels:\n  - .name: k\n    .symbol: k.kd\n"
      "    .kernarg_segment_size: 8\n    .kernarg_segment_align: 8\n    .group_segment_fixed_size: 0\n"
      "    .private_segment_fixed_size: 0\n    .wavefront_size: 64\n    .sgpr_count: 8\n"
      "    .vgpr_count: 8\n    .max_flat_workgroup_size: 256\namdhsa.version:\n  - 1\n  - 0\n...\n"
      "\t.end_amdgpu_metadata\n";
  Bytes bytes = build_small(listing);
  bytes[8] = 4; // code object version 6
  Program program = program_of(object_of(bytes, "k"));
  expect_round_trip(program);
  // kernarg_size 0 in the descriptor, 8 in the metadata; no .agpr_count.
  EXPECT_EQ(program.origin->kernels[0].descriptor.kernarg_size(), 0u);
  EXPECT_EQ(program.origin->kernels[0].metadata->kernarg_segment_size, 8u);
  EXPECT_FALSE(program.origin->kernels[0].metadata->agpr_count);
}

// The note as bytes, whatever is in them.
std::string with_note(const Bytes& note) {
  std::string text = small_listing("\ts_endpgm") + "\t.section .note,\"a\",@note\n\t.p2align 2\n";
  text += fmt::format("\t.long 7, {}, 32\n\t.asciz \"AMDGPU\"\n\t.byte 0\n", note.size());
  for (uint8_t byte : note) text += fmt::format("\t.byte {}\n", byte);
  return text + "\t.p2align 2\n";
}

TEST(Trap, MetadataInUnusualWidthsAndOrderComesBackByteForByte) {
  Bytes note;
  auto add = [&](std::string_view text) { note.insert(note.end(), text.begin(), text.end()); };
  add(std::string_view("\x82\xae"
                       "amdhsa.version\x92\x01\xcd\x00\x02",
                       21)); // 2 as 16 bits
  add(std::string_view("\xae"
                       "amdhsa.kernels\x91\x83\xa7.symbol\xd9\x04k.kd",
                       31)); // a string with a length byte
  add(std::string_view("\xa5.name\xa1k\xab.vgpr_count\xce\x00\x00\x00\x08", 25));
  Program program = program_of(object_of(build_small(with_note(note)), "k"));
  EXPECT_EQ(program.origin->metadata_note, note);
  EXPECT_FALSE(metadata_text(note));
  expect_round_trip(program);
  Edit edit{1, 1, "v_mov_b32 v30, 0"};
  auto edited = apply(program, std::span(&edit, 1), codec_for(program.target));
  ASSERT_TRUE(edited) << edited.error().message;
  auto grown = object_of(*build(*edited, codec_for(program.target)), "grown");
  EXPECT_EQ(grown->kernels[0].metadata->vgpr_count, 31u);
  EXPECT_EQ(abi_difference(*program.origin, *grown), std::nullopt);
}

TEST(Trap, StringsThatLookLikeNumbersStayStrings) {
  std::string listing =
      small_listing("\ts_endpgm") +
      "\t.amdgpu_metadata\n---\namdhsa.kernels:\n  - .name: !str '1'\n    .symbol: k.kd\n    .args:\n"
      "      - .name: !str 'true'\n        .type_name: !str '0x10*'\n        .size: 8\n        .offset: 0\n"
      "        .value_kind: by_value\n      - .name: pad\n        .size: 4\n        .offset: 8\n"
      "        .value_kind: by_value\n      - .name: pad\n        .size: 4\n        .offset: 12\n"
      "        .value_kind: by_value\n"
      "    .kernarg_segment_size: 16\n    .kernarg_segment_align: 8\n    .group_segment_fixed_size: 0\n"
      "    .private_segment_fixed_size: 0\n    .wavefront_size: 64\n    .sgpr_count: 8\n"
      "    .vgpr_count: 8\n    .max_flat_workgroup_size: 256\namdhsa.version:\n  - 1\n  - 2\n...\n"
      "\t.end_amdgpu_metadata\n";
  Program program = program_of(object_of(build_small(listing), "k"));
  ASSERT_EQ(program.origin->kernels.size(), 1u);
  ASSERT_TRUE(program.origin->kernels[0].metadata);
  EXPECT_EQ(program.origin->kernels[0].metadata->name, "1");
  EXPECT_EQ(program.origin->kernels[0].metadata->args[0].name, "true");
  EXPECT_TRUE(metadata_text(program.origin->metadata_note));
  expect_round_trip(program);
}

TEST(Trap, ADamagedDescriptorWordOfARelocatableObjectIsKept) {
  auto files = samples::files("mi300a/objects", "vectoradd.hsaco");
  if (files.empty()) GTEST_SKIP() << "NOT TESTED: no mi300a in the data folder (set ASMEVO_DATA)";
  expect_round_trip(program_of(files[0]));
}

TEST(Trap, SymbolNamesThatNeedQuotesAreKept) {
  std::string listing = small_listing("\ts_branch \"a b\"\n\"a b\":\n\ts_endpgm\n\"k(int, float*)\":\n\ts_nop 1");
  Program program = program_of(object_of(build_small(listing), "k"));
  expect_round_trip(program);
  auto written = print_listing(program);
  EXPECT_NE(written.find("\"k(int, float*)\":"), std::string::npos);
}

TEST(Trap, ALabelNamedLikeARegisterIsNotTakenForOne) {
  Program program = small("\t.long 0xbf840001\n\tv_mov_b32 v0, v1\nv1:\n\ts_endpgm");
  expect_round_trip(program);
  Edit edit{2, 3, program.items[2].text};
  auto edited = apply(program, std::span(&edit, 1), codec_for(program.target));
  ASSERT_TRUE(edited) << edited.error().message;
  EXPECT_EQ(edited->items[2].instruction.words, program.items[2].instruction.words);
}

TEST(Trap, TwoLocalLabelsOfOneNameAreReported) {
  // Linked objects may have them; a listing can define only one.
  Bytes bytes = build_small(small_listing("lab_1:\n\ts_nop 1\nlab_2:\n\ts_endpgm"));
  for (size_t i = 0; i + 6 <= bytes.size(); i++)
    if (std::memcmp(bytes.data() + i, "lab_2", 6) == 0) bytes[i + 4] = '1';
  Program program = program_of(object_of(bytes, "k"));
  auto trip = round_trip(program, codec_for(program.target));
  ASSERT_TRUE(trip) << trip.error().message;
  ASSERT_EQ(trip->differences.size(), 1u) << differences(*trip);
  EXPECT_EQ(trip->differences[0].substr(0, 19), "symbol lost: lab_1 ");
}

} // namespace
} // namespace asmevo::recover
