#include "launch/infer.h"

#include "launch/infer/extent.h"

#include <gtest/gtest.h>

using namespace asmevo;

namespace {

struct Inferred {
  launch::Inference inference;
  launch::Launch launch;

  const launch::Case& main() const { return launch.cases.at(0); }
  std::string about(std::string_view name) const {
    for (const std::string& a : inference.assumptions)
      if (a.starts_with(std::string(name) + ":")) return a;
    return "nothing";
  }
};

Inferred infer(const std::string& name) {
  const std::string path = std::string(ASMEVO_SOURCE_DIR) + "/corpus/" + name + ".hsaco";
  auto bytes = read_file(path);
  auto object = std::make_shared<object::CodeObject>(object::read_code_object(*bytes, path).value());
  auto codec = isa::Codec::create(isa::target_from_elf(object->e_flags, object->abi_version, path).value()).value();
  auto image = machine::Image::create(object, codec).value();
  auto inference = launch::infer_launch(image, *object::choose_kernel(*object, "").value());
  EXPECT_TRUE(inference) << inference.error().message;
  if (!inference) return {};
  auto launch = launch::parse_launch(inference->text, name + ".json");
  EXPECT_TRUE(launch) << launch.error().message;
  return {*std::move(inference), *std::move(launch)};
}

} // namespace

TEST(InferLaunch, a_histogram_gets_a_count_for_every_value_a_byte_can_have) {
  Inferred i = infer("histogram");
  const launch::Buffer *counts = i.main().buffer("arg0"), *bytes = i.main().buffer("arg1");
  ASSERT_TRUE(counts && bytes);
  EXPECT_EQ(counts->dtype, launch::DType::u32);
  EXPECT_EQ(counts->role, launch::Role::inout);
  EXPECT_EQ(counts->elements(), 256u);
  EXPECT_EQ(bytes->dtype, launch::DType::u8);
  EXPECT_EQ(bytes->fill.b, 255);
  // Where few bytes are read they may still hold any value.
  for (const launch::Case& c : i.launch.cases) EXPECT_EQ(c.buffer("arg0")->elements(), 256u) << c.name;
  EXPECT_NE(i.about("arg1").find("what is loaded becomes an address"), std::string::npos) << i.about("arg1");
}

TEST(InferLaunch, sizes_are_told_from_factors_by_what_becomes_of_them) {
  Inferred i = infer("rmsnorm");
  EXPECT_NE(i.about("arg3").find("a size (used in addresses, comparisons, bounds of loops"), std::string::npos)
      << i.about("arg3");
  EXPECT_NE(i.about("arg4").find("no size (used in arithmetic on floats), f32"), std::string::npos) << i.about("arg4");
}

TEST(InferLaunch, types_are_found_behind_LDS) {
  Inferred i = infer("gemm_mfma");
  for (const char* name : {"arg0", "arg1", "arg2"}) {
    ASSERT_TRUE(i.main().buffer(name));
    EXPECT_EQ(i.main().buffer(name)->dtype, launch::DType::f16) << name;
  }
}

TEST(InferLaunch, a_grid_of_two_axes_ends_where_its_guards_end) {
  Inferred i = infer("transpose");
  const launch::Case& c = i.main();
  EXPECT_NE(i.about("arg1").find("bytes that are only moved"), std::string::npos) << i.about("arg1");
  EXPECT_EQ(c.workgroup_size, (std::array<uint32_t, 3>{32, 8, 1}));
  EXPECT_EQ(c.workgroups[0] * c.workgroups[1] * 32 * 32 * 4, c.buffer("arg0")->bytes());
}

TEST(InferLaunch, is_the_same_each_time) { EXPECT_EQ(infer("rope").inference.text, infer("rope").inference.text); }

TEST(InferLaunch, proposes_shapes_that_do_not_fill_workgroups) {
  Inferred i = infer("gelu");
  ASSERT_GE(i.launch.cases.size(), 3u);
  bool tail = false;
  for (const launch::Case& c : i.launch.cases) tail |= c.buffer("arg0")->elements() % 256 != 0;
  EXPECT_TRUE(tail);
}

TEST(Extent, joins_what_touches_and_keeps_what_does_not) {
  launch::Extent e;
  e.add(8, 12);
  e.add(0, 4);
  e.add(4, 6);
  EXPECT_EQ(e.low(), 0);
  EXPECT_EQ(e.high(), 12);
  EXPECT_EQ(e.bytes(), 10u);
  launch::Extent gap;
  gap.add(6, 8);
  EXPECT_FALSE(e.overlaps(gap));
  gap.add(7, 9);
  EXPECT_TRUE(e.overlaps(gap));
}
