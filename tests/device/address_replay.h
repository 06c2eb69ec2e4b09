// Addresses as analysis has them, held against what a run does.
//
// The run is followed line by line: every register that is written and every block that is entered is remembered, so
// that each symbol of a form has a value, for each lane. Then the form has one too, and it must be what the register
// holds, or where the lane really goes. The machine knows nothing of forms, and this knows nothing of how they came
// about.
#pragma once

#include "analysis/addresses.h"
#include "analysis/loops.h"
#include "launch/launch.h"
#include "machine/debug/debugging.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

namespace asmevo::testing {

using analysis::FormId;
using analysis::SymbolKind;

class AddressReplay {
public:
  using Row = std::array<uint64_t, 64>;

  AddressReplay(const recover::Program& program, const recover::Function& function, const launch::Case& c)
      : program_(program), function_(function), case_(c), graph_(analysis::control_flow(program, function)),
        addresses_(program, function, graph_), forms_(addresses_.values().forms()) {
    for (size_t i = function.first; i < function.last; ++i)
      if (analysis::is_instruction(program.items[i])) item_at_[program.items[i].instruction.address] = i;
    // What each instruction reads, and what the registers are said to hold.
    addresses_.values().each([&](size_t item, const analysis::RegisterState& state) {
      addresses_.values().registers().each(program.items[item].instruction.uses, [&](size_t unit) {
        if (unit >= analysis::scc_unit || unit == isa::exec_lo || unit == isa::exec_hi) return;
        reads_[item].push_back({unit, addresses_.values().active(state, unit)});
      });
    });
    for (const auto& [item, reads] : reads_)
      for (const Read& read : reads) want(read.form);
    for (const analysis::Address& address : addresses_.all()) {
      want(address.form);
      if (address.origin) want(*address.origin);
    }
  }

  void begin(const machine::Dump& dump) {
    Wave& w = waves_[{dump.workgroup, dump.wave}];
    w = {};
    for (size_t k = 0; k < dump.scalars.size(); ++k) set(w, k, dump.scalars[k]);
    set(w, isa::vcc_lo, uint32_t(dump.vcc)), set(w, isa::vcc_hi, uint32_t(dump.vcc >> 32)), set(w, isa::m0, dump.m0);
    const auto rows = [&](isa::File file, const auto& values) {
      for (uint16_t k = 0; k < values.size(); ++k)
        for (unsigned lane = 0; lane < 64; ++lane) w.registers[unit({file, k, 1})][lane] = values[k][lane];
    };
    rows(isa::File::agpr, dump.accumulators);
    rows(isa::File::vgpr, dump.vectors);
    w.entry = w.registers;
    w.group = {dump.workgroup % case_.workgroups[0], dump.workgroup / case_.workgroups[0] % case_.workgroups[1],
               dump.workgroup / case_.workgroups[0] / case_.workgroups[1]};
    const auto& size = case_.workgroup_size;
    for (uint32_t lane = 0; lane < 64; ++lane) {
      const uint32_t flat = dump.wave * 64 + lane;
      w.ids[0][lane] = flat % size[0], w.ids[1][lane] = flat / size[0] % size[1],
      w.ids[2][lane] = flat / size[0] / size[1];
    }
    if (const auto pointer = analysis::kernarg_pointer(program_, function_))
      w.kernarg = w.registers[*pointer][0] | w.registers[*pointer + 1u][0] << 32;
  }

  void line(const machine::TraceLine& line, uint64_t address) {
    const auto found = item_at_.find(address);
    if (found == item_at_.end()) return;
    const size_t item = found->second;
    Wave& w = waves_[{line.workgroup, line.wave}];
    w.known.clear();
    enter(w, item);
    for (const Read& read : reads_[item]) check_read(w, line, item, read);
    if (const analysis::Address* a = addresses_.at(item)) check_address(w, line, *a);
    update(w, line, item);
  }

  const analysis::Addresses& addresses() const { return addresses_; }
  size_t reads_checked = 0, lanes_checked = 0, pairs_checked = 0, skipped = 0;
  std::set<size_t> items_checked;

private:
  struct Read {
    size_t unit;
    FormId form;
  };
  struct Access {
    size_t item;
    std::vector<std::pair<unsigned, uint64_t>> lanes;
    uint32_t bytes = 0;
    bool indexed = false; // whose offset is of the resource, not of memory
  };
  struct Wave {
    std::map<size_t, Row> registers, entry;
    std::map<std::pair<uint64_t, uint64_t>, Row> written, merged; // by item or block, and unit
    std::map<uint64_t, uint64_t> rounds;                          // by block
    std::array<uint32_t, 3> group{};
    std::array<Row, 3> ids{};
    uint64_t kernarg = 0;
    std::optional<uint64_t> image;
    std::optional<uint32_t> block;
    std::map<analysis::SymbolId, std::optional<Row>> known; // in this step
    std::vector<Access> accesses;                           // in this execution of the block
  };

  size_t unit(const isa::RegisterRange& range) { return addresses_.values().registers().first_of(range); }
  static void set(Wave& w, size_t unit, uint32_t value) { w.registers[unit].fill(value); }

  /// Remembers which contents have to be kept for the symbols of a form.
  void want(FormId id) {
    for (const analysis::Term& term : forms_[id].terms) {
      const analysis::Symbol& s = forms_.name(term.symbol);
      if (!wanted_.insert(term.symbol).second) continue;
      if (s.kind == SymbolKind::written) written_[s.a].insert(s.b);
      if (s.kind == SymbolKind::merged) merged_[s.a].insert(s.b);
      for (FormId of : s.of) want(of);
    }
  }

  /// A label or the first instruction of a block: the wave arrives there.
  void enter(Wave& w, size_t item) {
    const uint32_t block = graph_.block_of[item - function_.first];
    size_t first = graph_.blocks[block].first;
    while (!analysis::is_instruction(program_.items[first])) ++first;
    if (item != first) return;
    w.accesses.clear();
    const bool again = w.block && is_latch(*w.block, block);
    w.rounds[block] = again ? w.rounds[block] + 1 : 0;
    w.block = block;
    for (uint64_t unit : merged_[block]) w.merged[{block, unit}] = w.registers[unit];
  }

  bool is_latch(uint32_t from, uint32_t to) {
    if (!dominators_) dominators_.emplace(graph_);
    return dominators_->dominates(to, from);
  }

  void update(Wave& w, const machine::TraceLine& line, size_t item) {
    for (const machine::WrittenRegister& r : line.registers) {
      std::optional<size_t> at;
      for (size_t u = 0; u < analysis::vgpr_unit && !r.vector; ++u)
        if (analysis::register_name(u) == r.name) at = u;
      if (r.vector) at = unit(*machine::parse_registers(r.name));
      if (!at) continue;
      for (unsigned lane = 0; lane < 64; ++lane) w.registers[*at][lane] = r.values[r.vector ? lane : 0];
    }
    for (uint64_t u : written_[item]) w.written[{item, u}] = w.registers[u];
    const isa::Instruction& i = program_.items[item].instruction;
    if (isa::name_of(i) == "s_getpc_b64") {
      const size_t to = i.defs[0].first;
      w.image = (w.registers[to][0] | w.registers[to + 1][0] << 32) - i.address - i.size;
    }
    for (const machine::TracedAccess& a : line.accesses)
      for (const auto& lane : a.lanes)
        for (size_t k = 0; k < lane.content.size(); ++k) memory_[lane.address + k] = lane.content[k];
  }

  // ---- values ----

  static uint64_t low_word(uint64_t x) { return x & 0xffffffff; }

  std::optional<Row> value(Wave& w, const analysis::Form& form) {
    Row sum;
    sum.fill(form.constant);
    for (const analysis::Term& term : form.terms) {
      const auto part = symbol(w, term.symbol);
      if (!part) return std::nullopt;
      for (unsigned lane = 0; lane < 64; ++lane) sum[lane] += term.factor * (*part)[lane];
    }
    return sum;
  }

  std::optional<Row> symbol(Wave& w, analysis::SymbolId id) {
    if (const auto at = w.known.find(id); at != w.known.end()) return at->second;
    return w.known[id] = compute(w, forms_.name(id));
  }

  static Row all(uint64_t x) {
    Row row;
    row.fill(x);
    return row;
  }

  template <class Of> static Row map(const Row& x, Of of) {
    Row out;
    for (unsigned lane = 0; lane < 64; ++lane) out[lane] = of(x[lane]);
    return out;
  }

  static std::optional<Row> find(const auto& rows, const auto& key) {
    const auto at = rows.find(key);
    return at == rows.end() ? std::nullopt : std::optional(at->second);
  }

  uint64_t kernarg(const Wave& w, uint64_t offset, unsigned bytes) {
    uint64_t x = 0;
    for (unsigned k = 0; k < bytes; ++k) x |= uint64_t{memory_[w.kernarg + offset + k]} << 8 * k;
    return x;
  }

  std::optional<Row> compute(Wave& w, const analysis::Symbol& s) {
    std::vector<Row> of;
    for (FormId id : s.of) {
      const auto part = value(w, forms_[id]);
      if (!part) return std::nullopt;
      of.push_back(*part);
    }
    switch (s.kind) {
    case SymbolKind::work_item:
      return w.ids[s.a];
    case SymbolKind::workgroup:
      return all(w.group[s.a]);
    case SymbolKind::lane: {
      Row row;
      for (unsigned lane = 0; lane < 64; ++lane) row[lane] = lane;
      return row;
    }
    case SymbolKind::kernarg_word:
      return all(kernarg(w, s.a, 4));
    case SymbolKind::kernarg_pair:
      return all(kernarg(w, s.a, 8));
    case SymbolKind::kernarg_segment:
      return all(w.kernarg);
    case SymbolKind::scratch:
      return all(w.entry[0][0] | w.entry[1][0] << 32);
    case SymbolKind::image:
      return w.image ? std::optional(all(*w.image)) : std::nullopt;
    case SymbolKind::entry:
      return find(w.entry, size_t(s.a));
    case SymbolKind::iteration:
      return all(w.rounds[s.a]);
    case SymbolKind::written:
      return find(w.written, std::pair(s.a, s.b));
    case SymbolKind::merged:
      return find(w.merged, std::pair(s.a, s.b));
    case SymbolKind::zero_extended:
      return map(of[0], low_word);
    case SymbolKind::sign_extended:
      return map(of[0], [](uint64_t x) { return uint64_t(int64_t{int32_t(x)}); });
    case SymbolKind::upper:
      return map(of[0], [](uint64_t x) { return x >> 32; });
    case SymbolKind::sign:
      return map(of[0], [](uint64_t x) { return int32_t(x) < 0 ? 0xffffffff : 0; });
    case SymbolKind::product: {
      Row row;
      for (unsigned lane = 0; lane < 64; ++lane)
        row[lane] = s.a ? uint64_t(int64_t{int32_t(of[0][lane])} * int32_t(of[1][lane]))
                        : low_word(of[0][lane]) * low_word(of[1][lane]);
      return row;
    }
    case SymbolKind::function:
      return function(s.a, of);
    default:
      return std::nullopt;
    }
  }

  static std::optional<Row> function(uint64_t which, const std::vector<Row>& of) {
    using Word = uint32_t (*)(uint32_t, uint32_t);
    static const std::map<std::string_view, Word> by_name = {
        {"v_min_u32", [](uint32_t a, uint32_t b) { return std::min(a, b); }},
        {"s_min_u32", [](uint32_t a, uint32_t b) { return std::min(a, b); }},
        {"v_max_u32", [](uint32_t a, uint32_t b) { return std::max(a, b); }},
        {"s_max_u32", [](uint32_t a, uint32_t b) { return std::max(a, b); }},
        {"v_min_i32", [](uint32_t a, uint32_t b) { return uint32_t(std::min(int32_t(a), int32_t(b))); }},
        {"s_min_i32", [](uint32_t a, uint32_t b) { return uint32_t(std::min(int32_t(a), int32_t(b))); }},
        {"v_max_i32", [](uint32_t a, uint32_t b) { return uint32_t(std::max(int32_t(a), int32_t(b))); }},
        {"s_max_i32", [](uint32_t a, uint32_t b) { return uint32_t(std::max(int32_t(a), int32_t(b))); }},
        {"v_lshlrev_b32", [](uint32_t a, uint32_t b) { return a << (b & 31); }},
        {"s_lshl_b32", [](uint32_t a, uint32_t b) { return a << (b & 31); }},
        {"v_lshrrev_b32", [](uint32_t a, uint32_t b) { return a >> (b & 31); }},
        {"s_lshr_b32", [](uint32_t a, uint32_t b) { return a >> (b & 31); }},
        {"v_ashrrev_i32", [](uint32_t a, uint32_t b) { return uint32_t(int32_t(a) >> (b & 31)); }},
        {"s_ashr_i32", [](uint32_t a, uint32_t b) { return uint32_t(int32_t(a) >> (b & 31)); }},
        {"v_and_b32", [](uint32_t a, uint32_t b) { return a & b; }},
        {"s_and_b32", [](uint32_t a, uint32_t b) { return a & b; }},
        {"v_not_b32", [](uint32_t a, uint32_t) { return ~a; }},
        {"s_not_b32", [](uint32_t a, uint32_t) { return ~a; }},
    };
    Word word = nullptr;
    if (which == analysis::word_function::conjunction) word = [](uint32_t a, uint32_t b) { return a & b; };
    if (which == analysis::word_function::disjunction) word = [](uint32_t a, uint32_t b) { return a | b; };
    if (which == analysis::word_function::exclusive) word = [](uint32_t a, uint32_t b) { return a ^ b; };
    if (which == analysis::word_function::shift_right) word = [](uint32_t a, uint32_t b) { return a >> b; };
    if (which < analysis::word_function::conjunction)
      if (const auto at = by_name.find(isa::mnemonic_name(uint16_t(which))); at != by_name.end()) word = at->second;
    if (!word || of.empty() || of.size() > 2) return std::nullopt;
    Row row;
    for (unsigned lane = 0; lane < 64; ++lane)
      row[lane] = word(uint32_t(of[0][lane]), of.size() > 1 ? uint32_t(of[1][lane]) : 0);
    return row;
  }

  // ---- checks ----

  std::string place(size_t item) const {
    return fmt::format("{:#x} {}", program_.items[item].origin, program_.items[item].text);
  }

  void check_read(Wave& w, const machine::TraceLine& line, size_t item, const Read& read) {
    if (const auto only = forms_.symbol_of(read.form)) {
      const SymbolKind kind = forms_.name(*only).kind;
      if (kind == SymbolKind::mask || kind == SymbolKind::entry) return;
    }
    const auto expected = value(w, forms_[read.form]);
    if (!expected) {
      ++skipped;
      return;
    }
    for (unsigned lane = 0; lane < 64; ++lane) {
      if ((line.exec >> lane & 1) == 0) continue;
      ++reads_checked;
      if (low_word((*expected)[lane]) == w.registers[read.unit][lane]) continue;
      ADD_FAILURE() << place(item) << ": " << analysis::register_name(read.unit) << " holds "
                    << w.registers[read.unit][lane] << " in lane " << lane << ", not " << low_word((*expected)[lane]);
      return;
    }
  }

  static constexpr uint64_t mask_of(unsigned bits) { return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

  void check_address(Wave& w, const machine::TraceLine& line, const analysis::Address& a) {
    const auto form = value(w, forms_[a.form]);
    const auto origin = a.origin && !a.named_origin ? value(w, forms_[*a.origin]) : std::nullopt;
    const bool resolved = form && !a.named_origin && (!a.origin || origin);
    skipped += !resolved;
    size_t n = 0;
    for (const machine::TracedAccess& access : line.accesses) {
      if (a.space == analysis::Space::lds_and_global && access.space == "lds") continue;
      if (a.space == analysis::Space::flat && access.space != "global") continue;
      const size_t k = a.access.extent_count == 2 ? n++ : 0;
      if (k >= 2) continue;
      const analysis::Extent& extent = a.access.extents[k];
      EXPECT_TRUE(extent.bytes == 0 || extent.bytes == access.bytes) << place(a.item);
      Access seen{a.item, {}, access.bytes};
      for (const auto& lane : access.lanes) {
        seen.lanes.emplace_back(lane.lane, lane.address);
        if (resolved) check_lane(a, *form, origin, extent, lane);
      }
      if (resolved && !access.lanes.empty()) check_pattern(w, a, access);
      if (a.space != analysis::Space::lds_and_global) remember(w, std::move(seen));
    }
  }

  void check_lane(const analysis::Address& a, const Row& form, const std::optional<Row>& origin,
                  const analysis::Extent& extent, const machine::TracedAccess::Lane& lane) {
    const uint64_t sum = (form[lane.lane] + uint64_t(extent.offset)) & mask_of(a.bits);
    const uint64_t expected = origin ? ((*origin)[lane.lane] + sum) & mask_of(48) : sum;
    ++lanes_checked;
    items_checked.insert(a.item);
    if (expected - lane.address <= a.back) return;
    ADD_FAILURE() << place(a.item) << ": lane " << lane.lane << " goes to " << std::hex << lane.address << ", not "
                  << expected;
  }

  void check_pattern(Wave& w, const analysis::Address& a, const machine::TracedAccess& access) {
    const auto stride = addresses_.lane_stride(a);
    const uint32_t alignment = addresses_.alignment(a, true);
    const auto& lanes = access.lanes;
    for (size_t k = 0; k < lanes.size(); ++k) {
      EXPECT_TRUE(a.back > 0 || lanes[k].address % alignment == 0) << place(a.item);
      if (k == 0) continue;
      const unsigned x = lanes[k].lane, y = lanes[k - 1].lane;
      const bool neighbours = x == y + 1 && w.ids[1][x] == w.ids[1][y] && w.ids[2][x] == w.ids[2][y];
      const auto step = int64_t(lanes[k].address - lanes[k - 1].address);
      EXPECT_TRUE(!addresses_.is_uniform(a) || step == 0) << place(a.item);
      EXPECT_TRUE(!stride || stride->may_wrap || !neighbours || step == stride->bytes) << place(a.item) << ": " << step;
    }
  }

  /// Against what was accessed before in this execution of the block.
  void remember(Wave& w, Access later) {
    for (const Access& earlier : w.accesses) {
      if (earlier.item == later.item) continue;
      const auto one = addresses_.relation(earlier.item, later.item, analysis::Lanes::one_lane);
      const auto any = addresses_.relation(earlier.item, later.item, analysis::Lanes::any_lanes);
      const auto distance = addresses_.distance(earlier.item, later.item);
      const bool several =
          addresses_.at(earlier.item)->access.extent_count + addresses_.at(later.item)->access.extent_count > 2;
      const bool back = addresses_.at(earlier.item)->back + addresses_.at(later.item)->back > 0;
      if (one != analysis::Relation::disjoint && any != analysis::Relation::disjoint && !distance) continue;
      for (const auto& [x, from] : earlier.lanes)
        for (const auto& [y, to] : later.lanes) {
          const bool apart = from + earlier.bytes <= to || to + later.bytes <= from;
          ++pairs_checked;
          if (any == analysis::Relation::disjoint && !apart)
            ADD_FAILURE() << place(earlier.item) << " and " << place(later.item) << " meet in lanes " << x << ", " << y;
          if (x != y) continue;
          if (one == analysis::Relation::disjoint && !apart)
            ADD_FAILURE() << place(earlier.item) << " and " << place(later.item) << " meet in lane " << x;
          const bool swizzled = addresses_.at(later.item)->named_origin;
          EXPECT_TRUE(!distance || several || back || swizzled || int64_t(to - from) == *distance) << place(later.item);
        }
    }
    w.accesses.push_back(std::move(later));
  }

  const recover::Program& program_;
  const recover::Function& function_;
  const launch::Case& case_;
  analysis::Graph graph_;
  analysis::Addresses addresses_;
  analysis::Forms& forms_;
  std::optional<analysis::Dominators> dominators_;
  std::map<uint64_t, size_t> item_at_;
  std::map<size_t, std::vector<Read>> reads_;
  std::set<analysis::SymbolId> wanted_;
  std::map<uint64_t, std::set<uint64_t>> written_, merged_;
  std::map<std::pair<uint32_t, uint32_t>, Wave> waves_;
  std::map<uint64_t, uint8_t> memory_;
};

} // namespace asmevo::testing
