// Register lists as text, for tables of expectations: "v0 s[2:3] vcc exec m0 scc mode".
#pragma once

#include "isa/instruction.h"

#include <fmt/format.h>

namespace asmevo::isa::testing {

inline std::string name_of_range(const RegisterRange& range) {
  if (range.file == File::scc) return "scc";
  if (range.file == File::mode) return "mode";
  if (range.file == File::sgpr && range.first == m0) return "m0";
  if (range == RegisterRange{File::sgpr, vcc_lo, 2}) return "vcc";
  if (range == RegisterRange{File::sgpr, exec_lo, 2}) return "exec";
  if (range == RegisterRange{File::sgpr, flat_scratch_lo, 2}) return "flat_scratch";
  const char letter = "sva"[static_cast<int>(range.file)];
  if (range.count == 1) return fmt::format("{}{}", letter, range.first);
  return fmt::format("{}[{}:{}]", letter, range.first, range.first + range.count - 1);
}

/// A bar after the explicit ones.
inline std::string names_of(const std::vector<RegisterRange>& ranges, size_t explicit_count) {
  std::string text;
  for (size_t n = 0; n < ranges.size(); ++n) {
    if (n == explicit_count) text += "| ";
    text += name_of_range(ranges[n]) + " ";
  }
  if (!text.empty()) text.pop_back();
  return text;
}

} // namespace asmevo::isa::testing
