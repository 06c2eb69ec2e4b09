// What real kernels have tripped emulators with, and no test of a single instruction family has.
#include "text_run.h"

#include "machine/image.h"

using namespace asmevo;
using namespace asmevo::machine;
using isa::Processor;

namespace {

/// A kernel of one's own descriptor, at address 0.
struct Custom {
  Memory memory;
  Dispatch dispatch;
  std::shared_ptr<object::CodeObject> object = std::make_shared<object::CodeObject>();
  std::optional<Image> image;

  explicit Custom(const std::string& text, Processor processor = Processor::gfx942,
                  isa::Resources resources = {.vgprs = 32, .lds_bytes = 1024}) {
    const isa::Codec& codec = codec_for(processor);
    const auto code = codec.assemble(text + "\ns_endpgm\n");
    EXPECT_TRUE(code) << code.error().message << " in line " << code.error().line;
    const auto plain = Image::from_text(*code, codec, resources);
    *object = plain->object();
  }
  object::KernelDescriptor& descriptor() { return object->kernels.front().descriptor; }
  void put(size_t at, uint32_t word, unsigned bytes) {
    for (unsigned k = 0; k < bytes; ++k) descriptor().raw[at + k] = uint8_t(word >> (8 * k));
  }
  RunResult run(Processor processor = Processor::gfx942) {
    auto made = Image::create(object, codec_for(processor));
    EXPECT_TRUE(made);
    image = *made;
    dispatch.kernel = &object->kernels.front();
    const auto result = machine::run(*image, dispatch, memory, {});
    EXPECT_TRUE(result) << result.error().message;
    return *result;
  }
};

uint32_t dword_at(std::span<const uint8_t> bytes, size_t index) {
  uint32_t value;
  std::memcpy(&value, bytes.data() + 4 * index, 4);
  return value;
}

} // namespace

TEST(Traps, LdsThatIsReusedBehindOneBarrierNeedsWavesThatKeepPace) {
  std::string pause;
  for (int k = 0; k < 20; ++k) pause += "s_nop 0\n";
  const auto wave_1_reads = [&](Schedule schedule) {
    TextRun r("v_lshlrev_b32 v1, 2, v0\nv_xor_b32 v2, 0x100, v1\nds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\n"
              "ds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)\n" +
              pause + "v_mov_b32 v4, -1\nds_write_b32 v1, v4\nglobal_store_dword v1, v3, s[0:1]");
    r.dispatch.workgroup_size = {128, 1, 1};
    r.options.schedule = schedule;
    EXPECT_EQ(r.run().status, Status::completed);
    return r.dword(64);
  };
  EXPECT_EQ(wave_1_reads(Schedule::round_robin), 0u);
  EXPECT_EQ(wave_1_reads(Schedule::run_to_barrier), ~0u); // too late: wave 0 has written again
}

TEST(Traps, AccumulatorsAreRowsBehindTheOffsetOfAUnifiedFileAndAFileOfTheirOwnOnGfx908) {
  const std::string text = "v_mov_b32 v11, 5\nv_accvgpr_write_b32 a3, 7\nv_mov_b32 v2, v11";
  for (auto [processor, seen] : {std::pair{Processor::gfx90a, 7u}, {Processor::gfx942, 7u}, {Processor::gfx908, 5u}}) {
    Program p(text, processor);
    p.resources = {.vgprs = 8, .agprs = 8, .accum_offset = 8};
    if (processor == Processor::gfx908) p.resources = {.vgprs = 16, .agprs = 16};
    p.run();
    EXPECT_EQ(p.v(2).lane[9], seen) << isa::processor_name(processor);
  }
}

TEST(Traps, GprIndexingChangesM0AndWritelaneHonoursTheDestinationIndex) {
  Program p("s_mov_b32 s6, 3\ns_mov_b32 s7, 77\ns_mov_b32 m0, 0\ns_set_gpr_idx_on s6, gpr_idx(DST)\ns_mov_b32 s8, m0\n"
            "v_writelane_b32 v10, s7, 5\ns_set_gpr_idx_off");
  p.run();
  EXPECT_EQ(p.s(8) & 0xff, 3u);
  EXPECT_EQ(p.s(8) >> 12 & 15, 8u);
  EXPECT_EQ(p.v(13).lane[5], 77u);
  EXPECT_EQ(p.v(10).lane[5], 0u);
}

TEST(Traps, GprIndexingMovesEachOperandThatItsModeNames) {
  for (unsigned enables = 0; enables < 16; ++enables)
    for (const uint32_t index : {0u, 1u, 7u, 200u}) {
      std::string modes;
      const char* const names[] = {"SRC0", "SRC1", "SRC2", "DST"};
      for (unsigned k = 0; k < 4; ++k)
        if (enables >> k & 1) modes += (modes.empty() ? "" : ",") + std::string(names[k]);
      SCOPED_TRACE(modes + " " + std::to_string(index));
      // Three sources, an accumulator, a pair of registers, one lane; scalars are not indexed.
      Program p("s_set_gpr_idx_on s6, gpr_idx(" + modes +
                ")\nv_add3_u32 v40, v1, v2, v3\nv_lshlrev_b64 v[50:51], 4, v[4:5]\nv_readlane_b32 s8, v6, 9\n"
                "v_sub_u32 v44, s7, v7\nv_dot4c_i32_i8 v46, v1, v2\ns_set_gpr_idx_off");
      p.start();
      const auto word = [](uint32_t r, unsigned lane) { return (r + 1) * 0x01010101u + lane; };
      for (uint32_t r = 0; r < 64; ++r) p.fill(r, [&](unsigned i) { return word(r, i); });
      p.s(6) = index, p.s(7) = 5000;
      p.run();
      ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
      const auto source = [&](unsigned k, uint32_t r) { // a source beyond the allocation is v0
        const uint32_t at = r + (enables >> k & 1 ? index : 0);
        return at < 128 ? at : 0;
      };
      const auto target = [&](uint32_t r) { return r + (enables & 8 ? index : 0); };
      const auto expect = [&](uint32_t r, unsigned lane, uint32_t value) {
        if (r < 64) { // what goes beyond is dropped
          EXPECT_EQ(p.v(r).lane[lane], value) << "v" << r;
        }
      };
      const auto read = [&](uint32_t r, unsigned lane) { return r < 64 ? word(r, lane) : 0; };
      for (const unsigned lane : {0u, 33u}) {
        const auto at = [&](unsigned k, uint32_t r) { return read(source(k, r), lane); };
        expect(target(40), lane, at(0, 1) + at(1, 2) + at(2, 3));
        const uint32_t pair = source(1, 4);
        const uint64_t wide = (uint64_t{read(pair + 1, lane)} << 32 | read(pair, lane)) << 4;
        expect(target(50), lane, uint32_t(wide));
        expect(target(51), lane, uint32_t(wide >> 32));
        expect(target(44), lane, 5000 - at(1, 7));
        uint32_t sum = word(target(46) < 64 ? target(46) : 0, lane);
        for (unsigned k = 0; k < 4; ++k) sum += uint32_t(int8_t(at(0, 1) >> (8 * k)) * int8_t(at(1, 2) >> (8 * k)));
        expect(target(46), lane, sum);
      }
      EXPECT_EQ(p.s(8), read(source(0, 6), 9));
      EXPECT_EQ(p.s(6), index); // an SGPR destination is none of its business
    }
}

TEST(Traps, RelativeScalarsBeyondTheFileReadS0AndAreNotWritten) {
  Program p("s_mov_b32 m0, 0x60\ns_movrels_b32 s20, s10\ns_movreld_b32 s10, s11\ns_movrels_b64 s[22:23], "
            "s[10:11]\ns_movreld_b64 s[10:11], s[12:13]");
  p.start();
  for (uint32_t k = 0; k < 102; ++k) p.s(k) = 1000 + k;
  p.wave().set_vcc(7);
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  for (uint32_t k = 0; k < 102; ++k) EXPECT_EQ(p.s(k), k == 20 || k == 22 ? 1000u : k == 23 ? 1001u : 1000 + k) << k;
  EXPECT_EQ(p.wave().vcc(), 7u);
}

TEST(Traps, AllOfTheUnifiedFileMayBeDeclaredAndNamed) {
  Program p("v_mov_b32 v255, v1\nv_accvgpr_write_b32 a255, v2\nv_accvgpr_read_b32 v3, a255\nv_mov_b32 v4, v255",
            Processor::gfx942);
  p.resources = {.vgprs = 256, .agprs = 256, .accum_offset = 256};
  p.start();
  for (uint32_t r = 1; r < 3; ++r) p.fill(r, [&](unsigned i) { return 100 * r + i; });
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  EXPECT_EQ(p.v(3).lane[9], 209u);
  EXPECT_EQ(p.v(4).lane[9], 109u);
}

TEST(Traps, HandWrittenModesFlushSinglesAndKeepHalves) {
  // A descriptor as hand-written kernels have it: f32 denormals off, f16 and f64 on, IEEE and DX10_CLAMP off.
  Custom c("v_mov_b32 v1, 0x00000007\nv_add_f32 v2, v1, v1\nv_add_f16 v3, v1, v1\nv_mov_b32 v4, 0\n"
           "s_getreg_b32 s6, hwreg(HW_REG_MODE, 0, 10)\nv_mov_b32 v5, s6\ns_mov_b64 exec, 1\n"
           "global_store_dword v4, v2, s[0:1]\nglobal_store_dword v4, v3, s[0:1] offset:4\n"
           "global_store_dword v4, v5, s[0:1] offset:8");
  c.put(48, 3u | 0xc0u << 12, 4);
  const auto out = *c.memory.map(out_base, 4096, Access::read_write, "out");
  c.dispatch.kernarg_address = out_base;
  ASSERT_EQ(c.run().status, Status::completed);
  EXPECT_EQ(dword_at(out, 0), 0u);
  EXPECT_EQ(dword_at(out, 1), 14u);
  EXPECT_EQ(dword_at(out, 2), 0xc0u);
}

TEST(Traps, TwoUserRegistersComeBeforeTheWorkgroupIds) {
  Custom c("v_mov_b32 v1, 0\nv_mov_b32 v2, s2\nv_mov_b32 v3, s3\nv_mov_b32 v4, s4\ns_mov_b64 exec, 1\n"
           "s_mul_i32 s8, s4, 12\nv_mov_b32 v1, s8\nglobal_store_dwordx3 v1, v[2:4], s[0:1]");
  const auto out = *c.memory.map(out_base, 4096, Access::read_write, "out");
  c.dispatch.kernarg_address = out_base;
  c.dispatch.workgroups = {1, 1, 3};
  ASSERT_EQ(c.run().status, Status::completed);
  for (uint32_t z = 0; z < 3; ++z) EXPECT_EQ(dword_at(out, 3 * z + 2), z);
}

namespace {

/// Behind +256: stores s2 and s3, which the preload brings and the prologue loads itself.
std::string preload_kernel(const std::string& prologue) {
  return prologue + "\n.p2align 8, 0\nmain: v_mov_b32 v1, 0\nv_mov_b32 v2, s2\nv_mov_b32 v3, s3\ns_mov_b64 exec, 1\n"
                    "global_store_dwordx2 v1, v[2:3], s[0:1] offset:64";
}

std::array<uint32_t, 2> preloaded(const std::string& prologue, unsigned dwords, Status status) {
  Custom c(preload_kernel(prologue), Processor::gfx942);
  c.put(58, dwords, 2); // kernarg_preload: length 6:0, offset 15:7
  if (dwords) c.put(52, 4u << 1, 4);
  const auto out = *c.memory.map(out_base, 4096, Access::read_write, "out");
  out[0] = 21, out[4] = 22;
  c.dispatch.kernarg_address = out_base;
  EXPECT_EQ(c.run().status, status);
  return {dword_at(out, 16), dword_at(out, 17)};
}

} // namespace

TEST(Traps, PreloadedArgumentsEnterBehindTheFallbackPrologue) {
  // The first 256 bytes are never executed where the firmware preloads; without preload they are.
  EXPECT_EQ(preloaded("s_trap 2", 2, Status::completed), (std::array{21u, 22u}));
  EXPECT_EQ(preloaded("s_load_dwordx2 s[2:3], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_branch main", 0, Status::completed),
            (std::array{21u, 22u}));
  preloaded("s_trap 2", 0, Status::fault);
}

TEST(Traps, WorkgroupsOfALowerZComeFirst) {
  TextRun r(
      "v_mov_b32 v1, 0\nv_mov_b32 v2, 1\ns_mov_b64 exec, 1\nglobal_atomic_add v3, v1, v2, s[0:1] sc0\n"
      "s_mul_i32 s5, s4, 6\ns_mul_i32 s6, s3, 3\ns_add_u32 s5, s5, s6\ns_add_u32 s5, s5, s2\ns_lshl_b32 s5, s5, 2\n"
      "v_mov_b32 v4, s5\ns_waitcnt vmcnt(0)\nglobal_store_dword v4, v3, s[0:1] offset:64");
  r.dispatch.workgroups = {3, 2, 4};
  ASSERT_EQ(r.run().status, Status::completed);
  for (uint32_t k = 0; k < 24; ++k) EXPECT_EQ(r.dword(16 + k), k);
}

TEST(Traps, TheKernelDecidesHowBf16Rounds) {
  // Upper halves stored as they are, the conversion instruction, and half an ulp added first: three answers.
  for (const auto& [x, cut, even, away] :
       {std::tuple{0x3f81c000u, 0x3f81u, 0x3f82u, 0x3f82u}, {0x3f808000u, 0x3f80u, 0x3f80u, 0x3f81u}}) {
    Program p(
        "v_lshrrev_b32 v2, 16, v1\nv_cvt_pk_bf16_f32 v3, v1, v1\nv_add_u32 v4, 0x8000, v1\nv_lshrrev_b32 v4, 16, v4",
        Processor::gfx950);
    p.start();
    p.fill(1, [&](unsigned) { return x; });
    p.run();
    EXPECT_EQ(p.v(2).lane[0], cut);
    EXPECT_EQ(p.v(3).lane[0] & 0xffff, even);
    EXPECT_EQ(p.v(4).lane[0], away);
  }
}

TEST(Traps, Fp8IsFnuzOnGfx942AndOcpOnGfx950) {
  const std::string text = "v_mov_b32 v1, 0x80\nv_mov_b32 v3, 0x40\nv_cvt_f32_fp8 v2, v1\nv_cvt_f32_fp8 v4, v3";
  Program fnuz(text), ocp(text, Processor::gfx950);
  fnuz.run(), ocp.run();
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(fnuz.v(2).lane[0])));
  EXPECT_EQ(ocp.v(2).lane[0], 0x80000000u); // minus zero
  EXPECT_EQ(std::bit_cast<float>(fnuz.v(4).lane[0]), 1.0f);
  EXPECT_EQ(std::bit_cast<float>(ocp.v(4).lane[0]), 2.0f);
}

TEST(Traps, LdsIsAllocatedInTheGranuleOfTheTarget) {
  for (auto [processor, size] : {std::pair{Processor::gfx942, 1024u}, {Processor::gfx950, 1280u}}) {
    Program p("s_nop 0", processor);
    p.resources.lds_bytes = 600;
    p.start();
    EXPECT_EQ(p.wave().lds_size, size);
  }
}

TEST(Traps, ReadfirstlaneOfNoLaneReadsLane0) {
  Program p("s_mov_b64 exec, 0\nv_readfirstlane_b32 s6, v1\ns_mov_b64 exec, 0x30\nv_readfirstlane_b32 s7, v1");
  p.start();
  p.fill(1, [](unsigned i) { return 100 + i; });
  p.run();
  EXPECT_EQ(p.s(6), 100u);
  EXPECT_EQ(p.s(7), 104u);
}

TEST(Traps, OutputModifiersWorkOnlyWhereDenormalsAreFlushed) {
  const std::string text = "v_add_f32 v2, v1, v1 mul:4";
  for (auto [mode, factor] : {std::pair{0u, 8.0f}, {0x30u, 2.0f}}) {
    Program p("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 10), " + std::to_string(mode) + "\n" + text);
    p.start();
    p.fill(1, [](unsigned) { return std::bit_cast<uint32_t>(1.5f); });
    p.run();
    EXPECT_EQ(std::bit_cast<float>(p.v(2).lane[0]), 1.5f * factor) << mode;
  }
}

TEST(Traps, BitTestsUseTheLowBitsOfTheNumber) {
  Program p(
      "s_mov_b32 s6, 8\ns_bitcmp1_b32 s6, 35\ns_cselect_b32 s7, 1, 0\ns_bitcmp0_b32 s6, 35\ns_cselect_b32 s8, 1, 0\n"
      "s_mov_b32 s12, 0\ns_mov_b32 s13, 2\ns_bitcmp1_b64 s[12:13], 33\ns_cselect_b32 s9, 1, 0");
  p.run();
  EXPECT_EQ(p.s(7), 1u);
  EXPECT_EQ(p.s(8), 0u);
  EXPECT_EQ(p.s(9), 1u);
}

TEST(Traps, OnEqualityTheMaximumIsTheFirstSourceAndTheMinimumIsNot) {
  Program p(
      "s_mov_b32 s6, 5\ns_max_u32 s7, s6, 5\ns_cselect_b32 s8, 1, 0\ns_min_u32 s7, s6, 5\ns_cselect_b32 s9, 1, 0");
  p.run();
  EXPECT_EQ(p.s(8), 1u);
  EXPECT_EQ(p.s(9), 0u);
}
