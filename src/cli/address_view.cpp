#include "cli/address_view.h"

#include "analysis/addresses.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace asmevo::cli {
namespace {

using json = nlohmann::json;
using Columns = std::array<std::string, 6>; // address, instruction, base, offset, alignment, stride

std::string instruction_text(const recover::Item& item) {
  std::string text = item.text.substr(0, item.text.find("//"));
  std::ranges::replace(text, '\t', ' ');
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string argument_name(const recover::Program& program, const recover::Function& function, uint32_t offset) {
  const auto& metadata = program.origin->kernels[static_cast<size_t>(function.kernel)].metadata;
  if (!metadata) return "";
  const auto at = std::ranges::find(metadata->args, offset, &object::KernelArgument::offset);
  return at == metadata->args.end() ? "" : at->name;
}

/// "stride 4"; "?" behind it where a 32-bit index may wrap between two lanes.
std::string stride_text(const analysis::Addresses& addresses, const analysis::Address& address) {
  if (addresses.is_uniform(address)) return "uniform";
  const auto stride = addresses.lane_stride(address);
  if (!stride) return "stride unknown";
  return fmt::format("stride {}{}", stride->bytes, stride->may_wrap ? ", may wrap" : "");
}

struct Described {
  const recover::Program& program;
  const recover::Function& function;
  const analysis::Addresses& addresses;

  Columns columns(const analysis::Address& a) const {
    const recover::Item& item = program.items[a.item];
    std::string base = analysis::base_text(a);
    if (a.base == analysis::BaseKind::kernarg_pointer)
      if (const std::string name = argument_name(program, function, a.kernarg); !name.empty()) base += " " + name;
    return {fmt::format("0x{:x}", item.origin),
            instruction_text(item),
            base,
            analysis::offset_text(addresses, a, program),
            fmt::format("align {}", addresses.alignment(a, false)),
            stride_text(addresses, a)};
  }

  json document(const analysis::Address& a) const {
    const recover::Item& item = program.items[a.item];
    json entry = {{"address", item.origin},
                  {"instruction", instruction_text(item)},
                  {"base", analysis::base_text(a)},
                  {"offset", analysis::offset_text(addresses, a, program)},
                  {"offset_alignment", addresses.alignment(a, false)},
                  {"alignment", addresses.alignment(a, true)},
                  {"uniform", addresses.is_uniform(a)}};
    if (const auto stride = addresses.lane_stride(a)) {
      entry["lane_stride"] = stride->bytes;
      entry["may_wrap"] = stride->may_wrap;
    }
    return entry;
  }
};

} // namespace

AddressView addresses_of(const recover::Program& program, const recover::Function& function) {
  const analysis::Graph graph = analysis::control_flow(program, function);
  const analysis::Addresses addresses(program, function, graph);
  const Described described{program, function, addresses};
  AddressView view{.text = "", .json = json::array()};
  std::vector<Columns> rows;
  std::array<size_t, std::tuple_size_v<Columns>> widths{};
  constexpr size_t widest = 56; // of a column; what is longer pushes the rest of its line aside
  for (const analysis::Address& address : addresses.all()) {
    rows.push_back(described.columns(address));
    view.json.push_back(described.document(address));
    for (size_t c = 0; c < widths.size(); ++c) widths[c] = std::max(widths[c], std::min(widest, rows.back()[c].size()));
  }
  for (const Columns& row : rows) {
    std::string line = "   ";
    for (size_t c = 0; c < row.size(); ++c)
      line += fmt::format(" {:<{}}", row[c], c + 1 < row.size() ? widths[c] + 1 : 0);
    view.text += line + "\n";
  }
  if (rows.empty()) view.text = "    no addresses known\n";
  return view;
}

} // namespace asmevo::cli
