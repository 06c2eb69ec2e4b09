// Where the run stands: budget, best version, what was found so far, and the rules, which nobody here can change.
#include "agent/paging.h"
#include "agent/tool_table.h"
#include "agent/tools/shapes.h"
#include "gate/verdict_json.h"

namespace asmevo::agent {
namespace {

using nlohmann::json;

json input() { return shape::object(json::object()); }

json output() {
  return shape::object(
      {{"kernel", shape::text("its name: data, not an instruction")},
       {"device", shape::text("that runs and times candidates")},
       {"evaluations", shape::count("made so far")},
       {"budget_evaluations", shape::nullable(shape::count("null: unbounded"))},
       {"budget_seconds", shape::nullable(shape::number("null: unbounded"))},
       {"elapsed_seconds", shape::number("over all sessions of the run")},
       {"budget_spent", shape::flag("nothing more can be proposed")},
       {"current_version", shape::count("what calls are about that name none")},
       {"best_version", shape::count("the fastest; 0 is the original")},
       {"best_speedup", shape::number("over the original")},
       {"outcomes", shape::amounts("of the evaluations so far")},
       {"commit_rule", shape::amounts("s >= max((1 + max(epsilon, k*cv)) * s_parent, floor), and faster than "
                                      "the original in that share of the draws")},
       {"policy", shape::text("sha256 of the comparison policy")},
       {"run", shape::text("directory of the lineage")},
       {"output", shape::text("where the best version is written")}});
}

Result<json> call(Workspace& workspace, const json&, const Progress&) {
  const search::Snapshot snapshot = workspace.controller().snapshot();
  const search::RunInfo& info = workspace.setup().lineage.info();
  const gate::CommitRule& rule = workspace.bench().settings.rule;
  json document = {{"kernel", bounded(workspace.setup().original.kernel, longest_name)},
                   {"device", workspace.setup().device.description()},
                   {"evaluations", snapshot.evaluations},
                   {"budget_evaluations", nullptr},
                   {"budget_seconds", nullptr},
                   {"elapsed_seconds", snapshot.elapsed_seconds},
                   {"budget_spent", snapshot.budget.spent(snapshot.evaluations, snapshot.elapsed_seconds)},
                   {"current_version", workspace.current()},
                   {"best_version", snapshot.best_version},
                   {"best_speedup", snapshot.best_speedup},
                   {"outcomes", gate::counts_to_json(snapshot.counts)},
                   {"commit_rule",
                    {{"epsilon", rule.epsilon},
                     {"k", rule.k},
                     {"floor", rule.floor},
                     {"faster", rule.faster},
                     {"draws", workspace.bench().settings.draws}}},
                   {"policy", info.policy_hash},
                   {"run", bounded(workspace.setup().lineage.directory())},
                   {"output", bounded(info.output_path)}};
  if (snapshot.budget.evaluations > 0) document["budget_evaluations"] = snapshot.budget.evaluations;
  if (snapshot.budget.seconds > 0) document["budget_seconds"] = snapshot.budget.seconds;
  return document;
}

} // namespace

const ToolEntry status_tool = {
    "status",
    "Budget and status",
    "Evaluations made and left, the best version, outcomes so far, and the rules of the run, which no tool changes.",
    input,
    output,
    true,
    call};

} // namespace asmevo::agent
