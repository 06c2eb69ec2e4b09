// A small kernel and what a driver is shown of it.
#pragma once

#include "rewrite_fixture.h"
#include "search/driver.h"

namespace asmevo::search::rewrite::testing {

/// Two loads that merge, an addition made twice, and a wait that is too strong.
inline constexpr const char* body = "global_load_dword v2, v[0:1], off\n"
                                    "global_load_dword v3, v[0:1], off offset:4\n"
                                    "s_waitcnt vmcnt(0) lgkmcnt(0)\n"
                                    "v_add_u32_e32 v4, v2, v3\n"
                                    "v_add_u32_e32 v5, v2, v3\n"
                                    "v_xor_b32_e32 v6, v4, v5\n"
                                    "global_store_dword v[0:1], v6, off\n"
                                    "s_endpgm\n";

inline State state_of(const recover::Program& program) {
  return {.program = &program, .function = &program.functions.front(), .codec = &codec()};
}

} // namespace asmevo::search::rewrite::testing
