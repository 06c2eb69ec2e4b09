// Two listings, and the lines in which they differ.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace asmevo::agent {

struct DiffLine {
  char sign = ' '; // '-' only in the first, '+' only in the second
  std::string text;
};

/// Changes with `context` lines around each; a line "..." stands for what is left out between them. The shortest list
/// of changes, but where the differing middle of both is very long: then all of it is replaced.
std::vector<DiffLine> line_diff(std::string_view from, std::string_view to, size_t context);

} // namespace asmevo::agent
