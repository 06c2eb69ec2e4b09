// check: a linter for code objects and for hand-written assembly.
//
// Most rules are about all paths and need nothing but the code. With a launch the kernel is also run, in strict mode,
// which sees what depends on values: addresses, who shares memory with whom, which registers were written.
#include "analysis/check.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/watch.h"

#include <algorithm>

namespace asmevo::cli {
namespace {

struct Options : Common {
  std::string file, kernel, target, launch, device = "auto";
  std::vector<std::string> only, without;
  bool sarif = false, list = false;
};

// "W001" or "W*".
bool names(const std::string& pattern, std::string_view rule) {
  return pattern.ends_with('*') ? rule.starts_with(std::string_view(pattern).substr(0, pattern.size() - 1))
                                : rule == pattern;
}

bool is_on(const Options& options, std::string_view rule) {
  auto names_it = [&](const std::string& pattern) { return names(pattern, rule); };
  return (options.only.empty() || std::ranges::any_of(options.only, names_it)) &&
         std::ranges::none_of(options.without, names_it);
}

std::vector<analysis::Rule> all_rules() {
  std::vector<analysis::Rule> all = analysis::rules();
  all.insert(all.end(), watch_rules().begin(), watch_rules().end());
  return all;
}

Result<void> check_patterns(const Options& options) {
  const std::vector<analysis::Rule> known = all_rules();
  for (const auto* patterns : {&options.only, &options.without})
    for (const std::string& pattern : *patterns)
      if (std::ranges::none_of(known, [&](const auto& rule) { return names(pattern, rule.id); }))
        return fail("{}: no such rule (see asmevo check --rules)", pattern);
  return {};
}

std::vector<report::Lint> lints_of(const Source& source, const recover::Function& function, const Options& options) {
  std::vector<report::Lint> lints;
  for (const analysis::Finding& finding : analysis::check(source.program, function)) {
    if (!is_on(options, finding.rule)) continue;
    report::Lint lint{finding.rule, function.name, finding.message, spot_of(source, finding.item), {}};
    if (finding.cause != finding.item) lint.cause = spot_of(source, finding.cause);
    lints.push_back(std::move(lint));
  }
  return lints;
}

std::string text_of(const Options& options, const Source& source, const std::vector<report::Lint>& lints) {
  std::string text;
  for (const report::Lint& lint : lints) {
    std::string place = source.text && lint.at.line ? fmt::format(":{}", lint.at.line)
                        : lint.at.address           ? fmt::format(": {}+0x{:x}", lint.at.section, *lint.at.address)
                                                    : "";
    text += fmt::format("{}{}: {} {}\n{}", options.file, place, lint.rule, lint.message,
                        report::code_frame(lint, source.listing));
  }
  return text;
}

Result<ExitStatus> list_rules(const Options& options) {
  std::string text;
  nlohmann::json document = nlohmann::json::array();
  for (const analysis::Rule& rule : all_rules()) {
    text += fmt::format("{}  {}\n", rule.id, rule.what);
    document.push_back({{"id", rule.id}, {"what", rule.what}});
  }
  return answer(options, text, document);
}

Result<ExitStatus> run(const Options& options) {
  if (options.list) return list_rules(options);
  if (options.file.empty()) return fail("asmevo check: FILE is required (see asmevo check --help)");
  AE_CHECK(check_patterns(options));
  AE_TRY(Source source, open_source(options.file, options.target));
  if (!options.kernel.empty()) AE_CHECK(object::choose_kernel(*source.object, options.kernel));
  std::vector<report::Lint> lints;
  size_t kernels = 0;
  for (const recover::Function& function : source.program.functions) {
    if (!options.kernel.empty() && function.name != options.kernel) continue;
    kernels += function.kernel >= 0;
    std::ranges::move(lints_of(source, function, options), std::back_inserter(lints));
  }
  std::vector<std::string> gaps;
  if (!options.launch.empty()) {
    AE_TRY(Watched watched,
           watch(source, {options.file, options.launch, options.kernel, options.device}, stop_on_signal()));
    if (watched.stopped) return interrupted;
    std::erase_if(watched.lints, [&](const report::Lint& lint) { return !is_on(options, lint.rule); });
    std::ranges::move(watched.lints, std::back_inserter(lints));
    gaps = std::move(watched.gaps);
  }
  ExitStatus status = lints.empty() ? positive : negative;
  if (options.sarif) {
    AE_CHECK(print_document(report::sarif(options.file, source.text, lints, all_rules())));
    return status;
  }
  nlohmann::json findings = nlohmann::json::array();
  for (const report::Lint& lint : lints) findings.push_back(report::to_json(lint));
  std::string count =
      lints.empty() ? "no findings" : fmt::format("{} finding{}", lints.size(), lints.size() > 1 ? "s" : "");
  std::string unseen;
  for (const std::string& gap : gaps) unseen += fmt::format("{}: not watched: {}\n", options.file, gap);
  return answer(
      options,
      text_of(options, source, lints) + unseen +
          fmt::format("{}: {} kernel{}, {}\n", options.file, kernels, kernels == 1 ? "" : "s", count),
      {{"file", options.file}, {"kernels", kernels}, {"findings", std::move(findings)}, {"not_watched", gaps}}, status);
}

} // namespace

const Verb check_verb = {
    "check", "look for missing waits, hazards, and resource and ABI faults",
    "  asmevo check faster.hsaco\n"
    "  asmevo check kernel.s --target gfx942 --only 'W*' --only 'H*'\n"
    "  asmevo check kernel.s --without W010 --sarif > findings.sarif\n"
    "  asmevo check faster.hsaco --launch softmax.launch.json\n"
    "  asmevo check --rules\n",
    [](CLI::App& app) {
      return declare<Options>(
          app,
          [](CLI::App& a, Options& o) {
            a.add_option("FILE", o.file, "code object (.hsaco, .co) or assembly with its .amdhsa_kernel (.s)")
                ->type_name("");
            kernel_option(a, o.kernel);
            a.add_option("--target", o.target, "of assembly without .amdgcn_target: gfx90a:xnack-, ...")
                ->type_name("TARGET");
            a.add_option("--launch", o.launch, "run the kernel on this launch in strict mode too: rules S*")
                ->type_name("PATH");
            device_option(a, o.device);
            a.add_option("--only", o.only, "judge by this rule, or all of a kind: W001, H*")
                ->type_name("RULE")
                ->allow_extra_args(false);
            a.add_option("--without", o.without, "leave this rule out, or all of a kind")
                ->type_name("RULE")
                ->allow_extra_args(false);
            a.add_flag("--sarif", o.sarif, "one SARIF 2.1.0 log on stdout");
            a.add_flag("--rules", o.list, "list the rules");
          },
          run);
    }};

} // namespace asmevo::cli
