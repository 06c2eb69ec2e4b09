// What real objects have that a text round trip loses when it is not looked at.
#include "object/metadata.h"
#include "programs.h"
#include "recover/descriptor.h"
#include "recover/metadata_text.h"

#include <cstring>

namespace asmevo::recover {
namespace {

using namespace testing;

Program small(const std::string& body, const std::string& directives = "") {
  return program_of(object_of(build_small(small_listing(body, directives)), "k"));
}

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

TEST(Trap, LocalLabelsOfOneNameAreToldApartAndKeepIt) {
  // Linked objects may have them; a listing can define only one.
  Bytes bytes = build_small(
      small_listing("lab_1:\n\ts_cbranch_scc0 lab_2\n\ts_nop 1\nlab_2:\n\ts_cbranch_scc1 lab_1\n\ts_endpgm"));
  for (size_t i = 0; i + 6 <= bytes.size(); i++)
    if (std::memcmp(bytes.data() + i, "lab_2", 6) == 0) bytes[i + 4] = '1';
  Program program = program_of(object_of(bytes, "k"));
  expect_round_trip(program);
  EXPECT_EQ(program.items[2].target, "lab_1$2");
  EXPECT_EQ(program.items[5].target, "lab_1");
  auto text = build(print_listing(program), *program.origin, codec_for(program.target));
  ASSERT_TRUE(text) << text.error().message;
  auto again = object_of(*text, "again");
  EXPECT_EQ(std::ranges::count(again->symbols, std::string("lab_1"), &object::Symbol::name), 2);
}

TEST(Trap, LocalDataOfOneNameIsToldApartAndKeepsIt) {
  Bytes bytes = build_small(small_listing("\ts_endpgm") + "\t.section .rodata.more,\"a\",@progbits\n"
                                                          "val_1:\n\t.long 1\nval_2:\n\t.long 2\n");
  for (size_t i = 0; i + 6 <= bytes.size(); i++)
    if (std::memcmp(bytes.data() + i, "val_2", 6) == 0) bytes[i + 4] = '1';
  expect_round_trip(program_of(object_of(bytes, "k")));
}

TEST(Trap, ASecondCodeSectionOfALinkedObjectComesBack) {
  Bytes bytes = build_small(small_listing("\ts_endpgm") + "\t.section .more,\"ax\",@progbits\n\ts_nop 1\n\ts_endpgm\n");
  Program program = program_of(object_of(bytes, "k.co"));
  EXPECT_EQ(program.surroundings->code_sections.size(), 2u);
  expect_round_trip(program);
}

TEST(Trap, CodeSectionsTooFarApartAreAnError) {
  Bytes bytes = build_small(small_listing("\ts_endpgm") + "\t.section .more,\"ax\",@progbits\n\ts_nop 1\n\ts_endpgm\n");
  auto object = object::read_code_object(bytes, "k.co");
  ASSERT_TRUE(object);
  object::Section& more = object->sections[size_t(object->section(".more") - object->sections.data())];
  more.address += uint64_t{1} << 40;
  auto program = recover(std::make_shared<object::CodeObject>(std::move(*object)), codec_for(isa::Target{}));
  ASSERT_FALSE(program);
  EXPECT_NE(program.error().message.find("code section .more"), std::string::npos) << program.error().message;
}

TEST(Trap, NotesBesideTheMetadataAreKeptInASectionOfTheirOwn) {
  Bytes bytes = build_small(small_listing("\ts_endpgm") +
                            "\t.section .note.other,\"a\",@note\n\t.p2align 2\n\t.long 4, 4, 3\n\t.asciz \"abc\"\n"
                            "\t.long 0x12345678\n");
  Program program = program_of(object_of(bytes, "k"));
  expect_round_trip(program);
  EXPECT_NE(print_listing(program).find(".note.other"), std::string::npos);
}

TEST(Trap, AnAddressSignificanceTableOfARelocatableObjectIsInTheMask) {
  auto bytes = codec_for(isa::Target{}).assemble_object(small_listing("\ts_endpgm\n\t.addrsig"));
  ASSERT_TRUE(bytes) << bytes.error().message;
  Program program = program_of(object_of(*bytes, "k"));
  EXPECT_EQ(program.origin->elf_type, 1);
  auto trip = round_trip(program, codec_for(program.target));
  ASSERT_TRUE(trip) << trip.error().message;
  EXPECT_TRUE(trip->differences.empty()) << differences(*trip);
  EXPECT_TRUE(std::ranges::any_of(trip->masked, [](const auto& m) { return m.starts_with(".llvm_addrsig"); }));
}

TEST(Trap, AScaledMatrixInstructionWithOddBitsIsKeptAndUnderstood) {
  // Bits 13 and 14 of the first dword: LLVM reads them as unused and writes them as it likes.
  const isa::Codec& codec = codec_for(isa::Target{.processor = isa::Processor::gfx950});
  auto words = codec.assemble("v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3], v20, v21");
  ASSERT_TRUE(words && words->size() == 16) << words.error().message;
  (*words)[1] ^= 0x60;
  std::string text = "\t.byte ";
  for (size_t i = 0; i < 16; i++) text += fmt::format("{}{}", i ? ", " : "", (*words)[i]);
  Bytes bytes = build_small(small_listing(text + "\n\ts_endpgm", ""));
  const uint32_t gfx950 = 0x54f;
  std::memcpy(bytes.data() + 48, &gfx950, 4);
  Program program = program_of(object_of(bytes, "k"));
  expect_round_trip(program);
  const Item& item = program.items[1];
  ASSERT_EQ(item.instruction.size, 16) << item.text;
  EXPECT_TRUE(item.raw) << item.text;
  EXPECT_TRUE(item.instruction.traits.mfma);
  EXPECT_FALSE(item.instruction.defs.empty());
}

TEST(Trap, TheSecondEntryStaysAt256WhateverIsInsertedAroundIt) {
  Program program = small("\ts_load_dwordx2 s[8:9], s[0:1], 0x0\n\ts_waitcnt lgkmcnt(0)\n\ts_branch .Lbody\n"
                          "\t.p2alignl 8, 0xbf800000\n.Lbody:\n\ts_nop 1\n\ts_endpgm",
                          "\t.amdhsa_kernarg_size 16\n\t.amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
                          "\t.amdhsa_user_sgpr_kernarg_preload_length 2\n");
  const Item* body = nullptr;
  for (const Item& item : program.items)
    if (item.text == "s_nop 1") body = &item;
  ASSERT_TRUE(body);
  size_t at = size_t(body - program.items.data());
  std::vector<Edit> edits = {{2, 2, "s_nop 2\ns_nop 3"}, {at + 1, at + 1, "s_nop 4"}};
  auto edited = apply(program, edits, codec_for(program.target));
  ASSERT_TRUE(edited) << edited.error().message;
  auto object = object_of(*build(*edited, codec_for(program.target)), "edited");
  auto code = object->data(*object->section(".text"));
  uint64_t entry = object->kernels[0].entry_address - object->section(".text")->address;
  uint32_t first, second;
  std::memcpy(&first, code.data() + entry + 256, 4);
  std::memcpy(&second, code.data() + entry + 260, 4);
  EXPECT_EQ(first, 0xbf800001u);
  EXPECT_EQ(second, 0xbf800004u);
}

TEST(Trap, ARelocatableObjectsDescriptorsAreResolvedThroughTheirRelocations) {
  auto files = samples::files("mi300a/objects", ".hsaco");
  if (files.empty()) GTEST_SKIP() << "NOT TESTED: no mi300a in the data folder (set ASMEVO_DATA)";
  size_t kernels = 0;
  for (const std::string& file : files) {
    auto object = object_of(samples::load(file), file);
    if (object->elf_type != 1) continue;
    for (const object::Kernel& kernel : object->kernels) {
      size_t relocations = std::ranges::count_if(object->relocations, [&](const object::Relocation& r) {
        return r.type == 5 && r.address == kernel.descriptor_address + 16; // R_AMDGPU_REL64
      });
      EXPECT_EQ(relocations, 1u) << file << " " << kernel.name;
      EXPECT_EQ(object->section_at(kernel.entry_address)->name, ".text") << file;
      kernels++;
    }
  }
  EXPECT_GT(kernels, 0u);
}

// The ELF header, the program headers and the section headers, cut at each of their bytes.
void expect_errors_where_headers_are_cut(const Bytes& whole, const std::string& name) {
  auto at = [&](size_t offset) {
    uint64_t value;
    std::memcpy(&value, whole.data() + offset, 8);
    return value;
  };
  uint64_t programs = at(32), sections = at(40), program_count = at(56) & 0xffff, section_count = at(60) & 0xffff;
  size_t cut = 0;
  auto expect_error = [&](uint64_t size) {
    if (size >= whole.size()) return;
    auto object = object::read_code_object(Bytes(whole.begin(), whole.begin() + ptrdiff_t(size)), "cut.co");
    ASSERT_FALSE(object) << name << " cut to " << size;
    EXPECT_EQ(object.error().message.rfind("cut.co: ", 0), 0u) << object.error().message;
    cut++;
  };
  for (uint64_t size = 0; size < 64; size++) expect_error(size);
  for (uint64_t size = programs; size < programs + program_count * 56; size++) expect_error(size);
  for (uint64_t size = sections; size < sections + section_count * 64; size++) expect_error(size);
  EXPECT_GT(cut, 64u * 5) << name;
}

TEST(Trap, HeadersCutAtAnyByteAreErrors) {
  expect_errors_where_headers_are_cut(build_small(small_listing("\ts_endpgm")), "assembled");
  if (has_program("clang-22"))
    expect_errors_where_headers_are_cut(compile_hip("__global__ void k(float* p) { *p = 1; }", "gfx90a"), "compiled");
  NEEDS_DATA("triton");
  expect_errors_where_headers_are_cut(samples::load(samples::triton("gfx942_softmax")), "Triton");
  for (std::string folder : {"aiter", "mi300a/objects"}) {
    auto files = samples::files(folder, folder == "aiter" ? ".co" : ".hsaco");
    ASSERT_FALSE(files.empty());
    expect_errors_where_headers_are_cut(samples::load(files[0]), files[0]);
  }
}

TEST(Trap, DescriptorBitsThatNoDirectiveSaysAndUnusedBitsOfCodeGoTogether) {
  Bytes bytes = build_small(small_listing("\t.long 0xbf80ff01\n\t.long 0x7e0002ff, 0x00000001\n\ts_endpgm"));
  auto object = object_of(bytes, "k");
  const auto* rodata = object->section(".rodata");
  uint64_t descriptor = rodata->offset + object->kernels[0].descriptor_address - rodata->address;
  bytes[descriptor + 51] |= 0x80; // reserved bits of compute_pgm_rsrc1
  bytes[descriptor + 63] = 0x11;  // reserved
  Program program = program_of(object_of(bytes, "k"));
  expect_round_trip(program);
  EXPECT_EQ(isa::name_of(program.items[1].instruction), "s_nop");
  EXPECT_EQ(program.items[2].instruction.words[1], 1u);
}

} // namespace
} // namespace asmevo::recover
