#include "agent/json_schema.h"

#include "support/json.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace asmevo::agent {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 14> keywords = {
    "type",     "properties", "required", "additionalProperties", "items", "enum", "minimum", "maximum", "maxLength",
    "minItems", "maxItems",   "default",  "description",          "title"};

bool has_type(const json& value, const std::string& type) {
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  return type == (value.is_number() ? "number" : value.type_name());
}

std::string words(const json& value) {
  std::string text = write_json(value);
  return text.size() > 80 ? text.substr(0, 77) + "..." : text;
}

std::optional<std::string> fault_of_type(const json& value, const json& types, const std::string& name) {
  if (types.is_string()) {
    if (has_type(value, types)) return std::nullopt;
    return fmt::format("{} must be {}, not {}", name, types.get<std::string>(), value.type_name());
  }
  for (const json& type : types)
    if (has_type(value, type)) return std::nullopt;
  return fmt::format("{} must be one of {}, not {}", name, words(types), value.type_name());
}

/// As floating point: whole numbers of either sign compare wrongly in the library beyond 2^63, and no bound is that
/// large.
std::optional<std::string> fault_of_number(const json& value, const json& schema, const std::string& name) {
  const double number = value.get<double>();
  if (auto minimum = schema.find("minimum"); minimum != schema.end() && number < minimum->get<double>())
    return fmt::format("{} must be at least {}, not {}", name, words(*minimum), words(value));
  if (auto maximum = schema.find("maximum"); maximum != schema.end() && number > maximum->get<double>())
    return fmt::format("{} must be at most {}, not {}", name, words(*maximum), words(value));
  return std::nullopt;
}

std::optional<std::string> fault_of_string(const json& value, const json& schema, const std::string& name) {
  const auto& text = value.get_ref<const std::string&>();
  if (auto longest = schema.find("maxLength"); longest != schema.end() && text.size() > longest->get<size_t>())
    return fmt::format("{} must be at most {} bytes, not {}", name, longest->get<size_t>(), text.size());
  return std::nullopt;
}

std::optional<std::string> fault_of_array(const json& value, const json& schema, const std::string& name) {
  if (auto fewest = schema.find("minItems"); fewest != schema.end() && value.size() < fewest->get<size_t>())
    return fmt::format("{} must have at least {} items", name, fewest->get<size_t>());
  if (auto most = schema.find("maxItems"); most != schema.end() && value.size() > most->get<size_t>())
    return fmt::format("{} must have at most {} items, not {}", name, most->get<size_t>(), value.size());
  if (auto items = schema.find("items"); items != schema.end())
    for (size_t i = 0; i < value.size(); ++i)
      if (auto fault = fault_of(value[i], *items, fmt::format("{}[{}]", name, i))) return fault;
  return std::nullopt;
}

std::string member(const std::string& name, const std::string& key) { return name.empty() ? key : name + "." + key; }

std::optional<std::string> fault_of_object(const json& value, const json& schema, const std::string& name) {
  if (auto required = schema.find("required"); required != schema.end())
    for (const json& key : *required)
      if (!value.contains(key)) return fmt::format("{} is missing", member(name, key));
  const json properties = schema.value("properties", json::object());
  const bool closed = schema.value("additionalProperties", json(true)) == false;
  for (const auto& [key, content] : value.items()) {
    if (auto known = properties.find(key); known != properties.end()) {
      if (auto fault = fault_of(content, *known, member(name, key))) return fault;
    } else if (closed) {
      std::vector<std::string_view> names;
      for (const auto& [property, unused] : properties.items()) names.push_back(property);
      return fmt::format("{} is not known{}", member(name, key.substr(0, 64)), suggestion(key, names));
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<std::string> fault_of(const json& value, const json& schema, const std::string& name) {
  if (auto type = schema.find("type"); type != schema.end())
    if (auto fault = fault_of_type(value, *type, name)) return fault;
  if (auto allowed = schema.find("enum");
      allowed != schema.end() && std::ranges::find(*allowed, value) == allowed->end())
    return fmt::format("{} must be one of {}, not {}", name, words(*allowed), words(value));
  if (value.is_number()) return fault_of_number(value, schema, name);
  if (value.is_string()) return fault_of_string(value, schema, name);
  if (value.is_array()) return fault_of_array(value, schema, name);
  if (value.is_object()) return fault_of_object(value, schema, name);
  return std::nullopt;
}

std::string unknown_keyword(const json& schema) {
  if (!schema.is_object()) return "a schema that is no object";
  for (const auto& [key, content] : schema.items()) {
    if (std::ranges::find(keywords, key) == keywords.end()) return key;
    if (key == "items")
      if (std::string unknown = unknown_keyword(content); !unknown.empty()) return unknown;
    if (key != "properties") continue;
    for (const auto& [name, property] : content.items())
      if (std::string unknown = unknown_keyword(property); !unknown.empty()) return unknown;
  }
  return {};
}

} // namespace asmevo::agent
