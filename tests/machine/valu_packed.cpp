// Packed and mixed float instructions against MPFR in every mode, and dot products of floats where they are exact.
#include "float_model.h"

#include <bit>

namespace asmevo::machine {
namespace {

using namespace model;
using isa::Processor;
using H = Binary16;
using S = Binary32;

template <class F> bool same(typename F::Bits got, typename F::Bits wanted) {
  return got == wanted || (wanted == F::nan && nan_code<F>(got) && !signalling_code<F>(got));
}

template <class F> struct Case {
  std::string_view mnemonic;
  FloatModel<F> model; // of one half
  bool accumulates = false;
  Processor processor = Processor::gfx942;
};

#define AE_MODEL(expression)                                                                                           \
  [](auto a, [[maybe_unused]] auto b, [[maybe_unused]] auto c, const Environment& e) { return expression; }

const Case<H> halves[] = {
    {"v_pk_add_f16", AE_MODEL(once<H>(mpfr_add, e, a, b))},
    {"v_pk_mul_f16", AE_MODEL(once<H>(mpfr_mul, e, a, b))},
    {"v_pk_fma_f16", AE_MODEL(once<H>(mpfr_fma, e, a, b, c))},
    {"v_pk_fmac_f16", AE_MODEL(once<H>(mpfr_fma, e, a, b, c)), true},
    {"v_pk_min_f16", AE_MODEL(extreme<H>(false, a, b, e))},
    {"v_pk_max_f16", AE_MODEL(extreme<H>(true, a, b, e))},
    {"v_pk_minimum3_f16", AE_MODEL(nan_wins3<H>(false, a, b, c, e)), false, Processor::gfx950},
    {"v_pk_maximum3_f16", AE_MODEL(nan_wins3<H>(true, a, b, c, e)), false, Processor::gfx950},
};

TEST(ValuPacked, HalvesAreComputedApartInEveryMode) {
  std::mt19937_64 random(31);
  for (const auto& c : halves) {
    for (const uint32_t mode : every_mode<H>())
      for (const bool specials : {false, true}) {
        Lanes lanes;
        lanes.wave.mode = mode;
        for (unsigned k = 0; k < 3; ++k)
          for (unsigned i = 0; i < machine::lanes; ++i)
            lanes.set(k, i, uint32_t{interesting<H>(random, specials)} << 16 | interesting<H>(random, specials));
        if (c.accumulates) lanes.op.dst = lanes.op.src[2];
        const Row third = lanes.source(2);
        lanes.run(c.mnemonic, c.processor);
        const Row& result = c.accumulates ? lanes.source(2) : lanes.result();
        for (unsigned i = 0; i < machine::lanes; ++i)
          for (const unsigned at : {0u, 16u}) {
            const auto half = [&](const Row& r) { return uint16_t(r.lane[i] >> at); };
            const uint16_t a = half(lanes.source(0)), b = half(lanes.source(1));
            ASSERT_TRUE(same<H>(half(result), c.model(a, b, half(third), environment_of<H>(mode))))
                << c.mnemonic << std::hex << " mode " << mode << " " << a << " " << b << " " << half(third) << ": "
                << half(result);
          }
      }
    note_tested(c.mnemonic, c.processor);
  }
}

const Case<S> singles[] = {
    {"v_pk_add_f32", AE_MODEL(once<S>(mpfr_add, e, a, b))},
    {"v_pk_mul_f32", AE_MODEL(once<S>(mpfr_mul, e, a, b))},
    {"v_pk_fma_f32", AE_MODEL(once<S>(mpfr_fma, e, a, b, c))},
};

TEST(ValuPacked, SinglesAreComputedApartInEveryMode) {
  std::mt19937_64 random(32);
  for (const auto& c : singles) {
    for (const uint32_t mode : every_mode<S>())
      for (const bool specials : {false, true}) {
        Lanes lanes;
        lanes.wave.mode = mode;
        for (unsigned k = 0; k < 3; ++k)
          for (unsigned i = 0; i < machine::lanes; ++i)
            lanes.set(k, i, uint64_t{interesting<S>(random, specials)} << 32 | interesting<S>(random, specials));
        lanes.run(c.mnemonic, c.processor);
        for (unsigned i = 0; i < machine::lanes; ++i)
          for (const unsigned part : {0u, 1u}) {
            const auto at = [&](unsigned k) { return lanes.source(k, part).lane[i]; };
            ASSERT_TRUE(same<S>(lanes.result(part).lane[i], c.model(at(0), at(1), at(2), environment_of<S>(mode))))
                << c.mnemonic << std::hex << " mode " << mode << " " << at(0) << " " << at(1) << " " << at(2);
          }
      }
    note_tested(c.mnemonic, c.processor);
  }
}

TEST(ValuPacked, PackedF32MayOverwriteItsSources) {
  Lanes lanes;
  for (unsigned i = 0; i < machine::lanes; ++i) {
    lanes.set(0, i, uint64_t{std::bit_cast<uint32_t>(3.0f)} << 32 | std::bit_cast<uint32_t>(2.0f));
    lanes.set(1, i, uint64_t{std::bit_cast<uint32_t>(5.0f)} << 32 | std::bit_cast<uint32_t>(4.0f));
    lanes.set(2, i, uint64_t{std::bit_cast<uint32_t>(7.0f)} << 32 | std::bit_cast<uint32_t>(6.0f));
  }
  lanes.op.dst = lanes.op.src[0].next(1); // the low result overwrites the high source
  lanes.run("v_pk_fma_f32");
  EXPECT_EQ(std::bit_cast<float>(lanes.source(0, 1).lane[3]), 14.0f);
  EXPECT_EQ(std::bit_cast<float>(lanes.source(0, 2).lane[3]), 22.0f);
}

/// Any mode of the mixed instructions: both formats' fields count.
std::vector<uint32_t> mixed_modes() {
  std::vector<uint32_t> modes = every_mode<S>();
  for (const uint32_t mode : every_mode<H>()) modes.push_back(mode);
  return modes;
}

TEST(ValuPacked, MixedFmaReadsHalvesWhereOpSelHiSaysSoAndComputesInSingle) {
  std::mt19937_64 random(33);
  for (const std::string_view mnemonic : {"v_fma_mix_f32", "v_fma_mixlo_f16", "v_fma_mixhi_f16"}) {
    for (const uint32_t mode : mixed_modes()) {
      Lanes lanes;
      lanes.wave.mode = mode;
      const uint32_t op_sel = random() & 7, op_sel_hi = random() & 7, neg = random() & 7, abs = random() & 7;
      lanes.op.modifiers = Modifiers::pack(neg, abs, op_sel, op_sel_hi, 0, 0);
      for (unsigned k = 0; k < 3; ++k)
        for (unsigned i = 0; i < machine::lanes; ++i)
          lanes.set(k, i,
                    op_sel_hi >> k & 1 ? uint32_t{interesting<H>(random)} << 16 | interesting<H>(random)
                                       : interesting<S>(random));
      for (auto& x : lanes.result().lane) x = 0xabcd1234;
      lanes.run(mnemonic);
      const Environment single = environment_of<S>(mode), other = environment_of<H>(mode);
      for (unsigned i = 0; i < machine::lanes; ++i) {
        uint32_t source[3];
        bool nan = false;
        for (unsigned k = 0; k < 3; ++k) {
          uint32_t bits = lanes.source(k).lane[i];
          if (op_sel_hi >> k & 1) {
            const uint16_t half = source_code<H>(uint16_t(bits >> (op_sel >> k & 1 ? 16 : 0)), other);
            bits = nan_code<H>(half) ? S::nan : code<S>(number<H>(half), {});
          }
          if (abs >> k & 1) bits &= 0x7fffffff;
          if (neg >> k & 1) bits ^= 0x80000000;
          source[k] = bits;
          nan |= nan_code<S>(bits);
        }
        const uint32_t sum = nan ? S::nan : once<S>(mpfr_fma, single, source[0], source[1], source[2]);
        const uint32_t got = lanes.result().lane[i];
        SCOPED_TRACE(fmt::format("{} mode {:#x} of {:#x} {:#x} {:#x}: {:#x}", mnemonic, mode, source[0], source[1],
                                 source[2], got));
        if (mnemonic == "v_fma_mix_f32") {
          if (nan_code<S>(sum))
            ASSERT_TRUE(nan_code<S>(got));
          else
            ASSERT_EQ(got, sum);
          continue;
        }
        const bool high = mnemonic == "v_fma_mixhi_f16";
        ASSERT_EQ(high ? got & 0xffff : got >> 16, high ? 0x1234u : 0xabcdu);
        const uint16_t half = uint16_t(high ? got >> 16 : got);
        if (nan_code<S>(sum))
          ASSERT_TRUE(nan_code<H>(half));
        else
          ASSERT_EQ(half, code<H>(number<S>(sum), other));
      }
    }
    note_tested(mnemonic, Processor::gfx942);
  }
}

/// Few bits, both signs, so that sums of products are exact whatever their order and width.
double small(std::mt19937_64& random) { return double(int(random() % 65) - 32) / 8; }

TEST(ValuPacked, DotProductsAddBothProductsToTheAccumulator) {
  std::mt19937_64 random(34);
  struct Dot {
    std::string_view mnemonic;
    bool bf16, accumulates;
    Processor processor;
  };
  for (const Dot dot :
       {Dot{"v_dot2_f32_f16", false, false, Processor::gfx942}, Dot{"v_dot2c_f32_f16", false, true, Processor::gfx942},
        Dot{"v_dot2_f32_f16", false, false, Processor::gfx90a}, Dot{"v_dot2c_f32_f16", false, true, Processor::gfx90a},
        Dot{"v_dot2_f32_bf16", true, false, Processor::gfx950},
        Dot{"v_dot2c_f32_bf16", true, true, Processor::gfx950}}) {
    for (int n = 0; n < 10; ++n) {
      Lanes lanes;
      if (dot.accumulates) lanes.op.dst = lanes.op.src[2];
      double wanted[machine::lanes];
      for (unsigned i = 0; i < machine::lanes; ++i) {
        const double a[] = {small(random), small(random)}, b[] = {small(random), small(random)}, c = small(random);
        const auto half = [&](double x) {
          return dot.bf16 ? std::bit_cast<uint32_t>(float(x)) >> 16 : std::bit_cast<uint16_t>(_Float16(x));
        };
        lanes.set(0, i, half(a[0]) | half(a[1]) << 16);
        lanes.set(1, i, half(b[0]) | half(b[1]) << 16);
        lanes.set(2, i, std::bit_cast<uint32_t>(float(c)));
        wanted[i] = a[0] * b[0] + a[1] * b[1] + c;
      }
      lanes.run(dot.mnemonic, dot.processor);
      const Row& result = dot.accumulates ? lanes.source(2) : lanes.result();
      for (unsigned i = 0; i < machine::lanes; ++i)
        ASSERT_EQ(std::bit_cast<float>(result.lane[i]), wanted[i]) << dot.mnemonic;
    }
    note_tested(dot.mnemonic, dot.processor);
  }
}

TEST(ValuPacked, Gfx90aFlushesDenormalsOfDotProductsAndTheOthersDoNot) {
  for (const auto& [processor, keeps] :
       {std::pair{Processor::gfx908, true}, {Processor::gfx90a, false}, {Processor::gfx942, true}})
    for (const bool accumulates : {false, true}) {
      const std::string_view mnemonic = accumulates ? "v_dot2c_f32_f16" : "v_dot2_f32_f16";
      Lanes lanes;
      if (accumulates) lanes.op.dst = lanes.op.src[2];
      for (unsigned i = 0; i < machine::lanes; ++i) {
        // A denormal half times 1; or zeros and a denormal to add.
        lanes.set(0, i, i % 2 ? 0x00018001 : 0), lanes.set(1, i, 0x44003c00), lanes.set(2, i, i % 2 ? 0 : 0x80000005);
      }
      lanes.run(mnemonic, processor);
      const Row& result = accumulates ? lanes.source(2) : lanes.result();
      EXPECT_EQ(std::bit_cast<float>(result.lane[1]), keeps ? 0x3p-24f : 0.0f) << mnemonic;
      EXPECT_EQ(result.lane[2] & 0x7fffffff, keeps ? 5u : 0u) << mnemonic;
    }
}

} // namespace
} // namespace asmevo::machine
