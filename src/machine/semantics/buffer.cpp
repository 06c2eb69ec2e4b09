// MUBUF: loads, stores, atomics and loads to LDS through a buffer resource.
//
// A resource (V#, four scalar registers) gives a base, a stride and a number of records. Without swizzling the buffer
// is raw: offsets are bytes, checked byte-exactly against num_records, component by component. With swizzling it is
// structured: records are checked by index, and consecutive elements of neighbouring indices are interleaved, which is
// how scratch lies in memory. Out of range, loads give 0 and stores and atomics do nothing. Source: CDNA3 ISA manual,
// "Buffer Addressing" and "Range Checking".
#include "machine/atomics.h"
#include "machine/buffer_format.h"
#include "machine/registry.h"
#include "machine/semantics/addresses.h"
#include "machine/transfer.h"

#include <array>

namespace asmevo::machine::ASMEVO_ISA {

namespace {

void trace(Wave& w, const Resource& r, uint32_t bytes, bool write) {
  if (!w.workgroup->tracer) return;
  uint64_t mask = w.exec();
  for (unsigned i = 0; i < lanes; ++i)
    if (!r.inside(i, 0, bytes < 4 ? bytes : 4)) mask &= ~(uint64_t{1} << i);
  trace_access(w, Space::global, write, bytes, mask, [&](unsigned i) { return r.address(i, 0); });
}

/// The bytes a lane loads: in one piece where all are in range, else component by component. False after a fault.
template <unsigned bytes>
AE_LANES const uint8_t* fetch(Wave& w, const Op& op, const Resource& r, unsigned i, uint8_t* buffer) {
  if (!r.swizzle && r.inside(i, 0, bytes)) [[likely]]
    return reach(w, op, int(i), r.address(i, 0), bytes, false);
  constexpr unsigned step = bytes < 4 ? bytes : 4;
  for (unsigned at = 0; at < bytes; at += step) {
    if (!r.inside(i, at, step)) {
      __builtin_memset(buffer + at, 0, step);
      continue;
    }
    for (unsigned k = at, count; k < at + step; k += count) {
      count = r.together(i, k, at + step - k);
      const uint8_t* from = reach(w, op, int(i), r.address(i, k), count, false);
      if (!from) return nullptr;
      __builtin_memcpy(buffer + k, from, count);
    }
  }
  return buffer;
}

/// Host addresses where the buffer is raw, every lane is wholly in range or wholly outside, and one region holds what
/// is in range; the common case. `outside` for the other lanes.
AE_LANES bool region_pointers(Wave& w, const Op& op, const Resource& r, uint32_t bytes, bool write, uint8_t* outside,
                              Pointers& p) {
  const uint64_t exec = w.exec();
  if (r.swizzle || exec == 0 || w.workgroup->tracer) return false;
  RegionView& view = view_of(w, op);
  const Row& on = active(w, exec);
  // The first lane in range says which region it is about.
  uint64_t candidates = exec;
  while (candidates && !r.inside(unsigned(__builtin_ctzll(candidates)), 0, bytes)) candidates &= candidates - 1;
  if (candidates) {
    const uint64_t first = r.address(unsigned(__builtin_ctzll(candidates)), 0);
    if (!covers(view, first, bytes, write) && !refill(w, view, first, bytes, write)) return false;
  }
  const uint64_t delta = r.base - view.base, limit = view.size - bytes;
  const uint64_t records = r.records, soffset = r.soffset;
  const auto data = reinterpret_cast<uintptr_t>(view.data); // addresses beyond are no pointers yet
  uint64_t trouble = 0;
  static constexpr Row none{};
  const Row &offsets = r.offset ? *r.offset : none, &indices = r.index ? *r.index : none;
  const uint64_t stride = r.stride, per_lane = r.add_tid ? stride : 0;
  AE_EACH_LANE {
    const uint64_t offset = uint64_t{r.immediate + offsets.lane[i]} + stride * indices.lane[i] + per_lane * i;
    const bool inside = offset + soffset + bytes <= records, beyond = offset + soffset >= records;
    const bool lane_on = on.lane[i] != 0;
    trouble |= lane_on & ((!inside & !beyond) | (inside & (delta + offset > limit)));
    p.at[i] = (lane_on & inside) ? reinterpret_cast<uint8_t*>(data + (delta + offset)) : outside;
  }
  if (trouble) return false;
  if (view.logged) [[unlikely]] {
    uint64_t used = 0;
    for (unsigned i = 0; i < lanes; ++i) used |= uint64_t(p.at[i] != outside) << i;
    note_lanes(w, view, p.at, used, bytes, write);
  }
  return true;
}

/// All lanes side by side, in range and in one region: where they begin, else null.
template <class T> AE_LANES uint8_t* block(Wave& w, const Op& op, const Resource& r, bool write) {
  if (r.swizzle || r.index || r.add_tid || !r.offset || w.exec() != all_lanes || w.workgroup->tracer) return nullptr;
  if (!consecutive<T::bytes>(*r.offset)) return nullptr;
  const uint64_t offset = r.offset_of(0);
  if (offset + r.soffset + Block<T>::bytes > r.records) return nullptr;
  RegionView& view = view_of(w, op);
  const uint64_t first = r.base + offset;
  if (!covers(view, first, Block<T>::bytes, write) && !refill(w, view, first, Block<T>::bytes, write)) return nullptr;
  if (view.logged) [[unlikely]]
    note_access(w, first, Block<T>::bytes, write);
  return view.data + (first - view.base);
}

template <class T> void load(Wave& w, const Op& op) {
  const Resource r = resource(w, op);
  Row* d = row(w, op.dst);
  if constexpr (Block<T>::exists)
    if (const uint8_t* from = block<T>(w, op, r, false)) return Block<T>::load(from, d);
  if (Pointers p; region_pointers(w, op, r, T::bytes, false, const_cast<uint8_t*>(zeros), p))
    return Bulk<T>::load(w, p, d);
  trace(w, r, T::bytes, false);
  each_active(w.exec(), [&](unsigned i) {
    uint8_t buffer[16];
    const uint8_t* from = fetch<T::bytes>(w, op, r, i, buffer);
    if (from) T::put(d, i, from);
    return from != nullptr;
  });
}

template <unsigned bytes>
AE_LANES bool deposit(Wave& w, const Op& op, const Resource& r, unsigned i, const uint8_t* buffer) {
  constexpr unsigned step = bytes < 4 ? bytes : 4;
  for (unsigned at = 0; at < bytes; at += step) {
    if (!r.inside(i, at, step)) continue;
    for (unsigned k = at, count; k < at + step; k += count) {
      count = r.together(i, k, at + step - k);
      uint8_t* to = reach(w, op, int(i), r.address(i, k), count, true);
      if (!to) return false;
      __builtin_memcpy(to, buffer + k, count);
    }
  }
  return true;
}

template <class T> void store(Wave& w, const Op& op) {
  const Resource r = resource(w, op);
  const Row* s = row(w, op.src[1]);
  uint8_t sink[16];
  if constexpr (Block<T>::exists)
    if (uint8_t* to = block<T>(w, op, r, true)) return Block<T>::store(s, to);
  if (Pointers p; region_pointers(w, op, r, T::bytes, true, sink, p)) return Bulk<T>::store(p, s, w.exec());
  trace(w, r, T::bytes, true);
  each_active(w.exec(), [&](unsigned i) {
    uint8_t buffer[16];
    T::get(s, i, buffer);
    return deposit<T::bytes>(w, op, r, i, buffer);
  });
}

// To LDS: at M0 plus the immediate (which counts in the memory address too), lane after lane. Out of range gives zeros.
template <class T> AE_LANES void load_lds(Wave& w, const Op& op) {
  constexpr uint32_t stride = lds_stride<T>, bytes = T::bytes < 4 ? 4 : T::bytes;
  const Resource r = resource(w, op);
  trace(w, r, T::bytes, false);
  const uint32_t base = (w.m0() & lds_offset_mask<T>)+r.immediate;
  each_active(w.exec(), [&](unsigned i) {
    uint8_t buffer[16];
    const uint8_t* from = fetch<T::bytes>(w, op, r, i, buffer);
    if (!from) return false;
    Row value[4];
    T::put(value, i, from);
    const uint32_t to = base + stride * i;
    if (to >= w.lds_size || w.lds_size - to < bytes) return true;
    for (uint32_t k = 0; k < bytes / 4; ++k) store_as(w.lds + to + 4 * k, value[k].lane[i]);
    return true;
  });
}

// From LDS, at the same place.
void store_lds(Wave& w, const Op& op) {
  const Resource r = resource(w, op);
  trace(w, r, 4, true);
  const uint32_t base = (w.m0() & 0xffff) + r.immediate;
  each_active(w.exec(), [&](unsigned i) {
    const uint32_t from = base + 4 * i;
    const bool inside = from < w.lds_size && w.lds_size - from >= 4;
    return deposit<4>(w, op, r, i, inside ? w.lds + from : zeros);
  });
}

template <class T> void load_either(Wave& w, const Op& op) {
  if (op.flags & memory_flag::lds)
    load_lds<T>(w, op);
  else
    load<T>(w, op);
}

template <class T, class F, uint32_t mode_bits> void atomic(Wave& w, const Op& op) {
  const Resource r = resource(w, op);
  trace(w, r, sizeof(T), true);
  Row* data = row(w, op.dst);
  constexpr unsigned rows = sizeof(T) / 4;
  auto value = [&](unsigned i, unsigned first) {
    uint64_t v = data[first].lane[i];
    if constexpr (rows == 2) v |= uint64_t{data[first + 1].lane[i]} << 32;
    return T(v);
  };
  each_active(w.exec(), [&](unsigned i) {
    T old{};
    if (r.inside(i, 0, sizeof(T))) {
      uint8_t* at = reach(w, op, int(i), r.address(i, 0), sizeof(T), true);
      if (!at) return false;
      old = load_as<T>(at);
      T second{};
      if constexpr (std::is_same_v<F, atomics::CompareSwap>) second = value(i, rows);
      store_as(at, F{}(old, value(i, 0), second, mode_bits));
    }
    if (op.flags & memory_flag::glc) {
      data[0].lane[i] = uint32_t(old);
      if constexpr (rows == 2) data[1].lane[i] = uint32_t(uint64_t(old) >> 32);
    }
    return true;
  });
}

/// Typed access: components in the format of the instruction (MTBUF) or of the resource (MUBUF *_format_*). A resource
/// of an unknown or non-numeric format is a fault.
enum class Width : uint8_t { dword, packed_halves, high_half };

/// The resource's dst_sel: what each loaded component is. 0 and 1 are constants, 4 to 7 name x to w.
inline void select_components(uint32_t word3, const BufferFormat& format, uint32_t value[4]) {
  const uint32_t loaded[4] = {value[0], value[1], value[2], value[3]}, one = format.is_integer() ? 1 : 0x3f800000;
  for (unsigned k = 0; k < 4; ++k) {
    const uint32_t which = word3 >> (3 * k) & 7;
    value[k] = which >= 4 ? loaded[which - 4] : which == 1 ? one : 0;
  }
}

/// Where component k lies in its register.
constexpr uint32_t half_at(Width width, unsigned k) { return width == Width::high_half || k % 2 ? 16 : 0; }

template <unsigned components, Width width, bool typed, bool write> void format_access(Wave& w, const Op& op) {
  const Resource r = resource(w, op);
  const uint32_t dfmt = typed ? op.sdst & 15 : r.word3 >> 15 & 15, nfmt = typed ? op.sdst >> 4 : r.word3 >> 12 & 7;
  const BufferFormat format = buffer_format(dfmt, nfmt);
  if (!format.valid) return raise_format(w, op, dfmt, nfmt);
  trace(w, r, format.bytes, write);
  Row* d = row(w, op.dst);
  each_active(w.exec(), [&](unsigned i) {
    const bool inside = r.inside(i, 0, format.bytes);
    uint8_t buffer[16] = {};
    if constexpr (write) {
      if (!inside) return true;
      uint32_t value[4] = {};
      for (unsigned k = 0; k < components; ++k)
        value[k] = width == Width::dword ? d[k].lane[i] : widen_half(d[k / 2].lane[i] >> half_at(width, k), format);
      encode_components(format, value, components, buffer);
    }
    for (unsigned at = 0; inside && at < format.bytes; ++at) { // swizzled elements need not be contiguous
      uint8_t* place = reach(w, op, int(i), r.address(i, at), 1, write);
      if (!place) return false;
      if constexpr (write)
        *place = buffer[at];
      else
        buffer[at] = *place;
    }
    if constexpr (write) return true;
    uint32_t value[4] = {};
    if (inside) decode_components(format, buffer, value), select_components(r.word3, format, value);
    for (unsigned k = 0; k < components; ++k) {
      if constexpr (width == Width::dword) {
        d[k].lane[i] = value[k];
        continue;
      }
      const uint32_t half = narrow_half(value[k], format), at = half_at(width, k);
      const uint32_t old = at ? d[k / 2].lane[i] & 0xffff : 0;
      d[k / 2].lane[i] = old | half << at;
    }
    return true;
  });
}

constexpr InstructionRow buffer(std::string_view mnemonic, Handler handler, TargetMask targets = on_all) {
  return {mnemonic, Shape::buffer, {}, handler, Support::exact, targets};
}

#define ATOMIC_AS(name, type, meaning, mode_bits, targets)                                                             \
  buffer("buffer_atomic_" name, &atomic<type, meaning, mode_bits>, targets)
#define ATOMIC(name, signedness, meaning)                                                                              \
  ATOMIC_AS(name, signedness##32_t, meaning, 0xf0, on_all),                                                            \
      ATOMIC_AS(name "_x2", signedness##64_t, meaning, 0xf0, on_all)
// Before gfx942 float atomics of the memory pipeline flush denormals.
#define FLOAT_ATOMIC(name, type, meaning)                                                                              \
  ATOMIC_AS(name, type, meaning, 0, before_gfx942), ATOMIC_AS(name, type, meaning, 0xf0, from_gfx942)
#define FORMAT(name, components, width)                                                                                \
  buffer("buffer_load_format_" name, &format_access<components, Width::width, false, false>),                          \
      buffer("buffer_store_format_" name, &format_access<components, Width::width, false, true>),                      \
      buffer("tbuffer_load_format_" name, &format_access<components, Width::width, true, false>),                      \
      buffer("tbuffer_store_format_" name, &format_access<components, Width::width, true, true>)

using namespace atomics;
using numeric::Bfloat16;
using numeric::Binary16;
using numeric::Binary32;
using numeric::Binary64;

constexpr std::array table = {
    buffer("buffer_load_ubyte", &load_either<Small<uint8_t>>),
    buffer("buffer_load_sbyte", &load_either<Small<int8_t>>),
    buffer("buffer_load_ushort", &load_either<Small<uint16_t>>),
    buffer("buffer_load_sshort", &load_either<Small<int16_t>>),
    buffer("buffer_load_dword", &load_either<Dwords<1>>),
    buffer("buffer_load_dwordx2", &load<Dwords<2>>),
    buffer("buffer_load_dwordx3", &load_either<Dwords<3>>),
    buffer("buffer_load_dwordx4", &load_either<Dwords<4>>),
    buffer("buffer_load_ubyte_d16", &load<Half<uint8_t, false>>),
    buffer("buffer_load_ubyte_d16_hi", &load<Half<uint8_t, true>>),
    buffer("buffer_load_sbyte_d16", &load<Half<int8_t, false>>),
    buffer("buffer_load_sbyte_d16_hi", &load<Half<int8_t, true>>),
    buffer("buffer_load_short_d16", &load<Half<uint16_t, false>>),
    buffer("buffer_load_short_d16_hi", &load<Half<uint16_t, true>>),
    buffer("buffer_store_lds_dword", &store_lds, before_gfx942),
    buffer("buffer_store_byte", &store<Small<uint8_t>>),
    buffer("buffer_store_byte_d16_hi", &store<Half<uint8_t, true>>),
    buffer("buffer_store_short", &store<Small<uint16_t>>),
    buffer("buffer_store_short_d16_hi", &store<Half<uint16_t, true>>),
    buffer("buffer_store_dword", &store<Dwords<1>>),
    buffer("buffer_store_dwordx2", &store<Dwords<2>>),
    buffer("buffer_store_dwordx3", &store<Dwords<3>>),
    buffer("buffer_store_dwordx4", &store<Dwords<4>>),
    FORMAT("x", 1, dword),
    FORMAT("xy", 2, dword),
    FORMAT("xyz", 3, dword),
    FORMAT("xyzw", 4, dword),
    FORMAT("d16_x", 1, packed_halves),
    FORMAT("d16_xy", 2, packed_halves),
    FORMAT("d16_xyz", 3, packed_halves),
    FORMAT("d16_xyzw", 4, packed_halves),
    buffer("buffer_load_format_d16_hi_x", &format_access<1, Width::high_half, false, false>),
    buffer("buffer_store_format_d16_hi_x", &format_access<1, Width::high_half, false, true>),
    ATOMIC("swap", uint, Swap),
    ATOMIC("cmpswap", uint, CompareSwap),
    ATOMIC("add", uint, Add),
    ATOMIC("sub", uint, Subtract),
    ATOMIC("smin", int, Min),
    ATOMIC("umin", uint, Min),
    ATOMIC("smax", int, Max),
    ATOMIC("umax", uint, Max),
    ATOMIC("and", uint, And),
    ATOMIC("or", uint, Or),
    ATOMIC("xor", uint, Xor),
    ATOMIC("inc", uint, Increment),
    ATOMIC("dec", uint, Decrement),
    FLOAT_ATOMIC("add_f32", uint32_t, FloatAdd<Binary32>),
    FLOAT_ATOMIC("pk_add_f16", uint32_t, PackedAdd<Binary16>),
    ATOMIC_AS("pk_add_bf16", uint32_t, PackedAdd<Bfloat16>, 0xf0, on_gfx950),
    ATOMIC_AS("add_f64", uint64_t, FloatAdd<Binary64>, 0xf0, from_gfx90a),
    ATOMIC_AS("min_f64", uint64_t, FloatMin<Binary64>, 0xf0, from_gfx90a),
    ATOMIC_AS("max_f64", uint64_t, FloatMax<Binary64>, 0xf0, from_gfx90a),
};

} // namespace

std::span<const InstructionRow> buffer() { return table; }

} // namespace asmevo::machine::ASMEVO_ISA
