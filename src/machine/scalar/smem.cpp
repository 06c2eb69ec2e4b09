// Scalar memory: loads, buffer loads, stores, atomics and cache control.
//
// Addresses are those of dwords: the two low bits of the sum are dropped. A buffer access is checked against the
// resource's size dword by dword: outside, a load gives 0 and a store or atomic does nothing.
// Source: CDNA3 ISA manual, "Scalar memory"; offsets: LLVM SMInstructions.td.
#include "machine/access.h"
#include "machine/atomics.h"
#include "machine/scalar/scalar_place.h"
#include "machine/tracer.h"

#include <array>

namespace asmevo::machine::scalar {

namespace {

void trace(Wave& w, uint64_t address, uint32_t dwords, bool write) {
  if (!w.workgroup->tracer) [[likely]]
    return;
  uint64_t addresses[lanes] = {address};
  w.workgroup->tracer->access(w, Space::scalar, write, 4 * dwords, addresses, 1);
}

/// What the base register pair is.
enum class Base : uint8_t { address, buffer, scratch };

template <Base kind> ScalarPlace place_of(const Wave& w, const Op& op, uint32_t dwords) {
  if constexpr (kind == Base::scratch) return scalar_scratch_place(w, op, dwords);
  return scalar_place<kind == Base::buffer>(w, op, dwords);
}

template <Base kind, uint32_t dwords> void load(Wave& w, const Op& op) {
  const ScalarPlace place = place_of<kind>(w, op, dwords);
  trace(w, place.address, dwords, false);
  uint32_t value[dwords] = {};
  if (place.dwords) {
    const uint8_t* at = reach(w, op, -1, place.address, 4 * place.dwords, false);
    if (!at) return;
    __builtin_memcpy(value, at, 4 * place.dwords);
  }
  for (uint32_t k = 0; k < dwords && op.sdst + k < slot::vccz; ++k) w.sgpr[op.sdst + k] = value[k];
}

template <Base kind, uint32_t dwords> void store(Wave& w, const Op& op) {
  const ScalarPlace place = place_of<kind>(w, op, dwords);
  trace(w, place.address, dwords, true);
  if (!place.dwords) return;
  if (uint8_t* at = reach(w, op, -1, place.address, 4 * place.dwords, true))
    __builtin_memcpy(at, &w.sgpr[op.sdst], 4 * place.dwords);
}

template <Base kind, class T, class F> void atomic(Wave& w, const Op& op) {
  const ScalarPlace place = place_of<kind>(w, op, sizeof(T) / 4);
  trace(w, place.address, sizeof(T) / 4, true);
  if (place.dwords < sizeof(T) / 4) return;
  uint8_t* at = reach(w, op, -1, place.address, sizeof(T), true);
  if (!at) return;
  T data[2]; // compare-and-swap takes a second value
  __builtin_memcpy(data, &w.sgpr[op.sdst], sizeof data);
  const T old = load_as<T>(at);
  store_as(at, F{}(old, data[0], data[1], w.mode));
  if (op.flags & memory_flag::glc) __builtin_memcpy(&w.sgpr[op.sdst], &old, sizeof old);
}

void clock(Wave& w, const Op& op) { w.write64(op.sdst, 4 * (w.executed + ++w.clock_reads)); }
void realtime(Wave& w, const Op& op) { w.write64(op.sdst, (w.executed + ++w.clock_reads) / 5); }
void nothing(Wave&, const Op&) {}

constexpr InstructionRow smem(std::string_view mnemonic, Handler handler) {
  return {mnemonic, Shape::smem, {}, handler};
}

constexpr std::array plain = {
    smem("s_load_dword", &load<Base::address, 1>),
    smem("s_load_dwordx2", &load<Base::address, 2>),
    smem("s_load_dwordx4", &load<Base::address, 4>),
    smem("s_load_dwordx8", &load<Base::address, 8>),
    smem("s_load_dwordx16", &load<Base::address, 16>),
    smem("s_buffer_load_dword", &load<Base::buffer, 1>),
    smem("s_buffer_load_dwordx2", &load<Base::buffer, 2>),
    smem("s_buffer_load_dwordx4", &load<Base::buffer, 4>),
    smem("s_buffer_load_dwordx8", &load<Base::buffer, 8>),
    smem("s_buffer_load_dwordx16", &load<Base::buffer, 16>),
    smem("s_store_dword", &store<Base::address, 1>),
    smem("s_store_dwordx2", &store<Base::address, 2>),
    smem("s_store_dwordx4", &store<Base::address, 4>),
    smem("s_buffer_store_dword", &store<Base::buffer, 1>),
    smem("s_buffer_store_dwordx2", &store<Base::buffer, 2>),
    smem("s_buffer_store_dwordx4", &store<Base::buffer, 4>),
    smem("s_scratch_load_dword", &load<Base::scratch, 1>),
    smem("s_scratch_load_dwordx2", &load<Base::scratch, 2>),
    smem("s_scratch_load_dwordx4", &load<Base::scratch, 4>),
    smem("s_scratch_store_dword", &store<Base::scratch, 1>),
    smem("s_scratch_store_dwordx2", &store<Base::scratch, 2>),
    smem("s_scratch_store_dwordx4", &store<Base::scratch, 4>),
    smem("s_memtime", &clock),
    smem("s_memrealtime", &realtime),
    smem("s_dcache_inv", &nothing),
    smem("s_dcache_inv_vol", &nothing),
    smem("s_dcache_wb", &nothing),
    smem("s_dcache_wb_vol", &nothing),
    smem("s_dcache_discard", &nothing),
    smem("s_dcache_discard_x2", &nothing),
    smem("s_atc_probe", &nothing),
    smem("s_atc_probe_buffer", &nothing),
};

#define ATOMIC(name, signedness, function)                                                                             \
  smem("s_atomic_" name, &atomic<Base::address, signedness##32_t, atomics::function>),                                 \
      smem("s_atomic_" name "_x2", &atomic<Base::address, signedness##64_t, atomics::function>),                       \
      smem("s_buffer_atomic_" name, &atomic<Base::buffer, signedness##32_t, atomics::function>),                       \
      smem("s_buffer_atomic_" name "_x2", &atomic<Base::buffer, signedness##64_t, atomics::function>)

constexpr std::array atomic_rows = {
    ATOMIC("swap", uint, Swap),     ATOMIC("cmpswap", uint, CompareSwap),
    ATOMIC("add", uint, Add),       ATOMIC("sub", uint, Subtract),
    ATOMIC("smin", int, Min),       ATOMIC("umin", uint, Min),
    ATOMIC("smax", int, Max),       ATOMIC("umax", uint, Max),
    ATOMIC("and", uint, And),       ATOMIC("or", uint, Or),
    ATOMIC("xor", uint, Xor),       ATOMIC("inc", uint, Increment),
    ATOMIC("dec", uint, Decrement),
};
#undef ATOMIC

constexpr auto table = [] {
  std::array<InstructionRow, plain.size() + atomic_rows.size()> all{};
  size_t at = 0;
  for (const InstructionRow& row : plain) all[at++] = row;
  for (const InstructionRow& row : atomic_rows) all[at++] = row;
  return all;
}();

} // namespace

std::span<const InstructionRow> smem() { return table; }

} // namespace asmevo::machine::scalar
