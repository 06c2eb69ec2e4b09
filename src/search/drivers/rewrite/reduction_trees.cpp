// Reductions of a workgroup through LDS, without the barriers that one wave does not need.
//
// Below 64 only the first wave takes part in a tree, and nothing forbids it to begin earlier: behind the barrier in
// front of the first round everything that will ever be combined is there. So lanes below 32 load what each of them has
// to combine, x[t], x[t + 32], x[t + 64], ..., at once, combine it in registers, and go on from lane to lane: by
// ds_swizzle for t + 16, by DPP for t + 8, 4, 2, 1. What meets what, and in which order, stays as it was, so results
// are the same to the bit, whatever is computed.
//
// The other waves find nothing to do, and x[0] where it was; x[1], x[2], ... hold something else afterwards. So the
// rule wants to see that nobody reads those before they are written anew. Lanes that a small workgroup does not have
// are read in the one way as what LDS holds at their places, in the other as nothing; where somebody may have written
// there, the rule leaves the tree alone.
//
// Taken for granted: a kernel that asks for the first number of its work-items alone runs in workgroups of one row.
#include "analysis/addresses.h"
#include "analysis/exec.h"
#include "analysis/repair.h"
#include "search/drivers/rewrite/dpp.h"
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/reduction_tree.h"
#include "search/drivers/rewrite/rules.h"

#include <algorithm>
#include <map>

namespace asmevo::search::rewrite {

namespace {

using analysis::FormId;
using analysis::RegisterSet;

constexpr unsigned swizzled_lanes = 32, most_values = 16; // lanes that one instruction exchanges; loads of a lane

/// Bytes of LDS.
struct Span {
  int64_t first = 0, last = 0;
  bool meets(const Span& other) const { return first < other.last && other.first < last; }
  bool operator==(const Span&) const = default;
};

/// Where in LDS the lanes' places are, and who else goes there.
class Places {
public:
  Places(const Facts& facts, const analysis::Addresses& addresses, const Tree& tree)
      : facts_(facts), addresses_(addresses),
        full_exec_(analysis::full_exec(facts.program, facts.function, facts.graph)), tree_(tree) {
    find_numbers();
    const analysis::Address* address = addresses.at(tree.rounds[0].load);
    if (!address || !number_ || address->bits != 32) return;
    analysis::Forms& forms = addresses.values().forms();
    const auto base = forms.constant_of(forms.subtract(address->form, forms.scale(*number_, 4)));
    if (!base || *base > 0xffff) return;
    form_ = address->form;
    base_ = int64_t(*base) + tree.rounds[0].place;
  }

  /// Lane t of the first wave is the lane with number t, its place is 4 t bytes behind that of lane 0, and all lanes
  /// that there are take part.
  bool known() const { return base_.has_value(); }
  bool is_full(size_t item) const { return full_exec_[item - facts_.function.first]; }
  /// What the first lanes have.
  Span of(unsigned lanes) const { return {*base_, *base_ + 4 * int64_t{lanes}}; }

  /// Whether behind `item` nothing of the tree's places is read but the first, before they are all written anew.
  bool only_first_is_read(size_t item) const {
    std::vector<bool> seen(facts_.graph.blocks.size(), false);
    std::vector<uint32_t> ahead;
    const auto follow = [&](size_t first, const analysis::Block& block) {
      for (size_t at = first; at < block.last; ++at) {
        if (!facts_.is_instruction(at)) continue;
        if (analysis::is_call(facts_.instruction(at))) return false;
        if (writes_all(at)) return true;
        if (!spares_places(at)) return false;
      }
      if (block.unknown || block.falls_off) return false;
      for (const uint32_t next : block.successors) {
        if (!seen[next]) ahead.push_back(next);
        seen[next] = true;
      }
      return true;
    };
    if (!follow(item + 1, facts_.graph.blocks[facts_.graph.block_of[item - facts_.function.first]])) return false;
    while (!ahead.empty()) {
      const analysis::Block& block = facts_.graph.blocks[ahead.back()];
      ahead.pop_back();
      if (!follow(block.first, block)) return false;
    }
    return true;
  }

  /// Whether each place of the first `lanes` is written by its own lane only, so that nobody has written to those of
  /// lanes that do not exist.
  bool are_own(unsigned lanes) const {
    for (size_t item = facts_.function.first; item < facts_.function.last; ++item) {
      if (!facts_.is_instruction(item)) continue;
      const isa::Instruction& i = facts_.instruction(item);
      if (analysis::is_call(i)) return false;
      const analysis::MemoryAccess access = analysis::memory_access(i);
      if (!touches_lds(access) || !(access.stores || access.atomic)) continue;
      const bool apart = std::ranges::none_of(
          spans(item, access), [&](const std::optional<Span>& span) { return !span || span->meets(of(lanes)); });
      if (!apart && !is_own(item, access)) return false;
    }
    return true;
  }

  /// Whether the register holds the lane's number before `item`, one of those given.
  bool is_number(size_t item) const {
    const auto at = numbers_.find(item);
    return number_ && at != numbers_.end() && at->second == *number_;
  }

  /// Whether an access goes to the lanes' places.
  bool is_there(size_t item) const { return addresses_.at(item) && addresses_.at(item)->form == form_; }

private:
  /// The number of the lane in each test, and again where the round begins.
  void find_numbers() {
    std::multimap<size_t, size_t> wanted;
    for (const Round& round : tree_.rounds) {
      const size_t unit = addresses_.values().registers().first_of(*operand_registers(round.number));
      wanted.emplace(round.test, unit);
      wanted.emplace(round.enter, unit);
    }
    if (!addresses_.values().known()) return;
    addresses_.values().each([&](size_t item, const analysis::RegisterState& state) {
      const auto [first, last] = wanted.equal_range(item);
      for (auto at = first; at != last; ++at) numbers_[item] = addresses_.values().active(state, at->second);
    });
    const auto first = numbers_.find(tree_.rounds[0].test);
    if (first != numbers_.end() && counts_along_x(first->second)) number_ = first->second;
  }

  bool counts_along_x(FormId form) const {
    const analysis::Forms& forms = addresses_.values().forms();
    if (forms[form].constant != 0) return false;
    bool x = false;
    for (const analysis::Term& term : forms[form].terms) {
      const analysis::Symbol& symbol = forms.name(term.symbol);
      if (symbol.kind != analysis::SymbolKind::work_item || symbol.a > 2) return false;
      if (term.factor != uint64_t{1} << 10 * symbol.a) return false;
      x |= symbol.a == 0;
    }
    return x;
  }

  static bool touches_lds(const analysis::MemoryAccess& access) {
    using enum analysis::Space;
    return access.space == lds || access.space == flat || access.space == lds_and_global;
  }

  /// What an access may touch, of all lanes; nothing for an extent that is not known.
  std::vector<std::optional<Span>> spans(size_t item, const analysis::MemoryAccess& access) const {
    const analysis::Address* address = addresses_.at(item);
    if (access.space != analysis::Space::lds || !address || access.extent_count == 0) return {std::nullopt};
    const analysis::Forms& forms = addresses_.values().forms();
    const auto range = forms.interval(forms[address->form], 32);
    std::vector<std::optional<Span>> spans;
    for (uint8_t k = 0; k < access.extent_count; ++k) {
      const analysis::Extent& extent = access.extents[k];
      const bool fits = range && range->low >= 0 && range->high <= 0xffffffff && extent.bytes > 0;
      spans.push_back(fits ? std::optional(Span{int64_t(range->low) + extent.offset,
                                                int64_t(range->high) + extent.offset + extent.bytes})
                           : std::nullopt);
    }
    return spans;
  }

  bool is_own(size_t item, const analysis::MemoryAccess& access) const {
    const analysis::Address* address = addresses_.at(item);
    return access.space == analysis::Space::lds && !access.atomic && address && address->form == form_ &&
           access.extent_count == 1 && access.extents[0].bytes == 4 &&
           access.extents[0].offset == tree_.rounds[0].place;
  }

  bool writes_all(size_t item) const {
    return isa::name_of(facts_.instruction(item)) == "ds_write_b32" && is_full(item) &&
           is_own(item, analysis::memory_access(facts_.instruction(item)));
  }

  bool spares_places(size_t item) const {
    const analysis::MemoryAccess access = analysis::memory_access(facts_.instruction(item));
    if (!touches_lds(access) || !(access.loads || access.atomic)) return true;
    return std::ranges::all_of(spans(item, access), [&](const std::optional<Span>& span) {
      return span && (*span == of(1) || !span->meets(of(2 * tree_.rounds[0].lanes)));
    });
  }

  const Facts& facts_;
  const analysis::Addresses& addresses_;
  std::vector<bool> full_exec_;
  const Tree& tree_;
  std::map<size_t, FormId> numbers_; // by item
  std::optional<FormId> number_;
  FormId form_ = 0;
  std::optional<int64_t> base_;
};

/// The rounds [from, ...) of a tree by one wave.
class OneWave {
public:
  OneWave(const Facts& facts, const Places& places, const analysis::Liveness& wanted, const Tree& tree, size_t from)
      : facts_(facts), places_(places), wanted_(wanted), rounds_(std::span(tree.rounds).subspan(from)),
        lanes_(std::min(swizzled_lanes, rounds_[0].lanes)), values_(2 * rounds_[0].lanes / lanes_) {
    for (const size_t item : tree.others)
      if (item > rounds_[0].enter) others_.push_back(item);
  }

  std::optional<recover::Edit> edit() {
    const size_t first = rounds_[0].enter, last = rounds_.back().leave;
    if (values_ > most_values || !holds_together() || !take_registers()) return std::nullopt;
    const std::string label = unused_label();
    const std::string& saved = rounds_[0].saved;
    std::string text = fmt::format("v_cmp_gt_u32_e64 {0}, {1}, {2}\ns_and_saveexec_b64 {0}, {0}\ns_cbranch_execz {3}\n",
                                   saved, lanes_, rounds_[0].number, label);
    text += loads() + combined() + exchanged();
    text += fmt::format("ds_write_b32 {}, {} offset:{}\n{}:\ns_or_b64 exec, exec, {}\n", rounds_[0].address,
                        registers_[0], rounds_[0].place, label, saved);
    for (const size_t item : others_) text += analysis::item_text(facts_.program.items[item]) + "\n";
    return recover::Edit{first, last + 1, std::move(text)};
  }

private:
  bool holds_together() {
    for (const Round& round : rounds_)
      if (!places_.is_full(round.enter) || !places_.is_full(round.test) || !places_.is_number(round.test)) return false;
    if (!places_.is_number(rounds_[0].enter) || !places_.is_there(rounds_[0].load) || !places_.are_own(lanes_))
      return false;
    const size_t last = rounds_.back().leave;
    if (!places_.only_first_is_read(last)) return false;
    const RegisterSet& needed = wanted_.after[last - facts_.function.first];
    keep_needed(needed);
    const analysis::RegisterMap& map = wanted_.registers;
    const RegisterSet address = map.set_of(std::array{*operand_registers(rounds_[0].address)});
    RegisterSet read = address | map.set_of(std::array{*operand_registers(rounds_[0].number)});
    for (const Round& round : rounds_) read |= outside_values(round);
    // What stays stands behind the new code: it may read nothing of the rounds and write nothing that they read.
    RegisterSet written;
    auto other = others_.begin();
    for (size_t item = rounds_[0].enter; item <= last; ++item) {
      if (!facts_.is_instruction(item)) continue;
      const RegisterSet defs = map.set_of(facts_.instruction(item).defs);
      if (other != others_.end() && *other == item) {
        if ((map.set_of(facts_.instruction(item).uses) & written).any() || (defs & read).any()) return false;
        ++other;
      } else {
        written |= defs & ~map.set_of(std::array{exec});
      }
    }
    return (written & (needed | address | outside_)).none();
  }

  /// Drops instructions between rounds whose results only rounds have read.
  void keep_needed(RegisterSet needed) {
    std::vector<size_t> kept;
    for (size_t k = others_.size(); k-- > 0;) {
      const isa::Instruction& i = facts_.instruction(others_[k]);
      const RegisterSet defs = wanted_.registers.set_of(i.defs);
      if ((defs & needed).none()) continue;
      needed |= wanted_.registers.set_of(i.uses);
      kept.push_back(others_[k]);
    }
    std::ranges::reverse(kept);
    others_ = std::move(kept);
  }

  /// What a body reads besides the two places and what it has computed itself.
  RegisterSet outside_values(const Round& round) {
    const analysis::RegisterMap& map = wanted_.registers;
    RegisterSet inside = map.set_of(std::array{*operand_registers(round.own), *operand_registers(round.far)}), outside;
    for (const size_t item : round.body) {
      outside |= map.set_of(facts_.instruction(item).uses) & ~inside;
      inside |= map.set_of(facts_.instruction(item).defs);
    }
    outside &= ~map.set_of(std::array{exec});
    outside_ |= outside;
    return outside;
  }

  /// Pairs for the values, one register for what another lane has, and what bodies need in between.
  bool take_registers() {
    size_t longest = 0;
    for (const Round& round : rounds_) longest = std::max(longest, round.body.size());
    const RegisterSet& before = facts_.live_before(rounds_[0].enter);
    RegisterSet busy = before | facts_.live_after(rounds_.back().leave) | outside_;
    const auto is_free = [&](uint16_t v) {
      return v < facts_.vgpr_budget && !busy[analysis::bit_of(isa::File::vgpr, v)];
    };
    std::vector<std::string> pairs;
    for (uint16_t v = 0; pairs.size() < values_ && v < facts_.vgpr_budget; v = uint16_t(v + 2)) {
      if (!is_free(v) || !is_free(uint16_t(v + 1))) continue;
      for (const uint16_t r : {v, uint16_t(v + 1)}) {
        pairs.push_back(fmt::format("v{}", r));
        busy.set(analysis::bit_of(isa::File::vgpr, r));
      }
    }
    if (pairs.size() < values_) return false;
    registers_.resize(values_);
    for (size_t k = 0; k < values_; ++k) registers_[k / 2 + k % 2 * values_ / 2] = pairs[k];
    for (uint16_t v = 0; scratch_.size() < longest && v < facts_.vgpr_budget; ++v)
      if (is_free(v)) scratch_.push_back(fmt::format("v{}", v));
    return scratch_.size() == longest;
  }

  /// Value k of each lane is that of the place `lanes_` * k places on.
  std::string loads() const {
    std::string text;
    const std::string& address = rounds_[0].address;
    const auto offset = [&](size_t k) { return rounds_[0].place + 4 * int64_t(lanes_ * k); };
    for (size_t k = 0; k < values_ / 2; ++k) {
      const size_t other = k + values_ / 2;
      const auto range = *operand_registers(registers_[k]);
      if (offset(k) % 4 == 0 && offset(other) / 4 <= 255)
        text += fmt::format("ds_read2_b32 {}, {} offset0:{} offset1:{}\n", register_text({range.file, range.first, 2}),
                            address, offset(k) / 4, offset(other) / 4);
      else
        for (const size_t value : {k, other})
          text += fmt::format("ds_read_b32 {}, {} offset:{}\n", registers_[value], address, offset(value));
    }
    return text;
  }

  std::string combined() const {
    std::string text;
    for (const Round& round : rounds_) {
      if (round.lanes < lanes_) break;
      for (size_t k = 0; k < round.lanes / lanes_; ++k)
        text += body(round, registers_[k], registers_[k + round.lanes / lanes_]);
    }
    return text;
  }

  /// From lane to lane, for the lanes that one load has served.
  std::string exchanged() const {
    std::string text;
    const std::string &value = registers_[0], &other = registers_[1];
    for (const Round& round : rounds_) {
      if (round.lanes >= lanes_) continue;
      const std::string control = fmt::format("row_shl:{} {}", round.lanes, all_lanes);
      if (round.lanes == 16) {
        text +=
            fmt::format("ds_swizzle_b32 {}, {} offset:swizzle(SWAP,16)\n", other, value) + body(round, value, other);
      } else if (const auto mnemonic = folds(round)) {
        text += fmt::format("{0}_dpp {1}, {1}, {1} {2}\n", *mnemonic, value, control);
      } else {
        text += fmt::format("v_mov_b32_dpp {}, {} {}\n", other, value, control) + body(round, value, other);
      }
    }
    return text;
  }

  /// The one instruction of a body that can read the other lane itself.
  std::optional<std::string> folds(const Round& round) const {
    const InstructionText text = parse_instruction(facts_.program.items[round.body[0]].text);
    const std::string base(base_mnemonic(text.mnemonic));
    if (round.body.size() != 1 || !is_commutative(base) || !text.mnemonic.ends_with("_e32")) return std::nullopt;
    const bool both = (text.operands[1] == round.own && text.operands[2] == round.far) ||
                      (text.operands[1] == round.far && text.operands[2] == round.own);
    return both ? std::optional(base) : std::nullopt;
  }

  /// The arithmetic of a round between two registers, the first of which gets the result.
  std::string body(const Round& round, const std::string& own, const std::string& far) const {
    std::map<uint16_t, std::string> now{{operand_registers(round.own)->first, own},
                                        {operand_registers(round.far)->first, far}};
    std::string lines;
    for (size_t k = 0; k < round.body.size(); ++k) {
      InstructionText text = parse_instruction(facts_.program.items[round.body[k]].text);
      for (size_t o = 1; o < text.operands.size(); ++o) {
        const auto range = operand_registers(text.operands[o]);
        const auto at = range && range->file == isa::File::vgpr ? now.find(range->first) : now.end();
        if (at != now.end()) text.operands[o] = renamed(text.operands[o], *range, *operand_registers(at->second));
      }
      const std::string& to = k + 1 == round.body.size() ? own : scratch_[k];
      now[operand_registers(text.operands[0])->first] = to;
      text.operands[0] = to;
      lines += write_instruction(text) + "\n";
    }
    return lines;
  }

  std::string unused_label() const {
    for (size_t number = rounds_[0].enter;; ++number) {
      std::string label = fmt::format(".L_tree_{}", number);
      if (std::ranges::none_of(facts_.program.items, [&](const recover::Item& item) {
            return item.kind == recover::ItemKind::label && item.text == label;
          }))
        return label;
    }
  }

  const Facts& facts_;
  const Places& places_;
  const analysis::Liveness& wanted_;
  std::span<const Round> rounds_;
  unsigned lanes_;
  size_t values_;
  std::vector<size_t> others_;
  RegisterSet outside_;
  std::vector<std::string> registers_, scratch_; // by value; by instruction of a body
};

/// Whether the kernel asks for no more than the first number of its work-items.
bool asks_for_x_alone(const Facts& facts) {
  if (facts.function.kernel < 0 || !facts.program.origin) return false;
  const auto& kernels = facts.program.origin->kernels;
  return size_t(facts.function.kernel) < kernels.size() &&
         (kernels[size_t(facts.function.kernel)].descriptor.compute_pgm_rsrc2() >> 11 & 3) == 0;
}

} // namespace

std::vector<Idea> reduction_trees(const Facts& facts) {
  if (!asks_for_x_alone(facts)) return {};
  const analysis::Reaching reaching(facts.program, facts.function, facts.graph);
  std::vector<Tree> trees;
  for (size_t item = facts.function.first; item < facts.function.last; ++item) {
    auto tree = reduction_tree(facts, reaching, item);
    if (!tree) continue;
    item = tree->rounds.back().leave;
    trees.push_back(*std::move(tree));
  }
  if (trees.empty()) return {};
  const analysis::Addresses addresses(facts.program, facts.function, facts.graph);
  const analysis::Liveness wanted =
      analysis::liveness(facts.program, facts.function, facts.graph, analysis::Readers::wanted);
  std::vector<Idea> ideas;
  for (const Tree& tree : trees) {
    const Places places(facts, addresses, tree);
    for (size_t from = 0; places.known() && tree.rounds[from].lanes > 1; ++from) {
      auto edit = OneWave(facts, places, wanted, tree, from).edit();
      if (!edit) continue;
      const double promise = facts.heat_of(edit->first, edit->last);
      ideas.push_back({{*std::move(edit)},
                       {},
                       fmt::format("{} rounds of a reduction by one wave", tree.rounds.size() - from),
                       promise});
      break;
    }
  }
  return ideas;
}

} // namespace asmevo::search::rewrite
