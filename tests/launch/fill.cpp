#include "launch/launch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <set>

using namespace asmevo;
using namespace asmevo::launch;

namespace {

std::vector<double> filled(DType dtype, Fill fill, uint64_t elements, uint64_t seed = 1, std::string name = "x") {
  Case c;
  c.seed = seed;
  Buffer buffer{.name = std::move(name), .dtype = dtype, .shape = {elements}, .fill = std::move(fill)};
  Bytes bytes = initial_bytes(c, buffer, 0).value();
  std::vector<double> values;
  for (uint64_t i = 0; i < elements; ++i)
    values.push_back(value_of(dtype, load_bits(dtype, &bytes[i * size_of(dtype)])));
  return values;
}

} // namespace

TEST(Fill, normal_numbers_have_the_moments_of_a_normal_distribution) {
  for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
    auto values = filled(dtype, {.kind = FillKind::normal, .a = 3, .b = 2}, 1'000'000);
    double mean = 0, variance = 0, cube = 0, fourth = 0;
    for (double v : values) mean += v;
    mean /= double(values.size());
    for (double v : values) {
      double d = (v - mean) / 2;
      variance += d * d;
      cube += d * d * d;
      fourth += d * d * d * d;
    }
    double n = double(values.size());
    EXPECT_NEAR(mean, 3, 0.01) << name_of(dtype);
    EXPECT_NEAR(variance / n, 1, 0.01);
    EXPECT_NEAR(cube / n, 0, 0.02);
    EXPECT_NEAR(fourth / n, 3, 0.05);
    EXPECT_GT(*std::ranges::max_element(values), 3 + 2 * 4.4); // the tail is there
  }
}

TEST(Fill, neighbours_are_not_correlated) {
  auto values = filled(DType::f32, {.kind = FillKind::normal, .a = 0, .b = 1}, 1'000'000);
  for (size_t distance : {1, 2, 512, 1024}) {
    double sum = 0;
    for (size_t i = 0; i + distance < values.size(); ++i) sum += values[i] * values[i + distance];
    EXPECT_NEAR(sum / double(values.size()), 0, 0.005) << distance;
  }
}

TEST(Fill, the_same_seed_gives_the_same_bytes_on_every_machine) {
  auto values = filled(DType::f32, {.kind = FillKind::normal, .a = 0, .b = 1}, 3000);
  std::array<uint32_t, 4> bits;
  for (size_t i = 0; i < 4; ++i) bits[i] = std::bit_cast<uint32_t>(float(values[i * 700]));
  EXPECT_EQ(bits, (std::array<uint32_t, 4>{3214395974, 3205155109, 3213467733, 3169996576}));
}

TEST(Fill, seed_and_name_each_change_the_data) {
  Fill normal{.kind = FillKind::normal, .a = 0, .b = 1};
  auto base = filled(DType::f32, normal, 1000);
  EXPECT_EQ(filled(DType::f32, normal, 1000), base);
  EXPECT_NE(filled(DType::f32, normal, 1000, 2), base);
  EXPECT_NE(filled(DType::f32, normal, 1000, 1, "y"), base);
}

TEST(Fill, a_longer_buffer_begins_like_a_shorter_one) {
  Fill uniform{.kind = FillKind::uniform, .a = -1, .b = 1};
  auto longer = filled(DType::f32, uniform, 5000);
  longer.resize(1777);
  EXPECT_EQ(filled(DType::f32, uniform, 1777), longer);
}

TEST(Fill, uniform_numbers_stay_in_their_range_and_fill_it) {
  for (double v : filled(DType::f32, {.kind = FillKind::uniform, .a = 2, .b = 4}, 100'000)) {
    EXPECT_GE(v, 2);
    EXPECT_LE(v, 4);
  }
  std::set<double> seen;
  for (double v : filled(DType::i8, {.kind = FillKind::uniform, .a = -2, .b = 2}, 1000)) seen.insert(v);
  EXPECT_EQ(seen, (std::set<double>{-2, -1, 0, 1}));
}

TEST(Fill, integers_take_every_value_of_their_range_and_no_other) {
  for (DType dtype : {DType::i32, DType::u8, DType::i64, DType::f16, DType::f32}) {
    std::set<double> seen;
    for (double v : filled(dtype, {.kind = FillKind::integers, .a = 3, .b = 9}, 1000)) seen.insert(v);
    EXPECT_EQ(seen, (std::set<double>{3, 4, 5, 6, 7, 8, 9})) << name_of(dtype);
  }
  bool large = false;
  for (double v : filled(DType::i64, {.kind = FillKind::integers, .a = -0x1p50, .b = 0x1p50}, 1000)) {
    EXPECT_LE(std::fabs(v), 0x1p50);
    large |= std::fabs(v) > 0x1p48;
  }
  EXPECT_TRUE(large);
}

TEST(Fill, special_values_include_infinities_nan_and_denormals_in_their_share) {
  for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64}) {
    size_t infinite = 0, nan = 0, denormal = 0, negative_zero = 0;
    auto values = filled(dtype, {.kind = FillKind::special, .a = 1.0 / 16}, 100'000);
    const Format& f = format_of(dtype);
    for (double v : values) {
      infinite += std::isinf(v);
      nan += std::isnan(v);
      denormal += v != 0 && std::fabs(v) < std::ldexp(1.0, 1 - f.bias);
      negative_zero += v == 0 && std::signbit(v);
    }
    for (size_t count : {infinite, nan, denormal, negative_zero}) {
      EXPECT_GT(count, 100u) << name_of(dtype);
      EXPECT_LT(count, 3000u) << name_of(dtype);
    }
  }
}

TEST(Fill, nonfinite_values_are_normal_numbers_and_what_no_order_of_additions_can_tell_apart) {
  for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64}) {
    size_t plus = 0, minus = 0, nan = 0, zero = 0;
    for (double v : filled(dtype, {.kind = FillKind::nonfinite, .a = 1.0 / 8}, 100'000)) {
      plus += v == HUGE_VAL;
      minus += v == -HUGE_VAL;
      nan += std::isnan(v);
      zero += v == 0;
      EXPECT_TRUE(!std::isfinite(v) || v == 0 || (std::fabs(v) > 1e-7 && std::fabs(v) < 10)) << v;
    }
    EXPECT_NEAR(double(plus), 3125, 300) << name_of(dtype);
    EXPECT_NEAR(double(minus), 3125, 300) << name_of(dtype);
    EXPECT_NEAR(double(nan), 1562, 250) << name_of(dtype);
    EXPECT_NEAR(double(zero), 4687, 400) << name_of(dtype);
  }
}

TEST(Fill, a_type_without_infinities_has_zeros_in_their_place) {
  size_t zero = 0;
  for (double v : filled(DType::fp8, {.kind = FillKind::nonfinite, .a = 1.0 / 2}, 10'000)) {
    zero += v == 0;
    EXPECT_LT(std::fabs(v), 10) << v;
  }
  EXPECT_GT(zero, 4000u);
}

TEST(Fill, constants_and_zeros_fill_to_the_last_byte) {
  for (double v : filled(DType::f32, {.kind = FillKind::constant, .a = 1.5}, 1001)) EXPECT_EQ(v, 1.5);
  for (double v : filled(DType::bf16, {.kind = FillKind::constant, .a = -2}, 7)) EXPECT_EQ(v, -2);
  for (double v : filled(DType::u64, {.kind = FillKind::zero}, 1001)) EXPECT_EQ(v, 0);
}

TEST(Fill, poison_differs_by_seed_name_and_place) {
  Bytes a(5000), b(5000), c(5000), part(1000);
  fill_poison(1, "x", 0, a);
  fill_poison(2, "x", 0, b);
  fill_poison(1, "y", 0, c);
  size_t same_b = 0, same_c = 0, repeated = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    same_b += a[i] == b[i];
    same_c += a[i] == c[i];
    repeated += i >= 4 && a[i] == a[i - 4];
  }
  EXPECT_LT(same_b, 60u);
  EXPECT_LT(same_c, 60u);
  EXPECT_LT(repeated, 60u);
  fill_poison(1, "x", 4000, part);
  EXPECT_EQ(std::memcmp(part.data(), a.data() + 4000, 1000), 0);
}

TEST(Fill, a_permutation_holds_every_number_once_and_in_disorder) {
  for (uint64_t n : {1u, 2u, 7u, 1000u, 4096u, 5000u}) {
    auto values = filled(DType::i32, {.kind = FillKind::permutation, .a = 0}, n);
    size_t in_place = 0;
    std::set<double> seen(values.begin(), values.end());
    for (size_t i = 0; i < n; ++i) in_place += values[i] == double(i);
    EXPECT_EQ(seen.size(), n);
    EXPECT_EQ(*seen.rbegin(), double(n - 1));
    EXPECT_LT(in_place, n < 1000 ? n + 1 : 20);
  }
}

TEST(Fill, each_block_of_a_permutation_is_another_one) {
  auto values = filled(DType::u16, {.kind = FillKind::permutation, .a = 100}, 300);
  for (size_t block = 0; block < 3; ++block)
    EXPECT_EQ(std::set<double>(values.begin() + long(block) * 100, values.begin() + long(block + 1) * 100).size(),
              100u);
  EXPECT_FALSE(std::equal(values.begin(), values.begin() + 100, values.begin() + 100));
}

TEST(Fill, offsets_rise_from_zero_to_the_total) {
  auto values = filled(DType::i32, {.kind = FillKind::offsets, .a = 100'000}, 3001);
  EXPECT_EQ(values.front(), 0);
  EXPECT_EQ(values.back(), 100'000);
  EXPECT_TRUE(std::ranges::is_sorted(values));
  std::set<double> steps;
  for (size_t i = 1; i < values.size(); ++i) steps.insert(values[i] - values[i - 1]);
  EXPECT_GT(steps.size(), 10u);
}
