// Hot windows: where the time of a version goes.
#include "agent/paging.h"
#include "agent/tool_table.h"
#include "agent/tools/shapes.h"

namespace asmevo::agent {
namespace {

using nlohmann::json;

json input() {
  return shape::object({{"version", shape::version()}, {"offset", shape::offset()}, {"limit", shape::limit(8, 50)}});
}

json output() {
  const json window =
      shape::object({{"rank", shape::count("0 is the hottest")},
                     {"first", shape::count("first item")},
                     {"last", shape::count("the item behind its last")},
                     {"base_hash", shape::text("for propose; empty where the window is too wide for one edit")},
                     {"address", shape::count("of its first instruction in the version's object")},
                     {"whole_block", shape::flag("a basic block; else a span of a long one")},
                     {"executions", shape::number("of its instructions by waves, at most")},
                     {"share", shape::number("of all time of the SIMDs, 0 to 1")},
                     {"issue_share", shape::number("of the window's time: issuing")},
                     {"bound", shape::text("what most of its time is: issue, or a reason to stall")},
                     {"stalls", shape::amounts("share of the window's time by reason")}});
  json properties = {{"version", shape::count("what the windows are of")},
                     {"seconds", shape::number("median time of the version on the device")},
                     {"bound", shape::text("of the kernel as a whole")},
                     {"windows", shape::list("the hottest first", window)}};
  shape::add_page(properties);
  return shape::object(std::move(properties));
}

json stalls_json(const profile::Stalls& stalls, double of) {
  json out = json::object();
  for (size_t r = 0; r < profile::reason_count; ++r)
    if (stalls[r] > 0 && of > 0) out[std::string(profile::reason_name(profile::Reason(r)))] = stalls[r] / of;
  return out;
}

json window_json(const Workspace& workspace, const View& view, size_t rank) {
  const auto [range, window] = std::pair(view.windows[rank].range, view.windows[rank].window);
  const double total = view.profile.total();
  const bool fits = range.last - range.first <= widest_window;
  return {{"rank", rank},
          {"first", range.first},
          {"last", range.last},
          {"base_hash", fits ? workspace.base_hash(view, range) : ""},
          {"address", window.first},
          {"whole_block", window.whole_block},
          {"executions", window.issues},
          {"share", total > 0 ? window.cost / total : 0.0},
          {"issue_share", window.cost > 0 ? window.issuing / window.cost : 0.0},
          {"bound", window.bound()},
          {"stalls", stalls_json(window.stalls, window.cost)}};
}

Result<json> call(Workspace& workspace, const json& arguments, const Progress& progress) {
  progress("timing the version with attribution");
  AE_TRY(const View* view, workspace.view(version_in(arguments)));
  json document = {
      {"version", view->version->id}, {"seconds", view->at->estimate.median}, {"bound", view->at->estimate.bound}};
  put_page(document, "windows", page_of(arguments, 8), view->windows.size(),
           [&](size_t rank) { return window_json(workspace, *view, rank); });
  return document;
}

} // namespace

const ToolEntry windows_tool = {
    "windows",
    "List hot windows",
    "Parts of the code that the time goes to, with why: basic blocks or spans of long ones, ranked by what they cost "
    "the "
    "SIMDs, with stall reasons. Gives first, last and base_hash for disassemble and propose.",
    input,
    output,
    true,
    call};

} // namespace asmevo::agent
