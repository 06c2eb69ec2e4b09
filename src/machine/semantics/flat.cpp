// GLOBAL, SCRATCH and FLAT: loads, stores, atomics and loads to LDS at 64-bit addresses.
//
// GLOBAL adds a vector (64-bit, or 32-bit beside a scalar base) and an immediate. SCRATCH addresses the lane's private
// memory by a 32-bit offset. FLAT looks at the upper half of the address: two apertures lead to LDS and to private
// memory, everything else is global. Source: CDNA3 ISA manual, "Flat Memory Instructions".
#include "machine/atomics.h"
#include "machine/registry.h"
#include "machine/semantics/addresses.h"
#include "machine/transfer.h"

#include <array>

namespace asmevo::machine::ASMEVO_ISA {

namespace {

enum class Segment : uint8_t { flat, global, scratch };

/// A lane's private memory is spread over the wave's: dword d of lane l lies at 256 d + 4 l. Bytes are moved through a
/// small buffer. False after raising a fault.
template <class F>
bool private_access(Wave& w, const Op& op, unsigned lane, uint32_t offset, uint32_t bytes, bool write, F f) {
  Workgroup& group = *w.workgroup;
  if (offset >= group.scratch_bytes || group.scratch_bytes - offset < bytes) {
    raise_scratch(w, op, int(lane), offset, bytes, write);
    return false;
  }
  uint8_t* wave = group.scratch + w.id * group.scratch_wave_bytes();
  auto place = [&](uint32_t at) { return wave + at / 4 * 256 + lane * 4 + at % 4; };
  uint8_t buffer[16];
  for (uint32_t k = 0; k < bytes; ++k) buffer[k] = *place(offset + k);
  f(buffer);
  if (write)
    for (uint32_t k = 0; k < bytes; ++k) *place(offset + k) = buffer[k];
  return true;
}

/// Calls f(bytes) with the host bytes behind a flat address; LDS out of range is a buffer of zeros. False after a
/// fault.
template <class F>
bool flat_access(Wave& w, const Op& op, unsigned lane, uint64_t address, uint32_t bytes, bool write, F f) {
  const uint32_t low = uint32_t(address);
  switch (address >> 32) {
  case shared_aperture >> 32: {
    uint8_t nowhere[16] = {};
    f(low < w.lds_size && w.lds_size - low >= bytes ? w.lds + low : nowhere);
    return true;
  }
  case private_aperture >> 32:
    return private_access(w, op, lane, low, bytes, write, f);
  default:
    if (uint8_t* at = reach(w, op, int(lane), address, bytes, write)) return f(at), true;
    return false;
  }
}

/// Runs f(lane, bytes) for every active lane, in whatever memory the segment means.
template <Segment segment, class F> AE_LANES void each_place(Wave& w, const Op& op, uint32_t bytes, bool write, F f) {
  if constexpr (segment == Segment::scratch) {
    const uint32_t base = scratch_base(w, op);
    const Row* vector = op.flags & memory_flag::has_vaddr ? row(w, op.src[0]) : nullptr;
    auto offset = [&](unsigned i) { return base + (vector ? vector->lane[i] : 0); };
    trace_access(w, Space::scratch, write, bytes, w.exec(), offset);
    each_active(w.exec(), [&](unsigned i) {
      return private_access(w, op, i, offset(i), bytes, write, [&](uint8_t* at) { f(i, at); });
    });
  } else {
    const GlobalAddresses a = global_addresses(w, op);
    trace_access(w, Space::global, write, bytes, w.exec(), [&](unsigned i) { return a.at(i); });
    each_active(w.exec(), [&](unsigned i) {
      if constexpr (segment == Segment::flat)
        return flat_access(w, op, i, a.at(i), bytes, write, [&](uint8_t* at) { f(i, at); });
      uint8_t* at = reach(w, op, int(i), a.at(i), bytes, write);
      if (!at) return false;
      f(i, at);
      return true;
    });
  }
}

/// Host addresses of all active lanes, where one region holds them all; the common case. `outside` for lanes that are
/// off.
AE_LANES bool region_pointers(Wave& w, const Op& op, const GlobalAddresses& a, uint32_t bytes, bool write,
                              uint8_t* outside, Pointers& p) {
  const uint64_t exec = w.exec();
  if (exec == 0) return false;
  RegionView& view = view_of(w, op);
  const uint64_t first = a.at(unsigned(__builtin_ctzll(exec)));
  if (!covers(view, first, bytes, write) && !refill(w, view, first, bytes, write)) return false;
  const uint64_t delta = a.base - view.base, limit = view.size - bytes;
  const auto data = reinterpret_cast<uintptr_t>(view.data); // addresses beyond are no pointers yet
  const Row& on = active(w, exec);
  uint64_t beyond = 0;
  if (a.wide) {
    AE_EACH_LANE {
      const uint64_t at = delta + (uint64_t{a.vector[1].lane[i]} << 32 | a.vector[0].lane[i]);
      beyond |= (on.lane[i] != 0) & (at > limit);
      p.at[i] = on.lane[i] ? reinterpret_cast<uint8_t*>(data + at) : outside;
    }
  } else {
    AE_EACH_LANE {
      const uint64_t at = delta + a.vector[0].lane[i];
      beyond |= (on.lane[i] != 0) & (at > limit);
      p.at[i] = on.lane[i] ? reinterpret_cast<uint8_t*>(data + at) : outside;
    }
  }
  if (beyond) return false;
  if (view.logged) [[unlikely]]
    note_lanes(w, view, p.at, exec, bytes, write);
  return true;
}

/// All lanes side by side in one region: where they begin, else null.
template <class T> AE_LANES uint8_t* block(Wave& w, const Op& op, const GlobalAddresses& a, bool write) {
  if (w.exec() != all_lanes || !consecutive<T::bytes>(a.vector[0])) return nullptr;
  if (a.wide) {
    const Words high = words(a.vector[1].lane[0]);
    Truth different = nowhere();
    AE_EACH_VECTOR different = different | !equal(load_words(a.vector[1].lane, c), high);
    if (anywhere(different)) return nullptr;
  }
  RegionView& view = view_of(w, op);
  const uint64_t first = a.at(0);
  if (!covers(view, first, Block<T>::bytes, write) && !refill(w, view, first, Block<T>::bytes, write)) return nullptr;
  if (view.logged) [[unlikely]]
    note_access(w, first, Block<T>::bytes, write);
  return view.data + (first - view.base);
}

/// Private memory at one offset for all lanes is a row of the host's memory. Null where it is not that simple.
AE_LANES Row* uniform_scratch(Wave& w, const Op& op, uint32_t bytes) {
  Workgroup& group = *w.workgroup;
  const uint32_t offset = scratch_base(w, op);
  const bool simple = !(op.flags & memory_flag::has_vaddr) && offset % 4 == 0 && offset < group.scratch_bytes &&
                      group.scratch_bytes - offset >= bytes && !group.tracer;
  return simple ? reinterpret_cast<Row*>(group.scratch + w.id * group.scratch_wave_bytes()) + offset / 4 : nullptr;
}

template <Segment segment, class T> void load(Wave& w, const Op& op) {
  Row* d = row(w, op.dst);
  if constexpr (segment == Segment::scratch) {
    if (const Row* s = uniform_scratch(w, op, T::bytes); s && T::bytes >= 4) {
      for (unsigned k = 0; k < T::bytes / 4; ++k) each_lane(w, d[k], [&](unsigned i) { return s[k].lane[i]; });
      return;
    }
  } else if (!w.workgroup->tracer) {
    const GlobalAddresses a = global_addresses(w, op);
    if constexpr (Block<T>::exists)
      if (const uint8_t* from = block<T>(w, op, a, false)) return Block<T>::load(from, d);
    Pointers p;
    if (region_pointers(w, op, a, T::bytes, false, const_cast<uint8_t*>(zeros), p)) return Bulk<T>::load(w, p, d);
  }
  each_place<segment>(w, op, T::bytes, false, [&](unsigned i, const uint8_t* at) { T::put(d, i, at); });
}

template <Segment segment, class T> void store(Wave& w, const Op& op) {
  const Row* s = row(w, op.src[1]);
  uint8_t sink[16];
  if constexpr (segment == Segment::scratch) {
    if (Row* d = uniform_scratch(w, op, T::bytes); d && T::bytes >= 4) {
      for (unsigned k = 0; k < T::bytes / 4; ++k) each_lane(w, d[k], [&](unsigned i) { return s[k].lane[i]; });
      return;
    }
  } else if (!w.workgroup->tracer) {
    const GlobalAddresses a = global_addresses(w, op);
    if constexpr (Block<T>::exists)
      if (uint8_t* to = block<T>(w, op, a, true)) return Block<T>::store(s, to);
    Pointers p;
    if (region_pointers(w, op, a, T::bytes, true, sink, p)) return Bulk<T>::store(p, s, w.exec());
  }
  each_place<segment>(w, op, T::bytes, true, [&](unsigned i, uint8_t* at) { T::get(s, i, at); });
}

/// MODE that float atomics of the memory pipeline see: before gfx942 they flush denormals.
enum class Denormals : uint8_t { flush, keep };

template <Segment segment, class T, class F, Denormals denormals> void atomic(Wave& w, const Op& op) {
  const Row* data = row(w, op.src[1]);
  Row* d = row(w, op.dst);
  const bool returns = op.flags & memory_flag::glc;
  constexpr unsigned rows = sizeof(T) / 4;
  constexpr uint32_t mode_bits = denormals == Denormals::keep ? 0xf0 : 0;
  auto value = [&](unsigned i, unsigned first) {
    uint64_t v = data[first].lane[i];
    if constexpr (rows == 2) v |= uint64_t{data[first + 1].lane[i]} << 32;
    return T(v);
  };
  each_place<segment>(w, op, sizeof(T), true, [&](unsigned i, uint8_t* at) {
    const T old = load_as<T>(at);
    T second{};
    if constexpr (std::is_same_v<F, atomics::CompareSwap>) second = value(i, rows);
    store_as(at, F{}(old, value(i, 0), second, mode_bits));
    if (!returns) return;
    d[0].lane[i] = uint32_t(old);
    if constexpr (rows == 2) d[1].lane[i] = uint32_t(uint64_t(old) >> 32);
  });
}

// To LDS: at M0 plus the immediate, lane after lane. The immediate counts in both addresses.
template <Segment segment, class T> void load_lds(Wave& w, const Op& op) {
  constexpr uint32_t stride = lds_stride<T>, bytes = T::bytes < 4 ? 4 : T::bytes;
  const uint32_t base = (w.m0() & lds_offset_mask<T>)+uint32_t(op.imm);
  each_place<segment>(w, op, T::bytes, false, [&](unsigned i, const uint8_t* at) {
    Row value[4];
    T::put(value, i, at);
    const uint32_t to = base + stride * i;
    if (to >= w.lds_size || w.lds_size - to < bytes) return;
    for (uint32_t k = 0; k < bytes / 4; ++k) store_as(w.lds + to + 4 * k, value[k].lane[i]);
  });
}

void nothing(Wave&, const Op&) {}

constexpr InstructionRow flat(std::string_view mnemonic, Handler handler, TargetMask targets = on_all) {
  return {mnemonic, Shape::flat, {}, handler, Support::exact, targets};
}

#define PLAIN(segment)                                                                                                 \
  flat(#segment "_load_ubyte", &load<Segment::segment, Small<uint8_t>>),                                               \
      flat(#segment "_load_sbyte", &load<Segment::segment, Small<int8_t>>),                                            \
      flat(#segment "_load_ushort", &load<Segment::segment, Small<uint16_t>>),                                         \
      flat(#segment "_load_sshort", &load<Segment::segment, Small<int16_t>>),                                          \
      flat(#segment "_load_ubyte_d16", &load<Segment::segment, Half<uint8_t, false>>),                                 \
      flat(#segment "_load_ubyte_d16_hi", &load<Segment::segment, Half<uint8_t, true>>),                               \
      flat(#segment "_load_sbyte_d16", &load<Segment::segment, Half<int8_t, false>>),                                  \
      flat(#segment "_load_sbyte_d16_hi", &load<Segment::segment, Half<int8_t, true>>),                                \
      flat(#segment "_load_short_d16", &load<Segment::segment, Half<uint16_t, false>>),                                \
      flat(#segment "_load_short_d16_hi", &load<Segment::segment, Half<uint16_t, true>>),                              \
      flat(#segment "_load_dword", &load<Segment::segment, Dwords<1>>),                                                \
      flat(#segment "_load_dwordx2", &load<Segment::segment, Dwords<2>>),                                              \
      flat(#segment "_load_dwordx3", &load<Segment::segment, Dwords<3>>),                                              \
      flat(#segment "_load_dwordx4", &load<Segment::segment, Dwords<4>>),                                              \
      flat(#segment "_store_byte", &store<Segment::segment, Small<uint8_t>>),                                          \
      flat(#segment "_store_byte_d16_hi", &store<Segment::segment, Half<uint8_t, true>>),                              \
      flat(#segment "_store_short", &store<Segment::segment, Small<uint16_t>>),                                        \
      flat(#segment "_store_short_d16_hi", &store<Segment::segment, Half<uint16_t, true>>),                            \
      flat(#segment "_store_dword", &store<Segment::segment, Dwords<1>>),                                              \
      flat(#segment "_store_dwordx2", &store<Segment::segment, Dwords<2>>),                                            \
      flat(#segment "_store_dwordx3", &store<Segment::segment, Dwords<3>>),                                            \
      flat(#segment "_store_dwordx4", &store<Segment::segment, Dwords<4>>)

#define TO_LDS(segment)                                                                                                \
  flat(#segment "_load_lds_ubyte", &load_lds<Segment::segment, Small<uint8_t>>),                                       \
      flat(#segment "_load_lds_sbyte", &load_lds<Segment::segment, Small<int8_t>>),                                    \
      flat(#segment "_load_lds_ushort", &load_lds<Segment::segment, Small<uint16_t>>),                                 \
      flat(#segment "_load_lds_sshort", &load_lds<Segment::segment, Small<int16_t>>),                                  \
      flat(#segment "_load_lds_dword", &load_lds<Segment::segment, Dwords<1>>),                                        \
      flat(#segment "_load_lds_dwordx3", &load_lds<Segment::segment, Dwords<3>>, on_gfx950),                           \
      flat(#segment "_load_lds_dwordx4", &load_lds<Segment::segment, Dwords<4>>, on_gfx950)

#define ATOMIC_AS(segment, name, type, meaning, denormals, targets)                                                    \
  flat(#segment "_atomic_" name, &atomic<Segment::segment, type, meaning, Denormals::denormals>, targets)
#define ATOMIC(segment, name, signedness, meaning)                                                                     \
  ATOMIC_AS(segment, name, signedness##32_t, meaning, keep, on_all),                                                   \
      ATOMIC_AS(segment, name "_x2", signedness##64_t, meaning, keep, on_all)
#define FLOAT_ATOMIC(segment, name, type, meaning)                                                                     \
  ATOMIC_AS(segment, name, type, meaning, flush, before_gfx942),                                                       \
      ATOMIC_AS(segment, name, type, meaning, keep, from_gfx942)
#define ATOMICS(segment)                                                                                               \
  ATOMIC(segment, "swap", uint, Swap), ATOMIC(segment, "cmpswap", uint, CompareSwap),                                  \
      ATOMIC(segment, "add", uint, Add), ATOMIC(segment, "sub", uint, Subtract), ATOMIC(segment, "smin", int, Min),    \
      ATOMIC(segment, "umin", uint, Min), ATOMIC(segment, "smax", int, Max), ATOMIC(segment, "umax", uint, Max),       \
      ATOMIC(segment, "and", uint, And), ATOMIC(segment, "or", uint, Or), ATOMIC(segment, "xor", uint, Xor),           \
      ATOMIC(segment, "inc", uint, Increment), ATOMIC(segment, "dec", uint, Decrement),                                \
      FLOAT_ATOMIC(segment, "add_f32", uint32_t, FloatAdd<Binary32>),                                                  \
      FLOAT_ATOMIC(segment, "pk_add_f16", uint32_t, PackedAdd<Binary16>),                                              \
      ATOMIC_AS(segment, "pk_add_bf16", uint32_t, PackedAdd<Bfloat16>, keep, from_gfx942),                             \
      ATOMIC_AS(segment, "add_f64", uint64_t, FloatAdd<Binary64>, keep, from_gfx90a),                                  \
      ATOMIC_AS(segment, "min_f64", uint64_t, FloatMin<Binary64>, keep, from_gfx90a),                                  \
      ATOMIC_AS(segment, "max_f64", uint64_t, FloatMax<Binary64>, keep, from_gfx90a)

using namespace atomics;
using numeric::Bfloat16;
using numeric::Binary16;
using numeric::Binary32;
using numeric::Binary64;

constexpr std::array table = {
    PLAIN(flat),
    PLAIN(global),
    PLAIN(scratch),
    TO_LDS(global),
    TO_LDS(scratch),
    ATOMICS(flat),
    ATOMICS(global),
    // Caches of a machine without caches.
    InstructionRow{"buffer_wbinvl1", Shape::buffer, {}, &nothing},
    InstructionRow{"buffer_wbinvl1_vol", Shape::buffer, {}, &nothing},
    InstructionRow{"buffer_wbl2", Shape::buffer, {}, &nothing},
    InstructionRow{"buffer_invl2", Shape::buffer, {}, &nothing},
    InstructionRow{"buffer_inv", Shape::buffer, {}, &nothing},
};

} // namespace

std::span<const InstructionRow> flat() { return table; }

} // namespace asmevo::machine::ASMEVO_ISA
