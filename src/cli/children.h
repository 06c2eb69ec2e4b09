// This program again, as child processes: a run that is killed or runs out of memory takes nobody else with it.
#pragma once

#include "cli/verb.h"

#include <functional>
#include <string>
#include <vector>

namespace asmevo::cli {

/// What a child left behind.
struct ChildEnd {
  int status = tool_fault; // exit status; tool_fault where a signal ended it
  std::string output;      // standard output
  std::string last_line;   // of standard error: what went wrong, where something did
};

/// Runs `asmevo ARGUMENTS...` once for each list, up to `jobs` at a time, and calls `ended` as each ends. When `*stop`
/// is set no more are begun and those that run are killed, which loses nothing that a run has recorded. Errors: a
/// process cannot be made.
Result<void> run_children(const std::vector<std::vector<std::string>>& lists, unsigned jobs, const volatile bool* stop,
                          const std::function<void(size_t, ChildEnd)>& ended);

/// One of them. Errors: as above; stopped is status `interrupted`.
Result<ChildEnd> run_child(const std::vector<std::string>& arguments, const volatile bool* stop);

} // namespace asmevo::cli
