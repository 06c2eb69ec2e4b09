// What was tried before, and what came of it.
#include "agent/paging.h"
#include "agent/tool_table.h"
#include "agent/tools/shapes.h"

namespace asmevo::agent {
namespace {

using nlohmann::json;

json outcomes() {
  json names = json::array();
  for (size_t i = 0; i < gate::outcome_count; ++i) names.push_back(gate::outcome_name(gate::Outcome(i)));
  return names;
}

json input() {
  return shape::object(
      {{"query", shape::optional(shape::text("occurs in text, rationale, direction or evidence", 200))},
       {"outcome", shape::optional(shape::choice("only these", outcomes()))},
       {"parent", shape::optional(shape::count("only edits of this version", 0, 1'000'000'000))},
       {"item", shape::optional(shape::count("only edits that replaced this item", 0, 1'000'000'000))},
       {"include_accepted", shape::optional(shape::flag("successes too"))},
       {"offset", shape::offset()},
       {"limit", shape::limit(10, 50)}});
}

json output() {
  const json edit = shape::object({{"first", shape::count("first item")},
                                   {"last", shape::count("the item behind")},
                                   {"text", shape::text("what was put there")}});
  const json attempt = shape::object({{"evaluation", shape::count("its number")},
                                      {"parent", shape::count("the version that was edited")},
                                      {"outcome", shape::text("of it")},
                                      {"direction", shape::text("what it was for")},
                                      {"rationale", shape::text("as it was proposed")},
                                      {"evidence", shape::text("what was found")},
                                      {"speedup", shape::nullable(shape::number("where it was timed"))},
                                      {"edits", shape::list("of it", edit)}});
  json properties = {{"attempts", shape::list("the newest first", attempt)}};
  shape::add_page(properties);
  return shape::object(std::move(properties));
}

bool mentions(const search::Attempt& attempt, const std::string& query) {
  const auto in = [&](const std::string& text) { return text.find(query) != std::string::npos; };
  return in(attempt.proposal.rule) || in(attempt.proposal.rationale) || in(attempt.verdict.evidence) ||
         std::ranges::any_of(attempt.proposal.edits, [&](const recover::Edit& edit) { return in(edit.text); });
}

bool replaced(const search::Attempt& attempt, size_t item) {
  return std::ranges::any_of(attempt.proposal.edits,
                             [&](const recover::Edit& edit) { return edit.first <= item && item < edit.last; });
}

bool wanted(const search::Attempt& attempt, const json& arguments) {
  const std::string_view outcome = gate::outcome_name(attempt.verdict.outcome);
  const bool accepted = attempt.verdict.outcome == gate::Outcome::accepted;
  if (auto only = arguments.find("outcome");
      only != arguments.end() ? *only != outcome : accepted && !arguments.value("include_accepted", false))
    return false;
  if (auto parent = arguments.find("parent"); parent != arguments.end() && *parent != attempt.parent) return false;
  if (auto item = arguments.find("item"); item != arguments.end() && !replaced(attempt, item->get<size_t>()))
    return false;
  const auto query = arguments.find("query");
  return query == arguments.end() || mentions(attempt, *query);
}

json attempt_json(const search::Attempt& attempt) {
  json edits = json::array();
  for (const recover::Edit& edit : attempt.proposal.edits)
    if (edits.size() < 16) edits.push_back({{"first", edit.first}, {"last", edit.last}, {"text", bounded(edit.text)}});
  json out = {{"evaluation", attempt.number},
              {"parent", attempt.parent},
              {"outcome", gate::outcome_name(attempt.verdict.outcome)},
              {"direction", bounded(attempt.proposal.rule, longest_name)},
              {"rationale", bounded(attempt.proposal.rationale)},
              {"evidence", bounded(attempt.verdict.evidence)},
              {"speedup", nullptr},
              {"edits", std::move(edits)}};
  if (attempt.verdict.timing) out["speedup"] = attempt.verdict.timing->speedup;
  return out;
}

Result<json> call(Workspace& workspace, const json& arguments, const Progress&) {
  std::vector<const search::Attempt*> found;
  for (const search::Attempt& attempt : workspace.controller().attempts())
    if (wanted(attempt, arguments)) found.push_back(&attempt);
  std::ranges::reverse(found);
  json document;
  put_page(document, "attempts", page_of(arguments, 10), found.size(),
           [&](size_t i) { return attempt_json(*found[i]); });
  return document;
}

} // namespace

const ToolEntry search_memory_tool = {"search_memory",
                                      "Search earlier attempts",
                                      "Earlier proposals of this run with their verdicts, failures unless asked "
                                      "otherwise, by text, outcome, version or item.",
                                      input,
                                      output,
                                      true,
                                      call};

} // namespace asmevo::agent
