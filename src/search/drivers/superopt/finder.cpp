#include "search/drivers/superopt/finder.h"

#include "prove/equality.h"
#include "search/drivers/superopt/derived.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace asmevo::search::superopt {
namespace {

using Index = uint32_t;
using Sources = std::array<Index, 4>;

/// Where a leaf is when an instruction reads it: vector instructions have room for one scalar register or literal.
enum class Home : uint8_t { vector, scalar, inline_constant, literal };

/// A value that is known: a leaf, a naming of leaves, or a step.
struct Known {
  Samples samples;
  Type type = Type::word;
  Home home = Home::vector;
  const Opcode* opcode = nullptr; // null: a leaf
  Sources sources{};
  uint16_t leaf = 0;

  bool is_constant() const { return home == Home::inline_constant || home == Home::literal; }
};

/// A last step that can be undone: what its hole must hold is known once the rest is.
struct Invertible {
  std::string_view name;
  uint8_t hole;
  enum Kind : uint8_t { additive, exclusive, negated } kind;
};
constexpr Invertible invertible[] = {
    {"v_add_u32", 0, Invertible::additive},       {"v_sub_u32", 0, Invertible::additive},
    {"v_sub_u32", 1, Invertible::negated},        {"v_xor_b32", 0, Invertible::exclusive},
    {"v_xnor_b32", 0, Invertible::exclusive},     {"v_not_b32", 0, Invertible::exclusive},
    {"v_lshl_add_u32", 2, Invertible::additive},  {"v_add3_u32", 0, Invertible::additive},
    {"v_xad_u32", 2, Invertible::additive},       {"v_mad_u32_u24", 2, Invertible::additive},
    {"v_lshl_add_u64", 2, Invertible::additive},  {"s_add_u32", 0, Invertible::additive},
    {"s_sub_u32", 0, Invertible::additive},       {"s_sub_u32", 1, Invertible::negated},
    {"s_xor_b32", 0, Invertible::exclusive},      {"s_xnor_b32", 0, Invertible::exclusive},
    {"s_not_b32", 0, Invertible::exclusive},      {"s_lshl1_add_u32", 1, Invertible::additive},
    {"s_lshl2_add_u32", 1, Invertible::additive}, {"s_lshl3_add_u32", 1, Invertible::additive},
    {"s_lshl4_add_u32", 1, Invertible::additive},
};

/// The last step of a candidate but for one source.
struct Goal {
  const Opcode* opcode;
  Sources sources;
  uint8_t hole;
};

struct Match {
  Cost cost;
  Sequence sequence;
};

class Search {
public:
  Search(const Sequence& window, const Opcodes& opcodes, const Bounds& bounds)
      : window_(window), opcodes_(opcodes), bounds_(bounds), best_(cost_of(window)) {
    for (const Step& step : window.steps)
      if (step.opcode->unit == Unit::vector) unit_ = Unit::vector;
    take_samples();
  }

  Finding run() {
    for (const Opcode* opcode : opcodes_.replacements(unit_)) {
      least_issue_ = std::min(least_issue_, opcode->issue);
      least_latency_ = std::min(least_latency_, opcode->latency);
    }
    begin();
    find_goals();
    if (worth(1)) one_step();
    settle();
    if (worth(2)) two_steps();
    settle();
    if (worth(3)) joined_steps();
    settle();
    return std::move(finding_);
  }

private:
  /// Whether so many steps can cost less than the best so far.
  bool worth(size_t steps) const {
    // One may be a copy, which costs half.
    return Cost{least_issue_ * (double(steps) - 0.5), least_latency_, steps} < best_ && !spent();
  }
  bool spent() const { return finding_.candidates >= bounds_.candidates; }

  /// Values of the leaves, and of the result: the terms of the window in one possible world.
  void take_samples() {
    prove::Terms terms;
    std::vector<prove::Id> leaves;
    for (size_t k = 0; k < window_.leaves.size(); ++k) {
      const Leaf& leaf = window_.leaves[k];
      const uint8_t width = leaf.type == Type::wide ? 64 : leaf.type == Type::bit ? 1 : 32;
      leaves.push_back(leaf.constant && !leaf.abstract ? terms.constant(32, leaf.value)
                                                       : terms.symbol(width, fmt::format("leaf {}", k), false));
    }
    const prove::Id result = term_of(window_, terms, leaves);
    prove::World world(terms, terms.symbol(32, "lane", false), 0x5eed);
    const auto sampled = [&](prove::Id id) {
      Samples samples;
      for (size_t k = 0; k < sample_count; ++k) samples.of[k] = world.value(id, unsigned(k));
      return samples;
    };
    for (prove::Id leaf : leaves) leaf_samples_.push_back(sampled(leaf));
    wanted_ = sampled(result);
    wanted_type_ = window_.type_of(window_.result);
  }

  uint64_t hash(const Samples& samples, Type type) const {
    uint64_t value = uint64_t(type);
    for (size_t k = 0; k < bounds_.samples; ++k) {
      value = (value ^ samples.of[k]) * 0x9e3779b97f4a7c15;
      value ^= value >> 29;
    }
    return value;
  }
  bool agrees(const Samples& a, const Samples& b) const {
    return std::equal(a.of.begin(), a.of.begin() + ptrdiff_t(bounds_.samples), b.of.begin());
  }

  Home home_of(const Leaf& leaf) const {
    if (leaf.constant) return leaf.abstract || is_inline(leaf.value) ? Home::inline_constant : Home::literal;
    return leaf.scalar || leaf.type == Type::bit ? Home::scalar : Home::vector;
  }

  Index keep(Known known) {
    by_hash_.try_emplace(hash(known.samples, known.type), Index(bank_.size()));
    bank_.push_back(std::move(known));
    return Index(bank_.size() - 1);
  }

  void keep_constant(uint32_t value, uint16_t leaf, Home home, const Samples* samples) {
    Known known{.home = home, .leaf = leaf};
    if (samples)
      known.samples = *samples;
    else
      known.samples.of.fill(value);
    const Index word = keep(known);
    (leaf < window_.leaves.size() ? core_ : extra_).push_back(word);
    if (!has_wide_ || home == Home::literal) return;
    for (uint64_t& sample : known.samples.of) sample = uint64_t(int64_t(int32_t(sample)));
    known.type = Type::wide;
    const Index wide = keep(known);
    (leaf < window_.leaves.size() ? core_ : extra_).push_back(wide);
  }

  /// Leaves, what they are named as, and constants that follow from those of the window.
  void begin() {
    for (const Leaf& leaf : window_.leaves) has_wide_ |= leaf.type == Type::wide;
    for (size_t k = 0; k < window_.steps.size(); ++k) has_wide_ |= window_.type_of(window_.value_of(k)) == Type::wide;
    std::unordered_map<uint16_t, Index> named; // by value of the window
    for (uint16_t k = 0; k < window_.leaves.size(); ++k) {
      const Leaf& leaf = window_.leaves[k];
      leaves_.push_back(leaf);
      if (leaf.constant) {
        keep_constant(leaf.value, k, home_of(leaf), &leaf_samples_[k]);
        continue;
      }
      if (leaf.type == Type::bit && leaf.scalar) continue; // SCC: whatever replaces the window may overwrite it
      core_.push_back(keep({.samples = leaf_samples_[k], .type = leaf.type, .home = home_of(leaf), .leaf = k}));
      named[k] = core_.back();
    }
    for (size_t k = 0; k < window_.steps.size(); ++k) name(window_.steps[k], window_.value_of(k), named);
    const Derived derived = derived_constants(window_);
    for (uint32_t value : derived.factors) add_derived(value, core_);
    for (uint32_t value : derived.others) add_derived(value, extra_);
    add_results();
  }

  /// A result that is one of a few numbers: a choice between them.
  void add_results() {
    constexpr size_t few = 3;
    const bool open = std::ranges::any_of(window_.leaves, &Leaf::abstract);
    const std::set<uint64_t> values(wanted_.of.begin(), wanted_.of.end());
    if (open || wanted_type_ != Type::word || values.size() > few) return;
    for (uint64_t value : values) add_derived(uint32_t(value), extra_);
  }

  void add_derived(uint32_t value, std::vector<Index>& list) {
    const bool known = std::ranges::any_of(
        leaves_, [&](const Leaf& leaf) { return leaf.constant && !leaf.abstract && leaf.value == value; });
    if (known) return;
    leaves_.push_back({.constant = true, .value = value});
    const std::vector<Index> before = extra_;
    keep_constant(value, uint16_t(leaves_.size() - 1), home_of(leaves_.back()), nullptr);
    if (&list == &extra_) return;
    core_.insert(core_.end(), extra_.begin() + ptrdiff_t(before.size()), extra_.end());
    extra_ = before;
  }

  /// A naming whose parts are leaves is a leaf too.
  void name(const Step& step, uint16_t value, std::unordered_map<uint16_t, Index>& named) {
    if (step.opcode->unit != Unit::naming) return;
    Known known{.type = step.opcode->result, .opcode = step.opcode};
    for (uint8_t k = 0; k < step.opcode->count; ++k) {
      const auto part = named.find(step.sources[k]);
      if (part == named.end()) return;
      known.sources[k] = part->second;
      if (bank_[part->second].home == Home::scalar) known.home = Home::scalar;
    }
    for (size_t k = 0; k < sample_count; ++k) {
      const uint64_t first = bank_[known.sources[0]].samples.of[k];
      known.samples.of[k] = step.opcode == opcodes_.pair  ? first | bank_[known.sources[1]].samples.of[k] << 32
                            : step.opcode == opcodes_.low ? uint32_t(first)
                                                          : first >> 32;
    }
    core_.push_back(keep(known));
    named[value] = core_.back();
  }

  /// Whether an instruction can have these sources.
  bool encodable(const Opcode& opcode, const Sources& sources) const {
    size_t literals = 0, scalars = 0, vectors = 0;
    Index scalar = ~Index{0}, literal = ~Index{0};
    uint8_t literal_at = 0;
    for (uint8_t k = 0; k < opcode.count; ++k) {
      const Known& source = bank_[sources[k]];
      if (source.home == Home::literal) {
        literals += sources[k] != literal;
        literal = sources[k];
        literal_at = k;
      } else if (source.home == Home::scalar) {
        scalars += sources[k] != scalar;
        scalar = sources[k];
      } else if (source.home == Home::vector) {
        ++vectors;
      }
    }
    if (unit_ == Unit::scalar) return literals <= 1;
    if (literals == 0) return scalars <= 1;
    const bool first = literal_at == 0 || (opcode.commutes && literal_at == 1);
    return opcode.short_form && literals == 1 && scalars == 0 && first && vectors + 1 == opcode.count;
  }

  // ---- candidates ----

  void add_steps(Index index, Sequence& sequence, std::unordered_map<Index, uint16_t>& values) const {
    if (values.contains(index)) return;
    const Known& known = bank_[index];
    if (!known.opcode) {
      values[index] = known.leaf;
      return;
    }
    Step step{.opcode = known.opcode};
    for (uint8_t k = 0; k < known.opcode->count; ++k) {
      add_steps(known.sources[k], sequence, values);
      step.sources[k] = values[known.sources[k]];
    }
    sequence.steps.push_back(step);
    values[index] = sequence.value_of(sequence.steps.size() - 1);
  }

  /// A sequence whose last steps are these; a source of `hole` in the second one is the result of the first.
  Sequence sequence_of(const Opcode* opcode, const Sources& sources, const Goal* goal) const {
    Sequence sequence{.leaves = leaves_};
    std::unordered_map<Index, uint16_t> values;
    const auto add = [&](const Opcode* last, const Sources& of, int hole, uint16_t in_hole) {
      Step step{.opcode = last};
      for (uint8_t k = 0; k < last->count; ++k) {
        if (int(k) == hole) {
          step.sources[k] = in_hole;
          continue;
        }
        add_steps(of[k], sequence, values);
        step.sources[k] = values[of[k]];
      }
      sequence.steps.push_back(step);
      return sequence.value_of(sequence.steps.size() - 1);
    };
    // Leaves that are used first: namings come before the steps.
    if (goal)
      for (uint8_t k = 0; k < goal->opcode->count; ++k)
        if (k != goal->hole) add_steps(goal->sources[k], sequence, values);
    sequence.result = add(opcode, sources, -1, 0);
    if (goal) sequence.result = add(goal->opcode, goal->sources, goal->hole, sequence.result);
    return sequence;
  }

  void note(Sequence sequence) {
    const Cost cost = cost_of(sequence);
    if (cost < best_) matches_.push_back({cost, std::move(sequence)});
  }

  /// One step over known values: whether it is the result, or what a goal lacks.
  const Samples& compute(const Opcode& opcode, const Sources& sources) {
    const Samples* from[4];
    for (uint8_t k = 0; k < opcode.count; ++k) from[k] = &bank_[sources[k]].samples;
    opcode.compute(from, made_);
    ++finding_.candidates;
    return made_;
  }

  /// Whether it agreed with what is wanted.
  void examine(const Opcode& opcode, const Sources& sources, const Samples& samples, uint64_t hashed) {
    if (opcode.result == wanted_type_ && agrees(samples, wanted_)) note(sequence_of(&opcode, sources, nullptr));
    if (const auto goals = goals_.find(hashed); goals != goals_.end())
      for (const Goal& goal : goals->second) note(sequence_of(&opcode, sources, &goal));
  }

  /// Calls visit(sources) for all sources of an opcode; those of `fixed` positions are `value`.
  template <class Visit>
  void each_sources(const Opcode& opcode, std::span<const Index> from, unsigned fixed, Index value, Visit visit) {
    Sources sources{};
    const auto choose = [&](auto& self, uint8_t k) -> void {
      if (k == opcode.count) {
        bool constant = true;
        for (uint8_t s = 0; s < opcode.count; ++s) constant &= bank_[sources[s]].is_constant();
        const bool mirrored = opcode.commutes && sources[0] > sources[1];
        if (!constant && !(mirrored && fixed == 0) && encodable(opcode, sources)) visit(sources);
        return;
      }
      if (fixed >> k & 1) {
        if (bank_[value].type != opcode.sources[k]) return;
        sources[k] = value;
        return self(self, uint8_t(k + 1));
      }
      for (const Index index : from) {
        if (spent()) return;
        if (bank_[index].type != opcode.sources[k]) continue;
        sources[k] = index;
        self(self, uint8_t(k + 1));
      }
    };
    choose(choose, 0);
  }

  void find_goals() {
    for (const Invertible& last : invertible) {
      const Opcode* opcode = opcodes_.named(last.name);
      if (!opcode || opcode->unit != unit_ || !opcode->evaluate || opcode->result != wanted_type_) continue;
      const Index zero = keep({.type = opcode->result, .home = unit_ == Unit::vector ? Home::vector : Home::scalar});
      each_sources(*opcode, core_, 1u << last.hole, zero, [&](const Sources& sources) {
        const Samples rest = compute(*opcode, sources);
        Samples needed;
        for (size_t k = 0; k < sample_count; ++k) {
          const uint64_t wanted = wanted_.of[k], other = rest.of[k];
          needed.of[k] = last.kind == Invertible::additive    ? wanted - other
                         : last.kind == Invertible::exclusive ? wanted ^ other
                                                              : other - wanted;
          if (opcode->result == Type::word) needed.of[k] = uint32_t(needed.of[k]);
        }
        goals_[hash(needed, opcode->result)].push_back({opcode, sources, last.hole});
      });
    }
  }

  void one_step() {
    std::vector<Index> all = core_;
    all.insert(all.end(), extra_.begin(), extra_.end());
    first_made_ = Index(bank_.size());
    // First what needs no derived constants, so that it is built on first.
    for (const std::vector<Index>* from : {&core_, &all})
      for (const Opcode* opcode : opcodes_.replacements(unit_))
        each_sources(*opcode, *from, 0, 0, [&](const Sources& sources) {
          const Samples samples = compute(*opcode, sources);
          const uint64_t hashed = hash(samples, opcode->result);
          if (opcode->result == wanted_type_ && agrees(samples, wanted_)) note(sequence_of(opcode, sources, nullptr));
          const auto [known, fresh] = by_hash_.try_emplace(hashed, Index(bank_.size()));
          if (!fresh) return;
          if (const auto goals = goals_.find(hashed); goals != goals_.end())
            for (const Goal& goal : goals->second) note(sequence_of(opcode, sources, &goal));
          bank_.push_back({.samples = samples,
                           .type = opcode->result,
                           .home = unit_ == Unit::vector ? Home::vector : Home::scalar,
                           .opcode = opcode,
                           .sources = sources});
        });
    last_made_ = Index(bank_.size());
  }

  void two_steps() {
    for (Index made = first_made_; made < last_made_ && !spent(); ++made) {
      if (2 * least_issue_ > best_.issue || bank_[made].opcode->issue + least_issue_ > best_.issue) continue;
      for (const Opcode* opcode : opcodes_.replacements(unit_))
        for (unsigned fixed = 1; fixed < 1u << opcode->count; ++fixed) {
          if (opcode->commutes && (fixed & 3) == 2) continue; // the mirror image
          each_sources(*opcode, core_, fixed, made, [&](const Sources& sources) {
            const Samples& samples = compute(*opcode, sources);
            examine(*opcode, sources, samples, hash(samples, opcode->result));
          });
        }
    }
  }

  /// Two values that were made in one step each, joined by a third.
  void joined_steps() {
    const auto named = [&](std::string_view vector, std::string_view scalar) {
      return opcodes_.named(unit_ == Unit::vector ? vector : scalar);
    };
    const bool word = wanted_type_ == Type::word;
    const Opcode* add = word ? named("v_add_u32", "s_add_u32") : nullptr;
    const Opcode* exclusive = word ? named("v_xor_b32", "s_xor_b32") : nullptr;
    for (Index a = first_made_; a < last_made_ && !spent(); ++a) {
      if (bank_[a].type != wanted_type_) continue;
      if (add) join(*add, a, [](uint64_t wanted, uint64_t one) { return wanted - one; });
      if (exclusive) join(*exclusive, a, [](uint64_t wanted, uint64_t one) { return wanted ^ one; });
    }
    if (const Opcode* both = word ? named("v_or_b32", "s_or_b32") : nullptr)
      join_bits(*both, [](uint64_t one, uint64_t wanted) { return (one & ~wanted) == 0; });
    if (const Opcode* common = word ? named("v_and_b32", "s_and_b32") : nullptr)
      join_bits(*common, [](uint64_t one, uint64_t wanted) { return (wanted & ~one) == 0; });
  }

  template <class Needed> void join(const Opcode& opcode, Index a, Needed needed_of) {
    Samples needed;
    for (size_t k = 0; k < sample_count; ++k) needed.of[k] = uint32_t(needed_of(wanted_.of[k], bank_[a].samples.of[k]));
    ++finding_.candidates;
    const auto found = by_hash_.find(hash(needed, wanted_type_));
    if (found != by_hash_.end() && found->second >= first_made_ && found->second <= a)
      note(sequence_of(&opcode, {found->second, a}, nullptr));
  }

  template <class Fits> void join_bits(const Opcode& opcode, Fits fits) {
    constexpr size_t most = 200;
    std::vector<Index> parts;
    for (Index a = first_made_; a < last_made_ && parts.size() < most; ++a) {
      bool all = bank_[a].type == wanted_type_;
      for (size_t k = 0; all && k < bounds_.samples; ++k) all = fits(bank_[a].samples.of[k], wanted_.of[k]);
      if (all) parts.push_back(a);
    }
    for (size_t i = 0; i < parts.size() && !spent(); ++i)
      for (size_t j = 0; j < i; ++j) {
        const Sources sources{parts[j], parts[i]};
        if (agrees(compute(opcode, sources), wanted_)) note(sequence_of(&opcode, sources, nullptr));
      }
  }

  /// Asks for proofs of what agreed with all samples, the cheapest first.
  void settle() {
    std::ranges::stable_sort(matches_, {}, &Match::cost);
    for (Match& match : matches_) {
      if (proofs_ == bounds_.proofs || !(match.cost < best_)) break;
      ++proofs_;
      if (!proved_equal(window_, match.sequence, bounds_.proof_limit)) {
        ++finding_.refuted;
        continue;
      }
      best_ = match.cost;
      finding_.replacement = without_unused_leaves(match.sequence, window_.leaves.size());
      break; // what follows costs no less
    }
    matches_.clear();
  }

  const Sequence& window_;
  const Opcodes& opcodes_;
  const Bounds& bounds_;
  Cost best_;
  Unit unit_ = Unit::scalar;
  double least_issue_ = 1e9, least_latency_ = 1e9;
  bool has_wide_ = false;
  std::vector<Samples> leaf_samples_;
  Samples wanted_, made_;
  Type wanted_type_ = Type::word;
  std::vector<Leaf> leaves_; // the window's, then derived constants
  std::vector<Known> bank_;
  std::vector<Index> core_, extra_; // leaves that longer sequences begin with; derived constants for short ones
  std::unordered_map<uint64_t, Index> by_hash_;
  std::unordered_map<uint64_t, std::vector<Goal>> goals_;
  Index first_made_ = 0, last_made_ = 0;
  std::vector<Match> matches_;
  size_t proofs_ = 0;
  Finding finding_;
};

} // namespace

bool proved_equal(const Sequence& window, const Sequence& replacement, std::chrono::milliseconds limit) {
  prove::Terms terms;
  std::vector<prove::Id> leaves = leaf_terms(replacement, terms);
  const prove::Id candidate = term_of(replacement, terms, leaves);
  leaves.resize(window.leaves.size());
  const prove::Id original = term_of(window, terms, leaves);
  const prove::Id lane = terms.symbol(32, "lane", false);
  prove::Equality equality(terms, lane, limit);
  return equality.compare(original, candidate) == prove::Answer::equal;
}

Finding find_cheaper(const Sequence& window, const Opcodes& opcodes, const Bounds& bounds) {
  return Search(window, opcodes, bounds).run();
}

} // namespace asmevo::search::superopt
