// Which bytes each workgroup read and wrote, so that workgroups can run in any order, at the same time, and be checked
// afterwards.
//
// The serial order is the meaning of a dispatch. Running workgroups on several threads gives the same result exactly if
// no workgroup touches a byte that another one writes. Nothing in a binary says so beforehand, but it can be seen: the
// first workgroup shows which buffers are written at all; in those, every access is logged as an interval, and in the
// others only whether they were read. When everything has ended the intervals are checked. If two workgroups met, or
// one wrote where that was not expected and not logged, the buffers are put back as they were and the dispatch runs
// again in order.
#pragma once

#include "machine/host_blocks.h"
#include "machine/memory.h"

#include <atomic>
#include <mutex>

namespace asmevo::machine {

/// Regions as they were before anyone wrote to them, and which are expected to be written.
class Snapshots {
public:
  explicit Snapshots(const Memory& memory);

  /// Before the first write of a thread to a region.
  void before_write(const Region& region);
  /// Puts everything back.
  void restore();

  size_t index_of(const Region& region) const { return size_t(&region - regions_.data()); }
  bool written(size_t region) const { return written_[region]; }
  size_t count() const { return regions_.size(); }

private:
  /// A copy that is made in pieces, by all threads that wait for it.
  struct Copy {
    HostBlock bytes;
    std::atomic<uint64_t> next{0}, done{0}; // pieces
  };

  std::span<const Region> regions_;
  std::mutex lock_;
  std::vector<std::atomic<bool>> written_;
  std::vector<std::unique_ptr<Copy>> copies_; // of regions that are written to
};

/// What the workgroups of one thread did.
class AccessLog {
public:
  struct Interval {
    uint64_t first = 0, last = 0; // [first, last)
    uint32_t workgroup = 0;
  };

  explicit AccessLog(Snapshots& snapshots)
      : snapshots_(snapshots), tracked_(snapshots.count()), read_untracked_(snapshots.count()) {}

  /// Regions whose accesses are logged from now on: all, or those written so far.
  void track_all();
  void track_written();
  /// From now on another workgroup runs.
  void begin(uint32_t workgroup);
  void note(uint64_t address, uint64_t bytes, bool write);

  /// A wave is about to access a region; says whether its accesses must be noted.
  bool enter(const Region& region, bool write);

  std::vector<Interval>& reads() { return reads_; }
  std::vector<Interval>& writes() { return writes_; }
  bool read_untracked(size_t region) const { return read_untracked_[region]; }
  bool tracks(size_t region) const { return tracked_[region]; }
  bool overflowed() const { return reads_.size() + writes_.size() > max_intervals; }

private:
  static constexpr size_t max_intervals = size_t{1} << 24;

  Snapshots& snapshots_;
  std::vector<uint8_t> tracked_, read_untracked_;
  std::vector<Interval> reads_, writes_;
  size_t first_read_ = 0, first_write_ = 0; // of this workgroup
  uint32_t workgroup_ = 0;
};

/// Whether the order of the workgroups cannot have mattered.
bool independent(std::span<AccessLog* const> logs, const Snapshots& snapshots);

} // namespace asmevo::machine
