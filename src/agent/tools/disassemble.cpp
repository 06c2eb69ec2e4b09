// A window as text, with what one has to know to rewrite it.
#include "agent/paging.h"
#include "agent/tool_table.h"
#include "agent/tools/shapes.h"
#include "agent/window_facts.h"

namespace asmevo::agent {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 5> kind_names = {"instruction", "label", "data", "align", "section"};

json input() {
  return shape::object({{"version", shape::version()},
                        {"first", shape::count("first item", 0, 1'000'000'000)},
                        {"last", shape::count("the item behind the last", 0, 1'000'000'000)},
                        {"offset", shape::offset()},
                        {"limit", shape::limit(128, widest_window)}});
}

json registers(std::string_view description) { return shape::list(description, shape::text("v3, v[0:3], vcc_lo")); }

json in_flight_shape(std::string_view description) {
  json out = shape::object({{"vmcnt", shape::count("operations, at most")},
                            {"lgkmcnt", shape::count("operations, at most")},
                            {"expcnt", shape::count("operations, at most")},
                            {"vector_memory", registers("registers that wait for vmcnt")},
                            {"lds_or_scalar", registers("registers that wait for lgkmcnt")}});
  out["description"] = description;
  return out;
}

json output() {
  const json line = shape::object({{"item", shape::count("its number")},
                                   {"kind", shape::choice("what it is", kind_names)},
                                   {"text", shape::text("as an edit would say it")},
                                   {"share", shape::optional(shape::number("of the kernel's time, 0 to 1"))},
                                   {"stall", shape::optional(shape::text("its largest reason to stall"))}});
  json properties = {
      {"version", shape::count("what the window is of")},
      {"first", shape::count("first item")},
      {"last", shape::count("the item behind its last")},
      {"base_hash", shape::text("for propose")},
      {"lines", shape::list("items in order", line)},
      {"live_in", registers("read before they are written, or live through")},
      {"live_out", registers("what the code behind the window reads")},
      {"free", registers("may be used in the window at no loss of occupancy")},
      {"in_flight_in", in_flight_shape("may be outstanding before the window")},
      {"in_flight_out", in_flight_shape("may be outstanding behind it, and the code there relies on no more")},
      {"entered_inside", shape::flag("control also comes in at a label inside: keep that label")},
      {"falls_through", shape::flag("control may run past the last item")},
      {"branches_to", shape::list("labels outside that it branches to", shape::text("a label"))},
      {"notes", shape::list("what else matters", shape::text("a fact"))}};
  shape::add_page(properties);
  return shape::object(std::move(properties));
}

json in_flight_json(const analysis::InFlight& f) {
  return {{"vmcnt", f.vmcnt},
          {"lgkmcnt", f.lgkmcnt},
          {"expcnt", f.expcnt},
          {"vector_memory", register_names(f.vector_memory)},
          {"lds_or_scalar", register_names(f.lds_or_scalar)}};
}

json line_json(const View& view, size_t at) {
  const Line line = line_of(view, at);
  json out = {{"item", at}, {"kind", kind_names[size_t(view.program->items[at].kind)]}, {"text", line.text}};
  if (line.timed) out["share"] = line.share;
  if (!line.stall.empty()) out["stall"] = line.stall;
  return out;
}

json notes_of(const View& view, const WindowFacts& facts) {
  json notes = json::array();
  if (facts.indexed)
    notes.push_back("the kernel adds M0 to register numbers: which registers are free cannot be known for sure");
  if (!view.program->rigid.empty())
    notes.push_back("edits must keep the size of the code: " + bounded(view.program->rigid));
  return notes;
}

Result<json> call(Workspace& workspace, const json& arguments, const Progress& progress) {
  progress("reading the version");
  AE_TRY(const View* view, workspace.view(version_in(arguments)));
  const Range range{arguments["first"].get<size_t>(), arguments["last"].get<size_t>()};
  AE_CHECK(workspace.check_range(*view, range));
  const launch::Case& c = workspace.timed_case();
  const WindowFacts facts = facts_of(*view, range, work_items(c), c.dynamic_lds);
  json branches = json::array();
  for (const std::string& label : facts.branches_to)
    if (branches.size() < 100) branches.push_back(bounded(label, longest_name));
  json document = {{"version", view->version->id},
                   {"first", range.first},
                   {"last", range.last},
                   {"base_hash", workspace.base_hash(*view, range)},
                   {"live_in", register_names(facts.live_in)},
                   {"live_out", register_names(facts.live_out)},
                   {"free", register_names(facts.free)},
                   {"in_flight_in", in_flight_json(facts.in_flight_in)},
                   {"in_flight_out", in_flight_json(facts.in_flight_out)},
                   {"entered_inside", facts.entered_inside},
                   {"falls_through", facts.falls_through},
                   {"branches_to", std::move(branches)},
                   {"notes", notes_of(*view, facts)}};
  put_page(document, "lines", page_of(arguments, 128), range.last - range.first,
           [&](size_t row) { return line_json(*view, range.first + row); });
  return document;
}

} // namespace

const ToolEntry disassemble_tool = {
    "disassemble",
    "Disassemble a window",
    "Items [first, last) of a version as assembly, with the share of time and the stall of each instruction, registers "
    "that are live in and out, free registers, waits that are outstanding at both edges, and the base_hash that "
    "propose "
    "wants.",
    input,
    output,
    true,
    call};

} // namespace asmevo::agent
