// Registers for the values of straight-line code.
//
// Values that lie beside each other in an operand, or in one register under different masks, move together: a group
// keeps the order and the alignment that it had. Groups are placed in the order in which they come to life. Registers
// that were used before are only used again when there are no others, because each use of one again is an order that
// the scheduler has to keep.
//
// A pair whose upper half is a constant is an exception: the next pair with the same constant takes its registers, and
// the constant is still there.
#include "search/drivers/rewrite/straight_registers.h"

#include "search/drivers/rewrite/scalar_registers.h"

#include <algorithm>

namespace asmevo::search::rewrite {

namespace {

struct Group {
  isa::RegisterRange range;            // as the code has it
  size_t first = ~size_t{0}, last = 0; // positions
  bool is_mask = false;
  bool has_place = false;
  uint16_t place = 0;
};

class Placing {
public:
  Placing(StraightCode& code, const Facts& facts, size_t at, const std::vector<size_t>& order)
      : code_(code), order_(order), sgprs_(sgpr_budget(facts)), vgprs_(facts.vgpr_budget) {
    const analysis::RegisterSet& live = facts.live_before(at);
    const auto block = [&](isa::File file, std::vector<State>& states) {
      for (uint16_t r = 0; r < states.size(); ++r)
        if (live[analysis::bit_of(file, r)]) states[r] = State::taken;
    };
    block(isa::File::sgpr, sgprs_);
    block(isa::File::vgpr, vgprs_);
  }

  std::optional<Placed> run() {
    find_groups();
    if (!place(code_.root(code_.masks[0].value), 0)) return std::nullopt;
    for (size_t p = 0; p < order_.size(); ++p) {
      release(p);
      for (const Operand& write : code_.nodes[order_[p]].writes)
        if (!place(code_.root(write.parts[0].value), p)) return std::nullopt;
    }
    Placed result{.lines = std::vector<std::string>(code_.nodes.size()), .masks = {}};
    for (const size_t n : order_)
      if (!code_.nodes[n].is_gone) result.lines[n] = line(code_.nodes[n]);
    for (const Mask& mask : code_.masks) {
      const auto at = groups_.find(code_.root(code_.resolved({mask.value, 0}).value));
      const bool known = at != groups_.end() && at->second.has_place;
      result.masks.push_back({isa::File::sgpr, known ? at->second.place : uint16_t{0}, uint16_t(known ? 2 : 0)});
    }
    return result;
  }

private:
  enum class State : uint8_t { fresh, free, taken };

  void find_groups() {
    const auto touch = [&](Part part, size_t position) {
      const Value& value = code_.values[part.value];
      const auto [at, fresh] = groups_.try_emplace(code_.root(part.value), Group{.range = value.range});
      Group& group = at->second;
      const uint16_t low = std::min(group.range.first, value.range.first);
      const uint16_t high =
          std::max<uint16_t>(group.range.first + group.range.count, value.range.first + value.range.count);
      group.range.first = low, group.range.count = uint16_t(high - low);
      group.first = std::min(group.first, position);
      group.last = std::max(group.last, position);
    };
    for (size_t p = 0; p < order_.size(); ++p) {
      const Node& node = code_.nodes[order_[p]];
      for (const auto* operands : {&node.reads, &node.writes})
        for (const Operand& operand : *operands)
          for (const Part& part : operand.parts) touch(code_.resolved(part), p);
    }
    touch({code_.masks[0].value, 0}, 0);
    for (const Mask& mask : code_.masks) {
      const auto at = groups_.find(code_.root(code_.resolved({mask.value, 0}).value));
      if (at != groups_.end()) at->second.is_mask = true;
    }
    for (auto& [root, group] : groups_) {
      if (!code_.is_fixed(root)) continue;
      group.has_place = true;
      group.place = group.range.first;
      std::vector<State>& states = of(group.range.file);
      for (size_t r = group.place; r < std::min<size_t>(size_t{group.place} + group.range.count, states.size()); ++r)
        states[r] = State::taken;
    }
  }

  std::vector<State>& of(isa::File file) { return file == isa::File::vgpr ? vgprs_ : sgprs_; }

  bool place(ValueId root, size_t position) {
    Group& group = groups_.at(root);
    if (group.has_place) return true;
    const auto constant = constant_in(root, group);
    if (constant && takes_over(*constant, group, position)) return true;
    const auto first = find(group.range);
    if (!first) return false;
    group.has_place = true;
    group.place = *first;
    std::vector<State>& states = of(group.range.file);
    std::fill_n(states.begin() + *first, group.range.count, State::taken);
    if (constant)
      constants_.push_back({constant->key, group.place, group.last});
    else if (!group.is_mask)
      alive_.push_back(root);
    return true;
  }

  void release(size_t position) {
    std::erase_if(alive_, [&](ValueId root) {
      const Group& group = groups_.at(root);
      if (group.last >= position) return false;
      std::fill_n(of(group.range.file).begin() + group.place, group.range.count, State::free);
      return true;
    });
  }

  std::optional<uint16_t> find(const isa::RegisterRange& range) {
    const std::vector<State>& states = of(range.file);
    const uint16_t align = range.count == 1 ? 1 : range.file == isa::File::sgpr && range.count > 2 ? 4 : 2;
    for (const bool fresh : {true, false})
      for (uint16_t r = range.first % align; size_t{r} + range.count <= states.size(); r = uint16_t(r + align)) {
        const auto begin = states.begin() + r;
        if (std::all_of(begin, begin + range.count,
                        [&](State s) { return s == State::fresh || (!fresh && s == State::free); }))
          return r;
      }
    return std::nullopt;
  }

  struct Constant {
    std::string key;
    size_t node = 0;
  };
  struct Kept {
    std::string key;
    uint16_t place = 0;
    size_t busy = 0; // last position
  };

  /// A constant beside something else in a group, written by one move in all lanes.
  std::optional<Constant> constant_in(ValueId root, const Group& group) {
    if (group.range.file != isa::File::vgpr || group.range.count < 2) return std::nullopt;
    std::optional<Constant> found;
    for (ValueId value = 0; value < code_.values.size(); ++value) {
      const Value& v = code_.values[value];
      if (code_.root(value) != root || v.maker >= code_.nodes.size()) continue;
      const Node& node = code_.nodes[v.maker];
      if (node.is_gone || node.text.mnemonic != "v_mov_b32_e32" || !node.reads.empty() ||
          node.mask != StraightCode::entry_mask)
        continue;
      for (ValueId other = 0; other < code_.values.size(); ++other)
        if (other != value && code_.root(other) == root && code_.values[other].range.overlaps(v.range))
          return std::nullopt;
      if (found) return std::nullopt;
      found = {fmt::format("{} {} {} {}", group.range.count, group.range.first % 2, v.range.first - group.range.first,
                           node.text.operands[1]),
               v.maker};
    }
    return found;
  }

  bool takes_over(const Constant& constant, Group& group, size_t position) {
    for (Kept& kept : constants_) {
      if (kept.key != constant.key || kept.busy >= position) continue;
      kept.busy = group.last;
      group.has_place = true;
      group.place = kept.place;
      code_.nodes[constant.node].is_gone = true;
      return true;
    }
    return false;
  }

  std::string line(const Node& node) {
    InstructionText text = node.text;
    for (const auto* operands : {&node.reads, &node.writes})
      for (const Operand& operand : *operands) {
        std::string& old = text.operands[operand.index];
        const isa::RegisterRange from = *operand_registers(old);
        const Part part = code_.resolved(operand.parts[0]);
        const Group& group = groups_.at(code_.root(part.value));
        const auto first =
            uint16_t(group.place + code_.values[part.value].range.first - group.range.first + part.offset);
        const isa::RegisterRange to{from.file, first, from.count};
        const bool leaves_vcc = from.first == isa::vcc_lo && from.file == isa::File::sgpr && to != from;
        if (leaves_vcc && text.mnemonic.ends_with("_e32")) text.mnemonic.replace(text.mnemonic.size() - 4, 4, "_e64");
        old = renamed(old, from, to);
      }
    return write_instruction(text) + "\n";
  }

  StraightCode& code_;
  const std::vector<size_t>& order_;
  std::vector<State> sgprs_, vgprs_;
  std::map<ValueId, Group> groups_; // by root
  std::vector<ValueId> alive_;
  std::vector<Kept> constants_;
};

} // namespace

std::optional<Placed> placed(StraightCode& code, const Facts& facts, size_t at, const std::vector<size_t>& order) {
  return Placing(code, facts, at, order).run();
}

} // namespace asmevo::search::rewrite
