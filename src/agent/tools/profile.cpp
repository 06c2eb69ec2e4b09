// Every instruction with what it costs.
#include "agent/paging.h"
#include "agent/tool_table.h"
#include "agent/tools/shapes.h"

#include <algorithm>

namespace asmevo::agent {
namespace {

using nlohmann::json;

json input() {
  return shape::object({{"version", shape::version()},
                        {"order", shape::optional(shape::choice("of the rows", {"cost", "address"}))},
                        {"offset", shape::offset()},
                        {"limit", shape::limit(40, 200)}});
}

json output() {
  const json wait = shape::object({{"item", shape::nullable(shape::count("that has to finish"))},
                                   {"text", shape::text("of it")},
                                   {"reason", shape::text("dependency, vmcnt, ...")},
                                   {"share", shape::number("of the kernel's time, 0 to 1")}});
  const json row = shape::object({{"item", shape::count("in the version's listing")},
                                  {"text", shape::text("as an edit would say it")},
                                  {"executions", shape::number("by waves")},
                                  {"share", shape::number("of the kernel's time, 0 to 1")},
                                  {"stalls", shape::amounts("share of the kernel's time by reason")},
                                  {"waits_for", shape::list("the largest first", wait)}});
  json properties = {{"version", shape::count("what the profile is of")},
                     {"device", shape::text("that it was made on")},
                     {"seconds", shape::number("median")},
                     {"bound", shape::text("of the kernel as a whole")},
                     {"rows", shape::list("instructions that cost anything", row)}};
  shape::add_page(properties);
  return shape::object(std::move(properties));
}

std::map<uint64_t, size_t> items_by_address(const View& view) {
  std::map<uint64_t, size_t> items;
  for (size_t i = view.function->first; i < view.function->last; ++i)
    if (analysis::is_instruction(view.program->items[i])) items.emplace(view.program->items[i].origin, i);
  return items;
}

json waits_json(const View& view, uint64_t consumer, const std::map<uint64_t, size_t>& items, double total) {
  std::vector<const profile::Edge*> edges;
  for (const profile::Edge& edge : view.profile.edges)
    if (edge.consumer == consumer && edge.exposed > 0) edges.push_back(&edge);
  std::ranges::stable_sort(edges, std::ranges::greater(), &profile::Edge::exposed);
  json out = json::array();
  for (const profile::Edge* edge : edges) {
    if (out.size() == 4) break;
    const auto item = items.find(edge->producer);
    out.push_back({{"item", nullptr},
                   {"text", ""},
                   {"reason", profile::reason_name(edge->reason)},
                   {"share", edge->exposed / total}});
    if (item == items.end()) continue;
    out.back()["item"] = item->second;
    out.back()["text"] = bounded(view.program->items[item->second].text, longest_name);
  }
  return out;
}

Result<json> call(Workspace& workspace, const json& arguments, const Progress& progress) {
  progress("timing the version with attribution");
  AE_TRY(const View* view, workspace.view(version_in(arguments)));
  const std::map<uint64_t, size_t> items = items_by_address(*view);
  const profile::Profile& profile = view->profile;
  std::vector<const profile::Row*> rows;
  for (const profile::Row& row : profile.rows)
    if (profile.cost(row) > 0 && items.contains(row.address)) rows.push_back(&row);
  if (arguments.value("order", "cost") == "cost")
    std::ranges::stable_sort(rows, std::ranges::greater(), [&](const profile::Row* row) { return profile.cost(*row); });
  const double total = profile.total();
  json document = {{"version", view->version->id},
                   {"device", profile.source},
                   {"seconds", view->at->estimate.median},
                   {"bound", view->at->estimate.bound}};
  put_page(document, "rows", page_of(arguments, 40), rows.size(), [&](size_t i) {
    const profile::Row& row = *rows[i];
    const size_t item = items.at(row.address);
    const profile::Stalls& costs = profile.costs(row);
    json stalls = json::object();
    for (size_t r = 0; r < profile::reason_count; ++r)
      if (costs[r] > 0) stalls[std::string(profile::reason_name(profile::Reason(r)))] = costs[r] / total;
    return json{{"item", item},
                {"text", bounded(view->program->items[item].text, longest_name)},
                {"executions", row.issues},
                {"share", profile.cost(row) / total},
                {"stalls", std::move(stalls)},
                {"waits_for", waits_json(*view, row.address, items, total)}};
  });
  return document;
}

} // namespace

const ToolEntry profile_tool = {"profile",
                                "Profile a version",
                                "Every instruction of a version with its share of the time, its stalls by reason, and "
                                "the instructions it waits for.",
                                input,
                                output,
                                true,
                                call};

} // namespace asmevo::agent
