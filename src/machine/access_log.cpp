#include "machine/access_log.h"

#include <algorithm>
#include <cstring>
#include <system_error>
#include <thread>

namespace asmevo::machine {

Snapshots::Snapshots(const Memory& memory)
    : regions_(memory.regions()), written_(regions_.size()), copies_(regions_.size()) {}

static constexpr unsigned most_copiers = 8; // threads; memory is no faster with more

void Snapshots::before_write(const Region& region) {
  const size_t index = index_of(region);
  if (written_[index].load(std::memory_order_acquire)) return;
  Copy* copy = nullptr;
  bool made_here = false;
  {
    const std::lock_guard guard(lock_);
    if (!copies_[index]) {
      auto made = std::make_unique<Copy>();
      made->bytes = HostBlock(region.size);
      copies_[index] = std::move(made);
      made_here = true;
    }
    copy = copies_[index].get();
  }
  constexpr uint64_t piece = uint64_t{2} << 20, worth_threads = 8; // pieces
  const uint64_t pieces = (region.size + piece - 1) / piece;
  const auto copy_pieces = [&] {
    for (uint64_t k = copy->next++; k < pieces; k = copy->next++) {
      std::memcpy(copy->bytes.data() + k * piece, region.data + k * piece, std::min(piece, region.size - k * piece));
      ++copy->done;
    }
  };
  // The first workgroup, which runs alone, makes nearly all copies.
  std::vector<std::jthread> others;
  try {
    for (unsigned k = 1; made_here && pieces >= worth_threads && k < most_copiers; ++k)
      if (k < std::thread::hardware_concurrency()) others.emplace_back(copy_pieces);
  } catch (const std::system_error&) { // no more threads: those that are there do
  }
  copy_pieces();
  others.clear();
  while (copy->done < pieces) std::this_thread::yield();
  written_[index].store(true, std::memory_order_release);
}

void Snapshots::restore() {
  for (size_t k = 0; k < copies_.size(); ++k)
    if (copies_[k]) std::memcpy(regions_[k].data, copies_[k]->bytes.data(), regions_[k].size);
}

void AccessLog::track_all() { std::ranges::fill(tracked_, 1); }

void AccessLog::track_written() {
  for (size_t k = 0; k < tracked_.size(); ++k) tracked_[k] = snapshots_.written(k);
}

bool AccessLog::enter(const Region& region, bool write) {
  const size_t index = snapshots_.index_of(region);
  if (write) snapshots_.before_write(region);
  if (!write && !tracked_[index]) read_untracked_[index] = true;
  return write || tracked_[index];
}

namespace {

/// Joins what one workgroup did, from `first` on, where it touches: elements that are used in several instructions,
/// each of which leaves gaps that another fills.
void join(std::vector<AccessLog::Interval>& intervals, size_t first) {
  constexpr size_t few = 64;
  if (intervals.size() <= first + few) return;
  const auto begin = intervals.begin() + ptrdiff_t(first);
  std::ranges::sort(begin, intervals.end(), {}, &AccessLog::Interval::first);
  auto kept = begin;
  for (auto next = begin + 1; next != intervals.end(); ++next)
    if (next->first <= kept->last)
      kept->last = std::max(kept->last, next->last);
    else
      *++kept = *next;
  intervals.erase(kept + 1, intervals.end());
}

} // namespace

void AccessLog::begin(uint32_t workgroup) {
  join(reads_, first_read_);
  join(writes_, first_write_);
  first_read_ = reads_.size();
  first_write_ = writes_.size();
  workgroup_ = workgroup;
}

void AccessLog::note(uint64_t address, uint64_t bytes, bool write) {
  std::vector<Interval>& intervals = write ? writes_ : reads_;
  if (!intervals.empty()) {
    Interval& latest = intervals.back();
    if (latest.workgroup == workgroup_ && address <= latest.last && address >= latest.first) {
      latest.last = std::max(latest.last, address + bytes);
      return;
    }
  }
  if (!overflowed()) intervals.push_back({address, address + bytes, workgroup_});
}

namespace {

using Interval = AccessLog::Interval;

std::vector<Interval> gather(std::span<AccessLog* const> logs, std::vector<Interval>& (AccessLog::*which)()) {
  std::vector<Interval> all;
  for (AccessLog* log : logs) {
    std::vector<Interval>& part = (log->*which)();
    all.insert(all.end(), part.begin(), part.end());
    part = {};
  }
  std::ranges::sort(all, {}, &Interval::first);
  return all;
}

/// Merges what one workgroup wrote into disjoint intervals; false where two workgroups overlap.
bool merge_writes(std::vector<Interval>& writes) {
  size_t kept = 0;
  for (const Interval& next : writes) {
    if (kept && next.first < writes[kept - 1].last) {
      if (next.workgroup != writes[kept - 1].workgroup) return false;
      writes[kept - 1].last = std::max(writes[kept - 1].last, next.last);
    } else {
      writes[kept++] = next;
    }
  }
  writes.resize(kept);
  return true;
}

bool reads_only_its_own(const Interval& read, const std::vector<Interval>& writes) {
  auto write = std::ranges::upper_bound(writes, read.first, {}, &Interval::last);
  for (; write != writes.end() && write->first < read.last; ++write)
    if (write->workgroup != read.workgroup) return false;
  return true;
}

} // namespace

bool independent(std::span<AccessLog* const> logs, const Snapshots& snapshots) {
  for (AccessLog* log : logs) {
    if (log->overflowed()) return false;
    for (size_t region = 0; region < snapshots.count(); ++region)
      if (log->read_untracked(region) && snapshots.written(region)) return false;
  }
  std::vector<Interval> writes = gather(logs, &AccessLog::writes), reads = gather(logs, &AccessLog::reads);
  if (!merge_writes(writes)) return false;
  return std::ranges::all_of(reads, [&](const Interval& read) { return reads_only_its_own(read, writes); });
}

} // namespace asmevo::machine
