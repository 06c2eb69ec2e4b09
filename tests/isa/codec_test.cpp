#include "isa/codec.h"

#include "isa/objects.h"

#include <chrono>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <thread>

namespace asmevo::isa {
namespace {

constexpr Processor processors[] = {Processor::gfx906, Processor::gfx908, Processor::gfx90a, Processor::gfx942,
                                    Processor::gfx950};

Codec codec_for(Processor processor) { return *Codec::create({.processor = processor}); }

Instruction decoded(const Codec& codec, std::string_view text, uint64_t address = 0) {
  const auto bytes = codec.assemble(text);
  EXPECT_TRUE(bytes) << text << ": " << bytes.error().message;
  return bytes ? codec.decode(*bytes, address) : Instruction{};
}
Instruction decoded(std::string_view text, uint64_t address = 0) {
  static const Codec codec = codec_for(Processor::gfx942);
  return decoded(codec, text, address);
}

Bytes bytes_of(std::span<const uint32_t> words) {
  Bytes bytes(words.size() * 4);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

TEST(Codec, MnemonicsLoseTheirEncodingSuffix) {
  EXPECT_EQ(name_of(decoded("v_add_f32_e32 v0, v1, v2")), "v_add_f32");
  EXPECT_EQ(name_of(decoded("v_add_f32_e64 v0, v1, v2")), "v_add_f32");
  EXPECT_EQ(name_of(decoded("v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf")), "v_mov_b32");
  EXPECT_EQ(name_of(decoded("v_add_u16_sdwa v0, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:DWORD "
                            "src1_sel:DWORD")),
            "v_add_u16");
}

TEST(Codec, EncodingSizeSuffixAndLiteralComeFromTheWords) {
  struct Row {
    std::string_view text;
    Encoding encoding;
    int size;
    Suffix suffix;
    bool literal;
  };
  constexpr Row rows[] = {
      {"s_add_u32 s0, s1, s2", Encoding::sop2, 4, Suffix::none, false},
      {"s_add_u32 s0, s1, 0x12345", Encoding::sop2, 8, Suffix::none, true},
      {"s_setreg_imm32_b32 hwreg(HW_REG_MODE), 7", Encoding::sopk, 8, Suffix::none, true},
      {"v_mov_b32_e32 v0, 0x12345678", Encoding::vop1, 8, Suffix::none, true},
      {"v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf", Encoding::vop1, 8, Suffix::dpp, false},
      {"v_cmp_eq_u32_sdwa vcc, v0, v1 src0_sel:BYTE_0 src1_sel:DWORD", Encoding::vopc, 8, Suffix::sdwa, false},
      {"v_fma_f32 v0, v1, v2, v3", Encoding::vop3a, 8, Suffix::none, false},
      {"v_div_scale_f32 v0, vcc, v1, v2, v3", Encoding::vop3b, 8, Suffix::none, false},
      {"v_pk_add_f16 v0, v1, v2", Encoding::vop3p, 8, Suffix::none, false},
      {"v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], 0", Encoding::vop3p_mai, 8, Suffix::none, false},
      {"v_accvgpr_read_b32 v0, a0", Encoding::vop3p_mai, 8, Suffix::none, false},
      {"s_load_dword s0, s[2:3], 0x0", Encoding::smem, 8, Suffix::none, false},
      {"ds_read_b32 v0, v1", Encoding::ds, 8, Suffix::none, false},
      {"flat_load_dword v0, v[2:3]", Encoding::flat, 8, Suffix::none, false},
      {"global_load_dword v0, v[2:3], off", Encoding::global, 8, Suffix::none, false},
      {"scratch_load_dword v0, off, s0", Encoding::scratch, 8, Suffix::none, false},
      {"buffer_load_dword v0, off, s[0:3], 0", Encoding::mubuf, 8, Suffix::none, false},
      {"tbuffer_load_format_x v0, off, s[0:3], 0 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT]", Encoding::mtbuf, 8,
       Suffix::none, false},
  };
  for (const Row& row : rows) {
    const Instruction i = decoded(row.text);
    EXPECT_EQ(i.encoding, row.encoding) << row.text;
    EXPECT_EQ(i.size, row.size) << row.text;
    EXPECT_EQ(i.suffix, row.suffix) << row.text;
    EXPECT_EQ(i.has_literal, row.literal) << row.text;
  }
}

TEST(Codec, ScaledMatrixInstructionsAreSixteenBytes) {
  const Codec codec = codec_for(Processor::gfx950);
  const Instruction i =
      decoded(codec, "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[20:23], v24, v25");
  EXPECT_EQ(i.encoding, Encoding::vop3px2);
  EXPECT_EQ(i.size, 16);
  EXPECT_TRUE(i.traits.mfma);
}

TEST(Codec, BranchTargetsAreAddresses) {
  EXPECT_EQ(decoded("s_branch 3", 0x1000).branch_target, 0x1010);
  EXPECT_EQ(decoded("s_cbranch_scc1 -2", 0x1000).branch_target, 0xffc);
  EXPECT_EQ(decoded("s_call_b64 s[2:3], 1", 0x1000).branch_target, 0x1008);
  EXPECT_EQ(decoded("s_setpc_b64 s[2:3]", 0x1000).branch_target, -1);
  EXPECT_EQ(decoded("s_nop 3", 0x1000).branch_target, -1);
}

TEST(Codec, ControlFlowTraits) {
  const Traits branch = decoded("s_branch 1").traits;
  EXPECT_TRUE(branch.branch && branch.terminator && !branch.conditional && !branch.indirect);
  const Traits conditional = decoded("s_cbranch_execz 1").traits;
  EXPECT_TRUE(conditional.branch && conditional.conditional && !conditional.terminator);
  const Traits jump = decoded("s_setpc_b64 s[0:1]").traits;
  EXPECT_TRUE(jump.branch && jump.indirect && jump.terminator);
  const Traits call = decoded("s_swappc_b64 s[2:3], s[0:1]").traits;
  EXPECT_TRUE(call.branch && call.indirect && !call.terminator);
  EXPECT_TRUE(decoded("s_endpgm").traits.terminator && !decoded("s_endpgm").traits.branch);
  EXPECT_TRUE(decoded("s_barrier").traits.barrier);
  EXPECT_TRUE(decoded("s_waitcnt 0").traits.waitcnt);
}

TEST(Codec, MemoryTraits) {
  const Traits load = decoded("buffer_load_dword v0, off, s[0:3], 0").traits;
  EXPECT_TRUE(load.vmem && load.may_load && !load.may_store && !load.lds && !load.atomic);
  const Traits direct = decoded("buffer_load_dword off, s[0:3], 0 lds").traits;
  EXPECT_TRUE(direct.vmem && direct.lds && direct.may_load && direct.may_store);
  const Traits flat = decoded("flat_store_dword v[0:1], v2").traits;
  EXPECT_TRUE(flat.vmem && flat.flat && flat.may_store && !flat.may_load);
  const Traits atomic = decoded("global_atomic_add v[0:1], v2, off").traits;
  EXPECT_TRUE(atomic.atomic && atomic.may_load && atomic.may_store && !atomic.returns);
  EXPECT_TRUE(decoded("global_atomic_add v3, v[0:1], v2, off sc0").traits.returns);
  const Traits lds = decoded("ds_max_rtn_u32 v0, v1, v2").traits;
  EXPECT_TRUE(lds.lds && lds.atomic && lds.returns && !lds.vmem);
  const Traits shuffle = decoded("ds_bpermute_b32 v0, v1, v2").traits;
  EXPECT_TRUE(shuffle.lds && !shuffle.may_load && !shuffle.may_store && !shuffle.atomic);
  const Traits scalar = decoded("s_load_dword s0, s[2:3], 0x0").traits;
  EXPECT_TRUE(scalar.smem && scalar.may_load && !scalar.salu);
}

TEST(Codec, WhatMayNotMoveHasSideEffects) {
  for (std::string_view text :
       {"s_sleep 1", "s_setprio 1", "s_trap 2", "s_sendmsg sendmsg(MSG_INTERRUPT)", "s_barrier", "s_memtime s[0:1]",
        "buffer_wbl2 sc1", "buffer_inv sc1", "s_dcache_wb", "s_setreg_imm32_b32 hwreg(HW_REG_MODE), 7"})
    EXPECT_TRUE(decoded(text).traits.side_effects) << text;
  for (std::string_view text : {"s_nop 1", "v_add_u32_e32 v0, v1, v2", "s_waitcnt 0", "ds_read_b32 v0, v1"})
    EXPECT_FALSE(decoded(text).traits.side_effects) << text;
}

TEST(Codec, PrintGivesALabelToABranch) {
  const Codec codec = codec_for(Processor::gfx942);
  const Instruction branch = decoded(codec, "s_cbranch_scc1 -2");
  EXPECT_EQ(codec.print(branch, "loop"), "s_cbranch_scc1 loop");
  EXPECT_EQ(codec.print(branch), "s_cbranch_scc1 65534");
  EXPECT_EQ(codec.print(decoded(codec, "s_call_b64 s[2:3], 1"), "f"), "s_call_b64 s[2:3], f");
  EXPECT_EQ(codec.print(decoded(codec, "v_add_f32_e32 v0, v1, v2")), "v_add_f32_e32 v0, v1, v2");
}

TEST(Codec, AnUnknownWordIsKeptAndPrintedAsData) {
  const Codec codec = codec_for(Processor::gfx942);
  const uint32_t words[] = {0xffffffff, 0};
  const Instruction i = codec.decode(bytes_of(words), 0);
  EXPECT_EQ(i.encoding, Encoding::unknown);
  EXPECT_EQ(i.size, 4);
  EXPECT_EQ(codec.print(i), ".long 0xffffffff");
}

TEST(Codec, RegistersOfTheWrongFileOrAlignmentMakeAWordUnknown) {
  const Codec codec = codec_for(Processor::gfx942);
  const uint32_t scalar_source[] = {0xd3cd0000, 0x04020000};      // v_mfma with s0 as A
  const uint32_t odd_pair[] = {0x7e000100 | 1 << 17 | 0x38 << 9}; // v_mov_b64 v[1:2], v0
  EXPECT_EQ(codec.decode(bytes_of(scalar_source), 0).encoding, Encoding::unknown);
  EXPECT_EQ(codec.decode(bytes_of(odd_pair), 0).encoding, Encoding::unknown);
}

TEST(Codec, ReservedFieldValuesMakeAWordUnknown) {
  const Codec codec = codec_for(Processor::gfx942);
  const uint32_t control_of_no_move[] = {0x7e0002fa, 0xff010001 | 0x100 << 8};
  const uint32_t select_of_seven[] = {0x7e0002f9, 0x00070001};
  const uint32_t literal_in_vop3[] = {0xd1cb0000, 0x040602ff};
  EXPECT_EQ(codec.decode(bytes_of(control_of_no_move), 0).encoding, Encoding::unknown);
  EXPECT_EQ(codec.decode(bytes_of(select_of_seven), 0).encoding, Encoding::unknown);
  EXPECT_EQ(codec.decode(bytes_of(literal_in_vop3), 0).encoding, Encoding::unknown);
}

TEST(Codec, ALiteralThatIsCutOffGivesSizeZero) {
  const Codec codec = codec_for(Processor::gfx942);
  const auto bytes = codec.assemble("v_mov_b32_e32 v0, 0x12345678");
  ASSERT_TRUE(bytes);
  EXPECT_EQ(codec.decode(std::span(*bytes).first(4), 0).size, 0);
  EXPECT_EQ(codec.decode(std::span(*bytes).first(7), 0).size, 0);
  EXPECT_EQ(codec.decode(std::span(*bytes).first(3), 0).size, 0);
}

TEST(Codec, WhatIsRememberedDependsOnNothingBehindTheInstruction) {
  const Codec codec = *Codec::create({});
  const uint32_t move_and_more[] = {0x7e000301, 0x12345678}, move_and_other[] = {0x7e000301, 0xbf810000};
  const uint32_t literal[] = {0xbe8000ff, 1}, other_literal[] = {0xbe8000ff, 2};
  const auto bytes = [](const uint32_t (&words)[2]) {
    return std::span(reinterpret_cast<const uint8_t*>(words), sizeof words);
  };
  EXPECT_EQ(codec.decode(bytes(move_and_more), 0).words, codec.decode(bytes(move_and_other), 0).words);
  EXPECT_EQ(codec.decode(bytes(literal), 0).words[1], 1u);
  EXPECT_EQ(codec.decode(bytes(other_literal), 0).words[1], 2u);
  EXPECT_EQ(codec.decode(bytes(literal).first(4), 0).size, 0);
}

TEST(Codec, ARememberedBranchHasTheTargetOfItsOwnAddress) {
  const Codec codec = *Codec::create({});
  const uint32_t branch = 0xbf820003;
  const auto bytes = std::span(reinterpret_cast<const uint8_t*>(&branch), sizeof branch);
  EXPECT_EQ(codec.decode(bytes, 0x100).branch_target, 0x110);
  EXPECT_EQ(codec.decode(bytes, 0x200).branch_target, 0x210);
}

TEST(Codec, AHalfPrecisionLiteralOf255IsDecoded) {
  const Codec codec = codec_for(Processor::gfx908);
  const Instruction i = decoded(codec, "v_madak_f16 v1, v2, v3, 0xff");
  EXPECT_EQ(codec.print(i), "v_madak_f16 v1, v2, v3, 0xff");
}

/// Half of the words are pushed towards the encodings with many fields.
std::array<uint32_t, 5> random_words(std::mt19937_64& random) {
  constexpr uint32_t prefixes[] = {0xc0000000, 0xd0000000, 0xd3800000, 0xd8000000, 0xdc000000,
                                   0xe0000000, 0xe8000000, 0xf0000000, 0xd3ac0000};
  std::array<uint32_t, 5> words;
  for (uint32_t& word : words) word = static_cast<uint32_t>(random());
  switch (random() % 4) {
  case 0:
    words[0] = prefixes[random() % std::size(prefixes)] | (words[0] & 0x3ffffff);
    break;
  case 1:
    words[0] = (words[0] & ~0x1ffu) | static_cast<uint32_t>(249 + random() % 7);
    break;
  default:
    break;
  }
  return words;
}

TEST(Codec, RandomWordsNeverCrashAndTruncatedBuffersNeverReadPastTheirEnd) {
  for (Processor processor : processors) {
    const Codec codec = codec_for(processor);
    std::mt19937_64 random(20 + static_cast<int>(processor));
    size_t known = 0;
    constexpr size_t count = 400'000;
    for (size_t n = 0; n < count; ++n) {
      const Bytes bytes = bytes_of(random_words(random));
      const size_t length = n % 8 == 0 ? random() % bytes.size() : bytes.size();
      const Instruction i = codec.decode(std::span(bytes).first(length), 0);
      ASSERT_LE(i.size, length);
      known += i.encoding != Encoding::unknown;
      if (n % 16 == 0 && i.size) {
        ASSERT_FALSE(codec.print(i).empty());
      }
    }
    EXPECT_GT(known, count / 4) << processor_name(processor);
  }
}

TEST(Codec, CodecsOnDifferentThreadsDoNotDisturbEachOther) {
  std::vector<std::thread> threads;
  std::array<std::string, 4> printed;
  for (size_t n = 0; n < printed.size(); ++n)
    threads.emplace_back([&, n] {
      for (int round = 0; round < 20; ++round) {
        const Codec codec = codec_for(processors[1 + n]);
        const auto bytes = codec.assemble("v_add_f32_e32 v0, v1, v2\ns_endpgm");
        printed[n] = bytes ? codec.print(codec.decode(*bytes, 0)) : bytes.error().message;
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : printed) EXPECT_EQ(text, "v_add_f32_e32 v0, v1, v2");
}

TEST(Codec, AKernelOfFiveThousandInstructionsDecodesInUnder50Milliseconds) {
  const Codec codec = codec_for(Processor::gfx942);
  std::string text;
  for (int n = 0; n < 1250; ++n)
    text += "v_fma_f32 v0, v1, v2, v3\nds_read_b128 v[0:3], v4 offset:16\ns_add_u32 s0, s1, s2\n"
            "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]\n";
  const auto bytes = codec.assemble(text);
  ASSERT_TRUE(bytes);
  auto best = std::chrono::steady_clock::duration::max(); // of five, for other work on the machine disturbs
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
    size_t count = 0;
    for (size_t offset = 0; offset < bytes->size(); ++count)
      offset += codec.decode(std::span(*bytes).subspan(offset), offset).size;
    ASSERT_EQ(count, 5000u);
    best = std::min(best, std::chrono::steady_clock::now() - start);
  }
  EXPECT_LT(best, std::chrono::milliseconds(50));
}

/// Mnemonics of instructions whose text does not give back their bytes, per object; recover keeps those as raw words.
std::set<std::string> changed_by_round_trip(const testing::TextSection& section) {
  std::set<std::string> changed;
  const auto codec = Codec::create(section.target);
  std::vector<Instruction> instructions;
  std::vector<std::string> lines;
  std::string text;
  for (size_t offset = 0; offset < section.bytes.size();) {
    Instruction i = codec->decode(std::span(section.bytes).subspan(offset), section.address + offset);
    if (i.size == 0) return {"<truncated>"};
    offset += i.size;
    if (i.encoding == Encoding::unknown) changed.insert("<unknown>");
    lines.push_back(codec->print(i));
    text += lines.back() + "\n";
    instructions.push_back(std::move(i));
  }
  if (const auto whole = codec->assemble(text); whole && *whole == section.bytes) return changed;
  for (size_t n = 0; n < instructions.size(); ++n) {
    const auto bytes = codec->assemble(lines[n]);
    const auto* original = reinterpret_cast<const uint8_t*>(instructions[n].words.data());
    if (!bytes || !std::ranges::equal(*bytes, std::span(original, instructions[n].size)))
      changed.emplace(name_of(instructions[n]));
  }
  return changed;
}

/// Folders of the data and the mnemonics that LLVM is known to encode differently there.
void expect_round_trip(std::string_view folder, const std::set<std::string>& known) {
  const auto data = testing::data_folder();
  const auto paths = data.empty() ? std::vector<std::filesystem::path>() : testing::objects_below(data / folder);
  if (paths.empty()) GTEST_SKIP() << "no objects in " << folder << ": set ASMEVO_DATA to the data folder";
  for (const auto& path : paths) {
    const auto sections = testing::text_sections(path);
    EXPECT_FALSE(sections.empty()) << path;
    for (const auto& section : sections)
      for (const std::string& name : changed_by_round_trip(section))
        EXPECT_TRUE(known.contains(name)) << path << ": " << name;
  }
}

TEST(Codec, DecodesTheCountOfAGlobalBarrierWhereRegistersMustBeEven) {
  for (const Processor processor : {Processor::gfx908, Processor::gfx90a, Processor::gfx942, Processor::gfx950}) {
    auto codec = Codec::create({.processor = processor});
    ASSERT_TRUE(codec) << codec.error().message;
    const auto bytes = codec->assemble("ds_gws_barrier v2 offset:4 gds");
    ASSERT_TRUE(bytes) << bytes.error().message;
    EXPECT_EQ(codec->print(codec->decode(*bytes, 0)), "ds_gws_barrier v2 offset:4 gds");
  }
}

TEST(CodecRoundTrip, TritonObjects) { expect_round_trip("triton", {}); }
TEST(CodecRoundTrip, Mi300aObjects) { expect_round_trip("mi300a", {}); }
TEST(CodecRoundTrip, AiterObjects) { expect_round_trip("aiter", {"v_mfma_scale_f32_16x16x128_f8f6f4"}); }

} // namespace
} // namespace asmevo::isa
