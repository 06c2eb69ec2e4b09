// Hand-written kernels against references computed on the host. They lean on what compilers leave alone: loads straight
// to LDS, ragged tiles cut by buffer range checks, VGPRs above accum_offset, GPR indexing, relative order of waves.
#include "kernel_fixture.h"

#include <algorithm>
#include <bit>
#include <cmath>

using namespace asmevo;
using namespace asmevo::machine;

namespace {

float widen(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }
uint16_t nearest_even(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

std::vector<uint16_t> random_brain_floats(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution;
  std::vector<uint16_t> values(count);
  for (auto& value : values) value = nearest_even(distribution(random));
  return values;
}

#define KERNEL_OR_SKIP(name, path)                                                                                     \
  const std::string file = shared_data(path);                                                                          \
  if (file.empty()) GTEST_SKIP() << "needs the shared data folder (ASMEVO_DATA): " path;                               \
  KernelRun name(file);                                                                                                \
  ASSERT_TRUE(name.ready())

} // namespace

TEST(Handwritten, Bf16GemmReadsTilesThroughLds) {
  KERNEL_OR_SKIP(k, "aiter/hsa/gfx942/bf16gemm/bf16gemm_fp32bf16_tn_32x64_pf3_splitk.co");
  constexpr uint32_t m = 64, n = 256, depth = 512;
  const auto a = random_brain_floats(m * depth, 1), b = random_brain_floats(n * depth, 2);
  const uint64_t pa = k.buffer("a", a), pb = k.buffer("b", b), pd = k.buffer("d", std::vector<uint16_t>(m * n, 0xffff));
  k.options.strict = true;
  k.dispatch.workgroups = {n / 64, m / 32, 1};
  k.dispatch.workgroup_size = {256, 1, 1};
  const RunResult result = k.run(Arguments()
                                     .at(0, pd)
                                     .at(32, pa)
                                     .at(48, pb)
                                     .at(64, 1.0f)
                                     .at(96, 2 * n)
                                     .at(128, 2 * n)
                                     .at(160, 2 * depth)
                                     .at(192, 2 * depth)
                                     .at(224, m)
                                     .at(240, n)
                                     .at(256, depth)
                                     .at(272, 1u)
                                     .at(288, 1u)
                                     .at(320, 0u));
  EXPECT_EQ(result.instructions, 23680u);
  // Its authors load to LDS directly behind a write of M0 and use compare results at once, and are strict in all else.
  EXPECT_FALSE(result.strict.findings.empty());
  for (const Finding& f : result.strict.findings)
    EXPECT_TRUE(f.message.ends_with("(H012)") || f.message.ends_with("(H008)")) << f.message;
  EXPECT_EQ(result.waves, 32u);
  const auto d = k.read<uint16_t>(pd);
  for (uint32_t i = 0; i < m; ++i)
    for (uint32_t j = 0; j < n; ++j) {
      double want = 0;
      for (uint32_t e = 0; e < depth; ++e) want += double(widen(a[i * depth + e])) * widen(b[j * depth + e]);
      ASSERT_NEAR(widen(d[i * n + j]), want, std::abs(want) / 256 + 1e-3) << i << " " << j;
    }
}

TEST(Handwritten, AttentionForwardUsesVgprsAboveTheAccumulatorOffset) {
  KERNEL_OR_SKIP(k, "aiter/hsa/gfx942/fmha_v3_fwd/MI300/fwd_hd128_bf16_rtne.co");
  constexpr uint32_t rows = 256, dim = 128;
  const auto q = random_brain_floats(rows * dim, 3), keys = random_brain_floats(rows * dim, 4),
             v = random_brain_floats(rows * dim, 5);
  const uint64_t pq = k.buffer("q", q), pk = k.buffer("k", keys), pv = k.buffer("v", v);
  const uint64_t po = k.buffer("o", std::vector<uint16_t>(rows * dim)), pl = k.buffer("lse", std::vector<float>(rows));
  k.dispatch.workgroups = {1, 1, 1};
  k.dispatch.workgroup_size = {512, 1, 1};
  const float scale = 0.0883883461356163f;
  Arguments arguments;
  arguments.at(0, po).at(16, pq).at(32, pk).at(48, pv).at(64, pl).at(80, scale).at(96, rows);
  for (size_t offset : {112u, 144u, 192u, 208u, 336u, 352u, 384u, 400u}) arguments.at(offset, 256u);
  for (size_t offset : {128u, 160u, 224u, 368u, 416u}) arguments.at(offset, 65536u);
  arguments.at(176, 1u)
      .at(240, 5u)
      .at(256, 1u)
      .at(272, rows)
      .at(288, dim)
      .at(304, dim)
      .at(320, 1u)
      .at(464, 1024u)
      .at(496, uint64_t{0});
  const RunResult result = k.run(arguments);
  EXPECT_EQ(result.instructions, 27908u);
  const auto o = k.read<uint16_t>(po);
  const auto lse = k.read<float>(pl);
  for (uint32_t i = 0; i < rows; ++i) {
    std::vector<double> p(rows);
    double most = -INFINITY, sum = 0;
    for (uint32_t j = 0; j < rows; ++j) {
      for (uint32_t e = 0; e < dim; ++e) p[j] += double(widen(q[i * dim + e])) * widen(keys[j * dim + e]);
      p[j] *= scale;
      most = std::max(most, p[j]);
    }
    for (double& value : p) sum += value = std::exp(value - most);
    ASSERT_NEAR(lse[i], most + std::log(sum), 1e-4) << i;
    for (uint32_t e = 0; e < dim; ++e) {
      double want = 0;
      for (uint32_t j = 0; j < rows; ++j) want += p[j] / sum * widen(v[j * dim + e]);
      ASSERT_NEAR(widen(o[i * dim + e]), want, 2e-3 + 1e-2 * std::abs(want)) << i << " " << e;
    }
  }
}

TEST(Handwritten, TopkSoftmaxWritesLanesOfIndexedRegisters) {
  KERNEL_OR_SKIP(k, "aiter/hsa/gfx942/topksoftmax/topksoftmax_4x128x4.co");
  constexpr uint32_t tokens = 10, experts = 128, top = 4;
  std::mt19937 random(6);
  std::normal_distribution<float> distribution;
  std::vector<float> gating(tokens * experts);
  for (float& value : gating) value = distribution(random);
  const uint64_t pa = k.buffer("gating", gating), pw = k.buffer("weights", std::vector<float>(12 * top, -1.0f));
  const uint64_t pt = k.buffer("ids", std::vector<uint32_t>(12 * top, 999));
  k.dispatch.workgroups = {(tokens + 3) / 4, 1, 1};
  k.dispatch.workgroup_size = {256, 1, 1};
  k.run(Arguments()
            .at(0, pt)
            .at(16, pw)
            .at(32, pa)
            .at(48, tokens)
            .at(64, experts)
            .at(80, top)
            .at(96, 1u)
            .at(112, 4 * top));
  const auto ids = k.read<uint32_t>(pt);
  const auto weights = k.read<float>(pw);
  for (uint32_t t = 0; t < tokens; ++t) {
    std::vector<uint32_t> order(experts);
    for (uint32_t e = 0; e < experts; ++e) order[e] = e;
    const float* g = gating.data() + t * experts;
    std::ranges::sort(order, [&](uint32_t x, uint32_t y) { return g[x] > g[y]; });
    double sum = 0;
    for (uint32_t j = 0; j < top; ++j) sum += std::exp(double(g[order[j]]));
    for (uint32_t j = 0; j < top; ++j) {
      ASSERT_EQ(ids[t * top + j], order[j]) << t << " " << j;
      ASSERT_NEAR(weights[t * top + j], std::exp(double(g[order[j]])) / sum, 1e-5);
    }
  }
  EXPECT_EQ(ids[tokens * top], 999u);
}

TEST(Handwritten, Int8GemmIsExactUpToItsTruncation) {
  KERNEL_OR_SKIP(k, "aiter/hsa/gfx942/i8gemm/I8gemm_bf16_perTokenI8_BpreShuffle_16x128.co");
  constexpr uint32_t m = 32, n = 256, depth = 512;
  std::mt19937 random(7);
  std::uniform_int_distribution<int> integers(-127, 127);
  std::vector<int8_t> a(m * depth), b(n * depth), shuffled(n * depth);
  for (auto& value : a) value = int8_t(integers(random));
  for (auto& value : b) value = int8_t(integers(random));
  for (uint32_t j = 0; j < n; ++j)
    for (uint32_t e = 0; e < depth; ++e)
      shuffled[(((j / 16 * (depth / 32) + e / 32) * 2 + e % 32 / 16) * 16 + j % 16) * 16 + e % 16] = b[j * depth + e];
  const auto sa = random_floats(m, 0.01f, 0.03f, 8), sb = random_floats(n, 0.01f, 0.03f, 9),
             bias = random_floats(n, 0, 10, 10);
  const uint64_t pc = k.buffer("c", std::vector<uint16_t>(m * n)), pa = k.buffer("a", a), pb = k.buffer("b", shuffled);
  const uint64_t psa = k.buffer("sa", sa), psb = k.buffer("sb", sb), pbias = k.buffer("bias", bias);
  k.dispatch.workgroups = {n / 128, m / 16, 1};
  k.dispatch.workgroup_size = {256, 1, 1};
  const RunResult result = k.run(Arguments()
                                     .at(0, pc)
                                     .at(16, pa)
                                     .at(32, pb)
                                     .at(48, psa)
                                     .at(64, psb)
                                     .at(80, pbias)
                                     .at(96, m)
                                     .at(112, n)
                                     .at(128, depth)
                                     .at(144, depth)
                                     .at(160, depth)
                                     .at(176, 2 * n)
                                     .at(192, 1u));
  EXPECT_EQ(result.instructions, 8432u);
  const auto c = k.read<uint16_t>(pc);
  for (uint32_t i = 0; i < m; ++i)
    for (uint32_t j = 0; j < n; ++j) {
      int sum = 0;
      for (uint32_t e = 0; e < depth; ++e) sum += int{a[i * depth + e]} * b[j * depth + e];
      const double want = double(sum) * sa[i] * sb[j] + bias[j];
      ASSERT_NEAR(widen(c[i * n + j]), want, std::abs(want) / 128 + 1e-3) << i << " " << j;
    }
}
