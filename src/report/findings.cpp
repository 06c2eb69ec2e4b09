#include "report/findings.h"

#include "support/version.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace asmevo::report {
namespace {

constexpr uint32_t context = 1;      // lines before and behind each end
constexpr size_t longest_line = 100; // of a frame

std::string line_text(const std::vector<std::string>& listing, uint32_t line) {
  std::string text = listing[line - 1];
  std::ranges::replace(text, '\t', ' ');
  if (text.size() > longest_line) text.resize(longest_line);
  return text;
}

std::string_view mark(const Lint& lint, uint32_t line) {
  if (line == lint.at.line) return "  <- here";
  return lint.cause && line == lint.cause->line ? "  <- cause" : "";
}

nlohmann::json location(const std::string& file, bool text, const Spot& spot) {
  nlohmann::json physical = {{"artifactLocation", {{"uri", file}}}};
  if (text && spot.line > 0) physical["region"] = {{"startLine", spot.line}};
  if (!text && spot.address) physical["address"] = {{"absoluteAddress", *spot.address}, {"kind", "instruction"}};
  return {{"physicalLocation", std::move(physical)}};
}

nlohmann::json spot_json(const Spot& spot) {
  nlohmann::json document = nlohmann::json::object();
  if (spot.line > 0) document["line"] = spot.line;
  if (spot.address) document["address"] = *spot.address;
  if (spot.address) document["section"] = spot.section;
  return document;
}

} // namespace

std::string code_frame(const Lint& lint, const std::vector<std::string>& listing) {
  std::set<uint32_t> shown;
  auto add = [&](const Spot& spot) {
    if (spot.line == 0 || spot.line > listing.size()) return;
    for (uint32_t l = spot.line > context ? spot.line - context : 1;
         l <= std::min<size_t>(spot.line + context, listing.size()); l++)
      shown.insert(l);
  };
  add(lint.at);
  if (lint.cause) add(*lint.cause);
  std::string frame;
  uint32_t before = 0;
  for (uint32_t line : shown) {
    if (before && line > before + 1) frame += "         | ...\n";
    frame += fmt::format("  {:>6} | {}{}\n", line, line_text(listing, line), mark(lint, line));
    before = line;
  }
  return frame;
}

nlohmann::json to_json(const Lint& lint) {
  nlohmann::json document = {
      {"kernel", lint.kernel}, {"rule", lint.rule}, {"message", lint.message}, {"at", spot_json(lint.at)}};
  if (lint.cause) document["cause"] = spot_json(*lint.cause);
  return document;
}

nlohmann::json sarif(const std::string& file, bool text, const std::vector<Lint>& findings,
                     const std::vector<analysis::Rule>& rules) {
  nlohmann::json known = nlohmann::json::array(), results = nlohmann::json::array();
  for (const analysis::Rule& rule : rules)
    known.push_back({{"id", rule.id}, {"shortDescription", {{"text", rule.what}}}});
  for (const Lint& lint : findings) {
    auto rule = std::ranges::find(rules, lint.rule, &analysis::Rule::id);
    nlohmann::json result = {{"ruleId", lint.rule},
                             {"level", "warning"},
                             {"message", {{"text", fmt::format("{}: {}", lint.kernel, lint.message)}}},
                             {"locations", {location(file, text, lint.at)}}};
    if (rule != rules.end()) result["ruleIndex"] = rule - rules.begin();
    if (lint.cause) result["relatedLocations"] = {location(file, text, *lint.cause)};
    results.push_back(std::move(result));
  }
  nlohmann::json driver = {{"name", "AsmEvo"}, {"semanticVersion", version}, {"rules", std::move(known)}};
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", {{{"tool", {{"driver", std::move(driver)}}}, {"results", std::move(results)}}}}};
}

} // namespace asmevo::report
