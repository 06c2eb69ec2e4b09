// Compiled kernels against references computed on the host.
#include "kernel_fixture.h"

#include <cmath>

using namespace asmevo;
using namespace asmevo::machine;

namespace {

void expect_close(const std::vector<float>& got, const std::vector<double>& want, double absolute, double relative) {
  ASSERT_EQ(got.size(), want.size());
  size_t bad = 0;
  for (size_t k = 0; k < got.size(); ++k)
    if (!(std::abs(got[k] - want[k]) <= absolute + relative * std::abs(want[k])) && bad++ < 5)
      ADD_FAILURE() << "element " << k << ": " << got[k] << " instead of " << want[k];
  EXPECT_EQ(bad, 0u);
}

float half_to_float(_Float16 value) { return float(value); }

} // namespace

TEST(Kernels, TritonSoftmaxNormalisesRows) {
  constexpr uint32_t rows = 5, columns = 784, stride = 800;
  const auto in = random_floats(rows * stride, -8, 8, 1);
  KernelRun k(corpus("softmax.hsaco"));
  ASSERT_TRUE(k.ready());
  const uint64_t out = k.buffer("out", std::vector<float>(rows * stride, -1.0f)), inp = k.buffer("in", in);
  k.dispatch.workgroups = {rows, 1, 1};
  k.dispatch.workgroup_size = {256, 1, 1};
  k.dispatch.dynamic_lds = 4096;
  k.run(Arguments().add(out).add(inp).add(stride).add(columns).add(uint64_t{0}).add(uint64_t{0}));
  const auto result = k.read<float>(out);
  std::vector<double> want(rows * stride, -1.0);
  for (uint32_t r = 0; r < rows; ++r) {
    double most = -INFINITY, sum = 0;
    for (uint32_t c = 0; c < columns; ++c) most = std::max<double>(most, in[r * stride + c]);
    for (uint32_t c = 0; c < columns; ++c) sum += std::exp(in[r * stride + c] - most);
    for (uint32_t c = 0; c < columns; ++c) want[r * stride + c] = std::exp(in[r * stride + c] - most) / sum;
  }
  expect_close(result, want, 1e-9, 2e-6);
}

TEST(Kernels, TritonMatmulMultipliesHalves) {
  constexpr uint32_t m = 128, n = 256, depth = 192;
  std::mt19937 random(2);
  std::uniform_real_distribution<float> distribution(-1, 1);
  std::vector<_Float16> a(m * depth), b(depth * n);
  for (auto& value : a) value = _Float16(distribution(random));
  for (auto& value : b) value = _Float16(distribution(random));
  KernelRun k(corpus("matmul.hsaco"));
  ASSERT_TRUE(k.ready());
  const uint64_t pa = k.buffer("a", a), pb = k.buffer("b", b), pc = k.buffer("c", std::vector<_Float16>(m * n));
  k.dispatch.workgroups = {m / 128, n / 128, 1};
  k.dispatch.workgroup_size = {256, 1, 1};
  k.dispatch.dynamic_lds = 65536;
  k.run(Arguments()
            .add(pa)
            .add(pb)
            .add(pc)
            .add(m)
            .add(n)
            .add(depth)
            .add(depth)
            .add(n)
            .add(n)
            .add(uint64_t{0})
            .add(uint64_t{0}));
  const auto c = k.read<_Float16>(pc);
  std::vector<float> got(c.size());
  std::vector<double> want(m * n);
  for (size_t e = 0; e < c.size(); ++e) got[e] = half_to_float(c[e]);
  for (uint32_t i = 0; i < m; ++i)
    for (uint32_t j = 0; j < n; ++j)
      for (uint32_t e = 0; e < depth; ++e)
        want[i * n + j] += double(half_to_float(a[i * depth + e])) * half_to_float(b[e * n + j]);
  expect_close(got, want, 2e-3, 1e-3);
}

TEST(Kernels, GeluHandlesTheTailOfItsGrid) {
  constexpr uint32_t n = 10001;
  const auto x = random_floats(n, -6, 6, 3);
  KernelRun k(corpus("gelu.hsaco"));
  ASSERT_TRUE(k.ready());
  const uint64_t y = k.buffer("y", std::vector<float>(n)), px = k.buffer("x", x);
  k.dispatch.workgroups = {(n + 255) / 256, 1, 1};
  k.dispatch.workgroup_size = {256, 1, 1};
  const RunResult result = k.run(Arguments().add(y).add(px).add(n));
  std::vector<double> want(n);
  for (uint32_t i = 0; i < n; ++i) {
    const double v = x[i];
    want[i] = 0.5 * v * (1 + std::tanh(0.7978845608028654 * (v + 0.044715 * v * v * v)));
  }
  expect_close(k.read<float>(y), want, 2e-6, 2e-6);
  EXPECT_EQ(result.waves, 160u);
  EXPECT_GT(result.fidelity.approximate, 0u);
  EXPECT_EQ(result.fidelity.exact + result.fidelity.approximate, result.instructions);
}

TEST(Kernels, RmsnormAndLayernormNormaliseRows) {
  constexpr uint32_t rows = 7, columns = 1000;
  const float epsilon = 1e-5f;
  const auto x = random_floats(rows * columns, -2, 3, 4), w = random_floats(columns, 0.5, 1.5, 5),
             b = random_floats(columns, -1, 1, 6);
  std::vector<double> rms(rows * columns), layer(rows * columns);
  for (uint32_t r = 0; r < rows; ++r) {
    double squares = 0, sum = 0, variance = 0;
    for (uint32_t c = 0; c < columns; ++c)
      squares += double(x[r * columns + c]) * x[r * columns + c], sum += x[r * columns + c];
    const double mean = sum / columns;
    for (uint32_t c = 0; c < columns; ++c) variance += (x[r * columns + c] - mean) * (x[r * columns + c] - mean);
    for (uint32_t c = 0; c < columns; ++c) {
      rms[r * columns + c] = x[r * columns + c] / std::sqrt(squares / columns + epsilon) * w[c];
      layer[r * columns + c] = (x[r * columns + c] - mean) / std::sqrt(variance / columns + epsilon) * w[c] + b[c];
    }
  }
  {
    KernelRun k(corpus("rmsnorm.hsaco"));
    ASSERT_TRUE(k.ready());
    const uint64_t y = k.buffer("y", std::vector<float>(rows * columns)), px = k.buffer("x", x), pw = k.buffer("w", w);
    k.dispatch.workgroups = {rows, 1, 1};
    k.dispatch.workgroup_size = {256, 1, 1};
    k.run(Arguments().add(y).add(px).add(pw).add(columns).add(epsilon));
    expect_close(k.read<float>(y), rms, 1e-6, 4e-6);
  }
  KernelRun k(corpus("layernorm.hsaco"));
  ASSERT_TRUE(k.ready());
  const uint64_t y = k.buffer("y", std::vector<float>(rows * columns)), px = k.buffer("x", x), pw = k.buffer("w", w),
                 pb = k.buffer("b", b);
  k.dispatch.workgroups = {rows, 1, 1};
  k.dispatch.workgroup_size = {256, 1, 1};
  k.run(Arguments().add(y).add(px).add(pw).add(pb).add(columns).add(epsilon));
  expect_close(k.read<float>(y), layer, 2e-6, 4e-6);
}

TEST(Kernels, NaiveGemmUsesTwoDimensionalWorkgroups) {
  constexpr uint32_t m = 37, n = 45, depth = 50;
  const auto a = random_floats(m * depth, -1, 1, 7), b = random_floats(depth * n, -1, 1, 8);
  KernelRun k(corpus("sgemm_naive.hsaco"));
  ASSERT_TRUE(k.ready());
  const uint64_t pc = k.buffer("c", std::vector<float>(m * n)), pa = k.buffer("a", a), pb = k.buffer("b", b);
  k.dispatch.workgroups = {(n + 15) / 16, (m + 15) / 16, 1};
  k.dispatch.workgroup_size = {16, 16, 1};
  k.run(Arguments().add(pc).add(pa).add(pb).add(m).add(n).add(depth));
  std::vector<double> want(m * n);
  for (uint32_t i = 0; i < m; ++i)
    for (uint32_t j = 0; j < n; ++j)
      for (uint32_t e = 0; e < depth; ++e) want[i * n + j] += double(a[i * depth + e]) * b[e * n + j];
  expect_close(k.read<float>(pc), want, 2e-5, 1e-5);
}

TEST(Kernels, DepthwiseConvolutionPadsWithZeros) {
  constexpr uint32_t planes = 5, channels = 3, height = 37, width = 53;
  const auto x = random_floats(planes * height * width, -1, 1, 9), w = random_floats(channels * 9, -1, 1, 10);
  KernelRun k(corpus("dwconv3x3.hsaco"));
  ASSERT_TRUE(k.ready());
  const uint64_t y = k.buffer("y", std::vector<float>(x.size())), px = k.buffer("x", x), pw = k.buffer("w", w);
  k.dispatch.workgroups = {1, (height + 3) / 4, planes};
  k.dispatch.workgroup_size = {64, 4, 1};
  k.run(Arguments().add(y).add(px).add(pw).add(channels).add(height).add(width));
  std::vector<double> want(x.size());
  for (int p = 0; p < int(planes); ++p)
    for (int r = 0; r < int(height); ++r)
      for (int c = 0; c < int(width); ++c)
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx)
            if (r + dy >= 0 && r + dy < int(height) && c + dx >= 0 && c + dx < int(width))
              want[(p * height + r) * width + c] +=
                  double(x[(p * height + r + dy) * width + c + dx]) * w[p % channels * 9 + (dy + 1) * 3 + dx + 1];
  expect_close(k.read<float>(y), want, 2e-6, 2e-6);
}

TEST(Kernels, RowReductionAgreesUnderEverySchedule) {
  constexpr uint32_t rows = 20, columns = 1000;
  const auto in = random_floats(rows * columns, 0, 1, 11);
  std::vector<double> want(rows);
  for (uint32_t r = 0; r < rows; ++r)
    for (uint32_t c = 0; c < columns; ++c) want[r] += in[r * columns + c];
  for (Schedule schedule :
       {Schedule::round_robin, Schedule::run_to_barrier, Schedule::seeded_random, Schedule::late_loads}) {
    KernelRun k(corpus("rowsum.hsaco"));
    ASSERT_TRUE(k.ready());
    const uint64_t out = k.buffer("out", std::vector<float>(rows)), pin = k.buffer("in", in);
    k.dispatch.workgroups = {rows, 1, 1};
    k.dispatch.workgroup_size = {256, 1, 1};
    k.options.schedule = schedule;
    k.options.seed = 3;
    k.run(Arguments().add(out).add(pin).add(columns));
    expect_close(k.read<float>(out), want, 1e-4, 1e-6);
  }
}
