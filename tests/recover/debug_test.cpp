#include "programs.h"
#include "recover/debug.h"

namespace asmevo::recover {
namespace {

using namespace testing;

const char* source = "__global__ void k(float* p, int n) {\n  for (int i = 0; i < n; i++)\n    p[i] = p[i] * 2;\n}\n";

class Debug : public ::testing::Test {
protected:
  void SetUp() override {
    if (!has_program("clang-22")) GTEST_SKIP() << "NOT TESTED: no clang-22";
    program = program_of(object_of(compile_hip(source, "gfx942", "-g"), "d.co"));
    ASSERT_TRUE(program.origin->section(".debug_line"));
  }
  Program program;
};

TEST_F(Debug, IsKeptByteForByteWhereNothingMoves) {
  auto trip = round_trip(program, codec_for(program.target));
  ASSERT_TRUE(trip) << trip.error().message;
  EXPECT_TRUE(trip->differences.empty()) << differences(*trip);
  for (const std::string& masked : trip->masked) EXPECT_EQ(masked.find("debug"), std::string::npos) << masked;
  auto again = object_of(trip->rebuilt, "again");
  for (const object::Section& s : program.origin->sections) {
    if (!is_debug(s)) continue;
    ASSERT_TRUE(again->section(s.name)) << s.name;
    EXPECT_TRUE(std::ranges::equal(program.origin->data(s), again->data(*again->section(s.name)))) << s.name;
  }
}

TEST_F(Debug, IsThereForOtherToolsToRead) {
  if (!has_program("llvm-dwarfdump-22")) GTEST_SKIP() << "NOT TESTED: no llvm-dwarfdump-22";
  auto trip = round_trip(program, codec_for(program.target));
  ASSERT_TRUE(trip) << trip.error().message;
  Scratch scratch;
  std::string file = scratch.write("k.co", std::string(trip->rebuilt.begin(), trip->rebuilt.end()));
  EXPECT_TRUE(run("llvm-dwarfdump-22 --verify " + file));
  EXPECT_TRUE(run("llvm-dwarfdump-22 --debug-line " + file + " | grep -q end_sequence"));
}

TEST_F(Debug, IsDroppedWithAReasonWhereCodeHasMoved) {
  const isa::Codec& codec = codec_for(program.target);
  Edit edit{program.functions[0].first + 2, program.functions[0].first + 2, "s_nop 1"};
  auto edited = apply(program, std::span(&edit, 1), codec);
  ASSERT_TRUE(edited) << edited.error().message;
  auto kept = keep_debug(*build(*edited, codec), *program.origin);
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->dropped.rfind(".text ", 0), 0u) << kept->dropped;
  EXPECT_EQ(object_of(kept->bytes, "edited")->section(".debug_line"), nullptr);
}

TEST_F(Debug, IsDroppedWhereCodeOfTheSameSizeIsOther) {
  const isa::Codec& codec = codec_for(program.target);
  size_t at = 0;
  while (program.items[at].instruction.size != 4 || !program.items[at].target.empty()) at++;
  Edit edit{at, at + 1, "s_nop 1"};
  auto edited = apply(program, std::span(&edit, 1), codec);
  ASSERT_TRUE(edited) << edited.error().message;
  auto kept = keep_debug(*build(*edited, codec), *program.origin);
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->dropped, ".text has changed");
}

} // namespace
} // namespace asmevo::recover
