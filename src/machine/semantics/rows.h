// Tables of rows are built in parts; concatenate() joins them at compile time.
#pragma once

#include "machine/registry.h"

#include <algorithm>
#include <array>

namespace asmevo::machine {

template <size_t... N> consteval auto concatenate(const std::array<InstructionRow, N>&... parts) {
  std::array<InstructionRow, (N + ...)> all{};
  size_t at = 0;
  ((std::copy(parts.begin(), parts.end(), all.begin() + at), at += N), ...);
  return all;
}

} // namespace asmevo::machine
