// The places of memory instructions, all lanes at once (see machine/places.h).
#include "machine/places.h"

#include "machine/buffer_format.h"
#include "machine/global_share.h"
#include "machine/lanes.h"
#include "machine/scalar/scalar_place.h"
#include "machine/semantics/addresses.h"
#include "machine/semantics/consecutive.h"
#include "machine/workgroup.h"

namespace asmevo::machine::ASMEVO_ISA {

namespace {

/// Works out what the lanes of `mask` have in common.
void summarise(Places& p) {
  uint64_t low = ~uint64_t{0}, high = 0, bits = 0;
  const uint64_t mask = p.mask;
  AE_EACH_LANE {
    const uint64_t at = p.place[i], on = mask & lane_bits[i] ? ~uint64_t{0} : 0, from = at | ~on, to = at & on;
    low = from < low ? from : low;
    high = to > high ? to : high;
    bits |= to;
  }
  p.low = low;
  p.high = high + p.bytes;
  p.low_bits = bits & 15;
}

/// All lanes side by side from `first` on.
AE_LANES void set_consecutive(Places& p, uint64_t first) {
  p.consecutive = true;
  p.mask = all_lanes;
  p.low = first;
  p.high = first + uint64_t{p.bytes} * lanes;
  p.low_bits = first & 15;
}

AE_LANES bool consecutive(const Row& r, uint32_t stride) {
  switch (stride) {
  case 1:
    return consecutive_by<1>(r);
  case 2:
    return consecutive_by<2>(r);
  case 4:
    return consecutive_by<4>(r);
  case 8:
    return consecutive_by<8>(r);
  case 12:
    return consecutive_by<12>(r);
  case 16:
    return consecutive_by<16>(r);
  default:
    return false;
  }
}

AE_LANES void begin(Wave& w, Places& p, Space space, uint32_t bytes) {
  p.space = space;
  p.bytes = bytes;
  p.mask = w.exec();
  p.outside = 0;
  p.consecutive = false;
}

/// Leaves the lanes that lie in LDS as a whole.
void keep_inside(const Wave& w, Places& p) {
  const uint64_t limit = w.lds_size >= p.bytes ? w.lds_size - p.bytes + 1 : 0;
  Row beyond;
  AE_EACH_LANE beyond.lane[i] = p.place[i] >= limit ? ~0u : 0u;
  p.outside = pack_mask(beyond) & p.mask;
  p.mask &= ~p.outside;
}

/// LDS addresses have 32 bits, and so has what is worked out of them.
void scattered_lds_places(const Wave& w, const LdsAddresses& a, Places& p) {
  const uint32_t limit = w.lds_size - p.bytes;
  const bool fits = w.lds_size >= p.bytes;
  Row at, outside, on;
  AE_EACH_LANE {
    at.lane[i] = a.at(i);
    outside.lane[i] = (fits & (at.lane[i] <= limit)) ? 0u : ~0u;
  }
  p.outside = pack_mask(outside) & p.mask;
  p.mask &= ~p.outside;
  expand_mask(p.mask, on);
  uint32_t low = ~0u, high = 0, bits = 0;
  AE_EACH_LANE {
    const uint32_t from = at.lane[i] | ~on.lane[i], to = at.lane[i] & on.lane[i];
    low = from < low ? from : low;
    high = to > high ? to : high;
    bits |= to;
    p.place[i] = at.lane[i];
  }
  p.low = low;
  p.high = uint64_t{high} + p.bytes;
  p.low_bits = bits & 15;
}

AE_LANES void lds_places(Wave& w, const Op& op, uint32_t offset, uint32_t bytes, Places& p) {
  const LdsAddresses a = lds_addresses(w, op, offset, bytes);
  begin(w, p, Space::lds, bytes);
  if (p.mask == all_lanes && consecutive(a.base, bytes)) {
    const uint64_t first = uint64_t{a.base.lane[0]} + offset;
    if (first + uint64_t{bytes} * lanes <= w.lds_size) return set_consecutive(p, first);
  }
  scattered_lds_places(w, a, p);
}

/// Lanes at a base plus a constant, `stride` apart.
void spread_places(Wave& w, uint32_t base, uint32_t stride, uint32_t bytes, uint64_t mask, Places& p) {
  begin(w, p, Space::lds, bytes);
  p.mask = mask;
  if (mask == all_lanes && stride == bytes && uint64_t{base} + bytes * lanes <= w.lds_size)
    return set_consecutive(p, base);
  AE_EACH_LANE p.place[i] = base + stride * i;
  keep_inside(w, p);
  summarise(p);
}

uint32_t m0_base(const Wave& w, const Op& op) { return (w.m0() & 0xffff) + uint32_t(op.imm); }

AE_LANES void global_places(Wave& w, const Op& op, uint32_t bytes, Places& p) {
  const GlobalAddresses a = global_addresses(w, op);
  begin(w, p, Space::global, bytes);
  if (p.mask == all_lanes && consecutive(a.vector[0], bytes) && (!a.wide || uniform(a.vector[1])))
    return set_consecutive(p, a.at(0));
  if (a.wide) {
    AE_EACH_LANE p.place[i] = a.base + (uint64_t{a.vector[1].lane[i]} << 32 | a.vector[0].lane[i]);
  } else {
    AE_EACH_LANE p.place[i] = a.base + a.vector[0].lane[i];
  }
  summarise(p);
}

/// A flat access in up to three kinds of memory.
unsigned flat_places(Wave& w, const Op& op, uint32_t bytes, Places out[max_places]) {
  Places all;
  const GlobalAddresses a = global_addresses(w, op);
  begin(w, all, Space::global, bytes);
  uint64_t shared = 0, own = 0;
  for (unsigned i = 0; i < lanes; ++i) {
    all.place[i] = a.at(i);
    shared |= uint64_t{all.place[i] >> 32 == shared_aperture >> 32} << i;
    own |= uint64_t{all.place[i] >> 32 == private_aperture >> 32} << i;
  }
  unsigned count = 0;
  const auto add = [&](Space space, uint64_t which) {
    if (!(all.mask & which)) return;
    Places& p = out[count++];
    p = all;
    p.space = space;
    p.mask &= which;
    if (space != Space::global) AE_EACH_LANE p.place[i] = uint32_t(p.place[i]);
    if (space == Space::lds) keep_inside(w, p);
    summarise(p);
  };
  add(Space::global, ~(shared | own));
  add(Space::lds, shared);
  add(Space::scratch, own);
  return count;
}

void scratch_places(Wave& w, const Op& op, uint32_t bytes, Places& p) {
  begin(w, p, Space::scratch, bytes);
  const uint32_t base = scratch_base(w, op);
  if (op.flags & memory_flag::has_vaddr) {
    const Row& vector = *row(w, op.src[0]);
    AE_EACH_LANE p.place[i] = base + vector.lane[i];
  } else {
    AE_EACH_LANE p.place[i] = base;
  }
  summarise(p);
}

/// Of a swizzled buffer the first element of each lane, the whole of it where an access crosses into the next; scratch
/// is all that lies so, and is watched by dwords.
void buffer_places(Wave& w, const Op& op, uint32_t bytes, Places& p) {
  const Resource r = resource(w, op);
  begin(w, p, Space::global, r.swizzle && bytes > 4 ? 4 : bytes);
  const bool plain = !r.swizzle && !r.index && !r.add_tid;
  const uint64_t records = r.records;
  if (plain && r.offset && p.mask == all_lanes && consecutive(*r.offset, bytes)) {
    const uint64_t first = r.offset_of(0);
    if (first + r.soffset + uint64_t{bytes} * lanes <= records) return set_consecutive(p, r.base + first);
  }
  Row inside;
  if (!plain) {
    for (unsigned i = 0; i < lanes; ++i) {
      inside.lane[i] = r.inside(i, 0, p.bytes) ? ~0u : 0u;
      p.place[i] = r.address(i, 0);
      if (r.together(i, 0, p.bytes) < p.bytes) p.place[i] -= r.offset_of(i) % element_bytes;
    }
  } else {
    static constexpr Row none{};
    const Row& offset = r.offset ? *r.offset : none;
    const uint64_t extra = uint64_t{r.soffset} + bytes;
    AE_EACH_LANE {
      const uint32_t at = r.immediate + offset.lane[i];
      inside.lane[i] = at + extra <= records ? ~0u : 0u;
      p.place[i] = r.base + at;
    }
  }
  p.mask &= pack_mask(inside);
  summarise(p);
}

void typed_buffer_places(Wave& w, const Op& op, bool typed, Places& p) {
  const uint32_t word3 = w.sgpr[op.ssrc[0].index() + 3];
  const uint32_t data = typed ? op.sdst & 15 : word3 >> 15 & 15, number = typed ? op.sdst >> 4 : word3 >> 12 & 7;
  const BufferFormat format = buffer_format(data, number);
  buffer_places(w, op, format.valid ? format.bytes : 1, p);
  if (!format.valid) p.mask = 0;
}

void scalar_places(Wave& w, const ScalarPlace& place, Places& p) {
  begin(w, p, Space::scalar, 4 * place.dwords);
  p.mask = place.dwords ? 1 : 0;
  p.place[0] = place.address;
  summarise(p);
}

unsigned places(Wave& w, const Op& op, const AccessShape& shape, Places out[max_places]);

/// The wave's part of the global data share, which M0 bounds, is addressed as LDS is.
unsigned share_places(Wave& w, const Op& op, AccessShape shape, Places out[max_places]) {
  const uint32_t size = w.lds_size, base = w.m0() >> 16 < GlobalShare::size ? w.m0() >> 16 : GlobalShare::size;
  const uint32_t room = GlobalShare::size - base, wanted = w.m0() & 0xffff;
  w.lds_size = wanted < room ? wanted : room;
  shape.gds = false;
  unsigned count = 1;
  if (shape.addressing == Addressing::lds_counter)
    spread_places(w, uint32_t(op.imm), 0, 4, w.exec() & -w.exec(), out[0]);
  else
    count = places(w, op, shape, out);
  w.lds_size = size;
  for (unsigned k = 0; k < count; ++k) {
    out[k].low += base;
    out[k].high += base;
    AE_EACH_LANE out[k].place[i] += base;
  }
  return count;
}

unsigned places(Wave& w, const Op& op, const AccessShape& shape, Places out[max_places]) {
  if (shape.gds) [[unlikely]]
    return share_places(w, op, shape, out);
  unsigned count = 1;
  switch (shape.addressing) {
  case Addressing::lds:
    lds_places(w, op, uint32_t(op.imm), shape.bytes, out[0]);
    return 1;
  case Addressing::lds_two:
    lds_places(w, op, shape.offset[0], shape.bytes, out[0]);
    lds_places(w, op, shape.offset[1], shape.bytes, out[1]);
    return 2;
  case Addressing::lds_add_tid:
    spread_places(w, m0_base(w, op), 4, 4, w.exec(), out[0]);
    return 1;
  case Addressing::lds_counter:
    spread_places(w, m0_base(w, op), 0, 4, w.exec() & -w.exec(), out[0]);
    return 1;
  case Addressing::global:
    global_places(w, op, shape.bytes, out[0]);
    break;
  case Addressing::flat:
    return flat_places(w, op, shape.bytes, out);
  case Addressing::scratch:
    scratch_places(w, op, shape.bytes, out[0]);
    break;
  case Addressing::buffer:
    buffer_places(w, op, shape.bytes, out[0]);
    break;
  case Addressing::typed_buffer:
  case Addressing::format_buffer:
    typed_buffer_places(w, op, shape.addressing == Addressing::typed_buffer, out[0]);
    return 1;
  case Addressing::scalar:
    scalar_places(w, scalar_place<false>(w, op, shape.bytes / 4), out[0]);
    return 1;
  case Addressing::scalar_buffer:
    scalar_places(w, scalar_place<true>(w, op, shape.bytes / 4), out[0]);
    return 1;
  case Addressing::scalar_scratch:
    scalar_places(w, scalar_scratch_place(w, op, shape.bytes / 4), out[0]);
    return 1;
  default:
    return 0;
  }
  if (shape.to_lds) spread_places(w, m0_base(w, op), shape.lds_stride, shape.lds_stride, w.exec(), out[count++]);
  return count;
}

} // namespace

PlaceRunner place_runner() { return &places; }

} // namespace asmevo::machine::ASMEVO_ISA
