// K0 under examination.
//
// K0 is the oracle, not a saint. It may have a race that never shows on hardware, add floats with atomics in any order,
// or read a buffer that the launch calls a result. Each of these would later be held against innocent candidates, or
// hide guilty ones. So K0 runs each case in every way that candidates will, and whatever changes its answer is found
// out and either told (a note), allowed for (a wider bound, a way that is not asked) or refused (the launch is wrong).
#include "oracle/discrimination.h"
#include "oracle/reference.h"

#include <algorithm>
#include <set>

namespace asmevo::oracle {

namespace {

using machine::Schedule;

/// K0's own variation up to this multiple of the bound is rounding (atomics in another order), beyond it is a race.
constexpr double largest_widening = 64;

struct Difference {
  std::string buffer;
  Comparison comparison;
  std::string text;
};

uint64_t bytes_of(const launch::Case& c) {
  uint64_t bytes = 0;
  for (const launch::Buffer& buffer : c.buffers) bytes += buffer.bytes();
  return bytes;
}

/// Running it once takes a noticeable part of a second.
bool is_large(const launch::Case& c, uint64_t instructions) {
  constexpr uint64_t many = 4'000'000, much = uint64_t{32} << 20;
  return instructions >= many || bytes_of(c) >= much;
}

bool same_fill(const launch::Fill& a, const launch::Fill& b) {
  return a.kind == b.kind && a.a == b.a && a.b == b.b && a.path.empty() && b.path.empty() && a.pointers.empty() &&
         b.pointers.empty();
}

/// Whether two cases differ in nothing but their names and the seed of their random fills.
bool alike(const launch::Case& a, const launch::Case& b) {
  const auto same_buffer = [](const launch::Buffer& x, const launch::Buffer& y) {
    return x.name == y.name && x.dtype == y.dtype && x.shape == y.shape && x.role == y.role &&
           same_fill(x.fill, y.fill);
  };
  const auto same_argument = [](const launch::Argument& x, const launch::Argument& y) {
    return x.offset == y.offset && x.buffer == y.buffer && x.buffer_offset == y.buffer_offset && x.value == y.value;
  };
  return a.kernel == b.kernel && a.workgroups == b.workgroups && a.workgroup_size == b.workgroup_size &&
         a.work_items == b.work_items && a.dynamic_lds == b.dynamic_lds && !a.is_fixed() && !b.is_fixed() &&
         a.tolerance == b.tolerance && std::ranges::equal(a.buffers, b.buffers, same_buffer) &&
         std::ranges::equal(a.arguments, b.arguments, same_argument);
}

class Examination {
public:
  Examination(device::Device& device, Reference::Impl& reference, const Options& options, size_t index)
      : device_(device), reference_(reference), options_(options), index_(index), case_(reference.launch.cases[index]),
        facts_(reference.facts[index]) {}

  /// Buffers of this case in which K0 leaves something that can be compared.
  Result<std::set<std::string>> run() {
    for (const launch::Buffer& buffer : case_.buffers)
      if (launch::is_result(buffer.role)) facts_.tolerance[buffer.name] = reference_.policy.of(case_, buffer);
    facts_.leader = index_;
    facts_.special = std::ranges::any_of(case_.buffers, [](const launch::Buffer& buffer) {
      return buffer.role != launch::Role::out && buffer.fill.kind == launch::FillKind::special;
    });
    AE_TRY(const device::Outcome first, launch(candidate_ways()[0]));
    count(first.fidelity);
    facts_.instructions = first.instructions;
    if (follow_another()) {
      base_ = reference_.keep(index_, candidate_ways()[0], options_, first);
      return examine_bounds();
    }
    AE_TRY(facts_.steady, examine_all_at_once(first));
    if (!facts_.steady) {
      AE_CHECK(examine_surroundings(first));
      AE_CHECK(examine_firmware());
      AE_CHECK(examine_schedules());
    }
    AE_TRY(std::set<std::string> useful, examine_bounds());
    AE_CHECK(examine_inputs());
    AE_CHECK(examine_crowd());
    return useful;
  }

private:
  Result<device::Outcome> launch(const Way& way) {
    return launch_original(device_, reference_, case_for(case_, way, options_.seed),
                           options_for(case_, way, options_.seed), options_);
  }

  uint64_t poison_of(const Way& way) const { return options_for(case_, way, options_.seed).poison_seed; }

  void count(const machine::Fidelity& fidelity) {
    machine::Fidelity& total = reference_.fidelity;
    total.exact += fidelity.exact;
    total.approximate += fidelity.approximate;
    std::set<std::string> names(total.approximate_mnemonics.begin(), total.approximate_mnemonics.end());
    names.insert(fidelity.approximate_mnemonics.begin(), fidelity.approximate_mnemonics.end());
    total.approximate_mnemonics.assign(names.begin(), names.end());
  }

  /// An element is untouched when it still holds the poison after two runs with different poison.
  void find_untouched(const device::Outcome& a, const Way& way_a, const device::Outcome& b, const Way& way_b) {
    for (const launch::Buffer& buffer : case_.buffers) {
      if (!launch::is_result(buffer.role)) continue;
      ElementSet in_a = poisoned_elements(buffer, a.buffers.at(buffer.name), poison_of(way_a));
      if (in_a.empty()) continue;
      ElementSet in_b = poisoned_elements(buffer, b.buffers.at(buffer.name), poison_of(way_b)), both;
      for (uint64_t i = 0; i < buffer.elements(); ++i)
        if (in_a.contains(i) && in_b.contains(i)) both.insert(i, buffer.elements());
      if (!both.empty()) facts_.untouched[buffer.name] = std::move(both);
    }
  }

  /// The first result in which `outcome` differs from the base run, untouched elements aside.
  std::optional<Difference> difference(const device::Outcome& outcome) const { return difference(outcome, *base_); }
  std::optional<Difference> difference(const device::Outcome& outcome, const OriginalRun& base) const {
    for (const auto& [name, expected] : base.results) {
      std::span<const uint8_t> got = outcome.buffers.at(name);
      Bytes with_base_poison;
      if (!expected.untouched.empty()) {
        with_base_poison.assign(got.begin(), got.end());
        const launch::DType dtype = expected.buffer->dtype;
        for (uint64_t i = 0; i < expected.buffer->elements(); ++i)
          if (expected.untouched.contains(i))
            launch::store_element(dtype, with_base_poison.data(), i,
                                  launch::load_element(dtype, expected.bytes.data(), i));
        got = with_base_poison;
      }
      Comparison comparison = compare(expected, got, facts_.tolerance.at(name));
      if (comparison.passed()) continue;
      std::string text = fmt::format("{} of {} elements of `{}`", std::max(comparison.mismatches, comparison.differing),
                                     expected.buffer->elements(), name);
      return Difference{name, std::move(comparison), std::move(text)};
    }
    return std::nullopt;
  }

  std::string place() const { return fmt::format("case \"{}\"", case_.name); }

  /// A large case that differs from an earlier one in nothing but its random input has that one's facts. Those of one
  /// that varies are its own, however: by how much may depend on the input.
  bool follow_another() {
    if (!is_large(case_, facts_.instructions)) return false;
    for (size_t k = 0; k < index_; ++k) {
      const CaseFacts& facts = reference_.facts[k];
      if (facts.leader != k || !facts.steady || !is_large(reference_.launch.cases[k], facts.instructions) ||
          !alike(reference_.launch.cases[k], case_))
        continue;
      facts_.leader = k;
      return true;
    }
    return false;
  }

  /// Whatever may change the answer of a saint changes here; most kernels are, and then need not be asked one by one.
  Result<bool> examine_all_at_once(const device::Outcome& first) {
    const Way surroundings{.name = "all else",
                           .poison = 4,
                           .undefined = 4,
                           .placement = case_.is_fixed() ? 0u : 1u,
                           .schedule = Schedule::run_to_barrier};
    const Way turns{.name = "other turns", .schedule = Schedule::seeded_random, .preload = false};
    const Way late{.name = "late loads", .schedule = Schedule::late_loads};
    for (const Way* way : {&surroundings, &turns, &late}) {
      AE_TRY(device::Outcome outcome, try_out(*way));
      if (outcome.status != machine::Status::completed || !outcome.guard_damage.empty() ||
          !outcome.read_only_damage.empty())
        return false;
      if (way == &surroundings) {
        find_untouched(first, candidate_ways()[0], outcome, surroundings);
        base_ = reference_.keep(index_, candidate_ways()[0], options_, first);
      }
      if (difference(outcome)) return false;
    }
    if (case_.is_fixed()) facts_.any_placement = false;
    return true;
  }

  /// Poison first, then addresses: results that depend on what memory held before cannot be compared at all.
  Result<void> examine_surroundings(const device::Outcome& first) {
    const Way base = candidate_ways()[0], poison{.name = "other poison", .poison = 4};
    AE_TRY(device::Outcome second, launch(poison));
    facts_.untouched.clear();
    find_untouched(first, base, second, poison);
    base_ = reference_.keep(index_, base, options_, first);
    if (auto found = difference(second))
      return fail(
          "{}: on {} of {}, {} depend on what results, scratch and guards held before the run; if the kernel reads "
          "`{}`, give it the role \"inout\"",
          reference_.original.object->path, place(), reference_.launch.path, found->text, found->buffer);
    AE_TRY(device::Outcome undefined, launch({.name = "other register contents", .undefined = 4}));
    if (auto found = difference(undefined)) {
      facts_.any_undefined = false;
      reference_.notes.push_back(
          fmt::format("K0 on {}: {} depend on registers or LDS that nothing has written; candidates "
                      "are judged with the same contents",
                      place(), found->text));
    }
    if (case_.is_fixed()) {
      facts_.any_placement = false;
      return {};
    }
    AE_TRY(device::Outcome moved, launch({.name = "buffers moved", .placement = 1}));
    if (auto found = difference(moved)) {
      facts_.any_placement = false;
      reference_.notes.push_back(
          fmt::format("K0 on {}: {} depend on the addresses of buffers; candidates are judged at the "
                      "same addresses",
                      place(), found->text));
    }
    return {};
  }

  /// K0 in a way in which it may fail, with the budget of a candidate.
  Result<device::Outcome> try_out(const Way& way) {
    device::LaunchOptions launch_options = options_for(case_, way, options_.seed);
    launch_options.run.stop = options_.stop;
    launch_options.run.instruction_budget = reference_.policy.budget(facts_.instructions);
    AE_TRY(device::Outcome outcome,
           device_.launch(reference_.original, case_for(case_, way, options_.seed), launch_options));
    if (outcome.status == machine::Status::stopped) return fail("{}: stopped", reference_.original.object->path);
    return outcome;
  }

  /// A kernel that asks for preloaded arguments has a prologue for firmware that does not know of it, or should have.
  Result<void> examine_firmware() {
    const auto& kernels = reference_.original.object->kernels;
    if (std::ranges::none_of(kernels, [](const auto& k) { return k.descriptor.kernarg_preload() & 0x7f; })) return {};
    Way way{.name = "no arguments preloaded", .preload = false};
    AE_TRY(device::Outcome outcome, try_out(way));
    if (outcome.status == machine::Status::completed && !difference(outcome)) return {};
    facts_.any_firmware = false;
    reference_.notes.push_back(
        fmt::format("K0 on {}: fails on firmware that preloads no kernel arguments; candidates are "
                    "judged on firmware that does",
                    place()));
    return {};
  }

  /// K0 cannot do what no candidate is then asked for.
  void excuse(Schedule schedule, std::string_view what, std::string_view when) {
    const bool late = schedule == Schedule::late_loads;
    (late ? facts_.late_loads : facts_.any_schedule) = false;
    reference_.notes.push_back(
        fmt::format("K0 on {}: {} when {}; candidates are judged {}", place(), what, when,
                    late ? "with loads that finish at once only" : "under the default schedule only"));
  }

  Result<void> examine_schedules() {
    for (auto [schedule, name] :
         {std::pair{Schedule::run_to_barrier, "waves run to barriers"},
          std::pair{Schedule::seeded_random, "waves take turns at random"},
          std::pair{Schedule::late_loads, "results of loads arrive only when its waits force them"}}) {
      Way way{.name = name, .schedule = schedule};
      AE_TRY(device::Outcome outcome, try_out(way));
      if (outcome.status != machine::Status::completed) {
        excuse(schedule, "does not finish", name);
        continue;
      }
      while (auto found = difference(outcome)) {
        double excess = found->comparison.largest_excess;
        const launch::Buffer& buffer = *base_->results.at(found->buffer).buffer;
        // Another order of sums rounds differently; late results come in the same order.
        const bool rounding =
            schedule != Schedule::late_loads && launch::is_floating(buffer.dtype) && excess <= largest_widening;
        if (!rounding) {
          excuse(schedule, found->text + " change", name);
          break;
        }
        widen(buffer, std::max(2 * excess, 2.0));
      }
    }
    return {};
  }

  void widen(const launch::Buffer& buffer, double factor) {
    launch::Tolerance& tolerance = facts_.tolerance[buffer.name];
    tolerance = scaled(tolerance, factor);
    reference_.notes.push_back(fmt::format("K0 on {}: `{}` varies with the schedule; its bound is widened {:.3g} times",
                                           place(), buffer.name, factor));
  }

  Result<std::set<std::string>> examine_bounds() {
    std::set<std::string> useful;
    for (const auto& [name, expected] : base_->results) {
      launch::Tolerance& tolerance = facts_.tolerance[name];
      auto tight = tightened(expected, tolerance);
      if (!tight)
        return fail("{}: on {} of {}, the bound for `{}` would let {} pass, and so would a ten-thousandth of it",
                    reference_.original.object->path, place(), reference_.launch.path, name,
                    discriminate(expected, tolerance).weakness());
      if (*tight != tolerance) {
        reference_.notes.push_back(
            fmt::format("{}: the bound for `{}` would let {} pass; it is tightened to {:.3g} + {:.3g} * "
                        "|expected|",
                        place(), name, discriminate(expected, tolerance).weakness(),
                        tight->absolute + tight->scaled * expected.rms, tight->relative));
        tolerance = *tight;
      }
      Discrimination d = discriminate(expected, tolerance);
      if (d.all_zero) reference_.notes.push_back(fmt::format("{}: `{}` is all zeros", place(), name));
      if (!d.nothing && !d.all_zero) useful.insert(name);
    }
    return useful;
  }

  Result<void> examine_inputs() {
    AE_TRY(auto other, reference_.run(device_, index_, reference_.allowed(index_, candidate_ways()[1]), options_));
    bool same = true, random = false;
    for (const auto& [name, expected] : base_->results)
      same &= std::ranges::equal(expected.bytes, other->results.at(name).bytes);
    for (const launch::Buffer& buffer : case_.buffers) random |= launch::is_random(buffer.fill.kind);
    if (same && random)
      reference_.notes.push_back(fmt::format("{}: other random inputs give the same results", place()));
    return {};
  }

  /// Indices and counts that a kernel takes from values may be good for few special ones and not for many.
  Result<void> examine_crowd() {
    if (!facts_.special) return {};
    const Way& way = *std::ranges::find_if(candidate_ways(), &Way::crowded);
    AE_TRY(device::Outcome outcome, try_out(way));
    const bool ends = outcome.status == machine::Status::completed && outcome.guard_damage.empty() &&
                      outcome.read_only_damage.empty();
    std::optional<Difference> found;
    if (ends) {
      const auto run = reference_.keep(index_, way, options_, std::move(outcome));
      Way turns = reference_.allowed(index_, way);
      turns.schedule = facts_.any_schedule ? Schedule::seeded_random : Schedule::round_robin;
      AE_TRY(device::Outcome other, try_out(turns));
      found = difference(other, *run);
    }
    if (ends && !found) return {};
    facts_.any_crowd = false;
    reference_.notes.push_back(fmt::format("K0 on {}: {} when special values are many; candidates are judged on few",
                                           place(), found ? found->text + " change with the schedule" : "fails"));
    return {};
  }

  device::Device& device_;
  Reference::Impl& reference_;
  const Options& options_;
  size_t index_;
  const launch::Case& case_;
  CaseFacts& facts_;
  std::shared_ptr<const OriginalRun> base_;
};

/// A scalar that never changes may be compiled into a candidate: true on all cases, and a fact to tell.
void note_constant_scalars(Reference::Impl& reference) {
  const std::vector<launch::Case>& cases = reference.launch.cases;
  std::vector<std::string> constant;
  for (const launch::Argument& a : cases[0].arguments) {
    bool changed_by_ways = a.dtype && launch::is_floating(*a.dtype);
    if (a.value.empty() || changed_by_ways) continue;
    bool varies = std::ranges::any_of(cases, [&](const launch::Case& c) {
      return std::ranges::none_of(
          c.arguments, [&](const launch::Argument& b) { return b.offset == a.offset && b.value == a.value; });
    });
    if (!varies)
      constant.push_back(a.name.empty() ? fmt::format("the one at offset {}", a.offset) : fmt::format("`{}`", a.name));
  }
  if (!constant.empty())
    reference.notes.push_back(
        fmt::format("arguments that are the same in all cases, so that nothing is known of other values: {}",
                    fmt::join(constant, ", ")));
}

void note_followers(Reference::Impl& reference) {
  for (size_t leader = 0; leader < reference.facts.size(); ++leader) {
    std::vector<std::string_view> names;
    for (size_t k = 0; k < reference.facts.size(); ++k)
      if (reference.facts[k].leader == leader) names.push_back(reference.launch.cases[k].name);
    if (names.size() < 2) continue;
    reference.notes.push_back(fmt::format("cases {} differ in their random inputs only and are large: all run as the "
                                          "launch file says, and one of them in each other way and in strict mode",
                                          fmt::join(names, ", ")));
  }
}

/// The lighter cases show what other ways do to a candidate; a heavy one can wait until it is worth the time.
void find_heavy(Reference::Impl& reference) {
  constexpr uint64_t many_times = 4, bytes_in_the_time_of_an_instruction = 16;
  constexpr uint64_t worth_sparing = 500'000; // instructions: some milliseconds
  std::vector<std::pair<uint64_t, size_t>> costs;
  for (size_t k = 0; k < reference.facts.size(); ++k)
    costs.emplace_back(
        reference.facts[k].instructions + bytes_of(reference.launch.cases[k]) / bytes_in_the_time_of_an_instruction, k);
  std::ranges::sort(costs);
  uint64_t lighter = 0;
  for (const auto& [cost, k] : costs) {
    reference.facts[k].heavy = lighter > 0 && cost > std::max(many_times * lighter, worth_sparing);
    if (!reference.facts[k].heavy) lighter += cost;
  }
}

} // namespace

Result<void> examine(device::Device& device, Reference::Impl& reference, const Options& options, const Seen& seen) {
  reference.facts.resize(reference.launch.cases.size());
  reference.seed = options.seed;
  std::set<std::string> useful, all;
  for (size_t i = 0; i < reference.launch.cases.size(); ++i) {
    AE_TRY(std::set<std::string> found, Examination(device, reference, options, i).run());
    useful.merge(found);
    for (const launch::Buffer& buffer : reference.launch.cases[i].buffers)
      if (launch::is_result(buffer.role)) all.insert(buffer.name);
    if (seen) AE_CHECK(seen(i));
  }
  if (all.empty())
    return fail("{}: no buffer is a result: none has the role \"out\" or \"inout\"", reference.launch.path);
  for (const std::string& name : all)
    if (!useful.contains(name))
      return fail("{}: in no case does {} leave anything but zeros in `{}`: doing nothing could not be told from it",
                  reference.launch.path, reference.original.object->path, name);
  find_heavy(reference);
  note_constant_scalars(reference);
  note_followers(reference);
  return {};
}

} // namespace asmevo::oracle
