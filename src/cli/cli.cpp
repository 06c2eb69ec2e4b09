#include "cli/cli.h"

#include "cli/program.h"
#include "support/json.h"
#include "support/version.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace asmevo::cli {
namespace {

/// The verb whose help was asked for, else the whole tool.
const CLI::App& asked(const CLI::App& app) {
  for (const CLI::App* verb : app.get_subcommands())
    if (verb->parsed()) return *verb;
  return app;
}

bool is_verb(std::string_view name) { return std::ranges::find(all_verbs(), name, &Verb::name) != all_verbs().end(); }

bool wants_json(int argc, char** argv) {
  return std::any_of(argv, argv + argc, [](const char* word) { return std::string_view(word) == "--json"; });
}

ExitStatus report_error(const std::string& message, bool json) {
  fmt::print(stderr, "{}\n", message);
  // A program that asked for JSON gets a document in any case; it cannot parse stderr.
  if (json && !print_document({{"error", message}})) return tool_fault;
  return bad_input;
}

ExitStatus usage_error(const CLI::App& app, const CLI::ParseError& error, bool json) {
  const CLI::App& verb = asked(app);
  std::string command = &verb == &app ? "asmevo" : "asmevo " + verb.get_name();
  return report_error(fmt::format("{}: {} (see {} --help)", command, error.what(), command), json);
}

} // namespace

Result<void> print_text(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return {};
  return fail("stdout: cannot write: {}", std::strerror(errno));
}

Result<void> print_document(const nlohmann::json& document) { return print_text(write_json_indented(document)); }

Result<ExitStatus> answer(const Common& options, std::string_view text, const nlohmann::json& document,
                          ExitStatus status) {
  AE_CHECK(options.json ? print_document(document) : print_text(text));
  return status;
}

int run(int argc, char** argv) {
  Program program = make_program();
  bool json = wants_json(argc, argv);
  if (argc >= 2 && argv[1][0] != '-' && !is_verb(argv[1]))
    return report_error(fmt::format("asmevo: no verb \"{}\" (see asmevo --help)", argv[1]), json);
  if (argc < 2) {
    fmt::print(stderr, "{}", program.app->help());
    return bad_input;
  }
  try {
    program.app->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return print_text(asked(*program.app).help()) ? positive : tool_fault;
  } catch (const CLI::CallForVersion&) {
    return print_text(fmt::format("asmevo {}\n", version)) ? positive : tool_fault;
  } catch (const CLI::ParseError& error) {
    return usage_error(*program.app, error, json);
  }
  for (const auto& [verb, action] : program.actions) {
    if (!verb->parsed()) continue;
    Result<ExitStatus> status = action();
    return status ? *status : report_error(status.error().message, json);
  }
  return bad_input;
}

} // namespace asmevo::cli
