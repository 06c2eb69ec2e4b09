#include "cli/source.h"

#include "object/container.h"
#include "recover/link.h"

#include <algorithm>
#include <sstream>

namespace asmevo::cli {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// What `.amdgcn_target "amdgcn-amd-amdhsa--gfx942"` says.
std::optional<std::string> named_target(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    size_t at = line.find_first_not_of(" \t");
    if (at == std::string::npos || line.compare(at, 14, ".amdgcn_target") != 0) continue;
    size_t from = line.find('"', at), to = line.find('"', from + 1);
    if (from != std::string::npos && to != std::string::npos) return line.substr(from + 1, to - from - 1);
  }
  return std::nullopt;
}

Result<isa::Target> target_of(const std::string& path, const std::vector<std::string>& lines,
                              const std::string& wanted) {
  auto named = named_target(lines);
  if (!named && wanted.empty())
    return fail("{}: neither a code object nor assembly that says its target: give --target, or begin the file with "
                ".amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"",
                path);
  auto target = isa::target_from_id(named ? *named : wanted);
  if (!target) return fail("{}: {}", path, target.error().message);
  if (named && !wanted.empty() && !object::is_for(object::entry_processor({.target = *named}), wanted))
    return fail("{}: is for {}, not for {}", path, *named, wanted);
  return *target;
}

// Instructions in the order of the text are instructions in the order of addresses, as long as there is one section of
// code and no word that only looks like one.
std::vector<uint32_t> lines_by_item(const recover::Program& program, const std::vector<uint32_t>& lines) {
  std::vector<uint32_t> by_item(program.items.size());
  size_t next = 0;
  for (size_t i = 0; i < program.items.size(); i++)
    if (program.items[i].kind == recover::ItemKind::instruction) by_item[i] = next < lines.size() ? lines[next++] : 0;
  size_t instructions = size_t(std::ranges::count(program.items, recover::ItemKind::instruction, &recover::Item::kind));
  return instructions == lines.size() ? by_item : std::vector<uint32_t>(program.items.size());
}

Result<Source> open_listing(const std::string& path, const std::string& wanted) {
  AE_TRY(std::string text, read_text_file(path));
  std::vector<std::string> lines = lines_of(text);
  AE_TRY(isa::Target target, target_of(path, lines, wanted));
  AE_TRY(isa::Codec codec, isa::Codec::create(target));
  auto assembled = codec.assemble_listing(text);
  if (!assembled)
    return fail("{}:{}:{}: {}", path, assembled.error().line, assembled.error().column, assembled.error().message);
  auto linked = recover::link_shared(assembled->object);
  if (!linked) return fail("{}: {}", path, linked.error().message);
  AE_TRY(Input input, open_input(std::move(*linked), path));
  AE_TRY(recover::Program program, recover::recover(input.object, input.codec));
  Source source{
      .object = input.object, .program = std::move(program), .listing = std::move(lines), .lines = {}, .text = true};
  source.lines = lines_by_item(source.program, assembled->lines);
  return source;
}

// Of a code object each item is a line of its own.
Result<Source> open_object(const std::string& path) {
  AE_TRY(Input input, open_input(path));
  AE_TRY(recover::Program program, recover::recover(input.object, input.codec));
  Source source{.object = input.object, .program = std::move(program), .listing = {}, .lines = {}, .text = false};
  for (const recover::Item& item : source.program.items) {
    bool label = item.kind == recover::ItemKind::label;
    source.listing.push_back(label ? item.text + ":" : "  " + item.text);
    source.lines.push_back(uint32_t(source.listing.size()));
  }
  return source;
}

bool is_binary(std::span<const uint8_t> bytes) {
  return bytes.empty() || std::ranges::find(bytes.first(std::min<size_t>(bytes.size(), 4096)), 0) !=
                              bytes.first(std::min<size_t>(bytes.size(), 4096)).end();
}

} // namespace

Result<Source> open_source(const std::string& path, const std::string& target) {
  AE_TRY(FileBytes bytes, FileBytes::map(path));
  bool listing = !is_binary(bytes.span()) && !object::holds_code_objects(bytes.span());
  if (listing) return open_listing(path, target);
  if (!target.empty()) return fail("{}: a code object says itself what it is for: leave --target out", path);
  return open_object(path);
}

} // namespace asmevo::cli
