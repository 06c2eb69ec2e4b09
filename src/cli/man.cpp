// The manual page, from the same options that are parsed.
#include "cli/program.h"

namespace asmevo::cli {
namespace {

/// A line beginning with a dot or an apostrophe would be a macro, a backslash an escape, a hyphen a dash.
std::string roff(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    line_begins = c == '\n';
  }
  return out;
}

std::string option_entry(const CLI::Option& option) {
  std::string value =
      option.get_expected_max() > 0 && !option.get_positional() ? " \\fI" + roff(option.get_type_name()) + "\\fR" : "";
  return fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(option.get_name(option.get_positional(), true)), value,
                     roff(option.get_description()));
}

std::string verb_section(const CLI::App& verb) {
  std::string out = fmt::format(".SS asmevo {}\n{}.\n", roff(verb.get_name()), roff(verb.get_description()));
  for (const CLI::Option* option : verb.get_options()) out += option_entry(*option);
  return out + fmt::format(".PP\n.nf\n{}\n.fi\n", roff(verb.get_footer()));
}

Result<ExitStatus> run(const Common& options) {
  std::string page = manual_page(*make_program().app);
  return answer(options, page, {{"page", page}});
}

} // namespace

std::string manual_page(const CLI::App& app) {
  std::string out = ".TH ASMEVO 1\n.SH NAME\nasmevo \\- make compiled AMD GPU kernels faster\n"
                    ".SH SYNOPSIS\n\\fBasmevo\\fR \\fIverb\\fR [\\fIoptions\\fR]\n.SH DESCRIPTION\n";
  out += roff(app.get_description()) + "\n.SH VERBS\n";
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) out += verb_section(*verb);
  return out + fmt::format(".SH EXIT STATUS\n{}\n", roff(app.get_footer()));
}

const Verb man_verb = {"man", "print the manual page", "  asmevo man > /usr/local/share/man/man1/asmevo.1\n",
                       [](CLI::App& app) { return declare<Common>(app, [](CLI::App&, Common&) {}, run); }};

} // namespace asmevo::cli
