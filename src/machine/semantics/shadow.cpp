// Shadow cells that need no thought (see machine/strict/shadow.h).
#include "machine/strict/shadow.h"

#include "machine/lanes.h"

namespace asmevo::machine::ASMEVO_ISA {

namespace {

using strict::Cells;

/// What makes a cell quiet, whose it is, and whether it already says what a new access would make it say.
struct LdsRule {
  uint32_t event, floor;
  AE_LANES bool mine(uint32_t cell) const { return ((cell ^ event) & strict::owner_mask) == 0; }
  AE_LANES bool quiet(uint32_t cell) const { return (cell < floor) | mine(cell); }
  AE_LANES bool readable(uint32_t written) const { return quiet(written) & (written != 0); }
  AE_LANES bool current(uint32_t cell) const { return mine(cell) & (cell >= floor); }
};
struct GlobalRule {
  uint32_t event, floor;
  AE_LANES bool mine(uint32_t cell) const { return (cell ^ event) >> strict::block_bits == 0; }
  AE_LANES bool quiet(uint32_t cell) const { return (cell == 0) | mine(cell); }
  AE_LANES bool readable(uint32_t written) const { return quiet(written); }
  AE_LANES bool current(uint32_t cell) const { return mine(cell) & (cell >= floor); }
};

#if defined(__clang__)
#define AE_EACH_CELL(n) _Pragma("clang loop vectorize(assume_safety)") for (size_t k = 0; k < (n); ++k)
#else
#define AE_EACH_CELL(n) _Pragma("GCC ivdep") for (size_t k = 0; k < (n); ++k)
#endif

constexpr uint32_t few_cells = 8;

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
    if (p.mask == all_lanes) {
      AE_EACH_LANE lane[i] = uint32_t((p.place[i] - base) >> shift);
    } else {
      for (unsigned i = 0; i < lanes; ++i) lane[i] = uint32_t(((p.mask >> i & 1 ? p.place[i] : any) - base) >> shift);
    }
  }
  /// f(write, read[0], read[1], cell) for all of them, in no order.
  template <class F> AE_LANES void each(const Cells& cells, F f) const {
    if (stretch) {
      uint32_t *written = cells.write + first, *latest = cells.read[0] + first, *other = cells.read[1] + first;
      if (count > few_cells) {
        AE_EACH_CELL(count) f(written, latest, other, k);
        return;
      }
      for (size_t k = 0; k < count; ++k) {
        f(written, latest, other, k);
        asm volatile(""); // a few cells are done before vector code has begun
      }
      return;
    }
    for (uint32_t part = 0; part < count; ++part) {
      uint32_t *written = cells.write + part, *latest = cells.read[0] + part, *other = cells.read[1] + part;
      AE_EACH_LANE f(written, latest, other, lane[i]);
    }
  }
};

using Cell = uint32_t;

template <class Rule>
AE_LANES bool note_read(const Cells& cells, uint64_t base, const Places& p, unsigned shift, Rule rule) {
  const CellSet set(p, base, shift);
  uint32_t bad = 0, stale = 0;
  set.each(cells, [&](const Cell* written, const Cell* latest, const Cell*, size_t k) {
    bad |= rule.readable(written[k]) ? 0u : 1u;
    stale |= rule.current(latest[k]) ? 0u : 1u;
  });
  if (bad) return false;
  if (!stale) return true;
  set.each(cells, [&](const Cell*, Cell* latest, Cell* other, size_t k) {
    const Cell before = latest[k];
    other[k] = rule.mine(before) ? other[k] : before;
    latest[k] = rule.event;
  });
  return true;
}

template <class Rule>
AE_LANES bool note_write(const Cells& cells, uint64_t base, const Places& p, unsigned shift, Rule rule) {
  const CellSet set(p, base, shift);
  uint32_t bad = 0, stale = 0;
  set.each(cells, [&](const Cell* written, const Cell* latest, const Cell* other, size_t k) {
    bad |= rule.quiet(written[k]) & rule.quiet(latest[k]) & rule.quiet(other[k]) ? 0u : 1u;
    stale |= rule.current(written[k]) ? 0u : 1u;
  });
  if (bad) return false;
  if (stale) set.each(cells, [&](Cell* written, const Cell*, const Cell*, size_t k) { written[k] = rule.event; });
  return true;
}

bool lds_read(const Cells& cells, const Places& p, unsigned shift, uint32_t event, uint32_t floor) {
  return note_read(cells, 0, p, shift, LdsRule{event, floor});
}
bool lds_write(const Cells& cells, const Places& p, unsigned shift, uint32_t event, uint32_t floor) {
  return note_write(cells, 0, p, shift, LdsRule{event, floor});
}
bool global_read(const Cells& cells, uint64_t base, const Places& p, unsigned shift, uint32_t event, uint32_t floor) {
  return note_read(cells, base, p, shift, GlobalRule{event, floor});
}
bool global_write(const Cells& cells, uint64_t base, const Places& p, unsigned shift, uint32_t event, uint32_t floor) {
  return note_write(cells, base, p, shift, GlobalRule{event, floor});
}

} // namespace

strict::ShadowRunners shadow_runners() { return {&lds_read, &lds_write, &global_read, &global_write}; }

} // namespace asmevo::machine::ASMEVO_ISA
