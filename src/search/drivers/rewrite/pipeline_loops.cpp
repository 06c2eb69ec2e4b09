// Loops whose loads run an iteration ahead.
//
// A loop that loads a tile, puts it into LDS, meets the other waves at a barrier and multiplies has its loads at the
// one place where nothing else is left to do. The loads of the next iteration need nothing of this one but addresses,
// so they are issued during its arithmetic: those of the first iteration in front of the loop, and from then on each
// iteration begins with loads that are under way.
//
// The loads and the vector arithmetic that leads to their addresses are done once more at the end of the iteration,
// with registers of their own; where the loads were, their results are copied from there. What this leaves without
// readers goes, and the scheduler brings the new loads up as far as their registers and other accesses let them. In the
// first variant what is loaded is read where it arrived, so a load comes behind all readers of the one before it; in
// the second the copies stay, and loads come first.
//
// The new loop runs while another iteration is certain behind this one; the last one, without loads, stands behind it.
// What is not certain runs in the loop as it was. So no load happens that would not have happened.
//
// Where an iteration of all waves together is shorter than a load takes, loads are also issued two or three iterations
// ahead. Each of these has registers of its own for what is under way, so as many iterations stand in the new loop, and
// addresses are those of the next iteration moved on by a constant. Such loads come before what iterations in between
// store, so nothing may be stored.
#include "analysis/memory.h"
#include "recover/recover.h"
#include "search/drivers/rewrite/apart.h"
#include "search/drivers/rewrite/cleanup.h"
#include "search/drivers/rewrite/counted_loop.h"
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/register_steps.h"
#include "search/drivers/rewrite/rules.h"
#include "search/drivers/rewrite/schedule.h"

#include <algorithm>
#include <array>

namespace asmevo::search::rewrite {

namespace {

constexpr size_t longest = 300; // instructions
constexpr size_t vgprs = 256;

bool is_in(const std::vector<size_t>& items, size_t item) { return std::ranges::find(items, item) != items.end(); }

bool is_vgpr(const isa::RegisterRange& range) { return range.file == isa::File::vgpr && range.first < vgprs; }

/// A loop's body as the pipelined one needs it.
struct Body {
  std::vector<size_t> items; // without waits and without what only tests
  std::vector<size_t> loads; // of items, those that run ahead
  std::vector<size_t> leads; // of items, those that make their addresses
  std::vector<size_t> spare; // of leads, those that nothing else wants
  /// What they read that the loop moves on, and by how much an iteration.
  struct Carried {
    isa::RegisterRange range;
    std::string amount; // operand
  };
  std::vector<Carried> carried; // for more than one iteration ahead
};

std::optional<std::vector<size_t>> items_of(const Facts& facts, const Rounds& loop) {
  std::vector<size_t> items;
  for (size_t item = loop.block->first; item < loop.block->last; ++item) {
    if (!facts.is_instruction(item) || (is_in(loop.left_out, item) && !is_in(loop.counting, item))) continue;
    const isa::Instruction& i = facts.instruction(item);
    if (i.traits.waitcnt || isa::name_of(i) == "s_nop") continue;
    if (writes(i, exec) || i.traits.branch || (i.traits.side_effects && !i.traits.barrier) || i.traits.relative)
      return std::nullopt;
    items.push_back(item);
  }
  return items.size() <= longest ? std::optional(std::move(items)) : std::nullopt;
}

/// What stands in the way of loads that are issued an iteration early.
struct InTheWay {
  bool lds = false;              // LDS is written, or other waves may have written it
  bool barriers = false;         // that a load of global memory must not pass
  size_t first_store = SIZE_MAX; // to anything but LDS
};

InTheWay in_the_way(const Facts& facts, const std::vector<size_t>& items, const analysis::BarrierStores& stores) {
  InTheWay way;
  for (const size_t item : items) {
    const isa::Instruction& i = facts.instruction(item);
    if (i.traits.barrier) {
      way.lds = true;
      way.barriers |= stores.before(item);
    }
    const analysis::MemoryAccess access = analysis::memory_access(i);
    if (access.space == analysis::Space::none || (access.loads && !access.stores && analysis::is_plain(access)))
      continue;
    if (access.space == analysis::Space::lds && i.encoding == isa::Encoding::ds)
      way.lds = true;
    else
      way.first_store = std::min(way.first_store, item);
  }
  return way;
}

bool may_run_ahead(const Facts& facts, size_t item, const InTheWay& way) {
  const isa::Instruction& i = facts.instruction(item);
  const std::string_view name = isa::name_of(i);
  const analysis::MemoryAccess access = analysis::memory_access(i);
  if (!i.traits.may_load || i.traits.may_store || i.traits.atomic || !analysis::is_plain(access)) return false;
  const bool is_global = name.starts_with("global_load_") || name.starts_with("buffer_load_");
  const bool is_shared = name.starts_with("ds_read_") && i.encoding == isa::Encoding::ds;
  if (!(is_global && !way.barriers && item < way.first_store) && !(is_shared && !way.lds)) return false;
  if (name.find("lds") != name.npos || name.find("_tr") != name.npos || name.find("d16") != name.npos) return false;
  const InstructionText text = parse_instruction(facts.program.items[item].text);
  return text.modifiers.find("lds") == std::string::npos && i.explicit_defs == 1 && i.defs.size() == 1 &&
         is_vgpr(i.defs[0]) && !text.operands.empty() && operand_registers(text.operands[0]) == i.defs[0] &&
         !keeps_a_part(i, text, i.defs[0]);
}

/// Adds what leads to the operands of `item`; false where that cannot be done again.
bool add_leads(const Facts& facts, const analysis::Block& block, size_t item, std::vector<size_t>& leads) {
  for (const isa::RegisterRange& use : facts.instruction(item).uses) {
    if (use.overlaps(exec)) continue;
    for (uint16_t r = use.first; r < use.first + use.count; ++r) {
      const auto at = definition_of(facts, block, item, {use.file, r, 1});
      if (!at || is_in(leads, *at)) continue;
      if (!computes_by_lane(facts, *at) || !is_vgpr(facts.instruction(*at).defs[0])) return false;
      leads.push_back(*at);
      if (!add_leads(facts, block, *at, leads)) return false;
    }
  }
  return true;
}

std::optional<Body> body_of(const Facts& facts, const Rounds& loop, const analysis::BarrierStores& stores) {
  auto items = items_of(facts, loop);
  if (!items) return std::nullopt;
  Body body{.items = *std::move(items), .loads = {}, .leads = {}, .spare = {}};
  const InTheWay way = in_the_way(facts, body.items, stores);
  for (const size_t item : body.items) {
    if (!may_run_ahead(facts, item, way)) continue;
    std::vector<size_t> leads = body.leads;
    if (!add_leads(facts, *loop.block, item, leads)) continue;
    body.loads.push_back(item);
    body.leads = std::move(leads);
  }
  std::ranges::sort(body.leads);
  return body.loads.empty() ? std::nullopt : std::optional(std::move(body));
}

/// An addition of a constant to `range`, or of scalars that stay, as addresses are moved on: what is added.
std::optional<std::string> amount_of(const Facts& facts, const analysis::Block& block, size_t item,
                                     const isa::RegisterRange& range) {
  const InstructionText text = parse_instruction(facts.program.items[item].text);
  const std::string r = register_text(range);
  if (text.operands.empty() || text.operands[0] != r) return std::nullopt;
  if (base_mnemonic(text.mnemonic) == "v_add_u32" && text.operands.size() == 3 && text.operands[2] == r &&
      text.modifiers.empty() && constant_of(text.operands[1]))
    return text.operands[1];
  if (text.mnemonic != "v_lshl_add_u64" || text.operands.size() != 4 || text.operands[1] != r ||
      text.operands[2] != "0")
    return std::nullopt;
  const auto scalar = operand_registers(text.operands[3]);
  if (scalar && (scalar->file != isa::File::sgpr || written_between(facts, *scalar, block.first, block.last)))
    return std::nullopt;
  return scalar || constant_of(text.operands[3]) ? std::optional(text.operands[3]) : std::nullopt;
}

/// Finds what addresses read that the loop changes; false where something does not move on by the same each time.
bool find_carried(const Facts& facts, const analysis::Block& block, Body& body) {
  for (const auto* items : {&body.leads, &body.loads})
    for (const size_t item : *items)
      for (const isa::RegisterRange& use : facts.instruction(item).uses) {
        if (use.overlaps(exec)) continue;
        for (uint16_t r = use.first; r < use.first + use.count; ++r) {
          const isa::RegisterRange one{use.file, r, 1};
          if (definition_of(facts, block, item, one)) continue; // a lead, which is done again
          const auto moved = definition_of(facts, block, block.last, one);
          if (!moved) continue;
          const isa::Instruction& i = facts.instruction(*moved);
          if (i.defs.size() != 1 || !is_vgpr(i.defs[0]) || written_between(facts, i.defs[0], block.first, *moved))
            return false;
          const auto amount = amount_of(facts, block, *moved, i.defs[0]);
          if (!amount) return false;
          const auto known = std::ranges::find(body.carried, i.defs[0], &Body::Carried::range);
          if (known == body.carried.end()) body.carried.push_back({i.defs[0], *amount});
        }
      }
  return true;
}

/// Finds what of the leads nobody else wants, and returns the registers that the loop without it and its loads needs.
analysis::RegisterSet find_spare(const Facts& facts, const Rounds& loop, Body& body) {
  analysis::RegisterSet wanted = facts.live_after(loop.block->last - 1) | facts.live_before(loop.block->first);
  analysis::RegisterSet needed = wanted;
  for (size_t item = loop.block->last; item-- > loop.block->first;) {
    if (!facts.is_instruction(item)) continue;
    const isa::Instruction& i = facts.instruction(item);
    const analysis::RegisterSet defs = analysis::set_of(i.defs);
    if (is_in(body.leads, item) && (defs & wanted).none()) {
      body.spare.push_back(item);
      continue;
    }
    needed |= defs;
    if (!is_in(body.loads, item)) wanted |= analysis::set_of(i.uses);
  }
  return needed | wanted;
}

/// Registers of the loads that run ahead and of what leads to their addresses.
class Shadows {
public:
  /// Where the registers `busy` are not to be had, for loads that run `distance` iterations ahead.
  Shadows(const Facts& facts, const Rounds& loop, const Body& body, const analysis::RegisterSet& busy,
          unsigned distance)
      : facts_(facts), body_(body), distance_(distance), taken_(vgprs, true) {
    for (uint16_t v = 0; v < std::min<size_t>(facts.vgpr_budget, vgprs); ++v)
      taken_[v] = busy[analysis::bit_of(isa::File::vgpr, v)];
    // Tests of the loop use this one.
    if (const auto temporary = free_register(facts, *loop.block, isa::File::vgpr); temporary && *temporary < vgprs)
      taken_[*temporary] = true;
  }

  /// False where there are too few.
  bool find() {
    for (unsigned stage = 0; stage < distance_; ++stage)
      for (const size_t load : body_.loads) {
        const isa::RegisterRange& range = facts_.instruction(load).defs[0];
        const auto at = take(range.count, range.count > 1 ? 0 : -1);
        if (!at) return false;
        results_.push_back(*at);
      }
    spread();
    for (uint16_t v = 0; v < vgprs; ++v) {
      if (!shadowed_[v] || to_[v] != 0xffff) continue;
      uint16_t end = v;
      while (joined_[end]) ++end;
      const auto count = uint16_t(end - v + 1);
      const auto at = take(count, count > 1 ? v % 2 : -1);
      if (!at) return false;
      for (uint16_t k = 0; k < count; ++k) to_[v + k] = uint16_t(*at + k);
    }
    return true;
  }

  /// Lines that issue the loads of the iteration that comes `further` iterations behind the one whose values the
  /// registers hold, into the registers of `stage`.
  std::string ahead(unsigned stage, unsigned further) const {
    std::vector<size_t> items = body_.leads;
    items.insert(items.end(), body_.loads.begin(), body_.loads.end());
    std::ranges::sort(items);
    std::vector<bool> written(vgprs, false), fetched(vgprs, false);
    std::string copies, lines;
    for (const size_t item : items) {
      const bool is_load = is_in(body_.loads, item);
      InstructionText text = parse_instruction(facts_.program.items[item].text);
      for (size_t k = 0; k < text.operands.size(); ++k) {
        const auto range = operand_registers(text.operands[k]);
        if (!range || !is_vgpr(*range)) continue;
        if (k == 0 && is_load) {
          text.operands[k] = register_text(result_of(item, stage));
          continue;
        }
        for (uint16_t v = range->first; v < range->first + range->count; ++v) {
          if (k > 0 && shadowed_[v] && !written[v] && !fetched[v]) copies += fetched_from(v, further, fetched);
        }
        if (shadowed_[range->first])
          text.operands[k] = renamed(text.operands[k], *range, {range->file, to_[range->first], range->count});
      }
      lines += write_instruction(text) + "\n";
      if (is_load) continue;
      const isa::RegisterRange& def = facts_.instruction(item).defs[0];
      std::fill_n(written.begin() + def.first, def.count, true);
    }
    return copies + lines;
  }

  /// Lines that bring a load's result to where it belongs.
  std::string fetch(size_t load, unsigned stage) const {
    const isa::RegisterRange &to = facts_.instruction(load).defs[0], from = result_of(load, stage);
    std::string lines;
    for (uint16_t k = 0; k < to.count; ++k)
      lines += fmt::format("v_mov_b32_e32 v{}, v{}\n", to.first + k, from.first + k);
    return lines;
  }

private:
  /// Lines that put what `v` will hold after so many more iterations where loads that run ahead take it from.
  std::string fetched_from(uint16_t v, unsigned further, std::vector<bool>& fetched) const {
    const auto moved = std::ranges::find_if(
        body_.carried, [&](const Body::Carried& c) { return c.range.overlaps({isa::File::vgpr, v, 1}); });
    if (moved == body_.carried.end() || further == 0) {
      fetched[v] = true;
      return fmt::format("v_mov_b32_e32 v{}, v{}\n", to_[v], v);
    }
    const isa::RegisterRange& from = moved->range;
    std::fill_n(fetched.begin() + from.first, from.count, true);
    const std::string to = register_text({from.file, to_[from.first], from.count});
    if (from.count == 2)
      return fmt::format("v_lshl_add_u64 {}, {}, {}, {}\n", to, moved->amount, further - 1, register_text(from));
    return fmt::format("v_add_u32_e32 {}, {:#x}, {}\n", to, uint32_t(*constant_of(moved->amount) * further),
                       register_text(from));
  }

  isa::RegisterRange result_of(size_t load, unsigned stage) const {
    const auto at = stage * body_.loads.size() + size_t(std::ranges::find(body_.loads, load) - body_.loads.begin());
    return {isa::File::vgpr, results_[at], facts_.instruction(load).defs[0].count};
  }

  /// `parity`: of the first register, -1 where that does not matter.
  std::optional<uint16_t> take(uint16_t count, int parity) {
    for (uint16_t first = 0; first + count <= vgprs; ++first) {
      if (parity >= 0 && first % 2 != parity) continue;
      const auto begin = taken_.begin() + first;
      if (std::find(begin, begin + count, true) != begin + count) continue;
      std::fill(begin, begin + count, true);
      return first;
    }
    return std::nullopt;
  }

  /// What is written on the way, and what is read together with that, moves; neighbours of an operand stay neighbours.
  void spread() {
    for (const size_t item : body_.leads) {
      const isa::RegisterRange& def = facts_.instruction(item).defs[0];
      std::fill_n(shadowed_.begin() + def.first, def.count, true);
    }
    for (const Body::Carried& carried : body_.carried) {
      std::fill_n(shadowed_.begin() + carried.range.first, carried.range.count, true);
      if (carried.range.count > 1) joined_[carried.range.first] = true;
    }
    for (bool grows = true; grows;) {
      grows = false;
      for (const auto* items : {&body_.leads, &body_.loads})
        for (const size_t item : *items) grows |= spread(item, items == &body_.loads);
    }
  }
  bool spread(size_t item, bool is_load) {
    bool grows = false;
    const InstructionText text = parse_instruction(facts_.program.items[item].text);
    for (size_t k = is_load ? 1 : 0; k < text.operands.size(); ++k) {
      const auto range = operand_registers(text.operands[k]);
      if (!range || !is_vgpr(*range)) continue;
      const auto begin = shadowed_.begin() + range->first;
      if (std::find(begin, begin + range->count, true) == begin + range->count) continue;
      for (uint16_t v = range->first; v < range->first + range->count; ++v) {
        const bool joins = v + 1 < range->first + range->count;
        grows |= !shadowed_[v] || (joins && !joined_[v]);
        shadowed_[v] = true;
        if (joins) joined_[v] = true;
      }
    }
    return grows;
  }

  const Facts& facts_;
  const Body& body_;
  unsigned distance_;
  std::vector<bool> taken_;
  std::vector<uint16_t> results_; // by stage and body_.loads
  std::vector<bool> shadowed_ = std::vector<bool>(vgprs, false), joined_ = std::vector<bool>(vgprs + 1, false);
  std::vector<uint16_t> to_ = std::vector<uint16_t>(vgprs, 0xffff);
};

struct Pipelined {
  recover::Edit edit;
  std::string label; // of the loop that runs ahead
};

Pipelined pipelined(const Facts& facts, const Rounds& loop, const Body& body, const Shadows& shadows,
                    unsigned distance) {
  size_t first = loop.block->first;
  while (!facts.is_instruction(first)) ++first;
  const auto iteration = [&](unsigned stage) {
    std::string lines;
    for (const size_t item : body.items)
      if (is_in(body.loads, item))
        lines += shadows.fetch(item, stage);
      else if (!is_in(body.spare, item))
        lines += facts.program.items[item].text + "\n";
    return lines;
  };
  std::string begin, round, end;
  for (unsigned stage = 0; stage < distance; ++stage) {
    begin += shadows.ahead(stage, stage);
    round += iteration(stage) + shadows.ahead(stage, distance - 1);
    end += iteration(stage);
  }
  const RoundLabels labels(loop.label, 2 * distance);
  std::string text = fmt::format("{}{}{}:\n{}{}{}{}{}:\n", loop.first_test, begin, labels.many, round, loop.test, end,
                                 loop.last_test, labels.rest);
  text += recover::print_items(facts.program, first, loop.block->last - 1);
  text += fmt::format("{} {}\n{}:\n", loop.back, labels.rest, labels.end);
  return {{first, loop.block->last, std::move(text)}, labels.many};
}

std::optional<recover::Program> in_order(const Facts& facts, const recover::Program& program,
                                         const std::string& label) {
  const Facts after =
      gather({.program = &program, .function = &program.functions[function_index(facts)], .codec = &facts.codec});
  for (const analysis::Block& block : after.graph.blocks)
    for (size_t item = block.first; item < block.last && !after.is_instruction(item); ++item)
      if (program.items[item].kind == recover::ItemKind::label && program.items[item].text == label) {
        auto changed = recover::apply(program, scheduled(after, block, Order::loads_first), facts.codec);
        return changed ? std::optional(*std::move(changed)) : std::nullopt;
      }
  return std::nullopt;
}

/// How many iterations of all waves that fit a load takes, about.
double iterations_of_a_load(const Facts& facts, const Body& body) {
  constexpr double load = 800, vector = 4, matrix = 32; // clocks
  double clocks = 0;
  for (const size_t item : body.items) {
    const isa::Traits& traits = facts.instruction(item).traits;
    clocks += traits.mfma ? matrix : vector;
  }
  const auto steps = RegisterSteps::of(facts);
  const double waves = steps ? steps->waves(steps->vgprs(), steps->agprs()) : 1;
  return load / std::max(clocks * std::max(waves, 1.0), 1.0);
}

/// Whether loads may pass whatever iterations in between do.
bool may_pass_iterations(const Facts& facts, const Body& body, const analysis::BarrierStores& stores) {
  for (const size_t item : body.items) {
    const isa::Instruction& i = facts.instruction(item);
    const analysis::MemoryAccess access = analysis::memory_access(i);
    const bool only_loads = access.loads && !access.stores && analysis::is_plain(access);
    const bool is_shared = access.space == analysis::Space::lds && i.encoding == isa::Encoding::ds;
    if (i.traits.barrier ? stores.before(item) : access.space != analysis::Space::none && !only_loads && !is_shared)
      return false;
  }
  return std::ranges::none_of(body.loads,
                              [&](size_t load) { return facts.instruction(load).encoding == isa::Encoding::ds; });
}

/// The ideas for one loop and distance: two for one iteration ahead, and else that which needs no copies.
void add_ideas(const Facts& facts, const Rounds& loop, Body body, unsigned distance, std::vector<Idea>& ideas) {
  const double promise = facts.heat_of(loop.block->first, loop.block->last);
  if (distance > 1 && (!find_carried(facts, *loop.block, body) || body.items.size() * 2 * distance > longest)) return;
  const analysis::RegisterSet busy = find_spare(facts, loop, body);
  Shadows shadows(facts, loop, body, busy, distance);
  if (!shadows.find()) return;
  const Pipelined text = pipelined(facts, loop, body, shadows, distance);
  const auto whole = recover::apply(facts.program, std::array{text.edit}, facts.codec);
  if (!whole) return;
  const auto add = [&](const recover::Program& program, unsigned variant, double hope, std::string_view what) {
    if (const auto ordered = in_order(facts, program, text.label))
      ideas.push_back({difference(facts.program, *ordered),
                       {},
                       fmt::format("{} loads of {} {} ahead, {}", body.loads.size(), loop.label,
                                   distance == 1 ? "an iteration" : fmt::format("{} iterations", distance), what),
                       promise * hope,
                       variant});
  };
  if (const auto clean = clean_up(*whole, function_index(facts), {}, facts.codec))
    add(*clean, distance == 1 ? 0 : distance, 1.25 - 0.06 * (distance - 1), "read where they arrive");
  if (distance == 1) add(*whole, 1, 1.15, "copied where they are wanted");
}

} // namespace

std::vector<Idea> pipeline_loops(const Facts& facts) {
  std::vector<Idea> ideas;
  const double heat = facts.heat_of(facts.function.first, facts.function.last);
  std::optional<analysis::BarrierStores> stores;
  constexpr unsigned farthest = 3;
  for (unsigned distance = 1; distance <= farthest; ++distance) {
    std::vector<Rounds> loops = scalar_rounds(facts, 2 * distance);
    std::ranges::move(lane_rounds(facts, 2 * distance), std::back_inserter(loops));
    for (const Rounds& loop : loops) {
      if (heat > 0 && facts.heat_of(loop.block->first, loop.block->last) == 0)
        continue; // such as what an unrolled loop leaves over
      if (!stores) stores.emplace(facts.program, facts.function, facts.graph);
      auto body = body_of(facts, loop, *stores);
      if (!body) continue;
      if (distance > 1 &&
          (iterations_of_a_load(facts, *body) <= distance - 1 || !may_pass_iterations(facts, *body, *stores)))
        continue;
      add_ideas(facts, loop, *std::move(body), distance, ideas);
    }
  }
  return ideas;
}

} // namespace asmevo::search::rewrite
