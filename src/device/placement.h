// Where a case's buffers lie on the simulated device.
//
// A kernel that is wrong by a few bytes must be seen, so every buffer has a neighbourhood of its own: guard bytes
// before and after it, which hold poison, can be read and written like slack between suballocations of a real heap, and
// are compared afterwards ("guard after `out`: 4 bytes changed at +0"). Beyond the guards nothing is mapped for
// gigabytes, and an access there is a fault. Inputs and their guards are mapped read-only: a store to one stops at the
// store.
//
// Captured buffers lie where they lay. All other addresses are a function of the case and of `placement`. Placement 0
// puts buffers on pages in order; every other one moves them, reverses their order and aligns them to no more than the
// 256 bytes that an allocator promises, so that a result which depends on where its buffers are shows itself.
#pragma once

#include "device/kept_inputs.h"
#include "machine/memory.h"

namespace asmevo::device {

/// A buffer, its address and its guards; one region of memory holds all three.
struct PlacedBuffer {
  const launch::Buffer* buffer = nullptr;
  uint64_t address = 0;
  uint64_t guard_before = guard_bytes, guard_after = guard_bytes;

  uint64_t end() const { return address + buffer->bytes(); }
  uint64_t region_base() const { return address - guard_before; }
  uint64_t region_size() const { return guard_before + buffer->bytes() + guard_after; }
  /// In the buffer or one of its guards.
  bool holds(uint64_t at) const { return at >= region_base() && at < end() + guard_after; }
};

struct Placement {
  std::vector<PlacedBuffer> buffers; // in the order of the case
  uint64_t image_base = 0;
  uint64_t kernarg_address = 0;
  uint64_t packet_address = 0, queue_address = 0;

  std::map<std::string, uint64_t> addresses() const; // by buffer name
};

/// Refers to the buffers of `c`.
Placement place(const launch::Case& c, unsigned placement);

/// Maps all buffers, with initial contents, and their guards.
Result<void> map_buffers(machine::Memory& memory, const launch::Case& c, const Placement& placement, KeptInputs& inputs,
                         uint64_t poison_seed);
/// Writes the initial contents of inputs (in and inout) again; results and scratch keep what they hold.
Result<void> refill_inputs(machine::Memory& memory, const launch::Case& c, const Placement& placement,
                           KeptInputs& inputs, uint64_t poison_seed);

/// The bytes of a mapped buffer.
std::span<uint8_t> contents(machine::Memory& memory, const PlacedBuffer& placed);

/// What changed in the guards: "guard after `out`: 4 bytes changed at +0".
std::vector<std::string> guard_damage(machine::Memory& memory, const Placement& placement, uint64_t poison_seed);

} // namespace asmevo::device
