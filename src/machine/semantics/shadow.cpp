// Shadow cells that need no thought (see machine/strict/shadow.h).
#include "machine/strict/shadow.h"

#include "machine/lanes.h"

namespace asmevo::machine::ASMEVO_ISA {

namespace {

using strict::Cells;

/// What makes a cell quiet, whose it is, and whether it already says what a new access would make it say. Of readers:
/// whether one is of no more interest, whether the other readers can be given up for the latest, and whether they are
/// as many as anyone wants.
struct LdsRule {
  uint32_t event, floor;
  AE_LANES bool mine(uint32_t cell) const { return ((cell ^ event) & strict::owner_mask) == 0; }
  AE_LANES bool quiet(uint32_t cell) const { return (cell < floor) | mine(cell); }
  AE_LANES bool readable(uint32_t written) const { return quiet(written) & (written != 0); }
  AE_LANES bool current(uint32_t cell) const { return mine(cell) & (cell >= floor); }
  AE_LANES bool past(uint32_t cell) const { return cell < floor; }
  AE_LANES bool replaceable(uint32_t others, uint32_t latest) const {
    return quiet(others) | (((others ^ latest) & strict::owner_mask) == 0);
  }
  AE_LANES static bool enough(uint32_t) { return false; }
};
struct GlobalRule {
  uint32_t event, floor;
  AE_LANES bool mine(uint32_t cell) const { return (cell ^ event) >> strict::block_bits == 0; }
  AE_LANES bool quiet(uint32_t cell) const { return (cell == 0) | mine(cell); }
  AE_LANES bool readable(uint32_t written) const { return quiet(written); }
  AE_LANES bool current(uint32_t cell) const { return mine(cell) & (cell >= floor); }
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

/// The cells of an access: a stretch of them, or some a lane.
struct CellSet {
  bool stretch;
  uint32_t first, count; // of the stretch; else `count` cells a lane
  alignas(64) uint32_t lane[lanes];

  CellSet(const Places& p, uint64_t base, unsigned shift) : stretch(p.consecutive) {
    count = stretch ? uint32_t((p.high - p.low) >> shift) : p.bytes >> shift;
    if (stretch) {
      first = uint32_t((p.low - base) >> shift);
      return;
    }
    // Lanes that are off do what the first active one does.
    const uint64_t any = p.place[__builtin_ctzll(p.mask)];
    const uint64_t mask = p.mask;
    AE_EACH_LANE {
      const uint64_t on = mask & lane_bits[i] ? ~uint64_t{0} : 0;
      lane[i] = uint32_t((((p.place[i] & on) | (any & ~on)) - base) >> shift);
    }
  }
  /// f(write, latest, others, cell) for all of them, in no order.
  template <class F> AE_LANES void each(const Cells& cells, F f) const {
    if (stretch) {
      uint32_t *written = cells.write + first, *latest = cells.latest + first, *others = cells.others + first;
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
    for (uint32_t part = 0; part < count; ++part) {
      uint32_t *written = cells.write + part, *latest = cells.latest + part, *others = cells.others + part;
      AE_EACH_LANE f(written, latest, others, lane[i]);
    }
  }
};

using Cell = uint32_t;

/// A reader that is among the latest and the others already changes nothing.
template <class Rule> AE_LANES bool note_read(const Cells& cells, uint64_t base, const Places& p, unsigned shift,
                                              Rule rule, uint32_t covering) {
  const CellSet set(p, base, shift);
  const auto covered = [&](Cell latest, Cell others) {
    return rule.current(latest) | rule.current(others) | (others == covering) | rule.enough(others);
  };
  uint32_t bad = 0, stale = 0;
  set.each(cells, [&](const Cell* written, const Cell* latest, const Cell* others, size_t k) {
    const Cell before = latest[k], beside = others[k];
    const bool here = covered(before, beside);
    const bool simple = here | rule.mine(before) | rule.past(before) | rule.replaceable(beside, before);
    bad |= rule.readable(written[k]) & simple ? 0u : 1u;
    stale |= here ? 0u : 1u;
  });
  if (bad) return false;
  if (!stale) return true;
  set.each(cells, [&](const Cell*, Cell* latest, Cell* others, size_t k) {
    const Cell before = latest[k], beside = others[k];
    const bool here = covered(before, beside);
    others[k] = here | rule.mine(before) | rule.past(before) ? beside : before;
    latest[k] = here ? before : rule.event;
  });
  return true;
}

template <class Rule>
AE_LANES bool note_write(const Cells& cells, uint64_t base, const Places& p, unsigned shift, Rule rule) {
  const CellSet set(p, base, shift);
  uint32_t bad = 0, stale = 0;
  set.each(cells, [&](const Cell* written, const Cell* latest, const Cell* others, size_t k) {
    bad |= rule.quiet(written[k]) & rule.quiet(latest[k]) & rule.quiet(others[k]) ? 0u : 1u;
    stale |= rule.current(written[k]) ? 0u : 1u;
  });
  if (bad) return false;
  if (stale) set.each(cells, [&](Cell* written, const Cell*, const Cell*, size_t k) { written[k] = rule.event; });
  return true;
}

bool lds_read(const Cells& cells, const Places& p, unsigned shift, uint32_t event, uint32_t floor, uint32_t covering) {
  return note_read(cells, 0, p, shift, LdsRule{event, floor}, covering);
}
bool lds_write(const Cells& cells, const Places& p, unsigned shift, uint32_t event, uint32_t floor) {
  return note_write(cells, 0, p, shift, LdsRule{event, floor});
}
bool global_read(const Cells& cells, uint64_t base, const Places& p, unsigned shift, uint32_t event, uint32_t floor,
                 uint32_t covering) {
  return note_read(cells, base, p, shift, GlobalRule{event, floor}, covering);
}
bool global_write(const Cells& cells, uint64_t base, const Places& p, unsigned shift, uint32_t event, uint32_t floor) {
  return note_write(cells, base, p, shift, GlobalRule{event, floor});
}

} // namespace

strict::ShadowRunners shadow_runners() { return {&lds_read, &lds_write, &global_read, &global_write}; }

} // namespace asmevo::machine::ASMEVO_ISA
