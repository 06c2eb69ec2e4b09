// The part of JSON Schema that tools describe themselves with.
//
// A tool's schema is shown to whoever calls it and checked here, so the two cannot disagree. Understood are type (one
// or a list), properties, required, additionalProperties (false), items, enum, minimum, maximum, maxLength, minItems
// and maxItems; the schemas use nothing else, which a test checks.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace asmevo::agent {

/// What is wrong with `value`, and where ("edits[0].first must be integer, not string"); nothing where it conforms.
/// `name` is what the value is called.
std::optional<std::string> fault_of(const nlohmann::json& value, const nlohmann::json& schema, const std::string& name);

/// A keyword in `schema` that is not understood; empty where there is none.
std::string unknown_keyword(const nlohmann::json& schema);

} // namespace asmevo::agent
