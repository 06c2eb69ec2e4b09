#include "prove/cache.h"

#include "support/hash.h"

namespace asmevo::prove {
namespace {

/// The content of one region as text, in which labels are numbered as they are met.
class Digest {
public:
  Digest(const Correspondence& correspondence, const Waves& waves) : correspondence_(correspondence), waves_(waves) {}

  void add(const Version& version, size_t side, const Region& region) {
    const Program& program = version.program;
    const size_t first = region.first[side], last = region.last[side];
    add_live(version, first);
    add_live(version, last);
    for (size_t i = first; i < last; ++i) {
      const recover::Item& item = program.items[i];
      text += fmt::format("\n{}", unsigned(item.kind));
      switch (item.kind) {
      case recover::ItemKind::label:
        text += number_of(item.text, side);
        break;
      case recover::ItemKind::instruction:
        add_instruction(version, side, i);
        break;
      default:
        text += item.text;
      }
    }
  }

  std::string text;

private:
  /// Paired labels have one number on both sides.
  std::string number_of(const std::string& label, size_t side) {
    const auto& numbers = correspondence_.number[side];
    const auto found = numbers.find(label);
    const std::string name = found == numbers.end() ? label : fmt::format("#{}", found->second);
    const size_t next = numbers_.size();
    return fmt::format(" L{}", numbers_.try_emplace(name, next).first->second);
  }

  void add_live(const Version& version, size_t item) {
    const analysis::RegisterSet live = version.live_at(item), idle = version.seen_in_idle_lanes(item);
    const auto bytes = [&](const analysis::RegisterSet& set) {
      text.append(reinterpret_cast<const char*>(&set), sizeof set);
    };
    text += " live ";
    bytes(live);
    if (waves_.any_lanes) bytes(idle);
  }

  void add_instruction(const Version& version, size_t side, size_t at) {
    const recover::Item& item = version.program.items[at];
    const isa::Instruction& i = item.instruction;
    text += fmt::format(" {} {} {}", name_of(i), unsigned(i.encoding), unsigned(i.suffix));
    if (waves_.full_exec && version.full[at - version.function.first]) text += " full";
    if (i.traits.barrier) text += fmt::format(" {}{}", version.stores.before(at), version.stores.behind(at));
    if (i.traits.branch || i.traits.terminator) add_live(version, at);
    if (item.target.empty()) {
      for (size_t k = 0; k < i.size / 4; ++k) text += fmt::format(" {:x}", i.words[k]);
      return;
    }
    // A distance is in the words, and in the text a label.
    const size_t place = item.text.find(item.target);
    if (place == std::string::npos) {
      text += item.text;
    } else {
      text += item.text.substr(0, place) + item.text.substr(place + item.target.size());
    }
    text += number_of(item.target, side);
    if (const auto label = version.labels.find(item.target); label != version.labels.end())
      add_live(version, label->second);
  }

  const Correspondence& correspondence_;
  const Waves& waves_;
  std::unordered_map<std::string, size_t> numbers_;
};

} // namespace

std::string region_key(const Version& original, const Version& candidate, const Correspondence& correspondence,
                       const Region& region, const Policy& policy, const Waves& waves) {
  Digest digest(correspondence, waves);
  const bool kernarg = original.kernarg && original.kernarg == candidate.kernarg;
  digest.text =
      fmt::format("{} {} {} {} {} {} {} {}", isa::target_id(original.program.target), policy.floats.commute,
                  policy.floats.contract, policy.solver_limit.count(), waves.any_lanes, waves.full_exec,
                  kernarg ? int(*original.kernarg) : -1, original.liveness.registers.first_of({isa::File::agpr, 0, 1}));
  digest.add(original, 0, region);
  digest.text += "\n--";
  digest.add(candidate, 1, region);
  return sha256_hex(digest.text);
}

const Proof* Cache::find(const std::string& key) const {
  const auto found = known_.find(key);
  return found == known_.end() ? nullptr : &found->second;
}

void Cache::keep(const std::string& key, Proof proof) {
  if (known_.size() >= most) known_.clear();
  known_.insert_or_assign(key, std::move(proof));
}

} // namespace asmevo::prove
