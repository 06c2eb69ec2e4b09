// Objects that no linker has seen, or that one has left more in than it had to.
#include "object/elf.h"
#include "programs.h"
#include "recover/edit_trip.h"

namespace asmevo::recover {
namespace {

using namespace testing;
namespace elf = object::elf;

// A kernel, a template instance in a group of its own that reads data of the group, and functions behind 4-byte
// alignment, called across sections.
const std::string functions = R"(
	.section .text.add,"ax",@progbits
	.p2align 2
	.type add,@function
add:
	v_add_u32_e32 v0, v0, v0
	s_setpc_b64 s[10:11]
.Ladd_end:
	.size add, .Ladd_end-add
	.section .text.instance,"axG",@progbits,instance,comdat
	.p2align 8
	.weak instance
	.type instance,@function
instance:
	s_getpc_b64 s[4:5]
	s_add_u32 s4, s4, add@rel32@lo+4
	s_addc_u32 s5, s5, add@rel32@hi+12
	s_swappc_b64 s[10:11], s[4:5]
	s_cbranch_scc1 .Lout
	s_getpc_b64 s[6:7]
	s_add_u32 s6, s6, value@rel32@lo+4
	s_addc_u32 s7, s7, value@rel32@hi+12
	s_load_dword s8, s[6:7], 0x0
.Lout:
	s_endpgm
.Linstance_end:
	.size instance, .Linstance_end-instance
	.section .data.value,"awG",@progbits,value,comdat
	.p2align 2
	.type value,@object
	.weak value
	.hidden value
value:
	.long 7
	.size value, 4
)";

Bytes relocatable(const std::string& more) {
  auto bytes = codec_for(isa::Target{}).assemble_object(small_listing("\ts_nop 1\n\ts_endpgm") + more);
  EXPECT_TRUE(bytes) << bytes.error().line << ": " << bytes.error().message;
  return bytes ? *bytes : Bytes{};
}

const object::Section& named(const object::CodeObject& object, const std::string& name) {
  const object::Section* section = object.section(name);
  EXPECT_NE(section, nullptr) << name;
  return *section;
}

void expect_edits_keep_references(const Program& program) {
  for (uint64_t seed : {1, 2, 3}) {
    auto trip = edit_trip(program, codec_for(program.target), seed);
    ASSERT_TRUE(trip) << trip.error().message;
    EXPECT_TRUE(trip->differences.empty()) << (trip->differences.empty() ? "" : trip->differences.front());
  }
}

TEST(Relocatable, CodeInSeveralSectionsAndTheirGroupsComesBack) {
  Program program = program_of(object_of(relocatable(functions), "k"));
  ASSERT_EQ(program.surroundings->code_sections.size(), 3u);
  EXPECT_EQ(std::ranges::count(program.items, ItemKind::section, &Item::kind), 2);
  auto trip = round_trip(program, codec_for(program.target));
  ASSERT_TRUE(trip) << trip.error().message;
  EXPECT_TRUE(trip->differences.empty()) << differences(*trip);
  auto rebuilt = object_of(trip->rebuilt, "rebuilt");
  EXPECT_EQ(named(*rebuilt, ".text.instance").group, "instance");
  EXPECT_TRUE(named(*rebuilt, ".text.instance").comdat);
  EXPECT_EQ(named(*rebuilt, ".data.value").group, "value");
  EXPECT_EQ(named(*rebuilt, ".text.add").group, "");
  expect_edits_keep_references(program);
}

TEST(Relocatable, ALostGroupIsNoticed) {
  Bytes bytes = relocatable(functions);
  Program program = program_of(object_of(bytes, "k"));
  for (Item& item : program.items)
    if (size_t at = item.text.find("axG"); item.kind == ItemKind::section && at != std::string::npos)
      item.text = ".section .text.instance,\"ax\",@progbits\n\t.p2align 8";
  auto trip = round_trip(program, codec_for(program.target));
  ASSERT_TRUE(trip) << trip.error().message;
  ASSERT_FALSE(trip->differences.empty());
  EXPECT_EQ(trip->differences[0], ".text.instance is missing");
}

TEST(Relocatable, SectionsOfTheSameNameStayApart) {
  const std::string same =
      "\t.section .text,\"ax\",@progbits,unique,1\n\t.p2align 2\nf:\n\ts_nop 2\n\ts_setpc_b64 s[10:11]\n"
      "\t.section .text,\"ax\",@progbits,unique,2\n\t.p2align 2\ng:\n\ts_nop 3\n\ts_branch g\n";
  Program program = program_of(object_of(relocatable(same), "k"));
  ASSERT_EQ(program.surroundings->code_sections.size(), 3u);
  expect_round_trip(program);
  expect_edits_keep_references(program);
}

TEST(Relocatable, ABranchIntoAnotherSectionIsFollowed) {
  const std::string more =
      "\t.section .text.a,\"ax\",@progbits\n\t.p2align 2\na:\n\ts_branch .Lbehind\n"
      "\t.section .text.b,\"ax\",@progbits\n\t.p2align 2\n\ts_nop 4\n.Lbehind:\n\ts_nop 5\n\ts_endpgm\n";
  Program program = program_of(object_of(relocatable(more), "k"));
  auto branch = std::ranges::find_if(program.items, [](const Item& i) { return i.text.starts_with("s_branch"); });
  ASSERT_NE(branch, program.items.end());
  auto target = std::ranges::find(program.items, branch->target, &Item::text);
  ASSERT_LT(target + 1, program.items.end());
  EXPECT_EQ((target + 1)->text, "s_nop 5");
  expect_round_trip(program);
  expect_edits_keep_references(program);
}

// An address among the code, of what lies among the code and of what does not, by distance and as it is.
const std::string addresses = R"(
	.section .text.table,"ax",@progbits
	.p2align 3
	.quad .Ltarget
	.quad hidden_words+8
	.long .Ltarget-.
	.long hidden_words-.
	.long 0x12345678
	.section .text.target,"ax",@progbits
	.p2align 2
	s_nop 3
.Ltarget:
	s_endpgm
	.section .data.words,"aw",@progbits
	.p2align 3
	.type hidden_words,@object
	.hidden hidden_words
	.globl hidden_words
hidden_words:
	.quad 1, 2
	.size hidden_words, 16
)";

TEST(Relocatable, AddressesAmongTheCodeAreWrittenByName) {
  Bytes bytes = relocatable(addresses);
  Program program = program_of(object_of(bytes, "k"));
  EXPECT_EQ(std::ranges::count_if(program.items, [](const Item& i) { return i.text.starts_with(".quad"); }), 2);
  expect_round_trip(program);
  expect_edits_keep_references(program);
  auto label = std::ranges::find_if(program.items, [](const Item& i) { return i.text.starts_with("s_nop 3"); }) + 1;
  ASSERT_EQ(label->kind, ItemKind::label);
}

TEST(Relocatable, AddressesAmongTheCodeOfALinkedObjectComeBackToo) {
  if (!has_program("ld.lld-22")) GTEST_SKIP() << "NOT TESTED: no ld.lld-22";
  Scratch scratch;
  Bytes bytes = relocatable(addresses);
  std::string input = scratch.write("k.o", std::string(bytes.begin(), bytes.end()));
  ASSERT_TRUE(run("ld.lld-22 -shared -z notext -o " + scratch.path + "/k.co " + input));
  Program program = program_of(scratch.path + "/k.co");
  EXPECT_EQ(std::ranges::count_if(program.items, [](const Item& i) { return i.text.starts_with(".quad"); }), 2);
  expect_round_trip(program);
  expect_edits_keep_references(program);
}

TEST(Relocatable, AnEditInAnySectionIsPatchedInPlace) {
  Program program = program_of(object_of(relocatable(functions), "k"));
  for (const std::string text : {"s_nop 1", "v_add_u32_e32 v0, v0, v0", "s_cbranch_scc1 .Lout"}) {
    auto item =
        std::ranges::find_if(program.items, [&](const Item& i) { return i.text.starts_with(text.substr(0, 14)); });
    ASSERT_NE(item, program.items.end()) << text;
    size_t at = size_t(item - program.items.begin());
    auto patched = patch_in_place(program, {at, at + 1, "s_nop 6"}, codec_for(program.target));
    ASSERT_TRUE(patched) << text << ": " << patched.error().message;
    Program again = program_of(object_of(*patched, "patched"));
    EXPECT_EQ(std::ranges::count(again.items, std::string("s_nop 6"), &Item::text), 1) << text;
    EXPECT_EQ(again.origin->bytes.size(), program.origin->bytes.size());
  }
}

TEST(Relocatable, AGroupThatNamesWhatIsNotThereIsAnError) {
  Bytes bytes = relocatable(functions);
  auto object = object::read_code_object(bytes, "k");
  ASSERT_TRUE(object);
  auto group = std::ranges::find(object->sections, elf::sht_group, &object::Section::type);
  ASSERT_NE(group, object->sections.end());
  bytes[group->offset + 4] = 200;
  EXPECT_EQ(object::read_code_object(bytes, "k").error().message,
            "k: .group: a section group names section 200, no such section");
}

TEST(Relocatable, TemplatesAndFunctionSectionsOfTheCompilerComeBack) {
  if (!has_program("clang-22") || !has_program("llvm-mc-22")) GTEST_SKIP() << "NOT TESTED: no clang-22, llvm-mc-22";
  const std::string source = R"(
template <class T> struct Table { static T values[4] __device__; };
template <class T> T Table<T>::values[4] __device__ = {1, 2, 3, 4};
template <class T> __attribute__((noinline)) __device__ T twice(T x) { return x * x + 1; }
template <class T> __global__ void scale(T* p, T f, int n) {
  int i = __builtin_amdgcn_workitem_id_x();
  if (i < n) p[i] = twice(p[i]) * f + Table<T>::values[i & 3];
}
template __global__ void scale<float>(float*, float, int);
template __global__ void scale<int>(int*, int, int);
)";
  const std::string sections = "-ffunction-sections -fdata-sections ";
  for (const std::string& options : {std::string("-O2 "), sections, sections + "-fno-unique-section-names -O2 "}) {
    Bytes listing = compile_hip(source, "gfx942", options + "-S");
    Scratch scratch;
    std::string input = scratch.write("k.s", std::string(listing.begin(), listing.end()));
    ASSERT_TRUE(
        run("llvm-mc-22 -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=obj -o " + scratch.path + "/k.o " + input));
    Program program = program_of(scratch.path + "/k.o");
    EXPECT_GE(program.surroundings->code_sections.size(), 2u) << options;
    expect_round_trip(program);
    expect_edits_keep_references(program);
  }
}

TEST(Relocatable, RelocationsLeftInALinkedObjectAreNamedAndDropped) {
  if (!has_program("ld.lld-22")) GTEST_SKIP() << "NOT TESTED: no ld.lld-22";
  Scratch scratch;
  Bytes bytes = relocatable(functions);
  std::string input = scratch.write("k.o", std::string(bytes.begin(), bytes.end()));
  ASSERT_TRUE(run("ld.lld-22 -shared --emit-relocs -o " + scratch.path + "/k.co " + input));
  Program program = program_of(scratch.path + "/k.co");
  auto trip = round_trip(program, codec_for(program.target));
  ASSERT_TRUE(trip) << trip.error().message;
  EXPECT_TRUE(trip->differences.empty()) << differences(*trip);
  EXPECT_EQ(std::ranges::count_if(trip->masked, [](const std::string& m) { return m.starts_with(".rela.text"); }), 1);
  expect_edits_keep_references(program);
}

} // namespace
} // namespace asmevo::recover
