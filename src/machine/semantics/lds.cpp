// LDS: loads, stores and atomics of DS, one or two addresses a lane.
//
// An address is a byte offset in the workgroup's LDS. What lies beyond the allocation (rounded up to the granule) reads
// as 0 and is not written. Source: CDNA3 ISA manual, "Data Share Operations".
#include "machine/atomics.h"
#include "machine/registry.h"
#include "machine/semantics/addresses.h"
#include "machine/transfer.h"

#include <array>

namespace asmevo::machine::ASMEVO_ISA {

namespace {

[[gnu::noinline, gnu::cold]] void trace_lanes(Wave& w, const LdsAddresses& a, bool write) {
  uint64_t mask = w.exec();
  for (unsigned i = 0; i < lanes; ++i)
    if (!a.inside(i)) mask &= ~(uint64_t{1} << i);
  trace_access(w, Space::lds, write, a.bytes, mask, [&](unsigned i) { return a.at(i); });
}

AE_LANES void trace(Wave& w, const LdsAddresses& a, bool write) {
  if (w.workgroup->tracer) [[unlikely]]
    trace_lanes(w, a, write);
}

/// Where the lanes' bytes are; `outside` for lanes that are off or out of range.
AE_LANES Pointers pointers(Wave& w, const LdsAddresses& a, uint8_t* outside) {
  Pointers p;
  const Row& on = active(w, w.exec());
  const uint32_t limit = a.size - a.bytes;
  const bool fits = a.size >= a.bytes;
  uint8_t* lds = w.lds;
  AE_EACH_LANE {
    const uint32_t at = a.at(i);
    const bool good = (on.lane[i] != 0) & (at <= limit) & fits;
    p.at[i] = good ? lds + at : outside;
  }
  return p;
}

AE_LANES uint8_t* source_of_zeros() { return const_cast<uint8_t*>(zeros); } // only read through

/// All lanes side by side in range: where they begin, else null.
template <class T> AE_LANES uint8_t* block(Wave& w, const LdsAddresses& a) {
  if (w.exec() != all_lanes || !consecutive<T::bytes>(a.base)) return nullptr;
  const uint64_t first = uint64_t{a.base.lane[0]} + a.offset;
  return first + Block<T>::bytes <= a.size ? w.lds + first : nullptr;
}

template <class T> AE_LANES void load_rows(Wave& w, const LdsAddresses& a, Row* d) {
  if constexpr (Block<T>::exists)
    if (const uint8_t* from = block<T>(w, a)) return Block<T>::load(from, d);
  Bulk<T>::load(w, pointers(w, a, source_of_zeros()), d);
}
template <class T> AE_LANES void store_rows(Wave& w, const LdsAddresses& a, const Row* s) {
  if constexpr (Block<T>::exists)
    if (uint8_t* to = block<T>(w, a)) return Block<T>::store(s, to);
  uint8_t sink[16];
  Bulk<T>::store(pointers(w, a, sink), s, w.exec());
}

template <class T> void load(Wave& w, const Op& op) {
  const LdsAddresses a = lds_addresses(w, op, uint32_t(op.imm), T::bytes);
  trace(w, a, false);
  load_rows<T>(w, a, row(w, op.dst));
}

template <class T> void store(Wave& w, const Op& op) {
  const LdsAddresses a = lds_addresses(w, op, uint32_t(op.imm), T::bytes);
  trace(w, a, true);
  store_rows<T>(w, a, row(w, op.src[1]));
}

/// The two offsets of read2/write2 count elements, or 64 elements.
template <class T, bool st64> AE_LANES uint32_t offset2(const Op& op, unsigned which) {
  return (uint32_t(op.imm) >> (8 * which) & 0xff) * T::bytes * (st64 ? 64 : 1);
}

// The destination may hold the address, so both sets of pointers come first.
template <class T, bool st64> void load2(Wave& w, const Op& op) {
  const LdsAddresses first = lds_addresses(w, op, offset2<T, st64>(op, 0), T::bytes);
  const LdsAddresses second = lds_addresses(w, op, offset2<T, st64>(op, 1), T::bytes);
  trace(w, first, false);
  trace(w, second, false);
  const Pointers one = pointers(w, first, source_of_zeros()), two = pointers(w, second, source_of_zeros());
  Row* d = row(w, op.dst);
  Bulk<T>::load(w, one, d);
  Bulk<T>::load(w, two, d + T::bytes / 4);
}

// Equal offsets are one address and one write, of the first source.
template <class T, bool st64> void store2(Wave& w, const Op& op) {
  const LdsAddresses first = lds_addresses(w, op, offset2<T, st64>(op, 0), T::bytes);
  if ((op.imm & 0xff) == (op.imm >> 8 & 0xff)) {
    trace(w, first, true);
    return store_rows<T>(w, first, row(w, op.src[1]));
  }
  const LdsAddresses second = lds_addresses(w, op, offset2<T, st64>(op, 1), T::bytes);
  trace(w, first, true);
  trace(w, second, true);
  store_rows<T>(w, first, row(w, op.src[1]));
  store_rows<T>(w, second, row(w, op.src[2]));
}

template <class T> AE_LANES T lane_value(const Row* r, unsigned i) {
  if constexpr (sizeof(T) == 8)
    return T(uint64_t{r[1].lane[i]} << 32 | r[0].lane[i]);
  else
    return T(r[0].lane[i]);
}
template <class T> AE_LANES void set_lane(Row* r, unsigned i, T value) {
  r[0].lane[i] = uint32_t(value);
  if constexpr (sizeof(T) == 8) r[1].lane[i] = uint32_t(uint64_t(value) >> 32);
}

/// Which data register is the first operand of the meaning: compare-and-swap of DS has the comparison first.
enum class Order : uint8_t { data_first, compare_first };

template <class T, class F, bool returns, Order order> void atomic(Wave& w, const Op& op) {
  const LdsAddresses a = lds_addresses(w, op, uint32_t(op.imm), sizeof(T));
  trace(w, a, true);
  const Row* data = row(w, op.src[order == Order::compare_first ? 2 : 1]);
  const Row* second = row(w, op.src[order == Order::compare_first ? 1 : 2]);
  Row* d = row(w, op.dst);
  each_active(w.exec(), [&](unsigned i) {
    T old{};
    if (a.inside(i)) {
      uint8_t* at = w.lds + a.at(i);
      old = load_as<T>(at);
      store_as(at, F{}(old, lane_value<T>(data, i), lane_value<T>(second, i), w.mode));
    }
    if constexpr (returns) set_lane(d, i, old);
    return true;
  });
}

template <class T, bool st64> void exchange2(Wave& w, const Op& op) {
  using Transfer = Dwords<sizeof(T) / 4>;
  const LdsAddresses first = lds_addresses(w, op, offset2<Transfer, st64>(op, 0), sizeof(T));
  const LdsAddresses second = lds_addresses(w, op, offset2<Transfer, st64>(op, 1), sizeof(T));
  trace(w, first, true);
  trace(w, second, true);
  const Row *one = row(w, op.src[1]), *two = row(w, op.src[2]);
  Row* d = row(w, op.dst);
  auto exchange = [&](const LdsAddresses& a, const Row* data, unsigned i) {
    if (!a.inside(i)) return T{};
    const T old = load_as<T>(w.lds + a.at(i));
    store_as(w.lds + a.at(i), lane_value<T>(data, i));
    return old;
  };
  each_active(w.exec(), [&](unsigned i) {
    const T a = exchange(first, one, i), b = exchange(second, two, i);
    set_lane(d, i, a);
    set_lane(d + sizeof(T) / 4, i, b);
    return true;
  });
}

// The second operand is in LDS too, so many dwords away: bits 14:0 of the offset, signed; or with bit 15 set, the upper
// bits of the address. Source: Vega ISA manual, DS_ADD_SRC2_U32.
uint32_t second_address(uint32_t address, uint32_t offset) {
  const int32_t dwords = offset & 0x8000 ? int32_t(address) >> 17 : int32_t(offset << 17) >> 17;
  return address + 4 * uint32_t(dwords);
}

template <class T, class F> void from_memory(Wave& w, const Op& op) {
  const LdsAddresses a = lds_addresses(w, op, 0, sizeof(T));
  trace(w, a, true);
  each_active(w.exec(), [&](unsigned i) {
    const uint32_t second = second_address(a.at(i), uint32_t(op.imm));
    if (!a.inside(i)) return true;
    const bool inside = second < w.lds_size && w.lds_size - second >= sizeof(T);
    const T data = load_as<T>(inside ? w.lds + second : zeros), old = load_as<T>(w.lds + a.at(i));
    store_as(w.lds + a.at(i), F{}(old, data, data, w.mode));
    return true;
  });
}

// Exchange of a dword of a 64-bit pair where its top bit is set.
void conditional_exchange(Wave& w, const Op& op) {
  const LdsAddresses a = lds_addresses(w, op, uint32_t(op.imm), 8);
  trace(w, a, true);
  const Row* data = row(w, op.src[1]);
  Row* d = row(w, op.dst);
  each_active(w.exec(), [&](unsigned i) {
    uint64_t old = 0;
    if (a.inside(i)) {
      const uint64_t value = lane_value<uint64_t>(data, i);
      old = load_as<uint64_t>(w.lds + a.at(i));
      uint64_t next = old;
      if (value >> 31 & 1) next = (next & 0xffffffff00000000) | (value & 0x7fffffff);
      if (value >> 63) next = (next & 0xffffffff) | (value & 0x7fffffff00000000);
      store_as(w.lds + a.at(i), next);
    }
    set_lane(d, i, old);
    return true;
  });
}

// Address without a register: M0 and the lane.
template <bool write> void add_tid(Wave& w, const Op& op) {
  Row at;
  for (unsigned i = 0; i < lanes; ++i) at.lane[i] = (w.m0() & 0xffff) + 4 * i;
  const LdsAddresses a{at, uint32_t(op.imm), w.lds_size, 4};
  trace(w, a, write);
  if constexpr (write) {
    const Row* s = row(w, op.src[1]);
    each_active(w.exec(), [&](unsigned i) {
      if (a.inside(i)) Dwords<1>::get(s, i, w.lds + a.at(i));
      return true;
    });
  } else {
    load_rows<Dwords<1>>(w, a, row(w, op.dst));
  }
}

// A counter that grows or shrinks by the number of active lanes; all of them get its old value. M0 holds the base in
// LDS; in the global data share it holds base and size of the wave's part, which is all there is to see.
template <int sign> void append(Wave& w, const Op& op) {
  const uint32_t at = (op.flags & memory_flag::gds ? 0 : w.m0() & 0xffff) + uint32_t(op.imm);
  uint32_t old = 0;
  if (at < w.lds_size && w.lds_size - at >= 4) {
    old = load_as<uint32_t>(w.lds + at);
    store_as(w.lds + at, old + uint32_t(sign * __builtin_popcountll(w.exec())));
  }
  each_lane(w, *row(w, op.dst), [&](unsigned) { return old; });
}

void nothing(Wave&, const Op&) {}

constexpr InstructionRow ds(std::string_view mnemonic, Handler handler, TargetMask targets = on_all) {
  return {mnemonic, Shape::ds, {}, handler, Support::exact, targets};
}

#define ATOMIC_ORDERED(name, suffix, type, meaning, order)                                                             \
  ds("ds_" name "_" suffix, &atomic<type, meaning, false, order>),                                                     \
      ds("ds_" name "_rtn_" suffix, &atomic<type, meaning, true, order>)
#define SRC2(name, suffix, type, meaning) ds("ds_" name "_src2_" suffix, &from_memory<type, meaning>, before_gfx90a)
#define SRC2_BOTH(name, suffix, type, meaning)                                                                         \
  SRC2(name, suffix "32", type##32_t, meaning), SRC2(name, suffix "64", type##64_t, meaning)
#define ATOMIC(name, suffix, type, meaning) ATOMIC_ORDERED(name, suffix, type, meaning, Order::data_first)
#define ATOMIC_BOTH(name, suffix, type, meaning)                                                                       \
  ATOMIC(name, suffix "32", type##32_t, meaning), ATOMIC(name, suffix "64", type##64_t, meaning)

using namespace atomics;
using numeric::Bfloat16;
using numeric::Binary16;
using numeric::Binary32;
using numeric::Binary64;

constexpr std::array table = {
    ds("ds_read_b32", &load<Dwords<1>>),
    ds("ds_read_b64", &load<Dwords<2>>),
    ds("ds_read_b96", &load<Dwords<3>>),
    ds("ds_read_b128", &load<Dwords<4>>),
    ds("ds_read_u8", &load<Small<uint8_t>>),
    ds("ds_read_i8", &load<Small<int8_t>>),
    ds("ds_read_u16", &load<Small<uint16_t>>),
    ds("ds_read_i16", &load<Small<int16_t>>),
    ds("ds_read_u8_d16", &load<Half<uint8_t, false>>),
    ds("ds_read_u8_d16_hi", &load<Half<uint8_t, true>>),
    ds("ds_read_i8_d16", &load<Half<int8_t, false>>),
    ds("ds_read_i8_d16_hi", &load<Half<int8_t, true>>),
    ds("ds_read_u16_d16", &load<Half<uint16_t, false>>),
    ds("ds_read_u16_d16_hi", &load<Half<uint16_t, true>>),
    ds("ds_read2_b32", &load2<Dwords<1>, false>),
    ds("ds_read2st64_b32", &load2<Dwords<1>, true>),
    ds("ds_read2_b64", &load2<Dwords<2>, false>),
    ds("ds_read2st64_b64", &load2<Dwords<2>, true>),
    ds("ds_read_addtid_b32", &add_tid<false>),
    ds("ds_write_b8", &store<Small<uint8_t>>),
    ds("ds_write_b16", &store<Small<uint16_t>>),
    ds("ds_write_b8_d16_hi", &store<Half<uint8_t, true>>),
    ds("ds_write_b16_d16_hi", &store<Half<uint16_t, true>>),
    ds("ds_write_b32", &store<Dwords<1>>),
    ds("ds_write_b64", &store<Dwords<2>>),
    ds("ds_write_b96", &store<Dwords<3>>),
    ds("ds_write_b128", &store<Dwords<4>>),
    ds("ds_write2_b32", &store2<Dwords<1>, false>),
    ds("ds_write2st64_b32", &store2<Dwords<1>, true>),
    ds("ds_write2_b64", &store2<Dwords<2>, false>),
    ds("ds_write2st64_b64", &store2<Dwords<2>, true>),
    ds("ds_write_addtid_b32", &add_tid<true>),
    ds("ds_append", &append<1>),
    ds("ds_consume", &append<-1>),
    ds("ds_nop", &nothing),
    ATOMIC_BOTH("add", "u", uint, Add),
    ATOMIC_BOTH("sub", "u", uint, Subtract),
    ATOMIC_BOTH("rsub", "u", uint, ReverseSubtract),
    ATOMIC_BOTH("inc", "u", uint, Increment),
    ATOMIC_BOTH("dec", "u", uint, Decrement),
    ATOMIC_BOTH("min", "i", int, Min),
    ATOMIC_BOTH("max", "i", int, Max),
    ATOMIC_BOTH("min", "u", uint, Min),
    ATOMIC_BOTH("max", "u", uint, Max),
    ATOMIC_BOTH("and", "b", uint, And),
    ATOMIC_BOTH("or", "b", uint, Or),
    ATOMIC_BOTH("xor", "b", uint, Xor),
    ATOMIC_BOTH("mskor", "b", uint, MaskedOr),
    ATOMIC_ORDERED("cmpst", "b32", uint32_t, CompareSwap, Order::compare_first),
    ATOMIC_ORDERED("cmpst", "b64", uint64_t, CompareSwap, Order::compare_first),
    ATOMIC_ORDERED("cmpst", "f32", uint32_t, FloatCompareSwap<Binary32>, Order::compare_first),
    ATOMIC_ORDERED("cmpst", "f64", uint64_t, FloatCompareSwap<Binary64>, Order::compare_first),
    ATOMIC("min", "f32", uint32_t, FloatMin<Binary32>),
    ATOMIC("max", "f32", uint32_t, FloatMax<Binary32>),
    ATOMIC("min", "f64", uint64_t, FloatMin<Binary64>),
    ATOMIC("max", "f64", uint64_t, FloatMax<Binary64>),
    ATOMIC("add", "f32", uint32_t, FloatAdd<Binary32>),
    ATOMIC("add", "f64", uint64_t, FloatAdd<Binary64>),
    ATOMIC("pk_add", "f16", uint32_t, PackedAdd<Binary16>),
    ATOMIC("pk_add", "bf16", uint32_t, PackedAdd<Bfloat16>),
    ds("ds_wrxchg_rtn_b32", &atomic<uint32_t, Swap, true, Order::data_first>),
    ds("ds_wrxchg_rtn_b64", &atomic<uint64_t, Swap, true, Order::data_first>),
    ds("ds_wrap_rtn_b32", &atomic<uint32_t, WrapSubtract, true, Order::data_first>),
    ds("ds_wrxchg2_rtn_b32", &exchange2<uint32_t, false>),
    ds("ds_wrxchg2st64_rtn_b32", &exchange2<uint32_t, true>),
    ds("ds_wrxchg2_rtn_b64", &exchange2<uint64_t, false>),
    ds("ds_wrxchg2st64_rtn_b64", &exchange2<uint64_t, true>),
    ds("ds_condxchg32_rtn_b64", &conditional_exchange),
    SRC2_BOTH("add", "u", uint, Add),
    SRC2_BOTH("sub", "u", uint, Subtract),
    SRC2_BOTH("rsub", "u", uint, ReverseSubtract),
    SRC2_BOTH("inc", "u", uint, Increment),
    SRC2_BOTH("dec", "u", uint, Decrement),
    SRC2_BOTH("min", "i", int, Min),
    SRC2_BOTH("max", "i", int, Max),
    SRC2_BOTH("min", "u", uint, Min),
    SRC2_BOTH("max", "u", uint, Max),
    SRC2_BOTH("and", "b", uint, And),
    SRC2_BOTH("or", "b", uint, Or),
    SRC2_BOTH("xor", "b", uint, Xor),
    SRC2_BOTH("write", "b", uint, Swap),
    SRC2("min", "f32", uint32_t, FloatMin<Binary32>),
    SRC2("max", "f32", uint32_t, FloatMax<Binary32>),
    SRC2("min", "f64", uint64_t, FloatMin<Binary64>),
    SRC2("max", "f64", uint64_t, FloatMax<Binary64>),
    SRC2("add", "f32", uint32_t, FloatAdd<Binary32>),
};

} // namespace

std::span<const InstructionRow> lds() { return table; }

} // namespace asmevo::machine::ASMEVO_ISA
