// Faults say which instruction, which lane, which address, and what lies nearest.
#include "text_run.h"

using namespace asmevo;
using namespace asmevo::machine;

namespace {

struct Wrong {
  std::string text; // the last instruction of it faults in lane 37
  std::string message;
  uint64_t offset; // of the faulting address in `out`, which has 4096 bytes
  int lane = 37;
  isa::Processor processor = isa::Processor::gfx942;
};

// v1: 0x100 a lane, but in lane 37 so that the access ends behind `out`; v[8:9]: the same as an address.
const std::string setup =
    "v_lshlrev_b32 v1, 2, v0\nv_mov_b32 v2, 0xffe\nv_cmp_eq_u32 vcc, 37, v0\nv_cndmask_b32 v1, v1, v2, vcc\n"
    "v_mov_b32 v3, s1\nv_add_co_u32 v8, vcc, s0, v1\nv_addc_co_u32 v9, vcc, 0, v3, vcc\nv_mov_b32 v4, 1\nv_mov_b32 v5, "
    "1\n"
    "s_mov_b32 s8, s0\ns_mov_b32 s9, s1\ns_mov_b32 s10, 0x10000\ns_mov_b32 s11, 0x20000\ns_mov_b32 m0, 0\n";

const Wrong wrongs[] = {
    {"global_load_dword v6, v1, s[0:1]", "global_load_dword reads 2 bytes past the end of `out`", 0xffe},
    {"global_store_dword v1, v4, s[0:1]", "global_store_dword writes 2 bytes past the end of `out`", 0xffe},
    {"global_store_dwordx2 v1, v[4:5], s[0:1] offset:8", "global_store_dwordx2 writes 14 bytes past the end of `out`",
     0x1006},
    {"global_atomic_add v1, v4, s[0:1]", "global_atomic_add writes 2 bytes past the end of `out`", 0xffe},
    {"flat_load_ushort v6, v[8:9] offset:2", "flat_load_ushort reads 2 bytes past the end of `out`", 0x1000},
    {"flat_atomic_add_x2 v[8:9], v[4:5]", "flat_atomic_add_x2 writes 6 bytes past the end of `out`", 0xffe},
    {"global_load_lds_dword v1, s[0:1]", "global_load_lds_dword reads 2 bytes past the end of `out`", 0xffe},
    {"buffer_load_dword v6, v1, s[8:11], 0 offen", "buffer_load_dword reads 2 bytes past the end of `out`", 0xffe},
    {"buffer_store_byte v4, v1, s[8:11], 0 offen offset:3", "buffer_store_byte writes 2 bytes past the end of `out`",
     0x1001},
    {"buffer_atomic_add v4, v1, s[8:11], 0 offen", "buffer_atomic_add writes 2 bytes past the end of `out`", 0xffe},
    {"s_load_dword s12, s[0:1], 0x1000", "s_load_dword reads 4 bytes past the end of `out`", 0x1000, -1},
    {"s_buffer_load_dwordx2 s[12:13], s[8:11], 0xffc", "s_buffer_load_dwordx2 reads 4 bytes past the end of `out`",
     0xffc, -1},
    {"s_store_dword s8, s[0:1], 0x1004", "s_store_dword writes 8 bytes past the end of `out`", 0x1004, -1,
     isa::Processor::gfx908},
    {"s_atomic_add s8, s[0:1], 0x1000", "s_atomic_add writes 4 bytes past the end of `out`", 0x1000, -1,
     isa::Processor::gfx908},
};

} // namespace

TEST(Faults, EveryKindOfAccessSaysInstructionLaneAddressAndNearestBuffer) {
  for (const Wrong& wrong : wrongs) {
    TextRun r(setup + wrong.text, 4096, {.vgprs = 32, .lds_bytes = 1024}, wrong.processor);
    const RunResult result = r.run();
    ASSERT_EQ(result.status, Status::fault) << wrong.text;
    EXPECT_EQ(result.fault->message, wrong.message);
    EXPECT_EQ(result.fault->lane, wrong.lane) << wrong.text;
    EXPECT_EQ(result.fault->data_address, out_base + wrong.offset) << wrong.text;
    const auto& instructions = r.image.instructions();
    ASSERT_GE(result.fault->instruction, 0);
    EXPECT_EQ(result.fault->address, instructions[size_t(result.fault->instruction)].address);
    EXPECT_EQ(result.fault->instruction, int64_t(instructions.size()) - 2) << wrong.text;
  }
}

TEST(Faults, InstructionFetchSaysWhoJumpsWhere) {
  for (const char* jump : {"s_setpc_b64 s[8:9]", "s_swappc_b64 s[12:13], s[8:9]"}) {
    TextRun r("s_mov_b32 s8, s0\ns_mov_b32 s9, s1\n" + std::string(jump), 4096);
    const RunResult result = r.run();
    ASSERT_EQ(result.status, Status::fault);
    EXPECT_EQ(result.fault->instruction, 2);
    EXPECT_EQ(result.fault->data_address, out_base);
    EXPECT_NE(
        result.fault->message.find("jumps to 0x7f0000000000, where no instruction of .text begins (4 bytes at +0x0 "
                                   "of `out`)"),
        std::string::npos)
        << result.fault->message;
  }
}

TEST(Faults, AJumpIntoAnInstructionIsOne) {
  TextRun r("s_getpc_b64 s[8:9]\ns_add_u32 s8, s8, 16\ns_setpc_b64 s[8:9]\ns_nop 0\nv_mov_b32 v1, 0x12345678");
  const RunResult result = r.run();
  ASSERT_EQ(result.status, Status::fault);
  EXPECT_NE(result.fault->message.find("where no instruction of .text begins"), std::string::npos)
      << result.fault->message;
}

TEST(Faults, RunningOffTheEndOfTextIsOne) {
  const isa::Codec& codec = codec_for(isa::Processor::gfx942);
  const auto code = codec.assemble("s_nop 0\ns_nop 1\n");
  const auto image = Image::from_text(*code, codec, {.vgprs = 8});
  Memory memory;
  const Dispatch dispatch{.kernel = &image->object().kernels.front()};
  const auto result = run(*image, dispatch, memory, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, Status::fault);
  EXPECT_EQ(result->fault->message, "the wave runs outside .text");
}

TEST(Standing, SaysForEveryWaveOfADeadlockWhereItIsAndWhatItWaitsFor) {
  // Wave 0 halts, wave 1 waits at a barrier that can never be passed, wave 2 has ended.
  TextRun r("v_and_b32 v0, 0x3ff, v0\nv_readfirstlane_b32 s5, v0\ns_cmp_eq_u32 s5, 0x80\ns_cbranch_scc1 done\n"
            "s_cmp_eq_u32 s5, 0\ns_cbranch_scc0 meet\ns_sethalt 1\nmeet: s_barrier\ndone:");
  r.dispatch.workgroup_size = {192, 1, 1};
  const RunResult result = r.run();
  ASSERT_EQ(result.status, Status::deadlock);
  ASSERT_EQ(result.standing.size(), 2u);
  const auto name = [&](const Standing& s) { return isa::name_of(r.image.instructions()[size_t(s.instruction)]); };
  EXPECT_EQ(name(result.standing[0]), "s_sethalt");
  EXPECT_EQ(result.standing[0].waits_for, "nobody: it is halted");
  EXPECT_EQ(result.standing[1].wave, 1u);
  EXPECT_EQ(name(result.standing[1]), "s_barrier");
  EXPECT_EQ(result.standing[1].waits_for, "a barrier");
  EXPECT_EQ(result.standing[1].executed, 7u);
  EXPECT_NE(result.fault->message.find("wave 1 at"), std::string::npos) << result.fault->message;
}

TEST(Standing, SaysWhereSpinningWorkgroupsAreWhenTheBudgetIsSpent) {
  TextRun r("v_mov_b32 v1, 0\nwait: s_sleep 1\nglobal_load_dword v2, v1, s[0:1] sc1\ns_waitcnt vmcnt(0)\n"
            "v_readfirstlane_b32 s5, v2\ns_cmp_eq_u32 s5, 0\ns_cbranch_scc1 wait");
  r.dispatch.workgroups = {3, 1, 1};
  r.options.instruction_budget = 10'000;
  const RunResult result = r.run();
  ASSERT_EQ(result.status, Status::budget);
  ASSERT_EQ(result.standing.size(), 3u);
  uint64_t executed = 0;
  for (const Standing& s : result.standing) {
    EXPECT_TRUE(s.waits_for.empty());
    EXPECT_GE(s.instruction, 1);
    executed += s.executed;
  }
  EXPECT_EQ(executed, result.instructions);
}
