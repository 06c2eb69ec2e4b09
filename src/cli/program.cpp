#include "cli/program.h"

namespace asmevo::cli {
namespace {

constexpr std::string_view about =
    "Takes a compiled AMD GPU code object and returns a faster, drop-in replacement whose behaviour is\n"
    "verified against it. All execution and timing is on a simulated CDNA device.";
constexpr std::string_view statuses = "Exit status: 0 done or verdict positive, 1 verdict negative, 2 bad usage or "
                                      "input, 3 fault of the tool,\n4 undecided.";

/// CLI11 would print "Usage: build ...", which nobody can type.
class Formatter : public CLI::Formatter {
public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    return CLI::Formatter::make_usage(app, app->get_parent() ? app->get_parent()->get_name() + " " + name : name);
  }
};

} // namespace

Program make_program() {
  Program program;
  program.app = std::make_unique<CLI::App>(std::string(about), "asmevo");
  CLI::App& app = *program.app;
  app.set_version_flag("--version", "");
  app.require_subcommand(1);
  app.footer(std::string(statuses));
  auto formatter = std::make_shared<Formatter>();
  formatter->column_width(34);
  app.formatter(formatter);
  for (const Verb& verb : all_verbs()) {
    CLI::App* sub = app.add_subcommand(std::string(verb.name), std::string(verb.summary));
    sub->footer(fmt::format("Examples:\n{}", verb.examples));
    program.actions.emplace_back(sub, verb.declare(*sub));
  }
  return program;
}

} // namespace asmevo::cli
