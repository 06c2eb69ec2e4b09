#include "launch/launch.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace asmevo;
using namespace asmevo::launch;

namespace {

template <class T> T read_at(const Bytes& segment, size_t offset) {
  T value;
  std::memcpy(&value, segment.data() + offset, sizeof value);
  return value;
}

object::KernelArgument argument(std::string kind, uint32_t offset, uint32_t size) {
  object::KernelArgument a;
  a.value_kind = std::move(kind);
  a.offset = offset;
  a.size = size;
  return a;
}

} // namespace

TEST(Kernarg, holds_explicit_arguments_and_the_hidden_ones_of_code_object_v5) {
  object::Kernel kernel;
  kernel.metadata.emplace();
  kernel.metadata->kernarg_segment_size = 272;
  uint32_t at = 16;
  for (std::string_view axis : {"x", "y", "z"})
    kernel.metadata->args.push_back(argument(fmt::format("hidden_block_count_{}", axis), at, 4)), at += 4;
  for (std::string_view axis : {"x", "y", "z"})
    kernel.metadata->args.push_back(argument(fmt::format("hidden_group_size_{}", axis), at, 2)), at += 2;
  for (std::string_view axis : {"x", "y", "z"})
    kernel.metadata->args.push_back(argument(fmt::format("hidden_remainder_{}", axis), at, 2)), at += 2;
  kernel.metadata->args.push_back(argument("hidden_global_offset_x", 56, 8));
  kernel.metadata->args.push_back(argument("hidden_grid_dims", 80, 2));
  kernel.metadata->args.push_back(argument("hidden_dynamic_lds_size", 136, 4));

  Case c;
  c.workgroups = {70'000, 3, 2};
  c.workgroup_size = {64, 4, 1};
  c.dynamic_lds = 4096;
  c.arguments = {{.offset = 0, .size = 8, .buffer = "x", .buffer_offset = 16},
                 {.offset = 8, .size = 4, .value = {1, 2, 3, 4}}};
  Bytes segment = kernarg_bytes(c, kernel, {{"x", 0x1000}});
  ASSERT_EQ(segment.size(), 272u);
  EXPECT_EQ(read_at<uint64_t>(segment, 0), 0x1010u);
  EXPECT_EQ(read_at<uint32_t>(segment, 8), 0x04030201u);
  EXPECT_EQ(read_at<uint32_t>(segment, 16), 70'000u);
  EXPECT_EQ(read_at<uint32_t>(segment, 20), 3u);
  EXPECT_EQ(read_at<uint32_t>(segment, 24), 2u);
  EXPECT_EQ(read_at<uint16_t>(segment, 28), 64u);
  EXPECT_EQ(read_at<uint16_t>(segment, 30), 4u);
  EXPECT_EQ(read_at<uint16_t>(segment, 34), 0u);
  EXPECT_EQ(read_at<uint64_t>(segment, 56), 0u);
  EXPECT_EQ(read_at<uint16_t>(segment, 80), 3u);
  EXPECT_EQ(read_at<uint32_t>(segment, 136), 4096u);
}

TEST(Kernarg, an_explicit_value_at_a_hidden_offset_wins) {
  object::Kernel kernel;
  kernel.metadata.emplace();
  kernel.metadata->kernarg_segment_size = 8;
  kernel.metadata->args = {argument("hidden_block_count_x", 0, 4)};
  Case c;
  c.arguments = {{.offset = 0, .size = 4, .value = {9, 0, 0, 0}}};
  EXPECT_EQ(kernarg_bytes(c, kernel, {}), (Bytes{9, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(Kernarg, a_null_pointer_is_zero) {
  object::Kernel kernel;
  Case c;
  c.arguments = {{.offset = 8, .size = 8, .null_pointer = true}};
  EXPECT_EQ(kernarg_bytes(c, kernel, {}), Bytes(16, 0));
}

TEST(Kernarg, metadata_that_points_outside_the_segment_writes_nothing_there) {
  object::Kernel kernel;
  kernel.metadata.emplace();
  kernel.metadata->kernarg_segment_size = 8;
  kernel.metadata->args = {argument("hidden_block_count_x", 0xfffffff0, 0xffffffff),
                           argument("hidden_group_size_y", 6, 16)};
  EXPECT_EQ(kernarg_bytes(Case{}, kernel, {}).size(), 8u);
}

TEST(Kernarg, a_partial_last_workgroup_is_the_remainder_and_no_block) {
  object::Kernel kernel;
  kernel.metadata.emplace();
  kernel.metadata->kernarg_segment_size = 8;
  kernel.metadata->args = {argument("hidden_block_count_x", 0, 4), argument("hidden_remainder_x", 4, 2)};
  Case c;
  c.workgroups = {4, 1, 1};
  c.workgroup_size = {256, 1, 1};
  c.work_items = {1000, 1, 1};
  EXPECT_EQ(kernarg_bytes(c, kernel, {}), (Bytes{3, 0, 0, 0, 232, 0, 0, 0}));
}

TEST(Kernarg, a_captured_segment_is_taken_as_it_is) {
  object::Kernel kernel;
  kernel.metadata.emplace();
  kernel.metadata->kernarg_segment_size = 8;
  kernel.metadata->args = {argument("hidden_block_count_x", 0, 4)};
  Case c;
  c.kernarg = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(kernarg_bytes(c, kernel, {}), c.kernarg);
}
