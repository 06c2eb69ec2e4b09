// A kernel tried on empty memory: what would it touch?
//
// Each pointer leads into its own empty range, which costs nothing until it is touched and faults beyond; a probe runs
// a few workgroups on one thread for a bounded number of instructions. So whatever is tried, however wild, ends soon
// and in little memory. The effort of all probes together is bounded too, in instructions (which makes an inference
// the same on every machine) and, as a last resort, in processor time.
#pragma once

#include "launch/infer/extent.h"
#include "launch/infer/flow.h"
#include "launch/launch.h"

#include <algorithm>

namespace asmevo::launch {

/// An argument, or four bytes of a struct that is passed by value.
struct Slot {
  std::string name; // letters, digits and _
  uint32_t offset = 0, size = 0;
};

/// What is tried.
struct Trial {
  std::array<uint32_t, 3> workgroups{1, 1, 1};
  std::array<uint32_t, 3> workgroup_size{64, 1, 1};
  uint32_t dynamic_lds = 0;
  std::map<uint32_t, Bytes> scalars; // by kernarg offset
  struct Content {
    int64_t first = 0; // relative to the pointer
    Bytes bytes;
  };
  std::map<uint32_t, Content> contents; // by pointer; the rest of memory is zeros
};

/// What one workgroup did to the memory behind one pointer.
struct PointerUse {
  Extent read, written, atomic; // atomics are in `written` too
  bool operator==(const PointerUse&) const = default;
};

struct GroupUse {
  std::map<uint32_t, PointerUse> pointers; // by kernarg offset
  uint64_t instructions = 0;
  bool stores() const;
  bool operator==(const GroupUse&) const = default;
};

struct ProbeResult {
  bool completed = false;
  std::string fault;
  std::map<uint32_t, GroupUse> groups; // by linear workgroup id
  uint64_t instructions = 0;
  uint64_t lds_bytes = 0;     // of the highest LDS access
  uint64_t collisions = 0;    // bytes that several waves stored, atomics apart: order would decide
  uint64_t stored = 0;        // distinct bytes
  size_t pointers = 0;        // that lead to something that is accessed
  std::vector<bool> executed; // by instruction of the image
  size_t covered() const { return size_t(std::count(executed.begin(), executed.end(), true)); }
  Votes votes;
  Flow flow; // of the first workgroup
};

/// Runs workgroups of a kernel whose pointers lead to empty ranges.
class Prober {
public:
  Prober(const machine::Image& image, const object::Kernel& kernel, const volatile bool* stop);

  const std::vector<Slot>& pointers() const { return pointers_; }
  const std::vector<Slot>& scalars() const { return scalars_; }
  /// Takes scalars of 8 bytes for structs of two numbers from now on. False where there are none.
  bool split_wide_scalars();

  /// Without `flow` values are not followed, which takes most of the time.
  /// Errors only for what cannot be tried at all, and when no effort is left.
  Result<ProbeResult> run(const Trial& trial, std::vector<uint32_t> workgroups, bool flow = false);
  /// Whether so much of the effort is spent that nothing optional should be begun.
  bool tired() const;

private:
  Case case_of(const Trial& trial) const;
  void read_traces(const machine::RunResult& run, bool flow, ProbeResult& result) const;
  std::optional<uint32_t> owner_of(uint64_t address) const;

  const machine::Image& image_;
  const object::Kernel& kernel_;
  const volatile bool* stop_;
  std::vector<Slot> pointers_, scalars_; // explicit arguments by kind
  Preloaded preloaded_;
  uint64_t spent_ = 0; // instructions
  double started_ = 0; // processor time of this thread
};

} // namespace asmevo::launch
