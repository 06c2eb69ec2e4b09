// All verbs put together: the parser that runs them and from which completions and the manual page are printed.
#pragma once

#include "cli/verb.h"

namespace asmevo::cli {

struct Program {
  std::unique_ptr<CLI::App> app;
  std::vector<std::pair<CLI::App*, Action>> actions; // by verb
};

Program make_program();

/// Completion script for a shell. Errors: a shell that is not bash, zsh or fish.
Result<std::string> completion_script(const CLI::App& app, std::string_view shell);

/// The manual page, in man(7) macros.
std::string manual_page(const CLI::App& app);

} // namespace asmevo::cli
