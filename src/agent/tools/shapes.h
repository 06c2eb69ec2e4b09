// The shapes that tools take and give, as JSON schemas.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace asmevo::agent::shape {

using nlohmann::json;

/// Every property is required but those that are `optional()`; nothing else may be there.
json object(json properties);
json optional(json shape);

json text(std::string_view description, size_t longest = 0);
json number(std::string_view description);
json flag(std::string_view description);
json count(std::string_view description); // a whole number that is not negative
json count(std::string_view description, int64_t least, int64_t most);
json list(std::string_view description, json items);
json list(std::string_view description, json items, size_t fewest, size_t most);
json choice(std::string_view description, json values);
json nullable(json shape);
/// Members are named by the content: amounts by reason, counts by outcome.
json amounts(std::string_view description);

/// What several tools take.
json version();
json offset();
json limit(size_t usual, size_t most);
/// What put_page() writes beside the rows.
void add_page(json& properties);
/// first, last, base_hash, text of edits.
json edits();

} // namespace asmevo::agent::shape
