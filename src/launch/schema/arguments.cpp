// Arguments of a case: values, and their places in the kernarg segment.
#include "launch/schema/case_builder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace asmevo::launch {

Result<void> CaseBuilder::arguments(const JsonView& list) {
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

std::vector<CaseBuilder::Pending>::iterator CaseBuilder::find_argument(std::string_view name) {
  return std::ranges::find_if(pending_, [&](const Pending& p) { return p.argument.name == name; });
}

std::vector<std::string_view> CaseBuilder::argument_names() const {
  std::vector<std::string_view> names;
  for (const Pending& p : pending_)
    if (!p.argument.name.empty()) names.push_back(p.argument.name);
  return names;
}

std::string CaseBuilder::label(const Argument& argument, size_t index) {
  return argument.name.empty() ? fmt::format("argument {}", index)
                               : fmt::format("argument {} (\"{}\")", index, argument.name);
}

Result<CaseBuilder::Pending> CaseBuilder::argument(const JsonView& view, size_t index) {
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

Result<void> CaseBuilder::value(const JsonView& view, std::string_view kind, const std::string& what, Pending& out) {
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
  if (is_packed(type)) return view.fail("{}: {} has no bytes of its own; give \"bytes\"", what, kind);
  AE_TRY(uint64_t bits, scalar(view, type, fmt::format("{}: \"{}\"", what, kind)));
  argument.dtype = type;
  argument.size = out.alignment = size_of(type);
  argument.value.resize(argument.size);
  store_bits(type, bits, argument.value.data());
  return {};
}

Result<uint64_t> CaseBuilder::scalar(const JsonView& view, DType type, const std::string& what) {
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

Result<void> CaseBuilder::raw_bytes(const JsonView& view, const std::string& what, Pending& out) {
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

Result<void> CaseBuilder::place_arguments() {
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

} // namespace asmevo::launch
