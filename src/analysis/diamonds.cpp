#include "analysis/diamonds.h"

#include "isa/fields.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>

namespace asmevo::analysis {
namespace {

using isa::Instruction;
using recover::Function;
using recover::Program;

constexpr size_t longest_arm = 400; // instructions
constexpr isa::RegisterRange exec{isa::File::sgpr, isa::exec_lo, 2};

/// Besides going where the text says.
bool does_nothing(const Instruction& i) {
  const std::string_view name = isa::name_of(i);
  return i.traits.waitcnt || name == "s_nop" || name == "s_branch";
}

bool touches(std::span<const isa::RegisterRange> ranges, const isa::RegisterRange& range) {
  return std::ranges::any_of(ranges, [&](const isa::RegisterRange& r) { return r.overlaps(range); });
}

std::optional<isa::RegisterRange> pair_at(uint16_t code) {
  return code < vgpr_unit ? std::optional(isa::RegisterRange{isa::File::sgpr, code, 2}) : std::nullopt;
}

/// `name` destination, source.
struct SaveExec {
  isa::RegisterRange saved, mask;
};
std::optional<SaveExec> saves_exec(const Instruction& i, std::string_view name) {
  if (i.encoding != isa::Encoding::sop1 || isa::name_of(i) != name) return std::nullopt;
  const isa::fields::Sop1 f = isa::fields::sop1(i.words);
  const auto saved = pair_at(f.sdst), mask = pair_at(f.ssrc0);
  return saved && mask ? std::optional(SaveExec{*saved, *mask}) : std::nullopt;
}

/// `name` to, exec, with, with the sources either way round.
bool combines_exec(const Instruction& i, std::string_view name, const isa::RegisterRange& to,
                   const isa::RegisterRange& with) {
  if (i.encoding != isa::Encoding::sop2 || isa::name_of(i) != name) return false;
  const isa::fields::Sop2 f = isa::fields::sop2(i.words);
  const bool sources =
      (f.ssrc0 == exec.first && f.ssrc1 == with.first) || (f.ssrc1 == exec.first && f.ssrc0 == with.first);
  return sources && f.sdst == to.first;
}

class Finder {
public:
  Finder(const Program& program, const Function& function) : program_(program), function_(function) {}

  std::optional<Diamond> at(size_t head) {
    Diamond d;
    d.head = head;
    const auto entry = saves_exec(instruction(head), "s_and_saveexec_b64");
    if (!entry || entry->saved.overlaps(exec)) return std::nullopt;
    rest_ = entry->saved;
    const auto turn = next(head + 1);
    if (!turn || !combines_exec(instruction(*turn), "s_xor_b64", rest_, rest_)) return std::nullopt;
    d.frame = {*turn};
    const Ways ways = branched(d, *turn + 1);
    const auto end = ways.through ? arm(*ways.through, rest_, d.first) : std::nullopt;
    const auto crossing = end ? cross(d, *end) : std::nullopt;
    const auto join = crossing ? arm(crossing->through, saved_, d.second) : std::nullopt;
    if (!join || !meets(d, *join) || !meets(d, crossing->skipped.value_or(*join))) return std::nullopt;
    if (!ways.skipped || *ways.skipped == *end) return d;
    // Where no lane took the first arm, the same stands once more.
    const isa::RegisterRange saved = saved_;
    const std::vector<size_t> both = std::move(d.both);
    const auto other = cross(d, *ways.skipped);
    if (!other || other->through != crossing->through || saved != saved_ || !same(both, d.both)) return std::nullopt;
    d.frame.insert(d.frame.end(), d.both.begin(), d.both.end());
    d.both = both;
    if (!meets(d, other->skipped.value_or(*join))) return std::nullopt;
    return d;
  }

private:
  struct Ways {
    std::optional<size_t> through, skipped; // instructions
  };
  struct Crossing {
    size_t through = 0;
    std::optional<size_t> skipped;
  };

  const Instruction& instruction(size_t item) const { return program_.items[item].instruction; }
  std::optional<size_t> next(size_t item) const { return next_instruction(program_, function_, item); }

  bool meets(Diamond& d, size_t join) const {
    if (!combines_exec(instruction(join), "s_or_b64", exec, saved_)) return false;
    if (std::ranges::find(d.joins, join) == d.joins.end()) d.joins.push_back(join);
    return true;
  }

  /// Past a branch around code that no lane runs, if there is one from `item` on.
  Ways branched(Diamond& d, size_t item) const {
    const auto at = next(item);
    if (!at) return {};
    const std::string_view name = isa::name_of(instruction(*at));
    if (name != "s_cbranch_execz" && name != "s_cbranch_execnz") return {at, std::nullopt};
    d.frame.push_back(*at);
    const auto target = target_of(program_, function_, *at), behind = next(*at + 1);
    const auto taken = target ? next(*target) : std::nullopt;
    if (!taken || !behind) return {};
    return name == "s_cbranch_execz" ? Ways{behind, taken} : Ways{taken, behind};
  }

  /// Straight code from `item` on that leaves EXEC and `mask` alone; what is behind it.
  std::optional<size_t> arm(size_t item, const isa::RegisterRange& mask, std::vector<size_t>& items) const {
    for (std::optional<size_t> at = item; at && items.size() < longest_arm; at = next(*at + 1)) {
      const Instruction& i = instruction(*at);
      const isa::Traits& t = i.traits;
      if (touches(i.defs, exec)) return at;
      if (t.branch || t.terminator || t.barrier || t.side_effects || t.relative || touches(i.defs, mask))
        return std::nullopt;
      items.push_back(*at);
    }
    return std::nullopt;
  }

  /// From the first arm to the second.
  std::optional<Crossing> cross(Diamond& d, size_t item) {
    size_t last = item; // before the branch
    const auto bare = saves_exec(instruction(item), "s_andn2_saveexec_b64");
    const auto save = bare ? bare : saves_exec(instruction(item), "s_or_saveexec_b64");
    if (!save || save->mask != rest_ || save->saved.overlaps(exec)) return std::nullopt;
    saved_ = save->saved;
    d.frame.push_back(item);
    if (!bare) {
      const auto behind = next(item + 1);
      const auto narrow = behind ? arm(*behind, saved_, d.both) : std::nullopt;
      if (!narrow || !combines_exec(instruction(*narrow), "s_xor_b64", exec, saved_)) return std::nullopt;
      d.frame.push_back(last = *narrow);
    }
    const Ways ways = branched(d, last + 1);
    return ways.through ? std::optional(Crossing{*ways.through, ways.skipped}) : std::nullopt;
  }

  bool same(std::span<const size_t> a, std::span<const size_t> b) const {
    return std::ranges::equal(a, b,
                              [&](size_t x, size_t y) { return program_.items[x].text == program_.items[y].text; });
  }

  const Program& program_;
  const Function& function_;
  isa::RegisterRange rest_, saved_;
};

} // namespace

std::vector<Diamond> diamonds(const Program& program, const Function& function) {
  std::vector<Diamond> found;
  for (size_t item = function.first; item < function.last; ++item) {
    if (!is_instruction(program.items[item]) || !saves_exec(program.items[item].instruction, "s_and_saveexec_b64"))
      continue;
    if (auto diamond = Finder(program, function).at(item)) found.push_back(*std::move(diamond));
  }
  return found;
}

bool is_closed(const Program& program, const Function& function, const Graph& graph, const Diamond& diamond) {
  std::set<size_t> inside = {diamond.head};
  for (const auto* items : {&diamond.first, &diamond.both, &diamond.second, &diamond.frame, &diamond.joins})
    inside.insert(items->begin(), items->end());
  // The instruction that is executed before what stands at `last` of a block, or nothing at its beginning.
  const auto before = [&](const Block& block, size_t last) -> std::optional<size_t> {
    while (last-- > block.first)
      if (is_instruction(program.items[last]) && !does_nothing(program.items[last].instruction)) return last;
    return std::nullopt;
  };
  std::vector<bool> seen(graph.blocks.size(), false);
  const auto from_inside = [&](auto&& self, uint32_t number, size_t last) -> bool {
    if (const auto item = before(graph.blocks[number], last)) return inside.contains(*item);
    if (seen[number]) return true;
    seen[number] = true;
    if (std::ranges::find(graph.entries, number) != graph.entries.end()) return false;
    return std::ranges::all_of(graph.blocks[number].predecessors,
                               [&](uint32_t p) { return self(self, p, graph.blocks[p].last); });
  };
  const bool unknown = std::ranges::any_of(graph.blocks, &Block::unknown);
  return !unknown && std::ranges::all_of(inside, [&](size_t item) {
    return item == diamond.head || from_inside(from_inside, graph.block_of[item - function.first], item);
  });
}

Passage passage(const Program& program, const RegisterMap& map, const Diamond& diamond) {
  Passage passage;
  for (size_t unit = 0; unit < register_bits; ++unit) passage.written.set(unit, is_vector_unit(unit));
  for (const auto& ways : {std::array{&diamond.first, &diamond.both}, std::array{&diamond.both, &diamond.second}}) {
    RegisterSet written, read;
    for (const std::vector<size_t>* items : ways)
      for (const size_t item : *items) {
        const Instruction& i = program.items[item].instruction;
        const RegisterSet uses = map.set_of(i.uses);
        read |= reads_active_lanes(i) ? uses & ~written : uses;
        written |= map.set_of(i.defs);
      }
    passage.written &= written & ~read;
    passage.read |= read;
  }
  return passage;
}

std::optional<size_t> next_instruction(const Program& program, const Function& function, size_t item) {
  for (size_t steps = 0; item < function.last && steps < function.last - function.first; ++steps) {
    const recover::Item& at = program.items[item];
    if (at.kind == recover::ItemKind::label) {
      ++item;
      continue;
    }
    if (!is_instruction(at)) return std::nullopt;
    const std::string_view name = isa::name_of(at.instruction);
    if (name == "s_branch") {
      const auto target = target_of(program, function, item);
      if (!target) return std::nullopt;
      item = *target;
    } else if (does_nothing(at.instruction)) {
      ++item;
    } else {
      return item;
    }
  }
  return std::nullopt;
}

std::optional<size_t> target_of(const Program& program, const Function& function, size_t branch) {
  const std::string& label = program.items[branch].target;
  if (label.empty()) return std::nullopt;
  for (size_t item = function.first; item < function.last; ++item)
    if (program.items[item].kind == recover::ItemKind::label && program.items[item].text == label) return item;
  return std::nullopt;
}

bool reads_active_lanes(const Instruction& i) {
  if (i.traits.mfma || i.suffix == isa::Suffix::dpp) return false;
  const std::string_view name = isa::name_of(i);
  for (const std::string_view part : {"lane", "permute", "swizzle"})
    if (name.find(part) != name.npos) return false;
  return i.traits.valu || i.traits.vmem || i.traits.lds;
}

} // namespace asmevo::analysis
