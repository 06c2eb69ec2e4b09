// Buffers of a case: types, shapes, roles and what they hold.
#include "launch/schema/case_builder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace asmevo::launch {

namespace {

constexpr std::string_view fill_names[] = {"zero",        "constant",  "uniform", "normal", "integers",
                                           "special",     "nonfinite", "poison",  "file",   "npy",
                                           "permutation", "offsets",   "pointers"};
static_assert(std::size(fill_names) == size_t(FillKind::captured)); // captured content has no name in launch files

} // namespace

Result<void> CaseBuilder::buffers(const JsonView& object) {
  AE_CHECK(object.expect_object("\"buffers\""));
  for (const std::string& name : object.member_names()) {
    if (name.empty()) return asmevo::fail("{}: a buffer needs a name", object.where_key(name));
    JsonView view = object.at(name);
    std::string what = fmt::format("buffer \"{}\"", name);
    AE_CHECK(view.expect_keys(what, {"dtype", "shape", "role", "fill"}));
    auto found = std::ranges::find(result.buffers, name, &Buffer::name);
    if (found == result.buffers.end()) {
      for (std::string_view key : {"dtype", "shape", "role"})
        if (!view.has(key)) return view.fail("{} needs \"{}\"", what, key);
      found = result.buffers.insert(found, Buffer{.name = name});
    }
    found->where = view.where();
    AE_CHECK(buffer(view, what, *found));
  }
  return {};
}

Result<void> CaseBuilder::buffer(const JsonView& view, const std::string& what, Buffer& out) {
  if (view.has("dtype")) {
    AE_TRY(std::string name, view.at("dtype").string(what + ": \"dtype\""));
    auto dtype = dtype_from_name(name);
    if (!dtype) return view.at("dtype").fail("{}: no dtype \"{}\"{}", what, name, suggestion(name, dtype_names()));
    out.dtype = *dtype;
  }
  if (view.has("shape")) AE_CHECK(shape(view.at("shape"), what, out));
  if (view.has("role")) {
    AE_TRY(std::string name, view.at("role").string(what + ": \"role\""));
    auto role = role_from_name(name);
    if (!role) return view.at("role").fail("{}: no role \"{}\"{}", what, name, suggestion(name, role_names()));
    out.role = *role;
    if (!view.has("fill")) out.fill = default_fill(out);
  }
  if (view.has("fill")) AE_CHECK(fill(view.at("fill"), what, out.fill));
  if (out.fill.kind == FillKind::nonfinite && !is_floating(out.dtype))
    return view.fail("{}: the fill \"nonfinite\" is of infinities and NaN, which {} does not have", what,
                     name_of(out.dtype));
  return {};
}

Fill CaseBuilder::default_fill(const Buffer& buffer) {
  if (buffer.role == Role::out || buffer.role == Role::scratch) return {.kind = FillKind::poison};
  if (is_floating(buffer.dtype)) return {.kind = FillKind::normal, .a = 0, .b = 1};
  return {.kind = FillKind::integers,
          .a = format_of(buffer.dtype).is_signed ? -8.0 : 0.0,
          .b = buffer.dtype == DType::i4 ? 7.0 : 8.0};
}

Result<void> CaseBuilder::shape(const JsonView& view, const std::string& what, Buffer& out) {
  out.shape.clear();
  size_t dimensions = view.is_array() ? view.size() : 1;
  if (dimensions < 1 || dimensions > 8) return view.fail("{}: \"shape\" must have 1 to 8 numbers", what);
  for (size_t i = 0; i < dimensions; ++i) {
    JsonView dimension = view.is_array() ? view.at(i) : view;
    AE_TRY(uint64_t n, bounded_in(dimension, sizes_, what + ": \"shape\"", 1, largest_memory));
    out.shape.push_back(n);
  }
  return {};
}

Result<void> CaseBuilder::fill(const JsonView& view, const std::string& buffer, Fill& out) {
  std::string name;
  JsonView value;
  if (view.is_string()) {
    AE_TRY(name, view.string("\"fill\""));
  } else {
    AE_CHECK(view.expect_object(buffer + ": \"fill\""));
    if (view.size() != 1) return view.fail("{}: \"fill\" must have one key, not {}", buffer, view.size());
    name = view.member_names()[0];
    value = view.at(name);
  }
  auto known = std::ranges::find(fill_names, name);
  if (known == std::end(fill_names))
    return view.fail("{}: no fill \"{}\"{}", buffer, name, suggestion(name, fill_names));
  out = {.kind = FillKind(known - fill_names)};
  std::string what = fmt::format("{}: \"{}\"", buffer, name);
  if (out.kind == FillKind::zero || out.kind == FillKind::poison) return {};
  if (out.kind == FillKind::special || out.kind == FillKind::nonfinite) return special(value, what, out);
  if (out.kind == FillKind::constant) return constant(value ? value : view, what, out);
  if (out.kind == FillKind::file || out.kind == FillKind::npy) return file(value ? value : view, what, out);
  if (out.kind == FillKind::permutation || out.kind == FillKind::offsets) return count(value, what, out);
  if (out.kind == FillKind::pointers) return pointers(value ? value : view, what, out);
  return range(value ? value : view, what, out);
}

Result<void> CaseBuilder::constant(const JsonView& value, const std::string& what, Fill& out) {
  AE_TRY(out.a, real_in(value, sizes_, what));
  return {};
}

Result<void> CaseBuilder::file(const JsonView& value, const std::string& what, Fill& out) {
  AE_TRY(out.path, value.string(what));
  if (std::filesystem::path(out.path).is_relative() && !directory_.empty()) out.path = directory_ + "/" + out.path;
  return {};
}

Result<void> CaseBuilder::count(const JsonView& value, const std::string& what, Fill& out) {
  out.a = 0;
  if (!value || value.json().is_boolean()) return {};
  AE_TRY(uint64_t n, bounded_in(value, sizes_, what, 1, uint64_t{1} << 53));
  out.a = double(n);
  return {};
}

Result<void> CaseBuilder::pointers(const JsonView& list, const std::string& what, Fill& out) {
  AE_CHECK(list.expect_array(what));
  for (size_t i = 0; i < list.size(); ++i) {
    JsonView entry = list.at(i);
    PointerTo to;
    if (entry.is_object()) {
      AE_CHECK(entry.expect_keys(what, {"buffer", "buffer_offset"}));
      if (!entry.has("buffer")) return entry.fail("{}: an entry needs a \"buffer\"", what);
      AE_TRY(to.buffer, entry.at("buffer").string(what));
      if (entry.has("buffer_offset")) {
        AE_TRY(to.offset, bounded_in(entry.at("buffer_offset"), sizes_, what, 0, largest_memory));
      }
    } else if (!entry.json().is_null()) {
      AE_TRY(to.buffer, entry.string(what));
    }
    out.pointers.push_back(std::move(to));
  }
  return {};
}

Result<void> CaseBuilder::special(const JsonView& value, const std::string& what, Fill& out) {
  out.a = out.kind == FillKind::nonfinite ? 1.0 / 8 : 1.0 / 256;
  if (value && value.is_number()) {
    AE_TRY(out.a, value.number(what));
    if (!(out.a >= 0 && out.a <= 1))
      return value.fail("{} is the share of special values, 0 to 1, not {}", what, out.a);
  }
  return {};
}

Result<void> CaseBuilder::range(const JsonView& value, const std::string& what, Fill& out) {
  if (!value.is_array() || value.size() != 2) return value.fail("{} needs two numbers: {{\"uniform\": [0, 1]}}", what);
  AE_TRY(out.a, real_in(value.at(size_t{0}), sizes_, what));
  AE_TRY(out.b, real_in(value.at(1), sizes_, what));
  if (!std::isfinite(out.a) || !std::isfinite(out.b)) return value.fail("{} needs finite numbers", what);
  if (out.kind != FillKind::normal && out.a > out.b)
    return value.fail("{} is empty: {} is above {}", what, out.a, out.b);
  if (out.kind == FillKind::integers && (out.a != std::floor(out.a) || out.b != std::floor(out.b) ||
                                         std::fabs(out.a) > 0x1p53 || std::fabs(out.b) > 0x1p53))
    return value.fail("{} needs whole numbers below 2^53", what);
  return {};
}

Result<void> CaseBuilder::check_buffers() {
  std::ranges::sort(result.buffers, {}, &Buffer::name);
  uint64_t total = 0;
  for (const Buffer& buffer : result.buffers) {
    double bytes = width_of(buffer.dtype) / 8.0;
    for (uint64_t n : buffer.shape) bytes *= double(n);
    if (bytes > double(largest_memory) || (total += uint64_t(bytes)) > largest_memory)
      return asmevo::fail("{}: buffer \"{}\" takes the case beyond {} GiB", buffer.where, buffer.name,
                          largest_memory >> 30);
    AE_CHECK(check_fill(buffer));
  }
  return {};
}

Result<void> CaseBuilder::check_pointers(const Buffer& buffer) const {
  if (buffer.dtype != DType::u64 || buffer.role != Role::in || buffer.fill.pointers.size() > buffer.elements())
    return asmevo::fail(
        "{}: buffer \"{}\": {} pointers need a u64 buffer of at least as many elements and the role \"in\"",
        buffer.where, buffer.name, buffer.fill.pointers.size());
  for (const PointerTo& to : buffer.fill.pointers) {
    const Buffer* target = result.buffer(to.buffer);
    if (to.buffer.empty()) continue;
    if (!target)
      return asmevo::fail("{}: buffer \"{}\": no buffer \"{}\" to point to", buffer.where, buffer.name, to.buffer);
    if (to.offset >= target->bytes())
      return asmevo::fail("{}: buffer \"{}\": offset {} is outside buffer \"{}\" of {} bytes", buffer.where,
                          buffer.name, to.offset, to.buffer, target->bytes());
  }
  return {};
}

Result<void> CaseBuilder::check_fill(const Buffer& buffer) const {
  const Fill& fill = buffer.fill;
  if (fill.kind == FillKind::pointers) return check_pointers(buffer);
  if (fill.kind == FillKind::permutation && fill.a > 0 && std::fmod(double(buffer.elements()), fill.a) != 0)
    return asmevo::fail("{}: buffer \"{}\" has {} elements, which are no whole number of permutations of {}",
                        buffer.where, buffer.name, buffer.elements(), fill.a);
  if (fill.kind == FillKind::npy) {
    Case any;
    if (auto content = initial_bytes(any, buffer, 0); !content) return std::unexpected(content.error());
  }
  if (fill.kind != FillKind::file) return {};
  std::error_code error;
  uint64_t size = std::filesystem::file_size(fill.path, error);
  if (error) return asmevo::fail("{}: buffer \"{}\": {}: {}", buffer.where, buffer.name, fill.path, error.message());
  if (size != buffer.bytes())
    return asmevo::fail("{}: buffer \"{}\" has {} bytes, {} has {}", buffer.where, buffer.name, buffer.bytes(),
                        fill.path, size);
  return {};
}

} // namespace asmevo::launch
