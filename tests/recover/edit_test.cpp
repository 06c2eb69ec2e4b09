#include "programs.h"

namespace asmevo::recover {
namespace {

using namespace testing;

size_t find_text(const Program& program, std::string_view start) {
  for (size_t i = 0; i < program.items.size(); i++)
    if (program.items[i].text.starts_with(start)) return i;
  ADD_FAILURE() << "no item " << start;
  return 0;
}

Program small(const std::string& body, const std::string& directives = "") {
  return program_of(object_of(build_small(small_listing(body, directives)), "k"));
}

std::expected<Program, isa::AssemblyError> apply_one(const Program& program, size_t first, size_t last,
                                                     const std::string& text) {
  Edit edit{first, last, text};
  return apply(program, std::span(&edit, 1), codec_for(program.target));
}

std::string error_of(const std::expected<Program, isa::AssemblyError>& result) {
  if (result) return "no error";
  return fmt::format("{}:{}: {}", result.error().line, result.error().column, result.error().message);
}

Program rebuilt(const Program& program) {
  auto bytes = build(program, codec_for(program.target));
  EXPECT_TRUE(bytes) << bytes.error().message;
  return bytes ? program_of(object_of(*bytes, "rebuilt")) : Program{};
}

// --- Single edits
// ------------------------------------------------------------------------------------------------------

TEST(Edit, WithoutChangesGivesTheSameBytes) {
  Program program = small("\tv_add_f32 v1, v2, v3\n\ts_endpgm");
  auto edited = apply_one(program, 1, 2, program.items[1].text);
  ASSERT_TRUE(edited) << error_of(edited);
  EXPECT_EQ(*build(*edited, codec_for(program.target)), *build(program, codec_for(program.target)));
}

TEST(Edit, MayUseLabelsOfTheListingAndDefineItsOwn) {
  Program program = small("\ts_cbranch_scc0 .La\n\ts_nop 1\n.La:\n\ts_endpgm");
  std::string outer = program.items[1].target;
  auto edited = apply_one(program, 2, 3, "s_cbranch_scc1 " + outer + " ; out\nmine_1: s_nop 2\n\ts_branch mine_1");
  ASSERT_TRUE(edited) << error_of(edited);
  Program again = rebuilt(*edited);
  size_t branch = find_text(again, "s_cbranch_scc1");
  EXPECT_EQ(again.items[branch].target, again.items[1].target);
  EXPECT_EQ(again.items[find_text(again, "s_branch")].target, "mine_1");
}

TEST(Edit, SaysLineAndColumnOfWhatDoesNotAssemble) {
  Program program = small("\ts_nop 0\n\ts_endpgm");
  EXPECT_EQ(error_of(apply_one(program, 1, 2, "s_nop 1\n  v_nonsense v0")).substr(0, 4), "2:3:");
  EXPECT_EQ(error_of(apply_one(program, 1, 2, "s_branch nowhere")), "1:10: undefined label 'nowhere'");
  EXPECT_EQ(error_of(apply_one(program, 1, 2, "s_branch 4")), "1:1: a branch must name a label, not a distance");
  EXPECT_EQ(error_of(apply_one(program, 1, 2, "\n.include \"/etc/passwd\"")),
            "2:1: directive .include is not allowed here");
  EXPECT_EQ(error_of(apply_one(program, 1, 2, "k: s_nop 1")), "1:1: label k is defined twice");
}

TEST(Edit, MayNotRemoveALabelThatIsNeeded) {
  Program program = small("\ts_cbranch_scc0 .La\n\ts_nop 1\n.La:\n\ts_endpgm");
  size_t label = find_text(program, ".L_");
  EXPECT_EQ(error_of(apply_one(program, label, label + 1, "")),
            "1:1: label .L_0 is removed but \"s_cbranch_scc0 .L_0\" needs it");
  EXPECT_EQ(error_of(apply_one(program, 0, 1, "")), "1:1: items 0 to 1 do not lie inside one function");
}

TEST(Edit, GrowsTheDescriptorAndTheMetadataWithTheCode) {
  NEEDS_DATA("triton");
  Program program = program_of(samples::triton("gfx942_softmax"));
  size_t at = find_text(program, "v_lshlrev_b32");
  auto edited = apply_one(program, at, at, "v_mov_b32 v70, 0\nv_accvgpr_write_b32 a5, v70\ns_mov_b32 s90, 0");
  ASSERT_TRUE(edited) << error_of(edited);
  Program again = rebuilt(*edited);
  EXPECT_EQ(again.declared[0].accum_offset, 72u);
  EXPECT_EQ(again.declared[0].vgprs + again.declared[0].agprs, 80u);
  EXPECT_GE(again.declared[0].sgprs, 91u);
  const auto& metadata = *again.origin->kernels[0].metadata;
  EXPECT_EQ(metadata.vgpr_count, 72u + 6);
  EXPECT_EQ(metadata.agpr_count, 6u);
  EXPECT_EQ(metadata.sgpr_count, 91u + 6);
  EXPECT_EQ(abi_difference(*program.origin, *again.origin), std::nullopt);
}

TEST(Edit, ShrinksADescriptorThatFittedTheCode) {
  Program program = small("\tv_mov_b32 v7, 0\n\tv_mov_b32 v3, 0\n\ts_endpgm");
  program = rebuilt(*apply_one(program, 1, 1, "v_mov_b32 v30, 0"));
  EXPECT_EQ(program.declared[0].vgprs, 32u);
  auto edited = apply_one(program, 1, 2, "");
  ASSERT_TRUE(edited) << error_of(edited);
  EXPECT_EQ(rebuilt(*edited).declared[0].vgprs, 8u);
}

TEST(Edit, DoesNotShrinkADescriptorThatDeclaredMoreThanTheCodeNames) {
  Program program = small("\tv_mov_b32 v5, 0\n\tv_mov_b32 v7, 0\n\ts_endpgm");
  ASSERT_EQ(program.declared[0].vgprs, 8u);
  program.declared[0].vgprs = program.declared[0].accum_offset = 128;
  auto edited = apply_one(program, 2, 3, "");
  ASSERT_TRUE(edited) << error_of(edited);
  EXPECT_EQ(edited->declared[0].accum_offset, 128u);
}

// The processor whose special scalar registers are set aside by use, not by target.
Program without_xnack(const std::string& body) {
  std::string listing = "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx90a:xnack-\"\n\t.amdhsa_code_object_version 5\n"
                        "\t.text\n\t.globl k\n\t.p2align 8\n\t.type k,@function\nk:\n" +
                        body +
                        "\n\ts_endpgm\n.Lend:\n\t.size k, .Lend-k\n\t.section .rodata,\"a\",@progbits\n"
                        "\t.p2align 6\n\t.amdhsa_kernel k\n\t.amdhsa_next_free_vgpr 8\n"
                        "\t.amdhsa_next_free_sgpr 16\n\t.amdhsa_reserve_vcc 0\n\t.amdhsa_reserve_flat_scratch 0\n"
                        "\t.amdhsa_accum_offset 8\n\t.end_amdhsa_kernel\n";
  isa::Target target{.processor = isa::Processor::gfx90a, .xnack = isa::Feature::off};
  object::CodeObject like;
  like.elf_type = 3;
  like.abi_version = 3;
  like.e_flags = 0x63f; // gfx90a, xnack off, sramecc any
  auto bytes = build(listing, like, codec_for(target));
  EXPECT_TRUE(bytes) << bytes.error().message;
  return program_of(object_of(*bytes, "k"));
}

uint32_t scalar_blocks_after(const Program& program, const std::string& text) {
  Edit edit{1, 1, text};
  auto edited = apply(program, std::span(&edit, 1), codec_for(program.target));
  EXPECT_TRUE(edited) << edited.error().message;
  auto object = object_of(*build(*edited, codec_for(program.target)), "edited");
  return object->kernels[0].descriptor.compute_pgm_rsrc1() >> 6 & 15;
}

TEST(Edit, GivesTheSpecialScalarRegistersRoomBehindTheOthers) {
  Program program = without_xnack("\ts_mov_b32 s13, 0\n\ts_mov_b64 vcc, 0");
  EXPECT_EQ(program.target.xnack, isa::Feature::off);
  EXPECT_EQ(scalar_blocks_after(program, "s_mov_b32 s12, 0"), 1u);                             // 16 hold s0-s13 and VCC
  EXPECT_GE(scalar_blocks_after(program, "s_mov_b32 s14, 0"), 2u);                             // VCC would be s14
  EXPECT_GE(scalar_blocks_after(program, "s_mov_b64 flat_scratch, 0"), 2u);                    // six are on top of s13
  EXPECT_EQ(scalar_blocks_after(without_xnack("\ts_mov_b32 s14, 0"), "s_mov_b32 s15, 0"), 1u); // no VCC, no room
}

TEST(Edit, RefusesMoreRegistersThanThereAre) {
  Program program = small("\ts_nop 0\n\ts_endpgm");
  EXPECT_EQ(error_of(apply_one(program, 1, 2, "v_mov_b32 v256, 0")).substr(0, 2), "1:");
}

const char* preload_body =
    "\ts_load_dwordx2 s[2:3], s[0:1], 0x0\n\ts_waitcnt lgkmcnt(0)\n\ts_branch .Lmain\n\t.p2align 8\n"
    ".Lmain:\n\ts_nop 3\n\ts_endpgm";
const char* preload_directives = "\t.amdhsa_kernarg_size 16\n\t.amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
                                 "\t.amdhsa_user_sgpr_kernarg_preload_length 2\n";

// Two kernels, the first of which fills its 256 bytes: nothing pads it, until something is inserted.
std::string two_kernels() {
  std::string nops, listing = small_listing("k_nops\ts_endpgm");
  for (int i = 0; i < 63; i++) nops += "\ts_nop 0\n";
  listing.replace(listing.find("k_nops"), 6, nops);
  std::string second = small_listing("\ts_nop 7\n\ts_endpgm");
  second.erase(0, second.find("\t.text"));
  for (auto [from, to] : {std::pair("\t.globl k\n", "\t.globl l\n"),
                          {"k,@function\nk:", "l,@function\nl:"},
                          {"\n.Lend:", "\n.Lend2:"},
                          {".size k, .Lend-k", ".size l, .Lend2-l"},
                          {"kernel k\n", "kernel l\n"}})
    second.replace(second.find(from), std::string(from).size(), to);
  return listing + second;
}

TEST(Edit, KeepsTheNextKernelAlignedWhereNothingPaddedIt) {
  Program program = program_of(object_of(build_small(two_kernels()), "kl"));
  ASSERT_EQ(program.origin->kernel("l")->entry_address - program.origin->kernel("k")->entry_address, 256u);
  expect_round_trip(program);
  auto edited = apply_one(program, 1, 1, "s_mov_b32 s9, 0x12345678");
  ASSERT_TRUE(edited) << error_of(edited);
  Program again = rebuilt(*edited);
  EXPECT_EQ(again.origin->kernel("l")->entry_address - again.origin->kernel("k")->entry_address, 512u);
  EXPECT_EQ(abi_difference(*program.origin, *again.origin), std::nullopt);
  EXPECT_EQ(again.items.size(), program.items.size() + 1);
}

TEST(Edit, KeepsTheSecondEntryOfPreloadedArgumentsAt256) {
  Program program = small(preload_body, preload_directives);
  size_t second = find_text(program, "s_nop 3");
  ASSERT_EQ(program.items[second].origin - int64_t(program.origin->kernels[0].entry_address), 256);
  auto edited = apply_one(program, 2, 2, "s_nop 1\ns_mov_b32 s9, 0x12345678");
  ASSERT_TRUE(edited) << error_of(edited);
  Program again = rebuilt(*edited);
  size_t moved = find_text(again, "s_nop 3");
  EXPECT_EQ(again.items[moved].origin - int64_t(again.origin->kernels[0].entry_address), 256);
  std::string many;
  for (int i = 0; i < 62; i++) many += "s_nop 1\n";
  EXPECT_EQ(error_of(apply_one(program, 2, 2, many)),
            "1:1: kernel k: 264 bytes before its second entry, which must stay at +256");
  size_t align = find_text(program, ".p2align");
  EXPECT_EQ(error_of(apply_one(program, align, align + 1, "")),
            "1:1: kernel k has lost the alignment before its second entry");
}

TEST(Edit, RefusesToChangeSizesWhereAddressesAreComputedInAWayNotUnderstood) {
  Program program =
      small("\ts_getpc_b64 s[0:1]\n\ts_lshl_b32 s2, s2, 3\n\ts_add_u32 s0, s0, s2\n\ts_addc_u32 s1, s1, 0\n"
            "\ts_setpc_b64 s[0:1]\n\ts_nop 2\n\ts_endpgm");
  EXPECT_NE(program.rigid, "");
  size_t nop = find_text(program, "s_nop 2");
  EXPECT_TRUE(apply_one(program, nop, nop + 1, "s_nop 5"));
  EXPECT_EQ(error_of(apply_one(program, nop, nop, "s_nop 5")),
            "1:1: the edit makes 4 bytes out of 0, but sizes must not change here "
            "(.text+0x0: s_getpc_b64 whose use is not understood)");
}

const char* far_jump =
    "\ts_getpc_b64 s[0:1]\n.Lb:\n\ts_add_u32 s0, s0, (.Lt-.Lb)&4294967295\n"
    "\ts_addc_u32 s1, s1, (.Lt-.Lb)>>32\n\ts_setpc_b64 s[0:1]\n\ts_nop 7\n.Lt:\n\ts_nop 3\n\ts_endpgm";

TEST(Edit, KeepsAJumpThroughAComputedAddressOnItsTarget) {
  Program program = small(far_jump);
  EXPECT_EQ(program.rigid, "");
  expect_round_trip(program);
  size_t add = find_text(program, "s_add_u32");
  EXPECT_FALSE(program.items[add].target.empty());
  // Between the parts of the computation as well as between it and its target.
  Edit edits[] = {{add + 1, add + 1, "s_nop 1"}, {add + 3, add + 3, "s_mov_b32 s9, 0x12345678"}};
  auto edited = apply(program, edits, codec_for(program.target));
  ASSERT_TRUE(edited) << error_of(edited);
  Program again = rebuilt(*edited);
  const Item& moved = again.items[find_text(again, "s_add_u32")];
  auto label = std::ranges::find(again.items, moved.target, &Item::text);
  ASSERT_NE(label, again.items.end());
  EXPECT_EQ(std::next(label)->text, "s_nop 3");
}

TEST(Edit, OfTheComputationItselfKeepsSymbolsSymbolic) {
  Program program = small(far_jump);
  size_t add = find_text(program, "s_add_u32");
  auto edited = apply_one(program, add, add + 1, "s_nop 0\n" + program.items[add].text);
  ASSERT_TRUE(edited) << error_of(edited);
  Program again = rebuilt(*edited);
  EXPECT_EQ(again.rigid, "");
  auto label = std::ranges::find(again.items, again.items[find_text(again, "s_add_u32")].target, &Item::text);
  ASSERT_NE(label, again.items.end());
  EXPECT_EQ(std::next(label)->text, "s_nop 3");
}

TEST(Edit, RefusesToMoveATargetAcrossItsBaseWhenTheCarryIsAConstant) {
  Program program =
      small("\ts_getpc_b64 s[0:1]\n.Lb:\n\ts_add_u32 s0, s0, (.Lt-.Lb)&4294967295\n\ts_addc_u32 s1, s1, 0\n"
            "\ts_setpc_b64 s[0:1]\n.Lt:\n\ts_nop 3\n\ts_endpgm");
  EXPECT_EQ(program.rigid, "");
  size_t label = find_text(program, program.items[find_text(program, "s_add_u32")].target);
  Edit edits[] = {{1, 1, program.items[label].text + ":"}, {label, label + 1, ""}};
  EXPECT_NE(error_of(apply(program, edits, codec_for(program.target))).find("other side of s_getpc_b64"),
            std::string::npos);
}

TEST(Edit, UnderstandsRawWordsThatItIsGiven) {
  Program program = small("\t.long 0x00000000\n\ts_nop 1\n\ts_endpgm");
  ASSERT_TRUE(program.items[1].raw);
  auto edited = apply_one(program, 1, 3, "s_nop 2\n" + print_items(program, 1, 3));
  ASSERT_TRUE(edited) << error_of(edited);
  EXPECT_TRUE(edited->items[2].raw);
  EXPECT_EQ(isa::name_of(edited->items[2].instruction), "v_cndmask_b32");
}

// --- In place
// ------------------------------------------------------------------------------------------------------------

TEST(Patch, ChangesTheWindowAndNothingElse) {
  NEEDS_DATA("triton");
  Program program = program_of(samples::triton("gfx942_softmax"));
  size_t at = find_text(program, "v_mov_b32_e32 v7, 0xff800000");
  Edit edit{at, at + 1, "v_mov_b32 v7, 0"};
  auto bytes = patch_in_place(program, edit, codec_for(program.target));
  ASSERT_TRUE(bytes) << bytes.error().message;
  size_t changed = 0;
  for (size_t i = 0; i < bytes->size(); i++) changed += (*bytes)[i] != program.origin->bytes[i];
  EXPECT_GT(changed, 0u);
  EXPECT_LE(changed, 8u);
  Program again = program_of(object_of(*bytes, "patched"));
  EXPECT_EQ(again.items[at].text, "v_mov_b32_e32 v7, 0");
  EXPECT_EQ(again.items[at + 1].text, "s_nop 0");
}

TEST(Patch, KeepsBranchesToLabelsOutsideOfTheWindow) {
  Program program = small("\ts_cbranch_scc0 .La\n\ts_mov_b32 s0, 0x12345678\n\ts_nop 1\n.La:\n\ts_nop 2\n\ts_endpgm");
  Edit edit{2, 3, "s_cbranch_scc1 " + program.items[1].target};
  auto bytes = patch_in_place(program, edit, codec_for(program.target));
  ASSERT_TRUE(bytes) << bytes.error().message;
  Program again = program_of(object_of(*bytes, "patched"));
  EXPECT_EQ(again.items[2].target, again.items[1].target);
  EXPECT_EQ(again.items[2].text.substr(0, 14), "s_cbranch_scc1");
}

TEST(Patch, IsRefusedWhereItWouldNotFitOrChangeResources) {
  NEEDS_DATA("triton");
  Program program = program_of(samples::triton("gfx942_softmax"));
  size_t at = find_text(program, "v_mov_b32_e32 v7, 0xff800000");
  auto error = [&](Edit edit) {
    auto bytes = patch_in_place(program, edit, codec_for(program.target));
    return bytes ? std::string("no error") : bytes.error().message;
  };
  EXPECT_EQ(error({at, at + 1, "v_mov_b32 v7, 0\ns_nop 0\ns_nop 0"}), "the edit needs 12 bytes, there are 8");
  EXPECT_EQ(error({at, at + 1, "v_mov_b32 v90, 0"}), "kernel softmax would need other registers than it declares");
  EXPECT_EQ(error({at, at, "s_nop 0"}), "the edit replaces nothing");
  program.items[at].instruction.words[1] ^= 1;
  EXPECT_EQ(error({at, at + 1, "s_nop 0"}),
            "the bytes of \"v_mov_b32_e32 v7, 0xff800000\" in the object are not what was decoded");
}

TEST(Abi, NamesTheFirstDifference) {
  NEEDS_DATA("triton");
  auto original = object_of(samples::load(samples::triton("gfx942_softmax")), "a");
  auto other = object_of(samples::load(samples::triton("gfx942_matmul")), "b");
  EXPECT_EQ(abi_difference(*original, *original), std::nullopt);
  EXPECT_EQ(abi_difference(*original, *other), "kernel softmax is missing");
  Program program = program_of(original);
  std::string listing = print_listing(program);
  listing.replace(listing.find("ieee_mode 1"), 11, "ieee_mode 0");
  auto changed = object_of(*build(listing, *original, codec_for(program.target)), "c");
  EXPECT_EQ(abi_difference(*original, *changed)->substr(0, 33), "kernel softmax: compute_pgm_rsrc1");
  listing = print_listing(program);
  listing.replace(listing.find(".max_flat_workgroup_size: 256"), 29, ".max_flat_workgroup_size: 128");
  changed = object_of(*build(listing, *original, codec_for(program.target)), "c");
  EXPECT_EQ(abi_difference(*original, *changed), "metadata differs at amdhsa.kernels[0] .max_flat_workgroup_size");
}

TEST(Abi, AnEntryKeepsItsAlignment) {
  auto original = object_of(build_small(small_listing("\ts_endpgm")), "a");
  std::string listing = small_listing("\ts_endpgm");
  listing.replace(listing.find("\t.type k"), 0, "\ts_nop 0\n");
  auto changed = object_of(build_small(listing), "b");
  EXPECT_NE(abi_difference(*original, *changed)->find("is not aligned to 256 bytes"), std::string::npos);
}

} // namespace
} // namespace asmevo::recover
