// A verb of the command line: one file each, all rows of one table, from which the help, the completions and the manual
// page are made too.
#pragma once

#include "support/result.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

namespace asmevo::cli {

/// What a process ends with. Faults of the tool itself are 3.
enum ExitStatus : int { positive = 0, negative = 1, bad_input = 2, tool_fault = 3, undecided = 4, interrupted = 130 };

/// What every verb has.
struct Common {
  bool json = false;
};

using Action = std::function<Result<ExitStatus>()>;

struct Verb {
  std::string_view name;
  std::string_view summary;  // one line
  std::string_view examples; // what one would type, a line each
  Action (*declare)(CLI::App& app);
};

std::span<const Verb> all_verbs();

/// Builds `app`'s options for the fields of an `Options` (which derives from Common) and binds them to `run`.
template <class Options, class Declare, class Run> Action declare(CLI::App& app, Declare options_of, Run run) {
  auto options = std::make_shared<Options>();
  options_of(app, *options);
  app.add_flag("--json", options->json, "one JSON document on stdout instead of text");
  return [options, run]() -> Result<ExitStatus> { return run(*options); };
}

/// To stdout. Errors: it cannot be written.
Result<void> print_text(std::string_view text);
Result<void> print_document(const nlohmann::json& document);
/// The end of a verb: prints the text or, where JSON was asked for, the document.
Result<ExitStatus> answer(const Common& options, std::string_view text, const nlohmann::json& document,
                          ExitStatus status = positive);

extern const Verb inspect_verb, extract_verb, bundle_verb, recover_verb, build_verb, roundtrip_verb, check_verb,
    launch_verb, run_verb, verify_verb, prove_verb, time_verb, profile_verb, optimize_verb, mcp_verb, lineage_verb,
    suite_verb, isa_verb, completion_verb, man_verb;

} // namespace asmevo::cli
