// Scalar instructions, one after the other, against loops over bits and plain arithmetic.
#include "buffers_fixture.h"

#include <functional>

using namespace asmevo;
using namespace asmevo::machine;

namespace {

using i32 = int32_t;
using i64 = int64_t;
using u32 = uint32_t;
using u64 = uint64_t;

struct Outcome {
  u64 value;
  int scc = -1; // -1: as it was
};
using Model = std::function<Outcome(u64 a, u64 b, u64 old, u32 scc)>;

constexpr u64 edges[] = {0,
                         1,
                         0x80000000,
                         0x7fffffff,
                         0xffffffff,
                         0x8000000000000000,
                         0x7fffffffffffffff,
                         ~u64{0},
                         0x00ff00000000f0f0,
                         0xfedcba9876543210,
                         0xffff8000,
                         0x100000000};

/// Sources s[0:1] and s[2:3], destination s[4:5]; every pair of edge values.
void check(const std::string& text, const Model& model, isa::Processor processor = isa::Processor::gfx942) {
  SCOPED_TRACE(text);
  Program p(text, processor);
  const bool wide = text.find("s[4:5]") != std::string::npos;
  for (const u64 a : edges)
    for (const u64 b : edges)
      for (const u32 scc : {0u, 1u}) {
        constexpr u64 old = 0x1234567890abcdef;
        p.start();
        p.set64(0, a), p.set64(2, b), p.set64(4, old);
        p.wave().scc = scc;
        p.run();
        const Outcome want = model(a, b, old, scc);
        ASSERT_EQ(wide ? p.s64(4) : p.s(4), wide ? want.value : u32(want.value))
            << std::hex << a << " " << b << " scc " << scc;
        ASSERT_EQ(p.wave().scc, want.scc < 0 ? scc : u32(want.scc)) << std::hex << a << " " << b << " scc " << scc;
      }
  p.note();
}

Outcome flagged(u64 value) { return {value, value != 0}; }
bool bit(u64 value, unsigned k) { return value >> k & 1; }

u64 field(u64 value, unsigned offset, unsigned width, unsigned bits, bool is_signed) {
  u64 result = 0;
  for (unsigned k = 0; k < std::min(width, bits); ++k) {
    const bool set = offset + k < bits ? bit(value, offset + k) : is_signed && width != 0 && bit(value, bits - 1);
    result |= u64{set} << k;
  }
  if (is_signed && width && width < bits && bit(result, width - 1))
    for (unsigned k = width; k < bits; ++k) result |= u64{1} << k;
  return result;
}

} // namespace

TEST(EveryScalar, ArithmeticAndFields) {
  check("s_min_u32 s4, s0, s2",
        [](u64 a, u64 b, u64, u32) { return Outcome{std::min(u32(a), u32(b)), u32(a) < u32(b)}; });
  for (const auto processor :
       {isa::Processor::gfx908, isa::Processor::gfx90a, isa::Processor::gfx942, isa::Processor::gfx950}) {
    // On equality SCC of a maximum changed with gfx942.
    const bool equal = processor >= isa::Processor::gfx942;
    check(
        "s_max_i32 s4, s0, s2",
        [=](u64 a, u64 b, u64, u32) {
          return Outcome{u32(std::max(i32(a), i32(b))), i32(a) > i32(b) || (equal && u32(a) == u32(b))};
        },
        processor);
    check(
        "s_max_u32 s4, s0, s2",
        [=](u64 a, u64 b, u64, u32) {
          return Outcome{std::max(u32(a), u32(b)), u32(a) > u32(b) || (equal && u32(a) == u32(b))};
        },
        processor);
  }
  check("s_abs_i32 s4, s0", [](u64 a, u64, u64, u32) { return flagged(i32(a) < 0 ? u32(0) - u32(a) : u32(a)); });
  for (const int k : {0, 1, -1, 32767, -32768}) {
    const std::string immediate = fmt::format("{:#x}", k & 0xffff);
    check("s_movk_i32 s4, " + immediate, [=](u64, u64, u64, u32) { return Outcome{u32(k)}; });
    check("s_mulk_i32 s4, " + immediate, [=](u64, u64, u64 old, u32) { return Outcome{u32(u32(old) * u32(k))}; });
    for (const u32 start : {0x80000000u, 0x7fffffffu, 0u, 0xffffffffu}) // what s4 holds before
      check(fmt::format("s_mov_b32 s4, {:#x}\ns_addk_i32 s4, {}", start, immediate), [=](u64, u64, u64, u32) {
        const i64 sum = i64(i32(start)) + k;
        return Outcome{u32(sum), sum != i32(sum)};
      });
  }
  check("s_mov_b32 s4, s0", [](u64 a, u64, u64, u32) { return Outcome{u32(a)}; });
  check("s_mov_b64 s[4:5], s[0:1]", [](u64 a, u64, u64, u32) { return Outcome{a}; });
  check("s_absdiff_i32 s4, s0, s2", [](u64 a, u64 b, u64, u32) {
    const u32 difference = u32(a) - u32(b);
    return flagged(difference >> 31 ? u32(0) - difference : difference);
  });
  for (unsigned n = 1; n <= 4; ++n)
    check(fmt::format("s_lshl{}_add_u32 s4, s0, s2", n), [n](u64 a, u64 b, u64, u32) {
      const u64 sum = (u64{u32(a)} << n) + u32(b);
      return Outcome{u32(sum), sum > 0xffffffff};
    });
  check("s_bfm_b32 s4, s0, s2",
        [](u64 a, u64 b, u64, u32) { return Outcome{u32(((u64{1} << (a & 31)) - 1) << (b & 31))}; });
  check("s_bfm_b64 s[4:5], s0, s2",
        [](u64 a, u64 b, u64, u32) { return Outcome{((u64{1} << (a & 63)) - 1) << (b & 63)}; });
  for (const u32 control : {0x000000u, 0x080004u, 0x20001fu, 0x01003fu, 0x400000u, 0x7f0010u}) {
    check(fmt::format("s_bfe_u64 s[4:5], s[0:1], {:#x}", control),
          [=](u64 a, u64, u64, u32) { return flagged(field(a, control & 63, control >> 16 & 127, 64, false)); });
    check(fmt::format("s_bfe_i64 s[4:5], s[0:1], {:#x}", control),
          [=](u64 a, u64, u64, u32) { return flagged(field(a, control & 63, control >> 16 & 127, 64, true)); });
  }
}

TEST(EveryScalar, SelectionAndPacking) {
  check("s_cselect_b32 s4, s0, s2", [](u64 a, u64 b, u64, u32 scc) { return Outcome{u32(scc ? a : b)}; });
  check("s_cselect_b64 s[4:5], s[0:1], s[2:3]", [](u64 a, u64 b, u64, u32 scc) { return Outcome{scc ? a : b}; });
  check("s_cmov_b32 s4, s0", [](u64 a, u64, u64 old, u32 scc) { return Outcome{scc ? a : old}; });
  check("s_cmov_b64 s[4:5], s[0:1]", [](u64 a, u64, u64 old, u32 scc) { return Outcome{scc ? a : old}; });
  check("s_cmovk_i32 s4, 0x8001", [](u64, u64, u64 old, u32 scc) { return Outcome{scc ? 0xffff8001 : old}; });
  check("s_pack_ll_b32_b16 s4, s0, s2",
        [](u64 a, u64 b, u64, u32) { return Outcome{(a & 0xffff) | (b & 0xffff) << 16}; });
  check("s_pack_lh_b32_b16 s4, s0, s2",
        [](u64 a, u64 b, u64, u32) { return Outcome{(a & 0xffff) | (b & 0xffff0000)}; });
  check("s_pack_hh_b32_b16 s4, s0, s2",
        [](u64 a, u64 b, u64, u32) { return Outcome{(a >> 16 & 0xffff) | (b & 0xffff0000)}; });
  check("s_sext_i32_i8 s4, s0", [](u64 a, u64, u64, u32) { return Outcome{u32(i32(int8_t(a)))}; });
  check("s_sext_i32_i16 s4, s0", [](u64 a, u64, u64, u32) { return Outcome{u32(i32(int16_t(a)))}; });
}

TEST(EveryScalar, BitsOfOneSource) {
  for (const unsigned bits : {32u, 64u}) {
    const u64 all = bits == 64 ? ~u64{0} : 0xffffffff;
    const std::string to = bits == 64 ? "s[4:5]" : "s4", from = bits == 64 ? "s[0:1]" : "s0";
    auto each = [&](const std::string& name, bool counts, std::function<Outcome(u64)> f) {
      check(fmt::format("{}_b{} {}, {}", name, bits, counts ? "s4" : to, from),
            [=](u64 a, u64, u64, u32) { return f(a & all); });
    };
    auto collect = [bits](auto f) {
      u64 result = 0;
      for (unsigned k = 0; k < bits; ++k) result |= u64{f(k)} << k;
      return result;
    };
    each("s_not", false, [=](u64 a) { return flagged(~a & all); });
    each("s_brev", false, [=](u64 a) { return Outcome{collect([=](unsigned k) { return bit(a, bits - 1 - k); })}; });
    each("s_wqm", false,
         [=](u64 a) { return flagged(collect([=](unsigned k) { return (a >> (k & ~3u) & 15) != 0; })); });
    each("s_quadmask", false,
         [=](u64 a) { return flagged(collect([=](unsigned k) { return 4 * k < bits && (a >> (4 * k) & 15) != 0; })); });
    auto count = [=](u64 a, bool which) {
      u64 n = 0;
      for (unsigned k = 0; k < bits; ++k) n += bit(a, k) == which;
      return n;
    };
    each("s_bcnt0_i32", true, [=](u64 a) { return flagged(count(a, false)); });
    each("s_bcnt1_i32", true, [=](u64 a) { return flagged(count(a, true)); });
    auto first = [=](auto found) {
      for (unsigned k = 0; k < bits; ++k)
        if (found(k)) return Outcome{k};
      return Outcome{0xffffffff};
    };
    each("s_ff0_i32", true, [=](u64 a) { return first([=](unsigned k) { return !bit(a, k); }); });
    each("s_ff1_i32", true, [=](u64 a) { return first([=](unsigned k) { return bit(a, k); }); });
    each("s_flbit_i32", true, [=](u64 a) { return first([=](unsigned k) { return bit(a, bits - 1 - k); }); });
    check(bits == 64 ? "s_flbit_i32_i64 s4, s[0:1]" : "s_flbit_i32 s4, s0", [=](u64 a, u64, u64, u32) {
      return first([=](unsigned k) { return bit(a, bits - 1 - k) != bit(a, bits - 1); });
    });
    for (const bool value : {false, true})
      check(fmt::format("s_bitset{}_b{} {}, s0", int(value), bits, to), [=](u64 a, u64, u64 old, u32) {
        const u64 mask = u64{1} << (a & (bits - 1));
        return Outcome{value ? old | mask : old & ~mask};
      });
  }
  check("s_bitreplicate_b64_b32 s[4:5], s0", [](u64 a, u64, u64, u32) {
    u64 result = 0;
    for (unsigned k = 0; k < 64; ++k) result |= u64{bit(a, k / 2)} << k;
    return Outcome{result};
  });
}

TEST(EveryScalar, Compares) {
  struct Compare {
    const char* name;
    bool (*holds)(i64, i64);
  };
  constexpr Compare compares[] = {
      {"eq", [](i64 a, i64 b) { return a == b; }}, {"lg", [](i64 a, i64 b) { return a != b; }},
      {"gt", [](i64 a, i64 b) { return a > b; }},  {"ge", [](i64 a, i64 b) { return a >= b; }},
      {"lt", [](i64 a, i64 b) { return a < b; }},  {"le", [](i64 a, i64 b) { return a <= b; }}};
  for (const Compare& c : compares) {
    auto same = [](u64 old, bool scc) { return Outcome{old, int(scc)}; };
    check(fmt::format("s_cmp_{}_i32 s0, s2", c.name),
          [=](u64 a, u64 b, u64 old, u32) { return same(old, c.holds(i32(a), i32(b))); });
    check(fmt::format("s_cmp_{}_u32 s0, s2", c.name),
          [=](u64 a, u64 b, u64 old, u32) { return same(old, c.holds(u32(a), u32(b))); });
    check(fmt::format("s_cmpk_{}_i32 s0, 0x8000", c.name),
          [=](u64 a, u64, u64 old, u32) { return same(old, c.holds(i32(a), -32768)); });
    check(fmt::format("s_cmpk_{}_u32 s0, 0x8000", c.name),
          [=](u64 a, u64, u64 old, u32) { return same(old, c.holds(u32(a), 32768)); });
  }
  check("s_cmp_eq_u64 s[0:1], s[2:3]", [](u64 a, u64 b, u64 old, u32) { return Outcome{old, a == b}; });
  check("s_cmp_lg_u64 s[0:1], s[2:3]", [](u64 a, u64 b, u64 old, u32) { return Outcome{old, a != b}; });
  for (const bool value : {false, true}) {
    check(fmt::format("s_bitcmp{}_b32 s0, s2", int(value)),
          [=](u64 a, u64 b, u64 old, u32) { return Outcome{old, bit(a, b & 31) == value}; });
    check(fmt::format("s_bitcmp{}_b64 s[0:1], s2", int(value)),
          [=](u64 a, u64 b, u64 old, u32) { return Outcome{old, bit(a, b & 63) == value}; });
  }
}

TEST(EveryScalar, ExecIsCombinedAndSaved) {
  struct Combination {
    const char* name;
    u64 (*value)(u64 source, u64 exec);
  };
  constexpr Combination saves[] = {
      {"and_saveexec", [](u64 s, u64 e) { return s & e; }},    {"or_saveexec", [](u64 s, u64 e) { return s | e; }},
      {"xor_saveexec", [](u64 s, u64 e) { return s ^ e; }},    {"andn2_saveexec", [](u64 s, u64 e) { return s & ~e; }},
      {"orn2_saveexec", [](u64 s, u64 e) { return s | ~e; }},  {"nand_saveexec", [](u64 s, u64 e) { return ~(s & e); }},
      {"nor_saveexec", [](u64 s, u64 e) { return ~(s | e); }}, {"xnor_saveexec", [](u64 s, u64 e) { return ~(s ^ e); }},
      {"andn1_saveexec", [](u64 s, u64 e) { return ~s & e; }}, {"orn1_saveexec", [](u64 s, u64 e) { return ~s | e; }},
      {"andn1_wrexec", [](u64 s, u64 e) { return ~s & e; }},   {"andn2_wrexec", [](u64 s, u64 e) { return s & ~e; }}};
  for (const Combination& c : saves)
    for (const u64 source : edges)
      for (const u64 exec : edges) {
        Program p(fmt::format("s_{}_b64 s[4:5], s[0:1]", c.name));
        p.start();
        p.set64(0, source);
        p.wave().set_exec(exec);
        p.run();
        const u64 value = c.value(source, exec);
        ASSERT_EQ(p.wave().exec(), value) << c.name;
        ASSERT_EQ(p.s64(4), std::string_view(c.name).ends_with("wrexec") ? value : exec) << c.name;
        ASSERT_EQ(p.wave().scc, value != 0) << c.name;
        p.note();
      }
}

TEST(EveryScalar, RelativeMoves) {
  for (const u32 index : {0u, 1u, 9u}) {
    Program p(fmt::format("s_mov_b32 m0, {}\ns_movrels_b32 s0, s10\ns_movreld_b32 s30, s5", index));
    p.start();
    for (u32 k = 0; k < 50; ++k) p.s(k) = 1000 + k;
    p.run();
    for (u32 k = 0; k < 50; ++k) EXPECT_EQ(p.s(k), k == 0 ? 1010 + index : k == 30 + index ? 1005 : 1000 + k);
    p.note();
  }
  Program p("s_mov_b32 m0, 4\ns_movrels_b64 s[20:21], s[0:1]\ns_movreld_b64 s[30:31], s[2:3]");
  p.start();
  p.set64(4, 0x1111222233334444), p.set64(2, 0x5555666677778888);
  p.run();
  EXPECT_EQ(p.s64(20), 0x1111222233334444u);
  EXPECT_EQ(p.s64(34), 0x5555666677778888u);
  p.note();
}

TEST(EveryScalar, BranchesAskWhatTheirNamesSay) {
  auto taken = [](const std::string& branch, const std::string& setup) {
    Program p(setup + "\n" + branch + " away\ns_mov_b32 s4, 1\naway:\n");
    p.start();
    p.s(4) = 0;
    p.run();
    EXPECT_EQ(p.end(), TurnEnd::finished) << p.fault();
    p.note();
    return p.s(4) == 0;
  };
  EXPECT_TRUE(taken("s_branch", ""));
  EXPECT_TRUE(taken("s_cbranch_scc0", "s_cmp_lg_u32 s0, s0"));
  EXPECT_FALSE(taken("s_cbranch_scc0", "s_cmp_eq_u32 s0, s0"));
  EXPECT_FALSE(taken("s_cbranch_scc1", "s_cmp_lg_u32 s0, s0"));
  EXPECT_TRUE(taken("s_cbranch_scc1", "s_cmp_eq_u32 s0, s0"));
  EXPECT_TRUE(taken("s_cbranch_vccz", "s_mov_b64 vcc, 0"));
  EXPECT_FALSE(taken("s_cbranch_vccz", "s_mov_b64 vcc, 2"));
  EXPECT_FALSE(taken("s_cbranch_vccnz", "s_mov_b64 vcc, 0"));
  EXPECT_TRUE(taken("s_cbranch_vccnz", "s_mov_b64 vcc, 2"));
  EXPECT_TRUE(taken("s_cbranch_execz", "s_mov_b64 exec, 0"));
  EXPECT_FALSE(taken("s_cbranch_execz", "s_mov_b64 exec, 1"));
  EXPECT_FALSE(taken("s_cbranch_execnz", "s_mov_b64 exec, 0"));
  EXPECT_TRUE(taken("s_cbranch_execnz", "s_mov_b64 exec, 1"));
  for (const char* debug : {"cdbgsys", "cdbguser", "cdbgsys_or_user", "cdbgsys_and_user"})
    EXPECT_FALSE(taken(std::string("s_cbranch_") + debug, ""));
}

TEST(EveryScalar, CallsKeepTheWayBack) {
  Program p("s_call_b64 s[10:11], away\ns_mov_b32 s4, 7\ns_endpgm_saved\naway:\ns_mov_b32 s5, 8\ns_setpc_b64 s[10:11]");
  p.start().run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  EXPECT_EQ(p.s(4), 7u);
  EXPECT_EQ(p.s(5), 8u);
  p.note();
}

TEST(EveryScalar, AHaltedWaveStaysWhereItIs) {
  Program p("s_sendmsghalt sendmsg(MSG_INTERRUPT)\ns_mov_b32 s4, 1");
  p.start();
  p.s(4) = 0;
  p.run();
  EXPECT_EQ(p.end(), TurnEnd::deadlock);
  EXPECT_EQ(p.s(4), 0u);
  p.note();
}

TEST(EveryScalar, HaltsAndKillsDependOnTheirImmediate) {
  for (const bool set : {false, true}) {
    Program halt(fmt::format("s_mov_b32 s4, 0\ns_sethalt {}\ns_mov_b32 s4, 1", int(set)));
    halt.start().run();
    EXPECT_EQ(halt.end(), set ? TurnEnd::deadlock : TurnEnd::finished);
    EXPECT_EQ(halt.s(4), set ? 0u : 1u);
    halt.note();
    Program kill(fmt::format("s_mov_b32 s4, 0\ns_setkill {}\ns_mov_b32 s4, 1", int(set)));
    kill.start().run();
    EXPECT_EQ(kill.end(), TurnEnd::finished);
    EXPECT_EQ(kill.s(4), set ? 0u : 1u);
    kill.note();
  }
}

TEST(EveryScalar, ProgramCountersPointBehindTheInstruction) {
  // s_getpc at byte 8 (after a literal), s_swappc over an instruction; s_setpc back.
  Program p("s_mov_b32 s4, 0x12345678\ns_getpc_b64 s[0:1]\nhere:\ns_add_u32 s2, s0, away-here\ns_addc_u32 s3, s1, "
            "0\ns_mov_b32 s6, 0\ns_swappc_b64 s[10:11], s[2:3]\nback:\ns_mov_b32 s7, "
            "5\ns_endpgm\naway:\ns_mov_b32 s6, 9\ns_sub_u32 s8, s10, s0\ns_setpc_b64 s[10:11]");
  p.start().run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  EXPECT_EQ(p.s(6), 9u);
  EXPECT_EQ(p.s(7), 5u);
  EXPECT_EQ(p.s(8), 20u); // a literal's eight bytes and three instructions
  p.note();
}

TEST(EveryScalar, WhatOnlyCostsTimeChangesNothing) {
  constexpr const char* texts[] = {"s_nop 3",
                                   "s_sleep 3",
                                   "s_waitcnt 0",
                                   "s_setprio 2",
                                   "s_wakeup",
                                   "s_sendmsg sendmsg(MSG_INTERRUPT)",
                                   "s_icache_inv",
                                   "s_incperflevel 1",
                                   "s_decperflevel 1",
                                   "s_ttracedata",
                                   "s_dcache_inv",
                                   "s_dcache_inv_vol",
                                   "s_dcache_wb",
                                   "s_dcache_wb_vol",
                                   "s_dcache_discard s[4:5], 0x0",
                                   "s_dcache_discard_x2 s[4:5], 0x0",
                                   "s_atc_probe 1, s[4:5], 0x0",
                                   "s_atc_probe_buffer 1, s[8:11], 0x0",
                                   "v_nop",
                                   "v_clrexcp",
                                   "ds_nop",
                                   "buffer_wbinvl1",
                                   "buffer_wbinvl1_vol"};
  for (const char* text : texts) {
    SCOPED_TRACE(text);
    Buffers p(text, 4096, isa::Processor::gfx908);
    p.begin();
    for (u32 k = 0; k < 100; ++k)
      if (k < 4 || k > 15) p.s(k) = 1000 + k;
    p.fill(0, [](unsigned i) { return i; });
    p.wave().scc = 1;
    p.run();
    ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
    for (u32 k = 0; k < 100; ++k)
      if (k < 4 || k > 15) {
        ASSERT_EQ(p.s(k), 1000 + k);
      }
    for (unsigned i = 0; i < lanes; ++i) ASSERT_EQ(p.v(0).lane[i], i);
    EXPECT_EQ(p.wave().scc, 1u);
    EXPECT_EQ(p.wave().exec(), all_lanes);
    p.note();
  }
  for (const auto& [text, processor] :
       {std::pair{"buffer_wbl2", isa::Processor::gfx90a}, std::pair{"buffer_invl2", isa::Processor::gfx90a},
        std::pair{"buffer_wbl2 sc1", isa::Processor::gfx942}, std::pair{"buffer_inv sc1", isa::Processor::gfx942}}) {
    Program p(text, processor);
    p.start().run();
    EXPECT_EQ(p.end(), TurnEnd::finished) << p.fault();
    p.note();
  }
}

TEST(EveryScalar, FieldsOfTheModeRegister) {
  Program p("s_mov_b32 s0, 0xd\ns_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s0\ns_getreg_b32 s4, hwreg(HW_REG_MODE, 0, 8)\n"
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 5\ns_getreg_b32 s5, hwreg(HW_REG_MODE, 0, 8)\ns_getreg_b32 "
            "s6, hwreg(HW_REG_MODE, 2, 3)");
  p.start().run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  EXPECT_EQ(p.s(4), 0xfdu);
  EXPECT_EQ(p.s(5), 0x5du);
  EXPECT_EQ(p.s(6), 0x7u);
  p.note();
}

TEST(EveryScalar, IndexingModeAndIndexAreFieldsOfM0) {
  Program p("s_mov_b32 s0, 2\ns_set_gpr_idx_on s0, gpr_idx(SRC0)\nv_mov_b32 v10, v1\ns_mov_b32 s1, "
            "3\ns_set_gpr_idx_idx s1\nv_mov_b32 v11, v1\n"
            "s_set_gpr_idx_mode gpr_idx(DST)\nv_mov_b32 v12, v1\ns_set_gpr_idx_off\nv_mov_b32 v20, v1");
  p.start();
  for (u32 k = 0; k < 30; ++k) p.fill(k, [k](unsigned) { return 100 + k; });
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  EXPECT_EQ(p.v(10).lane[0], 103u);
  EXPECT_EQ(p.v(11).lane[0], 104u);
  EXPECT_EQ(p.v(12).lane[0], 112u);
  EXPECT_EQ(p.v(15).lane[0], 101u);
  EXPECT_EQ(p.v(20).lane[0], 101u);
  p.note();
}

TEST(EveryScalar, ClocksGoForward) {
  Program p("s_memtime s[4:5]\ns_memrealtime s[6:7]\ns_nop 0\ns_nop 0\ns_nop 0\ns_nop 0\ns_nop 0\ns_nop 0\ns_nop "
            "0\ns_memtime s[8:9]\ns_memrealtime s[10:11]");
  p.start().run();
  EXPECT_GT(p.s64(8), p.s64(4));
  EXPECT_GT(p.s64(10), p.s64(6));
  p.note();
}
