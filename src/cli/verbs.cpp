#include "cli/verb.h"

#include <array>

namespace asmevo::cli {

std::span<const Verb> all_verbs() {
  static const std::array verbs = {completion_verb, man_verb};
  return verbs;
}

} // namespace asmevo::cli
