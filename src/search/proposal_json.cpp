#include "search/proposal_json.h"

#include <algorithm>

namespace asmevo::search {
namespace {

bool is_edit(const nlohmann::json& edit) {
  return edit.is_object() && edit.contains("first") && edit["first"].is_number_unsigned() && edit.contains("last") &&
         edit["last"].is_number_unsigned() && edit.contains("text") && edit["text"].is_string();
}

std::string optional_text(const nlohmann::json& json, const char* key) {
  auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

int64_t optional_count(const nlohmann::json& json, const char* key) {
  auto found = json.find(key);
  return found != json.end() && found->is_number_integer() ? std::max<int64_t>(0, found->get<int64_t>()) : 0;
}

double optional_amount(const nlohmann::json& json, const char* key) {
  auto found = json.find(key);
  return found != json.end() && found->is_number() ? std::max(0.0, found->get<double>()) : 0;
}

nlohmann::json to_json(const Origin& origin) {
  nlohmann::json json = nlohmann::json::object();
  if (!origin.model.empty()) json["model"] = origin.model;
  if (!origin.prompt_hash.empty()) json["prompt_hash"] = origin.prompt_hash;
  if (origin.input_tokens > 0) json["input_tokens"] = origin.input_tokens;
  if (origin.output_tokens > 0) json["output_tokens"] = origin.output_tokens;
  if (origin.cost > 0) json["cost"] = origin.cost;
  return json;
}

Origin origin_from(const nlohmann::json& json) {
  return {optional_text(json, "model"), optional_text(json, "prompt_hash"), optional_count(json, "input_tokens"),
          optional_count(json, "output_tokens"), optional_amount(json, "cost")};
}

} // namespace

nlohmann::json to_json(const Proposal& proposal) {
  nlohmann::json edits = nlohmann::json::array();
  for (const recover::Edit& edit : proposal.edits)
    edits.push_back({{"first", edit.first}, {"last", edit.last}, {"text", edit.text}});
  nlohmann::json json = {{"edits", std::move(edits)}, {"rule", proposal.rule}, {"rationale", proposal.rationale}};
  if (proposal.auto_waits) json["auto"] = true;
  if (proposal.parent) json["parent"] = *proposal.parent;
  if (proposal.direction) json["direction"] = direction_name(*proposal.direction);
  if (proposal.window) json["window"] = {proposal.window->first, proposal.window->last};
  if (proposal.origin != Origin{}) json["origin"] = to_json(proposal.origin);
  return json;
}

Result<Proposal> proposal_from_json(const nlohmann::json& json, const std::string& where) {
  if (!json.is_object() || !json.contains("edits") || !json["edits"].is_array())
    return fail("{}: a proposal is an object with an array \"edits\"", where);
  Proposal proposal;
  for (const nlohmann::json& edit : json["edits"]) {
    if (!is_edit(edit)) return fail("{}: an edit needs \"first\", \"last\" (item numbers) and \"text\"", where);
    proposal.edits.push_back({edit["first"].get<size_t>(), edit["last"].get<size_t>(), edit["text"]});
  }
  proposal.rule = optional_text(json, "rule");
  if (auto found = json.find("auto"); found != json.end()) {
    if (!found->is_boolean()) return fail("{}: \"auto\" is true or false", where);
    proposal.auto_waits = found->get<bool>();
  }
  if (auto found = json.find("parent"); found != json.end()) {
    if (!found->is_number_integer() || found->get<int64_t>() < 0)
      return fail("{}: \"parent\" is the number of a version", where);
    proposal.parent = found->get<int64_t>();
  }
  if (auto found = json.find("direction"); found != json.end()) {
    if (found->is_string()) proposal.direction = direction_from_name(found->get<std::string>());
    if (!proposal.direction) return fail("{}: \"direction\" is none of the directions of docs/search.md", where);
  }
  if (auto found = json.find("window"); found != json.end()) {
    if (!found->is_array() || found->size() != 2 || !(*found)[0].is_number_unsigned() ||
        !(*found)[1].is_number_unsigned())
      return fail("{}: \"window\" is [first, last], numbers of items", where);
    proposal.window = Range{(*found)[0].get<size_t>(), (*found)[1].get<size_t>()};
  }
  if (auto found = json.find("origin"); found != json.end() && found->is_object())
    proposal.origin = origin_from(*found);
  proposal.rationale = optional_text(json, "rationale");
  return proposal;
}

} // namespace asmevo::search
