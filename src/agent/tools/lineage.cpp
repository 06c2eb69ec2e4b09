// The tree of versions: what there is, how two differ, and which one to go on from.
#include "agent/line_diff.h"
#include "agent/paging.h"
#include "agent/tool_table.h"
#include "agent/tools/shapes.h"

namespace asmevo::agent {
namespace {

using nlohmann::json;

json list_input() { return shape::object({{"offset", shape::offset()}, {"limit", shape::limit(50, 200)}}); }

json list_output() {
  const json version = shape::object({{"id", shape::count("0 is the original")},
                                      {"parent", shape::nullable(shape::count("what it was made from"))},
                                      {"evaluation", shape::count("that made it; 0 for the original")},
                                      {"speedup", shape::number("over the original")},
                                      {"cv", shape::number("of the speedup")},
                                      {"direction", shape::text("what the edit was for")},
                                      {"rationale", shape::text("as it was proposed")},
                                      {"equivalence", shape::text("how it is known to behave like the original")},
                                      {"best", shape::flag("the fastest")},
                                      {"current", shape::flag("what calls are about that name no version")}});
  json properties = {{"versions", shape::list("by id", version)}};
  shape::add_page(properties);
  return shape::object(std::move(properties));
}

json version_json(const Workspace& workspace, size_t at) {
  const search::Controller& controller = workspace.controller();
  const search::Version& version = controller.versions()[at];
  json out = {{"id", version.id},
              {"parent", nullptr},
              {"evaluation", version.evaluation},
              {"speedup", version.speedup},
              {"cv", version.cv},
              {"direction", ""},
              {"rationale", ""},
              {"equivalence", "the original"},
              {"best", version.id == controller.snapshot().best_version},
              {"current", version.id == workspace.current()}};
  if (version.parent < 0 || version.evaluation < 1 || size_t(version.evaluation) > controller.attempts().size())
    return out;
  const search::Attempt& attempt = controller.attempts()[size_t(version.evaluation - 1)];
  out["parent"] = version.parent;
  out["direction"] = bounded(attempt.proposal.rule, longest_name);
  out["rationale"] = bounded(attempt.proposal.rationale);
  if (attempt.verdict.receipt) out["equivalence"] = gate::equivalence_name(attempt.verdict.receipt->equivalence);
  return out;
}

Result<json> list(Workspace& workspace, const json& arguments, const Progress&) {
  json document;
  put_page(document, "versions", page_of(arguments, 50), workspace.controller().versions().size(),
           [&](size_t at) { return version_json(workspace, at); });
  return document;
}

json diff_input() {
  return shape::object({{"from", shape::count("a version", 0, 1'000'000'000)},
                        {"to", shape::count("another", 0, 1'000'000'000)},
                        {"offset", shape::offset()},
                        {"limit", shape::limit(120, 400)}});
}

json diff_output() {
  const json line = shape::object({{"sign", shape::choice("only in from, only in to, or in both", {"-", "+", " "})},
                                   {"text", shape::text("a line of the listing")}});
  json properties = {{"from", shape::count("version")},
                     {"to", shape::count("version")},
                     {"lines", shape::list("changes with two lines around each", line)}};
  shape::add_page(properties);
  return shape::object(std::move(properties));
}

Result<const search::Version*> version_at(const Workspace& workspace, const json& id) {
  const auto& versions = workspace.controller().versions();
  if (id.get<size_t>() >= versions.size())
    return fail("no version {}; there are 0 to {}", id.get<size_t>(), versions.size() - 1);
  return &versions[id.get<size_t>()];
}

Result<json> diff(Workspace& workspace, const json& arguments, const Progress&) {
  AE_TRY(const search::Version* from, version_at(workspace, arguments["from"]));
  AE_TRY(const search::Version* to, version_at(workspace, arguments["to"]));
  const std::vector<DiffLine> lines = line_diff(from->listing, to->listing, 2);
  json document = {{"from", from->id}, {"to", to->id}};
  put_page(document, "lines", page_of(arguments, 120), lines.size(),
           [&](size_t i) { return json{{"sign", std::string(1, lines[i].sign)}, {"text", bounded(lines[i].text)}}; });
  return document;
}

json checkout_input() { return shape::object({{"version", shape::count("to go on from", 0, 1'000'000'000)}}); }
json checkout_output() {
  return shape::object(
      {{"version", shape::count("that calls are about now")}, {"speedup", shape::number("of it, over the original")}});
}

Result<json> checkout(Workspace& workspace, const json& arguments, const Progress& progress) {
  progress("timing the version with attribution");
  AE_CHECK(workspace.check_out(arguments["version"].get<int64_t>()));
  return json{{"version", workspace.current()},
              {"speedup", workspace.controller().versions()[size_t(workspace.current())].speedup}};
}

} // namespace

const ToolEntry lineage_tool = {
    "lineage",  "List versions", "The verified versions as a tree: parent, speedup, how each was made.",
    list_input, list_output,     true,
    list};

const ToolEntry diff_tool = {"diff",
                             "Compare two versions",
                             "How the listings of two versions differ, line by line.",
                             diff_input,
                             diff_output,
                             true,
                             diff};

const ToolEntry checkout_tool = {
    "checkout",
    "Go on from a version",
    "Makes a verified version the one that calls without a version are about. Writes no file.",
    checkout_input,
    checkout_output,
    false,
    checkout};

} // namespace asmevo::agent
