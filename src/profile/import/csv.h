// Comma-separated values as RFC 4180 has them: quoted fields may hold commas, quotes and line ends.
#pragma once

#include "support/result.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace asmevo::profile {

using Fields = std::vector<std::string>;

/// Calls `row` for each line behind the header, with as many fields as that has. Spaces around names in the header are
/// not part of them. Errors: "path:line: ..." for a row of another length, a quote that is not closed; what `header`
/// and `row` return.
Result<void> each_row(std::string_view text, const std::string& path,
                      const std::function<Result<void>(const Fields& names)>& header,
                      const std::function<Result<void>(const Fields& fields, size_t line)>& row);

} // namespace asmevo::profile
