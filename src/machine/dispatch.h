// Dispatch state: from a kernel descriptor and a Dispatch to waves that are ready to run.
#pragma once

#include "machine/global_share.h"
#include "machine/workgroup.h"

#include <sys/mman.h>

namespace asmevo::machine {

/// A Dispatch, checked and worked out once.
struct LaunchPlan {
  const Image::Impl* image = nullptr;
  Dispatch dispatch;
  std::vector<Op> own_ops; // a copy, where some instruction names registers beyond the allocation
  const Op* ops = nullptr;
  uint32_t entry = 0; // index
  uint32_t mode = 0;
  uint32_t vgpr_rows = 0;    // of the VGPR file
  uint32_t agpr_rows = 0;    // reachable as AGPRs
  uint32_t accum_offset = 0; // first AGPR row in a unified file
  uint32_t lds_size = 0;
  uint32_t scratch_bytes = 0; // a lane
  uint64_t workgroups = 0;
  uint32_t max_waves = 0; // of a full workgroup
  std::array<uint64_t, 3> grid{};
  std::vector<uint32_t> preloaded;           // kernarg dwords
  std::shared_ptr<GlobalShare> global_share; // where the image uses one
  std::vector<uint32_t> undefined;           // what LDS and registers hold before a wave writes them; empty: zeros

  /// Rows of a wave's register files, and with what the widest operand may reach behind them.
  uint32_t owned_rows() const { return vgpr_rows + (image->target.unified_registers() ? 0 : agpr_rows); }
  uint32_t rows() const { return owned_rows() + 64; }
};

/// Errors: a kernel of another object, an entry that is no instruction, sizes out of range, too much LDS, a kernarg
/// segment that must be preloaded and is not mapped.
Result<LaunchPlan> plan_launch(const Image& image, const Dispatch& dispatch, const Memory& memory);

/// Registers that hold something when a wave starts: the first so many of each file, besides EXEC.
struct DefinedRegisters {
  uint32_t scalars = 0, vectors = 0;
  bool flat_scratch = false;
};
DefinedRegisters defined_registers(const LaunchPlan& plan);

/// Makes LDS and registers start with words that follow from `seed` instead of zeros: what hardware leaves there is
/// anything, and a kernel that reads it gives another answer each time.
void leave_undefined(LaunchPlan& plan, uint64_t seed);

/// Device memory for scratch of `slots` resident workgroups; unmapped at the end. Holds nothing where a launch needs
/// none.
class Scratch {
public:
  static Result<Scratch> map(const LaunchPlan& plan, Memory& memory, uint32_t slots);
  Scratch() = default;
  Scratch(Scratch&& other) noexcept;
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch();
  void assign(Workgroup& group, uint32_t slot) const;

private:
  Memory* memory_ = nullptr;
  uint64_t base_ = 0, slot_bytes_ = 0;
  uint8_t* data_ = nullptr;
  uint32_t lane_bytes_ = 0;
};

/// A place on the device for one workgroup: waves, register files, LDS. Used again for one workgroup after the other.
class Residence {
public:
  Residence(const LaunchPlan& plan, const Memory& memory, const Scratch& scratch, uint32_t slot);
  ~Residence();
  Residence(const Residence&) = delete;
  Residence& operator=(const Residence&) = delete;

  void begin(uint32_t workgroup, Tracer* tracer, AccessLog* log = nullptr);
  /// Lets `watcher` (or nobody) see what the workgroup does from now on.
  void watch(Watcher* watcher);
  Workgroup& group() { return group_; }
  std::span<Wave> waves() { return {waves_, group_.wave_count}; }
  std::vector<uint8_t>& approximate_seen() { return approximate_seen_; }

private:
  void clear(void* memory, uint64_t bytes) const; // as it is before anything is written
  void start_wave(Wave& w, uint32_t id, const std::array<uint32_t, 3>& position, const std::array<uint32_t, 3>& size);

  const LaunchPlan& plan_;
  Workgroup group_;
  Wave* waves_ = nullptr;
  Row* rows_ = nullptr;
  uint8_t* lds_ = nullptr;
  uint64_t bytes_ = 0;
  void* memory_ = nullptr;
  std::vector<uint8_t> approximate_seen_;
};

} // namespace asmevo::machine
