// A verified version once more: does it still behave like the original, and how fast is it?
#include "agent/paging.h"
#include "agent/tool_table.h"
#include "agent/tools/shapes.h"
#include "gate/verdict_json.h"

namespace asmevo::agent {
namespace {

using nlohmann::json;

json of_version() { return shape::object({{"version", shape::version()}}); }

json verify_output() {
  return shape::object({{"version", shape::count("what was verified")},
                        {"equivalent", shape::flag("on every case")},
                        {"finding", shape::text("equivalent, divergence, ...")},
                        {"evidence", shape::text("what was run, or where it differs")},
                        {"cases_passed", shape::count("of the launch")},
                        {"runs", shape::count("launches of the version")},
                        {"seed", shape::text("of inputs, poison, addresses and schedules: new each time")}});
}

Result<json> verify(Workspace& workspace, const json& arguments, const Progress& progress) {
  AE_TRY(const View* view, workspace.view(version_in(arguments)));
  const uint64_t seed = workspace.fresh_seed();
  progress("running all cases with new inputs");
  gate::Bench& bench = workspace.bench();
  AE_TRY(const oracle::Judgement judgement,
         oracle::verify(*bench.device, *bench.reference, view->at->loaded, {.seed = seed, .stop = bench.stop}));
  if (judgement.finding == oracle::Finding::stopped) return fail("stopped");
  return json{{"version", view->version->id},
              {"equivalent", judgement.finding == oracle::Finding::equivalent},
              {"finding", oracle::finding_name(judgement.finding)},
              {"evidence", bounded(judgement.evidence, gate::evidence_limit)},
              {"cases_passed", judgement.case_count},
              {"runs", judgement.runs},
              {"seed", fmt::format("{}", seed)}};
}

json time_output() {
  return shape::object({{"version", shape::count("what was timed")},
                        {"timing", shape::amounts("against the original, draw by draw, in seconds")},
                        {"required_speedup", shape::number("over the original, for an edit of this version with its "
                                                           "spread")},
                        {"bound", shape::text("of the kernel as a whole")},
                        {"loads", shape::list("how busy each resource is, the busiest first",
                                              shape::object({{"resource", shape::text("hbm, l2, lds, valu, ...")},
                                                             {"share", shape::number("of the time, 0 to 1")}}))}});
}

Result<json> time(Workspace& workspace, const json& arguments, const Progress& progress) {
  AE_TRY(const View* view, workspace.view(version_in(arguments)));
  progress("timing under all draws");
  AE_TRY(const timing::Estimate* original, workspace.original_estimate());
  AE_TRY(const gate::Timing timing,
         gate::compare(*original, view->at->estimate, workspace.setup().device.description()));
  json loads = json::array();
  for (const timing::Load& load : view->at->estimate.loads)
    loads.push_back({{"resource", load.resource}, {"share", load.share}});
  return json{{"version", view->version->id},
              {"timing", gate::to_json(timing)},
              {"required_speedup", gate::required_speedup(workspace.bench().settings.rule, timing.speedup, timing.cv)},
              {"bound", view->at->estimate.bound},
              {"loads", std::move(loads)}};
}

} // namespace

const ToolEntry verify_tool = {"verify",
                               "Verify a version again",
                               "Runs a version against the original on every case with inputs, addresses and schedules "
                               "that were never used before.",
                               of_version,
                               verify_output,
                               true,
                               verify};

const ToolEntry time_tool = {"time",
                             "Time a version",
                             "Speedup of a version over the original on the device, with its spread, what an edit of "
                             "it would have to reach, and "
                             "how busy each resource is.",
                             of_version,
                             time_output,
                             true,
                             time};

} // namespace asmevo::agent
