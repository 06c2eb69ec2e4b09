// The one way to a new version: text for windows of a verified one, through every gate.
#include "agent/advice.h"
#include "agent/focus.h"
#include "agent/paging.h"
#include "agent/tool_table.h"
#include "agent/tools/shapes.h"
#include "gate/verdict_json.h"

namespace asmevo::agent {
namespace {

using nlohmann::json;

json input() {
  return shape::object(
      {{"version", shape::version()},
       {"edits", shape::edits()},
       {"auto_waits",
        shape::optional(shape::flag("the gate puts in s_waitcnt and s_nop of the touched blocks, and takes "
                                    "out what is not needed there"))},
       {"direction", shape::optional(shape::choice("what the edit is for", directions))},
       {"rationale", shape::optional(shape::text("why it should be faster, one line", 1000))},
       {"model", shape::optional(shape::text("who proposes, for the record", 100))},
       {"prompt_hash", shape::optional(shape::text("sha256 of what the model was shown, for the record", 64))},
       {"input_tokens", shape::optional(shape::count("for the record", 0, 1'000'000'000'000))},
       {"output_tokens", shape::optional(shape::count("for the record", 0, 1'000'000'000'000))}});
}

json output() {
  return shape::object({{"evaluation", shape::count("its number in the lineage")},
                        {"parent", shape::count("the version that was edited")},
                        {"outcome", shape::text("accepted, or why not")},
                        {"evidence", shape::text("what was found, and where")},
                        {"advice", shape::text("what would have been legal")},
                        {"version", shape::nullable(shape::count("the new version, if it was accepted"))},
                        {"timing", shape::nullable(shape::amounts("of what came as far as being timed"))},
                        {"receipt", shape::nullable(shape::amounts("of what behaved like the original"))},
                        {"best_version", shape::count("the fastest so far")},
                        {"best_speedup", shape::number("over the original")},
                        {"evaluations", shape::count("made so far")},
                        {"evaluations_left", shape::nullable(shape::count("null where the budget is time alone"))}});
}

Result<json> call(Workspace& workspace, const json& arguments, const Progress& progress) {
  AE_TRY(const View* view, workspace.view(version_in(arguments)));
  search::Proposal proposal;
  AE_TRY(proposal.edits, workspace.edits_of(*view, edits_in(arguments)));
  proposal.rule = arguments.value("direction", "other");
  proposal.direction = direction_of_search(proposal.rule);
  proposal.window = {view->function->first, view->function->last}; // an agent may edit any part that it has looked at
  proposal.rationale = bounded(arguments.value("rationale", ""));
  proposal.auto_waits = arguments.value("auto_waits", false);
  proposal.origin = {arguments.value("model", ""), arguments.value("prompt_hash", ""),
                     arguments.value("input_tokens", int64_t{0}), arguments.value("output_tokens", int64_t{0})};
  AE_TRY(const search::Attempt* attempt, workspace.propose(*view, std::move(proposal), progress));
  const search::Snapshot snapshot = workspace.controller().snapshot();
  json document = {{"evaluation", attempt->number},
                   {"parent", attempt->parent},
                   {"outcome", gate::outcome_name(attempt->verdict.outcome)},
                   {"evidence", bounded(attempt->verdict.evidence, gate::evidence_limit)},
                   {"advice", advice(attempt->verdict.outcome)},
                   {"version", nullptr},
                   {"timing", nullptr},
                   {"receipt", nullptr},
                   {"best_version", snapshot.best_version},
                   {"best_speedup", snapshot.best_speedup},
                   {"evaluations", snapshot.evaluations},
                   {"evaluations_left", nullptr}};
  if (attempt->version) document["version"] = *attempt->version;
  if (attempt->verdict.timing) document["timing"] = gate::to_json(*attempt->verdict.timing);
  if (attempt->verdict.receipt) document["receipt"] = gate::to_json(*attempt->verdict.receipt);
  if (snapshot.budget.evaluations > 0)
    document["evaluations_left"] = std::max<int64_t>(0, snapshot.budget.evaluations - snapshot.evaluations);
  return document;
}

} // namespace

const ToolEntry propose_tool = {
    "propose",
    "Propose an edit",
    "Replaces windows of a version by text and has the result judged: build, static rules, equivalence with the "
    "original "
    "on all cases, timing, a second verification. Costs one evaluation. What is accepted becomes a version and the one "
    "that is worked on.",
    input,
    output,
    false,
    call};

} // namespace asmevo::agent
