#include "cli/verb.h"

#include <array>

namespace asmevo::cli {

std::span<const Verb> all_verbs() {
  static const std::array verbs = {inspect_verb,   extract_verb, bundle_verb,  recover_verb,    build_verb,
                                   roundtrip_verb, check_verb,   launch_verb,  run_verb,        verify_verb,
                                   prove_verb,     time_verb,    profile_verb, optimize_verb,   mcp_verb,
                                   lineage_verb,   suite_verb,   isa_verb,     completion_verb, man_verb};
  return verbs;
}

} // namespace asmevo::cli
