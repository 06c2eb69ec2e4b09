#include "isa/codec.h"

#include <cstring>
#include <gtest/gtest.h>

namespace asmevo::isa {
namespace {

const Codec& codec() {
  static const Codec codec = *Codec::create({.processor = Processor::gfx942});
  return codec;
}

std::string listing(std::string_view body, std::string_view metadata_name = "k") {
  return fmt::format(R"(
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.amdhsa_code_object_version 5
	.text
	.globl k
	.p2align 8
	.type k,@function
k:
{}
	s_endpgm
.Lend:
	.size k, .Lend-k
	.rodata
	.p2align 6
	.amdhsa_kernel k
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 16
		.amdhsa_accum_offset 8
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.kernels:
  - .name:           {}
    .symbol:         'k.kd'
    .kernarg_segment_size: 0
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
amdhsa.version:
  - 1
  - 2
...
	.end_amdgpu_metadata
)",
                     body, metadata_name);
}

AssemblyError error_of(std::string_view text) {
  const auto bytes = codec().assemble(text);
  EXPECT_FALSE(bytes) << text;
  return bytes ? AssemblyError{} : bytes.error();
}

TEST(Assembler, LabelsBecomeDistances) {
  const auto bytes =
      codec().assemble("top:\n  s_nop 0\n  s_cbranch_scc1 out ; leave\n  s_branch top\nout:\n  s_endpgm\n");
  ASSERT_TRUE(bytes) << bytes.error().message;
  ASSERT_EQ(bytes->size(), 16u);
  EXPECT_EQ(codec().decode(std::span(*bytes).subspan(4), 4).branch_target, 12);
  EXPECT_EQ(codec().decode(std::span(*bytes).subspan(8), 8).branch_target, 0);
}

TEST(Assembler, DataAndPaddingAreAllowedInARegion) {
  const auto bytes = codec().assemble(".long 0x12345678, 2\n.p2align 4\n s_endpgm");
  ASSERT_TRUE(bytes) << bytes.error().message;
  ASSERT_EQ(bytes->size(), 20u);
  uint32_t first;
  std::memcpy(&first, bytes->data(), 4);
  EXPECT_EQ(first, 0x12345678u);
}

TEST(Assembler, DifferencesOfLabelsAreConstants) {
  const auto bytes = codec().assemble("a:\n s_nop 0\nb:\n s_add_u32 s0, s0, b-a\n");
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_EQ(codec().decode(std::span(*bytes).subspan(4), 4).words[1], 4u);
}

TEST(Assembler, AnErrorSaysLineAndColumn) {
  const AssemblyError error = error_of("s_nop 0\n  v_add_f32_e32 v0, v1, q7\n");
  EXPECT_EQ(error.line, 2);
  EXPECT_EQ(error.column, 25);
  EXPECT_FALSE(error.message.empty());
}

TEST(Assembler, AnInstructionOfAnotherProcessorIsAnError) {
  EXPECT_EQ(error_of("s_nop 0\nv_bitop3_b32 v0, v1, v2, v3 bitop3:1").line, 2);
}

TEST(Assembler, AnUndefinedLabelIsFoundWhereItIsUsed) {
  const AssemblyError error = error_of("; nowhere\ns_nop 0\ns_branch nowhere\n");
  EXPECT_NE(error.message.find("nowhere"), std::string::npos) << error.message;
  EXPECT_EQ(error.line, 3);
  EXPECT_EQ(error.column, 10);
  EXPECT_FALSE(error_of("s_branch .Lgone").message.empty());
}

TEST(Assembler, AnAbsoluteAddressIsRefusedInARegion) {
  EXPECT_NE(error_of("a: .long a").message.find("difference of labels"), std::string::npos);
}

TEST(Assembler, NothingIsPrinted) {
  ::testing::internal::CaptureStderr();
  ::testing::internal::CaptureStdout();
  (void)codec().assemble("garbage here\n");
  (void)codec().assemble("s_branch gone\n");
  (void)codec().assemble_object(listing("v_nonsense"));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

TEST(Assembler, DirectivesThatReadFilesPrintOrExpandAreRefusedEverywhere) {
  for (std::string_view directive :
       {".include \"/etc/passwd\"", ".incbin \"/etc/passwd\"", ".INCBIN \"/etc/passwd\"", ".macro m\ns_nop 0\n.endm",
        ".rept 1000000000\ns_nop 0\n.endr", ".irp x,1,2\n.endr", ".print \"hello\"", ".fill 1000000000, 8, 1",
        ".org 0x10000000", ".nops 1000000000", ".ds.b 1000000000", "a: .include \"x\"", "/* */ .include \"x\"",
        "s_nop 0\r.include \"x\""}) {
    EXPECT_FALSE(codec().assemble(directive)) << directive;
    EXPECT_FALSE(codec().assemble_object(listing(directive))) << directive;
  }
}

TEST(Assembler, OnlyPlainDataDirectivesMayStandInARegion) {
  for (std::string_view directive :
       {".section .data", ".globl x", ".amdhsa_kernel k", ".amdgcn_target \"x\"", ".rodata", ".zero 4", ".line 1",
        ".LOC 1 2 3", ".reloc 0, R_AMDGPU_ABS32, x", "x: .weak y"}) {
    const AssemblyError error = error_of(directive);
    EXPECT_NE(error.message.find("not allowed"), std::string::npos) << directive << ": " << error.message;
  }
}

TEST(Assembler, CommentsMaySayAnything) {
  EXPECT_TRUE(codec().assemble("s_nop 0 ; .include \"x\" → naïve \"\n// 'é\n/* .macro\n `?` */ s_endpgm"));
}

TEST(Assembler, TextThatIsNotTokensIsRefused) {
  for (std::string_view text : {"s_nop é", "s_nop 0 `", "v_add_f32 v0, v1, 0x", "s_nop \"open", "s_nop 'a", "/* open",
                                "s_nop 0\n\x01", "# 1 \"file\"", "s_nop 0 ?"})
    EXPECT_FALSE(codec().assemble(text)) << text;
  EXPECT_EQ(error_of("s_nop 0\ns_nop `").line, 2);
}

TEST(Assembler, DeepNestingIsRefused) {
  EXPECT_NE(error_of("s_nop " + std::string(100'000, '(')).message.find("nested"), std::string::npos);
  EXPECT_NE(error_of("s_nop " + std::string(100'000, '-') + "1").message.find("nested"), std::string::npos);
}

TEST(Assembler, SymbolsMayNotBeAssignedInARegion) {
  EXPECT_FALSE(codec().assemble(".set x, 1\ns_nop x"));
  EXPECT_FALSE(codec().assemble("x = 1\ns_nop x"));
  EXPECT_TRUE(codec().assemble_object(listing(".set x, 1\ns_nop x")));
}

TEST(Assembler, SymbolsThatExpandWithoutBoundAreRefused) {
  std::string doubling = ".set x0, .Lend-k\n", backwards = "s_nop 0\n", chain = doubling;
  for (int n = 1; n < 60; ++n) doubling += fmt::format(".set x{}, x{}+x{}\n", n, n - 1, n - 1);
  for (int n = 60; n > 0; --n) backwards += fmt::format("x{} = x{}+x{}\n", n, n - 1, n - 1);
  for (int n = 1; n < 1000; ++n) chain += fmt::format(".set x{}, x{}+1\n", n, n - 1);
  EXPECT_NE(codec().assemble_object(listing(doubling)).error().message.find("expand"), std::string::npos);
  EXPECT_NE(codec().assemble_object(listing(backwards)).error().message.find("after"), std::string::npos);
  EXPECT_NE(codec().assemble_object(listing(chain)).error().message.find("too many"), std::string::npos);
}

TEST(Assembler, MetadataThatIsNestedTooDeeplyIsRefused) {
  std::string brackets;
  for (int n = 0; n < 100'000; ++n) brackets += "[\n";
  EXPECT_FALSE(codec().assemble_object(listing("  s_nop 0", brackets)));
  EXPECT_FALSE(codec().assemble_object(listing("  s_nop 0", "x\n" + std::string(1000, ' ') + "- x")));
}

TEST(Assembler, ResultsBeyond64MebibytesAreRefused) {
  EXPECT_NE(error_of("s_nop 0\n.p2align 30\ns_endpgm").message.find("64 MiB"), std::string::npos);
  const auto object = codec().assemble_object(listing(".zero 0x40000000"));
  ASSERT_FALSE(object);
  EXPECT_NE(object.error().message.find("64 MiB"), std::string::npos) << object.error().message;
}

TEST(Assembler, AWholeListingBecomesARelocatableObject) {
  const auto object = codec().assemble_object(listing("  s_nop 0"));
  ASSERT_TRUE(object) << object.error().line << ": " << object.error().message;
  ASSERT_GT(object->size(), 64u);
  EXPECT_EQ(std::memcmp(object->data(),
                        "\x7f"
                        "ELF",
                        4),
            0);
  EXPECT_EQ((*object)[8], 3); // code object v5
  uint16_t machine, type;
  std::memcpy(&type, object->data() + 16, 2);
  std::memcpy(&machine, object->data() + 18, 2);
  EXPECT_EQ(type, 1);      // ET_REL
  EXPECT_EQ(machine, 224); // EM_AMDGPU
}

TEST(Assembler, MetadataMayHoldQuotesAndBytesBeyondAscii) {
  EXPECT_TRUE(codec().assemble_object(listing("  s_nop 0", "'k'")));
  EXPECT_TRUE(codec().assemble_object(listing("  s_nop 0", "\"k é\"")));
}

TEST(Assembler, AListingForAnotherTargetIsRefused) {
  std::string text = listing("  s_nop 0");
  text.replace(text.find("gfx942"), 6, "gfx90a");
  EXPECT_FALSE(codec().assemble_object(text));
}

TEST(Assembler, TheObjectCarriesTheFeatureStatesOfTheTarget) {
  for (uint32_t flags :
       {0x54cu, 0xa4cu, 0xf4cu, 0xb4cu, 0x84cu + 0x100u, 0x53fu, 0xf3fu, 0xa3fu, 0x530u, 0xb30u, 0x54fu}) {
    const Target target = target_from_elf(flags, 3, "test").value();
    std::string text = listing("  s_nop 0");
    text.replace(text.find("amdgcn-amd-amdhsa--gfx942"), 25, target_id(target));
    if (!target.unified_registers()) text.erase(text.find("\t\t.amdhsa_accum_offset 8\n"), 26);
    const auto object = Codec::create(target)->assemble_object(text);
    ASSERT_TRUE(object) << target_id(target) << ": " << object.error().line << ": " << object.error().message;
    uint32_t written;
    std::memcpy(&written, object->data() + 48, 4);
    EXPECT_EQ(written, flags) << target_id(target);
  }
}

TEST(Assembler, AnErrorInAListingSaysItsLine) {
  const auto object = codec().assemble_object(listing("  v_nonsense"));
  ASSERT_FALSE(object);
  EXPECT_EQ(object.error().line, 9);
}

TEST(Assembler, AnInstructionInTheMiddleOfAWordIsAnError) {
  const auto error = codec().assemble("s_nop 0\n.byte 1\ns_nop 1\n").error();
  EXPECT_EQ(error.line, 3);
  EXPECT_NE(error.message.find("middle of a word"), std::string::npos) << error.message;
  EXPECT_TRUE(codec().assemble("s_nop 0\n.byte 1, 2, 3, 4\ns_nop 1\n.byte 1, 2, 3\n.byte 4\n.p2align 3\ns_nop 2"));
}

TEST(Assembler, AnAlignmentThatNoNopsCanFillIsAnErrorAndNoHang) {
  for (const char* text :
       {"s_nop 0\n.byte 1\n.p2align 2\ns_nop 1", "s_nop 0\n.p2align 8\n.short 1\n.p2align 1\n.p2align 4"})
    EXPECT_NE(error_of(text).message.find("part of a word"), std::string::npos) << text;
  const auto filled = codec().assemble_object(listing("  s_nop 0\n.zero 3\n.p2align 6"));
  ASSERT_FALSE(filled);
  EXPECT_NE(filled.error().message.find("part of a word"), std::string::npos) << filled.error().message;
  EXPECT_TRUE(codec().assemble("s_nop 0\n.byte 1\n.p2align 2, 0\ns_nop 1")); // bytes can fill it
}

TEST(Assembler, SaysTheLineOfEachInstructionOfAListing) {
  // Comments that look like instructions, data between.
  const auto assembled =
      codec().assemble_listing(listing("  s_nop 0\n  s_nop 1 // s_nop 2\n/* s_nop 3\n*/\n.long 0\n  s_nop 4"));
  ASSERT_TRUE(assembled);
  const auto plain = codec().assemble_listing(listing("  s_nop 0"));
  ASSERT_TRUE(plain);
  const uint32_t first = plain->lines.at(0);
  ASSERT_GE(assembled->lines.size(), 3u);
  EXPECT_EQ(std::vector<uint32_t>(assembled->lines.begin(), assembled->lines.begin() + 3),
            (std::vector<uint32_t>{first, first + 1, first + 5}));
}

} // namespace
} // namespace asmevo::isa
