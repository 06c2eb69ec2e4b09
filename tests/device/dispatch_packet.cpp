#include "device/dispatch_packet.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace asmevo;
using namespace asmevo::device;

namespace {

object::Kernel kernel_with(uint32_t rsrc1, uint32_t rsrc3) {
  object::Kernel kernel;
  auto put = [&](size_t at, uint32_t word) { std::memcpy(&kernel.descriptor.raw[at], &word, 4); };
  put(0, 512);
  put(4, 16);
  put(44, rsrc3);
  put(48, rsrc1);
  return kernel;
}

template <class T> T read_at(const Bytes& bytes, size_t offset) {
  T value;
  std::memcpy(&value, &bytes[offset], sizeof value);
  return value;
}

} // namespace

TEST(DispatchPacket, has_its_fields_where_the_HSA_specification_puts_them) {
  launch::Case c;
  c.workgroups = {10, 3, 2};
  c.workgroup_size = {64, 4, 1};
  c.work_items = {600, 12, 2};
  c.dynamic_lds = 1024;
  Bytes p = dispatch_packet(c, kernel_with(0, 0), 0x1234, 0x5678);
  ASSERT_EQ(p.size(), 64u);
  EXPECT_EQ(read_at<uint16_t>(p, 2), 3u);
  EXPECT_EQ(read_at<uint16_t>(p, 4), 64u);
  EXPECT_EQ(read_at<uint16_t>(p, 6), 4u);
  EXPECT_EQ(read_at<uint32_t>(p, 12), 600u);
  EXPECT_EQ(read_at<uint32_t>(p, 16), 12u);
  EXPECT_EQ(read_at<uint32_t>(p, 24), 16u);
  EXPECT_EQ(read_at<uint32_t>(p, 28), 1536u);
  EXPECT_EQ(read_at<uint64_t>(p, 32), 0x1234u);
  EXPECT_EQ(read_at<uint64_t>(p, 40), 0x5678u);
}
