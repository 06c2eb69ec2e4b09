// lineage: what a run found, as a tree; one version's code; how two differ; the proposals to replay.
#include "search/lineage.h"
#include "agent/line_diff.h"
#include "cli/options.h"
#include "report/json.h"
#include "report/text.h"
#include "search/proposal_json.h"
#include "support/json.h"
#include "support/status_line.h"

#include <set>

namespace asmevo::cli {
namespace {

struct Options : Common {
  std::string run, output;
  std::optional<int64_t> version;
  std::vector<int64_t> diff;
  bool attempts = false, proposals = false;
};

using Attempts = std::vector<search::Attempt>;
using Versions = std::vector<search::Version>;

/// "40 VGPRs, 24 SGPRs, 1024 B LDS, 8 waves"
std::string resources_text(const search::Version& version) {
  const isa::Resources& r = version.resources;
  std::string text = fmt::format("{} VGPRs", r.vgprs);
  if (r.agprs) text += fmt::format(", {} AGPRs", r.agprs);
  text += fmt::format(", {} SGPRs", r.sgprs);
  if (r.lds_bytes) text += fmt::format(", {} B LDS", r.lds_bytes);
  if (r.scratch_bytes) text += fmt::format(", {} B scratch", r.scratch_bytes);
  return text + fmt::format(", {} waves", version.waves_per_simd);
}

std::string version_text(const search::Version& version, const Attempts& attempts, size_t depth) {
  std::string indent(2 * depth, ' ');
  if (version.parent < 0) return fmt::format("{}0  1.000x  the original  {}\n", indent, resources_text(version));
  const search::Attempt& made_by = attempts[size_t(version.evaluation - 1)];
  const auto& receipt = made_by.verdict.receipt;
  const std::string other = version.other_parent ? fmt::format(" with {}", *version.other_parent) : "";
  return fmt::format("{}{}{}  {:.3f}x  cv {:.2f} %  {}  {}  #{} {}: {}\n", indent, version.id, other, version.speedup,
                     version.cv * 100, receipt ? report::equivalence_words(receipt->equivalence) : "no receipt",
                     resources_text(version), version.evaluation, made_by.proposal.rule, made_by.proposal.rationale);
}

void append_tree(std::string& out, const Versions& versions, const Attempts& attempts, int64_t root, size_t depth) {
  out += version_text(versions[size_t(root)], attempts, depth);
  for (const search::Version& version : versions)
    if (version.parent == root) append_tree(out, versions, attempts, version.id, depth + 1);
}

std::string decision_text(const search::Decision& decision) {
  std::string focus;
  if (const auto& direction = decision.focus.direction)
    focus += fmt::format(", {}", search::direction_name(*direction));
  if (const auto& window = decision.focus.window) focus += fmt::format(", items [{}, {})", window->first, window->last);
  return fmt::format("before #{} worker {} {}: version {}{}: {}\n", decision.before, decision.worker,
                     search::decision_name(decision.kind), decision.version, focus, decision.reason);
}

std::string attempt_text(const search::Attempt& attempt) {
  std::string first_line = attempt.verdict.evidence.substr(0, attempt.verdict.evidence.find('\n'));
  return fmt::format("#{} from {} {} {}: {}\n", attempt.number, attempt.parent, attempt.proposal.rule,
                     gate::outcome_name(attempt.verdict.outcome), first_line);
}

Result<ExitStatus> show_tree(const Options& options, const search::Lineage& lineage) {
  AE_TRY(Versions versions, lineage.versions());
  AE_TRY(Attempts attempts, lineage.attempts());
  AE_TRY(search::RunStatus status, lineage.status());
  std::array<int64_t, gate::outcome_count> counts{};
  for (const search::Attempt& attempt : attempts) ++counts[size_t(attempt.verdict.outcome)];
  for (const search::Version& version : versions)
    if (version.evaluation < 0 || size_t(version.evaluation) > attempts.size())
      return fail("{}: version {} has no attempt", options.run, version.id);
  std::string text =
      fmt::format("{}: kernel {}, {} evaluations in {:.1f} s, {}\n", options.run, lineage.info().kernel,
                  attempts.size(), status.elapsed_seconds, status.ending.empty() ? "unfinished" : status.ending);
  append_tree(text, versions, attempts, search::root_version, 0);
  AE_TRY(const std::vector<search::Decision> decisions, lineage.decisions());
  nlohmann::json tree = nlohmann::json::array(), tried = nlohmann::json::array(), decided = nlohmann::json::array();
  for (const search::Decision& decision : decisions) {
    text += decision_text(decision);
    decided.push_back(report::to_json(decision));
  }
  for (const search::Version& version : versions) tree.push_back(report::to_json(version));
  if (options.attempts)
    for (const search::Attempt& attempt : attempts) {
      text += attempt_text(attempt);
      tried.push_back(report::to_json(attempt));
    }
  nlohmann::json document = {{"run", report::to_json(lineage.info())},
                             {"evaluations", attempts.size()},
                             {"elapsed_seconds", status.elapsed_seconds},
                             {"ending", status.ending},
                             {"verdicts", report::counts_to_json(counts)},
                             {"versions", std::move(tree)},
                             {"decisions", std::move(decided)}};
  if (options.attempts) document["attempts"] = std::move(tried);
  return answer(options, text, document);
}

Result<search::Version> version_of(const Options& options, const search::Lineage& lineage, int64_t number) {
  AE_TRY(Versions versions, lineage.versions());
  if (number < 0 || size_t(number) >= versions.size())
    return fail("{}: no version {}; there are 0 to {}", options.run, number, versions.size() - 1);
  return std::move(versions[size_t(number)]);
}

Result<ExitStatus> show_version(const Options& options, const search::Lineage& lineage) {
  AE_TRY(const search::Version version, version_of(options, lineage, *options.version));
  nlohmann::json document = report::to_json(version);
  if (options.output.empty()) {
    document["listing"] = version.listing;
    return answer(options, version.listing, document);
  }
  AE_CHECK(check_writable(options.output));
  AE_TRY(Bytes bytes, lineage.artifact(version.artifact));
  AE_CHECK(write_file(options.output, bytes));
  document["output"] = options.output;
  return answer(options, "", document);
}

/// The listings of two versions, changed lines with three around them.
Result<ExitStatus> show_difference(const Options& options, const search::Lineage& lineage) {
  AE_TRY(const search::Version from, version_of(options, lineage, options.diff[0]));
  AE_TRY(const search::Version to, version_of(options, lineage, options.diff[1]));
  const bool colour = wants_colour(stdout);
  const auto line_text = [&](char sign, std::string_view text) {
    if (!colour || sign == ' ') return fmt::format("{}{}\n", sign, text);
    return fmt::format("\x1b[{}m{}{}\x1b[0m\n", sign == '-' ? 31 : 32, sign, text);
  };
  std::string text = line_text('-', fmt::format("-- version {}, {:.3f}x", from.id, from.speedup));
  text += line_text('+', fmt::format("++ version {}, {:.3f}x", to.id, to.speedup));
  nlohmann::json lines = nlohmann::json::array();
  for (const agent::DiffLine& line : agent::line_diff(from.listing, to.listing, 3)) {
    text += line_text(line.sign, line.text);
    lines.push_back({{"sign", std::string(1, line.sign)}, {"text", line.text}});
  }
  return answer(options, text, {{"from", from.id}, {"to", to.id}, {"lines", std::move(lines)}});
}

Result<ExitStatus> show_proposals(const Options& options, const search::Lineage& lineage) {
  AE_TRY(Attempts attempts, lineage.attempts());
  std::string lines;
  nlohmann::json document = nlohmann::json::array();
  for (search::Attempt& attempt : attempts) {
    if (!attempt.proposal.parent)
      attempt.proposal.parent = attempt.parent; // where a search stands when it replays them may differ
    document.push_back(search::to_json(attempt.proposal));
    document.back()["verdict"] = gate::outcome_name(attempt.verdict.outcome);
    if (attempt.verdict.timing) document.back()["speedup"] = attempt.verdict.timing->speedup;
    lines += write_json(document.back()) + "\n";
  }
  return answer(options, lines, document);
}

Result<ExitStatus> run(const Options& options) {
  AE_TRY(search::Lineage lineage, search::Lineage::read(options.run));
  if (options.version) return show_version(options, lineage);
  if (!options.diff.empty()) return show_difference(options, lineage);
  if (options.proposals) return show_proposals(options, lineage);
  return show_tree(options, lineage);
}

} // namespace

const Verb lineage_verb = {
    "lineage", "show the versions of a run, compare two, check one out, list its proposals",
    "  asmevo lineage faster.hsaco.asmevo --attempts\n"
    "  asmevo lineage faster.hsaco.asmevo --version 3 -o third.hsaco\n"
    "  asmevo lineage faster.hsaco.asmevo --diff 0 3\n"
    "  asmevo lineage faster.hsaco.asmevo --proposals > proposals.jsonl\n",
    [](CLI::App& app) {
      return declare<Options>(
          app,
          [](CLI::App& a, Options& o) {
            a.add_option("RUN", o.run, "run directory")->required()->type_name("");
            a.add_flag("--attempts", o.attempts, "every evaluation with its verdict too");
            a.add_option("--version", o.version, "print the listing of this version, or write it with -o")
                ->type_name("N");
            a.add_option("--diff", o.diff, "how the listings of two versions differ")->expected(2)->type_name("A B");
            output_option(a, o.output, "with --version: write its code object here");
            a.add_flag("--proposals", o.proposals, "print all proposals, for optimize --driver replay");
          },
          run);
    }};

} // namespace asmevo::cli
