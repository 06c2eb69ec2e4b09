// Numbers of a launch file: plain, or expressions over sizes.
#pragma once

#include "launch/expression.h"
#include "support/json.h"

#include <map>

namespace asmevo::launch {

Result<int64_t> integer_in(const JsonView& view, const Sizes& sizes, std::string_view what);
/// "nan", "inf" and "-inf" too.
Result<double> real_in(const JsonView& view, const Sizes& sizes, std::string_view what);
Result<uint64_t> bounded_in(const JsonView& view, const Sizes& sizes, std::string_view what, uint64_t low,
                            uint64_t high);

/// Sizes may refer to each other in any order.
class SizeTable {
public:
  /// Later values replace earlier ones. Errors: names that cannot stand in an expression.
  Result<void> add(const JsonView& object);
  /// Errors: what evaluate_integer() finds; sizes that refer to each other in a circle.
  Result<Sizes> resolve();

private:
  std::map<std::string, JsonView, std::less<>> views_;
  Sizes resolved_;
};

} // namespace asmevo::launch
