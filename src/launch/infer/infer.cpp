#include "launch/infer.h"

#include "launch/infer/search.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace asmevo::launch {

namespace {

constexpr uint64_t largest_total = uint64_t{1} << 30; // bytes of all buffers

using Json = nlohmann::ordered_json;

/// A launch file and what was assumed, from what was found.
class Author {
public:
  Author(const object::Kernel& kernel, const Found& found) : kernel_(kernel), found_(found), main_(found.shapes[0]) {}

  Json launch() const {
    Json launch = {{"kernel", kernel_.name}};
    if (!main_.values.empty()) launch["sizes"] = sizes(main_);
    launch["workgroups"] = main_.grid;
    launch["workgroup_size"] = found_.workgroup;
    if (found_.dynamic_lds) launch["dynamic_lds"] = found_.dynamic_lds;
    launch["buffers"] = Json::object();
    for (const Slot& p : found_.pointers)
      if (const PointerUse* use = use_of(main_, p)) launch["buffers"][p.name] = buffer(p, *use);
    launch["arguments"] = arguments();
    launch["cases"] = Json::array();
    for (const Shape& shape : found_.shapes) launch["cases"].push_back(a_case(shape));
    return launch;
  }

  std::vector<std::string> assumptions() const {
    std::vector<std::string> list;
    list.push_back(fmt::format("workgroups of {} work-items: {}", fmt::join(found_.workgroup, " x "),
                               kernel_.metadata->reqd_workgroup_size ? "the kernel requires it"
                               : found_.item_axes > 1 ? "of the shapes tried, this one stores most without gaps"
                                                      : "of the sizes tried, this one stores most"));
    for (const Slot& p : found_.pointers) list.push_back(about(p));
    for (const Scalar& s : found_.scalars) list.push_back(about(s));
    for (unsigned d = 0; d < 3; ++d)
      if (found_.axes[d])
        list.push_back(fmt::format("{} workgroups in {}: {}", main_.grid[d], "xyz"[d],
                                   found_.unlimited_axes.contains(d)
                                       ? "nothing limits them"
                                       : "enough, or all that store something of their own"));
    if (found_.dynamic_lds)
      list.push_back(fmt::format("{} bytes of dynamic LDS: the highest access", found_.dynamic_lds));
    if (main_.collisions)
      list.push_back(fmt::format("{} bytes are stored by several waves: their order may matter", main_.collisions));
    return list;
  }

  std::string confidence() const {
    const bool structs = std::ranges::any_of(kernel_.metadata->args,
                                             [](const auto& a) { return a.value_kind == "by_value" && a.size > 8; });
    const bool output =
        std::ranges::any_of(main_.pointers, [](const auto& entry) { return !entry.second.written.empty(); });
    if (structs || !output || main_.collisions || found_.unknown_types.size() * 2 > main_.pointers.size()) return "low";
    const bool sure = found_.unknown_types.empty() && found_.unlimited_axes.size() <= 1 && !found_.depends_on_data;
    return sure ? "high" : "medium";
  }

  uint64_t total() const {
    uint64_t bytes = 0;
    for (const Slot& p : found_.pointers)
      if (const PointerUse* use = use_of(main_, p)) bytes += layout_of(found_, p, *use).buffer.bytes();
    return bytes;
  }

private:
  static const PointerUse* use_of(const Shape& shape, const Slot& pointer) {
    auto use = shape.pointers.find(pointer.offset);
    return use == shape.pointers.end() ? nullptr : &use->second;
  }

  Json sizes(const Shape& shape) const {
    Json json = Json::object();
    for (const Scalar& s : found_.scalars)
      if (auto value = shape.values.find(s.slot.offset); value != shape.values.end()) json[s.slot.name] = value->second;
    return json;
  }

  Json buffer(const Slot& p, const PointerUse& use) const {
    const Buffer b = layout_of(found_, p, use).buffer;
    Json json = {{"dtype", std::string(launch::name_of(b.dtype))},
                 {"shape", b.elements()},
                 {"role", std::string(launch::name_of(b.role))}};
    if (b.fill.kind == FillKind::integers) json["fill"] = {{"integers", {int64_t(b.fill.a), int64_t(b.fill.b)}}};
    return json;
  }

  Json arguments() const {
    std::map<uint32_t, Json> by_offset;
    for (const Slot& p : found_.pointers) by_offset[p.offset] = pointer(p);
    for (const Scalar& s : found_.scalars) by_offset[s.slot.offset] = scalar(s);
    Json list = Json::array();
    for (auto& [offset, json] : by_offset) {
      json["offset"] = offset;
      list.push_back(std::move(json));
    }
    return list;
  }

  Json pointer(const Slot& p) const {
    const PointerUse* use = use_of(main_, p);
    if (!use) return {{"null", true}, {"name", p.name}};
    Json json = {{"buffer", p.name}};
    if (uint64_t before = layout_of(found_, p, *use).before) json["buffer_offset"] = before;
    return json;
  }

  Json scalar(const Scalar& s) const {
    Json json;
    if (main_.values.contains(s.slot.offset))
      json[fmt::format("u{}", s.slot.size * 8)] = s.slot.name;
    else
      json[std::string(launch::name_of(s.type))] = s.factor;
    json["name"] = s.slot.name;
    return json;
  }

  Json a_case(const Shape& shape) const {
    std::string name;
    for (const Scalar& s : found_.scalars)
      if (auto value = shape.values.find(s.slot.offset); value != shape.values.end() && (s.uses || s.moves))
        name += fmt::format("{}{} {}", name.empty() ? "" : ", ", s.slot.name, value->second);
    Json json = {{"name", name.empty() ? "main" : name}};
    if (&shape == &main_) return json;
    json["sizes"] = sizes(shape);
    json["workgroups"] = shape.grid;
    for (const Slot& p : found_.pointers) {
      const PointerUse* in_main = use_of(main_, p);
      if (!in_main) continue;
      // A role holds for all cases, and so does the place of the pointer in its buffer.
      const PointerUse* use = use_of(shape, p);
      const uint64_t size = size_of(found_.types.at(p.offset));
      const uint64_t before = layout_of(found_, p, *in_main).before;
      const uint64_t needed = use ? layout_of(found_, p, *use).buffer.elements() : 1;
      json["buffers"][p.name] = {{"shape", std::max(needed, before / size + 1)}};
    }
    return json;
  }

  std::string about(const Slot& p) const {
    const PointerUse* use = use_of(main_, p);
    if (!use) return fmt::format("{}: never used, null", p.name);
    const Buffer b = layout_of(found_, p, *use).buffer;
    const std::string_view type = found_.unknown_types.contains(p.offset) ? "of unknown type (bytes)"
                                  : b.dtype == DType::u8 && found_.moved.contains(p.offset)
                                      ? "of bytes that are only moved"
                                      : launch::name_of(b.dtype);
    std::string text = fmt::format("{}: {} {}, {} bytes read and {} written", p.name, launch::name_of(b.role), type,
                                   use->read.bytes(), use->written.bytes());
    if (b.fill.kind == FillKind::integers && b.role != Role::out)
      text += fmt::format(", holds integers {} to {}", b.fill.a, b.fill.b);
    if (found_.indexes.contains(p.offset)) text += " (what is loaded becomes an address)";
    return text;
  }

  std::string about(const Scalar& s) const {
    auto value = main_.values.find(s.slot.offset);
    if (value == main_.values.end())
      return fmt::format("{}: no size (used in arithmetic on floats), {} {}", s.slot.name, launch::name_of(s.type),
                         s.factor);
    std::string uses = names_of_uses(s.uses & ~unsigned(use_float));
    if (!uses.empty()) return fmt::format("{}: a size (used in {}), {}", s.slot.name, uses, value->second);
    if (s.moves) return fmt::format("{}: a size (what is touched follows it), {}", s.slot.name, value->second);
    return fmt::format("{}: was not seen to matter, {}", s.slot.name, value->second);
  }

  const object::Kernel& kernel_;
  const Found& found_;
  const Shape& main_;
};

} // namespace

Result<Inference> infer_launch(const machine::Image& image, const object::Kernel& kernel, const volatile bool* stop) {
  const std::string& path = image.object().path;
  if (!kernel.metadata || kernel.metadata->args.empty())
    return fail("{}: kernel `{}` has no arguments in its metadata; write a launch file (docs/launch-format.md)", path,
                kernel.name);
  AE_TRY(Found found, search_launch(image, kernel, stop));
  Author author(kernel, found);
  if (author.total() > largest_total)
    return fail("{}: kernel `{}` touches {} bytes, {} are the most that is proposed", path, kernel.name, author.total(),
                largest_total);
  return Inference{author.launch().dump(2) + "\n", author.assumptions(), author.confidence()};
}

} // namespace asmevo::launch
