#include "agent/tools/shapes.h"

#include "agent/workspace.h"
#include "gate/edits.h"

namespace asmevo::agent::shape {
namespace {

/// Marks a property until object() has looked; no schema leaves with it.
constexpr const char* optional_mark = "optional";

json described(std::string_view type, std::string_view description) {
  return {{"type", type}, {"description", description}};
}

} // namespace

json object(json properties) {
  json required = json::array();
  for (auto& [name, shape] : properties.items())
    if (shape.erase(optional_mark) == 0) required.push_back(name);
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

json optional(json shape) {
  shape[optional_mark] = true;
  return shape;
}

json text(std::string_view description, size_t longest) {
  json shape = described("string", description);
  if (longest > 0) shape["maxLength"] = longest;
  return shape;
}

json number(std::string_view description) { return described("number", description); }
json flag(std::string_view description) { return described("boolean", description); }

json count(std::string_view description) {
  json shape = described("integer", description);
  shape["minimum"] = 0;
  return shape;
}

json count(std::string_view description, int64_t least, int64_t most) {
  json shape = described("integer", description);
  shape["minimum"] = least;
  shape["maximum"] = most;
  return shape;
}

json list(std::string_view description, json items) {
  json shape = described("array", description);
  shape["items"] = std::move(items);
  return shape;
}

json list(std::string_view description, json items, size_t fewest, size_t most) {
  json shape = list(description, std::move(items));
  shape["minItems"] = fewest;
  shape["maxItems"] = most;
  return shape;
}

json choice(std::string_view description, json values) {
  json shape = described("string", description);
  shape["enum"] = std::move(values);
  return shape;
}

json nullable(json shape) {
  shape["type"] = json::array({shape["type"], "null"});
  return shape;
}

json amounts(std::string_view description) { return described("object", description); }

json version() {
  return optional(
      count("version of the lineage; without it the one that is checked out, or the best", 0, 1'000'000'000));
}
json offset() { return optional(count("first row of the page", 0, 1'000'000'000)); }
json limit(size_t usual, size_t most) {
  json shape = count("rows of a page", 1, int64_t(most));
  shape["default"] = usual;
  return optional(std::move(shape));
}

void add_page(json& properties) {
  properties["total"] = count("rows there are");
  properties["next_offset"] = nullable(count("offset of the next page; null behind the last row"));
}

json edits() {
  constexpr int64_t most = 1'000'000'000;
  return list("windows to replace; they may not overlap",
              object({{"first", count("first item of the window", 0, most)},
                      {"last", count("the item behind the window", 0, most)},
                      {"base_hash", text("what disassemble or windows gave for exactly this window", 64)},
                      {"text", text("what stands there instead: instructions, labels and plain data, one a line; empty "
                                    "text deletes the window",
                                    gate::edit_text_limit)}}),
              1, 16);
}

} // namespace asmevo::agent::shape
