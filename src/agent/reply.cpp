#include "agent/reply.h"

#include "agent/json_schema.h"
#include "agent/paging.h"
#include "agent/tools/shapes.h"
#include "gate/edits.h"

#include <algorithm>

namespace asmevo::agent {
namespace {

using nlohmann::json;

constexpr size_t most_objects = 200; // that are looked at in one answer

/// Where the object that begins at `begin` ends, its braces counted as JSON does; npos where it does not.
size_t end_of_object(std::string_view text, size_t begin) {
  size_t depth = 0;
  bool quoted = false;
  for (size_t at = begin; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted && c == '\\')
      ++at;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && c == '{')
      ++depth;
    else if (!quoted && c == '}' && --depth == 0)
      return at + 1;
  }
  return std::string_view::npos;
}

bool begins_object(std::string_view text, size_t at) {
  const size_t next = text.find_first_not_of(" \t\r\n", at + 1);
  return next != std::string_view::npos && (text[next] == '"' || text[next] == '}');
}

/// The last object of `text` that has "edits" or "done".
std::optional<json> answer_in(std::string_view text) {
  std::optional<json> answer;
  size_t looked_at = 0;
  for (size_t at = text.find('{'); at != std::string_view::npos && looked_at < most_objects; at = text.find('{', at)) {
    const size_t end = begins_object(text, at) ? (++looked_at, end_of_object(text, at)) : std::string_view::npos;
    json object = end == std::string_view::npos ? json() : json::parse(text.substr(at, end - at), nullptr, false);
    if (object.is_object() && (object.contains("edits") || object.contains("done"))) {
      answer = std::move(object);
      at = end;
    } else {
      ++at;
    }
  }
  return answer;
}

/// A list of lines is as good as one text.
void join_lines(json& answer) {
  const auto edits = answer.find("edits");
  if (edits == answer.end() || !edits->is_array()) return;
  for (json& edit : *edits) {
    if (!edit.is_object() || !edit.contains("text") || !edit["text"].is_array()) continue;
    std::string joined;
    for (const json& line : edit["text"]) {
      if (!line.is_string()) return;
      joined += line.get_ref<const std::string&>() + "\n";
    }
    edit["text"] = std::move(joined);
  }
}

std::optional<std::string> fault_of_windows(const std::vector<recover::Edit>& edits, Range shown) {
  size_t end = shown.first;
  for (size_t i = 0; i < edits.size(); ++i) {
    const auto& [first, last, text] = edits[i];
    if (first > last || first < shown.first || last > shown.last)
      return fmt::format("edits[{}]: items [{}, {}) are not inside the window [{}, {})", i, first, last, shown.first,
                         shown.last);
    if (first < end) return fmt::format("edits[{}]: overlaps the edit before it", i);
    end = last;
  }
  return std::nullopt;
}

Reply proposal_of(const json& answer, Range shown) {
  search::Proposal proposal;
  for (const json& edit : answer["edits"])
    proposal.edits.push_back(
        {edit["first"].get<size_t>(), edit["last"].get<size_t>(), edit["text"].get<std::string>()});
  std::ranges::stable_sort(proposal.edits, {}, &recover::Edit::first);
  if (auto fault = fault_of_windows(proposal.edits, shown)) return Refused{*fault};
  proposal.auto_waits = answer.value("auto_waits", false);
  proposal.rule = answer.value("direction", std::string(direction_name(Direction::other)));
  proposal.direction = direction_of_search(proposal.rule);
  proposal.window = shown;
  proposal.rationale = bounded(answer.value("rationale", ""));
  proposal.origin = {answer.value("model", ""), "", answer.value("input_tokens", int64_t{0}),
                     answer.value("output_tokens", int64_t{0}), answer.value("cost", 0.0)};
  return proposal;
}

} // namespace

json reply_schema() {
  constexpr int64_t most = 1'000'000'000;
  const json edit = shape::object({{"first", shape::count("first item that is replaced", 0, most)},
                                   {"last", shape::count("the item behind the last one", 0, most)},
                                   {"text", shape::text("what stands there instead", gate::edit_text_limit)}});
  return shape::object({{"type", shape::optional(shape::choice("what it is", json::array({"proposal", "done"})))},
                        {"id", shape::optional(shape::count("of the question", 0, most))},
                        {"edits", shape::optional(shape::list("windows to replace", edit, 1, 16))},
                        {"auto_waits", shape::optional(shape::flag("the gate puts in waits and wait states"))},
                        {"direction", shape::optional(shape::choice("what it is for", directions))},
                        {"rationale", shape::optional(shape::text("why it is faster and right", 4000))},
                        {"done", shape::optional(shape::text("why there is nothing to propose", 4000))},
                        {"model", shape::optional(shape::text("for the record", 100))},
                        {"input_tokens", shape::optional(shape::count("for the record", 0, most))},
                        {"output_tokens", shape::optional(shape::count("for the record", 0, most))},
                        {"cost", shape::optional(shape::number("for the record"))}});
}

Reply read_reply(std::string_view text, Range shown) {
  if (text.size() > longest_reply) return Refused{fmt::format("the answer has {} bytes", text.size())};
  std::optional<json> answer = answer_in(text);
  if (!answer) return Refused{"there is no JSON object with \"edits\" or \"done\" in the answer"};
  join_lines(*answer);
  if (auto fault = fault_of(*answer, reply_schema(), "")) return Refused{bounded(*fault)};
  if (answer->contains("edits")) return proposal_of(*answer, shown);
  return Nothing{bounded((*answer)["done"].get<std::string>())};
}

} // namespace asmevo::agent
