#include "prove/replay.h"

#include "machine/dispatch.h"
#include "machine/execute.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace asmevo::prove {
namespace {

using isa::Instruction;

constexpr uint64_t page = 4096;
constexpr size_t most_pages = 4096;
constexpr uint64_t most_instructions = 100'000;

bool leaves(const Instruction& i) { return i.traits.branch || i.traits.terminator; }

/// Straight code whose effects are registers, global memory and LDS.
bool is_harmless(const Instruction& i) {
  const std::string_view name = name_of(i);
  if (leaves(i) || i.traits.relative || i.encoding == isa::Encoding::unknown) return false;
  if (i.encoding == isa::Encoding::flat || i.encoding == isa::Encoding::scratch || i.encoding == isa::Encoding::mubuf ||
      i.encoding == isa::Encoding::mtbuf)
    return false;
  constexpr std::string_view refused[] = {"s_setreg",  "s_getreg",  "s_trap",    "s_sethalt",  "s_getpc",
                                          "s_memtime", "s_memreal", "s_set_gpr", "s_setvskip", "s_buffer"};
  return std::ranges::none_of(refused, [&](std::string_view start) { return name.starts_with(start); });
}

uint64_t mixed(uint64_t x) {
  x = (x ^ x >> 31) * 0x7fb5d329728ea185;
  return x ^ x >> 27;
}

/// Memory that accesses of the world meet: by page.
using Pages = std::map<uint64_t, std::vector<uint8_t>>;

uint32_t bytes_of_key(std::string_view key) {
  return key.starts_with("global ") ? static_cast<uint32_t>(std::stoul(std::string(key.substr(7)))) : 0;
}

/// Calls visit(term, address, bytes, lane) for every access of global memory in every lane.
template <class Visit> void each_access(const Terms& terms, World& world, Visit visit) {
  for (Id id = 0; id < terms.size(); ++id) {
    const Kind kind = terms[id].kind;
    if (kind != Kind::load && kind != Kind::store) continue;
    const uint32_t bytes = bytes_of_key(terms.key_of(id));
    if (bytes == 0) continue;
    const auto arguments = terms.arguments(id);
    const Id base = kind == Kind::load ? arguments[1] : arguments[3], offset = arguments[2];
    for (unsigned lane = 0; lane < machine::lanes; ++lane)
      visit(id, world.value(base, lane) + terms.value(offset), bytes, lane);
  }
}

std::optional<Pages> pages_of(const Terms& terms, World& world) {
  Pages pages;
  bool fits = true;
  each_access(terms, world, [&](Id, uint64_t address, uint32_t bytes, unsigned) {
    if (!fits) return;
    for (uint64_t at : {address / page, (address + bytes - 1) / page}) {
      fits &= at < ~uint64_t{0} / page - 1 && pages.size() < most_pages;
      auto& content = pages[at];
      if (!content.empty()) continue;
      content.resize(page);
      for (uint64_t k = 0; k < page; k += 8) {
        const uint64_t value = mixed(at * page + k);
        std::memcpy(content.data() + k, &value, 8);
      }
    }
  });
  if (!fits) return std::nullopt;
  each_access(terms, world, [&](Id id, uint64_t address, uint32_t bytes, unsigned lane) {
    if (terms[id].kind != Kind::load || terms[terms.arguments(id)[0]].kind != Kind::symbol) return;
    const uint64_t value = world.value(id, lane);
    for (uint32_t k = 0; k < bytes; ++k)
      pages[(address + k) / page][(address + k) % page] = static_cast<uint8_t>(value >> (8 * k));
  });
  return pages;
}

/// One wave on the machine.
class Run {
public:
  Run(const Windows& windows, size_t side, Shared& shared, World& world, const Pages& pages, const isa::Codec& codec) {
    finished_ = start(windows, side, shared, world, pages, codec);
  }

  bool finished() const { return finished_; }
  machine::Wave& wave() { return residence_->waves()[0]; }
  uint32_t scalar(size_t unit) { return unit == analysis::scc_unit ? wave().scc : wave().sgpr[unit]; }
  machine::Row& row(size_t unit) {
    if (unit >= analysis::agpr_unit)
      return wave().spaces[unsigned(machine::RowSpace::agpr)][unit - analysis::agpr_unit];
    return wave().spaces[unsigned(machine::RowSpace::vgpr)][unit - analysis::vgpr_unit];
  }
  const machine::Memory& memory() const { return memory_; }

private:
  bool start(const Windows& windows, size_t side, Shared& shared, World& world, const Pages& pages,
             const isa::Codec& codec) {
    Bytes code;
    const recover::Program& program = *windows.program[side];
    for (size_t item : executed_items(program, windows.region.first[side], windows.region.last[side])) {
      const Instruction& i = program.items[item].instruction;
      for (size_t k = 0; k < i.size; ++k) code.push_back(static_cast<uint8_t>(i.words[k / 4] >> (8 * (k % 4))));
    }
    constexpr uint32_t s_endpgm = 0xbf810000;
    for (size_t k = 0; k < 4; ++k) code.push_back(static_cast<uint8_t>(s_endpgm >> (8 * k)));
    const bool accumulators = shared.target.has_agprs();
    auto image = machine::Image::from_text(
        code, codec,
        {.vgprs = 256, .agprs = accumulators ? 256u : 0u, .sgprs = 102, .accum_offset = 256, .lds_bytes = 65536});
    if (!image) return false;
    image_ = *std::move(image);
    for (auto place = pages.begin(); place != pages.end();) {
      auto end = std::next(place);
      uint64_t count = 1;
      for (; end != pages.end() && end->first == place->first + count; ++end) ++count;
      auto bytes = memory_.map(place->first * page, count * page, machine::Access::read_write, "memory");
      if (!bytes) return false;
      for (uint64_t k = 0; place != end; ++place, ++k) std::ranges::copy(place->second, bytes->begin() + k * page);
    }
    dispatch_.kernel = &image_->object().kernels.front();
    auto plan = machine::plan_launch(*image_, dispatch_, memory_);
    if (!plan) return false;
    plan_ = std::make_unique<machine::LaunchPlan>(*std::move(plan));
    residence_ = std::make_unique<machine::Residence>(*plan_, memory_, scratch_, 0);
    residence_->begin(0, nullptr);
    enter(windows, world, accumulators);
    const machine::Turn turn = machine::Executor(machine::Schedule::round_robin, 0).run(*residence_, most_instructions);
    return turn.end == machine::TurnEnd::finished && !residence_->group().fault;
  }

  void enter(const Windows& windows, World& world, bool accumulators) {
    const Registers& entry = *windows.entry;
    machine::Wave& w = wave();
    for (size_t unit = 0; unit < analysis::vgpr_unit; ++unit)
      w.sgpr[unit] = static_cast<uint32_t>(world.value(entry[unit], 0));
    w.set_exec(uint64_t{w.sgpr[isa::exec_hi]} << 32 | w.sgpr[isa::exec_lo]);
    w.scc = static_cast<uint32_t>(world.value(entry[analysis::scc_unit], 0));
    const auto fill = [&](size_t unit) {
      for (unsigned lane = 0; lane < machine::lanes; ++lane)
        row(unit).lane[lane] = static_cast<uint32_t>(world.value(entry[unit], lane));
    };
    for (size_t n = 0; n < 256; ++n) fill(analysis::vgpr_unit + n);
    for (size_t n = 0; n < 256 && accumulators; ++n) fill(analysis::agpr_unit + n);
  }

  machine::Memory memory_;
  machine::Scratch scratch_;
  std::optional<machine::Image> image_;
  machine::Dispatch dispatch_;
  std::unique_ptr<machine::LaunchPlan> plan_;
  std::unique_ptr<machine::Residence> residence_;
  bool finished_ = false;
};

/// The registers that the windows read first, with their values.
std::string state_of(const Windows& windows, World& world, unsigned lane) {
  std::string text;
  analysis::RegisterSet told;
  size_t count = 0;
  const recover::Program& program = *windows.program[0];
  for (size_t item : executed_items(program, windows.region.first[0], windows.region.last[0])) {
    const Instruction& i = program.items[item].instruction;
    analysis::RegisterMap().each(i.uses, [&](size_t unit) {
      if (told.test(unit) || unit == analysis::mode_unit || count == 8) return;
      told.set(unit);
      ++count;
      text += fmt::format("{}{} = {:#x}", text.empty() ? "" : ", ", analysis::register_name(unit),
                          world.value((*windows.entry)[unit], lane));
    });
    analysis::RegisterMap().each(i.defs, [&](size_t unit) { told.set(unit); });
  }
  return text;
}

} // namespace

std::vector<size_t> executed_items(const recover::Program& program, size_t first, size_t last) {
  std::vector<size_t> items;
  for (size_t i = first; i < last; ++i)
    if (program.items[i].kind == recover::ItemKind::instruction) items.push_back(i);
  if (!items.empty() && leaves(program.items[items.back()].instruction)) items.pop_back();
  return items;
}

bool can_be_run(const Windows& windows) {
  for (size_t side = 0; side < 2; ++side) {
    const recover::Program& program = *windows.program[side];
    for (size_t item : executed_items(program, windows.region.first[side], windows.region.last[side]))
      if (!is_harmless(program.items[item].instruction) || !program.items[item].target.empty()) return false;
  }
  return true;
}

std::optional<std::string> confirmed_difference(Shared& shared, const Windows& windows, World& world) {
  const auto codec = isa::Codec::create(shared.target);
  const auto pages = pages_of(shared.terms, world);
  if (!codec || !pages) return std::nullopt;
  Run original(windows, 0, shared, world, *pages, *codec), candidate(windows, 1, shared, world, *pages, *codec);
  if (!original.finished() || !candidate.finished()) return std::nullopt;
  const auto differs = [&](std::string_view what, uint32_t first, uint32_t second, unsigned lane) {
    return fmt::format("{} is {:#x} instead of {:#x} where {}", what, second, first, state_of(windows, world, lane));
  };
  for (size_t unit = 0; unit < analysis::vgpr_unit; ++unit)
    if (windows.live.test(unit) && original.scalar(unit) != candidate.scalar(unit))
      return differs(analysis::register_name(unit), original.scalar(unit), candidate.scalar(unit), 0);
  if (windows.live.test(analysis::scc_unit) && original.wave().scc != candidate.wave().scc)
    return differs("scc", original.wave().scc, candidate.wave().scc, 0);
  // Lanes that are off somewhere may hold anything.
  uint64_t on = original.wave().exec() & candidate.wave().exec();
  on &= world.value((*windows.entry)[isa::exec_hi], 0) << 32 | world.value((*windows.entry)[isa::exec_lo], 0);
  const size_t last = shared.target.has_agprs() ? analysis::scc_unit : analysis::agpr_unit;
  for (size_t unit = analysis::vgpr_unit; unit < last; ++unit) {
    if (!windows.live.test(unit) || (unit < analysis::agpr_unit && unit >= analysis::vgpr_unit + 256)) continue;
    for (unsigned lane = 0; lane < machine::lanes; ++lane) {
      const uint32_t first = original.row(unit).lane[lane], second = candidate.row(unit).lane[lane];
      if ((on >> lane & 1) != 0 && first != second)
        return differs(fmt::format("{} in lane {}", analysis::register_name(unit), lane), first, second, lane);
    }
  }
  for (const machine::Region& region : original.memory().regions()) {
    const machine::Region* other = candidate.memory().find(region.base, region.size);
    for (uint64_t k = 0; other && k < region.size; ++k)
      if (region.data[k] != other->data[k])
        return differs(fmt::format("the byte at {:#x}", region.base + k), region.data[k], other->data[k], 0);
  }
  if (std::memcmp(original.wave().lds, candidate.wave().lds, original.wave().lds_size) != 0)
    return fmt::format("LDS holds something else where {}", state_of(windows, world, 0));
  return std::nullopt;
}

} // namespace asmevo::prove
