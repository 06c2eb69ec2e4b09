// 16-bit instructions that become packed ones, and those that must not.
#include "search/drivers/rewrite/rules.h"

#include "rewrite_run.h"

#include <random>

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

/// v1 to v6 hold two halves each; what `body` leaves in v[10:13] is stored.
std::string with(const std::string& body) {
  std::string text = "v_cvt_f32_u32_e32 v1, v0\nv_lshlrev_b32_e32 v0, 4, v0\ns_movk_i32 s4, 0x4248\n";
  for (int v = 2; v < 8; ++v) text += fmt::format("v_sqrt_f32_e32 v{}, v{}\ns_nop 0\n", v, v - 1);
  for (int v = 1; v < 7; ++v) text += fmt::format("v_cvt_pkrtz_f16_f32 v{0}, v{0}, v{1}\n", v, v + 1);
  for (int v = 10; v < 14; ++v) text += fmt::format("v_mov_b32_e32 v{}, v{}\n", v, v - 9);
  return text + "s_nop 2\ns_branch go\ngo:\n" + body + "global_store_dwordx4 v0, v[10:13], s[0:1]\ns_endpgm\n";
}

std::string after(const std::string& body) {
  const recover::Program program = program_of(body);
  const std::vector<Idea> ideas = packed_halves(facts_of(program));
  return ideas.empty() ? "(none)" : applied(program, ideas[0]);
}

std::string expect_same(const std::string& part, const std::string& expected) {
  const std::string body = with(part), text = after(body);
  EXPECT_NE(text.find(expected), text.npos) << text;
  EXPECT_NE(text, "(none)") << body;
  if (text != "(none)") {
    EXPECT_EQ(results_of(text).value(), results_of(body).value()) << text;
  }
  return text;
}

constexpr std::string_view upper = "dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:WORD_1\n";

size_t count(const std::string& text, std::string_view what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
  return found;
}

} // namespace

TEST(PackedHalves, BothHalvesOfARegisterAreComputedAtOnce) {
  for (const char* name : {"mul", "add", "max", "min", "sub", "subrev"}) {
    const std::string packed = name == std::string_view("sub") || name == std::string_view("subrev") ? "add" : name;
    const std::string text = expect_same(fmt::format("v_{0}_f16_e32 v15, v1, v2\nv_{0}_f16_sdwa v16, v1, v2 {1}"
                                                     "v_{0}_f16_e32 v15, v15, v3\nv_lshrrev_b32_e32 v17, 16, v3\n"
                                                     "v_{0}_f16_e32 v16, v16, v17\nv_lshl_or_b32 v10, v16, 16, v15\n",
                                                     name, upper),
                                         fmt::format("v_pk_{}_f16", packed));
    EXPECT_EQ(count(text, "v_pk_"), 2u) << text;
    EXPECT_EQ(count(text, "_sdwa"), 0u) << text;
    EXPECT_EQ(count(text, "v_lshl_or"), 0u) << text;
  }
}

TEST(PackedHalves, IntegersToo) {
  for (const char* name : {"add_u16", "sub_u16", "mul_lo_u16", "max_u16", "min_u16", "max_i16", "min_i16",
                           "lshlrev_b16", "lshrrev_b16", "ashrrev_i16"})
    expect_same(
        fmt::format("v_{0}_e32 v15, v1, v2\nv_{0}_sdwa v16, v1, v2 {1}v_lshl_or_b32 v10, v16, 16, v15\n", name, upper),
        fmt::format("v_pk_{} ", name));
}

TEST(PackedHalves, EitherHalfMayBeEitherOperandAndSignsStay) {
  const std::string back = "v_pack_b32_f16 v10, v15, v16\n";
  expect_same("v_mul_f16_e32 v15, v1, v2\nv_mul_f16_sdwa v16, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD "
              "src0_sel:WORD_0 src1_sel:WORD_1\n" +
                  back,
              "op_sel_hi:[0,1]");
  expect_same("v_mul_f16_sdwa v15, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:DWORD\n"
              "v_mul_f16_e32 v16, v1, v2\n" +
                  back,
              "op_sel:[1,0] op_sel_hi:[0,0]");
  expect_same("v_fma_f16 v15, -v1, v2, v3\nv_lshrrev_b32_e32 v17, 16, v1\nv_lshrrev_b32_e32 v18, 16, v2\n"
              "v_lshrrev_b32_e32 v19, 16, v3\nv_fma_f16 v16, v17, v18, -v19\n" +
                  back,
              "neg_lo:[1,0,0] neg_hi:[0,0,1]");
  // Constants and scalars are the same for both.
  expect_same("v_mul_f16_e32 v15, 2.0, v1\nv_lshrrev_b32_e32 v17, 16, v1\nv_mul_f16_e32 v16, 2.0, v17\n" + back,
              "op_sel_hi:[0,1]");
  expect_same("v_mul_f16_e32 v15, s4, v1\nv_lshrrev_b32_e32 v17, 16, v1\nv_mul_f16_e32 v16, s4, v17\n" + back,
              "op_sel_hi:[0,1]");
  // Factors change places.
  expect_same("v_mul_f16_e32 v15, v1, v2\nv_mul_f16_sdwa v16, v2, v1 " + std::string(upper) + back, "v_pk_mul_f16");
}

TEST(PackedHalves, NumbersInRegistersOfTheirOwnAreBroughtTogetherWhereThatIsWorthIt) {
  std::string chain; // v20 to v23 hold one each
  for (int v = 20; v < 24; ++v) chain += fmt::format("v_and_b32_e32 v{}, 0xffff, v{}\n", v, v - 19);
  chain += "v_mul_f16_e32 v15, v20, v22\nv_fma_f16 v15, v20, v20, v15\nv_add_f16_e32 v15, v15, v22\n"
           "v_mul_f16_e32 v16, v21, v23\nv_fma_f16 v16, v21, v21, v16\nv_add_f16_e32 v16, v16, v23\n";
  const std::string stored = chain + "global_store_short v0, v15, s[0:1] offset:2048\n"
                                     "global_store_short v0, v16, s[0:1] offset:2050\n";
  const std::string text = expect_same(stored, "global_store_short_d16_hi");
  EXPECT_EQ(count(text, "v_pk_"), 3u) << text;
  EXPECT_EQ(count(text, "v_lshl_or_b32"), 2u) << text;
  const std::string wide = chain + "v_cvt_f32_f16_e32 v10, v15\nv_cvt_f32_f16_e32 v11, v16\n";
  EXPECT_NE(expect_same(wide, "v_cvt_f32_f16_sdwa").find("src0_sel:WORD_1"), std::string::npos);
  // One product is not.
  const std::string one = "v_mul_f16_e32 v10, v20, v22\nv_mul_f16_e32 v11, v21, v23\n";
  EXPECT_EQ(after(with(chain.substr(0, chain.find("v_mul")) + one)), "(none)");
  // Something may be in the upper halves.
  EXPECT_EQ(after(with(stored.substr(stored.find("v_mul")))), "(none)");
}

TEST(PackedHalves, OthersFindBothResultsWhereTheyWere) {
  // v15 and v16 are read as whole registers.
  const std::string text =
      expect_same("v_mul_f16_e32 v15, v1, v2\nv_mul_f16_sdwa v16, v1, v2 " + std::string(upper) +
                      "v_add_f16_e32 v17, v15, v3\nv_add_f16_sdwa v18, v16, v3 dst_sel:DWORD dst_unused:UNUSED_PAD "
                      "src0_sel:DWORD src1_sel:WORD_1\nv_mul_f16_e32 v17, v17, v17\nv_mul_f16_e32 v18, v18, v18\n"
                      "v_lshl_or_b32 v10, v18, 16, v17\nv_or_b32_e32 v11, v15, v17\n",
                  "v_pk_add_f16");
  EXPECT_EQ(count(text, "0xffff, v"), 2u) << text;
  // What v_fma_f16 keeps in the upper half of its destination is looked at.
  EXPECT_EQ(after(with("v_fma_f16 v10, v1, v2, v3\nv_lshrrev_b32_e32 v17, 16, v1\nv_lshrrev_b32_e32 v18, 16, v2\n"
                       "v_lshrrev_b32_e32 v19, 16, v3\nv_fma_f16 v11, v17, v18, v19\n")),
            "(none)");
}

TEST(PackedHalves, LanesThatDoNotTakePartKeepWhatTheyHave) {
  const std::string pair = "v_mul_f16_e32 v15, v1, v2\nv_mul_f16_sdwa v16, v1, v2 " + std::string(upper) +
                           "v_mul_f16_e32 v15, v15, v3\nv_lshrrev_b32_e32 v17, 16, v3\nv_mul_f16_e32 v16, v16, v17\n"
                           "v_mul_f16_e32 v15, v15, v15\nv_mul_f16_e32 v16, v16, v16\n";
  const std::string masked = "v_mov_b32_e32 v15, 7\nv_mov_b32_e32 v16, 9\ns_mov_b64 s[6:7], exec\n"
                             "s_mov_b64 exec, 0xff0\n" +
                             pair + "s_mov_b64 exec, s[6:7]\n";
  expect_same(masked + "v_mov_b32_e32 v10, v15\nv_mov_b32_e32 v11, v16\n", "v_pk_mul_f16");
  // The shift ran for fewer lanes than the product.
  const std::string text = after(with("v_mov_b32_e32 v17, v4\ns_mov_b64 s[6:7], exec\ns_mov_b64 exec, 0xff0\n"
                                      "v_lshrrev_b32_e32 v17, 16, v3\ns_mov_b64 exec, s[6:7]\n"
                                      "v_mul_f16_e32 v15, v3, v3\nv_mul_f16_e32 v16, v17, v17\n"
                                      "v_lshl_or_b32 v10, v16, 16, v15\n"));
  EXPECT_EQ(text.find("v_pk_mul_f16 v24, v3"), std::string::npos) << text;
}

TEST(PackedHalves, AHalfIsNotReadFromARegisterThatIsWrittenAgain) {
  const std::string text = after(with("v_lshrrev_b32_e32 v17, 16, v3\nv_mul_f16_e32 v15, v3, v3\nv_mov_b32_e32 v3, v4\n"
                                      "v_mul_f16_e32 v16, v17, v17\nv_mov_b32_e32 v11, v3\n"
                                      "v_lshl_or_b32 v10, v16, 16, v15\n"));
  EXPECT_EQ(text, "(none)");
}

TEST(PackedHalves, DifferencesAreSumsOnlyWhereFloatsMayDiffer) {
  const recover::Program program = program_of(with("v_sub_f16_e32 v15, v1, v2\nv_sub_f16_sdwa v16, v1, v2 " +
                                                   std::string(upper) + "v_lshl_or_b32 v10, v16, 16, v15\n"));
  EXPECT_EQ(packed_halves(facts_of(program)).size(), 1u);
  const Facts exact = gather({.program = &program, .function = &program.functions.front(), .codec = &codec()});
  EXPECT_TRUE(packed_halves(exact).empty());
}

namespace {

/// Two columns of 16-bit arithmetic, with instructions between them that read and write whatever they like.
class RandomBlock {
public:
  explicit RandomBlock(unsigned seed) : random_(seed) {
    for (int v = 1; v < 7; ++v) numbers_.push_back({v, v});
  }

  std::string text() {
    std::string body;
    for (int round = 0; round < 5; ++round) {
      const std::string name = pick({"v_mul_f16", "v_add_f16", "v_sub_u16", "v_min_f16", "v_add_u16", "v_max_i16"});
      const auto a = numbers_[random_() % numbers_.size()], b = numbers_[random_() % numbers_.size()];
      const int low = 10 + int(random_() % 8), high = 10 + (low - 9 + int(random_() % 7)) % 8;
      body += fmt::format("{}_e32 v{}, v{}, v{}\n", name, low, a.low, b.low);
      if (random_() % 3 == 0) body += noise();
      body +=
          fmt::format("{}_sdwa v{}, v{}, v{} dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:{} src1_sel:{}\n", name, high,
                      a.high, b.high, a.low == a.high ? "WORD_1" : "DWORD", b.low == b.high ? "WORD_1" : "DWORD");
      if (random_() % 3 == 0) body += noise();
      std::erase_if(numbers_,
                    [&](const Number& n) { return n.low == low || n.high == low || n.low == high || n.high == high; });
      numbers_.push_back({low, high});
    }
    const Number last = numbers_.back();
    return body + fmt::format("v_lshl_or_b32 v13, v{}, 16, v{}\n", last.high, last.low);
  }

private:
  struct Number {
    int low, high; // registers; the same: its halves
  };

  std::string pick(std::initializer_list<const char*> all) { return all.begin()[random_() % all.size()]; }
  std::string noise() {
    const int to = 10 + int(random_() % 8), a = 1 + int(random_() % 17), b = 1 + int(random_() % 17);
    std::erase_if(numbers_, [&](const Number& n) { return n.low == to || n.high == to; });
    if (random_() % 3 == 0) return fmt::format("v_fma_f16 v{}, v{}, v{}, v{}\n", to, a, b, a);
    return fmt::format("{} v{}, v{}, v{}\n", pick({"v_xor_b32_e32", "v_add_f16_e32", "v_add_u32_e32"}), to, a, b);
  }

  std::mt19937 random_;
  std::vector<Number> numbers_;
};

} // namespace

TEST(PackedHalves, RandomBlocksComputeTheSame) {
  size_t packed = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const std::string body = with(RandomBlock(seed).text());
    const recover::Program program = program_of(body);
    const auto ideas =
        packed_halves(gather({.program = &program, .function = &program.functions.front(), .codec = &codec()}));
    if (ideas.empty()) continue;
    const std::string text = applied(program, ideas[0]);
    packed += count(text, "v_pk_");
    ASSERT_EQ(results_of(text).value(), results_of(body).value()) << body << "becomes\n" << text;
  }
  EXPECT_GT(packed, 300u);
}
