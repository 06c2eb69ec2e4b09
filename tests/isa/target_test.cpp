#include "isa/target.h"

#include <gtest/gtest.h>

namespace asmevo::isa {
namespace {

TEST(Target, CodeObjectV4FlagsGiveProcessorAndFeatureStates) {
  const auto target = target_from_elf(0xb4c, 2, "k.hsaco"); // gfx942, xnack on, sramecc off
  ASSERT_TRUE(target);
  EXPECT_EQ(target->processor, Processor::gfx942);
  EXPECT_EQ(target->xnack, Feature::on);
  EXPECT_EQ(target->sramecc, Feature::off);
  EXPECT_EQ(target_id(*target), "amdgcn-amd-amdhsa--gfx942:sramecc-:xnack+");
}

TEST(Target, CodeObjectV3FlagsKnowOnlyOnAndOff) {
  const auto target = target_from_elf(0x130, 1, "k.hsaco"); // gfx908, xnack on
  ASSERT_TRUE(target);
  EXPECT_EQ(target->processor, Processor::gfx908);
  EXPECT_EQ(target->xnack, Feature::on);
  EXPECT_EQ(target->sramecc, Feature::off);
}

TEST(Target, FeaturesThatMatchAnyDeviceAreLeftOutOfTheTargetId) {
  const auto target = target_from_elf(0x54f, 3, "k.hsaco");
  ASSERT_TRUE(target);
  EXPECT_EQ(target_id(*target), "amdgcn-amd-amdhsa--gfx950");
}

TEST(Target, Gfx9FourGenericIsReadAsGfx942AndKeepsItsName) {
  const auto target = target_from_elf(0x0100055f, 4, "k.hsaco");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->processor, Processor::gfx942);
  EXPECT_EQ(target->generic_version, 1);
  EXPECT_EQ(target_id(*target), "amdgcn-amd-amdhsa--gfx9-4-generic");
}

TEST(Target, AForeignProcessorIsNamedInTheError) {
  const auto target = target_from_elf(0x41, 3, "k.hsaco");
  ASSERT_FALSE(target);
  EXPECT_TRUE(target.error().message.starts_with("k.hsaco: compiled for gfx1100")) << target.error().message;
}

TEST(Target, AnUnknownProcessorNumberIsPrinted) {
  const auto target = target_from_elf(0xfe, 3, "k.hsaco");
  ASSERT_FALSE(target);
  EXPECT_NE(target.error().message.find("0xfe"), std::string::npos) << target.error().message;
}

TEST(Target, CodeObjectV2IsRefused) { EXPECT_FALSE(target_from_elf(0x30, 0, "k.hsaco")); }

TEST(Target, AnAbiVersionFromTheFutureIsRefused) { EXPECT_FALSE(target_from_elf(0x54c, 9, "k.hsaco")); }

TEST(Target, EveryProcessorNameReadsBack) {
  for (auto processor : {Processor::gfx906, Processor::gfx908, Processor::gfx90a, Processor::gfx942, Processor::gfx950})
    EXPECT_EQ(processor_from_name(processor_name(processor)).value(), processor);
  EXPECT_FALSE(processor_from_name("gfx1100"));
}

TEST(Target, EveryTargetIdReadsBack) {
  for (uint32_t flags : {0x54cu, 0xa4cu, 0xf4cu, 0xb4cu, 0x53fu, 0xf3fu, 0xa3fu, 0x54fu}) {
    const Target target = target_from_elf(flags, 3, "test").value();
    EXPECT_EQ(target_from_id(target_id(target)).value(), target) << target_id(target);
  }
  EXPECT_EQ(target_from_id("gfx90a:xnack-").value().xnack, Feature::off);
  EXPECT_TRUE(target_from_id("amdgcn-amd-amdhsa--gfx9-4-generic").value().generic);
  for (std::string_view wrong : {"", "gfx1100", "gfx90a:xnack", "gfx90a:tgsplit+", "gfx90a:", "gfx90a::xnack+"})
    EXPECT_FALSE(target_from_id(wrong)) << wrong;
}

} // namespace
} // namespace asmevo::isa
