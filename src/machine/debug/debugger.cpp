#include "machine/debug/debugger.h"

#include "analysis/registers.h"
#include "machine/global_share.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace asmevo::machine {

namespace {

using isa::File;
using isa::RegisterRange;

constexpr uint16_t named(std::string_view name, uint16_t otherwise) {
  if (name == "vcc") return isa::vcc_lo;
  if (name == "exec") return isa::exec_lo;
  if (name == "flat_scratch") return isa::flat_scratch_lo;
  return otherwise;
}

bool number(std::string_view text, uint16_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

const char* name_of(Space space) {
  constexpr std::array<const char*, 4> names = {"global", "lds", "scalar", "scratch"};
  return names[size_t(space)];
}

std::string register_name(const RegisterRange& range, uint32_t k) {
  if (range.file == File::vgpr) return fmt::format("v{}", range.first + k);
  if (range.file == File::agpr) return fmt::format("a{}", range.first + k);
  return analysis::register_name(analysis::RegisterMap().first_of(range) + k);
}

/// The registers that a range names, as they are now.
void append(Wave& w, const RegisterRange& range, std::vector<WrittenRegister>& out) {
  const bool vector = range.file == File::vgpr || range.file == File::agpr;
  if (range.file == File::mode) {
    out.push_back({"mode", false, {w.mode}});
  } else if (range.file == File::scc) {
    out.push_back({"scc", false, {w.scc}});
  } else if (!vector) {
    for (uint32_t k = 0; k < range.count && range.first + k < slot::count; ++k)
      out.push_back({register_name(range, k), false, {w.sgpr[range.first + k]}});
  } else if (uint32_t(range.first) + range.count <= (range.file == File::agpr ? w.agpr_rows : w.vgpr_rows)) {
    const Row* rows = w.spaces[unsigned(range.file == File::agpr ? RowSpace::agpr : RowSpace::vgpr)] + range.first;
    for (uint32_t k = 0; k < range.count; ++k)
      out.push_back({register_name(range, k), true, {rows[k].lane, rows[k].lane + lanes}});
  }
}

} // namespace

std::optional<RegisterRange> parse_registers(std::string_view text) {
  if (text == "scc") return RegisterRange{File::scc, 0, 1};
  if (text == "m0") return RegisterRange{File::sgpr, isa::m0, 1};
  if (const uint16_t pair = named(text, 0)) return RegisterRange{File::sgpr, pair, 2};
  if (text.size() < 2) return std::nullopt;
  const File file = text[0] == 'v' ? File::vgpr : text[0] == 'a' ? File::agpr : File::sgpr;
  if (file == File::sgpr && text[0] != 's') return std::nullopt;
  text.remove_prefix(1);
  uint16_t first = 0, last = 0;
  if (text.front() == '[' && text.back() == ']') {
    const size_t colon = text.find(':');
    if (colon == text.npos || !number(text.substr(1, colon - 1), first) ||
        !number(text.substr(colon + 1, text.size() - colon - 2), last))
      return std::nullopt;
  } else {
    if (!number(text, first)) return std::nullopt;
    last = first;
  }
  if (last < first || last >= 512) return std::nullopt;
  return RegisterRange{file, first, uint16_t(last - first + 1)};
}

class DebugWatcher : public Watcher {
public:
  explicit DebugWatcher(Debugger& run) : run_(run) {}

  void begin(std::span<Wave> waves) override { waves_.assign(waves.size(), {}); }

  void before(Wave& w, uint32_t index) override {
    if (!run_.executed_.empty()) ++run_.executed_[index];
    if (run_.dumped_[index]) dump(w, index);
    tracing_ = run_.traced_[index] && wants(w);
    if (!tracing_) return;
    line_ = {.workgroup = w.workgroup->id,
             .wave = w.id,
             .number = waves_[w.id].executed,
             .instruction = index,
             .exec = w.exec()};
    places_used_ = place_runner()(w, w.ops[index], run_.shapes_[index], places_);
    if (!run_.request_.trace->stored.empty()) tracing_ = stores_there();
  }

  void after(Wave& w, uint32_t index) override {
    ++waves_[w.id].executed;
    if (!tracing_) return;
    for (const RegisterRange& range : instruction(index).defs) append(w, range, line_.registers);
    for (unsigned k = 0; k < places_used_; ++k) line_.accesses.push_back(traced(w, places_[k], run_.shapes_[index], k));
    run_.request_.on_line(line_);
  }

private:
  struct Watched {
    uint64_t executed = 0;
    std::map<uint32_t, uint64_t> arrivals; // at instructions that a dump is asked for
  };

  const isa::Instruction& instruction(uint32_t index) const { return run_.plan_.image->instructions[index]; }

  bool wants(const Wave& w) const {
    const TraceFilter& filter = *run_.request_.trace;
    return filter.workgroup.value_or(w.workgroup->id) == w.workgroup->id && filter.wave.value_or(w.id) == w.id;
  }

  bool stores_there() const {
    for (const Places& places : std::span(places_, places_used_))
      for (unsigned lane = 0; places.space == Space::global && lane < lanes; ++lane)
        for (const uint64_t byte : run_.request_.trace->stored)
          if (places.mask >> lane & 1 && byte - places.at(lane) < places.bytes) return true;
    return false;
  }

  TracedAccess traced(const Wave& w, const Places& places, const AccessShape& shape, unsigned k) const {
    TracedAccess access{.space = shape.gds ? "gds" : name_of(places.space),
                        .write = shape.to_lds ? k == 1 : shape.writes,
                        .bytes = places.bytes};
    for (unsigned lane = 0; lane < lanes; ++lane)
      if (places.mask >> lane & 1)
        access.lanes.push_back({lane, places.at(lane),
                                shape.gds ? share_content(w, places.at(lane), places.bytes)
                                          : content(w, places.space, places.at(lane), lane, places.bytes)});
    return access;
  }

  static std::vector<uint8_t> share_content(const Wave& w, uint64_t at, uint32_t bytes) {
    if (at + bytes > GlobalShare::size) return {};
    const uint8_t* from = w.workgroup->global_share->data.data() + at;
    return {from, from + bytes};
  }

  std::vector<uint8_t> content(const Wave& w, Space space, uint64_t at, unsigned lane, uint32_t bytes) const {
    const Workgroup& group = *w.workgroup;
    std::vector<uint8_t> out(bytes);
    if (space == Space::lds) {
      if (at + bytes > w.lds_size) return {};
      std::copy_n(w.lds + at, bytes, out.begin());
    } else if (space == Space::scratch) {
      const uint8_t* wave = group.scratch + w.id * group.scratch_wave_bytes();
      if (at + bytes > group.scratch_bytes) return {};
      for (uint32_t k = 0; k < bytes; ++k) out[k] = wave[(at + k) / 4 * 256 + lane * 4 + (at + k) % 4];
    } else {
      const Region* region = group.memory->find(at, bytes);
      if (!region || region->access == Access::guard) return {};
      std::copy_n(region->data + (at - region->base), bytes, out.begin());
    }
    return out;
  }

  void dump(Wave& w, uint32_t index) {
    const uint64_t arrival = ++waves_[w.id].arrivals[index];
    for (const DumpRequest& request : run_.request_.dumps)
      if (request.address == instruction(index).address && request.arrival == arrival &&
          request.workgroup == w.workgroup->id && request.wave.value_or(w.id) == w.id)
        run_.request_.on_dump(state(w, index, arrival));
  }

  static Dump state(const Wave& w, uint32_t index, uint64_t arrival) {
    Dump d{.workgroup = w.workgroup->id, .wave = w.id, .instruction = index, .arrival = arrival};
    d.exec = w.exec(), d.vcc = w.vcc(), d.scc = w.scc, d.m0 = w.m0(), d.mode = w.mode;
    d.scalars.assign(w.sgpr, w.sgpr + slot::flat_scratch);
    const auto copy = [&](RowSpace space, uint32_t rows, auto& to) {
      to.resize(rows);
      for (uint32_t k = 0; k < rows; ++k) std::copy_n(w.spaces[unsigned(space)][k].lane, lanes, to[k].begin());
    };
    const bool unified = w.workgroup->image->target.unified_registers();
    const uint32_t vectors = unified ? w.vgpr_rows - w.agpr_rows : w.vgpr_rows;
    copy(RowSpace::vgpr, vectors, d.vectors);
    copy(RowSpace::agpr, w.agpr_rows, d.accumulators);
    d.lds.assign(w.lds, w.lds + w.lds_size);
    return d;
  }

  Debugger& run_;
  std::vector<Watched> waves_;
  bool tracing_ = false; // between before() and after()
  TraceLine line_;
  unsigned places_used_ = 0;
  Places places_[max_places];
};

Debugger::Debugger(const LaunchPlan& plan, const Debugging& request) : plan_(plan), request_(request) {
  const auto& instructions = plan.image->instructions;
  traced_.resize(instructions.size());
  dumped_.resize(instructions.size());
  if (request.coverage) executed_.resize(instructions.size());
  for (size_t k = 0; k < instructions.size(); ++k) {
    const isa::Instruction& i = instructions[k];
    dumped_[k] = std::ranges::find(request.dumps, i.address, &DumpRequest::address) != request.dumps.end();
    if (!request.trace) continue;
    shapes_.push_back(access_shape(i));
    const TraceFilter& filter = *request.trace;
    traced_[k] = i.address >= filter.first && i.address < filter.last && (filter.stored.empty() || shapes_[k].writes) &&
                 (!filter.written ||
                  std::ranges::any_of(i.defs, [&](const RegisterRange& def) { return def.overlaps(*filter.written); }));
  }
}

std::unique_ptr<Watcher> Debugger::watcher() { return std::make_unique<DebugWatcher>(*this); }

} // namespace asmevo::machine
