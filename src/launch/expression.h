// Sizes as arithmetic: "rows*columns", "ceildiv(N, 128)".
//
// A launch at another size changes a dozen numbers that follow from two. So wherever a launch file takes a number it
// also takes an expression over the file's `sizes`: + - * / % and parentheses, ceildiv, align, min, max. Whole numbers
// are 64-bit and checked (overflow and division by zero are errors, `/` must divide evenly or says so); where a
// floating-point scalar is wanted the same text is evaluated in double.
#pragma once

#include "support/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace asmevo::launch {

using Sizes = std::map<std::string, int64_t, std::less<>>;

/// Errors have no place: `in "rows*M": no size "M"`.
Result<int64_t> evaluate_integer(std::string_view text, const Sizes& sizes);
Result<double> evaluate_real(std::string_view text, const Sizes& sizes);

} // namespace asmevo::launch
