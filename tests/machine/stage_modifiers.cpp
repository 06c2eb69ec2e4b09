// Operand modifiers, whatever the instruction: signs, halves, packed selections, clamp and output scale, and what an
// operand may be. Programs are assembled, so decoding is tested too; floats are computed by MPFR.
#include "float_model.h"
#include "wave_fixture.h"

#include <bit>

namespace asmevo::machine {
namespace {

using namespace model;
using isa::Processor;
using u32 = uint32_t;
using u64 = uint64_t;
using H = Binary16;
using S = Binary32;
using D = Binary64;

constexpr unsigned registers = 16; // that are filled

using Fill = std::function<u32(unsigned lane, unsigned r)>;

/// Runs `text` with v0 to v15 as `fill` says and a few scalars.
std::unique_ptr<Program> ran(const std::string& text, const Fill& fill, uint32_t mode = usual_mode,
                             Processor processor = Processor::gfx942) {
  auto p = std::make_unique<Program>(text, processor);
  p->start();
  for (unsigned r = 0; r < registers; ++r) p->fill(r, [&](unsigned i) { return fill(i, r); });
  p->wave().mode = mode;
  p->run();
  EXPECT_EQ(p->end(), TurnEnd::finished) << p->fault() << text;
  return p;
}

/// Codes of a format by lane and register, the same whenever they are asked for. `set` 1 is another collection.
template <class F> typename F::Bits number_in(unsigned lane, unsigned r, unsigned set = 0) {
  static const auto all = [] {
    std::mt19937_64 random(5);
    std::vector<typename F::Bits> codes(2 * registers * lanes);
    for (auto& code : codes) code = interesting<F>(random);
    return codes;
  }();
  return all[(set * registers + r) * lanes + lane];
}
u32 words(unsigned lane, unsigned r) {
  static const auto all = [] {
    std::mt19937 random(5);
    std::vector<u32> values(registers * lanes);
    for (u32& value : values) value = interesting_word(random);
    return values;
  }();
  return all[r * lanes + lane];
}
u32 singles(unsigned lane, unsigned r) { return number_in<S>(lane, r); }
u32 half_pairs(unsigned lane, unsigned r) { return number_in<H>(lane, r) | u32{number_in<H>(lane, r, 1)} << 16; }
u32 doubles(unsigned lane, unsigned r) {
  const u64 bits = number_in<D>(lane, r & ~1u);
  return u32(r % 2 ? bits >> 32 : bits);
}

template <class F> bool same(typename F::Bits got, typename F::Bits wanted) {
  return got == wanted || (wanted == F::nan && nan_code<F>(got) && !signalling_code<F>(got));
}
template <class F> typename F::Bits signed_as(typename F::Bits x, unsigned neg, unsigned abs, unsigned k) {
  if (abs >> k & 1) x &= typename F::Bits(~F::sign);
  return neg >> k & 1 ? typename F::Bits(x ^ F::sign) : x;
}
std::string with_signs(const std::string& operand, unsigned neg, unsigned abs, unsigned k) {
  const std::string inner = abs >> k & 1 ? fmt::format("|{}|", operand) : operand;
  return neg >> k & 1 ? "-" + inner : inner;
}
int64_t i24(u32 x) { return int32_t(x << 8) >> 8; }
std::string list(unsigned bits, unsigned count) {
  std::string text;
  for (unsigned k = 0; k < count; ++k) text += fmt::format("{}{}", k ? "," : "", bits >> k & 1);
  return "[" + text + "]";
}

} // namespace

// Signs ---------------------------------------------------------------------------------------------------------------

TEST(StageModifiers, NegAndAbsApplyToEverySourceOfEveryFormat) {
  const Environment e = environment_of<S>(usual_mode);
  for (unsigned neg = 0; neg < 8; ++neg)
    for (unsigned abs = 0; abs < 8; ++abs) {
      const auto operand = [&](const char* name, unsigned k) { return with_signs(name, neg, abs, k); };
      const auto single =
          ran(fmt::format("v_fma_f32 v8, {}, {}, {}", operand("v1", 0), operand("v2", 1), operand("v3", 2)), singles);
      const auto wide = ran(
          fmt::format("v_fma_f64 v[8:9], {}, {}, {}", operand("v[2:3]", 0), operand("v[4:5]", 1), operand("v[6:7]", 2)),
          doubles);
      const auto half = ran(
          fmt::format("v_fma_f16 v8, {}, {}, {}", operand("v1", 0), operand("v2", 1), operand("v3", 2)), half_pairs);
      for (unsigned i = 0; i < lanes; ++i) {
        const auto fused = [&]<class F>(F, unsigned first, unsigned step) {
          const auto at = [&](unsigned k) { return signed_as<F>(number_in<F>(i, first + step * k), neg, abs, k); };
          return once<F>(mpfr_fma, e, at(0), at(1), at(2));
        };
        ASSERT_TRUE(same<S>(single->v(8).lane[i], fused(S{}, 1, 1))) << neg << abs << " lane " << i;
        ASSERT_TRUE(same<H>(uint16_t(half->v(8).lane[i]), fused(H{}, 1, 1))) << neg << abs << " lane " << i;
        ASSERT_TRUE(same<D>(u64{wide->v(9).lane[i]} << 32 | wide->v(8).lane[i], fused(D{}, 2, 2)))
            << neg << abs << " lane " << i;
      }
    }
}

TEST(StageModifiers, SignsOfScalarsConstantsAndComparesCount) {
  const auto p =
      ran("s_mov_b32 s2, 0x40400000\nv_mul_f32_e64 v8, -s2, |v1|\nv_mul_f32_e64 v9, -|s2|, v1\n"
          "v_add_f32_e64 v10, v1, -1.0\nv_cmp_lt_f32_e64 s[10:11], -|v1|, -v2\nv_cvt_i32_f32_e64 v11, -|v1|\n"
          "s_mov_b32 s4, 0\ns_mov_b32 s5, 0x40080000\nv_mul_f64 v[12:13], -s[4:5], 1.0",
          [](unsigned i, unsigned r) { return std::bit_cast<u32>((float(i) - 30.5f) * float(r)); });
  for (unsigned i = 0; i < lanes; ++i) {
    const float x = float(i) - 30.5f, y = 2 * x;
    const auto f = [&](unsigned r) { return std::bit_cast<float>(p->v(r).lane[i]); };
    ASSERT_EQ(f(8), -3 * std::fabs(x));
    ASSERT_EQ(f(9), -3 * x);
    ASSERT_EQ(f(10), x - 1);
    ASSERT_EQ(p->s64(10) >> i & 1, u64{-std::fabs(x) < -y});
    ASSERT_EQ(int(p->v(11).lane[i]), int(-std::fabs(x)));
    ASSERT_EQ(std::bit_cast<double>(u64{p->v(13).lane[i]} << 32 | p->v(12).lane[i]), -3.0);
  }
}

TEST(StageModifiers, NegAndAbsApplyToSelectedValues) {
  // v_cndmask is no arithmetic but takes them all the same.
  Program p("s_mov_b64 vcc, 0xffff\nv_cndmask_b32_e64 v3, v1, -v2, vcc\nv_cndmask_b32_e64 v4, |v1|, -|v2|, vcc\n"
            "v_cndmask_b32_sdwa v5, -v1, v2, vcc dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD");
  p.start();
  p.fill(1, [](unsigned i) { return 0x80000000u | i; });
  p.fill(2, [](unsigned i) { return 0x700u + i; });
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  for (unsigned i = 0; i < lanes; ++i) {
    EXPECT_EQ(p.v(3).lane[i], i < 16 ? 0x80000700u + i : 0x80000000u + i);
    EXPECT_EQ(p.v(4).lane[i], i < 16 ? 0x80000700u + i : i);
    EXPECT_EQ(p.v(5).lane[i], i < 16 ? 0x700u + i : i);
  }
}

// Halves --------------------------------------------------------------------------------------------------------------

TEST(StageModifiers, OpSelPicksHalvesOfSourcesAndOfTheDestination) {
  for (unsigned op_sel = 0; op_sel < 16; ++op_sel) {
    const auto p =
        ran(fmt::format("v_mad_u16 v8, v1, v2, v3 op_sel:{}\nv_mad_i32_i16 v9, v1, v2, v3 op_sel:{}\n"
                        "v_add_i16 v10, v1, v2 op_sel:[{},{},{}] clamp\nv_pack_b32_f16 v11, v1, v2 op_sel:[{},{},0]",
                        list(op_sel, 4), list(op_sel & 3, 4), op_sel & 1, op_sel >> 1 & 1, op_sel >> 3, op_sel & 1,
                        op_sel >> 1 & 1),
            words);
    for (unsigned i = 0; i < lanes; ++i) {
      const auto half = [&](unsigned k) { return words(i, 1 + k) >> (op_sel >> k & 1 ? 16 : 0) & 0xffff; };
      const auto into = [&](u32 value, unsigned r) {
        return op_sel & 8 ? value << 16 | (words(i, r) & 0xffff) : (value & 0xffff) | (words(i, r) & 0xffff0000);
      };
      ASSERT_EQ(p->v(8).lane[i], into(half(0) * half(1) + half(2), 8)) << op_sel;
      ASSERT_EQ(p->v(9).lane[i], u32(int16_t(half(0)) * int16_t(half(1))) + words(i, 3)) << op_sel;
      const int sum = std::clamp(int16_t(half(0)) + int16_t(half(1)), -32768, 32767);
      ASSERT_EQ(p->v(10).lane[i], into(u32(sum) & 0xffff, 10)) << op_sel;
      ASSERT_EQ(p->v(11).lane[i], half(0) | half(1) << 16) << op_sel;
    }
  }
}

TEST(StageModifiers, OpSelAndSignsOfHalvesCombine) {
  const Environment e = environment_of<H>(usual_mode);
  for (unsigned n = 0; n < 128; ++n) {
    const unsigned op_sel = n % 16, neg = n * 5 % 8, abs = n * 3 / 16;
    const auto operand = [&](unsigned k) { return with_signs(fmt::format("v{}", 1 + k), neg, abs, k); };
    const auto p =
        ran(fmt::format("v_fma_f16 v8, {}, {}, {} op_sel:{}", operand(0), operand(1), operand(2), list(op_sel, 4)),
            half_pairs);
    for (unsigned i = 0; i < lanes; ++i) {
      const auto half = [&](unsigned k) {
        return signed_as<H>(uint16_t(half_pairs(i, 1 + k) >> (op_sel >> k & 1 ? 16 : 0)), neg, abs, k);
      };
      const unsigned at = op_sel & 8 ? 16 : 0;
      ASSERT_TRUE(same<H>(uint16_t(p->v(8).lane[i] >> at), once<H>(mpfr_fma, e, half(0), half(1), half(2)))) << n;
      ASSERT_EQ(uint16_t(p->v(8).lane[i] >> (16 - at)), uint16_t(half_pairs(i, 8) >> (16 - at))) << n;
    }
  }
}

TEST(StageModifiers, OpSelOfAlignmentsPicksTheByteThatHoldsTheShift) {
  for (unsigned byte = 0; byte < 4; ++byte) {
    const auto p = ran(fmt::format("v_alignbit_b32 v8, v1, v2, v3 op_sel:[{0},{1},0,0]\nv_alignbyte_b32 v9, v1, v2, v3 "
                                   "op_sel:[{0},{1},0,0]",
                                   byte & 1, byte >> 1),
                       words);
    for (unsigned i = 0; i < lanes; ++i) {
      const u64 both = u64{words(i, 1)} << 32 | words(i, 2);
      const unsigned shift = words(i, 3) >> (8 * byte);
      ASSERT_EQ(p->v(8).lane[i], u32(both >> (shift & 31))) << byte;
      ASSERT_EQ(p->v(9).lane[i], u32(both >> (8 * (shift & 3)))) << byte;
    }
  }
}

TEST(StageModifiers, BytesOfSmallFloatsAreNamedByOpSelOrSdwa) {
  // 1, 2, 4 and 8 in the four bytes, in the target's FP8; results join an old word.
  const Fill fp8 = [](unsigned, unsigned r) {
    return r == 1 ? 0x50484038u : r == 2 ? std::bit_cast<u32>(1.0f) : r == 3 ? std::bit_cast<u32>(2.0f) : 0x11223344u;
  };
  for (unsigned byte = 0; byte < 4; ++byte) {
    const std::string in = fmt::format("op_sel:[{},{}]", byte & 1, byte >> 1), out = in.substr(8, 3);
    const auto p =
        ran(fmt::format("v_cvt_scalef32_f32_fp8 v8, v1, v2 {0}\nv_cvt_scalef32_sr_fp8_f32 v9, v3, v10, v2 "
                        "op_sel:[0,0,{1}]\nv_cvt_f32_fp8_sdwa v11, v1 src0_sel:BYTE_{2}\nv_cvt_sr_fp8_f32 v12, v3, "
                        "v10 op_sel:[0,0,{1}]\nv_cvt_scalef32_pk_f32_fp4 v[14:15], v2, v2 {0}",
                        in, out, byte),
            fp8, usual_mode, Processor::gfx950);
    const float value = std::ldexp(1.0f, int(byte));
    EXPECT_EQ(std::bit_cast<float>(p->v(8).lane[7]), value);
    EXPECT_EQ(std::bit_cast<float>(p->v(11).lane[7]), value);
    const u32 joined = (0x11223344u & ~(255u << (8 * byte))) | 0x40u << (8 * byte); // 2 in OCP FP8
    EXPECT_EQ(p->v(9).lane[7], joined);
    EXPECT_EQ(p->v(12).lane[7], joined);
    // Bytes of 1.0f as two FP4 each: 0x3f800000.
    constexpr float pairs[4][2] = {{0, 0}, {0, 0}, {0, -0.0f}, {-6, 1.5f}};
    for (unsigned k = 0; k < 2; ++k)
      EXPECT_EQ(std::bit_cast<float>(p->v(14 + k).lane[7]), pairs[byte][k]);
  }
  for (unsigned half = 0; half < 2; ++half) {
    const auto p =
        ran(fmt::format("v_cvt_scalef32_f16_fp8 v8, v1, v2 op_sel:[1,0,{0}]\nv_cvt_scalef32_pk_f16_fp8 v9, v1, "
                        "v2 op_sel:[{0},0,0]\nv_cvt_pk_f32_fp8_sdwa v[10:11], v1 src0_sel:WORD_{0}\n"
                        "v_cvt_pk_fp8_f32 v12, -v2, |v3| op_sel:[0,0,{0}]\nv_cvt_sr_bf16_f32 v13, v3, v14 "
                        "op_sel:[0,0,{0}]",
                        half),
            fp8, usual_mode, Processor::gfx950);
    EXPECT_EQ(p->v(8).lane[7], half ? 0x40003344u : 0x11224000u); // the second byte, 2
    EXPECT_EQ(p->v(9).lane[7], half ? 0x48004400u : 0x40003c00u); // 8 and 4, or 2 and 1
    EXPECT_EQ(std::bit_cast<float>(p->v(10).lane[7]), half ? 4.0f : 1.0f);
    EXPECT_EQ(std::bit_cast<float>(p->v(11).lane[7]), half ? 8.0f : 2.0f);
    EXPECT_EQ(p->v(12).lane[7], half ? 0x40b83344u : 0x112240b8u);
    EXPECT_EQ(p->v(13).lane[7], half ? 0x40003344u : 0x11224000u);
  }
}

TEST(StageModifiers, TruthTablesAreSpreadOverOtherModifiers) {
  for (const unsigned truth : {0x96u, 0xe8u, 0x01u, 0x80u, 0x5cu}) {
    const auto p =
        ran(fmt::format("v_bitop3_b32 v8, v1, v2, v3 bitop3:{0:#x}\nv_bitop3_b16 v9, v1, v2, v3 bitop3:{0:#x} "
                        "op_sel:[1,0,1,1]",
                        truth),
            words, usual_mode, Processor::gfx950);
    const auto combined = [&](u32 a, u32 b, u32 c) {
      u32 result = 0;
      for (unsigned n = 0; n < 32; ++n)
        result |= (truth >> ((a >> n & 1) << 2 | (b >> n & 1) << 1 | (c >> n & 1)) & 1) << n;
      return result;
    };
    for (unsigned i = 0; i < lanes; ++i) {
      ASSERT_EQ(p->v(8).lane[i], combined(words(i, 1), words(i, 2), words(i, 3))) << truth;
      const u32 half = combined(words(i, 1) >> 16, words(i, 2), words(i, 3) >> 16);
      ASSERT_EQ(p->v(9).lane[i], half << 16 | (words(i, 9) & 0xffff)) << truth;
    }
  }
}

// Packed --------------------------------------------------------------------------------------------------------------

TEST(StageModifiers, PackedIntegersTakeEachHalfFromWhereOpSelSays) {
  for (unsigned op_sel = 0; op_sel < 8; ++op_sel)
    for (unsigned op_sel_hi = 0; op_sel_hi < 8; ++op_sel_hi) {
      const auto p =
          ran(fmt::format("v_pk_mad_u16 v8, v1, v2, v3 op_sel:{} op_sel_hi:{}", list(op_sel, 3), list(op_sel_hi, 3)),
              words);
      for (unsigned i = 0; i < lanes; ++i)
        for (unsigned part = 0; part < 2; ++part) {
          const auto half = [&](unsigned k) {
            return words(i, 1 + k) >> ((part ? op_sel_hi : op_sel) >> k & 1 ? 16 : 0) & 0xffff;
          };
          ASSERT_EQ(p->v(8).lane[i] >> (16 * part) & 0xffff, (half(0) * half(1) + half(2)) & 0xffff)
              << op_sel << op_sel_hi;
        }
    }
}

TEST(StageModifiers, PackedHalvesHaveSignsOfTheirOwn) {
  const Environment e = environment_of<H>(usual_mode);
  for (unsigned n = 0; n < 256; ++n) {
    const unsigned op_sel = n % 8, op_sel_hi = n / 8 % 8, neg_lo = n * 7 / 4 % 8, neg_hi = n * 5 / 32 % 8;
    const auto p = ran(fmt::format("v_pk_fma_f16 v8, v1, v2, v3 op_sel:{} op_sel_hi:{} neg_lo:{} neg_hi:{}",
                                   list(op_sel, 3), list(op_sel_hi, 3), list(neg_lo, 3), list(neg_hi, 3)),
                       half_pairs);
    for (unsigned i = 0; i < lanes; ++i)
      for (unsigned part = 0; part < 2; ++part) {
        const auto half = [&](unsigned k) {
          const auto bits = uint16_t(half_pairs(i, 1 + k) >> ((part ? op_sel_hi : op_sel) >> k & 1 ? 16 : 0));
          return signed_as<H>(bits, part ? neg_hi : neg_lo, 0, k);
        };
        ASSERT_TRUE(same<H>(uint16_t(p->v(8).lane[i] >> (16 * part)), once<H>(mpfr_fma, e, half(0), half(1), half(2))))
            << n << " lane " << i;
      }
  }
}

TEST(StageModifiers, PackedSinglesPickAmongTheDwordsOfAPair) {
  const Environment e = environment_of<S>(usual_mode);
  for (const Processor on : {Processor::gfx90a, Processor::gfx950})
    for (unsigned n = 0; n < 128; ++n) {
      const unsigned op_sel = n % 8, op_sel_hi = n / 8 % 8, neg_lo = n * 7 / 4 % 8, neg_hi = n * 5 / 16 % 8;
      const bool scalar = n % 3 == 0;
      const auto p =
          ran(fmt::format("s_mov_b32 s2, 0x40400000\ns_mov_b32 s3, 0xbf000000\n"
                          "v_pk_fma_f32 v[8:9], {}, v[4:5], v[6:7] op_sel:{} op_sel_hi:{} neg_lo:{} neg_hi:{}",
                          scalar ? "s[2:3]" : "v[2:3]", list(op_sel, 3), list(op_sel_hi, 3), list(neg_lo, 3),
                          list(neg_hi, 3)),
              singles, usual_mode, on);
      for (unsigned i = 0; i < lanes; ++i)
        for (unsigned part = 0; part < 2; ++part) {
          const auto at = [&](unsigned k) {
            const unsigned dword = (part ? op_sel_hi : op_sel) >> k & 1;
            const u32 bits = scalar && k == 0 ? (dword ? 0xbf000000 : 0x40400000) : singles(i, 2 + 2 * k + dword);
            return signed_as<S>(bits, part ? neg_hi : neg_lo, 0, k);
          };
          ASSERT_TRUE(same<S>(p->v(8 + part).lane[i], once<S>(mpfr_fma, e, at(0), at(1), at(2)))) << n << " lane " << i;
        }
    }
}

TEST(StageModifiers, ConstantsOfPackedHalvesAreWordsWithTheNumberInTheLowHalf) {
  const auto p = ran("v_pk_add_u16 v8, v1, 3\nv_pk_add_u16 v9, v1, -2\nv_pk_add_u16 v10, v1, 3 op_sel_hi:[1,0]\n"
                     "v_pk_mul_f16 v11, v2, 2.0 op_sel_hi:[1,0]\nv_pk_mul_f16 v12, v2, 2.0\nv_pk_mul_f32 v[14:15], "
                     "v[2:3], 2.0 op_sel_hi:[1,0]",
                     [](unsigned i, unsigned r) { return r == 2   ? 0x42003c00
                                                         : r == 3 ? 0x3f800000
                                                                  : words(i, r); });
  for (unsigned i = 0; i < lanes; ++i) {
    const auto sum = [&](u32 low, u32 high) {
      return ((words(i, 1) + low) & 0xffff) | ((words(i, 1) >> 16) + high) << 16;
    };
    ASSERT_EQ(p->v(8).lane[i], sum(3, 0));
    ASSERT_EQ(p->v(9).lane[i], sum(u32(-2), 0xffff)); // integers are sign-extended
    ASSERT_EQ(p->v(10).lane[i], sum(3, 3));
    ASSERT_EQ(p->v(11).lane[i], 0x46004000u); // 1 and 3 times 2
    ASSERT_EQ(p->v(12).lane[i], 0x00004000u);
    ASSERT_EQ(p->v(15).lane[i], 0x40000000u);
  }
}

TEST(StageModifiers, MixedSourcesAreSinglesOrHalvesWithSigns) {
  const Environment e = environment_of<S>(usual_mode);
  for (unsigned n = 0; n < 256; ++n) {
    const unsigned op_sel = n % 8, op_sel_hi = n / 8 % 8, neg = n * 7 / 4 % 8, abs = n * 5 / 32 % 8;
    const auto operand = [&](unsigned k) { return with_signs(fmt::format("v{}", 1 + k), neg, abs, k); };
    const Fill fill = [&](unsigned i, unsigned r) {
      return r >= 1 && r <= 3 && op_sel_hi >> (r - 1) & 1 ? half_pairs(i, r) : singles(i, r);
    };
    const auto p = ran(fmt::format("v_fma_mix_f32 v8, {}, {}, {} op_sel:{} op_sel_hi:{}", operand(0), operand(1),
                                   operand(2), list(op_sel & op_sel_hi, 3), list(op_sel_hi, 3)),
                       fill);
    for (unsigned i = 0; i < lanes; ++i) {
      bool nan = false;
      const auto at = [&](unsigned k) {
        u32 bits = fill(i, 1 + k);
        if (op_sel_hi >> k & 1) {
          const auto half = uint16_t(bits >> (op_sel >> k & 1 ? 16 : 0));
          bits = nan_code<H>(half) ? S::nan : code<S>(number<H>(half), {});
        }
        nan |= nan_code<S>(bits);
        return signed_as<S>(bits, neg, abs, k);
      };
      const u32 a = at(0), b = at(1), c = at(2), wanted = nan ? S::nan : once<S>(mpfr_fma, e, a, b, c);
      const u32 got = p->v(8).lane[i];
      ASSERT_TRUE(nan ? nan_code<S>(got) : same<S>(got, wanted)) << n << " lane " << i;
    }
  }
}

TEST(StageModifiers, DotProductsTakeSignsOfEachHalf) {
  for (unsigned n = 0; n < 16; ++n) {
    const auto p =
        ran(fmt::format("v_dot2_f32_f16 v8, v1, v2, v3 neg_lo:{} neg_hi:{}", list(n & 3, 3), list(n >> 2, 3)),
            [](unsigned i, unsigned r) {
              const auto half = [](float x) { return u32(std::bit_cast<uint16_t>(_Float16(x))); };
              if (r == 3) return std::bit_cast<u32>(float(i));
              return half(float(i % 9) - 4 + float(r)) | half(float(i % 5) - float(r)) << 16;
            });
    for (unsigned i = 0; i < lanes; ++i) {
      const auto low = [&](unsigned r) { return float(i % 9) - 4 + float(r); };
      const auto high = [&](unsigned r) { return float(i % 5) - float(r); };
      const auto sign = [&](unsigned bits) { return std::popcount(bits) % 2 ? -1.0f : 1.0f; };
      const float wanted = sign(n & 3) * low(1) * low(2) + sign(n >> 2) * high(1) * high(2) + float(i);
      ASSERT_EQ(std::bit_cast<float>(p->v(8).lane[i]), wanted) << n << " lane " << i;
    }
  }
}

// Results -------------------------------------------------------------------------------------------------------------

/// Output scale, where it works at all, then clamp. `x` has been rounded already; denormals do not exist where the
/// scale works.
template <class F> typename F::Bits finished(typename F::Bits x, unsigned omod, bool clamp, uint32_t mode) {
  const Environment e = environment_of<F>(mode);
  constexpr int powers[] = {0, 1, 2, -1};
  if (omod && !e.ieee && e.flush_outputs && !nan_code<F>(x)) {
    Real r = number<F>(denormal_code<F>(x) ? typename F::Bits(x & F::sign) : x);
    mpfr_mul_2si(r.get(), r.get(), powers[omod], MPFR_RNDN);
    Real smallest(1);
    mpfr_mul_2si(smallest.get(), smallest.get(), F::min_exponent, MPFR_RNDN);
    if (mpfr_regular_p(r.get()) && mpfr_cmpabs(r.get(), smallest.get()) < 0)
      mpfr_set_zero(r.get(), mpfr_signbit(r.get()) ? -1 : 1);
    x = code<F>(r, e);
  }
  if (!clamp) return x;
  if (nan_code<F>(x)) return mode & mode::dx10_clamp ? typename F::Bits{0} : x;
  const Real r = number<F>(x);
  if (mpfr_sgn(r.get()) < 0 || x == F::sign) return 0;
  const auto one = typename F::Bits(typename F::Bits(F::bias) << F::fraction_bits);
  return mpfr_cmp_ui(r.get(), 1) > 0 ? one : x;
}

template <class F> void check_result_modifiers(const std::string& text, const Fill& fill, bool scales, unsigned pairs) {
  for (const uint32_t base : every_mode<F>())
    for (const bool dx10 : {false, true})
      for (unsigned omod = 0; omod < (scales ? 4u : 1u); ++omod)
        for (const bool clamp : {false, true}) {
          if (!omod && !clamp) continue;
          constexpr const char* names[] = {"", " mul:2", " mul:4", " div:2"};
          const uint32_t mode = dx10 ? base | mode::dx10_clamp : base & ~mode::dx10_clamp;
          const auto p = ran(text + (clamp ? " clamp" : "") + names[omod], fill, mode);
          const Environment e = environment_of<F>(mode);
          for (unsigned i = 0; i < lanes; ++i)
            for (unsigned part = 0; part < pairs; ++part) { // two halves or two singles
              const auto at = [&](unsigned r) {
                if (F::width == 64) return typename F::Bits(u64{fill(i, r + 1)} << 32 | fill(i, r));
                if (F::width == 32) return typename F::Bits(fill(i, r + part));
                return typename F::Bits(fill(i, r) >> (16 * part));
              };
              const u64 got = F::width == 64   ? u64{p->v(9).lane[i]} << 32 | p->v(8).lane[i]
                              : F::width == 32 ? p->v(8 + part).lane[i]
                                               : p->v(8).lane[i] >> (16 * part);
              const auto sum = once<F>(mpfr_add, e, at(2), at(4));
              const auto wanted = finished<F>(sum, omod, clamp, mode);
              ASSERT_TRUE(same<F>(typename F::Bits(got), wanted))
                  << text << names[omod] << (clamp ? " clamp" : "") << std::hex << " mode " << mode << " " << +at(2)
                  << " + " << +at(4) << ": " << got << ", not " << +wanted;
            }
        }
}

TEST(StageModifiers, ResultsAreScaledWhereDenormalsAndIeeeAreOffAndThenClamped) {
  check_result_modifiers<S>("v_add_f32_e64 v8, v2, v4", singles, true, 1);
  check_result_modifiers<D>("v_add_f64 v[8:9], v[2:3], v[4:5]", doubles, true, 1);
  check_result_modifiers<H>("v_add_f16_e64 v8, v2, v4", half_pairs, true, 1);
  check_result_modifiers<H>("v_pk_add_f16 v8, v2, v4", half_pairs, false, 2);
  check_result_modifiers<S>("v_pk_add_f32 v[8:9], v[2:3], v[4:5]", singles, false, 2);
}

TEST(StageModifiers, ClampOfExtremesMakesZeroOfNanUnderDx10AndKeepsItElse) {
  for (const bool dx10 : {false, true}) {
    const auto p = ran(
        "v_min3_f32 v8, v1, v1, v1 clamp\nv_max3_f32 v9, v1, v1, v1 clamp\nv_med3_f32 v10, v1, v1, v1 clamp\n"
        "v_max_f32_e64 v11, v1, v1 clamp\nv_fma_mix_f32 v12, v1, 1.0, 0 clamp",
        [](unsigned, unsigned) { return 0x7fc00123; }, 0xf0 | (dx10 ? mode::dx10_clamp : 0));
    for (unsigned r = 8; r < 13; ++r) {
      if (dx10)
        EXPECT_EQ(p->v(r).lane[0], 0u) << r;
      else
        EXPECT_TRUE(nan_code<S>(p->v(r).lane[0])) << r;
    }
  }
}

TEST(StageModifiers, IntegersSaturateWhereClampIsSet) {
  struct Saturating {
    const char* text;
    int64_t (*exact)(u32 a, u32 b, u32 c);
    int64_t low, high;
  };
  constexpr int64_t imin = -0x80000000ll, imax = 0x7fffffff, umax = 0xffffffff;
  const Saturating all[] = {
      {"v_add_u32_e64 v8, v1, v2", [](u32 a, u32 b, u32) { return int64_t{a} + b; }, 0, umax},
      {"v_sub_u32_e64 v8, v1, v2", [](u32 a, u32 b, u32) { return int64_t{a} - b; }, 0, umax},
      {"v_subrev_u32_e64 v8, v1, v2", [](u32 a, u32 b, u32) { return int64_t{b} - a; }, 0, umax},
      {"v_add_i32 v8, v1, v2", [](u32 a, u32 b, u32) { return int64_t{int32_t(a)} + int32_t(b); }, imin, imax},
      {"v_sub_i32 v8, v1, v2", [](u32 a, u32 b, u32) { return int64_t{int32_t(a)} - int32_t(b); }, imin, imax},
      {"v_add_co_u32_e64 v8, s[10:11], v1, v2", [](u32 a, u32 b, u32) { return int64_t{a} + b; }, 0, umax},
      {"v_sub_co_u32_e64 v8, s[10:11], v1, v2", [](u32 a, u32 b, u32) { return int64_t{a} - b; }, 0, umax},
      {"v_mad_u32_u24 v8, v1, v2, v3", [](u32 a, u32 b, u32 c) { return int64_t{a & 0xffffff} * (b & 0xffffff) + c; },
       0, umax},
      {"v_mad_i32_i24 v8, v1, v2, v3", [](u32 a, u32 b, u32 c) { return i24(a) * i24(b) + int32_t(c); }, imin, imax},
      {"v_mad_u32_u16 v8, v1, v2, v3", [](u32 a, u32 b, u32 c) { return int64_t{a & 0xffff} * (b & 0xffff) + c; }, 0,
       umax},
      {"v_sad_u32 v8, v1, v2, v3", [](u32 a, u32 b, u32 c) { return int64_t{a > b ? a - b : b - a} + c; }, 0, umax},
      {"v_add_u16_e64 v8, v1, v2", [](u32 a, u32 b, u32) { return int64_t{a & 0xffff} + (b & 0xffff); }, 0, 0xffff},
      {"v_sub_u16_e64 v8, v1, v2", [](u32 a, u32 b, u32) { return int64_t{a & 0xffff} - (b & 0xffff); }, 0, 0xffff},
  };
  for (const Saturating& s : all) {
    const auto p = ran(std::string(s.text) + " clamp", words);
    for (unsigned i = 0; i < lanes; ++i)
      ASSERT_EQ(p->v(8).lane[i], u32(std::clamp(s.exact(words(i, 1), words(i, 2), words(i, 3)), s.low, s.high)))
          << s.text;
  }
}

// Operands ------------------------------------------------------------------------------------------------------------

TEST(StageModifiers, OperandsAreWhatTheirCodesSay) {
  struct Source {
    const char* text;
    u64 value;
  };
  const auto single = [](float x) { return u64{std::bit_cast<u32>(x)}; };
  const Source words32[] = {{"0", 0},
                            {"64", 64},
                            {"-1", 0xffffffff},
                            {"-16", u32(-16)},
                            {"0.5", single(0.5f)},
                            {"-0.5", single(-0.5f)},
                            {"1.0", single(1)},
                            {"-1.0", single(-1)},
                            {"2.0", single(2)},
                            {"-2.0", single(-2)},
                            {"4.0", single(4)},
                            {"-4.0", single(-4)},
                            {"0.15915494", 0x3e22f983},
                            {"0x12345678", 0x12345678},
                            {"s6", 0x89abcdef},
                            {"vcc_lo", 0x11112222},
                            {"vcc_hi", 0x33334444},
                            {"m0", 0x55556666},
                            {"exec_lo", 0xffffffff},
                            {"src_vccz", 0},
                            {"src_execz", 0},
                            {"src_scc", 1}};
  const std::string setup = "s_mov_b32 s6, 0x89abcdef\ns_mov_b32 vcc_lo, 0x11112222\ns_mov_b32 vcc_hi, 0x33334444\n"
                            "s_mov_b32 m0, 0x55556666\ns_mov_b32 s7, 0x40080000\ns_cmp_eq_u32 s6, s6\n";
  for (const Source& s : words32)
    EXPECT_EQ(ran(setup + "v_mov_b32_e32 v8, " + s.text, words)->v(8).lane[40], s.value) << s.text;
  const auto half = [](float x) { return u64{std::bit_cast<uint16_t>(_Float16(x))}; };
  for (const auto& [text, x] : {std::pair{"0.5", 0.5f}, {"-4.0", -4.0f}, {"1.0", 1.0f}, {"0.15915494", 0.15915494f}})
    EXPECT_EQ(ran(fmt::format("v_max_f16_e64 v8, {0}, {0}", text), words)->v(8).lane[40], half(x)) << text;
  const auto bits = [](double x) { return std::bit_cast<u64>(x); };
  const Source doubles64[] = {{"0.5", bits(0.5)},
                              {"-2.0", bits(-2)},
                              {"0.15915494309189532", 0x3fc45f306dc9c882},
                              {"s[6:7]", 0x4008000089abcdef},
                              {"v[2:3]", u64{words(40, 3)} << 32 | words(40, 2)}};
  for (const Source& s : doubles64) {
    const auto p = ran(setup + "v_ldexp_f64 v[8:9], " + s.text + ", 0", words, 0xf0);
    EXPECT_EQ(u64{p->v(9).lane[40]} << 32 | p->v(8).lane[40], s.value) << s.text;
  }
  for (const Source& s : {Source{"5", 5}, {"-3", u64(-3)}, {"s[6:7]", 0x4008000089abcdef}}) {
    const auto p = ran(setup + "v_lshlrev_b64 v[8:9], 0, " + s.text, words);
    EXPECT_EQ(u64{p->v(9).lane[40]} << 32 | p->v(8).lane[40], s.value) << s.text;
  }
  // A literal of a double is its upper half.
  EXPECT_EQ(ran("v_cvt_f32_f64_e32 v8, 0x40080000", words)->v(8).lane[40], single(3));
}

} // namespace asmevo::machine
