#include "analysis/finding.h"

#include <fmt/format.h>

namespace asmevo::analysis {

std::string place_of(const recover::Item& item) {
  const std::string text = item.kind == recover::ItemKind::label ? item.text + ":" : item.text;
  if (item.origin < 0) return fmt::format("`{}`", text);
  return fmt::format("{:#x} `{}`", item.origin, text);
}

} // namespace asmevo::analysis
