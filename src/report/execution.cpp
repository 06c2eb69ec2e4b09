#include "report/execution.h"

#include "analysis/cfg.h"
#include "report/text.h"

#include <algorithm>
#include <bit>

namespace asmevo::report {

namespace {

using nlohmann::json;

constexpr size_t shown_lanes = 8;

std::string where_first(const machine::Finding& f) {
  std::string out = fmt::format("workgroup {}, wave {}", f.workgroup, f.wave);
  if (f.lane >= 0) out += fmt::format(", lane {}", f.lane);
  return out;
}

std::string times(uint64_t count) { return count == 1 ? "once" : fmt::format("{} times", grouped(count)); }

/// Bytes as one number, the last byte first, as a register shows them.
std::string hex_of(const std::vector<uint8_t>& bytes) {
  if (bytes.empty()) return "unmapped";
  std::string out = "0x";
  for (size_t k = bytes.size(); k-- > 0;) out += fmt::format("{:02x}", bytes[k]);
  return out;
}

/// "lane:value" of the lanes that were active, or of the one that is asked for.
std::string lanes_text(const machine::WrittenRegister& r, uint64_t exec, std::optional<unsigned> lane) {
  if (lane) return fmt::format(" {}:{:08x}", *lane, r.values[*lane]);
  std::string out;
  size_t shown = 0, first = exec ? size_t(std::countr_zero(exec)) : 0;
  bool same = true;
  for (unsigned k = 0; k < 64; ++k) same &= !(exec >> k & 1) || r.values[k] == r.values[first];
  if (exec && same) return fmt::format(" {:08x} in {} lanes", r.values[first], std::popcount(exec));
  for (unsigned k = 0; k < 64; ++k) {
    if (!(exec >> k & 1)) continue;
    if (shown++ == shown_lanes) return out + " ...";
    out += fmt::format(" {}:{:08x}", k, r.values[k]);
  }
  return out.empty() ? " no lane" : out;
}

std::string access_text(const machine::TracedAccess& access, std::optional<unsigned> lane) {
  std::string out = fmt::format("    {} {} {} bytes:", access.space, access.write ? "write" : "read", access.bytes);
  size_t shown = 0;
  for (const auto& l : access.lanes) {
    if (lane && l.lane != *lane) continue;
    if (shown++ == shown_lanes) return out + " ...\n";
    out += fmt::format(" {}:[{:#x}]={}", l.lane, l.address, hex_of(l.content));
  }
  return out + (shown ? "\n" : " no lane\n");
}

std::string hex64(uint64_t value) { return fmt::format("0x{:016x}", value); }

std::string row_text(const std::string& name, const std::array<uint32_t, 64>& row) {
  std::string out;
  for (size_t k = 0; k < 64; k += 8) {
    out += fmt::format("  {:<5}[{:>2}]", k == 0 ? name : "", k);
    for (size_t lane = k; lane < k + 8; ++lane) out += fmt::format(" {:08x}", row[lane]);
    out += '\n';
  }
  return out;
}

bool all_zero(std::span<const uint8_t> bytes) {
  return std::ranges::all_of(bytes, [](uint8_t b) { return b == 0; });
}

std::string lds_text(const std::vector<uint8_t>& lds) {
  constexpr size_t width = 32;
  std::string out;
  for (size_t at = 0; at < lds.size(); at += width) {
    const auto part = std::span(lds).subspan(at, std::min(width, lds.size() - at));
    if (all_zero(part)) continue;
    out += fmt::format("  lds[{:#06x}]", at);
    for (size_t k = 0; k + 4 <= part.size(); k += 4)
      out += fmt::format(" {:02x}{:02x}{:02x}{:02x}", part[k + 3], part[k + 2], part[k + 1], part[k]);
    out += '\n';
  }
  return out;
}

} // namespace

Disassembly::Disassembly(const machine::Image& image, const isa::Codec& codec, const recover::Program* program)
    : image_(image), codec_(codec) {
  if (!program) return;
  std::string label; // of the next instruction
  for (const recover::Item& item : program->items) {
    if (item.kind == recover::ItemKind::label) label = item.text;
    if (item.kind != recover::ItemKind::instruction || item.origin < 0) continue;
    if (!item.raw) spelled_.emplace(uint64_t(item.origin), item.text);
    if (!label.empty()) labels_.emplace(uint64_t(item.origin), std::exchange(label, {}));
  }
}

std::string Disassembly::label(uint64_t address) const {
  auto after = labels_.upper_bound(address);
  if (after == labels_.begin()) return fmt::format("{:#x}", address);
  const auto& [at, name] = *--after;
  return at == address ? name : fmt::format("{}+{:#x}", name, address - at);
}

uint64_t Disassembly::address(int64_t index) const {
  return index >= 0 && size_t(index) < image_.instructions().size() ? image_.instructions()[size_t(index)].address : 0;
}

std::string Disassembly::text(int64_t index) const {
  if (index < 0 || size_t(index) >= image_.instructions().size()) return "(outside .text)";
  const isa::Instruction& i = image_.instructions()[size_t(index)];
  if (auto found = spelled_.find(i.address); found != spelled_.end()) return found->second;
  return i.encoding == isa::Encoding::unknown ? fmt::format(".long {:#010x}", i.words[0]) : codec_.print(i);
}

std::string Disassembly::place(int64_t index) const { return fmt::format("{:#x} `{}`", address(index), text(index)); }

std::string text_of(const machine::StrictReport& report, const Disassembly& disassembly) {
  std::string out;
  for (const machine::Finding& f : report.findings) {
    out += fmt::format("  {}: {} {}\n", machine::name_of(f.kind), disassembly.place(f.instruction), f.message);
    if (f.cause >= 0) out += fmt::format("    the other is {}\n", disassembly.place(f.cause));
    out += fmt::format("    {}, first in {}\n", times(f.count), where_first(f));
  }
  for (const std::string& gap : report.gaps) out += fmt::format("  not watched: {}\n", gap);
  return out;
}

json to_json(const machine::StrictReport& report, const Disassembly& disassembly) {
  json findings = json::array();
  for (const machine::Finding& f : report.findings) {
    json entry = {{"kind", machine::name_of(f.kind)},
                  {"address", disassembly.address(f.instruction)},
                  {"instruction", disassembly.text(f.instruction)},
                  {"message", f.message},
                  {"count", f.count},
                  {"workgroup", f.workgroup},
                  {"wave", f.wave}};
    if (f.lane >= 0) entry["lane"] = f.lane;
    if (f.cause >= 0) {
      entry["cause_address"] = disassembly.address(f.cause);
      entry["cause"] = disassembly.text(f.cause);
    }
    findings.push_back(std::move(entry));
  }
  return {{"findings", std::move(findings)}, {"not_watched", report.gaps}};
}

std::string text_of(const std::vector<machine::Standing>& standing, const Disassembly& disassembly) {
  std::string out;
  for (const machine::Standing& s : standing)
    out += fmt::format("    workgroup {} wave {} at {}{}, {} instructions executed\n", s.workgroup, s.wave,
                       disassembly.place(s.instruction),
                       s.waits_for.empty() ? "" : fmt::format(", waits for {}", s.waits_for), grouped(s.executed));
  return out;
}

json to_json(const std::vector<machine::Standing>& standing, const Disassembly& disassembly) {
  json out = json::array();
  for (const machine::Standing& s : standing)
    out.push_back({{"workgroup", s.workgroup},
                   {"wave", s.wave},
                   {"address", s.address},
                   {"instruction", disassembly.text(s.instruction)},
                   {"executed", s.executed},
                   {"waits_for", s.waits_for}});
  return out;
}

std::string text_of(const machine::TraceLine& line, const Disassembly& disassembly, std::optional<unsigned> lane) {
  std::string out = fmt::format("{}.{} #{:<5} {:#06x}  {}\n", line.workgroup, line.wave, line.number,
                                disassembly.address(line.instruction), disassembly.text(line.instruction));
  for (const machine::WrittenRegister& r : line.registers)
    out += r.vector ? fmt::format("    {} ={}\n", r.name, lanes_text(r, line.exec, lane))
                    : fmt::format("    {} = {:08x}\n", r.name, r.values[0]);
  for (const machine::TracedAccess& access : line.accesses) out += access_text(access, lane);
  return out;
}

json to_json(const machine::TraceLine& line, const Disassembly& disassembly, std::optional<unsigned> lane) {
  json registers = json::object(), accesses = json::array();
  for (const machine::WrittenRegister& r : line.registers)
    registers[r.name] = !r.vector ? json(r.values[0]) : lane ? json(r.values[*lane]) : json(r.values);
  for (const machine::TracedAccess& access : line.accesses) {
    json lanes = json::array();
    for (const auto& l : access.lanes)
      if (!lane || l.lane == *lane)
        lanes.push_back({{"lane", l.lane}, {"address", l.address}, {"content", hex_of(l.content)}});
    accesses.push_back(
        {{"space", access.space}, {"write", access.write}, {"bytes", access.bytes}, {"lanes", std::move(lanes)}});
  }
  return {{"workgroup", line.workgroup},
          {"wave", line.wave},
          {"number", line.number},
          {"address", disassembly.address(line.instruction)},
          {"instruction", disassembly.text(line.instruction)},
          {"exec", hex64(line.exec)},
          {"written", std::move(registers)},
          {"accesses", std::move(accesses)}};
}

std::string text_of(const machine::Dump& dump, const Disassembly& disassembly) {
  std::string out =
      fmt::format("workgroup {} wave {} before {} (arrival {})\n  exec={} vcc={} scc={} m0={:#x} mode={:#x}\n",
                  dump.workgroup, dump.wave, disassembly.place(dump.instruction), dump.arrival, hex64(dump.exec),
                  hex64(dump.vcc), dump.scc, dump.m0, dump.mode);
  for (size_t k = 0; k < dump.scalars.size(); k += 8) {
    out += fmt::format("  s{:<4}", k);
    for (size_t s = k; s < std::min(k + 8, dump.scalars.size()); ++s) out += fmt::format(" {:08x}", dump.scalars[s]);
    out += '\n';
  }
  for (size_t k = 0; k < dump.vectors.size(); ++k) out += row_text(fmt::format("v{}", k), dump.vectors[k]);
  for (size_t k = 0; k < dump.accumulators.size(); ++k) out += row_text(fmt::format("a{}", k), dump.accumulators[k]);
  return out + lds_text(dump.lds);
}

json to_json(const machine::Dump& dump, const Disassembly& disassembly) {
  json lds = json::array();
  for (size_t k = 0; k + 4 <= dump.lds.size(); k += 4)
    lds.push_back(uint32_t(dump.lds[k]) | uint32_t(dump.lds[k + 1]) << 8 | uint32_t(dump.lds[k + 2]) << 16 |
                  uint32_t(dump.lds[k + 3]) << 24);
  return {{"workgroup", dump.workgroup},
          {"wave", dump.wave},
          {"address", disassembly.address(dump.instruction)},
          {"instruction", disassembly.text(dump.instruction)},
          {"arrival", dump.arrival},
          {"exec", hex64(dump.exec)},
          {"vcc", hex64(dump.vcc)},
          {"scc", dump.scc},
          {"m0", dump.m0},
          {"mode", dump.mode},
          {"s", dump.scalars},
          {"v", dump.vectors},
          {"a", dump.accumulators},
          {"lds", std::move(lds)}};
}

namespace {

/// The label that the item at `first` follows: its own, or an earlier one of the function with the distance.
std::string label_of(const recover::Program& program, const recover::Function& function, size_t first) {
  uint64_t address = 0;
  for (size_t i = first; i < function.last && address == 0; ++i)
    if (program.items[i].kind == recover::ItemKind::instruction) address = uint64_t(program.items[i].origin);
  for (size_t i = first + 1; i-- > function.first;) {
    if (program.items[i].kind != recover::ItemKind::label) continue;
    const uint64_t at = uint64_t(program.items[i].origin);
    return program.items[i].origin < 0 || at == address ? program.items[i].text
                                                        : fmt::format("{}+{:#x}", program.items[i].text, address - at);
  }
  return function.name;
}

} // namespace

std::vector<BlockCount> count_blocks(const recover::Program& program, const machine::Image& image,
                                     const std::vector<uint64_t>& executed) {
  std::map<uint64_t, uint64_t> count_at;
  for (size_t k = 0; k < executed.size(); ++k) count_at[image.instructions()[k].address] = executed[k];
  std::vector<BlockCount> counts;
  for (const recover::Function& function : program.functions) {
    for (const analysis::Block& block : analysis::control_flow(program, function).blocks) {
      BlockCount count{.function = function.name};
      for (size_t i = block.first; i < block.last; ++i) {
        const recover::Item& item = program.items[i];
        if (item.kind != recover::ItemKind::instruction || item.origin < 0) continue;
        const uint64_t here = count_at[uint64_t(item.origin)];
        if (count.instructions++ == 0) {
          count.first = uint64_t(item.origin);
          count.executed = here;
          count.label = label_of(program, function, i);
        }
        count.uneven |= here != count.executed;
        count.last = uint64_t(item.origin) + item.instruction.size;
      }
      if (count.instructions) counts.push_back(std::move(count));
    }
  }
  return counts;
}

std::string text_of(const std::vector<BlockCount>& blocks) {
  std::string out;
  size_t reached = 0;
  for (const BlockCount& b : blocks) {
    reached += b.executed != 0;
    out += fmt::format("  {:>14}  {:#06x}-{:#06x} {:>5} instructions  {}{}\n", grouped(b.executed), b.first, b.last,
                       b.instructions, b.label, b.uneven ? "  (left in between)" : "");
  }
  return out + fmt::format("  {} of {} basic blocks executed\n", reached, blocks.size());
}

json to_json(const std::vector<BlockCount>& blocks) {
  json out = json::array();
  for (const BlockCount& b : blocks)
    out.push_back({{"function", b.function},
                   {"label", b.label},
                   {"first", b.first},
                   {"last", b.last},
                   {"instructions", b.instructions},
                   {"executed", b.executed},
                   {"uneven", b.uneven}});
  return out;
}

} // namespace asmevo::report
