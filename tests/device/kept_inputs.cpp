#include "device/kept_inputs.h"

#include <gtest/gtest.h>

using namespace asmevo;
using namespace asmevo::device;

namespace {

launch::Buffer numbers(uint64_t elements, launch::FillKind kind = launch::FillKind::normal) {
  return {.name = "in", .dtype = launch::DType::f32, .shape = {elements}, .fill = {.kind = kind}};
}

/// Whether `inputs` gives what launch::initial_bytes does.
bool is_right(KeptInputs& inputs, const launch::Case& c, const launch::Buffer& buffer, uint64_t poison_seed = 1) {
  Bytes bytes(buffer.bytes(), 0xcc);
  EXPECT_TRUE(inputs.fill(c, buffer, poison_seed, bytes));
  return bytes == launch::initial_bytes(c, buffer, poison_seed).value();
}

} // namespace

TEST(KeptInputs, an_input_that_is_asked_for_again_is_the_same_and_is_kept_from_then_on) {
  KeptInputs inputs;
  const launch::Case c{.seed = 3};
  EXPECT_TRUE(is_right(inputs, c, numbers(1000)));
  EXPECT_EQ(inputs.bytes(), 0u);
  EXPECT_TRUE(is_right(inputs, c, numbers(1000)));
  EXPECT_EQ(inputs.bytes(), 4000u);
  EXPECT_TRUE(is_right(inputs, c, numbers(1000)));
  EXPECT_EQ(inputs.bytes(), 4000u);
}

TEST(KeptInputs, whatever_a_fill_depends_on_gives_another_input) {
  KeptInputs inputs;
  const launch::Case c{.seed = 3};
  launch::Buffer name = numbers(1000), type = name, shape = name, kind = name, first = name, second = name;
  name.name = "other";
  type.dtype = launch::DType::i32;
  type.fill.kind = launch::FillKind::uniform;
  shape.shape = {10, 100};
  kind.fill.kind = launch::FillKind::special;
  first.fill.a = 2;
  second.fill.b = 2;
  for (int time = 0; time < 3; ++time) {
    EXPECT_TRUE(is_right(inputs, c, numbers(1000)));
    EXPECT_TRUE(is_right(inputs, {.seed = 4}, numbers(1000)));
    for (const launch::Buffer& buffer : {name, type, shape, kind, first, second})
      EXPECT_TRUE(is_right(inputs, c, buffer)) << buffer.name << ' ' << int(buffer.fill.kind);
  }
}

TEST(KeptInputs, what_is_not_random_is_not_kept) {
  KeptInputs inputs;
  for (const uint64_t poison : {1, 2, 1, 2}) {
    EXPECT_TRUE(is_right(inputs, {}, numbers(1000, launch::FillKind::poison), poison));
    EXPECT_TRUE(is_right(inputs, {}, numbers(1000, launch::FillKind::zero), poison));
  }
  EXPECT_EQ(inputs.bytes(), 0u);
}

TEST(KeptInputs, the_oldest_make_room_and_the_largest_are_not_kept) {
  KeptInputs inputs;
  constexpr uint64_t mebi = uint64_t{1} << 20;
  Bytes bytes(16 * mebi);
  for (uint64_t seed = 0; seed < 10; ++seed)
    for (int time = 0; time < 2; ++time)
      EXPECT_TRUE(inputs.fill({.seed = seed}, numbers(4 * mebi, launch::FillKind::uniform), 1, bytes));
  EXPECT_EQ(inputs.bytes(), 128 * mebi);
  EXPECT_TRUE(inputs.fill({.seed = 9}, numbers(4 * mebi, launch::FillKind::uniform), 1, bytes));
  EXPECT_EQ(bytes, launch::initial_bytes({.seed = 9}, numbers(4 * mebi, launch::FillKind::uniform), 1).value());
  bytes.resize(16 * mebi + 4);
  for (int time = 0; time < 2; ++time)
    EXPECT_TRUE(inputs.fill({.seed = 0}, numbers(4 * mebi + 1, launch::FillKind::uniform), 1, bytes));
  EXPECT_EQ(inputs.bytes(), 128 * mebi);
}

TEST(KeptInputs, one_that_cannot_be_written_to_is_made_once_with_its_guards) {
  KeptInputs inputs;
  const launch::Case c{.seed = 3};
  const launch::Buffer buffer = numbers(1000);
  const auto first = inputs.region(c, buffer, 1, 64, 32), again = inputs.region(c, buffer, 1, 64, 32);
  ASSERT_TRUE(first && again && *first);
  EXPECT_EQ(*first, *again);
  const uint8_t* bytes = (*first)->data();
  EXPECT_EQ(Bytes(bytes + 64, bytes + 4064), launch::initial_bytes(c, buffer, 1).value());
  Bytes before(64), after(32);
  launch::fill_poison(1, "in guard", 0, before);
  launch::fill_poison(1, "in guard", guard_bytes, after);
  EXPECT_EQ(Bytes(bytes, bytes + 64), before);
  EXPECT_EQ(Bytes(bytes + 4064, bytes + 4096), after);
  for (const auto& other : {inputs.region(c, buffer, 2, 64, 32), inputs.region({.seed = 4}, buffer, 1, 64, 32)}) {
    ASSERT_TRUE(other && *other);
    EXPECT_NE(*other, *first);
  }
}

TEST(KeptInputs, what_may_be_written_to_or_points_somewhere_is_nobody_elses) {
  KeptInputs inputs;
  launch::Buffer written = numbers(1000), constant = numbers(1000, launch::FillKind::zero), pointing = numbers(1000);
  written.role = launch::Role::inout;
  pointing.fill.pointers.push_back({});
  for (const launch::Buffer& buffer : {written, constant, pointing, numbers((uint64_t{4} << 20) + 1)}) {
    const auto region = inputs.region({}, buffer, 1, 64, 64);
    ASSERT_TRUE(region);
    EXPECT_EQ(*region, nullptr);
  }
}
