#include "prove/region.h"

#include "analysis/cfg.h"

#include <algorithm>
#include <cctype>

namespace asmevo::prove {
namespace {

using recover::Item;
using recover::ItemKind;
using recover::Program;

struct Arrival {
  Id condition;
  Registers registers;
};

/// Of several ways to one place: each where its condition holds.
Arrival joined(Terms& terms, std::vector<Arrival>& ways) {
  Arrival result = std::move(ways.back());
  ways.pop_back();
  while (!ways.empty()) {
    const Arrival way = std::move(ways.back());
    ways.pop_back();
    for (size_t unit = 0; unit < result.registers.size(); ++unit)
      if (way.registers[unit] != result.registers[unit])
        result.registers[unit] = terms.choose(way.condition, way.registers[unit], result.registers[unit]);
    result.condition = terms.disjunction(way.condition, result.condition);
  }
  return result;
}

class Walk {
public:
  Walk(Shared& shared, const Program& program, size_t last, size_t side, const Correspondence& correspondence,
       const Facts& facts, const Registers& entry, const Memories& memories)
      : shared_(shared), terms_(shared.terms), program_(program), last_(last), side_(side),
        correspondence_(correspondence), facts_(facts), execution_(shared, memories), registers_(entry),
        path_(terms_.bit(true)) {}

  Result<Outcomes> run(size_t first) {
    for (size_t i = first; i < last_; ++i) {
      const Item& item = program_.items[i];
      if (item.kind == ItemKind::label) {
        if (i != first) arrive(item.text);
        continue;
      }
      if (nothing_arrives()) continue;
      if (item.kind == ItemKind::data || item.kind == ItemKind::section) return fail("control may run into data");
      if (item.kind == ItemKind::align) continue;
      if (facts_.full_exec && (*facts_.full_exec)[i - facts_.first_item])
        registers_[isa::exec_lo] = registers_[isa::exec_hi] = terms_.constant(32, 0xffffffff);
      if (terms_.too_large()) return fail("the code is too large to be proved");
      if (auto done = take(i, item); !done)
        return fail("{}: {}", item.text.empty() ? std::string(name_of(item.instruction)) : item.text,
                    done.error().message);
    }
    if (!nothing_arrives()) AE_CHECK(fall_through());
    for (const auto& [label, ways] : waiting_)
      if (!ways.empty()) return fail("branches to {}, which the other version does not have in that place", label);
    Outcomes outcomes{{}, execution_.memories(), execution_.reads()};
    for (auto& [target, ways] : exits_) {
      Arrival all = joined(terms_, ways);
      outcomes.exits.push_back(
          {target, places_[target], all.condition, std::move(all.registers), destinations_[target]});
    }
    return outcomes;
  }

private:
  bool nothing_arrives() const { return path_ == terms_.bit(false); }

  void arrive(const std::string& label) {
    std::vector<Arrival>& ways = waiting_[label];
    if (ways.empty()) return;
    if (!nothing_arrives()) ways.push_back({path_, registers_});
    Arrival here = joined(terms_, ways);
    registers_ = std::move(here.registers);
    path_ = here.condition;
  }

  void leave(const std::string& target, size_t item, Id condition) {
    exits_[target].push_back({condition, registers_});
    places_[target] = item;
  }

  Result<void> fall_through() {
    if (facts_.window) return leave("window", last_, path_), Result<void>();
    if (last_ >= program_.items.size() || program_.items[last_].kind != ItemKind::label)
      return fail("control runs off the end of the function");
    return go(program_.items[last_].text, last_, path_);
  }

  Result<void> go(const std::string& label, size_t from, Id condition) {
    const auto& numbers = correspondence_.number[side_];
    const auto place = std::ranges::find_if(
        program_.items, [&](const Item& item) { return item.kind == ItemKind::label && item.text == label; });
    const auto at = static_cast<size_t>(place - program_.items.begin());
    if (at == program_.items.size()) return fail("branches to {}, which is no label", label);
    if (const auto found = numbers.find(label); found != numbers.end()) {
      leave(fmt::format("#{}", found->second), at, condition);
    } else if (at > from && at < last_) {
      waiting_[label].push_back({condition, registers_});
    } else {
      return fail("branches to {}, which has no counterpart in the other version", label);
    }
    return {};
  }

  size_t last_plus_label() const { return std::min(last_ + 1, program_.items.size()); }

  /// A text with the names of paired labels replaced by what both versions call them, without the instruction.
  std::string named_alike(std::string_view text) const {
    if (const size_t comma = text.rfind(','); comma != text.npos) text.remove_prefix(comma + 1);
    std::string result;
    const auto in_name = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$';
    };
    while (!text.empty()) {
      size_t length = 0;
      while (length < text.size() && in_name(text[length])) ++length;
      const std::string word(text.substr(0, length));
      const auto found = correspondence_.number[side_].find(word);
      result += found == correspondence_.number[side_].end() ? word : fmt::format("#{}", found->second);
      if (length < text.size()) result += text[length++];
      text.remove_prefix(length);
    }
    return result;
  }

  Result<void> take(size_t at, const Item& item) {
    const isa::Instruction& i = item.instruction;
    if (analysis::is_call(i)) {
      const bool through_registers = name_of(i) == "s_swappc_b64";
      if (!through_registers && item.target.empty()) return fail("calls an address");
      execution_.call(i, registers_, path_, through_registers ? "" : named_alike(item.target));
      return {};
    }
    if (name_of(i) == "s_getpc_b64" && at + 1 < last_plus_label() && program_.items[at + 1].kind == ItemKind::label) {
      // The address behind itself is that of the label there. Code lies elsewhere in either version; what is compared
      // is which place an address names.
      const uint32_t to = i.words[0] >> 16 & 0x7f;
      const Id address =
          terms_.symbol(64, fmt::format("address of {}", named_alike(program_.items[at + 1].text)), true);
      registers_[to] = terms_.low(address);
      registers_[to + 1] = terms_.high(address);
      return {};
    }
    if (i.traits.branch && i.traits.indirect) {
      if (name_of(i) != "s_setpc_b64") return fail("is an indirect branch");
      const uint32_t source = i.words[0] & 0x7f;
      const Id destination = terms_.pair(registers_[source], registers_[source + 1]);
      if (exits_.contains("jump")) return fail("jumps through registers in two places");
      leave("jump", at, path_);
      destinations_["jump"] = destination;
      path_ = terms_.bit(false);
      return {};
    }
    if (i.traits.branch) {
      if (item.target.empty()) return fail("branches to an address");
      if (!i.traits.conditional) {
        AE_CHECK(go(item.target, at, path_));
        path_ = terms_.bit(false);
        return {};
      }
      AE_TRY(const Id taken, execution_.branch_condition(i, registers_));
      AE_CHECK(go(item.target, at, terms_.conjunction(path_, taken)));
      path_ = terms_.conjunction(path_, terms_.complement(taken));
      return {};
    }
    if (i.traits.terminator) {
      leave("end", at, path_);
      path_ = terms_.bit(false);
      return {};
    }
    execution_.at_item(at, facts_.addresses);
    if (!item.target.empty()) return execution_.step(i, registers_, path_, named_alike(item.text));
    if (i.traits.barrier) execution_.at_barrier(facts_.stores.before(at), facts_.stores.behind(at));
    return execution_.step(i, registers_, path_);
  }

  Shared& shared_;
  Terms& terms_;
  const Program& program_;
  size_t last_, side_;
  const Correspondence& correspondence_;
  Facts facts_;
  Execution execution_;
  Registers registers_;
  Id path_;
  std::map<std::string, std::vector<Arrival>> waiting_, exits_;
  std::map<std::string, size_t> places_;
  std::map<std::string, Id> destinations_;
};

} // namespace

Result<Outcomes> run_region(Shared& shared, const Program& program, size_t first, size_t last, size_t side,
                            const Correspondence& correspondence, const Facts& facts, const Registers& entry,
                            const Memories& memories) {
  return Walk(shared, program, last, side, correspondence, facts, entry, memories).run(first);
}

} // namespace asmevo::prove
