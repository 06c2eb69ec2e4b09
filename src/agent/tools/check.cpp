// The gates that need no run, on text that is not proposed yet: free, and as often as one likes.
#include "agent/advice.h"
#include "agent/paging.h"
#include "agent/tool_table.h"
#include "agent/tools/shapes.h"
#include "isa/resources_json.h"

namespace asmevo::agent {
namespace {

using nlohmann::json;

json input() {
  return shape::object({{"version", shape::version()},
                        {"edits", shape::optional(shape::edits())},
                        {"auto_waits", shape::optional(shape::flag("as propose has it"))},
                        {"offset", shape::offset()},
                        {"limit", shape::limit(50, 200)}});
}

json output() {
  const json finding = shape::object({{"rule", shape::text("id")}, {"message", shape::text("with both places")}});
  json properties = {{"version", shape::count("what was checked, or edited")},
                     {"passes", shape::flag("builds, and adds nothing to what the original breaks")},
                     {"outcome", shape::text("passes, or the verdict that propose would give")},
                     {"evidence", shape::text("where and why; empty where it passes")},
                     {"advice", shape::text("what would have been legal; empty where it passes")},
                     {"resources", shape::nullable(shape::amounts("declared after the edit"))},
                     {"occupancy", shape::nullable(shape::amounts("with the launch's workgroup"))},
                     {"findings", shape::list("of the static rules, the original's included", finding)}};
  shape::add_page(properties);
  return shape::object(std::move(properties));
}

struct Checked {
  std::string outcome = "passes", evidence;
  std::string_view advice;
  std::optional<recover::Program> program;
};

Checked refused(const gate::Verdict& verdict, std::optional<recover::Program> program = {}) {
  return {std::string(gate::outcome_name(verdict.outcome)), verdict.evidence, advice(verdict.outcome),
          std::move(program)};
}

Result<Checked> check(const gate::Candidate& candidate, const gate::Bench& bench) {
  auto built = gate::build(candidate, bench);
  if (!built) {
    if (auto* verdict = std::get_if<gate::Verdict>(&built.error())) return refused(*verdict);
    if (auto* error = std::get_if<Error>(&built.error())) return std::unexpected(*error);
    return fail("stopped");
  }
  auto checked = gate::check(*built, bench);
  if (checked) return Checked{.program = std::move(built->program)};
  if (auto* verdict = std::get_if<gate::Verdict>(&checked.error())) return refused(*verdict, std::move(built->program));
  if (auto* error = std::get_if<Error>(&checked.error())) return std::unexpected(*error);
  return fail("stopped");
}

Result<json> call(Workspace& workspace, const json& arguments, const Progress& progress) {
  AE_TRY(const View* view, workspace.view(version_in(arguments)));
  AE_TRY(std::vector<recover::Edit> edits, workspace.edits_of(*view, edits_in(arguments)));
  progress("build and static rules");
  const gate::Edited candidate{view->program, std::move(edits), arguments.value("auto_waits", false)};
  AE_TRY(Checked checked, check(candidate, workspace.bench()));
  json document = {{"version", view->version->id}, {"passes", checked.outcome == "passes"},
                   {"outcome", checked.outcome},   {"evidence", bounded(checked.evidence, gate::evidence_limit)},
                   {"advice", checked.advice},     {"resources", nullptr},
                   {"occupancy", nullptr}};
  std::vector<analysis::Finding> findings;
  if (checked.program) {
    AE_TRY(const recover::Function* function, gate::function_of(*checked.program, workspace.setup().original.kernel));
    findings = gate::static_findings(*checked.program, *function);
    const isa::Resources& declared = checked.program->declared[size_t(function->kernel)];
    const launch::Case& c = workspace.timed_case();
    document["resources"] = isa::to_json(declared);
    document["occupancy"] =
        isa::to_json(isa::occupancy(declared, checked.program->target.processor, work_items(c), c.dynamic_lds));
  }
  put_page(document, "findings", page_of(arguments, 50), findings.size(),
           [&](size_t i) { return json{{"rule", findings[i].rule}, {"message", bounded(findings[i].message)}}; });
  return document;
}

} // namespace

const ToolEntry check_tool = {
    "check",
    "Check text without proposing it",
    "Builds a version, or edits of one, and asks the static rules: waits, hazards, resources, interface. Nothing is "
    "run, "
    "nothing is recorded, and it costs no evaluation; what passes may still be refused by propose.",
    input,
    output,
    true,
    call};

} // namespace asmevo::agent
