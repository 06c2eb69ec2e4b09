// Shell completion, from the same options that are parsed.
#include "cli/program.h"

namespace asmevo::cli {
namespace {

struct Word {
  std::string name; // "--launch", "-o"
  std::string help;
  bool takes_value;
};

std::vector<Word> options_of(const CLI::App& verb) {
  std::vector<Word> words;
  for (const CLI::Option* option : verb.get_options()) {
    bool takes_value = option->get_expected_max() > 0;
    for (const std::string& name : option->get_lnames())
      words.push_back({"--" + name, option->get_description(), takes_value});
    for (const std::string& name : option->get_snames())
      words.push_back({"-" + name, option->get_description(), takes_value});
  }
  return words;
}

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

/// Inside single quotes of a POSIX shell.
std::string quoted(std::string text) {
  for (size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 4) text.replace(at, 1, "'\\''");
  return "'" + text + "'";
}

std::string bash_script(const CLI::App& app) {
  std::string names, cases;
  for (const CLI::App* verb : verbs_of(app)) {
    names += " " + verb->get_name();
    std::string words;
    for (const Word& word : options_of(*verb)) words += " " + word.name;
    cases += fmt::format("    {}) words={} ;;\n", verb->get_name(), quoted(words));
  }
  return fmt::format(R"(_asmevo() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" words=''
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W {} -- "$current"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{}  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}}
complete -o filenames -F _asmevo asmevo
)",
                     quoted(names), cases);
}

std::string zsh_script(const CLI::App& app) {
  std::string verbs, cases;
  for (const CLI::App* verb : verbs_of(app)) {
    verbs += fmt::format("    {}\n", quoted(verb->get_name() + ":" + verb->get_description()));
    std::string words;
    for (const Word& word : options_of(*verb)) {
      std::string help = word.help; // brackets and colons mean something to _arguments
      std::erase_if(help, [](char c) { return c == '[' || c == ']' || c == ':'; });
      words += " " + quoted(fmt::format("{}[{}]{}", word.name, help, word.takes_value ? ":value:_files" : ""));
    }
    cases += fmt::format("    {}) _arguments{} '*:file:_files' ;;\n", verb->get_name(), words);
  }
  return fmt::format(R"(#compdef asmevo
_asmevo() {{
  local -a verbs=(
{}  )
  if (( CURRENT == 2 )); then
    _describe verb verbs
    return
  fi
  local verb=$words[2]
  shift words
  (( CURRENT-- ))
  case $verb in
{}  esac
}}
compdef _asmevo asmevo
)",
                     verbs, cases);
}

std::string fish_script(const CLI::App& app) {
  std::string out;
  for (const CLI::App* verb : verbs_of(app)) {
    out += fmt::format("complete -c asmevo -n __fish_use_subcommand -f -a {} -d {}\n", verb->get_name(),
                       quoted(verb->get_description()));
    for (const Word& word : options_of(*verb))
      out +=
          fmt::format("complete -c asmevo -n '__fish_seen_subcommand_from {}' {} {} -d {}{}\n", verb->get_name(),
                      word.name.starts_with("--") ? "-l" : "-s", word.name.substr(word.name.starts_with("--") ? 2 : 1),
                      quoted(word.help), word.takes_value ? " -r" : "");
  }
  return out;
}

struct Shell {
  std::string_view name;
  std::string (*script)(const CLI::App&);
};
constexpr Shell shells[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

struct Options : Common {
  std::string shell;
};

Result<ExitStatus> run(const Options& options) {
  AE_TRY(std::string script, completion_script(*make_program().app, options.shell));
  return answer(options, script, {{"shell", options.shell}, {"script", script}});
}

} // namespace

Result<std::string> completion_script(const CLI::App& app, std::string_view shell) {
  const Shell* known = std::ranges::find(shells, shell, &Shell::name);
  if (known == std::end(shells)) return fail("completion {}: there are bash, zsh and fish", shell);
  return known->script(app);
}

const Verb completion_verb = {
    "completion", "print a completion script for bash, zsh or fish",
    "  asmevo completion bash > /etc/bash_completion.d/asmevo\n"
    "  asmevo completion fish > ~/.config/fish/completions/asmevo.fish\n",
    [](CLI::App& app) {
      return declare<Options>(
          app, [](CLI::App& a, Options& o) { a.add_option("SHELL", o.shell, "bash, zsh or fish")->required(); }, run);
    }};

} // namespace asmevo::cli
