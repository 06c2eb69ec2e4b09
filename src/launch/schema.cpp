// From the text of a launch file to cases with every number resolved.
//
// A case is the file's own content with the case's overrides on top. Both are applied by the same functions, first the
// file and then the case, with the sizes of the case in force all along: that is how one changed size reaches every
// shape, grid and scalar that was written in terms of it.
#include "launch/capture.h"
#include "launch/expression.h"
#include "launch/launch.h"

#include "support/file.h"
#include "support/hash.h"
#include "support/json.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

namespace asmevo::launch {

namespace {

constexpr uint64_t largest_memory = uint64_t{16} << 30; // of a case: simulated memory is this machine's memory
constexpr size_t most_cases = 10'000;
constexpr std::string_view override_keys[] = {"seed",        "sizes",   "workgroups", "work_items", "workgroup_size",
                                              "dynamic_lds", "buffers", "arguments",  "tolerance",  "name"};
constexpr std::string_view launch_keys[] = {"seed",           "sizes",       "workgroups", "work_items",
                                            "workgroup_size", "dynamic_lds", "buffers",    "arguments",
                                            "tolerance",      "kernel",      "cases"};
constexpr std::string_view role_names[] = {"in", "out", "inout", "scratch"};
constexpr std::string_view fill_names[] = {"zero",   "constant", "uniform", "normal",      "integers", "special",
                                           "poison", "file",     "npy",     "permutation", "offsets",  "pointers"};
static_assert(std::size(fill_names) == size_t(FillKind::captured)); // captured content has no name in launch files

/// An error of asmevo::launch::evaluate_* at the place of the text.
template <class T> Result<T> placed(const JsonView& view, Result<T> result) {
  if (!result) return view.fail("{}", result.error().message);
  return result;
}

Result<int64_t> integer_in(const JsonView& view, const Sizes& sizes, std::string_view what) {
  if (!view.is_string()) return view.integer(what);
  AE_TRY(std::string text, view.string(what));
  return placed(view, evaluate_integer(text, sizes));
}

Result<double> real_in(const JsonView& view, const Sizes& sizes, std::string_view what) {
  if (!view.is_string()) return view.number(what);
  AE_TRY(std::string text, view.string(what));
  if (text == "nan") return std::nan("");
  if (text == "inf" || text == "-inf") return text == "inf" ? HUGE_VAL : -HUGE_VAL;
  return placed(view, evaluate_real(text, sizes));
}

Result<uint64_t> bounded_in(const JsonView& view, const Sizes& sizes, std::string_view what, uint64_t low,
                            uint64_t high) {
  AE_TRY(int64_t value, integer_in(view, sizes, what));
  if (value < 0 || uint64_t(value) < low || uint64_t(value) > high)
    return view.fail("{} is {}, allowed is {} to {}", what, value, low, high);
  return uint64_t(value);
}

// ---- sizes -------------------------------------------------------------------------------------------------------

/// Sizes may refer to each other in any order: each is resolved when first asked for.
class SizeTable {
public:
  void add(const JsonView& object) {
    for (const std::string& name : object.member_names()) views_.insert_or_assign(name, object.at(name));
  }

  Result<Sizes> resolve() {
    // Each round resolves every size whose own references are known; what is left after as many rounds is a cycle.
    for (size_t round = 0; round <= views_.size() && resolved_.size() < views_.size(); ++round)
      for (auto& [name, view] : views_)
        if (!resolved_.contains(name))
          if (auto value = integer_in(view, resolved_, fmt::format("size \"{}\"", name))) resolved_[name] = *value;
    for (auto& [name, view] : views_)
      if (!resolved_.contains(name)) {
        auto value = integer_in(view, resolved_, fmt::format("size \"{}\"", name));
        return std::unexpected(value.error());
      }
    return resolved_;
  }

private:
  std::map<std::string, JsonView, std::less<>> views_;
  Sizes resolved_;
};

Result<void> check_sizes(const JsonView& object) {
  AE_CHECK(object.expect_object("\"sizes\""));
  for (const std::string& name : object.member_names()) {
    bool good = !name.empty() && !std::isdigit(uint8_t(name[0]));
    for (char c : name) good &= std::isalnum(uint8_t(c)) || c == '_';
    if (!good)
      return asmevo::fail("{}: size \"{}\" must be a name of letters, digits and _", object.where_key(name), name);
  }
  return {};
}

// ---- one case under construction ---------------------------------------------------------------------------------

class CaseBuilder {
public:
  CaseBuilder(Sizes sizes, std::string directory) : sizes_(std::move(sizes)), directory_(std::move(directory)) {}

  Case result;

  Result<void> apply(const JsonView& object, bool overriding) {
    overriding_ = overriding;
    if (object.has("seed")) {
      AE_TRY(result.seed, object.at("seed").unsigned_integer("\"seed\""));
    }
    AE_CHECK(grid(object));
    if (object.has("buffers")) AE_CHECK(buffers(object.at("buffers")));
    if (object.has("arguments")) AE_CHECK(arguments(object.at("arguments")));
    if (object.has("tolerance")) AE_CHECK(tolerances(object.at("tolerance")));
    return {};
  }

  Result<Case> finish(const JsonView& launch) {
    if (result.where_workgroups.empty()) return launch.fail("the launch needs \"workgroups\"");
    if (result.where_workgroup_size.empty()) return launch.fail("the launch needs \"workgroup_size\"");
    if (result.where_arguments.empty()) return launch.fail("the launch needs \"arguments\"");
    AE_CHECK(check_grid());
    AE_CHECK(check_buffers());
    AE_CHECK(place_arguments());
    AE_CHECK(check_tolerances());
    return std::move(result);
  }

private:
  // ---- grid

  Result<void> grid(const JsonView& object) {
    if (object.has("workgroups")) {
      AE_TRY(result.workgroups, extent(object.at("workgroups"), "\"workgroups\"", 0x7fffffff));
      result.work_items = {0, 0, 0};
      result.where_workgroups = object.at("workgroups").where();
    }
    if (object.has("work_items")) AE_CHECK(work_items(object.at("work_items")));
    if (object.has("workgroup_size")) {
      AE_TRY(result.workgroup_size, extent(object.at("workgroup_size"), "\"workgroup_size\"", 1024));
      result.where_workgroup_size = object.at("workgroup_size").where();
    }
    if (object.has("dynamic_lds")) {
      JsonView view = object.at("dynamic_lds");
      AE_TRY(uint64_t bytes, bounded_in(view, sizes_, "\"dynamic_lds\"", 0, 1 << 20));
      result.dynamic_lds = uint32_t(bytes);
      result.where_dynamic_lds = view.where();
    }
    return {};
  }

  /// The grid in work-items, where it is no whole number of workgroups; the workgroups follow.
  Result<void> work_items(const JsonView& view) {
    AE_TRY(auto items, extent(view, "\"work_items\"", 0xffffffff));
    std::ranges::copy(items, result.work_items.begin());
    result.where_workgroups = view.where();
    return {};
  }

  Result<std::array<uint32_t, 3>> extent(const JsonView& view, std::string_view what, uint64_t most) {
    std::array<uint32_t, 3> extent{1, 1, 1};
    if (!view.is_array()) {
      AE_TRY(uint64_t x, bounded_in(view, sizes_, what, 1, most));
      extent[0] = uint32_t(x);
      return extent;
    }
    if (view.size() < 1 || view.size() > 3) return view.fail("{} must have 1 to 3 numbers, not {}", what, view.size());
    for (size_t i = 0; i < view.size(); ++i) {
      AE_TRY(uint64_t n, bounded_in(view.at(i), sizes_, what, 1, most));
      extent[i] = uint32_t(n);
    }
    return extent;
  }

  Result<void> check_grid() {
    for (size_t i = 0; i < 3 && result.work_items[0] > 0; ++i)
      result.workgroups[i] = uint32_t((result.work_items[i] + result.workgroup_size[i] - 1) / result.workgroup_size[i]);
    auto product = [](const std::array<uint32_t, 3>& e) { return double(e[0]) * e[1] * e[2]; };
    if (product(result.workgroup_size) > 1024)
      return asmevo::fail("{}: a workgroup of {} work-items, the hardware takes 1024", result.where_workgroup_size,
                          product(result.workgroup_size));
    if (product(result.workgroups) > double(0x7fffffff))
      return asmevo::fail("{}: {} workgroups, at most 2147483647 can be dispatched", result.where_workgroups,
                          product(result.workgroups));
    for (size_t i = 0; i < 3; ++i)
      if (uint64_t{result.workgroups[i]} * result.workgroup_size[i] > 0xffffffff)
        return asmevo::fail("{}: a grid of {} * {} work-items does not fit 32 bits", result.where_workgroups,
                            result.workgroups[i], result.workgroup_size[i]);
    return {};
  }

  // ---- buffers

  Result<void> buffers(const JsonView& object) {
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

  Result<void> buffer(const JsonView& view, const std::string& what, Buffer& out) {
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
      if (!role) return view.at("role").fail("{}: no role \"{}\"{}", what, name, suggestion(name, role_names));
      out.role = *role;
      if (!view.has("fill")) out.fill = default_fill(out);
    }
    if (view.has("fill")) AE_CHECK(fill(view.at("fill"), what, out.fill));
    return {};
  }

  static Fill default_fill(const Buffer& buffer) {
    if (buffer.role == Role::out || buffer.role == Role::scratch) return {.kind = FillKind::poison};
    if (is_floating(buffer.dtype)) return {.kind = FillKind::normal, .a = 0, .b = 1};
    return {.kind = FillKind::integers, .a = format_of(buffer.dtype).is_signed ? -8.0 : 0.0, .b = 8};
  }

  Result<void> shape(const JsonView& view, const std::string& what, Buffer& out) {
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

  Result<void> fill(const JsonView& view, const std::string& buffer, Fill& out) {
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
    if (out.kind == FillKind::special) return special(value, what, out);
    if (out.kind == FillKind::constant) return constant(value ? value : view, what, out);
    if (out.kind == FillKind::file || out.kind == FillKind::npy) return file(value ? value : view, what, out);
    if (out.kind == FillKind::permutation || out.kind == FillKind::offsets) return count(value, what, out);
    if (out.kind == FillKind::pointers) return pointers(value ? value : view, what, out);
    return range(value ? value : view, what, out);
  }

  Result<void> constant(const JsonView& value, const std::string& what, Fill& out) {
    AE_TRY(out.a, real_in(value, sizes_, what));
    return {};
  }

  Result<void> file(const JsonView& value, const std::string& what, Fill& out) {
    AE_TRY(out.path, value.string(what));
    if (std::filesystem::path(out.path).is_relative() && !directory_.empty()) out.path = directory_ + "/" + out.path;
    return {};
  }

  /// 0 stands for the buffer's own number of elements.
  Result<void> count(const JsonView& value, const std::string& what, Fill& out) {
    out.a = 0;
    if (!value || value.json().is_boolean()) return {};
    AE_TRY(uint64_t n, bounded_in(value, sizes_, what, 1, uint64_t{1} << 53));
    out.a = double(n);
    return {};
  }

  Result<void> pointers(const JsonView& list, const std::string& what, Fill& out) {
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

  static Result<void> special(const JsonView& value, const std::string& what, Fill& out) {
    out.a = 1.0 / 256;
    if (value && value.is_number()) {
      AE_TRY(out.a, value.number(what));
      if (!(out.a >= 0 && out.a <= 1))
        return value.fail("{} is the share of special values, 0 to 1, not {}", what, out.a);
    }
    return {};
  }

  Result<void> range(const JsonView& value, const std::string& what, Fill& out) {
    if (!value.is_array() || value.size() != 2)
      return value.fail("{} needs two numbers: {{\"uniform\": [0, 1]}}", what);
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

  Result<void> check_buffers() {
    std::ranges::sort(result.buffers, {}, &Buffer::name);
    uint64_t total = 0;
    for (const Buffer& buffer : result.buffers) {
      double bytes = size_of(buffer.dtype);
      for (uint64_t n : buffer.shape) bytes *= double(n);
      if (bytes > double(largest_memory) || (total += uint64_t(bytes)) > largest_memory)
        return asmevo::fail("{}: buffer \"{}\" takes the case beyond {} GiB", buffer.where, buffer.name,
                            largest_memory >> 30);
      AE_CHECK(check_fill(buffer));
    }
    return {};
  }

  Result<void> check_pointers(const Buffer& buffer) const {
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

  Result<void> check_fill(const Buffer& buffer) const {
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

  // ---- arguments

  Result<void> arguments(const JsonView& list) {
    AE_CHECK(list.expect_array("\"arguments\""));
    result.where_arguments = list.where();
    for (size_t i = 0; i < list.size(); ++i) {
      AE_TRY(Pending next, argument(list.at(i), i));
      if (!overriding_) {
        if (!next.argument.name.empty() && find_argument(next.argument.name) != pending_.end())
          return list.at(i).fail("{}: an earlier argument has the same name; give it another \"name\"",
                                 label(next.argument, i));
        pending_.push_back(std::move(next));
        continue;
      }
      if (next.argument.name.empty())
        return list.at(i).fail("a case's argument needs the \"name\" of the one it replaces");
      auto replaced = find_argument(next.argument.name);
      if (replaced == pending_.end())
        return list.at(i).fail("the launch has no argument named \"{}\"{}", next.argument.name,
                               suggestion(next.argument.name, argument_names()));
      if (!next.offset) next.offset = replaced->offset;
      *replaced = std::move(next);
    }
    return {};
  }

  struct Pending {
    Argument argument;
    std::optional<uint32_t> offset; // where the file gives one
    uint32_t alignment = 1;
  };

  std::vector<Pending>::iterator find_argument(std::string_view name) {
    return std::ranges::find_if(pending_, [&](const Pending& p) { return p.argument.name == name; });
  }

  std::vector<std::string_view> argument_names() const {
    std::vector<std::string_view> names;
    for (const Pending& p : pending_)
      if (!p.argument.name.empty()) names.push_back(p.argument.name);
    return names;
  }

  static std::string label(const Argument& argument, size_t index) {
    return argument.name.empty() ? fmt::format("argument {}", index)
                                 : fmt::format("argument {} (\"{}\")", index, argument.name);
  }

  Result<Pending> argument(const JsonView& view, size_t index) {
    std::string what = fmt::format("argument {}", index);
    std::vector<std::string_view> known{"buffer", "null", "bytes"};
    known.insert(known.end(), dtype_names().begin(), dtype_names().end());
    size_t kinds = known.size();
    for (std::string_view key : {"name", "offset", "align", "buffer_offset"}) known.push_back(key);
    AE_CHECK(view.expect_keys(what, known));

    Pending pending;
    pending.argument.where = view.where();
    std::string_view kind;
    for (std::string_view key : std::span(known).first(kinds))
      if (view.has(key)) {
        if (!kind.empty()) return view.fail("{} has both \"{}\" and \"{}\"", what, kind, key);
        kind = key;
      }
    if (kind.empty()) return view.fail("{} needs a \"buffer\", \"null\", \"bytes\" or a value such as \"i32\"", what);
    AE_CHECK(value(view.at(kind), kind, what, pending));
    if (view.has("name")) {
      AE_TRY(pending.argument.name, view.at("name").string(what + ": \"name\""));
    }
    if (view.has("buffer_offset")) {
      if (kind != "buffer") return view.at("buffer_offset").fail("{} is no buffer: it has no \"buffer_offset\"", what);
      AE_TRY(pending.argument.buffer_offset,
             bounded_in(view.at("buffer_offset"), sizes_, what + ": \"buffer_offset\"", 0, largest_memory));
    }
    if (view.has("offset")) {
      AE_TRY(uint64_t offset, bounded_in(view.at("offset"), sizes_, what + ": \"offset\"", 0, 1 << 16));
      pending.offset = uint32_t(offset);
    }
    if (view.has("align")) {
      AE_TRY(uint64_t alignment, bounded_in(view.at("align"), sizes_, what + ": \"align\"", 1, 4096));
      pending.alignment = uint32_t(alignment);
    }
    return pending;
  }

  Result<void> value(const JsonView& view, std::string_view kind, const std::string& what, Pending& out) {
    Argument& argument = out.argument;
    if (kind == "buffer" || kind == "null") {
      argument.size = out.alignment = 8;
      argument.null_pointer = kind == "null";
      if (kind == "null") return {};
      AE_TRY(argument.buffer, view.string(what + ": \"buffer\""));
      argument.name = argument.buffer;
      return {};
    }
    if (kind == "bytes") return raw_bytes(view, what, out);
    DType type = *dtype_from_name(kind);
    AE_TRY(uint64_t bits, scalar(view, type, fmt::format("{}: \"{}\"", what, kind)));
    argument.dtype = type;
    argument.size = out.alignment = size_of(type);
    argument.value.resize(argument.size);
    store_bits(type, bits, argument.value.data());
    return {};
  }

  Result<uint64_t> scalar(const JsonView& view, DType type, const std::string& what) {
    const Format& format = format_of(type);
    if (format.floating) {
      AE_TRY(double value, real_in(view, sizes_, what));
      return bits_of(type, value);
    }
    unsigned width = format.size * 8;
    if (!format.is_signed && view.json().is_number_unsigned()) {
      uint64_t value = view.json().get<uint64_t>();
      if (width < 64 && value >> width) return view.fail("{} is {}, it has {} bits", what, value, width);
      return value;
    }
    AE_TRY(int64_t value, integer_in(view, sizes_, what));
    int64_t low = format.is_signed ? -(int64_t{1} << (width - 2)) * 2 : 0;
    int64_t high = width == 64 ? INT64_MAX : (int64_t{1} << (width - format.is_signed)) - 1;
    if (value < low || value > high) return view.fail("{} is {}, allowed is {} to {}", what, value, low, high);
    return uint64_t(value);
  }

  static Result<void> raw_bytes(const JsonView& view, const std::string& what, Pending& out) {
    AE_TRY(std::string text, view.string(what + ": \"bytes\""));
    std::string digits;
    for (char c : text)
      if (c != ' ') digits += c;
    bool hex = std::ranges::all_of(digits, [](char c) { return std::isxdigit(uint8_t(c)); });
    if (digits.empty() || digits.size() % 2 || !hex || digits.size() > 8192)
      return view.fail("{}: \"bytes\" must be 1 to 4096 bytes as hexadecimal digits: \"00 01 ff\"", what);
    for (size_t i = 0; i < digits.size(); i += 2)
      out.argument.value.push_back(uint8_t(std::stoul(digits.substr(i, 2), nullptr, 16)));
    out.argument.size = uint32_t(out.argument.value.size());
    out.alignment = out.argument.size % 8 == 0 ? 8 : out.argument.size % 4 == 0 ? 4 : 1;
    return {};
  }

  Result<void> place_arguments() {
    uint32_t at = 0;
    for (size_t i = 0; i < pending_.size(); ++i) {
      Pending& p = pending_[i];
      p.argument.offset = p.offset.value_or((at + p.alignment - 1) / p.alignment * p.alignment);
      at = p.argument.offset + p.argument.size;
      if (p.argument.buffer.empty()) continue;
      const Buffer* buffer = result.buffer(p.argument.buffer);
      if (!buffer) {
        std::vector<std::string_view> names;
        for (const Buffer& b : result.buffers) names.push_back(b.name);
        return asmevo::fail("{}: argument {}: no buffer \"{}\"{}", p.argument.where, i, p.argument.buffer,
                            suggestion(p.argument.buffer, names));
      }
      if (p.argument.buffer_offset >= buffer->bytes())
        return asmevo::fail("{}: {}: \"buffer_offset\" {} is outside buffer \"{}\" of {} bytes", p.argument.where,
                            label(p.argument, i), p.argument.buffer_offset, buffer->name, buffer->bytes());
    }
    for (Pending& p : pending_) result.arguments.push_back(std::move(p.argument));
    std::ranges::stable_sort(result.arguments, {}, &Argument::offset);
    for (size_t i = 1; i < result.arguments.size(); ++i) {
      const Argument &before = result.arguments[i - 1], &after = result.arguments[i];
      if (before.offset + before.size > after.offset)
        return asmevo::fail("{}: {} at offset {} overlaps {} at offsets {} to {}", after.where, label(after, i),
                            after.offset, label(before, i - 1), before.offset, before.offset + before.size - 1);
    }
    return {};
  }

  // ---- tolerance

  Result<void> tolerances(const JsonView& object) {
    AE_CHECK(object.expect_object("\"tolerance\""));
    for (const std::string& name : object.member_names()) {
      JsonView view = object.at(name);
      std::string what = fmt::format("tolerance of \"{}\"", name);
      AE_CHECK(view.expect_keys(what, {"absolute", "relative", "scaled", "cosine"}));
      Tolerance& out = result.tolerance[name];
      tolerance_places_[name] = object.where_key(name);
      for (auto [key, field] :
           {std::pair{"absolute", &Tolerance::absolute}, std::pair{"relative", &Tolerance::relative},
            std::pair{"scaled", &Tolerance::scaled}, std::pair{"cosine", &Tolerance::cosine}}) {
        if (!view.has(key)) continue;
        AE_TRY(out.*field, real_in(view.at(key), sizes_, what));
        bool above = field == &Tolerance::cosine && out.*field > 1;
        if (!(out.*field >= 0) || above || !std::isfinite(out.*field))
          return view.at(key).fail("{}: \"{}\" is {}, allowed is 0 to {}", what, key, out.*field,
                                   field == &Tolerance::cosine ? "1" : "any finite number");
      }
    }
    return {};
  }

  Result<void> check_tolerances() {
    for (auto& [name, tolerance] : result.tolerance) {
      const Buffer* buffer = result.buffer(name);
      const std::string& where = tolerance_places_[name];
      if (!buffer) return asmevo::fail("{}: tolerance of \"{}\": no such buffer", where, name);
      if (!is_result(buffer->role))
        return asmevo::fail("{}: tolerance of \"{}\": its role is \"{}\", only out and inout are compared", where, name,
                            name_of(buffer->role));
      if (!is_floating(buffer->dtype) && tolerance != Tolerance{})
        return asmevo::fail("{}: tolerance of \"{}\": {} is compared exactly", where, name, name_of(buffer->dtype));
    }
    return {};
  }

  Sizes sizes_;
  std::string directory_;
  bool overriding_ = false;
  std::vector<Pending> pending_;
  std::map<std::string, std::string> tolerance_places_;
};

// ---- the whole file ----------------------------------------------------------------------------------------------

Result<Case> build_case(const JsonView& launch, const std::optional<JsonView>& overrides, size_t index,
                        const std::string& directory) {
  SizeTable table;
  if (launch.has("sizes")) {
    AE_CHECK(check_sizes(launch.at("sizes")));
    table.add(launch.at("sizes"));
  }
  if (overrides && overrides->has("sizes")) {
    AE_CHECK(check_sizes(overrides->at("sizes")));
    table.add(overrides->at("sizes"));
  }
  AE_TRY(Sizes sizes, table.resolve());
  CaseBuilder builder(std::move(sizes), directory);
  builder.result.name = overrides ? fmt::format("case {}", index) : "default";
  builder.result.where = (overrides ? *overrides : launch).where();
  AE_CHECK(builder.apply(launch, false));
  if (overrides) {
    builder.result.seed += index; // unless it has its own
    if (overrides->has("name")) {
      AE_TRY(builder.result.name, overrides->at("name").string("\"name\""));
    }
    AE_CHECK(builder.apply(*overrides, true));
  }
  return builder.finish(launch);
}

/// Everything that decides what runs, in one canonical text; places and names of cases do not.
Result<std::string> content_hash(const Launch& launch) {
  std::string text = "kernel " + launch.kernel + "\n";
  for (const Case& c : launch.cases) {
    text += fmt::format("case {} {} {} {} {}\n", c.seed, fmt::join(c.workgroups, " "), fmt::join(c.work_items, " "),
                        fmt::join(c.workgroup_size, " "), c.dynamic_lds);
    for (const Argument& a : c.arguments)
      text += fmt::format("argument {} {} {:?} {} {} {:02x}\n", a.offset, a.size, a.buffer, a.buffer_offset,
                          a.null_pointer, fmt::join(a.value, ""));
    for (const Buffer& b : c.buffers) {
      text += fmt::format("buffer {:?} {} {} {} {} {:a} {:a}\n", b.name, name_of(b.dtype), fmt::join(b.shape, " "),
                          name_of(b.role), int(b.fill.kind), b.fill.a, b.fill.b);
      for (const PointerTo& to : b.fill.pointers) text += fmt::format("pointer {:?} {}\n", to.buffer, to.offset);
      if (b.fill.path.empty()) continue;
      AE_TRY(Bytes content, read_file(b.fill.path));
      text += "file " + sha256_hex(content) + "\n";
    }
    for (auto& [name, t] : c.tolerance)
      text += fmt::format("tolerance {:?} {:a} {:a} {:a} {:a}\n", name, t.absolute, t.relative, t.scaled, t.cosine);
  }
  return sha256_hex(text);
}

} // namespace

std::optional<Role> role_from_name(std::string_view name) {
  auto found = std::ranges::find(role_names, name);
  if (found == std::end(role_names)) return std::nullopt;
  return Role(found - role_names);
}

std::string_view name_of(Role role) { return role_names[size_t(role)]; }

uint64_t Buffer::elements() const {
  uint64_t product = 1;
  for (uint64_t n : shape) product *= n;
  return product;
}

const Buffer* Case::buffer(std::string_view wanted) const {
  auto found = std::ranges::find(buffers, wanted, &Buffer::name);
  return found == buffers.end() ? nullptr : &*found;
}

Result<Launch> parse_launch(std::string_view text, const std::string& path) {
  AE_TRY(auto document, parse_json(text, path));
  JsonView root(document);
  AE_CHECK(root.expect_keys("the launch", launch_keys));
  Launch launch;
  launch.path = path;
  if (root.has("kernel")) {
    AE_TRY(launch.kernel, root.at("kernel").string("\"kernel\""));
  }
  std::string directory = std::filesystem::path(path).parent_path().string();
  if (!root.has("cases")) {
    AE_TRY(Case only, build_case(root, std::nullopt, 0, directory));
    launch.cases.push_back(std::move(only));
  } else {
    JsonView cases = root.at("cases");
    AE_CHECK(cases.expect_array("\"cases\""));
    if (cases.size() == 0 || cases.size() > most_cases)
      return cases.fail("\"cases\" must have 1 to {} cases", most_cases);
    std::set<std::string> names;
    for (size_t i = 0; i < cases.size(); ++i) {
      AE_CHECK(cases.at(i).expect_keys(fmt::format("case {}", i), override_keys));
      AE_TRY(Case next, build_case(root, cases.at(i), i, directory));
      if (!names.insert(next.name).second) return cases.at(i).fail("an earlier case is also named \"{}\"", next.name);
      launch.cases.push_back(std::move(next));
    }
  }
  for (Case& c : launch.cases) c.kernel = launch.kernel;
  AE_TRY(launch.hash, content_hash(launch));
  return launch;
}

bool Case::is_fixed() const {
  return std::ranges::any_of(buffers, [](const Buffer& b) { return b.address.has_value(); });
}

Result<Launch> read_launch(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return read_capture(path);
  AE_TRY(std::string text, read_text_file(path, uint64_t{64} << 20));
  return parse_launch(text, path);
}

} // namespace asmevo::launch
