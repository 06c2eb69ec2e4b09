#include "machine/finding.h"

#include <array>

namespace asmevo::machine {

std::string_view name_of(FindingKind kind) {
  constexpr std::array<std::string_view, 6> names = {"missing wait",  "hazard",        "race",
                                                     "uninitialised", "out of bounds", "misaligned"};
  return names[size_t(kind)];
}

} // namespace asmevo::machine
