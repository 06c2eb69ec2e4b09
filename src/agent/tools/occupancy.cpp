// What if the kernel used fewer registers, or more?
#include "profile/occupancy.h"
#include "agent/paging.h"
#include "agent/tool_table.h"
#include "agent/tools/shapes.h"
#include "isa/resources_json.h"

namespace asmevo::agent {
namespace {

using nlohmann::json;

json input() {
  return shape::object(
      {{"version", shape::version()},
       {"vgprs", shape::optional(shape::count("instead of what is declared", 0, 512))},
       {"agprs", shape::optional(shape::count("instead of what is declared", 0, 256))},
       {"sgprs", shape::optional(shape::count("instead of what is declared", 0, 102))},
       {"lds_bytes", shape::optional(shape::count("static, instead of what is declared", 0, 163840))}});
}

json output() {
  const json variant = shape::object({{"resources", shape::amounts("of the kernel")},
                                      {"occupancy", shape::amounts("with the launch's workgroup")},
                                      {"seconds", shape::number("of the same code at this occupancy, simulated")}});
  return shape::object(
      {{"version", shape::count("what it is about")},
       {"now", variant},
       {"then", variant},
       {"next_step", shape::text("the least that fits one more workgroup; empty where slots are full")},
       {"spare", shape::list("what could be used more at no loss",
                             shape::object({{"resource", shape::text("VGPRs, SGPRs, bytes of LDS")},
                                            {"used", shape::count("now")},
                                            {"free", shape::count("on top")}}))}});
}

Result<json> variant_of(Workspace& workspace, const View& view, isa::Resources resources) {
  const launch::Case& c = workspace.timed_case();
  const gate::Settings& settings = workspace.bench().settings;
  device::TimeOptions options{.draws = settings.draws, .seed = settings.seed};
  json document = {{"resources", isa::to_json(resources)},
                   {"occupancy", isa::to_json(isa::occupancy(resources, view.program->target.processor, work_items(c),
                                                             c.dynamic_lds))}};
  options.resources = resources;
  options.resources->lds_bytes += c.dynamic_lds;
  AE_TRY(const timing::Estimate estimate, workspace.setup().device.time(view.at->loaded, c, options));
  document["seconds"] = estimate.median;
  return document;
}

Result<json> call(Workspace& workspace, const json& arguments, const Progress& progress) {
  AE_TRY(const View* view, workspace.view(version_in(arguments)));
  progress("timing at both occupancies");
  const launch::Case& c = workspace.timed_case();
  const isa::Processor processor = view->program->target.processor;
  const isa::Resources now = view->program->declared[size_t(view->function->kernel)];
  isa::Resources then = now;
  const std::pair<const char*, uint32_t*> changes[] = {
      {"vgprs", &then.vgprs}, {"agprs", &then.agprs}, {"sgprs", &then.sgprs}, {"lds_bytes", &then.lds_bytes}};
  for (const auto& [name, field] : changes) *field = arguments.value(name, *field);
  then.accum_offset = std::max(4u, (then.vgprs + 3) / 4 * 4);
  if (isa::occupancy(then, processor, work_items(c), c.dynamic_lds).workgroups_per_cu == 0)
    return fail("not even one workgroup fits a compute unit with these resources");
  AE_TRY(json now_json, variant_of(workspace, *view, now));
  AE_TRY(json then_json, variant_of(workspace, *view, then));
  const auto step = profile::next_step(now, processor, work_items(c), c.dynamic_lds);
  json spare = json::array();
  for (const profile::Spare& s : profile::spare(now, processor, work_items(c), c.dynamic_lds))
    spare.push_back({{"resource", s.resource}, {"used", s.used}, {"free", s.free}});
  return json{{"version", view->version->id},
              {"now", std::move(now_json)},
              {"then", std::move(then_json)},
              {"next_step", step ? profile::words(*step) : ""},
              {"spare", std::move(spare)}};
}

} // namespace

const ToolEntry occupancy_tool = {"occupancy",
                                  "What other resources would do",
                                  "Occupancy of a version as it is and as it would be with other register or LDS "
                                  "counts, each with the simulated time of "
                                  "the same code at that occupancy, the least that gains a step, and what is free.",
                                  input,
                                  output,
                                  true,
                                  call};

} // namespace asmevo::agent
