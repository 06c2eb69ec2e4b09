#include "programs.h"
#include "recover/listing.h"

namespace asmevo::recover {
namespace {

using namespace testing;

const char* device_source = R"(
__constant__ const int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__device__ int counter = 7;
__device__ float scale[4];
__attribute__((noinline)) __device__ float helper(float x, int n) {
  for (int i = 0; i < n; i++) x = x * scale[i & 3] + table[i & 7];
  return x;
}
__attribute__((noinline)) __device__ float other(float x) { return helper(x, 3) + counter; }
using fn = float (*)(float);
__device__ fn pointers[2] = {other, other};
__global__ void one(float* p, int n) { p[n] = helper(p[n], n); }
__global__ void two(float* p, int n) { __shared__ float s[64]; s[n & 63] = other(p[n]); p[n] = pointers[n & 1](s[0]); }
)";

struct Build {
  std::string arch, options;
};

class CompiledListing : public ::testing::TestWithParam<Build> {};

TEST_P(CompiledListing, OfSeveralKernelsCallsAndDataGivesTheObjectBack) {
  if (!has_program("clang-22")) GTEST_SKIP() << "NOT TESTED: no clang-22";
  Program program = program_of(object_of(compile_hip(device_source, GetParam().arch, GetParam().options), "d.co"));
  EXPECT_EQ(program.rigid, "");
  EXPECT_EQ(program.functions.size(), 4u);
  expect_round_trip(program);
}

INSTANTIATE_TEST_SUITE_P(Targets, CompiledListing,
                         ::testing::Values(Build{"gfx906", ""}, Build{"gfx908", "-mcode-object-version=4"},
                                           Build{"gfx90a:sramecc+:xnack-", ""},
                                           Build{"gfx942", "-mcode-object-version=4"},
                                           Build{"gfx942", "-mcode-object-version=6"},
                                           Build{"gfx9-4-generic", "-mcode-object-version=6"}, Build{"gfx950", "-O1"},
                                           Build{"gfx942", "-g"}));

TEST(Listing, IsTakenByAStockAssemblerAsItIs) {
  if (!has_program("llvm-mc-22")) GTEST_SKIP() << "NOT TESTED: no llvm-mc-22";
  NEEDS_DATA("triton");
  for (std::string cpu : {"gfx90a", "gfx942", "gfx950"}) {
    Program program = program_of(samples::triton(cpu + "_matmul"));
    Scratch scratch;
    std::string listing = scratch.write("k.s", print_listing(program));
    ASSERT_TRUE(run("llvm-mc-22 -triple=amdgcn-amd-amdhsa -mcpu=" + cpu + " -filetype=obj -o " + scratch.path +
                    "/k.o " + listing));
    ASSERT_TRUE(run("ld.lld-22 -shared -o " + scratch.path + "/k.co " + scratch.path + "/k.o"));
    auto again = object_of(samples::load(scratch.path + "/k.co"), "k.co");
    const auto &before = *program.origin->section(".text"), &after = *again->section(".text");
    EXPECT_TRUE(std::ranges::equal(program.origin->data(before), again->data(after)));
    EXPECT_EQ(again->metadata_note, program.origin->metadata_note);
    EXPECT_EQ(again->e_flags, program.origin->e_flags);
  }
}

TEST(Listing, NamesLabelsAsTheSymbolTableDoes) {
  auto files = samples::files("aiter", ".co");
  if (files.empty()) GTEST_SKIP() << "NOT TESTED: no aiter in the data folder (set ASMEVO_DATA)";
  size_t named = 0;
  for (const std::string& file : files) {
    Program program = program_of(file);
    for (const Item& item : program.items) named += item.target.starts_with("label_");
    if (named) break;
  }
  EXPECT_GT(named, 0u);
}

void expect_same_by_outline(const Program& program) {
  const isa::Codec& codec = codec_for(program.target);
  auto text = build(print_listing(program), *program.origin, codec);
  auto outline = build(program, codec);
  ASSERT_TRUE(text && outline) << program.origin->path;
  EXPECT_EQ(*text, *outline) << program.origin->path;
}

TEST(Listing, BuildsTheSameObjectAsTheOutline) {
  expect_same_by_outline(program_of(
      object_of(build_small(small_listing("\ts_branch .Lx\n\t.long 0x12345678, 0xdeadbeef\n.Lx:\n\ts_endpgm")), "k")));
  if (has_program("clang-22"))
    expect_same_by_outline(program_of(object_of(compile_hip(device_source, "gfx942"), "d.co")));
  std::vector<std::string> files = samples::files("mi300a/objects", ".hsaco");
  std::ranges::copy(samples::files("triton", ".hsaco"), std::back_inserter(files));
  auto aiter = samples::files("aiter", ".co");
  for (size_t i = 0; i < aiter.size(); i += 12) files.push_back(aiter[i]);
  if (files.empty()) GTEST_SKIP() << "NOT TESTED ON REAL OBJECTS: no data folder (set ASMEVO_DATA)";
  for (const std::string& file : files) expect_same_by_outline(program_of(file));
}

TEST(Outline, LeavesRoomForWhatTheAssemblerWouldCopyOnly) {
  Program program = program_of(
      object_of(build_small(small_listing("\tv_mov_b32 v0, 1\n\ts_branch .Lx\n.Lx:\n\ts_nop 3\n\ts_endpgm")), "k"));
  Outline outline = print_outline(program);
  EXPECT_EQ(outline.text.find("v_mov_b32"), std::string::npos);
  EXPECT_NE(outline.text.find("s_branch"), std::string::npos);
  ASSERT_EQ(outline.fillings.size(), 2u);
  EXPECT_EQ(outline.fillings[0].section, ".text");
  EXPECT_EQ(outline.fillings[0].bytes, (Bytes{0x81, 0x02, 0x00, 0x7e}));
  EXPECT_EQ(outline.fillings[1].offset, 8u);
}

TEST(Outline, IsNotFilledWhereTheRoomIsNotEmpty) {
  Program program = program_of(object_of(build_small(small_listing("\ts_nop 3\n\ts_endpgm")), "k"));
  Outline outline = print_outline(program);
  auto bytes = codec_for(program.target).assemble_object(outline.text);
  ASSERT_TRUE(bytes);
  auto filled = fill(*bytes, outline);
  ASSERT_TRUE(filled) << filled.error().message;
  auto again = fill(*filled, outline);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message, "assembled outline: .text+0x0 is not the room for 8 bytes");
}

TEST(Build, SaysTheLineOfWhatDoesNotAssemble) {
  NEEDS_DATA("triton");
  Program program = program_of(samples::triton("gfx942_softmax"));
  std::string listing = print_listing(program, false);
  size_t at = listing.find("v_fma_f32");
  listing.replace(at, 9, "v_fmu_f32");
  auto bytes = build(listing, *program.origin, codec_for(program.target));
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().line, 1 + std::ranges::count(listing.substr(0, at), '\n'));
}

TEST(Build, ReportsWhatTheLinkerRefusesAndCanLinkAgain) {
  std::string listing =
      small_listing("\ts_mov_b32 s0, missing@rel32@lo+4\n\ts_endpgm") + "\t.protected missing\n\t.globl missing\n";
  object::CodeObject like;
  like.elf_type = 3;
  like.abi_version = 3;
  like.e_flags = 0x54c;
  auto bytes = build(listing, like, codec_for(isa::Target{}));
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().message.rfind("link: ", 0), 0u) << bytes.error().message;
  EXPECT_FALSE(build_small(small_listing("\ts_endpgm")).empty());
}

} // namespace
} // namespace asmevo::recover
