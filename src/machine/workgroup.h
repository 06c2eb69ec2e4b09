// Workgroup: the waves that share LDS and barriers, and what they need to know of the dispatch.
#pragma once

#include "machine/image.h"

#include <functional>

namespace asmevo::machine {

class AccessLog;
struct GlobalShare;
class Tracer;
class Watcher;

/// Apertures of flat addresses, as the driver sets them on GFX9: bits 63:32 of the address say which memory is meant.
inline constexpr uint64_t shared_aperture = uint64_t{0x00010000} << 32, private_aperture = uint64_t{0x00020000} << 32;

struct Workgroup {
  const Image::Impl* image = nullptr;
  const Memory* memory = nullptr;
  uint64_t load_base = 0;
  uint32_t id = 0; // linear
  uint32_t wave_count = 0;
  uint32_t at_barrier = 0;
  uint32_t ended = 0;
  std::optional<Fault> fault; // the first one
  Tracer* tracer = nullptr;   // null where the workgroup is not traced
  AccessLog* log = nullptr;   // null where workgroups run in order
  Watcher* watcher = nullptr; // null where nobody looks at every instruction
  GlobalShare* global_share = nullptr;

  // Private memory: dword d of lane l of a wave lies at its base + 256 d + 4 l.
  uint64_t scratch_base = 0;  // device address of wave 0's part
  uint8_t* scratch = nullptr; // the same in the host
  uint32_t scratch_bytes = 0; // a lane; a multiple of 4
  uint64_t scratch_wave_bytes() const { return uint64_t{scratch_bytes} * lanes; }
};

/// Ends the wave with a fault; the message is completed with the mnemonic in front: "s_trap 2". Only the first fault of
/// a workgroup is kept.
[[gnu::noinline, gnu::cold]] void raise(Wave& w, const Op& op, int lane, uint64_t data_address,
                                        std::string_view message);

/// "reads 4 bytes past the end of `in`": an access that no region allows.
[[gnu::noinline, gnu::cold]] void raise_access(Wave& w, const Op& op, int lane, uint64_t address, uint32_t bytes,
                                               bool write);

/// A scratch offset beyond what the kernel asked for.
[[gnu::noinline, gnu::cold]] void raise_scratch(Wave& w, const Op& op, int lane, uint32_t offset, uint32_t bytes,
                                                bool write);

/// A typed buffer access in a format that is not supported.
[[gnu::noinline, gnu::cold]] void raise_format(Wave& w, const Op& op, uint32_t data_format, uint32_t number_format);

} // namespace asmevo::machine
