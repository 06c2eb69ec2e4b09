#include "launch/launch.h"
#include "launch/npy.h"

#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>

using namespace asmevo;
using namespace asmevo::launch;

namespace {

Result<Launch> with_buffer(const std::string& buffer, const std::string& path = "l.json") {
  return parse_launch(R"({"workgroups": 1, "workgroup_size": 64, "buffers": {"x": )" + buffer +
                          R"(}, "arguments": [{"buffer": "x"}]})",
                      path);
}

} // namespace

TEST(PackedTypes, fp4_has_the_sixteen_values_of_OCP_e2m1) {
  const double values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (uint64_t bits = 0; bits < 8; ++bits) {
    EXPECT_EQ(value_of(DType::fp4, bits), values[bits]);
    EXPECT_EQ(value_of(DType::fp4, bits | 8), -values[bits]);
    EXPECT_EQ(bits_of(DType::fp4, -values[bits]), bits | 8);
  }
  EXPECT_EQ(bits_of(DType::fp4, 2.5), 4u); // the tie goes to the even encoding
  EXPECT_EQ(bits_of(DType::fp4, 3.5), 6u);
  EXPECT_EQ(bits_of(DType::fp4, 1e9), 7u); // no infinity: the largest number
  EXPECT_EQ(bits_of(DType::fp4, -HUGE_VAL), 15u);
}

TEST(PackedTypes, integers_of_four_bits_saturate) {
  EXPECT_EQ(bits_of(DType::i4, 100), 7u);
  EXPECT_EQ(bits_of(DType::i4, -100), 8u);
  EXPECT_EQ(value_of(DType::i4, 8), -8);
  EXPECT_EQ(value_of(DType::i4, 15), -1);
  EXPECT_EQ(bits_of(DType::u4, 100), 15u);
  EXPECT_EQ(bits_of(DType::u4, -1), 0u);
}

TEST(PackedTypes, the_first_element_of_a_byte_is_its_low_half) {
  uint8_t bytes[2] = {0xa5, 0};
  EXPECT_EQ(load_element(DType::u4, bytes, 0), 5u);
  EXPECT_EQ(load_element(DType::u4, bytes, 1), 10u);
  store_element(DType::u4, bytes, 1, 3);
  store_element(DType::u4, bytes, 2, 7);
  EXPECT_EQ(bytes[0], 0x35);
  EXPECT_EQ(bytes[1], 0x07);
}

TEST(PackedTypes, a_shape_counts_elements_and_two_take_a_byte) {
  auto launch = with_buffer(R"({"dtype": "fp4", "shape": [3, 5], "role": "out"})");
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->cases[0].buffers[0].elements(), 15u);
  EXPECT_EQ(launch->cases[0].buffers[0].bytes(), 8u);
}

TEST(PackedTypes, every_random_fill_reaches_every_element) {
  for (const char* fill : {R"({"integers": [1, 7]})", R"({"constant": 3})", R"({"uniform": [1, 6]})"}) {
    for (const char* dtype : {"fp4", "i4", "u4"}) {
      auto launch =
          with_buffer(fmt::format(R"({{"dtype": "{}", "shape": 5001, "role": "in", "fill": {}}})", dtype, fill));
      ASSERT_TRUE(launch) << launch.error().message;
      const Buffer& x = launch->cases[0].buffers[0];
      Bytes bytes = initial_bytes(launch->cases[0], x, 0).value();
      for (uint64_t i = 0; i < x.elements(); ++i)
        ASSERT_GE(value_of(x.dtype, load_element(x.dtype, bytes.data(), i)), 1) << dtype << fill << i;
    }
  }
}

TEST(PackedTypes, special_values_hold_the_extremes_and_stay_in_their_halves) {
  auto launch = with_buffer(R"({"dtype": "i4", "shape": 4096, "role": "in", "fill": {"special": 1}})");
  ASSERT_TRUE(launch) << launch.error().message;
  const Buffer& x = launch->cases[0].buffers[0];
  Bytes bytes = initial_bytes(launch->cases[0], x, 0).value();
  std::set<double> seen;
  for (uint64_t i = 0; i < x.elements(); ++i) seen.insert(value_of(x.dtype, load_element(x.dtype, bytes.data(), i)));
  EXPECT_TRUE(seen.contains(-8) && seen.contains(7) && seen.contains(0));
}

TEST(PackedTypes, arrays_of_their_bytes_stand_for_them_in_npy_files) {
  const std::string path = testing::TempDir() + "packed.npy";
  Bytes content{0x21, 0x43, 0x05};
  ASSERT_TRUE(write_file(path, format_npy(DType::u4, {5}, content)));
  auto launch = with_buffer(R"({"dtype": "u4", "shape": 5, "role": "in", "fill": {"npy": ")" + path + "\"}}");
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(initial_bytes(launch->cases[0], launch->cases[0].buffers[0], 0).value(), content);
  auto other = with_buffer(R"({"dtype": "u4", "shape": 9, "role": "in", "fill": {"npy": ")" + path + "\"}}");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("buffer \"x\" of u4 needs an array of 5 bytes (u1)"), std::string::npos)
      << other.error().message;
}

TEST(PackedTypes, are_no_scalars) {
  auto launch = parse_launch(R"({"workgroups": 1, "workgroup_size": 64, "arguments": [{"fp4": 1}]})", "l.json");
  ASSERT_FALSE(launch);
  EXPECT_EQ(launch.error().message, "l.json:1:63: argument 0: fp4 has no bytes of its own; give \"bytes\"");
}
