#include "prove/replay.h"

#include "analysis/cfg.h"
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

constexpr uint32_t s_endpgm = 0xbf810000;

/// An instruction whose effects are registers, global memory and LDS.
bool is_harmless(const Instruction& i) {
  const std::string_view name = name_of(i);
  if (i.traits.relative || i.encoding == isa::Encoding::unknown) return false;
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
  Run(const Registers& entry, const Bytes& code, Shared& shared, World& world, const Pages& pages,
      const isa::Codec& codec) {
    finished_ = start(entry, code, shared, world, pages, codec);
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
  /// Of the s_endpgm that it ended at.
  uint64_t end() { return image_->instructions()[size_t(wave().next - wave().ops) - 1].address; }

private:
  bool start(const Registers& entry, const Bytes& code, Shared& shared, World& world, const Pages& pages,
             const isa::Codec& codec) {
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
    enter(entry, world, accumulators);
    const machine::Turn turn = machine::Executor(machine::Schedule::round_robin, 0).run(*residence_, most_instructions);
    return turn.end == machine::TurnEnd::finished && !residence_->group().fault;
  }

  void enter(const Registers& entry, World& world, bool accumulators) {
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
  for (size_t item = windows.region.first[0]; item < windows.region.last[0]; ++item) {
    if (program.items[item].kind != recover::ItemKind::instruction) continue;
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

/// Where branches go to, and the ways out behind the code.
class Speller {
public:
  Speller(const Windows& windows, size_t side) : windows_(windows), side_(side) {}

  std::optional<Spelled> run() {
    const recover::Program& program = *windows_.program[side_];
    const size_t first = windows_.region.first[side_], last = windows_.region.last[side_];
    for (size_t at = first; at < last; ++at) {
      const recover::Item& item = program.items[at];
      if (item.kind == recover::ItemKind::label) places_[item.text] = spelled_.code.size();
      if (item.kind == recover::ItemKind::data) return std::nullopt;
      if (item.kind == recover::ItemKind::instruction && !add(item)) return std::nullopt;
    }
    const bool label = last < program.items.size() && program.items[last].kind == recover::ItemKind::label;
    end(label ? out_of(program.items[last].text) : "window");
    // A paired label is a way out even where it is the top of this window: a loop's body is run once.
    for (const auto& [at, target] : branches_)
      if (!direct(at, inside(target) ? places_[target] : end(out_of(target)))) return std::nullopt;
    return std::move(spelled_);
  }

private:
  bool inside(const std::string& label) const {
    return places_.contains(label) && !windows_.correspondence->number[side_].contains(label);
  }
  std::string out_of(const std::string& label) const {
    const auto& numbers = windows_.correspondence->number[side_];
    const auto found = numbers.find(label);
    return found == numbers.end() ? label : fmt::format("#{}", found->second);
  }

  void word(uint32_t value) {
    for (size_t k = 0; k < 4; ++k) spelled_.code.push_back(static_cast<uint8_t>(value >> (8 * k)));
  }

  bool add(const recover::Item& item) {
    const Instruction& i = item.instruction;
    if (i.traits.branch) {
      if (i.traits.indirect || analysis::is_call(i) || i.encoding != isa::Encoding::sopp || item.target.empty())
        return false;
      branches_.emplace_back(spelled_.code.size(), item.target);
    } else if (i.traits.terminator) {
      spelled_.ends[spelled_.code.size()] = "end";
    } else if (!is_harmless(i) || !item.target.empty()) {
      return false;
    }
    for (size_t k = 0; k < i.size / 4; ++k) word(i.words[k]);
    return true;
  }

  /// The end of that name.
  uint64_t end(const std::string& name) {
    const uint64_t at = spelled_.code.size();
    const auto [place, made] = ends_.try_emplace(name, at);
    if (made) {
      spelled_.ends[at] = name;
      word(s_endpgm);
    }
    return place->second;
  }

  bool direct(uint64_t at, uint64_t to) {
    const int64_t distance = (int64_t(to) - int64_t(at) - 4) / 4;
    if (distance != int16_t(distance)) return false;
    spelled_.code[at] = uint8_t(distance);
    spelled_.code[at + 1] = uint8_t(distance >> 8);
    return true;
  }

  const Windows& windows_;
  size_t side_;
  Spelled spelled_;
  std::map<std::string, uint64_t> places_, ends_;
  std::vector<std::pair<uint64_t, std::string>> branches_;
};

} // namespace

std::optional<Spelled> spell(const Windows& windows, size_t side) { return Speller(windows, side).run(); }

Trial compare_runs(Shared& shared, const Windows& windows, const std::array<Spelled, 2>& spelled, World& world) {
  const auto codec = isa::Codec::create(shared.target);
  const auto pages = pages_of(shared.terms, world);
  if (!codec || !pages) return {};
  Run original(*windows.entry, spelled[0].code, shared, world, *pages, *codec);
  Run candidate(*windows.entry, spelled[1].code, shared, world, *pages, *codec);
  if (!original.finished() || !candidate.finished()) return {};
  const auto end = spelled[0].ends.find(original.end()), other = spelled[1].ends.find(candidate.end());
  if (end == spelled[0].ends.end() || other == spelled[1].ends.end()) return {};
  if (end->second != other->second)
    return {true, fmt::format("control goes elsewhere where {}", state_of(windows, world, 0))};
  const analysis::RegisterSet live = windows.live(end->second);
  const auto differs = [&](std::string_view what, uint32_t first, uint32_t second, unsigned lane) {
    return Trial{true, fmt::format("{} is {:#x} instead of {:#x} where {}", what, second, first,
                                   state_of(windows, world, lane))};
  };
  for (size_t unit = 0; unit < analysis::vgpr_unit; ++unit)
    if (live.test(unit) && original.scalar(unit) != candidate.scalar(unit))
      return differs(analysis::register_name(unit), original.scalar(unit), candidate.scalar(unit), 0);
  if (live.test(analysis::scc_unit) && original.wave().scc != candidate.wave().scc)
    return differs("scc", original.wave().scc, candidate.wave().scc, 0);
  // Lanes that are off somewhere may hold anything.
  uint64_t on = original.wave().exec() & candidate.wave().exec();
  on &= world.value((*windows.entry)[isa::exec_hi], 0) << 32 | world.value((*windows.entry)[isa::exec_lo], 0);
  const size_t last = shared.target.has_agprs() ? analysis::scc_unit : analysis::agpr_unit;
  for (size_t unit = analysis::vgpr_unit; unit < last; ++unit) {
    if (!live.test(unit) || (unit < analysis::agpr_unit && unit >= analysis::vgpr_unit + 256)) continue;
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
    return {true, fmt::format("LDS holds something else where {}", state_of(windows, world, 0))};
  return {.ran = true};
}

} // namespace asmevo::prove
