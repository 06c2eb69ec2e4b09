#include "oracle/compare.h"

#include "oracle/divergence.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace asmevo;
using namespace asmevo::oracle;
using launch::DType;

namespace {

Bytes encoded(DType dtype, const std::vector<double>& values) {
  Bytes bytes(values.size() * launch::size_of(dtype));
  for (size_t i = 0; i < values.size(); ++i)
    launch::store_bits(dtype, launch::bits_of(dtype, values[i]), &bytes[i * launch::size_of(dtype)]);
  return bytes;
}

struct Pair {
  launch::Buffer buffer;
  Expected expected;
  Bytes got;

  Pair(DType dtype, const std::vector<double>& e, const std::vector<double>& g)
      : buffer{.name = "out", .dtype = dtype, .shape = {e.size()}},
        expected(make_expected(buffer, encoded(dtype, e), {}, {})), got(encoded(dtype, g)) {}
  Comparison run(launch::Tolerance t = {}) const { return compare(expected, got, t); }
};

} // namespace

TEST(Compare, each_part_of_the_bound_allows_what_it_says) {
  EXPECT_TRUE(Pair(DType::f32, {10, 20}, {10.5, 20}).run({.absolute = 0.5}).passed());
  EXPECT_FALSE(Pair(DType::f32, {10, 20}, {10.51, 20}).run({.absolute = 0.5}).passed());
  EXPECT_TRUE(Pair(DType::f32, {10, 200}, {10, 210}).run({.relative = 0.05}).passed());
  EXPECT_FALSE(Pair(DType::f32, {10, 200}, {11, 200}).run({.relative = 0.05}).passed());
  // rms of {0, 30, 40} is 28.87
  EXPECT_TRUE(Pair(DType::f32, {0, 30, 40}, {0.28, 30, 40}).run({.scaled = 0.01}).passed());
  EXPECT_FALSE(Pair(DType::f32, {0, 30, 40}, {0.3, 30, 40}).run({.scaled = 0.01}).passed());
}

TEST(Compare, distances_are_counted_in_representable_values) {
  const double next = std::nextafter(1.0F, 2.0F), nan = std::nan("");
  const Pair pair(DType::f32, {1, 1, 1, 1, nan, 1}, {1, next, next + 3 * (next - 1), 1, nan, nan});
  const UlpHistogram ulps = pair.run({.absolute = 1}).ulps;
  EXPECT_EQ(ulps.elements(), 6u);
  EXPECT_EQ(ulps.counts[0], 3u);
  EXPECT_EQ(ulps.counts[1], 1u);
  EXPECT_EQ(ulps.counts[3], 1u);
  EXPECT_EQ(ulps.counts.back(), 1u);
  EXPECT_EQ(describe(ulps),
            "50.0 % equal, 16.7 % at 1 ulp, 16.7 % at 4 to 7 ulp, 16.7 % further, up to any number of ulp");
  EXPECT_TRUE(Pair(DType::f32, {1, 2}, {1, 2}).run().ulps.all_equal());
}

TEST(Compare, many_numbers_that_differ_a_little_are_counted_as_one_by_one) {
  std::mt19937 random(1);
  std::vector<double> e, g;
  for (int i = 0; i < 10'000; ++i) {
    const float value = std::normal_distribution<float>()(random), step = std::nextafter(value, 100.0F) - value;
    e.push_back(i % 97 == 0 ? 0.0F : value);
    g.push_back(i % 97 == 0 ? -1e-9F : i % 3 == 0 ? value : value + step * float(int(random() % 41) - 20));
  }
  const Pair pair(DType::f32, e, g);
  UlpHistogram ulps;
  uint64_t differing = 0;
  double largest = 0;
  for (size_t i = 0; i < e.size(); ++i) {
    const auto a = std::bit_cast<uint32_t>(float(e[i])), b = std::bit_cast<uint32_t>(float(g[i]));
    ulps.add(ulp_distance(DType::f32, a, b));
    differing += a != b;
    largest = std::max(largest, std::fabs(double(float(g[i])) - double(float(e[i]))) / (1e-5 + 1e-5 * std::fabs(e[i])));
  }
  const Comparison comparison = pair.run({.absolute = 1e-5, .relative = 1e-5});
  EXPECT_TRUE(comparison.passed());
  EXPECT_EQ(comparison.ulps.counts, ulps.counts);
  EXPECT_EQ(comparison.differing, differing);
  EXPECT_DOUBLE_EQ(comparison.largest_excess, largest);
  EXPECT_LE(largest, 1);
}

TEST(Compare, infinities_must_be_the_same_and_NaN_in_the_same_place) {
  launch::Tolerance wide{.absolute = 1e30, .relative = 1};
  for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64}) {
    EXPECT_TRUE(Pair(dtype, {INFINITY, NAN}, {INFINITY, NAN}).run(wide).passed());
    EXPECT_FALSE(Pair(dtype, {INFINITY, 1}, {-INFINITY, 1}).run(wide).passed());
    EXPECT_FALSE(Pair(dtype, {INFINITY, 1}, {60000, 1}).run(wide).passed());
    EXPECT_FALSE(Pair(dtype, {1, 1}, {NAN, 1}).run(wide).passed());
    EXPECT_FALSE(Pair(dtype, {NAN, 1}, {1, 1}).run(wide).passed());
  }
  Pair payloads(DType::f32, {NAN, 1}, {NAN, 1});
  payloads.got[0] ^= 1;
  EXPECT_TRUE(payloads.run().passed());
}

TEST(Compare, negative_zero_equals_zero_even_under_an_exact_bound) {
  EXPECT_TRUE(Pair(DType::f32, {0, 1}, {-0.0, 1}).run().passed());
}

TEST(Compare, the_cosine_sees_what_no_element_shows) {
  std::vector<double> e(1000), g(1000);
  for (size_t i = 0; i < e.size(); ++i) e[i] = i % 2 ? 1 : -1, g[i] = e[i] + 0.5;
  EXPECT_TRUE(Pair(DType::f32, e, g).run({.absolute = 0.5}).passed());
  Comparison c = Pair(DType::f32, e, g).run({.absolute = 0.5, .cosine = 0.99});
  EXPECT_TRUE(c.cosine_failed);
  EXPECT_NEAR(c.cosine, 1 / std::sqrt(1.25), 1e-6);
}

TEST(Compare, untouched_elements_must_keep_their_bits_and_count_nowhere) {
  Pair p(DType::f32, {1, 1e30, 2}, {1, 1e30, 2});
  ElementSet set;
  set.insert(1, 3);
  p.expected = make_expected(p.buffer, p.expected.bytes, set, set);
  EXPECT_NEAR(p.expected.rms, std::sqrt(2.5), 1e-6);
  EXPECT_TRUE(p.run({.relative = 1}).passed());
  p.got[4] ^= 1;
  EXPECT_FALSE(p.run({.relative = 1}).passed());
}

TEST(Compare, the_8_bit_formats_are_compared_by_value) {
  EXPECT_TRUE(Pair(DType::fp8, {1, -2, 240}, {1.125, -2, 240}).run({.relative = 0.125}).passed());
  EXPECT_FALSE(Pair(DType::fp8, {1, -2, 240}, {1.25, -2, 240}).run({.relative = 0.125}).passed());
  EXPECT_FALSE(Pair(DType::bf8_ocp, {1, INFINITY}, {1, 57344}).run({.relative = 1}).passed());
}

TEST(Compare, mismatches_far_apart_in_a_large_buffer_are_all_counted_and_the_first_are_kept_in_order) {
  std::vector<double> e(100'000, 3), g = e;
  for (size_t i : {7u, 4095u, 4096u, 50'000u, 99'999u}) g[i] = 4;
  Pair p(DType::f16, e, g);
  Comparison c = p.run({.relative = 0.01});
  EXPECT_EQ(c.mismatches, 5u);
  ASSERT_EQ(c.first.size(), 5u);
  EXPECT_EQ(c.first[1].index, 4095u);
  EXPECT_EQ(c.first[4].index, 99'999u);
  EXPECT_EQ(launch::value_of(DType::f16, c.first[0].got), 4);
}

TEST(Compare, ulp_distances_count_representable_values) {
  auto f32 = [](float v) { return uint64_t{std::bit_cast<uint32_t>(v)}; };
  EXPECT_EQ(ulp_distance(DType::f32, f32(1.0f), f32(std::nextafter(1.0f, 2.0f))), 1u);
  EXPECT_EQ(ulp_distance(DType::f32, f32(-0.0f), f32(0.0f)), 0u);
  EXPECT_EQ(ulp_distance(DType::f32, f32(-1e-45f), f32(1e-45f)), 2u);
  EXPECT_EQ(ulp_distance(DType::i8, 0xff, 0x01), 2u);
  EXPECT_EQ(ulp_distance(DType::u64, 0, UINT64_MAX), UINT64_MAX);
}

TEST(Divergence, names_the_part_of_the_shape_that_is_wrong) {
  launch::Buffer buffer{.name = "out", .dtype = DType::f32, .shape = {8, 4}};
  std::vector<double> e(32, 1), g = e;
  for (size_t i = 24; i < 32; ++i) g[i] = 2;
  Expected expected = make_expected(buffer, encoded(DType::f32, e), {}, {});
  Bytes got = encoded(DType::f32, g);
  std::string text = describe(expected, got, compare(expected, got, {}), {});
  EXPECT_NE(text.find("`out` f32[8,4]: 8 of 32 elements differ"), std::string::npos) << text;
  EXPECT_NE(text.find("only where index 0 is from 6 to 7 (of 0 to 7)"), std::string::npos) << text;
  EXPECT_NE(text.find("[6,0] expected 1 (0x3f800000), got 2 (0x40000000), 8388608 ulp"), std::string::npos) << text;
}

TEST(Divergence, shows_signed_integers_with_their_sign) {
  launch::Buffer buffer{.name = "out", .dtype = DType::i16, .shape = {1}};
  Expected expected = make_expected(buffer, encoded(DType::i16, {-2}), {}, {});
  Bytes got = encoded(DType::i16, {3});
  std::string text = describe(expected, got, compare(expected, got, {}), {});
  EXPECT_NE(text.find("expected -2 (0xfffe), got 3 (0x0003)"), std::string::npos) << text;
}

TEST(Compare, elements_that_share_a_byte_are_compared_one_by_one) {
  launch::Buffer buffer{.name = "x", .dtype = DType::fp4, .shape = {5}, .role = launch::Role::out};
  // 1, 2, 3, 4 and 6; the last half byte belongs to no element.
  Expected expected = make_expected(buffer, Bytes{0x42, 0x65, 0x07}, {}, {});
  launch::Tolerance exact;
  EXPECT_TRUE(compare(expected, Bytes{0x42, 0x65, 0xf7}, exact).passed());
  Comparison comparison = compare(expected, Bytes{0x42, 0x55, 0x07}, exact);
  ASSERT_EQ(comparison.mismatches, 1u);
  EXPECT_EQ(comparison.first[0].index, 3u);
  EXPECT_EQ(comparison.first[0].expected, 6u);
  EXPECT_EQ(comparison.first[0].got, 5u);
  EXPECT_EQ(ulp_distance(DType::fp4, 5, 6), 1u);
  EXPECT_EQ(ulp_distance(DType::i4, 8, 7), 15u); // -8 and 7
}
