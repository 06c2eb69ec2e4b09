#include "programs.h"

namespace asmevo::recover {
namespace {

using namespace testing;

TEST(RoundTrip, PrintsWhatItMasks) {
  auto bytes = build_small(small_listing("\ts_endpgm"));
  auto trip = round_trip(program_of(object_of(bytes, "k")), codec_for(isa::Target{}));
  ASSERT_TRUE(trip) << trip.error().message;
  EXPECT_EQ(trip->differences.size(), 0u);
  EXPECT_GE(trip->masked.size(), 4u);
  EXPECT_EQ(trip->instructions, 1u);
}

TEST(RoundTrip, NoticesAChangedProgram) {
  Program program = program_of(object_of(build_small(small_listing("\ts_nop 1\n\ts_endpgm")), "k"));
  program.items[1].text = "s_nop 2";
  auto trip = round_trip(program, codec_for(isa::Target{}));
  ASSERT_TRUE(trip) << trip.error().message;
  ASSERT_EQ(trip->differences.size(), 1u);
  EXPECT_EQ(trip->differences[0], ".text+0x0: s_nop 2 differs");
}

TEST(RoundTrip, NoticesAChangedDescriptor) {
  Program program = program_of(object_of(build_small(small_listing("\ts_endpgm")), "k"));
  program.declared[0].vgprs = 100;
  program.declared[0].accum_offset = 100;
  auto trip = round_trip(program, codec_for(isa::Target{}));
  ASSERT_TRUE(trip) << trip.error().message;
  ASSERT_FALSE(trip->differences.empty());
  EXPECT_EQ(trip->differences[0].substr(0, 5), "k.kd+");
}

TEST(RoundTrip, KeepsInstructionsThatLlvmEncodesDifferentlyAsWordsAndUnderstandsThem) {
  // Bits 13 and 14 of the first dword, as hand-written gfx950 kernels set them.
  auto files = samples::files("aiter", ".co");
  if (files.empty()) GTEST_SKIP() << "NOT TESTED: no aiter in the data folder (set ASMEVO_DATA)";
  size_t repairs = 0;
  for (const std::string& file : files) {
    if (file.find("gfx950") == std::string::npos || repairs) continue;
    for (const Item& item : program_of(file).items) {
      if (!item.raw) continue;
      repairs++;
      EXPECT_EQ(item.text.substr(0, 6), ".long ");
      EXPECT_TRUE(item.instruction.traits.mfma || item.instruction.traits.valu) << isa::name_of(item.instruction);
      EXPECT_FALSE(item.instruction.defs.empty());
    }
  }
  EXPECT_GT(repairs, 0u);
}

TEST(RoundTrip, KeepsUnusedBitsOfAnEncoding) {
  // s_nop with bits set that it ignores, and v_cndmask_b32 in the form that LLVM refuses.
  std::string body =
      "\t.long 0x7e000280\n\t.long 0x00000000\n\ts_branch .Lx\n\t.long 0x12345678, 0xdeadbeef\n.Lx:\n\ts_endpgm";
  Program program = program_of(object_of(build_small(small_listing(body)), "k"));
  expect_round_trip(program);
  EXPECT_EQ(program.items[2].instruction.size, 4);
  EXPECT_TRUE(program.items[2].raw) << program.items[2].text;
  EXPECT_EQ(isa::name_of(program.items[2].instruction), "v_cndmask_b32");
}

TEST(RoundTrip, KeepsDataInTheMiddleOfCode) {
  std::string body = "\ts_branch .Lbehind\n\t.long 0xd3f10000\n\t.long 0x0f0f0f0f, 0xbf8c0000\n.Lbehind:\n\ts_endpgm";
  Program program = program_of(object_of(build_small(small_listing(body)), "k"));
  expect_round_trip(program);
  auto branch =
      std::ranges::find(program.items, std::string("s_branch"), [](const Item& i) { return i.text.substr(0, 8); });
  ASSERT_NE(branch, program.items.end());
  EXPECT_FALSE(branch->target.empty());
}

TEST(RoundTrip, KeepsALiteralThatIsCutOffAtTheEndOfTheCode) {
  std::string body = "\ts_endpgm\n\t.long 0xbe8000ff";
  Program program = program_of(object_of(build_small(small_listing(body)), "k"));
  expect_round_trip(program);
  EXPECT_EQ(program.items.back().kind, ItemKind::label);
  EXPECT_EQ(program.items[program.items.size() - 2].text, ".long 0xbe8000ff");
}

TEST(RoundTrip, KeepsDescriptorBitsThatNoDirectiveSays) {
  Bytes bytes = build_small(small_listing("\ts_endpgm"));
  auto object = object_of(bytes, "k");
  const auto* rodata = object->section(".rodata");
  uint64_t descriptor = rodata->offset + object->kernels[0].descriptor_address - rodata->address;
  bytes[descriptor + 13] = 0x5a;  // reserved
  bytes[descriptor + 50] |= 0x10; // PRIV
  Program program = program_of(object_of(bytes, "k"));
  EXPECT_EQ(print_listing(program).find(".amdhsa_kernel"), std::string::npos);
  expect_round_trip(program);
}

TEST(Recover, RefusesABranchIntoTheMiddleOfAnInstruction) {
  std::string body = "\ts_cbranch_scc0 1\n\ts_mov_b32 s0, 0x12345678\n\ts_endpgm";
  auto object = object_of(build_small(small_listing(body)), "k.co");
  auto program = recover(object, codec_for(*object));
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().message, "k.co: .text+0x8: control reaches the middle of an instruction (word 0x12345678)");
}

TEST(Recover, RefusesABranchOutOfTheSection) {
  auto object = object_of(build_small(small_listing("\ts_branch 100\n\ts_endpgm")), "k.co");
  auto program = recover(object, codec_for(*object));
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().message.rfind("k.co: .text+0x0: branch 0xbf820064 to ", 0), 0u) << program.error().message;
}

} // namespace
} // namespace asmevo::recover
