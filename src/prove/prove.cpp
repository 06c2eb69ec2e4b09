#include "prove/prove.h"

#include "prove/cache.h"
#include "recover/recover.h"

#include <algorithm>

namespace asmevo::prove {
namespace {

using recover::Function;

/// The regions of one way to lay two functions beside each other.
class Regions {
public:
  Regions(Version& original, Version& candidate, const Correspondence& correspondence, const Policy& policy,
          Effort& left, Cache* cache)
      : original_(original), candidate_(candidate), correspondence_(correspondence), policy_(policy), left_(left),
        cache_(cache) {
    for (const Region& region : correspondence.regions)
      if (!same_items(original.program, candidate.program, region, correspondence)) differing_.push_back(region);
  }

  /// Where that fails and memory is written, once more with what is known of addresses.
  Proof prove() {
    Proof proof = prove_once();
    if (proof.holds() || !stores()) return proof;
    original_.follow_addresses(policy_.aliases);
    candidate_.follow_addresses(policy_.aliases);
    Proof again = prove_once();
    again.questions += proof.questions;
    return again;
  }

private:
  bool stores() const {
    return std::ranges::any_of(differing_, [&](const Region& region) {
      return std::any_of(original_.program.items.begin() + std::ptrdiff_t(region.first[0]),
                         original_.program.items.begin() + std::ptrdiff_t(region.last[0]),
                         [](const recover::Item& item) {
                           return analysis::is_instruction(item) && item.instruction.traits.may_store;
                         });
    });
  }

  Proof prove_once() {
    const bool idle_lanes_count = original_.looks_at_all_lanes() || candidate_.looks_at_all_lanes();
    if (idle_lanes_count) {
      Proof proof = prove_all({.any_lanes = true}, false);
      if (proof.holds()) return proof;
    }
    // Registers that are dead in active lanes may hold anything in lanes that never were active.
    Proof proof = prove_all({.any_lanes = false}, true);
    proof.full_waves |= idle_lanes_count;
    return proof;
  }

  /// `or_full`: regions that cannot be proved so may take for granted that waves begin with all lanes active.
  Proof prove_all(Waves waves, bool or_full) {
    Proof total{.outcome = Outcome::proved, .regions = differing_.size()};
    for (const Region& region : differing_) {
      Proof proof = prove_one(region, waves);
      total.questions += proof.questions;
      if (proof.holds()) continue;
      if (or_full) {
        // Where EXEC is the mask that the wave began with, it is all ones for a wave that began with all lanes.
        proof = prove_one(region, {.any_lanes = false, .full_exec = true});
        total.questions += proof.questions;
        total.full_waves = true;
        if (proof.holds()) continue;
      }
      proof.function = original_.function.name;
      proof.region = region;
      proof.regions = total.regions;
      proof.questions = total.questions;
      return proof;
    }
    return total;
  }

  Proof prove_one(const Region& region, const Waves& waves) {
    std::string key; // says nothing of what is known of addresses
    Cache* const cache = original_.follows_addresses() ? nullptr : cache_;
    if (cache) {
      key = region_key(original_, candidate_, correspondence_, region, policy_, waves);
      if (const Proof* known = cache->find(key)) return *known;
    }
    bool complete = true; // what was given up for want of effort may come out otherwise next time
    const auto run = [&] {
      Comparison comparison(original_, candidate_, correspondence_, region, policy_, waves, left_);
      Proof one = comparison.run();
      complete = !comparison.too_large();
      return one;
    };
    Proof proof = run();
    if (!proof.holds() && waves.full_exec) // the last attempt
      seek_counterexample(original_, candidate_, correspondence_, region, policy_, left_, proof);
    if (cache && complete) {
      Proof known = proof;
      known.questions = 0; // asked once
      cache->keep(key, std::move(known));
    }
    return proof;
  }

  Version &original_, &candidate_;
  const Correspondence& correspondence_;
  const Policy& policy_;
  Effort& left_;
  Cache* cache_;
  std::vector<Region> differing_;
};

Proof prove_function(const Program& a, const Function& f, const Program& b, const Function& g, const Policy& policy,
                     Effort& left, Cache* cache) {
  const std::vector<Correspondence> ways = correspondences(a, f, b, g);
  for (const Correspondence& way : ways)
    if (std::ranges::all_of(way.regions, [&](const Region& r) { return same_items(a, b, r, way); }))
      return {.outcome = Outcome::proved};
  Version original(a, f), candidate(b, g);
  Proof best;
  const auto give_up = [&](std::string reason) {
    return Proof{.outcome = Outcome::unknown, .reason = std::move(reason), .function = f.name};
  };
  for (Version* version : {&original, &candidate})
    if (auto reason = version->obscurity()) return give_up(*reason);
  const isa::RegisterRange accumulator{isa::File::agpr, 0, 1};
  if (original.liveness.registers.first_of(accumulator) != candidate.liveness.registers.first_of(accumulator))
    return give_up("the two versions share registers between VGPRs and AGPRs differently");
  for (const Correspondence& way : ways) {
    Proof proof = Regions(original, candidate, way, policy, left, cache).prove();
    if (proof.holds()) return proof;
    if (best.reason.empty()) best = std::move(proof);
  }
  return best;
}

/// Items of no function: data between them.
std::vector<std::string> remainder(const Program& program) {
  std::vector<bool> inside(program.items.size());
  for (const Function& f : program.functions)
    for (size_t i = f.first; i < f.last; ++i) inside[i] = true;
  std::vector<std::string> texts;
  for (size_t i = 0; i < program.items.size(); ++i)
    if (!inside[i] && program.items[i].kind != recover::ItemKind::label) texts.push_back(program.items[i].text);
  return texts;
}

/// A section of data that the two objects do not share; kernel descriptors are judged as part of the ABI.
std::optional<std::string> data_difference(const object::CodeObject& a, const object::CodeObject& b) {
  for (const object::Section& section : a.sections) {
    if (!section.name.starts_with(".rodata") && !section.name.starts_with(".data") && !section.name.starts_with(".bss"))
      continue;
    const object::Section* other = b.section(section.name);
    if (!other || other->size != section.size) return fmt::format("section {} has another size", section.name);
    const auto first = a.data(section), second = b.data(*other);
    std::vector<bool> described(section.size);
    for (const object::Kernel& kernel : a.kernels)
      for (uint64_t k = 0; k < 64; ++k)
        if (kernel.descriptor_address + k - section.address < section.size)
          described[kernel.descriptor_address + k - section.address] = true;
    for (size_t k = 0; k < first.size(); ++k)
      if (!described[k] && (k >= second.size() || first[k] != second[k]))
        return fmt::format("section {} differs at +{:#x}", section.name, k);
  }
  return std::nullopt;
}

/// What is no code and yet part of what the programs do.
std::optional<std::string> difference_around(const Program& original, const Program& candidate) {
  if (remainder(original) != remainder(candidate)) return "data or code outside of functions differs";
  if (!original.origin || !candidate.origin || original.origin == candidate.origin) return std::nullopt;
  if (auto difference = recover::abi_difference(*original.origin, *candidate.origin)) return difference;
  return data_difference(*original.origin, *candidate.origin);
}

} // namespace

std::string_view outcome_name(Outcome outcome) {
  constexpr std::string_view names[] = {"proved", "refuted", "unknown"};
  return names[size_t(outcome)];
}

Proof prove(const Program& original, const Program& candidate, const Policy& policy, std::string_view kernel,
            Cache* cache) {
  if (original.target != candidate.target) return {.outcome = Outcome::unknown, .reason = "the targets differ"};
  if (original.functions.size() != candidate.functions.size())
    return {.outcome = Outcome::unknown, .reason = "the functions differ"};
  if (auto difference = difference_around(original, candidate))
    return {.outcome = Outcome::unknown, .reason = *std::move(difference)};
  Proof total{.outcome = Outcome::proved};
  Effort left = policy.effort;
  for (const Function& f : original.functions) {
    if (!kernel.empty() && f.kernel >= 0 && f.name != kernel) continue;
    const auto g = std::ranges::find(candidate.functions, f.name, &Function::name);
    if (g == candidate.functions.end())
      return {.outcome = Outcome::unknown, .reason = "the candidate lacks it", .function = f.name};
    Proof proof = prove_function(original, f, candidate, *g, policy, left, cache);
    total.regions += proof.regions;
    total.questions += proof.questions;
    total.full_waves |= proof.full_waves;
    if (proof.holds()) continue;
    proof.regions = total.regions;
    proof.questions = total.questions;
    return proof;
  }
  return total;
}

Trial try_runs(const Program& original, const Program& candidate, std::string_view kernel, unsigned attempts) {
  Trial all{.ran = true};
  const Policy policy;
  Effort left = policy.effort;
  for (const Function& f : original.functions) {
    const auto g = std::ranges::find(candidate.functions, f.name, &Function::name);
    if ((!kernel.empty() && f.name != kernel) || g == candidate.functions.end()) continue;
    Version first(original, f), second(candidate, *g);
    if (first.obscurity() || second.obscurity()) return {};
    const Correspondence way = correspondences(original, f, candidate, *g).front();
    for (const Region& region : way.regions) {
      if (same_items(original, candidate, region, way)) continue;
      Comparison comparison(first, second, way, region, policy, {.any_lanes = false, .full_exec = true}, left);
      Trial one = comparison.try_runs(attempts);
      if (one.difference) return one;
      all.ran &= one.ran;
    }
  }
  return all;
}

} // namespace asmevo::prove
