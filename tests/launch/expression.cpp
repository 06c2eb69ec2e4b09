#include "launch/expression.h"

#include <gtest/gtest.h>

using namespace asmevo;
using namespace asmevo::launch;

namespace {
const Sizes sizes{{"M", 300}, {"N", 128}, {"rows_2", 7}};

std::string error_of(std::string_view text) {
  auto value = evaluate_integer(text, sizes);
  return value ? "no error" : value.error().message;
}
} // namespace

TEST(Expression, follows_precedence_and_parentheses) {
  EXPECT_EQ(evaluate_integer("1 + 2*3", sizes).value(), 7);
  EXPECT_EQ(evaluate_integer("(1+2)*3", sizes).value(), 9);
  EXPECT_EQ(evaluate_integer("10 - 3 - 2", sizes).value(), 5);
  EXPECT_EQ(evaluate_integer("-M + --1", sizes).value(), -299);
  EXPECT_EQ(evaluate_integer("M % N", sizes).value(), 44);
  EXPECT_EQ(evaluate_integer("0x10 * rows_2", sizes).value(), 112);
}

TEST(Expression, knows_the_functions_of_grids) {
  EXPECT_EQ(evaluate_integer("ceildiv(M, N)", sizes).value(), 3);
  EXPECT_EQ(evaluate_integer("align(M, 64)", sizes).value(), 320);
  EXPECT_EQ(evaluate_integer("min(M, N) + max(M, N)", sizes).value(), 428);
}

TEST(Expression, uneven_division_says_what_to_write_instead) {
  EXPECT_EQ(evaluate_integer("N/2", sizes).value(), 64);
  EXPECT_EQ(error_of("M/N"), "in \"M/N\": 300 is not a multiple of 128; ceildiv(300, 128) rounds up");
}

TEST(Expression, mistakes_are_errors_that_name_them) {
  EXPECT_EQ(error_of("rows2"), "in \"rows2\": no size \"rows2\", did you mean \"rows_2\"?");
  EXPECT_EQ(error_of("M/0"), "in \"M/0\": division by zero");
  EXPECT_EQ(error_of("M M"), "in \"M M\": unexpected \"M\"");
  EXPECT_EQ(error_of("2*"), "in \"2*\": it ends where a number or a size was expected");
  EXPECT_EQ(error_of("(M"), "in \"(M\": a \")\" is missing");
  EXPECT_NE(error_of("9223372036854775807 + 1").find("does not fit 64 bits"), std::string::npos);
  EXPECT_NE(error_of("3000000000*4000000000").find("does not fit 64 bits"), std::string::npos);
  EXPECT_NE(error_of("floor(M, 2)").find("no function"), std::string::npos);
  EXPECT_NE(error_of("1.5").find("no whole number"), std::string::npos);
  EXPECT_NE(error_of(""), "no error");
}

TEST(Expression, deep_nesting_is_an_error_and_no_crash) {
  EXPECT_NE(error_of(std::string(100'000, '(')).find("nested too deeply"), std::string::npos);
  EXPECT_NE(error_of(std::string(100'000, '-')).find("nested too deeply"), std::string::npos);
}

TEST(Expression, reals_divide_as_reals) {
  EXPECT_DOUBLE_EQ(evaluate_real("1/N", sizes).value(), 1.0 / 128);
  EXPECT_DOUBLE_EQ(evaluate_real("1e-5", sizes).value(), 1e-5);
  EXPECT_DOUBLE_EQ(evaluate_real("2.5*M", sizes).value(), 750);
}
