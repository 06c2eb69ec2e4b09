#include "launch/dtype.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>

using namespace asmevo::launch;

TEST(DType, every_encoding_of_the_small_formats_survives_decoding_and_encoding) {
  for (DType type : {DType::fp8, DType::bf8, DType::fp8_ocp, DType::bf8_ocp, DType::f16, DType::bf16})
    for (uint64_t bits = 0; bits < uint64_t{1} << size_of(type) * 8; ++bits) {
      double value = value_of(type, bits);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(value_of(type, bits_of(type, value))));
      else
        EXPECT_EQ(bits_of(type, value), bits) << name_of(type) << " " << bits;
    }
}

TEST(DType, the_8_bit_formats_of_gfx942_and_gfx950_differ_as_documented) {
  EXPECT_EQ(value_of(DType::fp8, 0x40), 1.0 * 1.0);
  EXPECT_EQ(value_of(DType::fp8_ocp, 0x38), 1.0);
  EXPECT_EQ(value_of(DType::fp8, 0x7f), 240.0);
  EXPECT_EQ(value_of(DType::fp8_ocp, 0x7e), 448.0);
  EXPECT_TRUE(std::isnan(value_of(DType::fp8, 0x80)));
  EXPECT_EQ(value_of(DType::fp8_ocp, 0x80), 0.0);
  EXPECT_TRUE(std::isnan(value_of(DType::fp8_ocp, 0xff)));
  EXPECT_EQ(value_of(DType::bf8, 0x7f), 57344.0);
  EXPECT_TRUE(std::isinf(value_of(DType::bf8_ocp, 0x7c)));
  EXPECT_EQ(bits_of(DType::fp8, -0.0), 0u); // FNUZ has no negative zero
  EXPECT_EQ(bits_of(DType::fp8, 1e9), 0x7fu);
}

TEST(DType, conversion_to_half_rounds_to_nearest_even_at_every_tie) {
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    double low = value_of(DType::f16, bits), high = bits + 1 == 0x7c00 ? 65536.0 : value_of(DType::f16, bits + 1);
    float tie = float((low + high) / 2);
    uint32_t even = bits & 1 ? bits + 1 : bits;
    EXPECT_EQ(half_from_float(tie), even);
    EXPECT_EQ(half_from_float(std::nextafter(tie, 0.0f)), bits);
    EXPECT_EQ(half_from_float(std::nextafter(tie, 1e9f)), bits + 1);
    EXPECT_EQ(half_from_float(-tie), even | 0x8000);
    EXPECT_EQ(bits_of(DType::f16, tie), even);
  }
}

TEST(DType, half_and_bfloat_conversions_agree_with_the_general_one) {
  uint32_t word = 12345;
  for (int i = 0; i < 200'000; ++i) {
    word = word * 1664525 + 1013904223;
    float value = std::bit_cast<float>(word);
    if (std::isnan(value)) continue;
    EXPECT_EQ(half_from_float(value), bits_of(DType::f16, value));
    EXPECT_EQ(bfloat_from_float(value), bits_of(DType::bf16, value));
  }
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    double value = value_of(DType::f16, bits);
    if (!std::isnan(value))
      EXPECT_EQ(double(float_from_half(uint16_t(bits))), value);
    else
      EXPECT_TRUE(std::isnan(float_from_half(uint16_t(bits))));
  }
}

TEST(DType, integers_saturate_and_round_towards_zero) {
  EXPECT_EQ(bits_of(DType::i8, 1000), 0x7fu);
  EXPECT_EQ(bits_of(DType::i8, -1000), 0x80u);
  EXPECT_EQ(bits_of(DType::u8, -1), 0u);
  EXPECT_EQ(bits_of(DType::i32, -1.9), 0xffffffffu);
  EXPECT_EQ(bits_of(DType::u64, 1e30), UINT64_MAX);
  EXPECT_EQ(bits_of(DType::i64, 1e30), uint64_t(INT64_MAX));
  EXPECT_EQ(value_of(DType::i16, 0xffff), -1.0);
}
