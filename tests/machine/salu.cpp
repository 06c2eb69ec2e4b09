#include "wave_fixture.h"

#include <random>

using namespace asmevo;
using namespace asmevo::machine;

namespace {

constexpr uint32_t edges[] = {0,      1,       2,          31,         32,         0x7fff,     0x8000,
                              0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 0x12345678};

struct Flagged {
  uint64_t value;
  int scc; // -1: unchanged
};

/// Runs `mnemonic` on all pairs of edge values and compares with `expected`.
template <class F> void check_sop2(const std::string& mnemonic, bool wide, bool wide_second, F expected) {
  Program p(mnemonic + (wide ? " s[4:5], s[0:1], " : " s4, s0, ") + (wide_second ? "s[2:3]" : "s2"));
  std::mt19937_64 random(7);
  for (uint32_t a : edges)
    for (uint32_t b : edges)
      for (uint32_t scc : {0u, 1u}) {
        p.start();
        const uint64_t x = wide ? uint64_t{a} << 32 | uint32_t(random()) : a;
        const uint64_t y = wide_second ? uint64_t{b} << 32 | uint32_t(random()) : b;
        p.set64(0, x), p.set64(2, y), p.set64(4, 0);
        p.wave().scc = scc;
        p.run();
        const Flagged want = expected(x, y, scc);
        ASSERT_EQ(wide ? p.s64(4) : p.s(4), want.value) << mnemonic << std::hex << " " << x << " " << y;
        ASSERT_EQ(int(p.wave().scc), want.scc < 0 ? int(scc) : want.scc)
            << mnemonic << std::hex << " " << x << " " << y;
      }
  p.note();
}

using i32 = int32_t;
using i64 = int64_t;
using u32 = uint32_t;
using u64 = uint64_t;

} // namespace

TEST(Salu, AdditionAndSubtractionCarryThroughScc) {
  check_sop2("s_add_u32", false, false, [](u64 a, u64 b, u32) { return Flagged{u32(a + b), a + b > 0xffffffff}; });
  check_sop2("s_addc_u32", false, false,
             [](u64 a, u64 b, u32 c) { return Flagged{u32(a + b + c), a + b + c > 0xffffffff}; });
  check_sop2("s_sub_u32", false, false, [](u64 a, u64 b, u32) { return Flagged{u32(a - b), b > a}; });
  check_sop2("s_subb_u32", false, false, [](u64 a, u64 b, u32 c) { return Flagged{u32(a - b - c), b + c > a}; });
}

TEST(Salu, SignedAdditionSetsSccOnOverflow) {
  auto overflows = [](i64 r) { return r != i64(i32(r)); };
  check_sop2("s_add_i32", false, false, [&](u64 a, u64 b, u32) {
    i64 r = i64(i32(a)) + i32(b);
    return Flagged{u32(r), overflows(r)};
  });
  check_sop2("s_sub_i32", false, false, [&](u64 a, u64 b, u32) {
    i64 r = i64(i32(a)) - i32(b);
    return Flagged{u32(r), overflows(r)};
  });
}

TEST(Salu, BitOperationsSetSccWhereTheResultIsNotZero) {
  for (bool wide : {false, true}) {
    const std::string suffix = wide ? "_b64" : "_b32";
    const u64 all = wide ? ~u64{0} : 0xffffffff;
    auto check = [&](const std::string& name, auto f) {
      check_sop2(name + suffix, wide, wide, [&](u64 a, u64 b, u32) {
        u64 r = f(a, b) & all;
        return Flagged{r, r != 0};
      });
    };
    check("s_and", [](u64 a, u64 b) { return a & b; });
    check("s_or", [](u64 a, u64 b) { return a | b; });
    check("s_xor", [](u64 a, u64 b) { return a ^ b; });
    check("s_andn2", [](u64 a, u64 b) { return a & ~b; });
    check("s_orn2", [](u64 a, u64 b) { return a | ~b; });
    check("s_nand", [](u64 a, u64 b) { return ~(a & b); });
    check("s_nor", [](u64 a, u64 b) { return ~(a | b); });
    check("s_xnor", [](u64 a, u64 b) { return ~(a ^ b); });
  }
}

TEST(Salu, ShiftsUseTheLowBitsOfTheAmount) {
  check_sop2("s_lshl_b32", false, false, [](u64 a, u64 b, u32) {
    u32 r = u32(a) << (b % 32);
    return Flagged{r, r != 0};
  });
  check_sop2("s_lshr_b32", false, false, [](u64 a, u64 b, u32) {
    u32 r = u32(a) >> (b % 32);
    return Flagged{r, r != 0};
  });
  check_sop2("s_ashr_i32", false, false, [](u64 a, u64 b, u32) {
    u32 r = u32(i32(a) >> (b % 32));
    return Flagged{r, r != 0};
  });
  check_sop2("s_lshl_b64", true, false, [](u64 a, u64 b, u32) {
    u64 r = a << (b % 64);
    return Flagged{r, r != 0};
  });
  check_sop2("s_lshr_b64", true, false, [](u64 a, u64 b, u32) {
    u64 r = a >> (b % 64);
    return Flagged{r, r != 0};
  });
  check_sop2("s_ashr_i64", true, false, [](u64 a, u64 b, u32) {
    u64 r = u64(i64(a) >> (b % 64));
    return Flagged{r, r != 0};
  });
}

TEST(Salu, BitFieldExtractionHandlesZeroWidthAndFieldsPastTheTop) {
  Program p("s_bfe_u32 s4, s0, s1\ns_cselect_b32 s6, 1, 0\ns_bfe_i32 s5, s0, s1");
  for (u32 value : edges)
    for (u32 offset : {0u, 5u, 31u})
      for (u32 width : {0u, 1u, 8u, 31u, 32u, 40u}) {
        p.start();
        p.s(0) = value, p.s(1) = offset | width << 16;
        p.run();
        u64 field = value >> offset;
        if (width < 32) field &= (u64{1} << width) - 1;
        const u32 kept = std::min(width, 32 - offset);
        const i64 sign_extended = width == 0 ? 0 : i64(field << (64 - kept)) >> (64 - kept);
        EXPECT_EQ(p.s(4), u32(field)) << value << " " << offset << " " << width;
        EXPECT_EQ(p.s(5), u32(sign_extended)) << value << " " << offset << " " << width;
        EXPECT_EQ(p.s(6), field != 0);
      }
  p.note();
}

TEST(Salu, MinimumSetsSccWhereTheFirstSourceIsTaken) {
  check_sop2("s_min_i32", false, false, [](u64 a, u64 b, u32) {
    bool first = i32(a) < i32(b);
    return Flagged{first ? a : b, first};
  });
  check_sop2("s_max_u32", false, false, [](u64 a, u64 b, u32) {
    bool first = a >= b;
    return Flagged{first ? a : b, first};
  });
}

TEST(Salu, MultiplicationLeavesSccAlone) {
  check_sop2("s_mul_i32", false, false, [](u64 a, u64 b, u32) { return Flagged{u32(a * b), -1}; });
  check_sop2("s_mul_hi_u32", false, false, [](u64 a, u64 b, u32) { return Flagged{a * b >> 32, -1}; });
  check_sop2("s_mul_hi_i32", false, false,
             [](u64 a, u64 b, u32) { return Flagged{u32(i64(i32(a)) * i32(b) >> 32), -1}; });
}

TEST(Salu, CountsAndSearchesOfBits) {
  Program p("s_bcnt1_i32_b64 s4, s[0:1]\ns_ff1_i32_b64 s5, s[0:1]\ns_flbit_i32_b64 s6, s[0:1]\ns_flbit_i32 s7, s0\n"
            "s_brev_b32 s8, s0\ns_ff0_i32_b32 s9, s0\ns_quadmask_b32 s10, s0\ns_wqm_b32 s11, s0\ns_abs_i32 s12, s0");
  auto run = [&](u64 value) {
    p.start();
    p.set64(0, value);
    p.run();
  };
  run(0x0000000080f00000);
  EXPECT_EQ(p.s(4), 5u);
  EXPECT_EQ(p.s(5), 20u);
  EXPECT_EQ(p.s(6), 32u);
  EXPECT_EQ(p.s(7), 1u);
  EXPECT_EQ(p.s(8), 0x00000f01u);
  EXPECT_EQ(p.s(9), 0u);
  EXPECT_EQ(p.s(10), 0b10100000u);
  EXPECT_EQ(p.s(11), 0xf0f00000u);
  EXPECT_EQ(p.s(12), 0x7f100000u);
  run(0);
  EXPECT_EQ(p.s(4), 0u);
  EXPECT_EQ(p.s(5), 0xffffffffu);
  EXPECT_EQ(p.s(6), 0xffffffffu);
  EXPECT_EQ(p.s(7), 0xffffffffu);
}

TEST(Salu, SixtyFourBitConstantsAreSignExtendedIntegersAndDoubles) {
  Program p("s_mov_b64 s[0:1], -2\ns_mov_b64 s[2:3], 1.0\ns_mov_b64 s[4:5], 0x89abcdef");
  p.run();
  EXPECT_EQ(p.s64(0), ~u64{1});
  EXPECT_EQ(p.s64(2), 0x3ff0000000000000u);
  EXPECT_EQ(p.s64(4), 0x89abcdefu);
}

TEST(Salu, SaveexecKeepsTheOldExecAndSetsScc) {
  Program p("s_and_saveexec_b64 s[4:5], s[0:1]\ns_cselect_b32 s6, 1, 0\ns_andn2_saveexec_b64 s[8:9], s[0:1]");
  p.start();
  p.set64(0, 0xff00);
  p.run();
  EXPECT_EQ(p.s64(4), all_lanes);
  EXPECT_EQ(p.s(6), 1u);
  EXPECT_EQ(p.s64(8), 0xff00u);
  EXPECT_EQ(p.wave().exec(), 0u);
  EXPECT_EQ(p.wave().scc, 0u);
}

TEST(Salu, ConditionCodesCanBeSources) {
  Program p("s_mov_b64 vcc, 0\ns_mov_b32 s0, vccz\ns_mov_b32 s1, execz\ns_cmp_eq_u32 s9, s9\ns_mov_b32 s2, scc");
  p.run();
  EXPECT_EQ(p.s(0), 1u);
  EXPECT_EQ(p.s(1), 0u);
  EXPECT_EQ(p.s(2), 1u);
}

TEST(Salu, ImmediateFormsSignExtendOrNot) {
  Program p("s_movk_i32 s0, 0x8000\ns_movk_i32 s1, 5\ns_addk_i32 s1, -7\ns_mulk_i32 s1, 3\n"
            "s_cmpk_eq_i32 s0, 0x8000\ns_cselect_b32 s2, 1, 0\ns_cmpk_gt_u32 s0, 0x8000\ns_cselect_b32 s3, 1, 0");
  p.run();
  EXPECT_EQ(p.s(0), 0xffff8000u);
  EXPECT_EQ(p.s(1), u32(-6));
  EXPECT_EQ(p.s(2), 1u);
  EXPECT_EQ(p.s(3), 1u);
}

TEST(Salu, RelativeMovesAddM0ToTheRegisterNumber) {
  Program p("s_mov_b32 m0, 3\ns_movrels_b32 s0, s10\ns_movreld_b32 s20, s11");
  p.start();
  p.s(13) = 77, p.s(11) = 55;
  p.run();
  EXPECT_EQ(p.s(0), 77u);
  EXPECT_EQ(p.s(23), 55u);
}

TEST(Salu, MaximumSetsSccOnEqualSourcesFromGfx942On) {
  for (const bool is_signed : {false, true})
    for (const isa::Processor processor :
         {isa::Processor::gfx908, isa::Processor::gfx90a, isa::Processor::gfx942, isa::Processor::gfx950}) {
      Program p(is_signed ? "s_max_i32 s4, s0, s2" : "s_max_u32 s4, s0, s2", processor);
      p.start();
      p.s(0) = p.s(2) = 5;
      p.run();
      EXPECT_EQ(p.wave().scc, processor >= isa::Processor::gfx942 ? 1u : 0u);
    }
}
