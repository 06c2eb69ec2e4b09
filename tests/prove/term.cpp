// Rules of the normal form, one by one.
#include "prove/term.h"

#include <gtest/gtest.h>

namespace asmevo::prove {
namespace {

struct Terms32 : Terms {
  Id x = symbol(32, "x", false), y = symbol(32, "y", false), z = symbol(32, "z", false);
  Id p = symbol(1, "p", false), q = symbol(1, "q", false);
  Id m = symbol(64, "m", true), n = symbol(64, "n", true);
  Id number(uint32_t n) { return constant(32, n); }
};

TEST(Terms, the_same_function_has_one_number) {
  Terms32 t;
  EXPECT_EQ(t.add(t.x, t.y), t.add(t.y, t.x));
  EXPECT_EQ(t.conjunction(t.x, t.conjunction(t.y, t.z)), t.conjunction(t.conjunction(t.z, t.x), t.y));
  EXPECT_NE(t.add(t.x, t.y), t.add(t.x, t.z));
}

TEST(Terms, constants_are_computed) {
  Terms32 t;
  EXPECT_EQ(t.value(t.add(t.number(5), t.number(0xfffffffe))), 3u);
  EXPECT_EQ(t.value(t.shift_arithmetic(t.number(0x80000000), t.number(31))), 0xffffffffu);
  EXPECT_EQ(t.value(t.below(t.number(3), t.number(4))), 1u);
  EXPECT_EQ(t.value(t.less(t.number(0xffffffff), t.number(0))), 1u);
  EXPECT_EQ(t.value(t.high(t.constant(64, 0x500000001))), 5u);
}

TEST(Terms, sums_are_linear_forms) {
  Terms32 t;
  EXPECT_EQ(t.subtract(t.add(t.x, t.y), t.y), t.x);
  EXPECT_EQ(t.multiply(t.x, t.number(8)), t.shift_left(t.x, t.number(3)));
  EXPECT_EQ(t.add(t.shift_left(t.x, t.number(2)), t.x), t.multiply(t.number(5), t.x));
  EXPECT_EQ(t.negate(t.complement(t.x)), t.add(t.x, t.number(1)));
  EXPECT_EQ(t.complement(t.complement(t.add(t.x, t.number(3)))), t.add(t.x, t.number(3)));
}

TEST(Terms, a_disjunction_without_common_bits_is_a_sum) {
  Terms32 t;
  const Id scaled = t.shift_left(t.x, t.number(3));
  EXPECT_EQ(t.disjunction(scaled, t.number(4)), t.add(scaled, t.number(4)));
  EXPECT_NE(t.disjunction(scaled, t.number(8)), t.add(scaled, t.number(8)));
}

TEST(Terms, masks_of_bits_that_are_clear_vanish) {
  Terms32 t;
  const Id byte = t.conjunction(t.x, t.number(0xff));
  EXPECT_EQ(t.conjunction(byte, t.number(0xffff)), byte);
  EXPECT_EQ(t.shift_right(byte, t.number(8)), t.number(0));
  EXPECT_EQ(t.conjunction(t.shift_left(t.x, t.number(2)), t.number(~3u)), t.shift_left(t.x, t.number(2)));
  EXPECT_EQ(t.conjunction(t.add(t.x, t.number(8)), t.number(~3u)),
            t.add(t.conjunction(t.x, t.number(~3u)), t.number(8)));
  EXPECT_EQ(t.conjunction(t.add(t.x, t.number(8)), t.number(7)), t.conjunction(t.x, t.number(7)));
}

TEST(Terms, halves_of_a_value_are_that_value) {
  Terms32 t;
  const Id sum = t.add(t.zero_extend(t.x), t.zero_extend(t.y));
  EXPECT_EQ(t.pair(t.low(sum), t.high(sum)), sum);
  const Id both = t.conjunction(t.m, t.n);
  EXPECT_EQ(t.pair(t.low(both), t.high(both)), both);
  EXPECT_EQ(t.low(t.pair(t.x, t.y)), t.x);
  EXPECT_EQ(t.high(t.pair(t.x, t.y)), t.y);
}

TEST(Terms, a_carry_chain_is_a_64_bit_sum) {
  Terms32 t;
  const Id a = t.symbol(32, "a", false), b = t.symbol(32, "b", false);
  const Id low = t.add(t.x, t.y);
  for (Id part : {t.x, t.y}) {
    const Id carry = t.word_of(t.below(low, part));
    const Id high = t.add(t.add(a, b), carry);
    EXPECT_EQ(t.pair(low, high), t.add(t.pair(t.x, a), t.pair(t.y, b)));
  }
}

TEST(Terms, a_borrow_chain_is_a_64_bit_difference) {
  Terms32 t;
  const Id a = t.symbol(32, "a", false), b = t.symbol(32, "b", false);
  const Id borrow = t.word_of(t.below(t.x, t.y));
  EXPECT_EQ(t.pair(t.subtract(t.x, t.y), t.subtract(t.subtract(a, b), borrow)),
            t.subtract(t.pair(t.x, a), t.pair(t.y, b)));
}

TEST(Terms, choices_are_decided_by_what_is_known) {
  Terms32 t;
  EXPECT_EQ(t.choose(t.p, t.x, t.x), t.x);
  EXPECT_EQ(t.choose(t.p, t.choose(t.p, t.x, t.y), t.z), t.choose(t.p, t.x, t.z));
  EXPECT_EQ(t.choose(t.complement(t.p), t.x, t.y), t.choose(t.p, t.y, t.x));
  EXPECT_EQ(t.given(t.conjunction(t.p, t.q), t.choose(t.p, t.x, t.y)), t.x);
  EXPECT_EQ(t.given(t.complement(t.p), t.choose(t.p, t.x, t.y)), t.y);
  EXPECT_EQ(t.given(t.q, t.choose(t.p, t.x, t.y)), t.choose(t.p, t.x, t.y));
}

TEST(Terms, truths_have_one_form) {
  Terms32 t;
  EXPECT_EQ(t.conjunction(t.p, t.complement(t.p)), t.bit(false));
  EXPECT_EQ(t.disjunction(t.p, t.complement(t.p)), t.bit(true));
  EXPECT_EQ(t.complement(t.conjunction(t.p, t.q)), t.disjunction(t.complement(t.p), t.complement(t.q)));
  EXPECT_EQ(t.conjunction(t.p, t.complement(t.conjunction(t.p, t.q))), t.conjunction(t.p, t.complement(t.q)));
  EXPECT_EQ(t.disjunction(t.p, t.conjunction(t.p, t.q)), t.p);
}

TEST(Terms, a_lane_of_a_mask_of_a_bit_is_the_bit) {
  Terms32 t;
  EXPECT_EQ(t.lane_bit(t.mask_of(t.p)), t.p);
  EXPECT_EQ(t.mask_of(t.lane_bit(t.m)), t.m);
  EXPECT_EQ(t.lane_bit(t.conjunction(t.m, t.complement(t.n))),
            t.conjunction(t.lane_bit(t.m), t.complement(t.lane_bit(t.n))));
  EXPECT_EQ(t.mask_of(t.conjunction(t.p, t.lane_bit(t.m))), t.conjunction(t.mask_of(t.p), t.m));
}

TEST(Terms, an_active_lane_shows_that_the_mask_is_not_empty) {
  Terms32 t;
  const Id on = t.lane_bit(t.m);
  EXPECT_EQ(t.conjunction(on, t.complement(t.is_zero(t.m))), on);
  EXPECT_NE(t.conjunction(on, t.complement(t.is_zero(t.n))), on);
}

TEST(Terms, comparisons_are_decided_by_differences) {
  Terms32 t;
  EXPECT_EQ(t.equal(t.add(t.x, t.number(1)), t.add(t.x, t.number(2))), t.bit(false));
  EXPECT_EQ(t.equal(t.add(t.x, t.number(1)), t.number(5)), t.equal(t.x, t.number(4)));
  EXPECT_EQ(t.equal(t.add(t.x, t.number(1)), t.add(t.y, t.number(1))), t.equal(t.y, t.x));
  EXPECT_EQ(t.equal(t.word_of(t.p), t.number(0)), t.complement(t.p));
  EXPECT_EQ(t.below(t.conjunction(t.x, t.number(7)), t.number(8)), t.bit(true));
}

} // namespace
} // namespace asmevo::prove
