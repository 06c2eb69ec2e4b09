// Shadow cells that need no thought (see machine/strict/shadow.h).
#include "machine/strict/shadow.h"

#include "machine/semantics/addresses.h"
#include "machine/semantics/consecutive.h"

#include <type_traits>

// Conditions are joined by & and |, because a branch a lane would be no vector code.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wbitwise-instead-of-logical"
#pragma clang diagnostic ignored "-Wbitwise-conditional-parentheses"
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

namespace asmevo::machine::ASMEVO_ISA {

namespace {

using strict::Cells;
using strict::Noting;
using strict::Quick;

/// What makes a cell quiet, and whose it is.
struct LdsRule {
  uint32_t event, floor;
  AE_LANES bool mine(uint32_t cell) const { return ((cell ^ event) & strict::owner_mask) == 0; }
  AE_LANES bool quiet(uint32_t cell) const { return (cell < floor) | mine(cell); }
  AE_LANES bool past(uint32_t latest) const { return (latest & ~strict::several_readers) < floor; }
  /// No other wave has read since.
  AE_LANES bool unread(uint32_t latest) const {
    return past(latest) | (mine(latest) & (latest < strict::several_readers));
  }
  AE_LANES uint32_t after_read(uint32_t latest) const {
    return unread(latest) ? event : event | strict::several_readers;
  }
};
/// And whether it already says what a new access would make it say. Of readers: whether one is of no more interest,
/// whether the other readers can be given up for the latest, and whether they are as many as anyone wants.
struct GlobalRule {
  uint32_t event, present, covering;
  AE_LANES bool mine(uint32_t cell) const { return (cell ^ event) >> strict::block_bits == 0; }
  AE_LANES bool quiet(uint32_t cell) const { return (cell == 0) | mine(cell); }
  AE_LANES bool current(uint32_t cell) const { return mine(cell) & (cell >= present); }
  AE_LANES static bool past(uint32_t cell) { return cell == 0; }
  AE_LANES bool replaceable(uint32_t others, uint32_t latest) const {
    return quiet(others) | ((others ^ latest) >> strict::block_bits == 0);
  }
  AE_LANES static bool enough(uint32_t others) { return others >= strict::enough_readers; }
};

#if defined(__clang__)
#define AE_EACH_CELL(n) _Pragma("clang loop vectorize(assume_safety)") for (size_t k = 0; k < (n); ++k)
#else
#define AE_EACH_CELL(n) _Pragma("GCC ivdep") for (size_t k = 0; k < (n); ++k)
#endif

using Cell = uint32_t;

/// The cells of an access that lie side by side.
struct Stretch {
  uint32_t first, count;

  /// f(write, latest, others, cell) for all of them, in no order.
  template <class F> AE_LANES void each(const Cells& cells, F f) const {
    Cell *written = cells.write + first, *latest = cells.latest + first, *others = cells.others + first;
    switch (count) {
    case 4: // a dword, two and four of each lane
      AE_EACH_CELL(4) f(written, latest, others, k);
      return;
    case 8:
      AE_EACH_CELL(8) f(written, latest, others, k);
      return;
    case 16:
      AE_EACH_CELL(16) f(written, latest, others, k);
      return;
    default:
      AE_EACH_CELL(count) f(written, latest, others, k);
      return;
    }
  }
};

/// Some cells a lane.
struct Scattered {
  uint32_t count;
  alignas(64) uint32_t lane[lanes];

  Scattered(const Places& p, uint64_t base, unsigned shift) : count(p.bytes >> shift) {
    // Lanes that are off do what the first active one does.
    const uint64_t any = p.place[__builtin_ctzll(p.mask)];
    const uint64_t mask = p.mask;
    AE_EACH_LANE {
      const uint64_t on = mask & lane_bits[i] ? ~uint64_t{0} : 0;
      lane[i] = uint32_t((((p.place[i] & on) | (any & ~on)) - base) >> shift);
    }
  }
  Scattered(const Row& places, uint32_t bytes, unsigned shift) : count(bytes >> shift) {
    AE_EACH_LANE lane[i] = places.lane[i] >> shift;
  }
  template <class F> AE_LANES void each(const Cells& cells, F f) const {
    for (uint32_t part = 0; part < count; ++part) {
      Cell *written = cells.write + part, *latest = cells.latest + part, *others = cells.others + part;
      AE_EACH_LANE f(written, latest, others, lane[i]);
    }
  }
};

template <class Set> AE_LANES bool note_read(const Noting& n, const Set& set, LdsRule rule) {
  uint32_t bad = 0, stale = 0, several = 0;
  set.each(n.cells, [&](const Cell* written, const Cell* latest, const Cell*, size_t k) {
    const Cell next = rule.after_read(latest[k]);
    bad |= rule.quiet(written[k]) & (written[k] != 0) ? 0u : 1u;
    stale |= latest[k] ^ next;
    several |= next ^ rule.event;
  });
  if (bad) return false;
  if (!stale) return true;
  const Cells reads{n.own_reads, n.cells.latest};
  if (several)
    set.each(reads, [&](Cell* own, Cell* latest, const Cell*, size_t k) {
      latest[k] = rule.after_read(latest[k]);
      own[k] = rule.event;
    });
  else
    set.each(reads, [&](Cell* own, Cell* latest, const Cell*, size_t k) { latest[k] = own[k] = rule.event; });
  return true;
}

template <class Set> AE_LANES bool note_write(const Noting& n, const Set& set, LdsRule rule) {
  uint32_t bad = 0, stale = 0;
  set.each(n.cells, [&](const Cell* written, const Cell* latest, const Cell*, size_t k) {
    bad |= rule.quiet(written[k]) & rule.unread(latest[k]) ? 0u : 1u;
    stale |= written[k] ^ rule.event;
  });
  if (bad) return false;
  if (stale) set.each(n.cells, [&](Cell* written, const Cell*, const Cell*, size_t k) { written[k] = rule.event; });
  return true;
}

/// A reader that is among the latest and the others already changes nothing.
template <class Set> AE_LANES bool note_read(const Noting& n, const Set& set, GlobalRule rule) {
  const Cells& cells = n.cells;
  const auto covered = [&](Cell latest, Cell others) {
    return (latest == rule.event) | rule.current(others) | (others == rule.covering) | rule.enough(others);
  };
  uint32_t bad = 0, stale = 0, foreign = 0;
  set.each(cells, [&](const Cell* written, const Cell* latest, const Cell* others, size_t k) {
    const Cell before = latest[k], beside = others[k];
    const bool here = covered(before, beside), mine = rule.mine(before);
    const bool simple = here | mine | rule.past(before) | rule.replaceable(beside, before);
    bad |= rule.quiet(written[k]) & simple ? 0u : 1u;
    stale |= here ? 0u : 1u;
    foreign |= mine ? 0u : 1u;
  });
  if (bad) return false;
  if (!stale) return true;
  if (!foreign) {
    set.each(cells, [&](const Cell*, Cell* latest, const Cell*, size_t k) { latest[k] = rule.event; });
    return true;
  }
  set.each(cells, [&](const Cell*, Cell* latest, Cell* others, size_t k) {
    const Cell before = latest[k], beside = others[k];
    const bool here = covered(before, beside);
    others[k] = here | rule.mine(before) | rule.past(before) ? beside : before;
    latest[k] = here ? before : rule.event;
  });
  return true;
}

template <class Set> AE_LANES bool note_write(const Noting& n, const Set& set, GlobalRule rule) {
  const Cells& cells = n.cells;
  uint32_t bad = 0, stale = 0;
  set.each(cells, [&](const Cell* written, const Cell* latest, const Cell* others, size_t k) {
    bad |= rule.quiet(written[k]) & rule.quiet(latest[k]) & rule.quiet(others[k]) ? 0u : 1u;
    stale |= written[k] ^ rule.event;
  });
  if (bad) return false;
  if (stale) set.each(cells, [&](Cell* written, const Cell*, const Cell*, size_t k) { written[k] = rule.event; });
  return true;
}

AE_LANES LdsRule rule_of(const Noting& n, LdsRule) { return {n.event, n.floor}; }
AE_LANES GlobalRule rule_of(const Noting& n, GlobalRule) { return {n.event, n.present, n.covering}; }

template <class Rule, bool write, class Set> AE_LANES bool note(const Noting& n, const Set& set) {
  const Rule rule = rule_of(n, Rule{});
  if constexpr (write) return note_write(n, set, rule);
  return note_read(n, set, rule);
}

AE_LANES Stretch stretch(const Noting& n, uint64_t low, uint64_t high) {
  return {uint32_t((low - n.base) >> n.shift), uint32_t((high - low) >> n.shift)};
}

template <class Rule, bool write> bool careful(const Noting& n, const Places& p) {
  if (p.consecutive) return note<Rule, write>(n, stretch(n, p.low, p.high));
  return note<Rule, write>(n, Scattered(p, n.base, n.shift));
}

/// Granules are dwords or larger here, so that what fills them is aligned too.
template <class Rule, bool write, uint32_t bytes> AE_LANES Quick quick_at(const Noting& n, uint64_t low) {
  const uint64_t high = low + uint64_t{bytes} * lanes;
  if (low < n.low || high > n.high || n.shift < 2 || ((low | bytes * lanes) & ((1u << n.shift) - 1)))
    return Quick::other;
  return note<Rule, write>(n, stretch(n, low, high)) ? Quick::done : Quick::look;
}

/// f(the number of bytes, at compile time) for those that occur.
template <class F> AE_LANES Quick with_bytes(uint32_t bytes, F f) {
  switch (bytes) {
  case 4:
    return f(std::integral_constant<uint32_t, 4>{});
  case 8:
    return f(std::integral_constant<uint32_t, 8>{});
  case 16:
    return f(std::integral_constant<uint32_t, 16>{});
  default:
    return Quick::other;
  }
}

/// LDS, lane by lane; what needs a second look is `other` here.
template <bool write, uint32_t bytes> Quick quick_lanes(const Noting& n, const LdsAddresses& a, uint64_t mask) {
  if (!mask || n.shift < 2 || n.high < bytes) return Quick::other;
  Row on, at;
  expand_mask(mask, on);
  const uint32_t any = a.at(uint32_t(__builtin_ctzll(mask))); // lanes that are off do what this one does
  uint32_t high = 0, bits = bytes;
  AE_EACH_LANE {
    const uint32_t place = (a.at(i) & on.lane[i]) | (any & ~on.lane[i]);
    at.lane[i] = place;
    high = place > high ? place : high;
    bits |= place;
  }
  if (high > n.high - bytes || (bits & ((1u << n.shift) - 1))) return Quick::other;
  return note<LdsRule, write>(n, Scattered(at, bytes, n.shift)) ? Quick::done : Quick::other;
}

template <bool write> Quick quick_lds(const Noting& n, Wave& w, const Op& op, uint32_t bytes, uint64_t& first) {
  return with_bytes(bytes, [&](auto size) {
    const LdsAddresses a = lds_addresses(w, op, uint32_t(op.imm), size);
    if (w.exec() != all_lanes || !consecutive_by<size>(a.base)) return quick_lanes<write, size>(n, a, w.exec());
    first = uint64_t{a.base.lane[0]} + a.offset;
    return quick_at<LdsRule, write, size>(n, first);
  });
}

template <bool write> Quick quick_global(const Noting& n, Wave& w, const Op& op, uint32_t bytes, uint64_t& first) {
  if (w.exec() != all_lanes) return Quick::other;
  const GlobalAddresses a = global_addresses(w, op);
  return with_bytes(bytes, [&](auto size) {
    if (!consecutive_by<size>(a.vector[0]) || (a.wide && !uniform(a.vector[1]))) return Quick::other;
    first = a.at(0);
    return quick_at<GlobalRule, write, size>(n, first);
  });
}

} // namespace

strict::ShadowRunners shadow_runners() {
  return {.lds_read = &careful<LdsRule, false>,
          .lds_write = &careful<LdsRule, true>,
          .global_read = &careful<GlobalRule, false>,
          .global_write = &careful<GlobalRule, true>,
          .quick_lds_read = &quick_lds<false>,
          .quick_lds_write = &quick_lds<true>,
          .quick_global_read = &quick_global<false>,
          .quick_global_write = &quick_global<true>};
}

} // namespace asmevo::machine::ASMEVO_ISA
